"""Benchmarks and doctor answer with the keys that scripts rely on, and with numbers that can be true."""

from __future__ import annotations

import json

import pytest

from tests.command_line import granum

KEYS = {
    "pgs": {"ns_per_contact_iteration"},
    "step": {"stage_share", "bytes_per_contact"},
    "detect": {"ns_per_grain"},
    "convergence": {"sweeps", "fewer_sweeps"},
}


@pytest.mark.parametrize("what", KEYS)
def test_benchmark_answers_in_json(what):
    done = granum("bench", what, "--particles", "200", "--iterations", "5", "--json")
    assert done.exit_code == 0
    result = json.loads(done.stdout)
    assert {"contacts", "grains", "threads", "rows", "dtype", "residual"} | KEYS[what] <= set(result)
    assert result["grains"] == 200
    assert result["rows"] == 6
    if what == "step":
        assert 0.5 < sum(result["stage_share"].values()) <= 1
    if what == "convergence":
        assert result["sweeps"]["momentum history"] < result["sweeps"]["pgs cold"]


@pytest.mark.parametrize("bad", [["nothing"], ["pgs", "--rows", "4"], ["pgs", "--particles", "0"]])
def test_bad_benchmark_is_refused(bad):
    assert granum("bench", *bad).exit_code == 2


def test_doctor_passes():
    done = granum("doctor", "--json")
    assert done.exit_code == 0
    report = json.loads(done.stdout)
    assert report["passed"] is True
    assert {"numba", "numpy", "threads", "threading_layer", "cache_state"} <= set(report)
    assert report["tests"]["reference bits"]["detail"] == "This machine computes granum's reference bits."


def test_doctor_without_golden_hashes_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("granum.golden.hashes.FILE", tmp_path / "golden.json")
    done = granum("doctor")
    assert done.exit_code == 2
    assert "golden hashes is missing" in done.stderr
