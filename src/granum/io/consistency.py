"""A file that is readable at every instant, whenever the process that writes it is killed.

HDF5 promises nothing about a file whose writer died: metadata reach the disk in any order, and (in SWMR mode) flags in the
superblock make every plain reader refuse the file. Here HDF5 writes through a Python file object instead of the operating
system. That object keeps the writes in memory until :meth:`OrderedFile.commit` and then puts them on disk in this order:

1. what lies beyond the present end of the file, and objects in space that was blank so far: nothing refers to them yet;
2. the superblock, which moves the end of the file behind them;
3. data and chunk indices that change in place;
4. object headers (extents of datasets, attributes), those of one page of the file in one write.

Each refers only to what is on disk already, so whatever prefix of these writes happens, all that was committed earlier is still
found; what is taken away goes in the opposite order. A kill never splits a write within one page of the system's file cache. With
file pages of the same size (:data:`FILE_SPACE`) no small object lies across two, and objects made one after the other share a page.
Without the system's own driver HDF5 writes each metadata object by itself and sets no flags (it does so only for drivers that lock
files). A disk that fills up meets step 1: HDF5 never sees the error, and the file stays what it was.

A file that somebody has open does not change, but for what is not visible yet (step 1): a reader looks at a file piece by piece, and
pieces of two instants contradict each other (VTK's reader writes beyond its memory then). While nobody has it open, nobody can open it
during steps 2 to 4 (:mod:`.readers`). If somebody keeps it open, these steps are made on a copy, which takes the place of the file: the
reader keeps the old one, and the next steps are made in place again. So a viewer that stays open costs one copy.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import stat
import tempfile
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .draft import Draft
from .readers import Readers, record_lock

PAGE = 4096  # [bytes] of the operating system's file cache
FILE_SPACE = {"libver": ("v110", "v110"), "fs_strategy": "page", "fs_page_size": PAGE, "fs_persist": False}
"""How such a file must be created: the newest chunk index all readers know (it grows without moving), and pages."""
COPY_SPEED = 1e9  # [bytes/s], roughly
MOST_NAMES = 100  # tried for a file whose own name is taken


Piece = tuple[int, bytes]  # where it starts in the file, and its content


class BusyError(OSError):
    """Another process is writing the file."""


class OrderedFile(io.RawIOBase):
    """Raw file for ``h5py.File(OrderedFile(path), ...)``: writes wait in memory for :meth:`commit`. It is ``path``, or a new ``draft``."""

    def __init__(self, path: Path, draft: Draft | None = None) -> None:
        self.path = path
        self._disk = _open_locked(path) if draft is None else io.FileIO(draft.handle, "r+")
        self._readers = Readers(self._disk.fileno(), path.resolve().parent)
        self._disk_size = self._disk.seek(0, os.SEEK_END)
        self._size = self._disk_size
        self._at = 0
        self._starts: list[int] = []  # sorted starts of the pieces that wait; pieces never overlap
        self._pieces: dict[int, bytes] = {}

    def commit(self, *, shrinking: bool = False, announced: bool = True) -> None:
        """Put everything that waits on disk; OSError if it cannot.

        ``shrinking``: rows were only taken away. Not ``announced``: readers who open the file before and after it do not mind.
        """
        added: list[Piece] = []
        superblock: list[Piece] = []
        changed: list[Piece] = []
        headers: dict[int, list[Piece]] = {}  # by page
        for start in self._starts:
            data = self._pieces[start][: max(self._size - start, 0)]
            inside = min(max(self._disk_size - start, 0), len(data))  # bytes within the present end of the file
            if inside < len(data):
                added.append((start + inside, data[inside:]))
            if start == 0:
                superblock.append((start, data[:inside]))
            elif inside and self._is_blank(start, inside):
                added.append((start, data[:inside]))
            elif data[:4] in (b"OHDR", b"OCHK"):
                headers.setdefault(start // PAGE, []).append((start, data[:inside]))
            else:
                changed.append((start, data[:inside]))
        try:
            for start, data in added:
                self._put(start, data)
            if self._size > self._disk_size:
                self._disk.truncate(self._size)
        except OSError:
            with contextlib.suppress(OSError):
                self._disk.truncate(self._disk_size)
            raise
        changes = [*([piece] for piece in superblock + changed), *headers.values()]
        self._change(changes[::-1] if shrinking else changes, announced)
        self._disk_size = self._size
        self._starts.clear()
        self._pieces.clear()

    def _change(self, changes: list[list[Piece]], announced: bool) -> None:
        """Change what may be read, out of sight of those who read it."""
        if not self._readers.begin(self._size / COPY_SPEED, announced=announced):
            self._change_copy(changes)
            return
        try:
            self._put_all(changes)
        finally:
            self._readers.end()

    def _change_copy(self, changes: list[list[Piece]]) -> None:
        read = self._disk
        try:
            if not self.is_at_its_place():
                raise FileNotFoundError
            draft = self._copy(self.path)
        except OSError:  # there is no room, say: the run matters more than who watches it
            self._put_all(changes)
            return
        try:
            self._put_all(changes)
            os.fsync(self._disk.fileno())
            draft.replace_target()
        except BaseException:
            draft.drop()
            self._disk.close()
            self._disk = read
            raise
        self._leave(read)

    def _leave(self, old: io.FileIO) -> None:
        """The file is another one now."""
        old.close()
        self._readers.close()
        self._readers = Readers(self._disk.fileno(), self.path.resolve().parent)

    def _copy(self, path: Path) -> Draft:
        """Go on in a draft of ``path`` with the content of the file; the file stays open."""
        draft = Draft(path)
        copy = io.FileIO(draft.handle, "r+")
        try:
            with contextlib.suppress(OSError):
                record_lock(draft.handle)
            os.fchmod(draft.handle, stat.S_IMODE(os.fstat(self._disk.fileno()).st_mode))
            self._disk.seek(0)
            shutil.copyfileobj(self._disk, copy, 1 << 20)
        except BaseException:
            draft.drop()
            copy.close()
            raise
        self._disk = copy
        return draft

    def _put_all(self, changes: list[list[Piece]]) -> None:
        for pieces in changes:
            self._put(*self._together(pieces))
        if self._size < self._disk_size:
            self._disk.truncate(self._size)

    def is_at_its_place(self) -> bool:
        """Whether the path still names this file: nobody has deleted, moved or replaced it."""
        return _is_at(self._disk, self.path)

    def keep(self) -> Path | None:
        """Where the content is after the file was taken from its place, from now on the path: written there again if it was deleted.

        No other file is overwritten for it: another name, or folder, is taken instead. None if it can be written nowhere.
        """
        if os.fstat(self._disk.fileno()).st_nlink:  # it has only been moved, perhaps to where it cannot be found
            with contextlib.suppress(OSError):
                moved = Path(os.readlink(f"/proc/self/fd/{self._disk.fileno()}"))
                if _is_at(self._disk, moved):
                    self.path = moved
            return self.path if self.is_at_its_place() else None
        deleted = self._disk
        for place in _places(self.path):
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
                draft = self._copy(place)
            except OSError:
                continue
            try:
                os.fsync(self._disk.fileno())
                draft.become_target()
            except OSError:
                draft.drop()
                self._disk.close()
                self._disk = deleted
                continue
            self.path = place
            self._leave(deleted)
            return place
        return None

    def _together(self, pieces: list[Piece]) -> Piece:
        """One piece with the content of several and what lies between them on disk now: an index may stand there that has just changed."""
        if len(pieces) == 1:
            return pieces[0]
        first, end = pieces[0][0], pieces[-1][0] + len(pieces[-1][1])
        self._disk.seek(first)
        joined = bytearray(self._disk.read(end - first))
        for start, data in pieces:
            joined[start - first : start - first + len(data)] = data
        return first, bytes(joined)

    def _is_blank(self, start: int, length: int) -> bool:
        head = min(length, PAGE)
        self._disk.seek(start)
        return self._disk.read(head).count(0) == head

    def _put(self, start: int, data: bytes) -> None:
        self._disk.seek(start)
        view = memoryview(data)
        while view:
            view = view[self._disk.write(view) :]

    def release(self) -> None:
        """Close the file; what still waits is dropped."""
        self._readers.close()
        if not self._disk.closed:
            with contextlib.suppress(OSError):
                os.fsync(self._disk.fileno())
            self._disk.close()

    # What h5py calls. ----------------------------------------------------------------------------------------------------

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def truncate(self, size: int | None = None) -> int:
        self._size = self._at if size is None else size
        return self._size

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        start, end = self._at, min(self._at + len(view), max(self._size, self._at))
        self._disk.seek(start)
        got = self._disk.readinto(view[: end - start])
        view[got : end - start] = bytes(end - start - got)
        for piece in self._overlapping(start, end):
            data = self._pieces[piece]
            low, high = max(piece, start), min(piece + len(data), end)
            view[low - start : high - start] = data[low - piece : high - piece]
        self._at = end
        return end - start

    def write(self, data: Any) -> int:
        start, new = self._at, bytes(data)
        end = start + len(new)
        for piece in self._overlapping(start, end):  # join them: pieces must not overlap
            old = self._pieces.pop(piece)
            self._starts.remove(piece)
            new = old[: max(start - piece, 0)] + new + old[max(end - piece, 0) :]
            start, end = min(start, piece), max(end, piece + len(old))
        self._pieces[start] = new
        insort(self._starts, start)
        self._at += len(data)
        self._size = max(self._size, end)
        return len(data)

    def _overlapping(self, start: int, end: int) -> list[int]:
        first = bisect_right(self._starts, start) - 1
        if first < 0 or self._starts[first] + len(self._pieces[self._starts[first]]) <= start:
            first += 1
        return self._starts[first : bisect_left(self._starts, end)]


def _open_locked(path: Path) -> io.FileIO:
    while True:
        disk = io.FileIO(os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0)), "r+")
        try:
            record_lock(disk.fileno())
        except (BlockingIOError, PermissionError) as error:
            disk.close()
            raise BusyError(error.errno, "another process is writing it", str(path)) from error
        except OSError:  # a file system without locks
            pass
        if _is_at(disk, path):
            return disk
        disk.close()  # its writer has just put a copy in its place


def _is_at(disk: io.FileIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(disk.fileno()), os.stat(path))
    except OSError:
        return False


def _places(path: Path) -> Iterator[Path]:
    """Where a file may be written again: at its place, under another name beside it, and in folders that are there in any case."""
    yield path
    for folder in (path.parent, Path.cwd(), Path(tempfile.gettempdir())):
        for number in range(1, MOST_NAMES):
            yield folder / f"{path.stem}.kept-{number}{path.suffix}"
