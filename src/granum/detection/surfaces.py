"""The surfaces of walls in world axes, and a sphere against one of them.

A wall offers one or more surfaces: a plane one, a container up to six sides, a hollow cylinder its lateral surface and two caps, what has
grains around it one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._jit import device
from ..array_types import BoolArray, FloatArray, IntArray
from .mesh import cell_of, touch_mesh
from .prediction import TOWARDS
from .wall_table import CYLINDER, INSIDE, OUTSIDE, PLANE, ROD

# kinds of surfaces, and their rows in world axes [m]
FLAT = 0  # 0:3 unit normal towards the grains, 3 its offset
LATERAL = 1  # 0:3 centre, 3:6 unit axis, 6 radius, 7 half length (inf: endless or capped)
OBSTACLE = 2  # 0:3 position of the body, 3:12 its rotation matrix; the rest is read from the wall
FACETS = 3  # as OBSTACLE
ROUND = 4  # as LATERAL, but seen from outside; 8 1 if its ends are round
ROW = 12
MOST_SURFACES = 6  # of one wall
ON_THE_WAY = 0.5  # of the radius: distance of the places at which a fast grain looks for walls
MOST_LOOKS = 1e5  # along a way: what goes further in a step than half as many radii (a wall a world away that turns) is told, not followed
HALVINGS = 40  # of the last such distance: to rounding
MOST_LOOK = 0.5  # of the radius: how far ahead of a grain curved walls and meshes are looked at; faster grains are followed


class Surfaces(NamedTuple):
    """The surfaces of all walls in world axes (S,), with room for more."""

    kind: IntArray  # FLAT, LATERAL, OBSTACLE, FACETS or ROUND
    wall: IntArray
    part: IntArray  # face of a container, surface of a cylinder
    yields: BoolArray  # whether the wall's body is pushed
    row: FloatArray  # (S, ROW)


@device
def touch_surface(surfaces, s, walls, at, r, found):
    """Contacts of a sphere with surface s: unit normal, overlap [m] and feature of each in the first columns of ``found``; how many."""
    kind, row, wall, parameter = surfaces.kind[s], surfaces.row, surfaces.wall[s], walls.parameter
    x, y, z = at
    if kind == FACETS:
        px, py, pz = to_body(row, s, x, y, z)
        cell, cell_first = cell_of(parameter, wall, px, py, pz), walls.mesh.cell_first
        if cell < 0 or cell_first[cell] == cell_first[cell + 1]:
            return 0
        solid = parameter[wall, 8] != 0.0
        touching = touch_mesh(walls.mesh, cell_first[cell], cell_first[cell + 1], px, py, pz, r, solid, found)
        for n in range(touching):
            found[n, 0], found[n, 1], found[n, 2] = turned(row, s, found[n, 0], found[n, 1], found[n, 2])
        return touching
    if kind == FLAT:
        nx, ny, nz = -row[s, 0], -row[s, 1], -row[s, 2]
        depth = r + nx * x + ny * y + nz * z + row[s, 3]
    elif kind == LATERAL:
        dx, dy, dz = x - row[s, 0], y - row[s, 1], z - row[s, 2]
        nx, ny, nz, depth = touch_lateral(dx, dy, dz, row[s, 3], row[s, 4], row[s, 5], row[s, 6], row[s, 7], r)
    elif kind == ROUND:
        nx, ny, nz, depth = touch_rod(row, s, x - row[s, 0], y - row[s, 1], z - row[s, 2], r)
    else:
        nx, ny, nz, depth = touch_obstacle(row, s, parameter, wall, x, y, z, r)
    if not depth > 0.0:
        return 0
    found[0, 0], found[0, 1], found[0, 2], found[0, 3], found[0, 4] = nx, ny, nz, depth, surfaces.part[s]
    return 1


@device
def first_touch(surfaces, s, walls, at, r, u, begin, end, found):
    """Follow a sphere to the surface s, which moves with u [m/s] against it, from time ``begin`` to ``end`` [s]: whether it runs into it,
    and when; the contact is in the first row of ``found``. Places along the way are half a radius apart, and the last bit is halved."""
    x, y, z = at
    ux, uy, uz = u
    speed = math.sqrt(ux * ux + uy * uy + uz * uz)
    if speed == 0.0:
        return False, 0.0
    steps = np.int64(math.ceil(min(MOST_LOOKS, speed * (end - begin) / (ON_THE_WAY * r))))
    low = begin
    for k in range(1, steps + 1):
        high = begin + (end - begin) * k / steps
        if runs_into(surfaces, s, walls, (x - high * ux, y - high * uy, z - high * uz), r, u, speed, found):
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)
                if runs_into(surfaces, s, walls, (x - middle * ux, y - middle * uy, z - middle * uz), r, u, speed, found):
                    high = middle
                else:
                    low = middle
            runs_into(surfaces, s, walls, (x - high * ux, y - high * uy, z - high * uz), r, u, speed, found)
            return True, high
        low = high
    return False, 0.0


@device
def runs_into(surfaces, s, walls, at, r, u, speed, found):
    """Whether a sphere touches a surface that comes towards it, not only along it; the deepest such contact goes to the first row."""
    touching = touch_surface(surfaces, s, walls, at, r, found)
    ux, uy, uz = u
    deepest = -1
    for n in range(touching):
        if ux * found[n, 0] + uy * found[n, 1] + uz * found[n, 2] < -TOWARDS * speed and (deepest < 0 or found[n, 3] > found[deepest, 3]):
            deepest = n
    if deepest < 0:
        return False
    for f in range(5):
        found[0, f] = found[deepest, f]
    return True


@device
def place_surfaces(walls, bodies, frame, surfaces):
    """Put the surfaces of all walls into world axes; returns their count. ``frame`` (1, ROW) is room to work in."""
    kind, part, row, wall_kind = surfaces.kind, surfaces.part, surfaces.row, walls.kind
    s = 0
    for k in range(wall_kind.shape[0]):
        first, p, body = s, walls.parameter[k], walls.frame[k]
        place_frame(frame, bodies.position, bodies.orientation, body)
        if wall_kind[k] == PLANE:
            s = add_flat(surfaces, s, frame, 0, (p[0], p[1], p[2]), (p[3], p[4], p[5]))
        elif wall_kind[k] == INSIDE:
            for face in range(6):
                if p[6 + face] != 0.0:
                    corner, sign = 3 * (face % 2), 1.0 - 2.0 * (face % 2)
                    ex, ey, ez = sign * (face // 2 == 0), sign * (face // 2 == 1), sign * (face // 2 == 2)
                    s = add_flat(surfaces, s, frame, face, (p[corner], p[corner + 1], p[corner + 2]), (ex, ey, ez))
        elif wall_kind[k] == CYLINDER or wall_kind[k] == ROD:
            solid = wall_kind[k] == ROD
            kind[s], part[s] = ROUND if solid else LATERAL, 0
            row[s, 0], row[s, 1], row[s, 2] = to_world(frame, 0, p[0], p[1], p[2])
            row[s, 3], row[s, 4], row[s, 5] = turned(frame, 0, p[3], p[4], p[5])
            row[s, 6], row[s, 7], row[s, 8] = p[6], np.inf if p[8] != 0.0 and not solid else p[7], p[8]
            s += 1
            if p[8] != 0.0 and not solid:
                for end in range(2):
                    sign = 1.0 - 2.0 * end  # the lower cap looks along the axis, the upper against it
                    ex, ey, ez = sign * p[3], sign * p[4], sign * p[5]
                    cx, cy, cz = p[0] - p[7] * ex, p[1] - p[7] * ey, p[2] - p[7] * ez
                    s = add_flat(surfaces, s, frame, 1 + end, (cx, cy, cz), (ex, ey, ez))
        else:
            kind[s], part[s] = (OBSTACLE if wall_kind[k] == OUTSIDE else FACETS), 0
            for c in range(ROW):
                row[s, c] = frame[0, c]
            s += 1
        for placed in range(first, s):
            surfaces.wall[placed] = k
            surfaces.yields[placed] = bodies.inverse_mass[body] != 0.0
    return s


@device
def add_flat(surfaces, s, frame, feature, point, normal):
    """Put a plane through a point of the frame, facing along a normal, into row s; returns the next row."""
    kind, part, row = surfaces.kind, surfaces.part, surfaces.row
    px, py, pz = to_world(frame, 0, point[0], point[1], point[2])
    nx, ny, nz = turned(frame, 0, normal[0], normal[1], normal[2])
    kind[s], part[s] = FLAT, feature
    row[s, 0], row[s, 1], row[s, 2], row[s, 3] = nx, ny, nz, nx * px + ny * py + nz * pz
    return s + 1


@device
def place_frame(frame, position, orientation, body):
    """Position and rotation matrix of a body, as a row."""
    w, x, y, z = orientation[body, 0], orientation[body, 1], orientation[body, 2], orientation[body, 3]
    for c in range(3):
        frame[0, c] = position[body, c]
    frame[0, 3], frame[0, 4], frame[0, 5] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    frame[0, 6], frame[0, 7], frame[0, 8] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    frame[0, 9], frame[0, 10], frame[0, 11] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)


@device
def turned(row, s, x, y, z):
    """A vector of the body's frame in world axes."""
    return (
        row[s, 3] * x + row[s, 4] * y + row[s, 5] * z,
        row[s, 6] * x + row[s, 7] * y + row[s, 8] * z,
        row[s, 9] * x + row[s, 10] * y + row[s, 11] * z,
    )


