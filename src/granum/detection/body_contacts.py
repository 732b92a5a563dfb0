"""Bodies against bodies: corners on faces, both ways round, and edges across edges (``body_shapes.py`` tells who has what).

The corners of two bodies that stand flush on each other find the faces between them, however deep they are pressed in, and never those
beside (``body_corners.py``). A corner of a box that is about to touch counts if it is above the face when it does. A ball meets edges and
corners of boxes too, at the nearest place.
"""

from __future__ import annotations

import numpy as np

from .._jit import device, kernel
from ..array_types import FloatArray
from ..state.bodies import BodyArrays
from ..state.contacts import ContactArrays
from .body_corners import Corner, touch_corner
from .body_edges import cross_edges
from .body_meeting import CORNER, FACE, Between, apart_by_faces, closes, far_apart, look_out, time_of_touch, velocities_at, write
from .body_shapes import BodyShapes
from .mesh import CANDIDATE_COLUMNS
from .persistence import OPENED
from .prediction import Ahead
from .surfaces import ROW, place_frame, to_world
from .wall_table import MESH, WallTable

MOST_FACES = 6  # that a corner can touch, of a wall that is no mesh
INTO_MESH = 0.25  # of the radius of the body: how deep in a mesh a corner still knows the way out
SAME_PLACE, SAME_NORMAL = 0.01, 0.99  # of the smaller radius, and cosine: what differs by less is one contact
NEXT_TO_NOTHING = 1e-9  # of an impulse


@kernel
def find_body_contacts(
    bodies: BodyArrays,
    walls: WallTable,
    shapes: BodyShapes,
    ahead: Ahead,  # contacts that the next step can close count too
    first: int,  # contacts of grains, which come first
    out: ContactArrays,  # with all their room
    points: FloatArray,  # (R, 3) where the two of each contact between bodies touch, or will [m]
) -> int:
    """Append the contacts of bodies behind those of grains, pair by pair of walls; returns how many there are.

    If that is more than the arrays have room for, the rest was counted but not written: grow them and call again.
    """
    frames = np.empty((1, ROW)), np.empty((1, ROW))
    found = np.empty((max(MOST_FACES, walls.mesh.candidate_room), CANDIDATE_COLUMNS))
    most = 0
    for k in range(len(shapes.reach)):
        most = max(most, shapes.edge_first[k + 1] - shapes.edge_first[k])
    edges = np.empty((most, 14)), np.empty((most, 14))
    between, total = Between(out, points, first), 0
    for p in range(len(shapes.pair)):
        a, b = shapes.pair[p, 0], shapes.pair[p, 1]
        if walls.body[a] == walls.body[b]:  # parts of one body
            continue
        place_frame(frames[0], bodies.position, bodies.orientation, walls.frame[a])
        place_frame(frames[1], bodies.position, bodies.orientation, walls.frame[b])
        look, least = look_out(bodies, walls, shapes, a, b, frames, ahead)
        if far_apart(shapes, a, frames[0], b, frames[1], look):
            continue
        apart = max(apart_by_faces(walls, shapes, a, frames[0], b, frames[1]), apart_by_faces(walls, shapes, b, frames[1], a, frames[0]))
        if apart > look:
            continue
        begin = total
        for side in range(2):
            own, other = (a, b) if side == 0 else (b, a)
            frame, of_other = (frames[0], frames[1]) if side == 0 else (frames[1], frames[0])
            radius = shapes.round[own]
            cx, cy, cz = to_world(frame, 0, shapes.centre[own, 0], shapes.centre[own, 1], shapes.centre[own, 2])
            for i in range(shapes.corner_first[own], shapes.corner_first[own + 1]):
                x, y, z = to_world(frame, 0, shapes.corner[i, 0], shapes.corner[i, 1], shapes.corner[i, 2])
                u, v = velocities_at(bodies, walls.frame[own], walls.frame[other], x, y, z)
                deep = max(look, INTO_MESH / shapes.inverse_radius[own]) if walls.kind[other] == MESH else look
                corner = Corner(i, radius, frame, (x, y, z), u, (cx, cy, cz))
                count = touch_corner(walls, shapes, corner, other, of_other, deep + radius, found)
                for n in range(count):
                    fx, fy, fz, height = found[n, 0], found[n, 1], found[n, 2], found[n, 3] - radius
                    sx, sy, sz = x - radius * fx, y - radius * fy, z - radius * fz
                    if radius > 0.0:
                        u, v = velocities_at(bodies, walls.frame[own], walls.frame[other], sx, sy, sz)
                    rate = u[0] * fx + u[1] * fy + u[2] * fz
                    if not closes(height, rate, ahead, least):
                        continue
                    part, face = 3 * (i - shapes.corner_first[own]) + CORNER, 3 * np.int64(found[n, 4]) + FACE
                    later = time_of_touch(height, rate, ahead)
                    point = sx + later * v[0], sy + later * v[1], sz + later * v[2]
                    if side == 0:
                        write(between, total, (a, b, part, face), (-fx, -fy, -fz), -height, point)
                    else:
                        write(between, total, (a, b, face, part), (fx, fy, fz), -height, point)
                    total += 1
        if shapes.edge_first[a] < shapes.edge_first[a + 1] and shapes.edge_first[b] < shapes.edge_first[b + 1]:
            total = cross_edges(bodies, walls, shapes, ahead, (a, b), frames, (look, least, apart), edges, total, between)
        if first + total <= len(out.a) and total <= len(points):
            total = drop_doubles(between, begin, total, SAME_PLACE / max(shapes.inverse_radius[a], shapes.inverse_radius[b]))
    return total


