"""Rows of one kind, such as contacts, of all frames: one frame after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import h5py
import numpy as np

from .blank import COUNT
from .layout import Column
from .storage import whole_chunks
from .tables import Table


class FrameRows:
    """The tables of a group, and ``first`` (F + 1,), which says where the rows of each frame begin; ``rows`` (F,) of compressed ones says
    how many there are."""

    def __init__(self, group: h5py.Group, columns: Sequence[Column], frame_count: int) -> None:
        self.columns = columns
        self._tables = {column.name: Table(group[column.name], column) for column in columns}
        self._first = Table(group["first"], COUNT)
        self._numbers = Table(group["rows"], COUNT) if "rows" in group else None
        self._block = self._tables[columns[0].name].block
        self._count = self._next = int(group["first"][frame_count])

    def put(self, frame: int, rows: Mapping[str, np.ndarray]) -> None:
        """Write the rows of a frame beyond those that count."""
        for name, table in self._tables.items():
            table.put(self._count, rows[name])
        number = len(rows[self.columns[0].name])
        self._next = self._count + whole_chunks(number, self._block)
        if self._numbers is not None:
            self._numbers.put(frame, [number])
        self._first.put(frame + 1, [self._next])

    def count_in(self) -> None:
        """The frame that was put last counts from now on."""
        self._count = self._next

    def drop(self, kept: int) -> None:
        """Leave the rows of the first ``kept`` frames."""
        count = int(h5py.Dataset(self._first.id)[kept])
        self._first.resize(kept + 1)
        if self._numbers is not None:
            self._numbers.resize(kept)
        for table in self._tables.values():
            table.resize(count)
