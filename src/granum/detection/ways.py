"""How far fast grains get: the rest of their way after the solve, until they meet something that the step did not know of.

A step solves the first meeting of every fast grain. What it meets after that, on the way that the collision has given it, waits for the
next step: the grain stops there and keeps its velocity. It loses some time, but no momentum, and passes through nothing.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import FloatArray, IntArray, kernel
from .images import nearest
from .mesh import CANDIDATE_COLUMNS
from .prediction import approach
from .walls import FLAT, MOST_SURFACES, ROW, WallTable, first_touch, place_surfaces

FAST = 0.5  # of the radius: grains that go further in a step are followed


@kernel
def fast_grains(velocity: FloatArray, first: int, radius: FloatArray, movable: FloatArray, h: float) -> IntArray:
    """Grains that go further than ``FAST`` of their radius in a step."""
    found = np.empty(len(radius), np.int32)
    count = 0
    for i in range(len(radius)):
        square = velocity[first + i, 0] ** 2 + velocity[first + i, 1] ** 2 + velocity[first + i, 2] ** 2
        if square * h * h > (FAST * radius[i]) ** 2 and movable[first + i] > 0.0:
            found[count] = i
            count += 1
    return found[:count]


@kernel
def times_to_pairs(
    order: IntArray, candidate_first: IntArray, candidate: IntArray, fast: IntArray, position: FloatArray, velocity: FloatArray, first: int,
    radius: FloatArray, struck: FloatArray, period: FloatArray | None, h: float, time: FloatArray,
) -> None:  # fmt: skip
    """Lower ``time`` (N,) [s] of fast grains to when they meet another; ``struck`` (B,) is when in the step a body got its velocity."""
    is_fast = np.zeros(len(radius), np.bool_)
    is_fast[fast] = True
    for k in range(len(order)):
        i = order[k]
        if i < 0:
            continue
        for c in range(candidate_first[k], candidate_first[k + 1]):
            j = order[candidate[c]]
            if j < 0 or not (is_fast[i] or is_fast[j]):
                continue
            start = max(struck[first + i], struck[first + j])
            near = radius[i] + radius[j]
            inside, along, square, apart = 0.0, 0.0, 0.0, 0.0
            for f in range(3):
                d = position[first + j, f] - position[first + i, f]
                u = velocity[first + j, f] - velocity[first + i, f]
                d += start * u
                if period is not None:
                    d = nearest(d, period, f)
                along += d * u
                square += u * u
                apart += d * d
            inside = apart - near * near
            under = along * along - square * inside
            if along < 0.0 and inside > 0.0 and under > 0.0:
                meeting = start + inside / (math.sqrt(under) - along)
                if meeting < h:
                    if is_fast[i]:
                        time[i] = min(time[i], meeting)
                    if is_fast[j]:
                        time[j] = min(time[j], meeting)


@kernel
def times_to_walls(
    fast: IntArray, place: FloatArray, orientation: FloatArray, velocity: FloatArray, spin: FloatArray, inverse_mass: FloatArray,
    first: int, radius: FloatArray, struck: FloatArray, walls: WallTable, h: float, time: FloatArray,
) -> None:  # fmt: skip
    """The same for walls; ``place`` (B, 3) [m] are positions in the cell."""
    most = MOST_SURFACES * walls.kind.shape[0]
    kind, wall_of, part = np.empty(most, np.int32), np.empty(most, np.int32), np.empty(most, np.int32)
    yields, row, frame = np.empty(most, np.bool_), np.empty((most, ROW)), np.empty((1, ROW))
    count = place_surfaces(
        walls.kind, walls.body, walls.parameter, place, orientation, inverse_mass, frame, kind, wall_of, part, yields, row
    )
    parameter, wall_body = walls.parameter, walls.body
    (
        triangle, region, own, edge, edge_first, edge_side, vertex, vertex_first, spoke, cell_first, near,
        candidate_room,
    ) = walls.mesh  # fmt: skip
    found = np.empty((max(1, candidate_room), CANDIDATE_COLUMNS))
    for i in fast:
        body = first + i
        x, y, z, r = place[body, 0], place[body, 1], place[body, 2], radius[i]
        for s in range(count):
            ux, uy, uz = approach(velocity, spin, place, wall_body[wall_of[s]], body)
            if kind[s] == FLAT:
                rate = -(ux * row[s, 0] + uy * row[s, 1] + uz * row[s, 2])
                gap = row[s, 0] * x + row[s, 1] * y + row[s, 2] * z - row[s, 3] - r
                if rate < 0.0 and gap > 0.0 and -gap / rate < time[i]:
                    time[i] = max(struck[body], -gap / rate)
                continue
            met, when = first_touch(
                kind[s], s, row, parameter, wall_of[s], part[s], triangle, region, own, edge, edge_first, edge_side, vertex,
                vertex_first, spoke, cell_first, near, x, y, z, r, ux, uy, uz, struck[body], time[i], found,
            )  # fmt: skip
            if met:
                time[i] = when


@kernel
def hold_back(fast: IntArray, time: FloatArray, velocity: FloatArray, first: int, h: float, position: FloatArray) -> None:
    """Take back the part of the way that grains have not gone: from their ``time`` (N,) [s] to the end of the step."""
    for i in fast:
        for f in range(3):
            position[first + i, f] -= (h - time[i]) * velocity[first + i, f]
