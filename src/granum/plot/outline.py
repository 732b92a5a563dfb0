"""Walls as lines: the edges of boxes, cylinders, capsules and meshes in the world."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise, product

import numpy as np

from ..array_types import FloatArray
from ..scene.scene import Scene
from ..scene.shapes import Box, Capsule, Cylinder, Mesh, Plane, Shape
from ..state.rotation import matrix

Frames = Sequence[tuple[FloatArray, FloatArray]]  # position [m] and orientation of every wall body
CIRCLE = np.stack([np.cos(np.linspace(0, 2 * np.pi, 73)), np.sin(np.linspace(0, 2 * np.pi, 73))], axis=1)
MOST_EDGES = 4000


def wall_frames(scene: Scene) -> Frames:
    """Where the wall bodies stand at the start."""
    return [(np.asarray(body.position), np.asarray(body.orientation)) for body in scene.all_bodies]


def wall_lines(
    scene: Scene, frames: Frames, low: FloatArray, high: FloatArray, without: AbstractSet[tuple[int, int]] = frozenset()
) -> list[FloatArray]:
    """Polylines (n, 3) [m] of all finite walls; what is endless or open is cut at the box from ``low`` to ``high`` of the grains.

    Walls ``without``, by their body and their number in it, are left out, and so are blocks that are the ground itself (``is_ground``) and
    what has sunk into them.
    """
    lines = []
    ground = [wall for wall in scene.walls if is_ground(wall, low, high)]
    for b, (body, (position, orientation)) in enumerate(zip(scene.all_bodies, frames, strict=True)):
        turned = matrix(orientation)
        walls = [wall for w, wall in enumerate(body.walls) if (b, w) not in without]
        for wall in walls:
            own: list[FloatArray] = []
            if body.kind == "static" and is_ground(wall, low, high):
                continue
            if isinstance(wall, Box):
                own = _box_edges(wall, (high - position) @ turned)
            elif isinstance(wall, (Cylinder, Capsule)):
                own = _cylinder_edges(wall, float(np.linalg.norm(high - low)))
            elif isinstance(wall, Mesh):
                own = _mesh_edges(wall)
            placed = [line @ turned.T + position for line in own]
            lines += [line for line in placed if not any(_within(line, block) for block in ground)]
        planes = [(turned @ np.asarray(w.point) + position, turned @ np.asarray(w.normal)) for w in walls if isinstance(w, Plane)]
        if len(planes) > 2:
            lines += _room_edges(planes, low, high)
    return lines


def is_ground(wall: Shape, low: FloatArray, high: FloatArray) -> bool:
    """Whether a wall is a block much wider than the box of the grains: the ground beside a trench."""
    if not isinstance(wall, Box) or wall.side != "outside":
        return False
    return bool((np.subtract(wall.upper, wall.lower)[:2] > 2 * (high - low)[:2]).any())


def _within(line: FloatArray, block: Shape) -> bool:
    """Whether a line lies in a block."""
    assert isinstance(block, Box)
    edge = 1e-6
    return bool((line >= np.asarray(block.lower) - edge).all() and (line <= np.asarray(block.upper) + edge).all())


def ground_plane(scene: Scene, frames: Frames, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Point [m] and normal of the first plane that carries grains, if there is one; a block of ground counts as its top."""
    for wall in scene.walls:
        if isinstance(wall, Box) and is_ground(wall, low, high):
            return np.array([*((low + high)[:2] / 2), wall.upper[2]]), np.array([0.0, 0.0, 1.0])
    for body, (position, orientation) in zip(scene.all_bodies, frames, strict=True):
        for wall in body.walls:
            if isinstance(wall, Plane):
                normal = matrix(orientation) @ np.asarray(wall.normal)
                if normal[2] > 0.5:
                    return matrix(orientation) @ np.asarray(wall.point) + position, normal
    return None


