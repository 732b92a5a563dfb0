"""Finished runs are kept: found again by their description only, whole or not at all, and a stopped sweep goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from granum.caches import MARK, own_folder
from granum.pool import Job, RunStore, run_jobs, store
from granum.pool.store import describe, keep


@dataclass(frozen=True)
class Size:
    count: int
    steps: tuple[float, ...] = (0.1, 0.2)


def run(size: Size, log: str) -> dict[str, np.ndarray]:
    """A run that leaves a line in a log."""
    with open(log, "a") as file:
        file.write(f"{size.count}\n")
    if size.count < 0:
        raise ValueError("no such run")
    return {"squares": np.arange(size.count) ** 2, "steps": np.array(size.steps)}


@pytest.fixture
def log(tmp_path):
    (tmp_path / "log").touch()
    return str(tmp_path / "log")


def calls(log: str) -> list[int]:
    return [int(line) for line in Path(log).read_text().split()]


def jobs(log, counts):
    return [Job(run, (Size(count), log), 1.0) for count in counts]


def test_what_was_run_is_not_run_again(tmp_path, log):
    kept, heard = RunStore(tmp_path / "runs"), []
    first = run_jobs(jobs(log, [1, 2, 3]), 1, store=kept)
    again = run_jobs(jobs(log, [3, 4, 1]), 1, store=RunStore(tmp_path / "runs"), found=lambda there, of: heard.append((there, of)))
    assert calls(log) == [1, 2, 3, 4]
    assert heard == [(2, 3)]
    for a, b in ((first[2], again[0]), (first[0], again[2])):
        assert all(np.array_equal(a[name], b[name]) for name in a)
    assert len(again[1]["squares"]) == 4


def test_fresh_runs_all_again_and_keeps_it(tmp_path, log):
    run_jobs(jobs(log, [1, 2]), 1, store=RunStore(tmp_path / "runs"))
    run_jobs(jobs(log, [1, 2]), 1, store=RunStore(tmp_path / "runs", fresh=True))
    run_jobs(jobs(log, [1, 2]), 1, store=RunStore(tmp_path / "runs"))
    assert calls(log) == [1, 2, 1, 2]


def test_other_arguments_and_other_source_are_other_runs(tmp_path, log, monkeypatch):
    kept = RunStore(tmp_path / "runs")
    near = replace(Size(1), steps=(0.1, np.nextafter(0.2, 1)))
    paths = [kept.path(run, (size, log)) for size in (Size(1), Size(2), near, replace(Size(1), steps=(0.1,)))]
    assert len(set(paths)) == 4
    assert kept.path(run, (Size(1), log)) == paths[0]
    assert kept.path(calls, (Size(1), log)) != paths[0]
    monkeypatch.setattr(store, "package_digest", lambda: "after an edit")
    assert RunStore(tmp_path / "runs").path(run, (Size(1), log)) != paths[0]


def test_descriptions_tell_arrays_apart_and_refuse_what_has_none():
    long = np.arange(5000.0)
    other = long.copy()
    other[2500] += 1e-12 * other[2500]
    assert describe((long,)) == describe((long.copy(),)) != describe((other,))
    assert describe(np.float64(0.1)) == describe(0.1)
    assert describe({"a": 1, "b": None}) != describe({"a": 1, "b": False})
    with pytest.raises(TypeError, match="type object"):
        describe(object())


def test_a_file_that_is_not_whole_is_run_again(tmp_path, log):
    kept = RunStore(tmp_path / "runs")
    run_jobs(jobs(log, [5]), 1, store=kept)
    path = kept.path(run, (Size(5), log))
    for damage in (path.read_bytes()[:-20], b"", b"no archive"):
        path.write_bytes(damage)
        (result,) = run_jobs(jobs(log, [5]), 1, store=kept)
        assert len(result["squares"]) == 5
    assert calls(log) == [5, 5, 5, 5]
    assert not list(tmp_path.rglob("*.part"))


def test_a_failing_run_loses_only_itself(tmp_path, log):
    with pytest.raises(ValueError, match="no such run"):
        run_jobs(jobs(log, [1, 2, -1, 3]), 1, store=RunStore(tmp_path / "runs"))
    run_jobs(jobs(log, [1, 2, 3]), 1, store=RunStore(tmp_path / "runs"))
    assert calls(log) == [1, 2, -1, 3]


def test_without_a_place_to_keep_it_a_sweep_still_runs(tmp_path, log):
    (tmp_path / "file").write_text("")
    with pytest.warns(UserWarning, match="cannot be kept"):
        results = run_jobs(jobs(log, [1, 2]), 1, store=RunStore(tmp_path / "file"))
    assert [len(result["squares"]) for result in results] == [1, 2]
    assert keep(tmp_path / "file" / "x.run", 1) is not None


def test_runs_of_versions_long_gone_are_removed(tmp_path):
    kept = RunStore(tmp_path / "runs").folder
    for name, days in (("old", 40), ("recent", 3)):
        folder = own_folder(kept.parent / name)
        (folder / "x.run").write_text("")
        then = time.time() - days * 86400
        os.utime(folder, (then, then))
    RunStore(tmp_path / "runs")
    assert {path.name for path in kept.parent.iterdir()} == {"recent", kept.name, MARK}


SWEEP = """
import signal, sys, time
from pathlib import Path
from granum.pool import Job, RunStore, run_jobs

def work(number, folder):
    with open(Path(folder) / "log", "a") as file:
        file.write(f"{number}\\n")
    (Path(folder) / f"busy-{number}").touch()
    while number >= 2 and not (Path(folder) / "go").exists():  # the first two end, the others wait
        time.sleep(0.02)
    return number**2

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may start tests with it ignored
    folder = sys.argv[1]
    found = lambda there, of: print(f"{there} of {of}", flush=True)
    jobs = [Job(work, (number, folder), 10 - number) for number in range(5)]
    print(run_jobs(jobs, int(sys.argv[2]), store=RunStore(Path(folder) / "runs"), found=found))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="this system has no groups of processes")
@pytest.mark.parametrize("stop", [signal.SIGINT, getattr(signal, "SIGKILL", None)])
def test_a_stopped_sweep_goes_on_where_it_was(tmp_path, stop):
    """Two workers finish two runs and are stopped in two others; the second call runs only what is missing."""
    script = tmp_path / "sweep.py"
    script.write_text(SWEEP)
    command = [sys.executable, str(script), str(tmp_path)]
    sweep = subprocess.Popen([*command, "2"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True)
    try:
        _wait_for(lambda: (tmp_path / "busy-2").exists() and (tmp_path / "busy-3").exists() and len(list(tmp_path.rglob("*.run"))) == 2)
        sweep.send_signal(stop)
        sweep.wait(180)
        _wait_for(lambda: not _alive(sweep.pid))  # no worker is left behind
    finally:
        if _alive(sweep.pid):
            os.killpg(sweep.pid, signal.SIGKILL)
    assert sweep.stdout.read() == "0 of 5\n"
    (tmp_path / "go").touch()
    again = subprocess.run([*command, "1"], capture_output=True, text=True, timeout=120, check=True)
    assert again.stdout == "2 of 5\n[0, 1, 4, 9, 16]\n"
    assert sorted(calls(str(tmp_path / "log"))) == [0, 1, 2, 2, 3, 3, 4]


def _wait_for(condition):
    for _ in range(9000):  # some minutes on a busy machine
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("it does not happen")


def _alive(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
