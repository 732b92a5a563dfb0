"""Spreading what points carry over the cells of a grid: the compiled half of coarse graining."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._jit import device, kernel
from ..array_types import FloatArray, LongArray

GAUSSIAN, LUCY = 0, 1


class GridKernel(NamedTuple):
    """A kernel on a grid; axes that are integrated over come before the others."""

    kind: int
    width: float  # w [m]
    reach: float  # of the kernel [m]
    lower: FloatArray  # (3,) corner of the grid [m]
    cell: FloatArray  # (3,) sides of a cell [m]
    cells: LongArray  # (3,)


class Room(NamedTuple):
    """The weights of one point at the cells around it."""

    first: LongArray  # (3,) cells along each axis, from here
    last: LongArray  # (3,) to here
    factor: FloatArray  # (3, 2, most) weight and distance [m] along each axis by itself
    weight: FloatArray  # (mx, my, mz)
    slope: FloatArray  # (3, mx, my, mz) [1/m]


@device
def fill_weights(p, x, spread, steep, room):
    """Weights of point ``x[p]`` at the cells first[k] to last[k] along each axis k, with sum 1; False: outside the grid.

    If ``steep``, also their slopes: those of the spread quantity along the axes at the centre of the cell, [1/m].
    """
    kind, width, reach, lower, cell, count = spread
    first, last, factor, weight, slope = room
    for k in range(3):
        at = (x[p, k] - lower[k]) / cell[k]
        if not 0.0 <= at <= count[k]:
            return False
        first[k] = max(0, math.ceil(at - reach / cell[k] - 0.5)) if count[k] > 1 else 0
        last[k] = min(count[k] - 1, math.floor(at + reach / cell[k] - 0.5)) if count[k] > 1 else 0
    for k in range(3):
        total = 0.0
        for c in range(first[k], last[k] + 1):
            away = lower[k] + (c + 0.5) * cell[k] - x[p, k] if count[k] > 1 else 0.0
            factor[k, 1, c - first[k]] = away
            factor[k, 0, c - first[k]] = math.exp(-0.5 * (away / width) ** 2) if kind == GAUSSIAN else 1.0
            total += factor[k, 0, c - first[k]]
        if kind == GAUSSIAN:
            for c in range(last[k] - first[k] + 1):
                factor[k, 0, c] /= total
    size = last[2] - first[2] + 1
    total = 0.0
    for i in range(last[0] - first[0] + 1):
        for j in range(last[1] - first[1] + 1):
            if kind == GAUSSIAN:
                set_row(weight[i, j, :size], factor[2, 0], factor[0, 0, i] * factor[1, 0, j])
            else:
                total += lucy_row(weight[i, j, :size], factor[2, 1], factor[0, 1, i] ** 2 + factor[1, 1, j] ** 2, reach)
            if steep:
                for k in range(size):
                    u, v, w = factor[0, 1, i], factor[1, 1, j], factor[2, 1, k]
                    rate = -weight[i, j, k] / width**2
                    if kind == LUCY:
                        s = math.sqrt(u * u + v * v + w * w) / reach
                        rate = -12.0 * (1.0 - s) ** 2 / reach**2 if s < 1.0 else 0.0
                    slope[0, i, j, k], slope[1, i, j, k], slope[2, i, j, k] = rate * u, rate * v, rate * w
    if kind == LUCY:
        for i in range(last[0] - first[0] + 1):
            for j in range(last[1] - first[1] + 1):
                set_row(weight[i, j, :size], weight[i, j], 1.0 / total)
                if steep:
                    for m in range(3):
                        set_row(slope[m, i, j, :size], slope[m, i, j], 1.0 / total)
    return True


@device
def set_row(row, values, factor):
    """row = factor * values."""
    for k in range(row.shape[0]):
        row[k] = factor * values[k]


@device
def lucy_row(row, away, square, reach):
    """Lucy's kernel along a row of cells, at the distances ``away`` [m] along it and sqrt(``square``) across it; returns its sum."""
    total = 0.0
    for k in range(row.shape[0]):
        s = math.sqrt(square + away[k] * away[k]) / reach
        row[k] = (1.0 + 3.0 * s) * (1.0 - s) ** 3 if s < 1.0 else 0.0
        total += row[k]
    return total


@device
def add_row(row, weight, value):
    """row += value * weight."""
    for k in range(row.shape[0]):
        row[k] += value * weight[k]


@kernel
def spread_values(
    # in
    position: FloatArray,  # (n, 3) [m], in the order of the axes of the grid, as all that follows
    value: FloatArray,  # (n, K) what each point carries
    spread: GridKernel,
    # in and out
    total: FloatArray,  # (K, nx, ny, nz) sum of values times weights
    slopes: FloatArray,  # (S, 3, nx, ny, nz) slopes of the first S of them [1/m]
) -> None:
    """GridKernel what points carry over the cells around them."""
    room = make_room(spread)
    first, last, _, weight, slope = room
    steep = slopes.shape[0] > 0
    for p in range(position.shape[0]):
        if not fill_weights(p, position, spread, steep, room):
            continue
        start, end = first[2], last[2] + 1
        for i in range(first[0], last[0] + 1):
            for j in range(first[1], last[1] + 1):
                part = weight[i - first[0], j - first[1]]
                for q in range(value.shape[1]):
                    add_row(total[q, i, j, start:end], part, value[p, q])
                for q in range(slopes.shape[0]):
                    for m in range(3):
                        add_row(slopes[q, m, i, j, start:end], slope[m, i - first[0], j - first[1]], value[p, q])


@kernel
def spread_fluctuations(
    # in
    position: FloatArray,  # (n, 3) [m]
    mass: FloatArray,  # (n,) [kg]
    velocity: FloatArray,  # (n, 3) [m/s]
    mean: FloatArray,  # (3, nx, ny, nz) velocity field [m/s]
    spread: GridKernel,
    # in and out
    total: FloatArray,  # (3, 3, nx, ny, nz) sum of m v' v' times weights [J]
) -> None:
    """Kinetic stress times the volume of a cell: the motion of grains relative to the velocity field at the cell."""
    room = make_room(spread)
    first, last, _, weight, _ = room
    for p in range(position.shape[0]):
        if not fill_weights(p, position, spread, False, room):
            continue
        for i in range(first[0], last[0] + 1):
            for j in range(first[1], last[1] + 1):
                for k in range(first[2], last[2] + 1):
                    part = mass[p] * weight[i - first[0], j - first[1], k - first[2]]
                    if part > 0.0:
                        for m in range(3):
                            for n in range(3):
                                total[m, n, i, j, k] += part * (velocity[p, m] - mean[m, i, j, k]) * (velocity[p, n] - mean[n, i, j, k])


@kernel
def make_room(spread: GridKernel) -> Room:
    """For the weights of a point."""
    reach, cell, count = spread.reach, spread.cell, spread.cells
    size = np.ones(3, np.int64)
    for k in range(3):
        if count[k] > 1:
            size[k] = min(count[k], 2 * math.ceil(reach / cell[k]) + 1)
    return Room(
        np.zeros(3, np.int64),
        np.zeros(3, np.int64),
        np.zeros((3, 2, size.max())),
        np.zeros((size[0], size[1], size[2])),
        np.zeros((3, size[0], size[1], size[2])),
    )
