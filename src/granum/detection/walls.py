"""Grains against walls: planes, boxes, cylinders and meshes, at every step for every grain, as walls may move.

A wall offers one or more surfaces: a plane one, a container up to six sides, a cylinder its lateral surface and two
caps. The surfaces are put into world axes once for each call; the loop over the grains then only reads short rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from .._groups import group
from .._jit import device, kernel
from ..arithmetic import times
from ..array_types import FloatArray, IntArray, LongArray
from ..checks import known_name
from ..parallel.barrier import add_up, share, wait
from ..scene.bodies import Body
from ..scene.shapes import Box, Cylinder, Mesh, Plane
from ..state.rotation import matrix
from .mesh import CANDIDATE_COLUMNS, cell_of, touch_mesh
from .mesh_table import MeshTable, build_mesh
from .prediction import LEAST, TOWARDS, Ahead, approach

# kinds of walls, and their parameters in the body's frame [m]
PLANE = 0  # 0:3 point, 3:6 unit normal towards the grains
INSIDE = 1  # of a box: 0:3 lower corner, 3:6 upper corner, 6:12 1 for each closed face -x, +x, -y, +y, -z, +z
OUTSIDE = 2  # of a box: 0:3 lower corner, 3:6 upper corner
CYLINDER = 3  # 0:3 centre, 3:6 unit axis, 6 radius, 7 half length (inf: endless), 8 1 if both ends are closed
MESH = 4  # the grid: 0:3 lower corner, 3 size of a cell, 4:7 cells along each axis, 7 first cell, 8 1 if grains are in front only
PARAMETERS = 16
FACES = ("-x", "+x", "-y", "+y", "-z", "+z")

# kinds of surfaces, and their rows in world axes [m]
FLAT = 0  # 0:3 unit normal towards the grains, 3 its offset
LATERAL = 1  # 0:3 centre, 3:6 unit axis, 6 radius, 7 half length (inf: endless or capped)
OBSTACLE = 2  # 0:3 position of the body, 3:12 its rotation matrix; the rest is read from the wall
FACETS = 3  # as OBSTACLE
ROW = 12
MOST_SURFACES = 6  # of one wall
ON_THE_WAY = 0.5  # of the radius: distance of the places at which a fast grain looks for walls
MOST_LOOKS = 1e5  # along a way: what goes further in a step than half as many radii (a wall a world away that turns) is told, not followed
HALVINGS = 40  # of the last such distance: to rounding
MOST_LOOK = 0.5  # of the radius: how far ahead of a grain curved walls and meshes are looked at; faster grains are followed


@group
class WallTable(NamedTuple):
    """K walls, numbered through all bodies in order."""

    kind: IntArray  # (K,)
    body: IntArray  # (K,)
    material: IntArray  # (K,)
    parameter: FloatArray  # (K, 16) in the body's frame
    surface_velocity: FloatArray  # (K, 3) in the body's frame [m/s]
    mesh: MeshTable

    @classmethod
    def build(cls, bodies: Sequence[Body], material_index: Mapping[str, int], largest_radius: float) -> WallTable:
        """Table of the bodies' walls, for grains of at most ``largest_radius`` [m], those to be emitted included."""
        owned = [(body, wall) for body, owner in enumerate(bodies) for wall in owner.walls]
        kind, parameter = np.zeros(len(owned), np.int32), np.zeros((len(owned), PARAMETERS))
        meshes: list[MeshTable] = []
        first_cell = 0
        for k, (_, wall) in enumerate(owned):
            if isinstance(wall, Mesh):
                mesh, grid = build_mesh(wall.vertices, wall.triangles, largest_radius)
                kind[k], numbers = MESH, (*grid.lower, grid.size, *grid.shape, first_cell, float(wall.side == "front"))
                meshes.append(mesh)
                first_cell += len(mesh.cell_first) - 1
            else:
                kind[k], numbers = _parameters(wall)
            parameter[k, : len(numbers)] = numbers
        material = [material_index[known_name("material", wall.material, material_index)] for _, wall in owned]
        return cls(
            kind=kind,
            body=np.array([body for body, _ in owned], np.int32),
            material=np.array(material, np.int32),
            parameter=parameter,
            surface_velocity=np.array([wall.surface_velocity for _, wall in owned], float).reshape(-1, 3),
            mesh=MeshTable.join(meshes),
        )


