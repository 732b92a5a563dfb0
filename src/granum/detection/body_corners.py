"""Corners of bodies on the faces of walls: which faces a corner touches, or is near.

A corner touches a face that it points at: all edges that leave it go up from the face, but for ``LYING``, which a body that lies down may
still have to turn. Round corners are balls: they touch where their centre is no further away than their radius.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._jit import device
from ..array_types import FloatArray
from .mesh import cell_of, touch_mesh
from .surfaces import to_body, turned
from .wall_table import CYLINDER, INSIDE, MESH, OUTSIDE, PLANE, ROD

LYING = 0.5  # sine of the angle by which the faces at a corner or edge may lean away from what they touch
BESIDE = 1e-6  # of the size of a box: a corner that is no further beside a face is above it


class Corner(NamedTuple):
    """A corner of a body, where it is now."""

    number: int  # among all corners
    radius: float  # [m], 0: it is sharp
    frame: FloatArray  # (1, ROW) of its body
    at: tuple[float, float, float]  # [m]
    velocity: tuple[float, float, float]  # against the wall that it may touch [m/s]
    centre: tuple[float, float, float]  # of the wall that it belongs to [m]


@device
def touch_corner(walls, shapes, corner, other, of_other, look, found):
    """Faces of the wall ``other`` that a corner touches, or is within ``look`` [m] of: unit normal away from the wall, height [m] (< 0:
    inside) and number of each in the first columns of ``found``; how many.

    Of one that is round heights are those of its centre.
    """
    i, radius, frame, at, u, centre = corner
    kind, p = walls.kind[other], walls.parameter[other]
    x, y, z = to_body(of_other, 0, at[0], at[1], at[2])
    if kind == OUTSIDE and radius > 0.0:
        return touch_box_with_ball(p, shapes, i, frame, of_other, (x, y, z), look, found)
    if kind == OUTSIDE:
        return touch_box(p, shapes, i, frame, of_other, (x, y, z), u, look, found)
    if kind == MESH:
        return touch_facets(walls, shapes, i, frame, other, of_other, (x, y, z), centre, look, found)
    count = 0
    if kind == PLANE:
        height = (x - p[0]) * p[3] + (y - p[1]) * p[4] + (z - p[2]) * p[5]
        count = add_face(shapes, i, frame, of_other, (p[3], p[4], p[5]), height, 0, look, found, count)
    elif kind == INSIDE:
        for face in range(6):
            if p[6 + face] != 0.0:
                axis, sign = face // 2, 1.0 - 2.0 * (face % 2)
                place = x if axis == 0 else (y if axis == 1 else z)
                normal = sign * (axis == 0), sign * (axis == 1), sign * (axis == 2)
                count = add_face(shapes, i, frame, of_other, normal, sign * (place - p[3 * (face % 2) + axis]), face, look, found, count)
    elif kind == CYLINDER:
        x, y, z = x - p[0], y - p[1], z - p[2]
        along = x * p[3] + y * p[4] + z * p[5]
        dx, dy, dz = x - along * p[3], y - along * p[4], z - along * p[5]
        out = math.sqrt(dx * dx + dy * dy + dz * dz)
        if out > 0.0 and (p[8] != 0.0 or (abs(along) < p[7] and is_inside_tube(p, of_other, centre))):
            count = add_face(shapes, i, frame, of_other, (-dx / out, -dy / out, -dz / out), p[6] - out, 0, look, found, count)
        if p[8] != 0.0:
            for end in range(2):
                sign = 1.0 - 2.0 * end
                normal = sign * p[3], sign * p[4], sign * p[5]
                count = add_face(shapes, i, frame, of_other, normal, p[7] + sign * along, 1 + end, look, found, count)
    elif kind == ROD:
        count = touch_rod(p, shapes, i, frame, of_other, (x - p[0], y - p[1], z - p[2]), look, found)
    return count


@device
def points_at(shapes, i, frame, fx, fy, fz):
    """Whether corner i can touch a face with the normal f: all edges that leave it go up from there, but for ``LYING``."""
    for n in range(shapes.spoke_first[i], shapes.spoke_first[i + 1]):
        x, y, z = turned(frame, 0, shapes.spoke[n, 0], shapes.spoke[n, 1], shapes.spoke[n, 2])
        if x * fx + y * fy + z * fz < -LYING:
            return False
    return True


@device
def add_face(shapes, i, frame, of_other, normal, height, face, look, found, count):
    """A face with a ``normal`` in the frame of its body, if corner i is near enough and points at it; returns how many there are then."""
    if not height < look:
        return count
    fx, fy, fz = turned(of_other, 0, normal[0], normal[1], normal[2])
    if not points_at(shapes, i, frame, fx, fy, fz):
        return count
    found[count, 0], found[count, 1], found[count, 2], found[count, 3], found[count, 4] = fx, fy, fz, height, face
    return count + 1


@device
def touch_box(p, shapes, i, frame, of_box, at, u, look, found):
    """The face of a solid box that corner i touches: of those that it points at the nearest, if it is not beside that face."""
    best, best_height = -1, -np.inf
    vx, vy, vz = to_body(of_box, 0, u[0] + of_box[0, 0], u[1] + of_box[0, 1], u[2] + of_box[0, 2])  # u, in the axes of the box
    for face in range(6):
        height = height_above(p, face, at)
        if not height < look:
            return 0
        if height > best_height:
            axis, sign = face // 2, 2.0 * (face % 2) - 1.0
            fx, fy, fz = turned(of_box, 0, sign * (axis == 0), sign * (axis == 1), sign * (axis == 2))
            if points_at(shapes, i, frame, fx, fy, fz):
                best, best_height = face, height
    if best < 0:
        return 0
    axis, sign = best // 2, 2.0 * (best % 2) - 1.0
    rate = sign * (vx if axis == 0 else (vy if axis == 1 else vz))
    later = best_height / -rate if best_height > 0.0 and rate < 0.0 else 0.0
    then = at[0] + later * vx, at[1] + later * vy, at[2] + later * vz
    beside = BESIDE * max(p[3] - p[0], max(p[4] - p[1], p[5] - p[2]))
    for face in range(6):
        if face // 2 != axis and height_above(p, face, then) > beside:
            return 0
    found[0, 0], found[0, 1], found[0, 2] = turned(of_box, 0, sign * (axis == 0), sign * (axis == 1), sign * (axis == 2))
    found[0, 3], found[0, 4] = best_height, best
    return 1


@device
def touch_box_with_ball(p, shapes, i, frame, of_box, at, look, found):
    """The place of a solid box that is nearest to the centre of a round corner; if that is inside, the nearest face that it points at."""
    x, y, z = at
    dx, dy, dz = x - min(max(x, p[0]), p[3]), y - min(max(y, p[1]), p[4]), z - min(max(z, p[2]), p[5])
    height = math.sqrt(dx * dx + dy * dy + dz * dz)
    if height > 0.0:
        return add_face(shapes, i, frame, of_box, (dx / height, dy / height, dz / height), height, 0, look, found, 0)
    best = -np.inf
    for face in range(6):
        height = height_above(p, face, at)
        if height > best:
            axis, sign = face // 2, 2.0 * (face % 2) - 1.0
            normal = sign * (axis == 0), sign * (axis == 1), sign * (axis == 2)
            if add_face(shapes, i, frame, of_box, normal, height, 0, look, found, 0) == 1:
                best = height
    return 1 if best > -np.inf else 0


@device
def height_above(p, face, at):
    """Height [m] of a place in the frame of a box above one of its faces -x, +x, -y, +y, -z, +z."""
    axis = face // 2
    place = at[0] if axis == 0 else (at[1] if axis == 1 else at[2])
    return place - p[3 + axis] if face % 2 else p[axis] - place


@device
def touch_rod(p, shapes, i, frame, of_rod, at, look, found):
    """The same of a capsule, which has one face, or of a solid cylinder, whose side and ends are three; ``at`` is taken from its centre."""
    x, y, z = at
    along = x * p[3] + y * p[4] + z * p[5]
    if p[8] != 0.0:
        nearest = min(max(along, -p[7]), p[7])
        dx, dy, dz = x - nearest * p[3], y - nearest * p[4], z - nearest * p[5]
        out = math.sqrt(dx * dx + dy * dy + dz * dz)
        if out == 0.0:
            return 0
        return add_face(shapes, i, frame, of_rod, (dx / out, dy / out, dz / out), out - p[6], 0, look, found, 0)
    dx, dy, dz = x - along * p[3], y - along * p[4], z - along * p[5]
    out = math.sqrt(dx * dx + dy * dy + dz * dz)
    beside, beyond = out - p[6], abs(along) - p[7]
    if beside > 0.0 and beyond > 0.0:  # past a rim
        return 0
    if beyond > beside:
        sign = 1.0 if along > 0.0 else -1.0
        return add_face(shapes, i, frame, of_rod, (sign * p[3], sign * p[4], sign * p[5]), beyond, 1 + (along > 0.0), look, found, 0)
    if out == 0.0:
        return 0
    return add_face(shapes, i, frame, of_rod, (dx / out, dy / out, dz / out), beside, 0, look, found, 0)


@device
def is_inside_tube(p, frame, centre):
    """Whether a place is inside of the tube with the parameters p, as long as that is: what is outside passes it."""
    x, y, z = to_body(frame, 0, centre[0], centre[1], centre[2])
    x, y, z = x - p[0], y - p[1], z - p[2]
    along = x * p[3] + y * p[4] + z * p[5]
    return x * x + y * y + z * z - along * along < p[6] * p[6]


@device
def touch_facets(walls, shapes, i, frame, other, of_other, at, centre, look, found):
    """Places of a mesh near corner i that it points at. A solid mesh has its inside behind, any other keeps a body on the side on which its
    ``centre`` is."""
    p, cell_first = walls.parameter[other], walls.mesh.cell_first
    x, y, z = at
    look = min(look, p[9])  # triangles that are further away are not listed
    cell = cell_of(walls.parameter, other, x, y, z)
    if cell < 0 or cell_first[cell] == cell_first[cell + 1]:
        return 0
    solid = p[8] != 0.0
    touching = touch_mesh(walls.mesh, cell_first[cell], cell_first[cell + 1], x, y, z, look, False, found)
    cx, cy, cz = to_body(of_other, 0, centre[0], centre[1], centre[2])
    count = 0
    for n in range(touching):
        nx, ny, nz, height, region = found[n, 0], found[n, 1], found[n, 2], look - found[n, 3], found[n, 4]
        behind = found[n, 7] < 0.0 if solid else nx * (cx - x) + ny * (cy - y) + nz * (cz - z) > 0.0
        if behind:
            nx, ny, nz, height = -nx, -ny, -nz, -height
        fx, fy, fz = turned(of_other, 0, -nx, -ny, -nz)
        if points_at(shapes, i, frame, fx, fy, fz):
            found[count, 0], found[count, 1], found[count, 2], found[count, 3], found[count, 4] = fx, fy, fz, height, region
            count += 1
    return count
