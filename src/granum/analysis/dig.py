"""What an excavator did to a bed in a trench: its height where nothing was dug, and what was displaced."""

from __future__ import annotations

import math

import numpy as np

from ..array_types import BoolArray, FloatArray
from ..records import Vector
from ..scene.library.excavator import ExcavatorParameters
from ..scene.library.excavator_arm import Arm, upright
from ..state.rotation import matrix

CELL = 2.0  # [mean diameters] width of the cells whose highest grains are the surface


def bed_height(position: FloatArray, radius: FloatArray, lower: Vector, upper: Vector, along: tuple[float, float] = (0.0, 1.0)) -> float:
    """Height [m] of the bed above the floor of a trench from ``lower`` to ``upper``: the mean over cells of their highest grain.

    ``along`` is the part of the length, in x, that is looked at. NaN without grains there.
    """
    x0, x1 = (lower[0] + part * (upper[0] - lower[0]) for part in along)
    x, y = position[:, 0], position[:, 1]
    there = (x > x0) & (x < x1) & (y > lower[1]) & (y < upper[1])
    if not there.any():
        return math.nan
    width = CELL * 2 * float(radius.mean())
    column = ((x[there] - x0) / width).astype(int), ((y[there] - lower[1]) / width).astype(int)
    highest = np.full((column[0].max() + 1, column[1].max() + 1), -np.inf)
    np.maximum.at(highest, column, (position[:, 2] + radius)[there])
    return float(highest[np.isfinite(highest)].mean()) - lower[2]


def outside_trench(position: FloatArray, lower: Vector, upper: Vector) -> BoolArray:
    """(N,) which grains lie beside a trench or above the level of the ground that it was dug in."""
    x, y, z = position.T
    over = (x > lower[0]) & (x < upper[0]) & (y > lower[1]) & (y < upper[1])
    return np.asarray(~over | (z > upper[2]))


def displaced_volume(before: FloatArray, after: FloatArray, radius: FloatArray, way: float) -> float:
    """Volume [m^3] of the grains that have gone further than ``way`` [m] from places (N, 3) to others."""
    far = ((after - before) ** 2).sum(axis=1) > way * way
    return float((4 / 3 * math.pi * radius[far] ** 3).sum())


def in_bucket(position: FloatArray, frame: tuple[FloatArray, FloatArray], parameters: ExcavatorParameters) -> BoolArray:
    """(n,) which places (n, 3) lie in the bucket, whose body has the ``frame`` of position and orientation."""
    arm = Arm(parameters.bucket_size, parameters.bucket_width)
    local = (position - frame[0]) @ matrix(frame[1]) + upright(*arm.middle)
    x, z = local[:, 0], local[:, 2]
    inside = np.zeros(len(position), bool)
    for (x0, z0), (x1, z1) in zip(arm.profile, np.roll(arm.profile, -1, axis=0), strict=True):
        crosses = (z0 > z) != (z1 > z)
        inside ^= crosses & (x < x0 + (x1 - x0) * (z - z0) / (z1 - z0 if z1 != z0 else 1.0))
    return inside & (np.abs(local[:, 1]) < arm.width / 2)
