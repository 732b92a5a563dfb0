"""A damaged kernel cache costs time, nothing else.

Guaranteed: kernel files that are empty, cut, made of random bytes or changed in one bit are noticed before anything of them is unpickled or
run, removed, compiled anew, and said once; files that cannot be written cost no run. Threads and worker processes included.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from granum import _jit
from granum._jit import kernel, picked_by_type
from granum.caches import is_own, own_folder, remove_own


def double(x):
    return 2 * x


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty kernel cache that nobody has told about."""
    folder = own_folder(tmp_path / "kernels")
    monkeypatch.setattr(_jit, "kernel_folder", lambda: folder)
    return folder


def files(cache: Path, ending: str = "nb?") -> list[Path]:
    return sorted(cache.rglob(f"*.{ending}"))


DAMAGE = {
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "random": lambda data: np.random.default_rng(0).bytes(len(data)),
    "one bit": lambda data: data[:-20] + bytes([data[-20] ^ 1]) + data[-19:],
    "a pickle of something else": lambda data: b"\x80\x04N.",
}


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_noticed_said_once_and_mended(cache, ending, damage):
    assert kernel(double)(1.0) == 2.0
    kept = kernel(double)
    assert kept(1.0) == 2.0
    assert sum(kept.stats.cache_hits.values()) == 1
    for path in files(cache, ending):
        path.write_bytes(DAMAGE[damage](path.read_bytes()))
    with pytest.warns(UserWarning, match="damaged.*compiled anew") as said:
        assert kernel(double)(1.0) == 2.0
    assert len(said) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = kernel(double)
        assert again(1.0) == 2.0
    assert sum(again.stats.cache_hits.values()) == 1


def test_a_cache_that_is_cleared_meanwhile_is_made_anew(cache):
    compiled = kernel(double)
    compiled(1)
    assert remove_own(cache)
    assert compiled(1.0) == 2.0
    assert is_own(cache)
    assert len(files(cache)) == 2


def test_nothing_is_made_before_a_kernel_runs(cache):
    made = kernel(double)
    assert files(cache) == []
    assert made(2) == 4
    assert len(files(cache)) == 2


def test_a_cache_that_takes_nothing_costs_no_run(cache):
    """No file may have a single byte, as on a disk that is full."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        with pytest.warns(UserWarning, match="cannot be kept"):
            assert kernel(double)(1.0) == 2.0
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not [path for path in files(cache) if path.stat().st_size]


def test_without_a_folder_kernels_are_compiled_and_not_kept(monkeypatch):
    monkeypatch.setattr(_jit, "kernel_folder", lambda: None)
    with pytest.warns(UserWarning, match="not kept"):
        assert kernel(double)(3) == 6


def test_threads_and_workers_meet_damage_too(tmp_path):
    """Threads and workers find their kernel damaged; all results are right, and only the first process tells, once."""
    (tmp_path / "work.py").write_text(
        textwrap.dedent("""
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
        from granum._jit import kernel, kernel_folder

        def double(x):
            return 2 * x

        def damage():
            for path in kernel_folder().rglob("*.nb?"):
                path.write_bytes(b"")

        def call(number):
            return kernel(double)(number)

        if __name__ == "__main__":
            call(1)
            damage()
            with ThreadPoolExecutor(2) as pool:
                print(list(pool.map(kernel(double), [1, 2])), flush=True)
            damage()
            with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
                print(list(pool.map(call, [1, 2])), flush=True)
    """)
    )
    done = subprocess.run(
        [sys.executable, "work.py"],
        cwd=tmp_path,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels")},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "[2, 4]\n[2, 4]\n"
    assert done.stderr.count("UserWarning: Compiled kernels") == 1
    assert "Traceback" not in done.stderr


def test_a_record_whose_fields_change_places_is_not_taken_for_the_old_one(tmp_path):
    """In a process that comes later, where Numba knows records by their names; the module of the kernel does not know them at all."""
    (tmp_path / "work.py").write_text(
        textwrap.dedent("""
        import records
        from granum._jit import kernel

        def difference(given):
            return given.pair.left - given.pair.right

        compiled = kernel(difference)
        given = records.Holder(pair=records.Pair(left=100.0, right=10.0))
        print(compiled(given), sum(compiled.stats.cache_hits.values()))
    """)
    )
    told = []
    for order in (("left", "right"), ("left", "right"), ("right", "left")):
        first, second = order
        (tmp_path / "records.py").write_text(
            f"from typing import NamedTuple\nclass Pair(NamedTuple):\n    {first}: float\n    {second}: float\n"
            "class Holder(NamedTuple):\n    pair: Pair\n"
        )
        done = subprocess.run(
            [sys.executable, "-B", "work.py"],
            cwd=tmp_path,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels")},
            capture_output=True,
            text=True,
            check=True,
        )
        told.append(done.stdout.split())
    assert told == [["90.0", "0"], ["90.0", "1"], ["90.0", "0"]]


def test_a_class_that_another_process_cannot_import_costs_it_nothing(tmp_path):
    """A kernel that was once given a record of some script, its own law say, is found by all others as they left it."""
    (tmp_path / "work.py").write_text(
        textwrap.dedent("""
        import sys
        from typing import NamedTuple
        from granum._jit import kernel

        class Known(NamedTuple):
            x: float

        def first(given):
            return given.x

        if len(sys.argv) > 1:
            from records import Known

        compiled = kernel(first)
        print(compiled(Known(2.0)), sum(compiled.stats.cache_hits.values()))
    """)
    )
    (tmp_path / "records.py").write_text("from typing import NamedTuple\nclass Known(NamedTuple):\n    x: float\n")

    def told(*arguments):
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels")}
        command = [sys.executable, "-B", "work.py", *arguments]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True).stdout.split()

    assert [told(), told("other"), told("other")] == [["2.0", "0"], ["2.0", "0"], ["2.0", "1"]]
    (tmp_path / "records.py").unlink()
    assert told() == ["2.0", "1"]


class Once(NamedTuple):
    factor: float


class Twice(NamedTuple):
    factor: float


@picked_by_type
def grow(by, x):
    """x, larger."""


@grow.of(Once)
def once(by, x):
    return by.factor * x


def call(by, x):
    return grow(by, x)


def test_what_is_picked_by_type_is_kept_for_each_type_and_its_own_source(cache):
    """Another implementation of a class is compiled anew, also by a kernel that knew the class before; one of another class is not."""

    assert kernel(call)(Once(3.0), 2.0) == grow(Once(3.0), 2.0) == 6.0
    with pytest.raises(Exception, match=r"grow is not known for .*Twice.*known for: Once"):
        kernel(call)(Twice(3.0), 2.0)

    @grow.of(Twice)
    def twice(by, x):
        return 2 * by.factor * x

    again = kernel(call)
    assert (again(Once(3.0), 2.0), again(Twice(3.0), 2.0)) == (6.0, 12.0)
    assert sum(again.stats.cache_hits.values()) == 1

    @grow.of(Twice)
    def thrice(by, x):
        return 3 * by.factor * x

    edited = kernel(call)  # in this process Numba goes on with what it has compiled; what counts is that no file is taken for it
    edited(Once(3.0), 2.0)
    edited(Twice(3.0), 2.0)
    assert sum(edited.stats.cache_hits.values()) == sum(edited.stats.cache_misses.values()) == 1
