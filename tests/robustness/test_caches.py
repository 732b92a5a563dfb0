"""Caches touch nothing that is not ours.

Guaranteed: a cache lies in a folder that granum has made, that this user owns and nobody else may enter, and that is no link; everything
else of that name is neither read, written nor removed. No file of a run store can run code. Without a safe folder, all works and nothing is
kept. Commands that need no kernel leave nothing behind.
"""

from __future__ import annotations

import os
import pickle
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from granum import caches
from granum.caches import MARK, NAME, cache_root, is_own, own_folder, remove_own
from granum.pool import RunStore, store
from granum.pool.result_file import read_result, write_result

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="who owns a folder, and may enter it, is asked of POSIX")


@pytest.fixture
def homeless(tmp_path, monkeypatch):
    """No home, no cache folder, and a temporary folder that anybody may write to; returns that."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/proc/nohome")
    monkeypatch.setenv("TMPDIR", str(shared))
    monkeypatch.setattr(caches.tempfile, "tempdir", None)
    cache_root.cache_clear()
    yield shared
    cache_root.cache_clear()


def old(path: Path) -> Path:
    path.mkdir(parents=True)
    (path / "results.txt").write_text("years of work")
    then = time.time() - 400 * 86400
    os.utime(path, (then, then))
    return path


class Trap:
    def __init__(self, sign):
        self.sign = sign

    def __reduce__(self):
        return os.mkdir, (self.sign,)


def test_without_a_home_a_store_deletes_and_unpickles_nothing_of_others(homeless, tmp_path):
    theirs = old(homeless / "runs" / "my-own-results")
    kept = RunStore()
    assert (theirs / "results.txt").read_text() == "years of work"
    assert kept.folder.is_relative_to(homeless / f"{NAME}-{os.geteuid()}")
    assert stat.S_IMODE(os.stat(kept.folder).st_mode) == 0o700
    path = kept.path(test_without_a_home_a_store_deletes_and_unpickles_nothing_of_others, ())
    path.write_bytes(pickle.dumps(Trap(str(tmp_path / "sprung"))))
    assert kept.find(path) == (False, None)
    np.save(tmp_path / "trap.npy", np.array([Trap(str(tmp_path / "sprung"))], object), allow_pickle=True)
    path.write_bytes((tmp_path / "trap.npy").read_bytes())
    assert kept.find(path) == (False, None)
    assert not (tmp_path / "sprung").exists()


def test_clean_up_removes_marked_folders_only(tmp_path):
    kept = RunStore(tmp_path / "runs").folder
    theirs = old(kept.parent / "my-own-results")
    elsewhere = old(tmp_path / "elsewhere")
    (kept.parent / "link").symlink_to(elsewhere, target_is_directory=True)
    RunStore(tmp_path / "runs")
    assert (theirs / "results.txt").exists()
    assert (elsewhere / "results.txt").exists()
    assert not remove_own(theirs)
    assert not remove_own(kept.parent / "link")


@pytest.mark.parametrize("kind", ["unmarked", "link to ours", "open to others", "file", "marked by a link"])
def test_what_is_not_ours_is_neither_used_nor_changed(tmp_path, kind):
    path, ours = tmp_path / "cache", own_folder(tmp_path / "ours")
    if kind == "file":
        path.write_text("")
    elif kind == "link to ours":
        path.symlink_to(ours, target_is_directory=True)
    else:
        path.mkdir(mode=0o700)
        (path / "results.txt").write_text("years of work")
        if kind == "open to others":
            (path / MARK).write_text("")
            path.chmod(0o770)
        elif kind == "marked by a link":
            (path / MARK).symlink_to(ours / MARK)
    before = os.lstat(path)
    assert own_folder(path) is None
    assert not is_own(path)
    assert os.lstat(path) == before
    with pytest.warns(UserWarning, match="cannot be kept"):
        assert RunStore(path).folder is None
    assert sorted(p.name for p in tmp_path.iterdir()) == ["cache", "ours"]


def test_a_folder_of_another_user_is_not_ours(tmp_path, monkeypatch):
    folder = own_folder(tmp_path / "cache")
    monkeypatch.setattr(os, "geteuid", lambda: os.stat(folder).st_uid + 1)
    assert not is_own(folder)
    assert own_folder(folder) is None


def test_a_squatted_temporary_folder_means_no_cache(homeless):
    squatted = homeless / f"{NAME}-{os.geteuid()}"
    squatted.mkdir(mode=0o777)
    (squatted / "anything").write_text("")
    assert cache_root() is None
    with pytest.warns(UserWarning, match="cannot be kept"):
        kept = RunStore()
    assert kept.path(old, ()) is None
    assert [path.name for path in squatted.iterdir()] == ["anything"]


def test_results_come_back_to_the_bit_and_with_their_types(tmp_path):
    rng = np.random.default_rng(1)
    result = {
        "tuple": (1, 2.5, "text", None, True),
        "list": [[], {}, ()],
        0.1: {3: -0.0, (1, 2): np.float32(0.1)},
        "numbers": [float("nan"), float("inf"), 0.1 + 0.2, 5e-324, 2**200],
        "scalar": np.int64(3),
        "flag": np.bool_(True),
        "arrays": {"f": np.asfortranarray(rng.random((3, 4))), "u": np.array(["a", "bc"]), "empty": np.zeros((0, 3)), "0d": np.array(2.0)},
    }
    write_result(tmp_path / "x.run", result)
    again = read_result(tmp_path / "x.run")
    assert list(again) == list(result)
    assert again["tuple"] == result["tuple"]
    assert again["list"] == result["list"]
    assert repr(again[0.1]) == repr(result[0.1])
    assert repr(again["numbers"]) == repr(result["numbers"])
    assert type(again["scalar"]) is np.int64
    assert type(again["flag"]) is np.bool_
    for name, array in result["arrays"].items():
        found = again["arrays"][name]
        assert (found.dtype, found.shape, found.flags.f_contiguous) == (array.dtype, array.shape, array.flags.f_contiguous)
        assert found.tobytes() == array.tobytes()


@pytest.mark.parametrize("result", [object(), {"a": {1, 2}}, np.array([None]), b"bytes"])
def test_a_result_that_no_file_can_hold_is_said_not_stored(tmp_path, result):
    trouble = store.keep(tmp_path / "x.run", result)
    assert "a result holds" in trouble
    assert not list(tmp_path.iterdir())


def test_commands_without_kernels_leave_nothing_behind(tmp_path):
    folders = {name: tmp_path / name for name in ("tmp", "work")}
    for folder in folders.values():
        folder.mkdir()
    environment = {k: v for k, v in os.environ.items() if k not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "MPLCONFIGDIR")}
    environment |= {"HOME": "/proc/nohome", "TMPDIR": str(folders["tmp"])}
    for command in (["scenes"], ["--help"], ["info", "nothing.h5"]):
        done = subprocess.run(
            [sys.executable, "-m", "granum", *command], env=environment, cwd=folders["work"], capture_output=True, text=True
        )
        assert "Traceback" not in done.stderr
        assert [list(folder.iterdir()) for folder in folders.values()] == [[], []]
