"""Walls of a scene as triangles. What has no end is cut a little beyond the grains."""

from __future__ import annotations

from itertools import product

import numpy as np

from ..array_types import FloatArray
from ..plot.parts import triangles_of
from ..scene.shapes import Box, Cylinder, Plane, Shape

SIDES = ("-x", "+x", "-y", "+y", "-z", "+z")


def wall_triangles(wall: Shape, position: FloatArray, turned: FloatArray, centre: FloatArray, reach: float) -> FloatArray:
    """(T, 3, 3) [m] in the world, of a wall whose body is at ``position`` and ``turned`` (3, 3).

    ``centre`` (3,) and ``reach`` [m] are of a ball in the world that holds all grains.
    """
    if isinstance(wall, Plane):
        return _square(turned @ np.asarray(wall.point) + position, turned @ np.asarray(wall.normal), centre, reach)
    return _own_triangles(wall, (centre - position) @ turned, reach) @ turned.T + position


def _own_triangles(wall: Shape, centre: FloatArray, reach: float) -> FloatArray:
    """In the frame of the body, as ``centre`` is."""
    if isinstance(wall, Box) and wall.side == "inside":
        return _faces(wall, centre + reach)
    if isinstance(wall, Cylinder) and wall.length is None:
        axis = np.asarray(wall.axis)
        along = float((centre - np.asarray(wall.centre)) @ axis)
        middle = tuple(np.asarray(wall.centre) + along * axis)
        return triangles_of(wall.model_copy(update={"centre": middle, "length": 2 * reach}))
    return triangles_of(wall)


def _square(point: FloatArray, normal: FloatArray, centre: FloatArray, reach: float) -> FloatArray:
    """Of a plane, as wide as the ball."""
    u = np.cross(np.eye(3)[np.argmin(np.abs(normal))], normal)
    u /= np.linalg.norm(u)
    middle = centre - ((centre - point) @ normal) * normal
    corner = middle + reach * np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)]) @ np.stack([u, np.cross(normal, u)])
    return corner[[[0, 1, 2], [0, 2, 3]]]


def _faces(box: Box, top: FloatArray) -> FloatArray:
    """The closed sides of a box around grains; one without a lid ends a little above them."""
    lower, upper = np.asarray(box.lower, float), np.array(box.upper, float)
    if "+z" in box.open:
        upper[2] = max(min(upper[2], top[2]), lower[2])
    corner = np.where(np.array(list(product((0, 1), repeat=3))) == 1, upper, lower)
    faces = dict(zip(SIDES, ((0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)), strict=True))
    quads = [faces[side] for side in SIDES if side not in box.open]
    return np.array([corner[[p, q, r]] for a, b, c, d in quads for p, q, r in ((a, b, c), (a, c, d))]).reshape(-1, 3, 3)
