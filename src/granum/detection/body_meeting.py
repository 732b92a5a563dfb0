"""How two bodies meet: their velocities where they touch, whether a gap closes in the step and when, and how far apart they are.

A contact is known by the walls and by what touches of each: a corner, an edge or a face, with its number.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._jit import device
from ..array_types import FloatArray
from ..state.contacts import ContactArrays
from .prediction import LEAST
from .surfaces import to_body, to_world
from .wall_table import OUTSIDE

CORNER, EDGE, FACE = 0, 1, 2  # what touches; with its number n it is 3 n + kind


class Between(NamedTuple):
    """Where contacts between bodies are written."""

    contacts: ContactArrays  # with all their room
    points: FloatArray  # (R, 3) where the two of each contact touch, or will [m]
    first: int  # contacts of grains, which come first


@device
def velocities_at(bodies, own, other, x, y, z):
    """Of a point of the body ``own`` at (x, y, z): against the body ``other``, and by itself [m/s]."""
    position, velocity, spin = bodies.position, bodies.velocity, bodies.spin
    dx, dy, dz = x - position[own, 0], y - position[own, 1], z - position[own, 2]
    ex, ey, ez = x - position[other, 0], y - position[other, 1], z - position[other, 2]
    w, s = spin[own], spin[other]
    vx, vy, vz = (
        velocity[own, 0] + w[1] * dz - w[2] * dy,
        velocity[own, 1] + w[2] * dx - w[0] * dz,
        velocity[own, 2] + w[0] * dy - w[1] * dx,
    )
    ux = vx - velocity[other, 0] - (s[1] * ez - s[2] * ey)
    uy = vy - velocity[other, 1] - (s[2] * ex - s[0] * ez)
    uz = vz - velocity[other, 2] - (s[0] * ey - s[1] * ex)
    return (ux, uy, uz), (vx, vy, vz)


@device
def look_out(bodies, walls, shapes, a, b, frames, ahead):
    """How far two walls can come towards each other in the step, and how wide a gap is always looked at [m]."""
    k, frame, own, other = a, frames[0], walls.frame[a], walls.frame[b]
    if shapes.reach[a] == np.inf:
        k, frame, own, other = b, frames[1], walls.frame[b], walls.frame[a]
    x, y, z = to_world(frame, 0, shapes.centre[k, 0], shapes.centre[k, 1], shapes.centre[k, 2])
    u, _ = velocities_at(bodies, own, other, x, y, z)
    square = 0.0
    for f in range(3):
        square += (bodies.spin[own, f] - bodies.spin[other, f]) ** 2
    speed = math.sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]) + shapes.reach[k] * math.sqrt(square)
    least = LEAST / (shapes.inverse_radius[a] + shapes.inverse_radius[b])
    return speed * max(ahead.step, ahead.time) + max(ahead.fall, least), least


@device
def closes(height, rate, ahead, least):
    """Whether a corner or edge at a ``height`` [m], < 0: inside, that changes at a ``rate`` [m/s], touches or may in the step."""
    if height < 0.0 or ahead.step == 0.0:
        return height < 0.0
    time = ahead.step if -rate > ahead.impact else ahead.time
    return height < max(ahead.fall, least) - min(0.0, rate) * time


@device
def time_of_touch(height, rate, ahead):
    """When in the step a collision takes place [s]; 0 for what is no collision."""
    return height / -rate if height > 0.0 and -rate > ahead.impact and height < -rate * ahead.step else 0.0


@device
def far_apart(shapes, a, frame_a, b, frame_b, look):
    """Whether the balls around two walls are further from each other than ``look`` [m]."""
    if shapes.reach[a] == np.inf or shapes.reach[b] == np.inf:
        return False
    ax, ay, az = to_world(frame_a, 0, shapes.centre[a, 0], shapes.centre[a, 1], shapes.centre[a, 2])
    bx, by, bz = to_world(frame_b, 0, shapes.centre[b, 0], shapes.centre[b, 1], shapes.centre[b, 2])
    near = shapes.reach[a] + shapes.reach[b] + look
    return (bx - ax) ** 2 + (by - ay) ** 2 + (bz - az) ** 2 > near * near


@device
def apart_by_faces(walls, shapes, box, frame_box, other, frame):
    """How far the corners of another wall keep away from the face of a box that parts them best [m], < 0: they are behind all of its faces.
    Minus infinity if the first wall is no box, or the other one has no corners."""
    first, last = shapes.corner_first[other], shapes.corner_first[other + 1]
    if walls.kind[box] != OUTSIDE or first == last:
        return -np.inf
    p = walls.parameter[box]
    left, front, below = np.inf, np.inf, np.inf  # of the lower faces, of the upper ones
    right, behind, above = np.inf, np.inf, np.inf
    for i in range(first, last):
        x, y, z = to_world(frame, 0, shapes.corner[i, 0], shapes.corner[i, 1], shapes.corner[i, 2])
        x, y, z = to_body(frame_box, 0, x, y, z)
        left, front, below = min(left, p[0] - x), min(front, p[1] - y), min(below, p[2] - z)
        right, behind, above = min(right, x - p[3]), min(behind, y - p[4]), min(above, z - p[5])
    return max(max(max(left, right), max(front, behind)), max(below, above)) - shapes.round[other]


@device
def write(between, k, parts, normal, overlap, point):
    """Number k of the contacts between bodies, if there is room."""
    out, points, first = between
    c = first + k
    if c >= len(out.a) or k >= len(points):
        return
    a, b, part, other = parts
    out.a[c], out.b[c], out.feature[c], out.partner[c] = -1 - a, -1 - b, part, other
    out.overlap[c] = overlap
    for f in range(3):
        out.normal[c, f], points[k, f] = normal[f], point[f]
