"""Recordings and checkpoints know the CPU and the versions that made them, and a restart elsewhere says whether the bits are promised."""

from __future__ import annotations

import json

import pytest

from granum.io import Recording, read_checkpoint, write_checkpoint
from granum.observe.machine import bits_promised, machine
from tests.command_line import granum
from tests.robustness.files import run_column

HERE = {"granum": "1.0", "numba": "0.61", "llvmlite": "0.44", "numpy": "2.1", "cpu": "znver3", "features": "AVX2 FMA"}


@pytest.mark.parametrize(
    "made, sentence",
    [
        ({}, None),
        ({"python": "3.12"}, None),
        ({"cpu": "skylake"}, "this run began on another CPU (skylake); the same bits are promised here (znver3): both have AVX2 and FMA."),
        ({"numba": "0.60"}, "are not promised: numba 0.60 there, 0.61 here."),
        ({"cpu": "x86-64", "features": "none"}, "are not promised: the CPU there (x86-64) has no AVX2; the CPU there (x86-64) has no FMA."),
        ({"cpu": "old", "features": "AVX2", "numpy": "1.26"}, "numpy 1.26 there, 2.1 here; the CPU there (old) has no FMA."),
    ],
)
def test_what_is_promised(made, sentence):
    found = bits_promised(HERE | made, HERE)
    assert (found is None) == (sentence is None)
    assert sentence is None or sentence in found


def test_a_machine_that_nobody_knows_promises_nothing():
    assert "not known on which machine" in bits_promised({"granum": "1.0"}, HERE)


def test_files_know_their_machine_and_restart_says_what_it_means(tmp_path):
    path, checkpoint = tmp_path / "run.h5", tmp_path / "run.checkpoint.h5"
    assert run_column(path).exit_code == 0
    with Recording(path) as recording:
        assert recording.description["versions"] == machine()
    content = read_checkpoint(checkpoint)
    assert content["machine"] == machine()
    shown = granum("info", path)
    assert machine()["cpu"] in shown.stdout
    assert "llvmlite" in shown.stdout
    assert json.loads(granum("info", path, "--json").stdout)["origin"]["versions"]["features"] == machine()["features"]

    assert "promised" not in granum("restart", path, "--duration", 0.004).stderr
    for made, said in (({"cpu": "vax"}, "began on another CPU (vax)"), ({"numpy": "0.9"}, "not promised: numpy 0.9 there")):
        write_checkpoint(checkpoint, read_checkpoint(checkpoint) | {"machine": machine() | made})
        result = granum("restart", path, "--duration", 0.004)
        assert result.exit_code == 0
        assert said in result.stderr
    write_checkpoint(checkpoint, read_checkpoint(checkpoint) | {"machine": {}})
    assert "not known on which machine" in granum("restart", path, "--duration", 0.004).stderr
