"""One process compiles a kernel; others that need the same one at that time wait for it, and find it on disk.

A turn is a lock on a file beside the kernel. It ends with the process that has it, however that ends. Where files cannot be locked, every
process compiles for itself.
"""

from __future__ import annotations

from pathlib import Path
from time import monotonic, sleep
from typing import IO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LONGEST = 300.0  # [s] that somebody waits before he compiles himself: the other one may be stopped
PAUSE = 0.02  # [s] between two looks


class Turn:
    """The right to compile what belongs to a file."""

    def __init__(self, path: Path) -> None:
        """Take the turn, after all who have it; ``waited`` tells whether somebody had."""
        self.waited = False
        self._file: IO[bytes] | None = None
        if fcntl is None:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("wb")
        except OSError:  # the kernel is not going to be kept either
            return
        until = monotonic() + LONGEST
        while not self._taken() and monotonic() < until:
            self.waited = True
            sleep(PAUSE)

    def _taken(self) -> bool:
        assert self._file is not None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # no locks here
            return True
        return True

    def end(self) -> None:
        """Let the next one have it."""
        if self._file is not None:
            self._file.close()
            self._file = None