@device
def to_world(row, s, x, y, z):
    """A point of the body's frame in the world [m]."""
    x, y, z = turned(row, s, x, y, z)
    return row[s, 0] + x, row[s, 1] + y, row[s, 2] + z


@device
def to_body(row, s, x, y, z):
    """A point of the world in the body's frame [m]."""
    x, y, z = x - row[s, 0], y - row[s, 1], z - row[s, 2]
    return (
        row[s, 3] * x + row[s, 6] * y + row[s, 9] * z,
        row[s, 4] * x + row[s, 7] * y + row[s, 10] * z,
        row[s, 5] * x + row[s, 8] * y + row[s, 11] * z,
    )


@device
def touch_lateral(x, y, z, ux, uy, uz, radius, half_length, r):
    """Normal and overlap [m] (<= 0: apart) with the inside of a cylinder around the axis u; the grain is at (x, y, z).

    A tube that is open at its ends is passed by grains whose centre is beyond an end or outside of the tube.
    """
    along = x * ux + y * uy + z * uz
    x, y, z = x - along * ux, y - along * uy, z - along * uz
    out = math.sqrt(x * x + y * y + z * z)  # distance from the axis
    depth = out + r - radius
    if not depth > 0.0 or (half_length < np.inf and (abs(along) > half_length or out > radius)):
        return 0.0, 0.0, 0.0, 0.0
    if out > 0.0:
        return x / out, y / out, z / out, depth
    nx, ny, nz = any_across(ux, uy, uz)
    return nx, ny, nz, depth


