"""Who reads a file now, and keeping readers out for the instant in which it changes.

A write lease (Linux) is given only while nobody else has the file open, and who opens it meanwhile waits until the lease is handed back:
no reader sees a change, and none is turned away. Where there are no leases an exclusive flock does the first: HDF5 readers hold a shared
one while they have a file open. One that comes in the very instant of a change is then refused by HDF5, which is better than a file
that contradicts itself. Where there is neither, files change under their readers.

VTK's reader opens a file anew for each of its questions: how many frames there are, then their times. If there are more of these than
frames it writes beyond its memory. So a frame is announced only when nobody has opened or closed the file for some milliseconds
(inotify of Linux), which is many times what the reader takes from one question to the next.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import signal
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

try:
    import fcntl
except ImportError:  # not a POSIX system
    fcntl = None  # type: ignore[assignment]

from .draft import Draft

_SET_SIGNAL = 10  # F_SETSIG of Linux, which Python's fcntl does not name
OPENED, CLOSED = 0x20, 0x10  # IN_OPEN and IN_CLOSE_NOWRITE of Linux
LOOK_EVERY = 1e-3  # [s] while a reader is waited for
QUIET, SHORT_QUIET = 0.02, 0.005  # [s] without a reader that comes or goes; the second after
HURRY = 0.2  # [s], when readers come one after the other
LONG_OPEN = 0.5  # [s]: who has a file open for longer has begun to read, and keeps it open
PATIENCE = 2.0  # [s] with readers who leave no gap


def record_lock(handle: int) -> None:
    """Keep other writers out until the file is closed; BlockingIOError or PermissionError if there is one. HDF5 readers do not see it."""
    if fcntl is not None:
        fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


class Readers:
    """Who reads the open file ``handle`` of a folder.

    :meth:`begin` waits for a moment at which it may change; :meth:`end` lets readers in again.
    """

    def __init__(self, handle: int, folder: Path) -> None:
        self._handle = handle
        self._watch = _Watch(handle)
        self._last = -math.inf  # [s] when somebody came or went
        ways: list[tuple[Callable[[int], None], Callable[[int], None]]] = []
        if hasattr(fcntl, "F_SETLEASE"):
            ways.append((_take_lease, _return_lease))
        if fcntl is not None:
            ways.append((_take_flock, _return_flock))
        self._take, self._return = next((way for way in ways if _works(folder, way[0])), (_nothing, _nothing))

    def begin(self, copying: float, *, announced: bool) -> bool:
        """Wait until nobody has the file open, and keep others out until :meth:`end`; False: make a copy, somebody stays.

        A copy takes ``copying`` [s], so he is given that long. What is ``announced`` to all readers waits for those too who have just
        closed the file and may be about to open it again, for the rest.
        """
        began = monotonic()
        while True:
            waited = monotonic() - began
            calm = self._quiet() >= (QUIET if waited < HURRY else SHORT_QUIET)
            if (calm or not announced) and self._keep_out():
                if not announced or self._quiet() > 0.0:
                    return True
                self.end()
            if waited > PATIENCE or (waited > copying and self._quiet() > LONG_OPEN):
                return False
            sleep(LOOK_EVERY)

    def _quiet(self) -> float:
        """[s] since somebody was seen to come or go."""
        now = monotonic()
        if self._watch.somebody_came():
            self._last = now
        return now - self._last

    def _keep_out(self) -> bool:
        """Whether nobody else has the file open; if so, nobody opens it before :meth:`end`."""
        try:
            self._take(self._handle)
        except BlockingIOError:
            return False
        except OSError:  # not for this file, which may belong to another user
            self._take, self._return = (_take_flock, _return_flock) if self._take is _take_lease else (_nothing, _nothing)
            return self._keep_out()
        return True

    def end(self) -> None:
        """Others may open it again."""
        self._return(self._handle)

    def close(self) -> None:
        """Nobody is looked for any more."""
        self._watch.close()


class _Watch:
    """Tells whether somebody has opened or closed a file to read it since it was last asked; nobody ever, where the system cannot tell."""

    def __init__(self, handle: int) -> None:
        self._events = -1
        with contextlib.suppress(OSError, AttributeError, TypeError):  # Windows has no library without a name
            libc = ctypes.CDLL(None)
            self._events = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
            if self._events >= 0 and libc.inotify_add_watch(self._events, f"/proc/self/fd/{handle}".encode(), OPENED | CLOSED) < 0:
                self.close()

    def somebody_came(self) -> bool:
        if self._events < 0:
            return False
        try:
            return bool(os.read(self._events, 1 << 16))
        except BlockingIOError:
            return False

    def close(self) -> None:
        if self._events >= 0:
            os.close(self._events)
            self._events = -1


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
