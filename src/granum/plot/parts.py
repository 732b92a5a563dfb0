"""Parts of machines as triangles, so that pictures show them as bodies and not as lines."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import NamedTuple

import numpy as np

from ..array_types import BoolArray, FloatArray
from ..scene.joints import Distance
from ..scene.scene import Scene
from ..scene.shapes import Box, Capsule, Cylinder, Mesh, Shape
from ..state.rotation import matrix
from .outline import Frames, is_ground, wall_frames

PAINT = ((0.36, 0.38, 0.41), (0.96, 0.73, 0.20))  # in turn, from body to body
BARE = (0.62, 0.64, 0.67)  # of cylinders without mass, which are no bodies
SLIM = 0.025  # their radius, of their length
ROUND = 24  # sides of a cylinder
SMOOTH = 90  # of one that is as wide as what it holds
RINGS = 6  # of the round end of a capsule


class Parts(NamedTuple):
    """T triangles in the world."""

    corner: FloatArray  # (T, 3, 3) [m]
    colour: FloatArray  # (T, 3)
    thin: BoolArray  # (T,) what it holds is seen through it


class Paint(NamedTuple):
    """How a wall is drawn."""

    colour: tuple[float, float, float]
    thin: bool


def painted(scene: Scene, low: FloatArray, high: FloatArray) -> dict[tuple[int, int], Paint]:
    """The walls that are drawn as surfaces, by their body and their number in it; ``low`` and ``high`` are the box of the grains [m].

    All walls of bodies that joints link; of others, what is driven (rollers, drums, paddles) and belts, and the static boxes beside these,
    their frames. What holds grains inside is thin, and so are frames. Endless walls that no joint links stay lines, and so do driven boxes:
    gates and sleeves stand before the grains.
    """
    linked = [body.name for body in scene.bodies if any(body.name in joint.bodies for joint in scene.joints)]
    found: dict[tuple[int, int], Paint] = {}
    driven: dict[tuple[int, int], Paint] = {}
    beside: dict[tuple[int, int], Paint] = {}
    for b, body in enumerate(scene.all_bodies):
        for w, wall in enumerate(body.walls):
            is_thin = isinstance(wall, Mesh) or getattr(wall, "side", "outside") == "inside"
            is_belt = any(wall.surface_velocity)
            if body.name in linked:
                found[b, w] = Paint(PAINT[linked.index(body.name) % len(PAINT)], is_thin)
            elif not len(triangles_of(wall)) or is_ground(wall, low, high):
                continue
            elif is_belt or (body.kind == "kinematic" and not isinstance(wall, Box)):
                driven[b, w] = Paint(BARE, is_thin)
            elif body.kind == "static" and isinstance(wall, Box):
                beside[b, w] = Paint(BARE, True)
    return found | driven | (beside if driven else {})


def machine_parts(scene: Scene, frames: Frames, painting: Mapping[tuple[int, int], Paint]) -> Parts:
    """The finite walls of those that are painted, and rods without mass."""
    corners, colours, thin = [np.zeros((0, 3, 3))], [np.zeros((0, 3))], [np.zeros(0, bool)]
    for (b, w), paint in painting.items():
        position, orientation = frames[b]
        own = triangles_of(scene.all_bodies[b].walls[w])
        corners.append(own @ matrix(orientation).T + position)
        colours.append(np.broadcast_to(paint.colour, (len(own), 3)))
        thin.append(np.full(len(own), paint.thin))
    for bar in _bars(scene, frames):
        corners.append(bar)
        colours.append(np.broadcast_to(BARE, (len(bar), 3)))
        thin.append(np.zeros(len(bar), bool))
    return Parts(np.concatenate(corners), np.concatenate(colours), np.concatenate(thin))


def _bars(scene: Scene, frames: Frames) -> list[FloatArray]:
    """Rods and cylinders without mass, (T, 3, 3) each, where they are now."""
    number = {body.name: w for w, body in enumerate(scene.all_bodies)}
    start, found = wall_frames(scene), []
    for joint in scene.joints:
        if not isinstance(joint, Distance):
            continue
        ends = []
        for name, anchor in zip(joint.bodies, joint.anchors, strict=True):
            (x0, q0), (x1, q1) = start[number[name]], frames[number[name]]
            ends.append(matrix(q1) @ (matrix(q0).T @ (np.asarray(anchor) - x0)) + x1)
        a, b = ends
        size = float(np.linalg.norm(b - a))
        bar = Cylinder(material="", centre=tuple((a + b) / 2), axis=tuple(b - a), radius=SLIM * size, length=size, side="outside")
        found.append(triangles_of(bar))
    return found


def triangles_of(wall: Shape) -> FloatArray:
    """(T, 3, 3) [m] corners of triangles in the frame of the body; none of what has no end, nor of a box around grains."""
    if isinstance(wall, Mesh):
        return wall.vertices[wall.triangles]
    if isinstance(wall, Box) and wall.side == "outside":
        return _box(wall)
    if isinstance(wall, Capsule):
        angle = np.linspace(0, np.pi / 2, RINGS + 1)
        rise = np.concatenate([-np.sin(angle[::-1]) * wall.radius - wall.length / 2, np.sin(angle) * wall.radius + wall.length / 2])
        return _turned(wall, rise, wall.radius * np.concatenate([np.cos(angle[::-1]), np.cos(angle)]))
    if isinstance(wall, Cylinder) and wall.length is not None:
        half = wall.length / 2
        if wall.side == "inside":
            return _turned(wall, np.array([-half, half]), wall.radius * np.ones(2), SMOOTH)
        return _turned(wall, np.array([-half, -half, half, half]), wall.radius * np.array([0.0, 1.0, 1.0, 0.0]))
    return np.zeros((0, 3, 3))


def _box(box: Box) -> FloatArray:
    corner = np.where(np.array(list(product((0, 1), repeat=3))) == 1, box.upper, box.lower)
    faces = ((0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5))
    return np.array([corner[list(f)] for a, b, c, d in faces for f in ((a, b, c), (a, c, d))])


def _turned(wall: Cylinder | Capsule, rise: FloatArray, reach: FloatArray, sides: int = ROUND) -> FloatArray:
    """A body of revolution: at ``rise`` along the axis it is ``reach`` wide."""
    axis = np.asarray(wall.axis)
    u = np.cross(np.eye(3)[np.argmin(np.abs(axis))], axis)
    u /= np.linalg.norm(u)
    angle = np.linspace(0, 2 * np.pi, sides + 1)
    circle = np.outer(np.cos(angle), u) + np.outer(np.sin(angle), np.cross(axis, u))
    rings = np.asarray(wall.centre) + rise[:, None, None] * axis + reach[:, None, None] * circle  # (K, sides + 1, 3)
    a, b, c, d = rings[:-1, :-1], rings[:-1, 1:], rings[1:, 1:], rings[1:, :-1]
    both = np.concatenate([np.stack([a, b, c], axis=2).reshape(-1, 3, 3), np.stack([a, c, d], axis=2).reshape(-1, 3, 3)])
    area = np.linalg.norm(np.cross(both[:, 1] - both[:, 0], both[:, 2] - both[:, 0]), axis=1)
    return both[area > 0]
