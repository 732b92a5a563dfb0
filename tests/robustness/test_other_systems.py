"""What other systems refuse is not done: Windows renames no file that is open, and has no files without a name."""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path

import numpy as np
import pytest

from granum import caches, run
from granum.io import Recording, checkpoint_path, read_checkpoint, readers


def names_open_now() -> set[str]:
    links = (Path("/proc/self/fd") / name for name in os.listdir("/proc/self/fd"))
    return {os.readlink(link) for link in links if link.is_symlink()}


@pytest.fixture
def like_windows(monkeypatch):
    """No files without a name, no locks, leases or watches, and no renaming of what is open."""
    if not Path("/proc/self/fd").exists():
        pytest.skip("which files are open is asked of Linux")
    replaced, replace, opened = [], os.replace, os.open
    nameless = os.O_TMPFILE

    def opening(path, flags, *more, **options):
        if flags & nameless == nameless:
            raise OSError(errno.EOPNOTSUPP, "there are no files without a name", str(path))
        return opened(path, flags, *more, **options)

    def refusing(source, target):
        if {os.path.abspath(source), os.path.abspath(target)} & names_open_now():
            raise PermissionError(13, "the process cannot access the file because it is being used by another process", str(source))
        replaced.append(Path(target))
        replace(source, target)

    def no_library(name):
        raise TypeError("bad argument type for built-in operation")

    monkeypatch.setattr(os, "replace", refusing)
    monkeypatch.setattr(os, "open", opening)
    monkeypatch.delattr(os, "fchmod")
    monkeypatch.setattr(readers, "fcntl", None)
    monkeypatch.setattr(ctypes, "CDLL", no_library)
    return replaced


def test_a_run_and_its_restart_rename_nothing_that_is_open(like_windows, tmp_path):
    from granum import restart

    path = tmp_path / "column.h5"
    run("column", duration=0.02, output=path, picture=False, progress=False)
    run("column", duration=0.02, output=path, picture=False, progress=False, overwrite=True)  # in the place of the first
    restart(path, duration=0.02, progress=False)
    written = {path, checkpoint_path(path)}
    assert {target for target in like_windows if target.parent == tmp_path} == written  # others are compiled kernels
    assert set(tmp_path.iterdir()) == written
    assert read_checkpoint(checkpoint_path(path))
    with Recording(path) as recording:
        assert recording.times[-1] == pytest.approx(0.04)
        assert np.isfinite(recording.frame(-1).position).all()


def test_the_cache_lies_where_the_system_keeps_caches(monkeypatch, tmp_path):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    caches.cache_root.cache_clear()
    try:
        assert caches.cache_root() == tmp_path / "xdg" / caches.NAME
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        caches.cache_root.cache_clear()
        assert caches.cache_root() == tmp_path / "home" / ".cache" / caches.NAME
    finally:
        caches.cache_root.cache_clear()
