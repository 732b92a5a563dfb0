"""Files come from anywhere: what a file refers to must lie in it, and what it claims to hold must fit into it.

HDF5 lets a dataset keep its numbers in any other file (external storage, virtual layouts), and a link lead into another file: who opens
such a file to read shows what lies there, and who opens it to write changes it. And a dataset of any size costs nothing while it is
unwritten. So every file is walked through once, names and headers alone, before any of it is read or written.
"""

from __future__ import annotations

import math
import struct
from pathlib import Path

import h5py

from ..checks import InputError

MOST_PACKED = 1100  # deflate makes numbers smaller by 1032 at most
HEAPS_WITHIN = 2**22  # [bytes]; ours are made first and lie at the beginning of a file
LARGEST_CHUNK = 2**26  # [bytes]; ours have 2 MB at most


def check_texts(path: Path) -> None:
    """ValueError if a heap of texts (a global heap of HDF5, without checksum) has an entry that leads nowhere: HDF5 walks it for ever.

    Not for a file that this process writes: closing it here would give up the writer's lock.
    """
    size = path.stat().st_size
    with open(path, "rb") as file:
        head = file.read(HEAPS_WITHIN)
        start = head.find(b"GCOL")
        while start >= 0:
            file.seek(start)
            _, version, length = struct.unpack("<4sB3xQ", file.read(16).ljust(16, b"\xff"))
            at, end = start + 16, start + length
            while version == 1 and end <= size and at + 16 <= end:
                file.seek(at)
                number, room = struct.unpack("<H6xQ", file.read(16))
                at += room if number == 0 else 16 + -(-room // 8) * 8
                if number == 0 and room < 16:
                    raise ValueError("a heap of its texts is damaged")
            start = head.find(b"GCOL", start + 4)


def check_contained(file: h5py.File, path: Path, kind: str) -> None:
    """InputError, in words, if the open ``file`` reaches out of itself or claims more than it can hold."""
    size = file.id.get_filesize()

    def refuse(name: bytes, what: str) -> InputError:
        shown = name.decode(errors="replace")
        return InputError(
            f"{kind} {path} is refused: {shown!r} {what}. granum writes no such file, and one that does this may do harm. "
            "Use a file from a source that you trust."
        )

    def leads_out(name: bytes, info: h5py.h5l.LinkInfo) -> bytes | None:  # a soft link stays in the file if all others do
        return None if info.type in (h5py.h5l.TYPE_HARD, h5py.h5l.TYPE_SOFT) else name

    def look_at_object(name: bytes) -> None:
        thing = h5py.h5o.open(file.id, name)
        for number in range(h5py.h5a.get_num_attrs(thing)):
            if h5py.h5a.open(thing, index=number).get_storage_size() > size:
                raise refuse(name, "has an attribute that is larger than the file")
        if isinstance(thing, h5py.h5d.DatasetID):
            look_at_dataset(name, thing)

    def look_at_dataset(name: bytes, data: h5py.h5d.DatasetID) -> None:
        made = data.get_create_plist()
        layout = made.get_layout()
        if layout == h5py.h5d.VIRTUAL or made.get_external_count():
            raise refuse(name, "keeps its numbers in another file")
        width = data.get_type().get_size()
        claim = math.prod(data.shape or ()) * width
        if claim > (MOST_PACKED * data.get_storage_size() if made.get_nfilters() else size):
            raise refuse(name, f"claims {claim:.3g} bytes, which a file of {size} bytes cannot hold")
        if layout == h5py.h5d.CHUNKED and math.prod(made.get_chunk()) * width > max(size, LARGEST_CHUNK):
            raise refuse(name, "has chunks that are larger than the file")

    found = file.id.links.visit(leads_out, info=True)
    if found is not None:
        raise refuse(found, "leads into another file")
    look_at_object(b"/")
    h5py.h5o.visit(file.id, look_at_object)