def surface_velocity(walls: WallTable, orientation: FloatArray) -> FloatArray:
    """(K, 3) of belts in world axes [m/s]; ``orientation`` (B, 4) of the bodies."""
    own = walls.surface_velocity
    belts = np.flatnonzero(own.any(axis=1))
    if not len(belts):
        return own
    turned = own.copy()
    for k in belts:
        turned[k] = times(matrix(orientation[walls.body[k]]), own[k])
    return turned


def _parameters(wall: Plane | Box | Cylinder) -> tuple[int, tuple[float, ...]]:
    """Kind and parameters of an analytic wall."""
    if isinstance(wall, Plane):
        return PLANE, (*wall.point, *wall.normal)
    if isinstance(wall, Box):
        closed = (float(face not in wall.open) for face in FACES)
        return (OUTSIDE if wall.side == "outside" else INSIDE), (*wall.lower, *wall.upper, *closed)
    half = np.inf if wall.length is None else 0.5 * wall.length
    capped = wall.length is not None and wall.caps
    return CYLINDER, (*wall.centre, *wall.axis, wall.radius, half, float(capped))


@kernel
def find_wall_contacts(
    thread: int,
    threads: int,
    barrier: LongArray,
    # in
    order: IntArray,  # (N,) grains in the order of visiting
    position: FloatArray,  # (B, 3) of the bodies [m]
    orientation: FloatArray,  # (B, 4) unit quaternions
    radius: FloatArray,  # (N,) [m]
    inverse_mass: FloatArray,  # (B,) [1/kg], 0: does not yield
    first_grain_body: int,  # grain i is body first_grain_body + i
    aggregate: IntArray | None,  # (N,) that a grain is part of, -1: of none
    wall_aggregate: IntArray | None,  # (K,) that a wall is part of, -1: of none
    walls: WallTable,
    pair_count: int,  # contacts of grain pairs, which come first
    # out
    a: IntArray,  # (room,) grain
    b: IntArray,  # (room,) -1 - wall
    feature: IntArray,  # (room,) face of a container, surface of a cylinder, region of a mesh
    normal: FloatArray,  # (room, 3) unit, from the grain towards the wall
    overlap: FloatArray,  # (room,) > 0, or minus the gap of a predicted contact [m]
    first_of: IntArray,  # (N,) first wall contact of each grain
    count_of: IntArray,  # (N,) its number of wall contacts
    ahead: Ahead | None = None,  # contacts that the next step can close count too
) -> int:
    """Append the contacts of grains with walls, grain by grain and wall by wall; returns the count of all contacts.

    If that is more than the arrays have room for, the rest was counted but not written: grow them and call again.
    """
    most = MOST_SURFACES * walls.kind.shape[0]
    kind, wall_of, part = np.empty(most, np.int32), np.empty(most, np.int32), np.empty(most, np.int32)
    yields, row = np.empty(most, np.bool_), np.empty((most, ROW))
    frame = np.empty((1, ROW))
    count = place_surfaces(
        walls.kind,
        walls.body,
        walls.parameter,
        position,
        orientation,
        inverse_mass,
        frame,
        kind,
        wall_of,
        part,
        yields,
        row,
    )
    parameter, wall_body = walls.parameter, walls.body
    (
        triangle,
        region,
        own,
        edge,
        edge_first,
        edge_side,
        vertex,
        vertex_first,
        spoke,
        cell_first,
        near,
        candidate_room,
    ) = walls.mesh
    found = np.empty((max(1, candidate_room), CANDIDATE_COLUMNS))
    room = a.shape[0]
    counted, everywhere = 0, 0
    low, high = share(order.shape[0], thread, threads)
    for writing in range(2):  # first counted, then written where they belong: only the few grains at a wall are looked at twice
        total = 0
        if writing:
            before, everywhere = add_up(barrier, thread, threads, counted)
            total = pair_count + before
        for visit in range(low, high):
            i = order[visit]
            if writing:
                first_of[i] = total
                if count_of[i] == 0:
                    continue
            body = first_grain_body + i
            x, y, z, r = position[body, 0], position[body, 1], position[body, 2], radius[i]
            held = inverse_mass[body] == 0.0
            known = total
            for s in range(count):
                apart = not held or yields[s]
                if aggregate is not None and wall_aggregate is not None and aggregate[i] >= 0:
                    apart = wall_aggregate[wall_of[s]] != aggregate[i]
                if not apart:
                    continue
                ux, uy, uz, look = 0.0, 0.0, 0.0, 0.0
                if ahead is not None:  # of the wall against the grain
                    ux, uy, uz = approach(ahead.velocity, ahead.spin, position, wall_body[wall_of[s]], body)
                    look = math.sqrt(ux * ux + uy * uy + uz * uz) * max(ahead.step, ahead.time) + max(ahead.fall, LEAST * r)
                fast = kind[s] != FLAT and look > MOST_LOOK * r
                if fast:
                    look = MOST_LOOK * r
                touching = touch_surface(
                    kind[s],
                    s,
                    row,
                    parameter,
                    wall_of[s],
                    part[s],
                    triangle,
                    region,
                    own,
                    edge,
                    edge_first,
                    edge_side,
                    vertex,
                    vertex_first,
                    spoke,
                    cell_first,
                    near,
                    x,
                    y,
                    z,
                    r + look,
                    found,
                )
                for n in range(touching):
                    depth = found[n, 3] - look
                    if ahead is not None and not depth > 0.0:
                        rate = ux * found[n, 0] + uy * found[n, 1] + uz * found[n, 2]
                        time = ahead.step if -rate > ahead.impact else ahead.time
                        if not -depth < max(ahead.fall, LEAST * r) - min(0.0, rate) * time:
                            continue
                    if writing and total < room:
                        a[total], b[total], feature[total] = i, -1 - wall_of[s], np.int32(found[n, 4])
                        normal[total, 0], normal[total, 1], normal[total, 2] = found[n, 0], found[n, 1], found[n, 2]
                        overlap[total] = depth
                    total += 1
                if ahead is not None and fast:
                    met, time = first_touch(
                        kind[s],
                        s,
                        row,
                        parameter,
                        wall_of[s],
                        part[s],
                        triangle,
                        region,
                        own,
                        edge,
                        edge_first,
                        edge_side,
                        vertex,
                        vertex_first,
                        spoke,
                        cell_first,
                        near,
                        x,
                        y,
                        z,
                        r,
                        ux,
                        uy,
                        uz,
                        0.0,
                        ahead.step,
                        found,
                    )
                    if met and time > 0.0:
                        if writing and total < room:
                            a[total], b[total], feature[total] = i, -1 - wall_of[s], np.int32(found[0, 4])
                            normal[total, 0], normal[total, 1], normal[total, 2] = found[0, 0], found[0, 1], found[0, 2]
                            overlap[total] = (ux * found[0, 0] + uy * found[0, 1] + uz * found[0, 2]) * time
                        total += 1
            count_of[i] = total - known
        counted = total
    wait(barrier, threads)
    return pair_count + everywhere


