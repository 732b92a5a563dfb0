"""Benchmarks and doctor answer with the keys that scripts rely on, and with numbers that can be true."""

from __future__ import annotations

import json

import pytest

from granum._jit import kernel_folder
from granum.caches import cache_root, own_folder
from tests.command_line import granum

KEYS = {
    "pgs": {"ns_per_contact_iteration"},
    "step": {"stage_share", "bytes_per_contact"},
    "detect": {"ns_per_grain"},
    "convergence": {"sweeps", "fewer_sweeps"},
}


@pytest.mark.parametrize("what", KEYS)
def test_benchmark_answers_in_json(what):
    sweeps = ["--iterations", "5"] if what in ("pgs", "step") else []
    done = granum("bench", what, "--particles", "200", *sweeps, "--json")
    assert done.exit_code == 0
    result = json.loads(done.stdout)
    assert {"contacts", "grains", "threads", "rows", "dtype", "residual"} | KEYS[what] <= set(result)
    assert result["grains"] == 200
    assert result["rows"] == 6
    if what == "step":
        assert 0.5 < sum(result["stage_share"].values()) <= 1
    if what == "convergence":
        assert result["sweeps"]["momentum history"] < result["sweeps"]["pgs cold"]


@pytest.mark.parametrize("threads", [1, 2])
def test_smooth_benchmark(threads):
    result = json.loads(granum("bench", "smooth", "--particles", 100, "--threads", threads, "--json").stdout)
    assert {"ns_per_grain_step", "stage_share", "steps_per_list", "time_step", "contacts", "residual"} <= set(result)
    assert (result["grains"], result["rows"], result["threads"], result["dtype"]) == (100, 3, threads, "float64")
    assert result["ns_per_grain_step"] > 0
    assert result["contacts"] > 100
    assert 0.5 < sum(result["stage_share"].values()) <= 1


def test_benchmark_of_few_grains():
    """A step of either stepper, and its stages, which are parts of it."""
    result = json.loads(granum("bench", "small", "--particles", 3, "--json").stdout)
    for stepper in ("nonsmooth", "smooth"):
        step, stages = result["microseconds_per_step"][stepper]["3"], result["stage_microseconds"][stepper]["3"]
        assert 0 < sum(stages.values()) < 1.1 * step  # medians, each by itself
        assert {"detection", "solve", "integrate"} <= set(stages)


def test_reduction_benchmark():
    result = json.loads(granum("bench", "reduction", "--particles", 150, "--iterations", 10, "--json").stdout)
    assert set(result["milliseconds_per_step"]) == {"full", "merged"}
    assert result["speed_up"] == pytest.approx(result["milliseconds_per_step"]["full"] / result["milliseconds_per_step"]["merged"])
    assert (result["grains"], result["iterations"]) == (150, 10)
    assert result["reduction_level"] > 0.9  # a bed at rest
    assert result["free_grains"] < 15


def test_benchmarks_answer_in_words():
    done = granum("bench", "smooth", "--particles", 100)
    assert done.exit_code == 0
    for words in ("granum bench smooth", "ns per grain step", "stage share: "):
        assert words in done.stdout


@pytest.mark.parametrize(
    "bad",
    [["nothing"], ["pgs", "--rows", "4"], ["pgs", "--particles", "0"], ["small", "--particles", "0"], ["detect", "--iterations", "5"]],
)
def test_bad_benchmark_is_refused(bad):
    assert granum("bench", *bad).exit_code == 2


def test_doctor_passes():
    done = granum("doctor", "--json")
    assert done.exit_code == 0
    report = json.loads(done.stdout)
    assert report["passed"] is True
    assert {"numba", "numpy", "threads", "threading_layer", "cache_state"} <= set(report)
    assert report["sparse_factors"].startswith("compiled")
    assert report["tests"]["reference bits"]["detail"] == "This machine computes granum's reference bits."


def test_doctor_without_golden_hashes_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr("granum.golden.hashes.FILE", tmp_path / "golden.json")
    done = granum("doctor")
    assert done.exit_code == 2
    assert "golden hashes is missing" in done.stderr


def test_doctor_clears_its_own_caches_and_nothing_else(tmp_path, monkeypatch):
    """In a cache of the test; the self-test, which would compile everything anew, is left out."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("granum.cli.doctor.self_test", lambda *_: {})
    for cached in (cache_root, kernel_folder):
        cached.cache_clear()
    try:
        root = cache_root()
        assert root.is_relative_to(tmp_path)
        for name in ("compiled", "bench"):
            (own_folder(root / name) / "old").write_text("made long ago")
        (root / "mine").mkdir()
        (root / "mine" / "results.txt").write_text("years of work")
        done = granum("doctor", "--clear-cache", "--json")
    finally:
        for cached in (cache_root, kernel_folder):
            cached.cache_clear()
    assert done.exit_code == 0, done.stderr
    assert f"cleared {root}" in done.stderr
    assert json.loads(done.stdout)["cache_state"] == "cold, compiled now"
    assert not list(root.rglob("old"))
    assert (root / "mine" / "results.txt").exists()
