"""Whether somebody reads a file now, and keeping readers out for the instant in which it changes.

A write lease (Linux) is given only while nobody else has the file open, and who opens it meanwhile waits until the lease is handed back:
no reader sees a change, and none is turned away. Where there are no leases an exclusive flock does the first: HDF5 readers hold a shared
one while they have a file open. One that comes in the very instant of a change is then refused by HDF5, which is better than a file
that contradicts itself. Where there is neither, files change under their readers.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable
from pathlib import Path

try:
    import fcntl
except ImportError:  # not a POSIX system
    fcntl = None  # type: ignore[assignment]

from .draft import Draft

_SET_SIGNAL = 10  # F_SETSIG of Linux, which Python's fcntl does not name


def record_lock(handle: int) -> None:
    """Keep other writers out until the file is closed; BlockingIOError or PermissionError if there is one. HDF5 readers do not see it."""
    if fcntl is not None:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


class Alone:
    """Keeps readers away from files of a folder, in the best way that its file system knows."""

    def __init__(self, folder: Path) -> None:
        ways: list[tuple[Callable[[int], None], Callable[[int], None]]] = []
        if hasattr(fcntl, "F_SETLEASE"):
            ways.append((_take_lease, _return_lease))
        if fcntl is not None:
            ways.append((_take_flock, _return_flock))
        self._take, self._return = next((way for way in ways if _works(folder, way[0])), (_nothing, _nothing))

    def begin(self, handle: int) -> bool:
        """Whether nobody else has the file open; if so, nobody opens it before :meth:`end`."""
        try:
            self._take(handle)
        except BlockingIOError:
            return False
        except OSError:  # not for this file, which may belong to another user
            self._take, self._return = (_take_flock, _return_flock) if self._take is _take_lease else (_nothing, _nothing)
            return self.begin(handle)
        return True

    def end(self, handle: int) -> None:
        """Others may open it again."""
        self._return(handle)


def _works(folder: Path, take: Callable[[int], None]) -> bool:
    """Tried on a file that nobody else can know: there are file systems that refuse always, as if somebody were reading."""
    try:
        draft = Draft(folder / "draft")
    except OSError:
        return False
    try:
        with contextlib.suppress(OSError):
            record_lock(draft.handle)
        take(draft.handle)
        return True
    except OSError:
        return False
    finally:
        os.close(draft.handle)
        draft.drop()


def _take_lease(handle: int) -> None:
    # Who waits is announced by a signal; of those that nobody minds this is the one for news from files.
    fcntl.fcntl(handle, _SET_SIGNAL, signal.SIGURG)
    fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_WRLCK)


def _return_lease(handle: int) -> None:
    fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)


def _take_flock(handle: int) -> None:
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _return_flock(handle: int) -> None:
    fcntl.flock(handle, fcntl.LOCK_UN)


def _nothing(handle: int) -> None:
    pass