@device
def touch_surface(
    kind,
    s,
    row,
    parameter,
    wall,
    part,
    triangle,
    region,
    own,
    edge,
    edge_first,
    edge_side,
    vertex,
    vertex_first,
    spoke,
    cell_first,
    near,
    x,
    y,
    z,
    r,
    found,
):
    """Contacts of a sphere with surface s: unit normal, overlap [m] and feature of each in the first columns of ``found``; how many."""
    if kind == FACETS:
        px, py, pz = to_body(row, s, x, y, z)
        cell = cell_of(parameter, wall, px, py, pz)
        if cell < 0 or cell_first[cell] == cell_first[cell + 1]:
            return 0
        touching = touch_mesh(
            triangle,
            region,
            own,
            edge,
            edge_first,
            edge_side,
            vertex,
            vertex_first,
            spoke,
            near,
            cell_first[cell],
            cell_first[cell + 1],
            px,
            py,
            pz,
            r,
            parameter[wall, 8] != 0.0,
            found,
        )
        for n in range(touching):
            found[n, 0], found[n, 1], found[n, 2] = turned(row, s, found[n, 0], found[n, 1], found[n, 2])
        return touching
    if kind == FLAT:
        nx, ny, nz = -row[s, 0], -row[s, 1], -row[s, 2]
        depth = r + nx * x + ny * y + nz * z + row[s, 3]
    elif kind == LATERAL:
        dx, dy, dz = x - row[s, 0], y - row[s, 1], z - row[s, 2]
        nx, ny, nz, depth = touch_lateral(dx, dy, dz, row[s, 3], row[s, 4], row[s, 5], row[s, 6], row[s, 7], r)
    else:
        nx, ny, nz, depth = touch_obstacle(row, s, parameter, wall, x, y, z, r)
    if not depth > 0.0:
        return 0
    found[0, 0], found[0, 1], found[0, 2], found[0, 3], found[0, 4] = nx, ny, nz, depth, part
    return 1