def _box_edges(box: Box, top: FloatArray) -> list[FloatArray]:
    lower, upper = np.asarray(box.lower, float), np.asarray(box.upper, float)
    if "+z" in box.open:
        upper[2] = min(upper[2], max(top[2], lower[2] + 0.1 * (upper[2] - lower[2])))
    corners = np.array(list(product((0, 1), repeat=3)))
    edges = [(a, b) for i, a in enumerate(corners) for b in corners[i + 1 :] if np.abs(a - b).sum() == 1]
    return [np.where(np.stack(edge) == 1, upper, lower) for edge in edges]


def _room_edges(planes: list[tuple[FloatArray, FloatArray]], low: FloatArray, high: FloatArray) -> list[FloatArray]:
    """Edges of the room between planes (point, normal), cut at the height of the grains, and a little beyond them sideways."""
    beyond = 0.25 * float((high - low)[:2].max()) * np.array([1.0, 1.0, 0.0])
    box = [(low - beyond, axis) for axis in np.eye(3)] + [(high + beyond, -axis) for axis in np.eye(3)]
    size = 4 * float(np.linalg.norm(high - low + 2 * beyond))
    edges = {}
    for this, (point, normal) in enumerate(planes):
        u = np.cross(np.eye(3)[np.argmin(np.abs(normal))], normal)
        u /= np.linalg.norm(u)
        middle = (low + high) / 2
        middle = middle - ((middle - point) @ normal) * normal
        face = middle + size * np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)]) @ np.stack([u, np.cross(normal, u)])
        for other in [plane for number, plane in enumerate(planes) if number != this] + box:
            face = _cut(face, *other)
        for edge in pairwise([*face, *face[:1]]):
            ends = sorted(tuple(np.round(end / size, 9)) for end in edge)  # an edge belongs to two faces
            edges[tuple(ends)] = np.stack(edge)
    return list(edges.values())


def _cut(face: FloatArray, point: FloatArray, normal: FloatArray) -> FloatArray:
    """The part of a convex polygon (n, 3) on the side of a plane that ``normal`` points to."""
    if not len(face):
        return face
    height = (face - point) @ normal
    after, next_height = np.roll(face, -1, axis=0), np.roll(height, -1)
    kept = []
    for a, b, here, there in zip(face, after, height, next_height, strict=True):
        if here >= 0:
            kept.append(a)
        if here * there < 0:
            kept.append(a + here / (here - there) * (b - a))
    return np.array(kept).reshape(-1, 3)


def _cylinder_edges(cylinder: Cylinder | Capsule, endless: float) -> list[FloatArray]:
    axis, centre = np.asarray(cylinder.axis), np.asarray(cylinder.centre)
    u = np.cross(np.eye(3)[np.argmin(np.abs(axis))], axis)
    u /= np.linalg.norm(u)
    circle = cylinder.radius * CIRCLE @ np.stack([u, np.cross(axis, u)])
    half = (cylinder.length if cylinder.length is not None else endless) / 2
    rings = [centre + circle + side * half * axis for side in (-1, 1)]
    sides = [np.stack([rings[0][k], rings[1][k]]) for k in (0, 18, 36, 54)]
    if isinstance(cylinder, Cylinder):
        return [*rings, *sides]
    rise, out = cylinder.radius * CIRCLE[:37, 1:], CIRCLE[:37, :1]
    arcs = [centre + side * (half * axis + rise * axis) + out * circle[k] for side in (-1, 1) for k in (0, 18)]
    return [*rings, *sides, *arcs]


def _mesh_edges(mesh: Mesh) -> list[FloatArray]:
    """Edges where the surface ends or turns by more than 16 degrees."""
    t, v = mesh.triangles, mesh.vertices
    normal = np.cross(v[t[:, 1]] - v[t[:, 0]], v[t[:, 2]] - v[t[:, 0]])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    side = np.sort(np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]]), axis=1)
    face = np.tile(np.arange(len(t)), 3)
    order = np.lexsort(side.T)
    side, face = side[order], face[order]
    starts = np.flatnonzero(np.r_[True, (side[1:] != side[:-1]).any(axis=1), True])
    lines = []
    for a, b in pairwise(starts):
        if b - a != 2 or abs(normal[face[a]] @ normal[face[a + 1]]) < np.cos(np.radians(16)):
            lines.append(v[side[a]])
            if len(lines) >= MOST_EDGES:
                break
    return lines
