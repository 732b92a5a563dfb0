"""Who passes: grains that went through the regions of counters in a step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._jit import kernel
from ..array_types import FloatArray, LongArray
from ..scene.counter import DiscRegion, PlaneRegion, RectangleRegion
from .images import nearest

PLANE, DISC, RECTANGLE = 0, 1, 2


def face_table(regions: Sequence[PlaneRegion | DiscRegion | RectangleRegion]) -> FloatArray:
    """(K, 13) for the kernel: kind, centre [m], normal, then the radius [m], or two vectors that measure in edges [1/m]."""
    table = np.zeros((len(regions), 13))
    for row, region in zip(table, regions, strict=True):
        row[:7] = (PLANE, *region.centre, *region.normal)
        if isinstance(region, DiscRegion):
            row[0], row[7] = DISC, region.radius
        elif isinstance(region, RectangleRegion):
            row[0], row[7:10], row[10:] = RECTANGLE, *region.parts
    return table


@kernel
def count_crossings(
    before: FloatArray,
    position: FloatArray,
    first: int,
    inverse_mass: FloatArray,
    table: FloatArray,
    period: FloatArray | None,
    count: LongArray,
    mass: FloatArray,
) -> None:
    """Add to ``count`` and ``mass`` (K, 2) [kg] the grains that passed each region along its normal, and against it.

    Grains, from row ``first`` of ``position`` (B, 3) [m] and ``inverse_mass`` (B,) on, went from ``before`` (N, 3) on straight lines. A
    point of the plane belongs to the side that the normal points to. In a cell (``period``) the nearest image of a region counts.
    """
    way, start = np.empty(3), np.empty(3)
    for i in range(len(before)):
        if inverse_mass[first + i] <= 0.0:
            continue
        for k in range(len(table)):
            from_plane, along = 0.0, 0.0
            for f in range(3):
                start[f] = before[i, f] - table[k, 1 + f]
                if period is not None:
                    start[f] = nearest(start[f], period, f)
                way[f] = position[first + i, f] - before[i, f]
                from_plane += start[f] * table[k, 4 + f]
                along += way[f] * table[k, 4 + f]
            forward = from_plane < 0.0 and from_plane + along >= 0.0
            if not forward and not (from_plane >= 0.0 and from_plane + along < 0.0):
                continue
            part = -from_plane / along  # of the way
            square, u, v = 0.0, 0.0, 0.0
            for f in range(3):
                across = start[f] + part * way[f]
                square += across * across
                u += across * table[k, 7 + f]
                v += across * table[k, 10 + f]
            if table[k, 0] == DISC and square > table[k, 7] * table[k, 7]:
                continue
            if table[k, 0] == RECTANGLE and (abs(u) > 0.5 or abs(v) > 0.5):
                continue
            side = 0 if forward else 1
            count[k, side] += 1
            mass[k, side] += 1.0 / inverse_mass[first + i]