@device
def drop_doubles(between, begin, total, near):
    """Of contacts of two walls with about the same place and normal only the first stays: corners of bodies that stand flush on each other
    touch twice. The contacts are those from ``begin`` on; returns how many contacts between bodies are left."""
    out, points, first = between
    kept = begin
    for k in range(begin, total):
        c, double = first + k, False
        for m in range(begin, kept):
            o = first + m
            apart, cosine = 0.0, 0.0
            for f in range(3):
                apart += (points[k, f] - points[m, f]) ** 2
                cosine += out.normal[c, f] * out.normal[o, f]
            double = double or (apart < near * near and cosine > SAME_NORMAL)
        if double:
            continue
        if kept < k:
            o = first + kept
            parts = -1 - out.a[c], -1 - out.b[c], out.feature[c], out.partner[c]
            write(between, kept, parts, out.normal[c], out.overlap[c], points[k])
        kept += 1
    return kept


@device
def pressed_beside(old, new, c):
    """The largest impulse [N s] with which the two walls of contact c pressed each other in its direction in the last step."""
    largest = 0.0
    for o in range(len(old.a)):
        if old.a[o] == new.a[c] and old.b[o] == new.b[c]:
            cosine = 0.0
            for f in range(3):
                cosine += old.normal[o, f] * new.normal[c, f]
            if cosine > SAME_NORMAL:
                largest = max(largest, old.impulse[o, 0])
    return largest


@kernel
def carry_over_bodies(old: ContactArrays, new: ContactArrays, fall: float) -> bool:
    """Carry impulses [N s] and rebound speeds [m/s] of contacts between bodies over from the last step, as ``carry_over`` does for grains;
    returns whether they are the same as before, in the same order.

    Where two bodies lie on each other, a corner that slides over an edge touches as deep as all the others at once. It gets a past by next
    to no impulse: it was not met late.
    """
    same = len(old.a) == len(new.a)
    o = -1
    for c in range(len(new.a)):
        known = False
        for _ in range(len(old.a)):  # they stand in about the same order: the search begins behind the last one found
            o = o + 1 if o + 1 < len(old.a) else 0
            if old.a[o] == new.a[c] and old.b[o] == new.b[c] and old.feature[o] == new.feature[c] and old.partner[o] == new.partner[c]:
                known = True
                break
        same = same and known and o == c
        nx, ny, nz = new.normal[c, 0], new.normal[c, 1], new.normal[c, 2]
        known = known and new.overlap[c] >= -OPENED * fall
        known = known and nx * old.normal[o, 0] + ny * old.normal[o, 1] + nz * old.normal[o, 2] > 0.0
        if not known:
            new.rebound[c] = 0.0
            for f in range(7):
                new.impulse[c, f] = 0.0
            if new.overlap[c] > 0.0:
                new.impulse[c, 0] = NEXT_TO_NOTHING * pressed_beside(old, new, c)
            continue
        new.rebound[c] = old.rebound[o] if new.overlap[c] > 0.0 else 0.0
        for f in range(7):
            new.impulse[c, f] = old.impulse[o, f]
        # The tangent plane turns with the contact: what now points along the normal is dropped.
        along = new.impulse[c, 1] * nx + new.impulse[c, 2] * ny + new.impulse[c, 3] * nz
        new.impulse[c, 1] -= along * nx
        new.impulse[c, 2] -= along * ny
        new.impulse[c, 3] -= along * nz
    return same