@device
def any_across(ux, uy, uz):
    """A unit vector across u: on an axis every such direction is as good."""
    if abs(ux) < 0.5:
        across = math.sqrt(uy * uy + uz * uz)
        return 0.0, uz / across, -uy / across
    across = math.sqrt(ux * ux + uz * uz)
    return -uz / across, 0.0, ux / across


@device
def touch_rod(row, s, x, y, z, r):
    """Normal and overlap [m] (<= 0: apart) with the outside of a solid cylinder or capsule; the grain is at (x, y, z) from its centre.

    The closest point of a capsule lies towards the nearest point of its line. That of a cylinder is on its mantle, on an end, or on the
    rim between them; a grain whose centre is inside of it takes the nearest way out.
    """
    ux, uy, uz, radius, half = row[s, 3], row[s, 4], row[s, 5], row[s, 6], row[s, 7]
    along = x * ux + y * uy + z * uz
    x, y, z = x - along * ux, y - along * uy, z - along * uz
    out = math.sqrt(x * x + y * y + z * z)  # distance from the axis
    beyond = abs(along) - half  # an end
    if beyond < 0.0:  # a NaN stays one, and touches nothing
        beyond = 0.0
    end = math.copysign(1.0, along)
    if row[s, 8] != 0.0:
        distance = math.sqrt(out * out + beyond * beyond)
        depth = r + radius - distance
        if distance > 0.0:
            f = end * beyond
            return -(x + f * ux) / distance, -(y + f * uy) / distance, -(z + f * uz) / distance, depth
        nx, ny, nz = any_across(ux, uy, uz)
        return nx, ny, nz, depth
    beside = out - radius  # the mantle
    if beside < 0.0:
        beside = 0.0
    distance = math.sqrt(beside * beside + beyond * beyond)
    if not distance < r:
        return 0.0, 0.0, 0.0, 0.0
    if distance > 0.0:
        f, e = (beside / out if beside > 0.0 else 0.0), end * beyond
        return -(f * x + e * ux) / distance, -(f * y + e * uy) / distance, -(f * z + e * uz) / distance, r - distance
    if half - abs(along) < radius - out:
        return -end * ux, -end * uy, -end * uz, r + half - abs(along)
    if out > 0.0:
        return -x / out, -y / out, -z / out, r + radius - out
    nx, ny, nz = any_across(ux, uy, uz)
    return nx, ny, nz, r + radius


@device
def touch_obstacle(row, s, parameter, wall, x, y, z, r):
    """Normal and overlap [m] (<= 0: apart) with the outside of a box: closest point, or nearest way out of it."""
    x, y, z = to_body(row, s, x, y, z)
    dx = max(parameter[wall, 0], min(x, parameter[wall, 3])) - x  # to the closest point of the solid box
    dy = max(parameter[wall, 1], min(y, parameter[wall, 4])) - y
    dz = max(parameter[wall, 2], min(z, parameter[wall, 5])) - z
    distance = math.sqrt(dx * dx + dy * dy + dz * dz)
    if not distance < r:
        return 0.0, 0.0, 0.0, 0.0
    if distance > 0.0:
        nx, ny, nz = turned(row, s, dx / distance, dy / distance, dz / distance)
        return nx, ny, nz, r - distance
    way = np.inf
    ex, ey, ez = 0.0, 0.0, 0.0
    for face in range(6):
        axis, upper = face // 2, face % 2
        centre = x if axis == 0 else (y if axis == 1 else z)
        out = parameter[wall, 3 + axis] - centre if upper else centre - parameter[wall, axis]
        if out < way:
            way = out
            inward = 1.0 - 2.0 * upper
            ex, ey, ez = inward * (axis == 0), inward * (axis == 1), inward * (axis == 2)
    nx, ny, nz = turned(row, s, ex, ey, ez)
    return nx, ny, nz, r + way