@device
def first_touch(
    kind,
    s,
    row,
    parameter,
    wall,
    part,
    triangle,
    region,
    own,
    edge,
    edge_first,
    edge_side,
    vertex,
    vertex_first,
    spoke,
    cell_first,
    near,
    x,
    y,
    z,
    r,
    ux,
    uy,
    uz,
    begin,
    end,
    found,
):
    """Follow a sphere to the surface s, which moves with u [m/s] against it, from time ``begin`` to ``end`` [s]: whether it runs into it,
    and when; the contact is in the first row of ``found``. Places along the way are half a radius apart, and the last bit is halved."""
    speed = math.sqrt(ux * ux + uy * uy + uz * uz)
    if speed == 0.0:
        return False, 0.0
    steps = np.int64(math.ceil(min(MOST_LOOKS, speed * (end - begin) / (ON_THE_WAY * r))))
    low = begin
    for k in range(1, steps + 1):
        high = begin + (end - begin) * k / steps
        if runs_into(
            kind,
            s,
            row,
            parameter,
            wall,
            part,
            triangle,
            region,
            own,
            edge,
            edge_first,
            edge_side,
            vertex,
            vertex_first,
            spoke,
            cell_first,
            near,
            x - high * ux,
            y - high * uy,
            z - high * uz,
            r,
            ux,
            uy,
            uz,
            speed,
            found,
        ):
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)
                if runs_into(
                    kind,
                    s,
                    row,
                    parameter,
                    wall,
                    part,
                    triangle,
                    region,
                    own,
                    edge,
                    edge_first,
                    edge_side,
                    vertex,
                    vertex_first,
                    spoke,
                    cell_first,
                    near,
                    x - middle * ux,
                    y - middle * uy,
                    z - middle * uz,
                    r,
                    ux,
                    uy,
                    uz,
                    speed,
                    found,
                ):
                    high = middle
                else:
                    low = middle
            runs_into(
                kind,
                s,
                row,
                parameter,
                wall,
                part,
                triangle,
                region,
                own,
                edge,
                edge_first,
                edge_side,
                vertex,
                vertex_first,
                spoke,
                cell_first,
                near,
                x - high * ux,
                y - high * uy,
                z - high * uz,
                r,
                ux,
                uy,
                uz,
                speed,
                found,
            )
            return True, high
        low = high
    return False, 0.0


