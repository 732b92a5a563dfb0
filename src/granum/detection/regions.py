"""Who is inside: grains in the regions of sensors and sinks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._jit import kernel
from ..array_types import FloatArray, IntArray
from ..scene.regions import BallRegion, BoxRegion, CylinderRegion

BOX, CYLINDER, BALL = 0, 1, 2


def region_table(regions: Sequence[BoxRegion | CylinderRegion | BallRegion]) -> FloatArray:
    """(K, 9) for the kernel: kind, then lower and upper corner, or centre, axis, radius and half the length [m]."""
    table = np.zeros((len(regions), 9))
    for row, region in zip(table, regions, strict=True):
        if isinstance(region, BoxRegion):
            row[:7] = (BOX, *region.lower, *region.upper)
        elif isinstance(region, CylinderRegion):
            row[:] = (CYLINDER, *region.centre, *region.axis, region.radius, region.length / 2)
        else:
            row[:4], row[7] = (BALL, *region.centre), region.radius
    return table


@kernel
def find_inside(position: FloatArray, first: int, table: FloatArray, inside: IntArray) -> int:
    """``inside`` (N,): the first region of ``table`` that holds each centre, else -1; returns how many are inside of one.

    ``position`` (B, 3) [m] has the grains from row ``first`` on. Faces belong to a region.
    """
    count = 0
    for i in range(len(inside)):
        x, y, z = position[first + i, 0], position[first + i, 1], position[first + i, 2]
        inside[i] = -1
        for k in range(len(table)):
            kind = table[k, 0]
            if kind == BOX:
                holds = table[k, 1] <= x <= table[k, 4] and table[k, 2] <= y <= table[k, 5] and table[k, 3] <= z <= table[k, 6]
            else:
                dx, dy, dz = x - table[k, 1], y - table[k, 2], z - table[k, 3]
                square, along = dx * dx + dy * dy + dz * dz, 0.0
                if kind == CYLINDER:
                    along = dx * table[k, 4] + dy * table[k, 5] + dz * table[k, 6]
                holds = square - along * along <= table[k, 7] ** 2 and abs(along) <= table[k, 8]
            if holds:
                inside[i] = k
                count += 1
                break
    return count
