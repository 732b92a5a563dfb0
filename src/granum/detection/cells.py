"""Cells: grains sorted along a Morton curve and filed in one grid of cells for each size level.

A grain reaches as far as its radius plus its own skin: the distance it may move before the neighbour list is made anew. Grains
of like reach share a level, whose cells are as wide as its largest reach needs, so that a few large or fast grains cost the many
small or slow ones nothing. Cells are found through a table indexed by the low bits of the cell's Morton code, so the world has
no bounds and memory grows with the number of grains alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import device, kernel
from ..arithmetic import octave
from ..array_types import FloatArray, IntArray, LongArray
from ..kernel_groups import group

FIRST_LEVEL = 1.25  # largest reach of the finest level over the smallest; each further level spans a factor of 2
LARGEST_CELL = 1 << 20  # coordinates of a cell run from 0 to 2^21 - 1 around the origin


@group
class Cells(NamedTuple):
    """Grains by cell and level. Ranks are places along the Morton curve."""

    order: IntArray  # (N,) grain of each rank
    level: IntArray  # (N,) level of each rank
    width: FloatArray  # (L,) of the cells of each level [m]
    reach: FloatArray  # (L,) largest reach of each level [m]
    members: LongArray  # (L,) grains of each level
    table: LongArray  # (L, 2) first entry of each level's table, and its mask
    start: IntArray  # table entry -> first filed grain; one more at the end of each level
    filed: IntArray  # ranks, by table entry
    code: LongArray  # cell code of each filed rank
    origin: FloatArray  # (3,) of the grid [m]


@device
def spread(x):
    """The bits of x, two zero bits between each two."""
    x &= 0x1FFFFF
    x = (x | x << 32) & 0x1F00000000FFFF
    x = (x | x << 16) & 0x1F0000FF0000FF
    x = (x | x << 8) & 0x100F00F00F00F00F
    x = (x | x << 4) & 0x10C30C30C30C30C3
    return (x | x << 2) & 0x1249249249249249


@device
def cell_code(ix, iy, iz):
    """Morton code of a cell."""
    return spread(ix) | spread(iy) << 1 | spread(iz) << 2


@device
def cell_index(x, origin, inverse_width):
    """Cell coordinate of x [m]; far-off grains share the outermost cells."""
    i = np.floor((x - origin) * inverse_width)
    i = i if i > -LARGEST_CELL else -LARGEST_CELL  # before it is made whole: what is too large for an integer has no sign there
    i = i if i < LARGEST_CELL - 1 else LARGEST_CELL - 1
    return np.int64(i) + LARGEST_CELL


@kernel
def morton_codes(position: FloatArray, origin: FloatArray, width: float) -> LongArray:
    """(N,) Morton code of every grain's cell of the given width [m]."""
    code = np.empty(len(position), np.int64)
    for k in range(len(position)):
        code[k] = cell_code(
            cell_index(position[k, 0], origin[0], 1.0 / width),
            cell_index(position[k, 1], origin[1], 1.0 / width),
            cell_index(position[k, 2], origin[2], 1.0 / width),
        )
    return code


@kernel
def file_grains(position: FloatArray, cells: Cells) -> None:
    """Counting sort of the ranks by (level, table entry); ranks of one entry stay in order."""
    order, level, width, table, origin = cells.order, cells.level, cells.width, cells.table, cells.origin
    start, filed, code = cells.start, cells.filed, cells.code
    count = len(order)
    entry = np.empty(count, np.int64)
    own = np.empty(count, np.int64)
    start[:] = 0
    for k in range(count):
        g, lv = order[k], level[k]
        scale = 1.0 / width[lv]
        own[k] = cell_code(
            cell_index(position[g, 0], origin[0], scale),
            cell_index(position[g, 1], origin[1], scale),
            cell_index(position[g, 2], origin[2], scale),
        )
        entry[k] = table[lv, 0] + (own[k] & table[lv, 1])
        start[entry[k] + 1] += 1
    for e in range(len(start) - 1):
        start[e + 1] += start[e]
    place = start.copy()
    for k in range(count):
        p = place[entry[k]]
        place[entry[k]] += 1
        filed[p] = k
        code[p] = own[k]


def file_in_cells(position: FloatArray, reach: FloatArray, origin: FloatArray) -> Cells:
    """Sort grains along the Morton curve and file them by cell and level, in a grid that begins at ``origin`` [m].

    ``reach`` (N,) [m]: two grains are candidates when their distance is below the sum of their reaches.
    """
    count = len(reach)
    smallest = reach.min()
    order = np.argsort(morton_codes(position, origin, 2 * smallest), kind="stable").astype(np.int32)
    # The first level is narrow: it holds the many grains of one size that rest, whose cells should not be wider than they need.
    by_octave = np.clip(octave(reach / (FIRST_LEVEL * smallest)), 0, 30).astype(np.int64)
    in_octave = np.bincount(by_octave)
    level, members = (np.cumsum(in_octave > 0) - 1)[by_octave], in_octave[in_octave > 0]
    largest = np.zeros(len(members))
    np.maximum.at(largest, level, reach)
    size = np.left_shift(1, octave(np.maximum(members, 4) * 2).astype(np.int64))
    table = np.stack([np.concatenate([[0], np.cumsum(size)[:-1]]), size - 1], axis=1)
    start = np.zeros(size.sum() + 1, np.int32)
    filed, code = np.empty(count, np.int32), np.empty(count, np.int64)
    by_rank: IntArray = level.astype(np.int32)[order]
    cells = Cells(order, by_rank, 2 * largest, largest, members, table, start, filed, code, origin)
    file_grains(position, cells)
    return cells
