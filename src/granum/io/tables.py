"""Tables of an HDF5 file that grow by rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import h5py
import numpy as np

from . import layout
from .layout import Column


def is_stored_as(dtype: np.dtype, column: Column) -> bool:
    """Whether a dataset of this type may hold the column: as it is, or with single precision."""
    return bool(dtype == column.dtype or (column.dtype == np.float64 and dtype == np.float32))


class Table:
    """A dataset that grows by rows, through h5py's low-level calls: they take a third of the time of the others."""

    def __init__(self, dataset: h5py.Dataset, column: Column) -> None:
        if not is_stored_as(dataset.dtype, column) or dataset.maxshape != (None, *column.width):
            raise ValueError(f"{dataset.name} is not the table that it should be")
        self.id = dataset.id
        self._dtype = dataset.dtype
        self._width = dataset.shape[1:]
        self.length = dataset.shape[0]
        self.block = dataset.chunks[0] if dataset.compression else 1
        """Rows that are written together (see ``storage.py``)."""

    def resize(self, length: int) -> None:
        """Let the table end after so many rows."""
        self.id.set_extent((length, *self._width))
        self.length = length

    def put(self, first: int, rows: Any) -> None:
        """Write rows from number ``first`` on; the table ends with them, or with the chunk that holds the last."""
        data = np.ascontiguousarray(rows, self._dtype)
        if missing := -len(data) % self.block:
            data = np.concatenate([data, np.zeros((missing, *self._width), self._dtype)])
        self.resize(first + len(data))
        if len(data):
            there = self.id.get_space()
            there.select_hyperslab((first, *(0 for _ in self._width)), data.shape)
            self.id.write(h5py.h5s.create_simple(data.shape), there, data)


def make_table(
    group: h5py.Group,
    name: str,
    column: Column,
    chunk: int = layout.TABLE_CHUNK,
    *,
    fill: int | None = None,
    initial: Sequence[int] = (),
    compress: bool = False,
) -> h5py.Dataset:
    """A new table; ``compress`` its chunks, by what every program that reads HDF5 knows.

    With ``fill`` it is never written: it costs no room and reads as that number. All others are not filled in advance, so that rows go
    straight to the file.
    """
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_fill_time(h5py.h5d.FILL_TIME_NEVER if fill is None else h5py.h5d.FILL_TIME_IFSET)
    table = group.create_dataset(
        name,
        (len(initial), *column.width),
        column.dtype,
        maxshape=(None, *column.width),
        chunks=(chunk, *column.width),
        fillvalue=fill,
        dcpl=properties,
        **({"compression": "gzip", "compression_opts": 1, "shuffle": True} if compress else {}),
    )
    table[:] = np.asarray(initial, column.dtype).reshape(table.shape)
    if column.unit:
        table.attrs["unit"] = column.unit
    if column.meaning:
        table.attrs["meaning"] = column.meaning
    return table
