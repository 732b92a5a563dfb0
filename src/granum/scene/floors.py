"""What lies below a place: how far grains can fall before they meet a wall, or a sink that takes them out."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .._jit import kernel
from ..arithmetic import dot, length
from ..array_types import FloatArray
from ..state.rotation import matrix
from .bodies import Body
from .extent import cross
from .scene import Scene
from .shapes import Box, Capsule, Cylinder, Mesh, Shape

LEVEL = 1e-9  # walls whose surface leans less than this against the vertical hold nothing


@dataclass(frozen=True)
class Frame:
    """Axes with z against gravity; x and y go through space with the periods of the cell, 0: no period."""

    across: FloatArray
    """(2, 3) unit vectors."""
    down: FloatArray
    """(3,) unit vector."""
    period: FloatArray
    """(2,) [m]"""

    @classmethod
    def of(cls, scene: Scene) -> Frame | None:
        """None if nothing falls: no gravity, or only along axes that repeat."""
        gravity, cell = scene.gravity, scene.cell
        g = np.array(gravity.acceleration if any(gravity.acceleration) or gravity.ramp == 0 else gravity.initial)
        repeats = cell.dim if cell is not None else 0
        g[:repeats] = 0.0
        if not g.any():
            return None
        down = g / length(g)
        axis = np.eye(3)[0 if repeats else int(np.argmin(np.abs(down)))]
        first = axis - dot(axis, down) * down
        first = first / length(first)
        second = cross(first, down) if repeats < 2 else np.eye(3)[1]
        period = np.zeros(2)
        if cell is not None:
            period[:repeats] = cell.lengths
        return cls(np.stack([first, second]), down, period)

    def of_points(self, points: FloatArray) -> FloatArray:
        """(n, 3) coordinates of points (n, 3) [m]: across, across, up."""
        return np.stack([dot(points, self.across[0]), dot(points, self.across[1]), -dot(points, self.down)], axis=-1)


def fall_to_floor(scene: Scene, frame: Frame, centre: FloatArray, radius: FloatArray, without: Body | None = None) -> FloatArray:
    """(n,) [m] that balls at ``centre`` (n, 3) fall until they touch a wall or come into a sink; infinite: nothing is below.

    ``without``: a wall body that is not looked at. Edges are missed by half a ball, so falls are rather too long.
    """
    fall, centre = np.full(len(centre), np.inf), np.array(centre)
    for k, period in enumerate(scene.cell.lengths if scene.cell is not None else ()):
        centre[:, k] -= np.floor(centre[:, k] / period) * period  # a grain meets walls where it stands in the cell
    for body in scene.all_bodies:
        if body is without or not body.walls:
            continue
        turn = matrix(np.asarray(body.orientation))
        own, down = _seen_from(turn, centre - np.asarray(body.position)), _seen_from(turn, frame.down)
        for wall in body.walls:
            if isinstance(wall, Mesh):
                corners = _seen_from(turn.T, wall.vertices) + np.asarray(body.position)
                found = _to_mesh(wall, frame.of_points(corners), frame.of_points(centre), radius)
            else:
                found = _to_wall(wall, own, radius, down)
            fall = np.minimum(fall, found)
    for sink in scene.sinks:
        low, high = (np.asarray(corner) for corner in sink.region.bounds)
        fall = np.minimum(fall, _to_box(centre, np.zeros(len(centre)), frame.down, low, high))
    return fall


def _seen_from(turn: FloatArray, vectors: FloatArray) -> FloatArray:
    """Vectors of the world in the axes of a body that is turned so."""
    return np.stack([dot(vectors, turn[:, k]) for k in range(3)], axis=-1)


def _to_wall(wall: Shape, centre: FloatArray, radius: FloatArray, down: FloatArray) -> FloatArray:
    if isinstance(wall, Box):
        low, high = np.asarray(wall.lower), np.asarray(wall.upper)
        if wall.side == "outside":
            return _to_box(centre, radius, down, low, high)
        fall = np.full(len(centre), np.inf)
        for k, axis in enumerate("xyz"):
            for sign, corner in ((1.0, low), (-1.0, high)):
                if f"{'-' if sign > 0 else '+'}{axis}" not in wall.open:
                    fall = np.minimum(fall, _to_plane(centre, radius, down, corner, sign * np.eye(3)[k]))
        return fall
    if isinstance(wall, Capsule) or (isinstance(wall, Cylinder) and wall.side == "outside"):
        return _to_rod(wall, centre, radius, down)
    if isinstance(wall, Cylinder):
        return _to_cylinder(wall, centre, radius, down)
    assert not isinstance(wall, Mesh)
    return _to_plane(centre, radius, down, np.asarray(wall.point), np.asarray(wall.normal))


def _to_plane(centre: FloatArray, radius: FloatArray, down: FloatArray, point: FloatArray, normal: FloatArray) -> FloatArray:
    slope, above = -float(dot(down, normal)), dot(centre - point, normal)
    if slope < LEVEL:
        return np.full(len(centre), np.inf)
    return np.where(above >= 0, np.maximum(above - radius, 0.0) / slope, np.inf)


def _to_box(centre: FloatArray, radius: FloatArray, down: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """From outside, onto the face that the centre comes to first."""
    enter, leave, lift = np.full(len(centre), -np.inf), np.full(len(centre), np.inf), np.zeros(len(centre))
    for k in range(3):
        if abs(down[k]) < LEVEL:
            beside = (centre[:, k] <= low[k]) | (centre[:, k] >= high[k])
            enter, leave = np.where(beside, np.inf, enter), np.where(beside, -np.inf, leave)
            continue
        first, last = (low, high) if down[k] > 0 else (high, low)
        here = (first[k] - centre[:, k]) / down[k]
        lift = np.where(here > enter, radius / abs(down[k]), lift)
        enter, leave = np.maximum(enter, here), np.minimum(leave, (last[k] - centre[:, k]) / down[k])
    return np.where((enter < leave) & (leave > 0), np.maximum(enter - lift, 0.0), np.inf)


def _to_cylinder(wall: Cylinder, centre: FloatArray, radius: FloatArray, down: FloatArray) -> FloatArray:
    """From inside, onto the mantle or a cap."""
    axis, from_middle = np.asarray(wall.axis), centre - np.asarray(wall.centre)
    along, sinks = dot(from_middle, axis), float(dot(down, axis))
    across, leans = from_middle - along[:, None] * axis, down - sinks * axis
    half = 0.5 * wall.length if wall.length is not None else math.inf
    inside = length(across) <= wall.radius
    fall = np.full(len(centre), np.inf)
    square = float(dot(leans, leans))
    if square > LEVEL * LEVEL:  # |across + t leans| = R - r
        middle, room = dot(across, leans), wall.radius - radius
        root = np.sqrt(np.maximum(middle * middle - square * (dot(across, across) - room * room), 0.0))
        mantle = np.maximum((root - middle) / square, 0.0)
        fall = np.where(inside & (np.abs(along + mantle * sinks) <= half), mantle, fall)
    if wall.length is not None and wall.caps and abs(sinks) > LEVEL:
        to_cap = (half - radius - along * math.copysign(1.0, sinks)) / abs(sinks)
        fall = np.where(inside & (np.abs(along) <= half), np.minimum(fall, np.maximum(to_cap, 0.0)), fall)
    return fall


def _to_rod(wall: Cylinder | Capsule, centre: FloatArray, radius: FloatArray, down: FloatArray) -> FloatArray:
    """From outside, onto the mantle or an end."""
    axis, from_middle, both = np.asarray(wall.axis), centre - np.asarray(wall.centre), wall.radius + radius
    along, sinks = dot(from_middle, axis), float(dot(down, axis))
    across, leans = from_middle - along[:, None] * axis, down - sinks * axis
    half = 0.5 * wall.length if wall.length is not None else math.inf
    mantle = _to_ball(across, leans, both)
    fall = np.where(np.abs(along + np.where(np.isfinite(mantle), mantle, 0.0) * sinks) <= half, mantle, np.inf)
    if isinstance(wall, Capsule):
        for end in (-half, half):
            fall = np.minimum(fall, _to_ball(from_middle - end * axis, down, both))
    elif wall.length is not None and abs(sinks) > LEVEL:
        to_end = (-math.copysign(half, sinks) - along) / sinks
        above = (to_end >= 0) & (length(across + to_end[:, None] * leans) <= wall.radius)
        fall = np.where(above, np.minimum(fall, np.maximum(to_end - radius / abs(sinks), 0.0)), fall)
    return fall


def _to_ball(place: FloatArray, way: FloatArray, size: FloatArray) -> FloatArray:
    """(n,) first t >= 0 at which |place + t way| = size, in the plane of both or in space; infinite if there is none."""
    square, middle, inside = float(dot(way, way)), dot(place, way), dot(place, place) - size * size
    if square <= LEVEL * LEVEL:
        return np.full(len(place), np.inf)
    under = middle * middle - square * inside
    first = np.maximum((-middle - np.sqrt(np.maximum(under, 0.0))) / square, 0.0)
    return np.where((under > 0.0) & (middle < 0.0), first, np.inf)


def _to_mesh(wall: Mesh, corners: FloatArray, centre: FloatArray, radius: FloatArray) -> FloatArray:
    """Corners of the triangles and centres are seen in the frame, so that lines go down along z."""
    if not len(wall.triangles):
        return np.full(len(centre), np.inf)
    triangle = np.ascontiguousarray(corners[wall.triangles].reshape(-1, 9))
    low, high = corners[:, :2].min(axis=0), corners[:, :2].max(axis=0)
    cells = max(1, min(512, math.isqrt(len(triangle))))
    width = np.maximum((high - low) / cells, 1e-300)
    return fall_to_triangles(triangle, low, width, cells, centre, radius)


@kernel
def fall_to_triangles(
    triangle: FloatArray, low: FloatArray, width: FloatArray, cells: int, centre: FloatArray, radius: FloatArray
) -> FloatArray:
    """(n,) [m] from balls down to the triangles (T, 9) below their centres; infinite where there is none.

    Triangles are filed in ``cells`` by ``cells`` squares, ``width`` (2,) [m] wide from ``low`` (2,) on.
    """
    count = len(triangle)
    box = np.empty((count, 4), np.int64)
    first = np.zeros(cells * cells + 1, np.int64)
    for t in range(count):
        for k in range(2):
            a, b, c = triangle[t, k], triangle[t, 3 + k], triangle[t, 6 + k]
            box[t, k] = min(cells - 1, max(0, int((min(a, b, c) - low[k]) / width[k])))
            box[t, 2 + k] = min(cells - 1, max(0, int((max(a, b, c) - low[k]) / width[k])))
        for x in range(box[t, 0], box[t, 2] + 1):
            for y in range(box[t, 1], box[t, 3] + 1):
                first[x * cells + y + 1] += 1
    for c in range(cells * cells):
        first[c + 1] += first[c]
    filed, here = np.empty(first[-1], np.int64), first.copy()
    for t in range(count):
        for x in range(box[t, 0], box[t, 2] + 1):
            for y in range(box[t, 1], box[t, 3] + 1):
                filed[here[x * cells + y]] = t
                here[x * cells + y] += 1
    fall = np.full(len(centre), np.inf)
    for i in range(len(centre)):
        px, py, pz = centre[i, 0], centre[i, 1], centre[i, 2]
        fx, fy = (px - low[0]) / width[0], (py - low[1]) / width[1]
        if not (-1e-9 <= fx <= cells + 1e-9 and -1e-9 <= fy <= cells + 1e-9):
            continue
        cell = min(cells - 1, max(0, int(fx))) * cells + min(cells - 1, max(0, int(fy)))
        for s in range(first[cell], first[cell + 1]):
            v = triangle[filed[s]]
            ux, uy, uz = v[3] - v[0], v[4] - v[1], v[5] - v[2]
            wx, wy, wz = v[6] - v[0], v[7] - v[1], v[8] - v[2]
            nx, ny, nz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
            size = math.sqrt(nx * nx + ny * ny + nz * nz)
            if abs(nz) <= 1e-6 * size:
                continue  # it stands upright
            a = ((px - v[0]) * wy - (py - v[1]) * wx) / nz
            b = (ux * (py - v[1]) - uy * (px - v[0])) / nz
            if a < -1e-9 or b < -1e-9 or a + b > 1.0 + 1e-9:
                continue
            above = pz - (v[2] + a * uz + b * wz)
            if above >= 0.0:
                fall[i] = min(fall[i], max(0.0, above - radius[i] * size / abs(nz)))
    return fall
