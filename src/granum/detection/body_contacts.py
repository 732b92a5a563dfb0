"""Bodies against bodies: corners on faces, both ways round, and edges across edges (``body_shapes.py`` tells who has what).

A corner touches a face that it points at: all edges that leave it go up from the face, but for ``LYING``, which a body that lies down may
still have to turn. So the corners of two bodies that stand flush on each other find the faces between them, however deep they are pressed
in, and never those beside. A corner of a box that is about to touch counts if it is above the face when it does.

Two edges touch where they cross and each is the other's nearest, which the faces beside them tell. Of crossings that are deeper in than the
two bodies are by their faces none is the way out, so they do not count.

Round corners are balls, and round edges rods: they touch where their centre or axis is no further away than their radius. A ball meets
edges and corners of boxes too, at the nearest place.

A contact is known by the walls and by what touches of each: a corner, an edge or a face, with its number.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import device, kernel
from ..array_types import FloatArray
from ..state.bodies import BodyArrays
from ..state.contacts import ContactArrays
from .body_shapes import BodyShapes
from .mesh import CANDIDATE_COLUMNS, cell_of, touch_mesh
from .persistence import OPENED
from .prediction import LEAST, Ahead
from .surfaces import ROW, place_frame, to_body, to_world, turned
from .wall_table import CYLINDER, INSIDE, MESH, OUTSIDE, PLANE, ROD, WallTable

CORNER, EDGE, FACE = 0, 1, 2  # what touches; with its number n it is 3 n + kind
MOST_FACES = 6  # that a corner can touch, of a wall that is no mesh
LYING = 0.5  # sine of the angle by which the faces at a corner or edge may lean away from what they touch
INTO_MESH = 0.25  # of the radius of the body: how deep in a mesh a corner still knows the way out
SHALLOW = 0.05  # of the smaller radius: how deep two edges of meshes may have crossed
BESIDE = 1e-6  # of the size of a box: a corner that is no further beside a face is above it
SAME_PLACE, SAME_NORMAL = 0.01, 0.99  # of the smaller radius, and cosine: what differs by less is one contact
PARALLEL = 1e-7  # sine of the angle of two edges that do not cross
NEXT_TO_NOTHING = 1e-9  # of an impulse
ROUNDING = 1e-9  # of a depth, and of a size


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
    total = 0
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
                count = touch_corner(walls, shapes, i, radius, frame, other, of_other, (x, y, z), u, (cx, cy, cz), deep + radius, found)
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
                        write(out, points, first, total, (a, b, part, face), (-fx, -fy, -fz), -height, point)
                    else:
                        write(out, points, first, total, (a, b, face, part), (fx, fy, fz), -height, point)
                    total += 1
        if shapes.edge_first[a] < shapes.edge_first[a + 1] and shapes.edge_first[b] < shapes.edge_first[b + 1]:
            total = cross_edges(bodies, walls, shapes, ahead, (a, b), frames, (look, least, apart), edges, first, total, out, points)
        if first + total <= len(out.a) and total <= len(points):
            total = drop_doubles(out, points, first, begin, total, SAME_PLACE / max(shapes.inverse_radius[a], shapes.inverse_radius[b]))
    return total


@device
def write(out, points, first, k, parts, normal, overlap, point):
    """Number k of the contacts between bodies, if there is room."""
    c = first + k
    if c >= len(out.a) or k >= len(points):
        return
    a, b, part, other = parts
    out.a[c], out.b[c], out.feature[c], out.partner[c] = -1 - a, -1 - b, part, other
    out.overlap[c] = overlap
    for f in range(3):
        out.normal[c, f], points[k, f] = normal[f], point[f]


@device
def drop_doubles(out, points, first, begin, total, near):
    """Of contacts of two walls with about the same place and normal only the first stays: corners of bodies that stand flush on each other
    touch twice. The contacts are those from ``begin`` on; returns how many contacts between bodies are left."""
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
            write(out, points, first, kept, parts, out.normal[c], out.overlap[c], points[k])
        kept += 1
    return kept


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
def points_at(shapes, i, frame, fx, fy, fz):
    """Whether corner i can touch a face with the normal f: all edges that leave it go up from there, but for ``LYING``."""
    for n in range(shapes.spoke_first[i], shapes.spoke_first[i + 1]):
        x, y, z = turned(frame, 0, shapes.spoke[n, 0], shapes.spoke[n, 1], shapes.spoke[n, 2])
        if x * fx + y * fy + z * fz < -LYING:
            return False
    return True


@device
def touch_corner(walls, shapes, i, radius, frame, other, of_other, at, u, centre, look, found):
    """Faces of the wall ``other`` that corner i touches, or is within ``look`` [m] of: unit normal away from the wall, height [m] (< 0:
    inside) and number of each in the first columns of ``found``; how many.

    The corner is ``at`` a place, moves with u [m/s] against the wall, and belongs to a body around the place ``centre``. Of one that is
    round, with a ``radius`` [m], heights are those of its centre.
    """
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


@device
def place_edges(shapes, k, frame, other, of_other, look, out):
    """Edges of wall k that come near the box around another wall, in world axes, as rows of ``out`` with their number last; how many."""
    edge, centre, half, look = shapes.edge, shapes.centre[other], shapes.half[other], look + shapes.round[k]
    count = 0
    for e in range(shapes.edge_first[k], shapes.edge_first[k + 1]):
        x, y, z = to_world(frame, 0, edge[e, 0], edge[e, 1], edge[e, 2])
        dx, dy, dz = turned(frame, 0, edge[e, 3], edge[e, 4], edge[e, 5])
        start = to_body(of_other, 0, x, y, z)
        end = to_body(of_other, 0, x + edge[e, 6] * dx, y + edge[e, 6] * dy, z + edge[e, 6] * dz)
        beside = False
        for f in range(3):
            beside = beside or min(start[f], end[f]) - centre[f] > half[f] + look or centre[f] - max(start[f], end[f]) > half[f] + look
        if beside:
            continue
        out[count, 0], out[count, 1], out[count, 2] = x, y, z
        out[count, 3], out[count, 4], out[count, 5], out[count, 6] = dx, dy, dz, edge[e, 6]
        out[count, 7], out[count, 8], out[count, 9] = turned(frame, 0, edge[e, 7], edge[e, 8], edge[e, 9])
        out[count, 10], out[count, 11], out[count, 12] = turned(frame, 0, edge[e, 10], edge[e, 11], edge[e, 12])
        out[count, 13] = e - shapes.edge_first[k]
        count += 1
    return count


@device
def between_faces(row, nx, ny, nz):
    """Whether a direction across an edge points away from both of its faces, but for ``LYING``: n = s f + t g with s, t >= 0."""
    f = row[7] * nx + row[8] * ny + row[9] * nz
    g = row[10] * nx + row[11] * ny + row[12] * nz
    c = row[7] * row[10] + row[8] * row[11] + row[9] * row[12]
    slack = -LYING * (1.0 - c * c)
    return f - c * g > slack and g - c * f > slack


@device
def way_across(r, s, round_r, round_s, apart, nx, ny, nz):
    """1 if a direction across two edges points away from the body of edge r and towards that of edge s, -1 if its opposite does, else 0.

    A round edge points everywhere: the other one tells, and of two round ones the side on which s is, ``apart`` from r.
    """
    if round_r > 0.0 and round_s > 0.0:
        return 1.0 if apart[0] * nx + apart[1] * ny + apart[2] * nz > 0.0 else -1.0
    if round_r > 0.0:
        return 1.0 if between_faces(s, -nx, -ny, -nz) else (-1.0 if between_faces(s, nx, ny, nz) else 0.0)
    sign = 1.0 if between_faces(r, nx, ny, nz) else (-1.0 if between_faces(r, -nx, -ny, -nz) else 0.0)
    if sign != 0.0 and round_s == 0.0 and not between_faces(s, -sign * nx, -sign * ny, -sign * nz):
        return 0.0
    return sign


@device
def cross_edges(bodies, walls, shapes, ahead, pair, frames, limits, edges, first, total, out, points):
    """Append the contacts of crossing edges of two walls; returns how many contacts between bodies there are then."""
    a, b = pair
    round_a, round_b = shapes.round[a], shapes.round[b]
    thick = round_a + round_b
    look, least, apart = limits
    inverse = max(shapes.inverse_radius[a], shapes.inverse_radius[b])
    deepest = (min(-apart, 1.0 / inverse) if apart < 0.0 else 0.0) * (1.0 + ROUNDING) + ROUNDING / inverse
    if apart == -np.inf:  # two meshes: nobody knows how deep they are in each other
        deepest = thick if round_a > 0.0 and round_b > 0.0 else SHALLOW / inverse
    ours = place_edges(shapes, a, frames[0], b, frames[1], look, edges[0])
    theirs = place_edges(shapes, b, frames[1], a, frames[0], look, edges[1]) if ours > 0 else 0
    for i in range(ours):
        r = edges[0][i]
        for j in range(theirs):
            s = edges[1][j]
            nx, ny, nz = r[4] * s[5] - r[5] * s[4], r[5] * s[3] - r[3] * s[5], r[3] * s[4] - r[4] * s[3]
            sine = math.sqrt(nx * nx + ny * ny + nz * nz)
            if sine < PARALLEL:
                continue
            nx, ny, nz = nx / sine, ny / sine, nz / sine
            dx, dy, dz = s[0] - r[0], s[1] - r[1], s[2] - r[2]
            sign = way_across(r, s, round_a, round_b, (dx, dy, dz), nx, ny, nz)
            if sign == 0.0:
                continue
            nx, ny, nz = sign * nx, sign * ny, sign * nz
            height = dx * nx + dy * ny + dz * nz - thick
            if not -deepest < height < look:
                continue
            cosine = r[3] * s[3] + r[4] * s[4] + r[5] * s[5]
            p, q = dx * r[3] + dy * r[4] + dz * r[5], dx * s[3] + dy * s[4] + dz * s[5]
            along, other = (p - cosine * q) / (sine * sine), (cosine * p - q) / (sine * sine)
            if not (0.0 < along < r[6] and 0.0 < other < s[6]):
                continue
            x, y, z = r[0] + along * r[3] + round_a * nx, r[1] + along * r[4] + round_a * ny, r[2] + along * r[5] + round_a * nz
            u, v = velocities_at(bodies, walls.frame[a], walls.frame[b], x, y, z)
            rate = -(u[0] * nx + u[1] * ny + u[2] * nz)
            if not closes(height, rate, ahead, least):
                continue
            later = time_of_touch(height, rate, ahead)
            point = x + later * v[0], y + later * v[1], z + later * v[2]
            parts = a, b, 3 * np.int64(r[13]) + EDGE, 3 * np.int64(s[13]) + EDGE
            write(out, points, first, total, parts, (nx, ny, nz), -height, point)
            total += 1
    return total


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
