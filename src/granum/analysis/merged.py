"""How far model reduction got: who is free, who is held by a wall, and who is part of an aggregate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..checks import InputError
from .snapshot import BoolArray, Snapshot


@dataclass(frozen=True)
class MergedCounts:
    """Grains by what they have merged into."""

    level: float
    """1 - (free grains and aggregates) / grains (MR 5)."""
    free: int
    held: int
    """By walls."""
    merged: int
    """Into aggregates."""
    aggregates: int
    largest: int
    """Grains of the largest aggregate."""


def merged_counts(s: Snapshot) -> MergedCounts:
    """Of a snapshot; InputError if it is not one of a run with model reduction."""
    free, held, merged = who_is_merged(s)
    size = np.unique(s.aggregate[merged], return_counts=True)[1]  # type: ignore[index]
    bodies = int(free.sum()) + len(size)
    return MergedCounts(
        level=1 - bodies / s.grain_count if s.grain_count else 0.0,
        free=int(free.sum()),
        held=int(held.sum()),
        merged=int(merged.sum()),
        aggregates=len(size),
        largest=int(size.max(initial=0)),
    )


def who_is_merged(s: Snapshot) -> tuple[BoolArray, BoolArray, BoolArray]:
    """(N,) each: free grains, those that a wall holds, those of aggregates."""
    if s.aggregate is None:
        raise InputError(f"recording {s.path} is of a run without model reduction: run it with --reduce contact,trial or the like.")
    free = s.aggregate < 0
    merged = s.aggregate >= len(s.wall_position)
    return free, ~free & ~merged, merged
