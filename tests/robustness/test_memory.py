"""Want of memory is told in words.

Guaranteed: more grains than there is memory for are refused before anything is made, with what they need and what there is, under the
limits of the machine, of the process and of its control group; a MemoryError of any command becomes a message and exit code 2.
"""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

from granum import InputError, Simulation, load_scene, memory
from granum.quasistatic.packing import random_packing
from tests.robustness.door import call


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "box", "--set", "count=1e12"],
        ["run", "column", "--set", "count=1e300"],
        ["run", "pile", "--set", "count=1e15"],
        ["jam", "--particles", "999999999999"],
        ["minimise", "--packing", "999999999999,0.8"],
        ["bench", "pgs", "--particles", "999999999999"],
    ],
)
def test_more_grains_than_memory_are_refused(tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    ending = call(*arguments)
    assert (ending.trace, ending.code) == ("", 2)
    assert "of memory, and" in ending.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_lattice_in_a_file_is_refused_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scene.toml").write_text("""
        [[materials]]
        name = "m"
        [[grains]]
        material = "m"
        lower = [0, 0, 0]
        upper = [1e9, 1e9, 1e9]
        count = 1000000000000
        sizes = 0.01
    """)
    ending = call("run", "scene.toml")
    assert (ending.trace, ending.code) == ("", 2)
    assert "1e+12 grains need at least 380 TB" in ending.stderr


def test_the_limit_of_the_process_counts():
    """As in `ulimit -v 700000; granum run box --set count=1000000`, which has about 200 MB left."""
    limited = f"ulimit -v 1500000; {sys.executable} -m granum run box --set count=20000000"
    done = subprocess.run(limited, shell=True, capture_output=True, text=True)
    assert done.returncode == 2
    assert "2e+07 grains need at least 7.6 GB of memory, and" in done.stderr
    assert "Traceback" not in done.stderr


def test_control_groups_count_from_the_innermost_out(tmp_path, monkeypatch):
    inner = tmp_path / "sys" / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "memory.max").write_text("max")
    (inner.parent / "memory.max").write_text("5000")
    (inner.parent / "memory.current").write_text("3000")
    (inner.parent / "memory.stat").write_text("anon 10\ninactive_file 500\n")
    (tmp_path / "cgroup").write_text("1:cpu:/x\n0::/a/b\n")
    plain = memory.Path
    monkeypatch.setattr(
        memory, "Path", lambda name: plain({"/proc/self/cgroup": tmp_path / "cgroup", "/sys/fs/cgroup": tmp_path / "sys"}.get(name, name))
    )
    assert memory.available() == 2500


def test_where_nobody_says_nothing_is_refused(tmp_path, monkeypatch):
    """No file of the system tells."""
    monkeypatch.setattr(memory, "Path", lambda name: tmp_path / "nothing")
    assert memory.available() == math.inf
    memory.check_grains(10**15)


def test_a_bed_that_may_not_fit_is_told_and_runs(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 10_000.0)
    with pytest.warns(UserWarning, match="may stop for want of it"):
        sim = Simulation(load_scene("column", {"count": "20"}))
    assert sim.grain_count == 20


def test_random_packings_ask_too(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 1000.0)
    with pytest.raises(InputError, match="100 grains need at least 20 kB of memory, and 1 kB"):
        random_packing(100, 0.8)


@pytest.mark.parametrize("command", [["info", "x.h5"], ["analyse", "x.h5", "energy"], ["plot", "x.h5", "picture"], ["restart", "x.h5"]])
def test_a_memory_error_is_told_with_what_was_asked_for(monkeypatch, command):
    def read(*_, **__):
        return np.zeros(10**15)

    monkeypatch.setattr("granum.io.Recording.__init__", read)
    monkeypatch.setattr("pathlib.Path.exists", lambda path: True)
    monkeypatch.setattr("granum.simulation.saved.read_checkpoint", read)
    ending = call(*command)
    assert (ending.trace, ending.code) == ("", 2)
    assert "there is not enough memory: Unable to allocate" in ending.stderr
    assert "are available" in ending.stderr


def test_a_run_that_wants_memory_names_its_checkpoint(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    step = Simulation.step

    def greedy(sim):
        if sim.step_count == 3:
            np.zeros(10**15)
        return step(sim)

    monkeypatch.setattr(Simulation, "step", greedy)
    ending = call("run", "column", "--set", "count=2", "--duration", "0.1", "--checkpoint-every", "1e-9", "--no-picture")
    assert (ending.trace, ending.code) == ("", 1)
    assert "not enough memory" in ending.stderr
    assert "continue with: granum restart column.vtkhdf" in ending.stderr
