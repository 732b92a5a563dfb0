"""A regular grid of cells on which fields are found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..array_types import FloatArray
from ..checks import InputError, finite_positive
from .snapshot import Snapshot

AXES = "xyz"


@dataclass(frozen=True)
class FieldGrid:
    """A regular grid of cells between two corners (3,) [m]; an axis with one cell is integrated over."""

    lower: FloatArray
    upper: FloatArray
    counts: tuple[int, int, int]

    def __post_init__(self) -> None:
        if not all(int(n) == n >= 1 for n in self.counts):
            raise InputError(f"counts of a grid must be whole numbers of 1 or more (got {self.counts}).")
        if not np.all(np.asarray(self.lower) < self.upper):
            raise InputError(f"lower corner of a grid must be below its upper one in every direction (got {self.lower} and {self.upper}).")

    @classmethod
    def around(cls, snapshots: Snapshot | Sequence[Snapshot], cell: float, axes: str = AXES, *, margin: float = 0.0) -> FieldGrid:
        """Around all grains, in cubes of side ``cell`` [m]; axes that ``axes`` does not name are integrated over ("xz", "z", ...).

        ``margin`` [m] is added on both sides of the axes that are named.
        """
        cell = finite_positive("cell", cell, "m")
        if not axes or set(axes) - set(AXES):
            raise InputError(f"axes of a grid must be some of 'x', 'y' and 'z' (got {axes!r}).")
        seen = with_grains(snapshots)
        lower = np.min([(s.position - s.radius[:, None]).min(axis=0) for s in seen if len(s.radius)], axis=0)
        upper = np.max([(s.position + s.radius[:, None]).max(axis=0) for s in seen if len(s.radius)], axis=0)
        kept = np.array([axis in axes for axis in AXES])
        lower, upper = lower - margin * kept, upper + margin * kept
        counts = np.where(kept, np.maximum(np.ceil((upper - lower) / cell), 1), 1).astype(int)
        spare = np.where(kept, counts * cell - (upper - lower), 0.0) / 2
        nx, ny, nz = counts.tolist()
        return cls(lower - spare, upper + spare, (nx, ny, nz))

    @cached_property
    def cell(self) -> FloatArray:
        """(3,) [m] sides of a cell."""
        return (np.asarray(self.upper) - self.lower) / self.counts

    @property
    def cell_volume(self) -> float:
        """[m^3]"""
        return float(self.cell.prod())

    @property
    def centres(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """[m] of the cells along x, y and z."""
        x, y, z = (low + side * (np.arange(n) + 0.5) for low, side, n in zip(self.lower, self.cell, self.counts, strict=True))
        return x, y, z


def with_grains(snapshots: Snapshot | Sequence[Snapshot]) -> Sequence[Snapshot]:
    """The given snapshots as a list; InputError if there is no grain in any."""
    seen = [snapshots] if isinstance(snapshots, Snapshot) else list(snapshots)
    if not any(len(s.radius) for s in seen):
        raise InputError("coarse graining needs grains: there are none in the given frames.")
    return seen
