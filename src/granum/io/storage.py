"""How the rows of a recording are stored: which columns, with how many bytes, and compressed or not.

Compressed tables are written in whole chunks: a frame begins with a new one, and rows that are left in its last chunk stay empty. A chunk
is then never written again, so that what a killed writer leaves is what it had committed, and a frame is read without its neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from ..array_types import IndexArray
from . import layout
from .layout import Column

PACKED = 0.85  # of floats that are compressed, measured in beds at rest
LEFT_OF_WHOLE = 0.02  # of whole numbers


@dataclass(frozen=True)
class Storage:
    """What of the grains is recorded, and how."""

    record: Sequence[str] = layout.CHOSEN
    """Names of ``layout.CHOSEN``; positions, sizes, ids and materials are always there."""
    precision: str = "double"
    """Of floats of grains and contacts: double or single."""
    compress: bool = False

    def stored(self, column: Column) -> Column:
        """The column as this precision has it."""
        single = self.precision == "single" and column.dtype == np.float64
        return replace(column, dtype=np.float32) if single else column

    def grain_columns(self, extensions: Sequence[str] = ()) -> tuple[Column, ...]:
        """Of every grain, besides its position."""
        left_out = set(layout.CHOSEN) - set(self.record)
        return tuple(self.stored(c) for c in layout.point_columns(extensions) if c.name not in left_out)

    @property
    def contact_columns(self) -> tuple[Column, ...]:
        """None: contacts are not recorded."""
        return tuple(map(self.stored, layout.CONTACTS)) if "contacts" in self.record else ()

    def bytes_per_grain(self, extensions: Sequence[str] = ()) -> float:
        """[bytes] in a frame, about, with the vertex that VTK wants of it; contacts left out."""
        columns = (self.stored(layout.POSITION), *self.grain_columns(extensions))
        return self._bytes(columns) + np.dtype(np.int32).itemsize

    def bytes_per_contact(self) -> float:
        """[bytes] in a frame, about."""
        return self._bytes(self.contact_columns)

    def _bytes(self, columns: Sequence[Column]) -> float:
        packed = {"f": PACKED, "i": LEFT_OF_WHOLE} if self.compress else {}
        each = ((np.dtype(c.dtype), int(np.prod(c.width))) for c in columns)
        return float(sum(kind.itemsize * width * packed.get(kind.kind, 1.0) for kind, width in each))


Rows = TypeVar("Rows", int, IndexArray)


def whole_chunks(rows: Rows, chunk: int) -> Rows:
    """The rows of as many chunks as hold so many rows; of one frame, or (F,) of all."""
    return -(-rows // chunk) * chunk