@device
def runs_into(
    kind,
    s,
    row,
    parameter,
    wall,
    part,
    triangle,
    region,
    own,
    edge,
    edge_first,
    edge_side,
    vertex,
    vertex_first,
    spoke,
    cell_first,
    near,
    x,
    y,
    z,
    r,
    ux,
    uy,
    uz,
    speed,
    found,
):
    """Whether a sphere touches a surface that comes towards it, not only along it; the deepest such contact goes to the first row."""
    touching = touch_surface(
        kind,
        s,
        row,
        parameter,
        wall,
        part,
        triangle,
        region,
        own,
        edge,
        edge_first,
        edge_side,
        vertex,
        vertex_first,
        spoke,
        cell_first,
        near,
        x,
        y,
        z,
        r,
        found,
    )
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
def place_surfaces(wall_kind, wall_body, parameter, position, orientation, inverse_mass, frame, kind, wall_of, part, yields, row):
    """Put all surfaces into world axes: kind, wall, feature, whether the body yields, and row; returns their count."""
    s = 0
    for k in range(wall_kind.shape[0]):
        first, p, body = s, parameter[k], wall_body[k]
        place_frame(frame, position, orientation, body)
        if wall_kind[k] == PLANE:
            s = add_flat(kind, part, row, s, frame, 0, p[0], p[1], p[2], p[3], p[4], p[5])
        elif wall_kind[k] == INSIDE:
            for face in range(6):
                if p[6 + face] != 0.0:
                    corner, sign = 3 * (face % 2), 1.0 - 2.0 * (face % 2)
                    ex, ey, ez = sign * (face // 2 == 0), sign * (face // 2 == 1), sign * (face // 2 == 2)
                    s = add_flat(kind, part, row, s, frame, face, p[corner], p[corner + 1], p[corner + 2], ex, ey, ez)
        elif wall_kind[k] == CYLINDER:
            kind[s], part[s] = LATERAL, 0
            row[s, 0], row[s, 1], row[s, 2] = to_world(frame, 0, p[0], p[1], p[2])
            row[s, 3], row[s, 4], row[s, 5] = turned(frame, 0, p[3], p[4], p[5])
            row[s, 6], row[s, 7] = p[6], np.inf if p[8] != 0.0 else p[7]
            s += 1
            if p[8] != 0.0:
                for end in range(2):
                    sign = 1.0 - 2.0 * end  # the lower cap looks along the axis, the upper against it
                    ex, ey, ez = sign * p[3], sign * p[4], sign * p[5]
                    cx, cy, cz = p[0] - p[7] * ex, p[1] - p[7] * ey, p[2] - p[7] * ez
                    s = add_flat(kind, part, row, s, frame, 1 + end, cx, cy, cz, ex, ey, ez)
        else:
            kind[s], part[s] = (OBSTACLE if wall_kind[k] == OUTSIDE else FACETS), 0
            for c in range(ROW):
                row[s, c] = frame[0, c]
            s += 1
        for placed in range(first, s):
            wall_of[placed] = k
            yields[placed] = inverse_mass[body] != 0.0
    return s


@device
def add_flat(kind, part, row, s, frame, feature, px, py, pz, nx, ny, nz):
    """Put a plane through (px, py, pz), facing (nx, ny, nz), into row s; returns the next row."""
    px, py, pz = to_world(frame, 0, px, py, pz)
    nx, ny, nz = turned(frame, 0, nx, ny, nz)
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
    # on the axis every direction across it is as good
    if abs(ux) < 0.5:
        across = math.sqrt(uy * uy + uz * uz)
        return 0.0, uz / across, -uy / across, depth
    across = math.sqrt(ux * ux + uz * uz)
    return -uz / across, 0.0, ux / across, depth


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
