"""Drafts: files that are written out of sight and then put in their place in one instant.

A draft has no name where the system allows that, so that a kill leaves nothing behind, and else one that nobody guesses: no file of the
user is opened, overwritten or followed.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable
from pathlib import Path

_HANDLES = Path("/proc/self/fd")
_BINARY = getattr(os, "O_BINARY", 0)


class Draft:
    """A new empty file in the folder of ``target``; ``handle`` is open for reading and writing, and its taker closes it."""

    def __init__(self, target: Path) -> None:
        self.target = target.resolve()
        self._name: Path | None = None
        if hasattr(os, "O_TMPFILE") and _HANDLES.exists():
            with contextlib.suppress(OSError):  # a file system without such files; what else is wrong the next try tells
                self.handle = os.open(self.target.parent, os.O_TMPFILE | os.O_RDWR, 0o666)
                return
        self._name = self._free_name()
        self.handle = os.open(self._name, os.O_RDWR | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)

    def replace_target(self, close: Callable[[], None] | None = None) -> None:
        """The target is this file from now on, whatever was there; ``close`` closes the handle, unless it is to stay open.

        Windows renames no file that is open, so a draft with a name is closed first. One without a name is gone when it is closed, so that
        it is named and renamed before; systems that have such files rename open ones.
        """
        if close is not None and self._name is not None:
            close()
        name = self._named()
        try:
            os.replace(name, self.target)
        except OSError:
            self._name = name
            self.drop()
            raise
        self._name = None
        if close is not None:
            close()

    def become_target(self) -> None:
        """The target is this file from now on; FileExistsError if there is one already."""
        if self._name is None:
            self._link(self.target)
        else:
            os.link(self._name, self.target, follow_symlinks=False)
            self.drop()

    def drop(self) -> None:
        """Leave no trace; the handle stays open."""
        if self._name is not None:
            with contextlib.suppress(OSError):
                self._name.unlink()
            self._name = None

    def _named(self) -> Path:
        if self._name is not None:
            return self._name
        name = self._free_name()
        self._link(name)
        return name

    def _link(self, name: Path) -> None:
        # A folder is given although the path is absolute: else Python does not follow the link that stands for the file.
        os.link(_HANDLES / str(self.handle), name, src_dir_fd=self.handle)

    def _free_name(self) -> Path:
        return self.target.with_name(f".granum-{secrets.token_hex(8)}.new")
