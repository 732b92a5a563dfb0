"""Where a field in a section may be shown: on the side of walls on which grains are, and where there are enough of them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import label
from scipy.spatial import cKDTree

from ..array_types import BoolArray, FloatArray

AT_ONCE = 4_000_000  # pairs of places and wall pieces that are looked at together: memory
FEWEST_GRAINS = 6  # in a patch of a field; fewer, such as some that fall, are no field


def side_of_walls(place: FloatArray, grain: FloatArray, wall: FloatArray, step: float) -> FloatArray:
    """(P,) distance [m] of places (P, 2) from the nearest wall piece, negative where a piece stands between a place and the nearest grain.

    ``grain`` (N, 2) are centres and ``wall`` (m, 2, 2) line pieces [m]; distances are known to about ``step`` / 8 [m]. No walls: infinite.
    """
    if not len(wall):
        return np.full(len(place), np.inf)
    distance, _ = cKDTree(_points_along(wall, step)).query(place)
    nearest = grain[cKDTree(grain).query(place)[1]]
    return np.where(_crossed(place, nearest, wall), -distance, distance)


def _points_along(wall: FloatArray, step: float) -> FloatArray:
    """(n, 2) points on line pieces, at most ``step`` / 2 apart."""
    length = np.linalg.norm(wall[:, 1] - wall[:, 0], axis=1)
    count = np.maximum(np.ceil(2 * length / step).astype(int), 1) + 1
    piece = np.repeat(np.arange(len(wall)), count)
    part = (np.arange(len(piece)) - np.repeat(np.cumsum(count) - count, count)) / (count[piece] - 1)
    return np.asarray(wall[piece, 0] + part[:, None] * (wall[piece, 1] - wall[piece, 0]))


def _crossed(start: FloatArray, end: FloatArray, wall: FloatArray) -> BoolArray:
    """(P,) whether a wall piece crosses the line from each ``start`` to its ``end``."""
    found = np.zeros(len(start), bool)
    for rows in np.array_split(np.arange(len(start)), max(1, math.ceil(len(start) * len(wall) / AT_ONCE))):
        a, b, p, q = start[rows, None], end[rows, None], wall[None, :, 0], wall[None, :, 1]
        apart = (_turn(p, q, a) > 0) != (_turn(p, q, b) > 0)
        found[rows] = (apart & ((_turn(a, b, p) > 0) != (_turn(a, b, q) > 0))).any(axis=1)
    return found


def _turn(a: FloatArray, b: FloatArray, c: FloatArray) -> FloatArray:
    """Twice the area of triangles, positive where c lies to the left of the way from a to b."""
    return np.asarray((b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (c[..., 0] - a[..., 0]))


def crowded(filled: BoolArray, cell: NDArray[np.integer]) -> BoolArray:
    """(nx, ny) of the cells that are ``filled`` those whose patch holds enough grains; ``cell`` (N, 2) is the cell of each grain."""
    patch, count = label(filled)
    inside = ((cell >= 0) & (cell < filled.shape)).all(axis=1)
    grains = np.bincount(patch[tuple(cell[inside].T)], minlength=count + 1)
    grains[0] = 0
    return np.asarray(grains[patch] >= FEWEST_GRAINS)
