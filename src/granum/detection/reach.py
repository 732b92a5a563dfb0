"""Which walls are too far from a grain to be met: a ball around each finite wall, and how far both can go.

Machines have many walls, and most grains are near none of them. What is left out here would have been found apart, so nothing changes.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import device
from .surfaces import place_frame, to_world
from .wall_table import MESH, OUTSIDE, ROD

BALL = 5  # 0:3 centre [m], 3 how far it reaches within the time [m] (inf: everywhere), 4 a factor for its turning
SLACK = 1.0 + 1e-9  # rounding


@device
def size_of(x, y, z):
    return math.sqrt(x * x + y * y + z * z)


@device
def bound_walls(walls, bodies, time, frame, ball):
    """Balls (K, BALL) around all walls, with what they move in ``time`` [s]; ``frame`` (1, ROW) is room to work in."""
    for k in range(walls.kind.shape[0]):
        p, body, kind = walls.parameter[k], walls.frame[k], walls.kind[k]
        x, y, z, size = 0.0, 0.0, 0.0, np.inf
        if kind == OUTSIDE:
            x, y, z = 0.5 * (p[0] + p[3]), 0.5 * (p[1] + p[4]), 0.5 * (p[2] + p[5])
            size = 0.5 * size_of(p[3] - p[0], p[4] - p[1], p[5] - p[2])
        elif kind == ROD:
            x, y, z, size = p[0], p[1], p[2], p[6] + p[7]
        elif kind == MESH:
            wide, deep, high = p[3] * p[4], p[3] * p[5], p[3] * p[6]
            x, y, z, size = p[0] + 0.5 * wide, p[1] + 0.5 * deep, p[2] + 0.5 * high, 0.5 * size_of(wide, deep, high)
        place_frame(frame, bodies.position, bodies.orientation, body)
        speed = size_of(bodies.velocity[body, 0], bodies.velocity[body, 1], bodies.velocity[body, 2])
        turn = time * size_of(bodies.spin[body, 0], bodies.spin[body, 1], bodies.spin[body, 2])
        ball[k, 0], ball[k, 1], ball[k, 2] = to_world(frame, 0, x, y, z)
        # A point at a distance D from the centre moves with the wall by time x speed + turn x (D + offset) at most.
        ball[k, 3] = size + time * speed + turn * size_of(x, y, z) if turn < 0.5 else np.inf
        ball[k, 4] = SLACK / (1.0 - turn) if turn < 0.5 else SLACK


@device
def too_far(ball, k, x, y, z, way):
    """Whether a grain at (x, y, z) that reaches ``way`` [m], its own radius and motion included, does not meet the wall k."""
    dx, dy, dz = x - ball[k, 0], y - ball[k, 1], z - ball[k, 2]
    reach = (ball[k, 3] + way) * ball[k, 4]
    return dx * dx + dy * dy + dz * dz > reach * reach
