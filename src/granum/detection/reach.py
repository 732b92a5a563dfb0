"""Which walls are too far from a grain, or from a group of them, to be met: a ball around each finite wall, and how far both can go.

Machines have many walls, and most grains are near none of them. Grains that follow each other in the neighbour list lie together, so a
surface that is too far from a ball around some of them is left out for all. What is left out here would have been found apart, so nothing
changes.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import device
from .surfaces import FLAT, LATERAL, OBSTACLE, place_frame, to_body, to_world
from .wall_table import MESH, OUTSIDE, ROD

BALL = 5  # 0:3 centre [m], 3 how far it reaches within the time [m] (inf: everywhere), 4 a factor for its turning
SLACK = 1.0 + 1e-9  # rounding
GROUP = 32  # grains that are looked at together


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


@device
def distance_to(surfaces, s, walls, x, y, z):
    """How far a point is from a flat surface, the inside of a cylinder or the outside of a box, at least; below 0 behind it [m]."""
    row, wall = surfaces.row, surfaces.wall[s]
    if surfaces.kind[s] == FLAT:
        return row[s, 0] * x + row[s, 1] * y + row[s, 2] * z - row[s, 3]
    if surfaces.kind[s] == LATERAL:
        x, y, z = x - row[s, 0], y - row[s, 1], z - row[s, 2]
        along = x * row[s, 3] + y * row[s, 4] + z * row[s, 5]
        return row[s, 6] - size_of(x - along * row[s, 3], y - along * row[s, 4], z - along * row[s, 5])
    x, y, z = to_body(row, s, x, y, z)
    p = walls.parameter
    dx, dy, dz = max(p[wall, 0] - x, x - p[wall, 3]), max(p[wall, 1] - y, y - p[wall, 4]), max(p[wall, 2] - z, z - p[wall, 5])
    return size_of(max(0.0, dx), max(0.0, dy), max(0.0, dz))


@device
def find_near(order, first, last, bodies, grains, walls, around, time, fall, least):
    """Which surfaces the grains ``order[first:last]`` may meet within ``time`` [s], in order, into ``around.near``; returns how many.

    A grain looks ``fall`` [m] and ``least`` of its radius ahead at least.
    """
    position, velocity = bodies.position, bodies.velocity
    low_x = low_y = low_z = np.inf
    high_x = high_y = high_z = -np.inf
    fastest, largest = 0.0, 0.0
    for visit in range(first, last):
        i = grains.first + order[visit]
        x, y, z = position[i, 0], position[i, 1], position[i, 2]
        low_x, low_y, low_z = min(low_x, x), min(low_y, y), min(low_z, z)
        high_x, high_y, high_z = max(high_x, x), max(high_y, y), max(high_z, z)
        vx, vy, vz = velocity[i, 0], velocity[i, 1], velocity[i, 2]
        fastest, largest = max(fastest, vx * vx + vy * vy + vz * vz), max(largest, grains.radius[order[visit]])
    x, y, z = 0.5 * (low_x + high_x), 0.5 * (low_y + high_y), 0.5 * (low_z + high_z)
    size = SLACK * 0.5 * size_of(high_x - low_x, high_y - low_y, high_z - low_z)
    way = size + SLACK * (largest + math.sqrt(fastest) * time + max(fall, least * largest))
    surfaces, count = around.surfaces, 0
    for s in range(around.placed):
        wall = surfaces.wall[s]
        if too_far(around.ball, wall, x, y, z, way):
            continue
        kind, body = surfaces.kind[s], walls.frame[wall]
        if kind in (FLAT, LATERAL, OBSTACLE):  # which may be large or endless
            dx, dy, dz = x - position[body, 0], y - position[body, 1], z - position[body, 2]
            speed = size_of(velocity[body, 0], velocity[body, 1], velocity[body, 2])
            turn = size_of(bodies.spin[body, 0], bodies.spin[body, 1], bodies.spin[body, 2])
            reach = way + time * (speed + turn * (size_of(dx, dy, dz) + size))
            if distance_to(surfaces, s, walls, x, y, z) > SLACK * reach + (SLACK - 1.0) * (size_of(x, y, z) + size_of(dx, dy, dz)):
                continue
        around.near[count] = s
        count += 1
    return count
