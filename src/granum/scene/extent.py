"""How far walls reach: along a direction, and away from an axis. Planes and endless cylinders have no end."""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from ..arithmetic import dot, length
from ..array_types import FloatArray
from .shapes import Box, Capsule, Cylinder, Mesh, Plane, Shape

THINNEST = 0.1  # of its longest side: as thick as a mesh is taken to be where it touches other bodies


def cross(a: FloatArray, b: FloatArray) -> FloatArray:
    """(3,) a x b."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def furthest(wall: Shape, direction: FloatArray) -> float:
    """Largest x . ``direction`` (a unit vector) [m] on a wall, in its body's frame; infinite for a wall without end."""
    if isinstance(wall, Box):
        return float(dot(_corners(wall), direction).max())
    if isinstance(wall, Cylinder) and wall.length is not None:
        along = float(dot(np.asarray(wall.axis), direction))
        across = math.sqrt(max(0.0, 1.0 - along * along))
        return float(dot(np.asarray(wall.centre), direction)) + 0.5 * wall.length * abs(along) + wall.radius * across
    if isinstance(wall, Capsule):
        along = float(dot(np.asarray(wall.axis), direction))
        return float(dot(np.asarray(wall.centre), direction)) + 0.5 * wall.length * abs(along) + wall.radius
    if isinstance(wall, Mesh):
        return float(dot(wall.vertices, direction).max())
    return math.inf


def reach_from_axis(wall: Shape, axis: FloatArray) -> float:
    """Largest distance [m] of a wall from an axis (a unit vector) through the origin of its body's frame; infinite without end."""
    if isinstance(wall, Box):
        return float(away_from_axis(_corners(wall), axis).max())
    if isinstance(wall, (Cylinder, Capsule)):
        centre, own = np.asarray(wall.centre), np.asarray(wall.axis)
        parallel = abs(float(dot(own, axis))) > 1 - 1e-9
        if wall.length is None and not parallel:
            return math.inf
        half = 0.0 if parallel else 0.5 * (wall.length or 0.0)
        ends = np.stack([centre - half * own, centre + half * own])
        return float(away_from_axis(ends, axis).max()) + wall.radius
    if isinstance(wall, Mesh):
        return float(away_from_axis(wall.vertices, axis).max())
    return math.inf


def endless(wall: Shape) -> bool:
    """Whether a wall goes on for ever."""
    return isinstance(wall, Plane) or (isinstance(wall, Cylinder) and wall.length is None)


def reach_from_origin(wall: Shape) -> float:
    """Largest distance [m] of a finite wall from the origin of its body's frame, or a little more; 0 for a wall without end."""
    if isinstance(wall, Box):
        return float(length(_corners(wall)).max())
    if isinstance(wall, Cylinder):
        return float(length(wall.centre) + length((wall.radius, (wall.length or 0.0) / 2)))
    if isinstance(wall, Capsule):
        return float(length(wall.centre)) + 0.5 * wall.length + wall.radius
    return float(length(wall.vertices).max()) if isinstance(wall, Mesh) else 0.0


def inner_radius(wall: Shape) -> float:
    """Radius [m] with which a wall touches other bodies: that of the largest ball that fits into it; of a mesh half of the smallest side of
    its own box, but a tenth of the largest half at least, since a sheet has no thickness. Infinite for walls that are flat or hollow."""
    if isinstance(wall, Box) and wall.side == "outside":
        return 0.5 * min(high - low for low, high in zip(wall.lower, wall.upper, strict=True))
    if isinstance(wall, Capsule):
        return wall.radius
    if isinstance(wall, Cylinder) and wall.side == "outside":
        return min(wall.radius, math.inf if wall.length is None else 0.5 * wall.length)
    if isinstance(wall, Mesh):
        half = 0.5 * np.ptp(wall.vertices, axis=0)
        return float(max(half.min(), THINNEST * half.max()))
    return math.inf


def away_from_axis(points: FloatArray, axis: FloatArray) -> FloatArray:
    """(n,) distance [m] of points (n, 3) from an axis (a unit vector) through the origin."""
    return length(points - dot(points, axis)[:, None] * axis)


def _corners(box: Box) -> FloatArray:
    return np.array(list(product(*zip(box.lower, box.upper, strict=True))))
