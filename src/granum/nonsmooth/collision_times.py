"""When in a step its collisions take place, and where that leaves the bodies at its end (physics 13).

A collision that is found before it happens changes velocities at the time t_c = gap / approach speed, not at the start of the step: a body
whose velocity changes by dv at t_c ends t_c dv short of where the new velocity alone would take it. That is exact for two bodies. A body
with several collisions has the mean of their times, weighted by their impulses; one that only gets an impulse passed on, as in a row of
touching grains, has the time of those that pass it on.
"""

from __future__ import annotations

import numpy as np

from .._jit import FloatArray, IntArray, kernel
from .blocks import LANES, PN

PASSES = 8  # contacts over which times are handed on


@kernel
def place_at_collisions(
    a: IntArray, b: IntArray, normal: FloatArray, place: IntArray, gap_rate: FloatArray, rebound: FloatArray, fields: int, data: FloatArray,
    first: int, wall_body: IntArray, inverse_mass: FloatArray, h: float, shift: FloatArray, overlap: FloatArray, position: FloatArray,
    struck: FloatArray,
) -> None:  # fmt: skip
    """Move bodies to where the step must start for its end to be right, and overlaps with them.

    ``gap_rate`` (C,) is the separation speed before the impact stage [m/s], ``data`` has its impulses. ``shift`` (B, 3) is room to work in,
    zeros before and after; ``struck`` (B,) receives when in the step bodies are hit [s].
    """
    count = 0
    some = np.empty(len(a), np.int64)
    inside = False
    for c in range(len(a)):
        if data[place[c] // LANES * fields * LANES + PN * LANES + place[c] % LANES] > 0.0:
            some[count] = c
            count += 1
            inside = inside or (rebound[c] > 0.0 and overlap[c] < 0.0)
    if not inside:
        return
    body = np.empty((count, 2), np.int64)
    time, known = np.zeros(count), np.zeros(count, np.bool_)
    pressed = np.empty(count)
    weight, sum_of_times = np.zeros(len(position)), np.zeros(len(position))
    for k in range(count):
        c = some[k]
        body[k, 0], body[k, 1] = first + a[c], first + b[c] if b[c] >= 0 else wall_body[-1 - b[c]]
        pressed[k] = data[place[c] // LANES * fields * LANES + PN * LANES + place[c] % LANES]
        known[k] = rebound[c] > 0.0 and -gap_rate[c] * h > -overlap[c]
        if known[k]:
            time[k] = max(0.0, -overlap[c]) / -gap_rate[c]
    for _ in range(PASSES):
        for k in range(count):
            if known[k]:
                for i in body[k]:
                    if inverse_mass[i] > 0.0:
                        weight[i] += pressed[k]
                        sum_of_times[i] += pressed[k] * time[k]
        more = False
        for k in range(count):
            i, j = body[k, 0], body[k, 1]
            if not known[k] and weight[i] + weight[j] > 0.0:
                time[k] = (sum_of_times[i] + sum_of_times[j]) / (weight[i] + weight[j])
                known[k] = more = True
        if not more:
            break
        for k in range(count):
            for i in body[k]:
                weight[i], sum_of_times[i] = 0.0, 0.0
    for k in range(count):
        c = some[k]
        d = place[c] // LANES * fields * LANES + place[c] % LANES
        for f in range(3):
            p = pressed[k] * normal[c, f] + data[d + (PN + 1 + f) * LANES]
            for side in range(2):
                i = body[k, side]
                if weight[i] > 0.0:
                    struck[i] = sum_of_times[i] / weight[i]
                    shift[i, f] += (1.0 - 2.0 * side) * inverse_mass[i] * p * struck[i]
    for c in range(len(a)):
        i, j = first + a[c], first + b[c] if b[c] >= 0 else wall_body[-1 - b[c]]
        for f in range(3):
            overlap[c] += (shift[i, f] - shift[j, f]) * normal[c, f]
    for k in range(count):
        for i in body[k]:
            for f in range(3):
                position[i, f] += shift[i, f]
                shift[i, f] = 0.0
