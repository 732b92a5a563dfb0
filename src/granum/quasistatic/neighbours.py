"""Pairs of a periodic packing that touch or may come to touch: every image of a pair is an entry of its own.

So cells of a few grains, in which a grain meets another one on two sides, or itself, need no care.
"""

from __future__ import annotations

from itertools import product as combinations
from typing import NamedTuple

import numpy as np

from .._jit import kernel
from ..arithmetic import power, product
from ..array_types import FloatArray, IntArray, LongArray
from ..scene.cell import Cell


class Pairs(NamedTuple):
    """P pairs, by a; grain a meets grain b where b is shifted by ``shift[image]``."""

    a: IntArray  # (P,)
    b: IntArray  # (P,), not below a
    image: IntArray  # (P,) row of steps
    steps: LongArray  # (I, d) cell vectors between b and its image

    def shift(self, cell: Cell) -> FloatArray:
        """(I, d) [m] of every image in ``cell``."""
        return product(self.steps, cell.vectors)


class _CellList(NamedTuple):
    """The grains filed by the cells of a search grid; a missing third axis has one cell."""

    own: LongArray  # (N, 3) cell of each grain
    grid: LongArray  # (3,) number of cells
    across: LongArray  # (3,) how many cells the search reaches
    first: LongArray  # (cells + 1,) where the grains of each begin in ``filed``
    filed: IntArray  # (N,)


class _Images(NamedTuple):
    """The images of the periodic cell, and in which of them each grain is."""

    shift: FloatArray  # (I, d) [m]
    home: LongArray  # (N, 3) whole cell vectors from the first image to a grain
    most: LongArray  # (3,) images are counted from - most to most along each axis


def find_pairs(cell: Cell, position: FloatArray, reach: FloatArray) -> Pairs:
    """All images of pairs closer than the sum of their reaches (N,) [m]."""
    count, dim = position.shape
    part = product(position, cell.inverse)
    home = np.floor(part)
    far = 2 * float(reach.max())
    heights = cell.heights
    # Cells about as wide as the search, and no more of them than grains.
    grid = np.clip(np.floor(heights / far), 1, max(1, int(power(count, 1 / dim)))).astype(np.int64)
    across = np.ceil(far / (heights / grid) * (1 - 1e-12)).astype(np.int64)
    most = (across // grid + 1 + (home.max(axis=0) - home.min(axis=0)).astype(np.int64)).astype(np.int64)
    steps = np.array(list(combinations(*(range(-m, m + 1) for m in most))), np.int64)
    own = np.minimum(((part - home) * grid).astype(np.int64), grid - 1)
    pad = np.ones(3 - dim, np.int64)
    own3 = np.concatenate([own, np.zeros((count, 3 - dim), np.int64)], axis=1)
    grid3, across3, most3 = (np.concatenate([v, pad * fill]) for v, fill in ((grid, 1), (across, 0), (most, 0)))
    flat = (own3[:, 0] * grid3[1] + own3[:, 1]) * grid3[2] + own3[:, 2]
    filed = np.argsort(flat, kind="stable").astype(np.int32)
    first = np.concatenate([[0], np.cumsum(np.bincount(flat, minlength=int(grid3.prod())))])
    home3 = np.concatenate([home, np.zeros((count, 3 - dim))], axis=1).astype(np.int64)
    cells, images = _CellList(own3, grid3, across3, first, filed), _Images(product(steps, cell.vectors), home3, most3)
    room = count * (8 if dim == 2 else 16) + 16
    while True:
        a, b, image = np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int32)
        found = _search(position, reach, cells, images, a, b, image)
        if found <= room:
            return Pairs(a[:found], b[:found], image[:found], steps)
        room = found


@kernel
def _search(
    x: FloatArray,
    reach: FloatArray,
    cells: _CellList,
    images: _Images,
    a: IntArray,
    b: IntArray,
    image: IntArray,
) -> int:
    """Fill a, b and image as far as there is room; returns how many pairs there are."""
    own, grid, across, first, filed = cells
    shift, home, most = images
    found, three = 0, x.shape[1] == 3
    for i in range(len(x)):
        for ox in range(-across[0], across[0] + 1):
            cx = own[i, 0] + ox
            sx = cx // grid[0]
            for oy in range(-across[1], across[1] + 1):
                cy = own[i, 1] + oy
                sy = cy // grid[1]
                for oz in range(-across[2], across[2] + 1):
                    cz = own[i, 2] + oz
                    sz = cz // grid[2]
                    place = ((cx - sx * grid[0]) * grid[1] + cy - sy * grid[1]) * grid[2] + cz - sz * grid[2]
                    for p in range(first[place], first[place + 1]):
                        j = filed[p]
                        if j < i:
                            continue
                        if j == i and not (sx > 0 or (sx == 0 and (sy > 0 or (sy == 0 and sz > 0)))):
                            continue
                        mx = sx + home[i, 0] - home[j, 0]
                        my = sy + home[i, 1] - home[j, 1]
                        mz = sz + home[i, 2] - home[j, 2]
                        m = ((mx + most[0]) * (2 * most[1] + 1) + my + most[1]) * (2 * most[2] + 1) + mz + most[2]
                        dx, dy = x[i, 0] - x[j, 0] - shift[m, 0], x[i, 1] - x[j, 1] - shift[m, 1]
                        dz = x[i, 2] - x[j, 2] - shift[m, 2] if three else 0.0
                        near = reach[i] + reach[j]
                        if dx * dx + dy * dy + dz * dz < near * near:
                            if found < len(a):
                                a[found], b[found], image[found] = i, j, m
                            found += 1
    return found


@kernel
def farthest(x: FloatArray, reference: FloatArray) -> float:
    """Square of the largest distance [m^2] of a grain from where it was; NaN if any is."""
    largest = 0.0
    for i in range(len(x)):
        square = 0.0
        for k in range(x.shape[1]):
            square += (x[i, k] - reference[i, k]) ** 2
        if not square <= largest:  # a NaN stays
            largest = square
    return largest
