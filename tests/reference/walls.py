"""The slow twin of the search for contacts with walls: every grain against every wall, in the frame of its body."""

from __future__ import annotations

import math

import numpy as np


def rotation(q):
    """(3, 3) matrix of a unit quaternion, w first."""
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def depth(wall, x, r):
    """Overlap [m] of a sphere with a plane, an endless cylinder around it, or a block, solid cylinder or capsule beside it.

    All in the frame of the wall's body.

    Negative: a gap; NaN: the centre is not where grains live, so that there is no one answer.
    """
    if wall.shape == "plane":
        height = float(np.dot(x - np.array(wall.point), wall.normal))
        return r - height if height > 0 else math.nan
    if wall.shape == "capsule" or (wall.shape == "cylinder" and wall.side == "outside"):
        away = x - np.array(wall.centre)
        along = float(np.dot(away, wall.axis))
        aside = float(np.linalg.norm(away - along * np.array(wall.axis)))
        beyond = max(0.0, abs(along) - wall.length / 2)
        apart = math.hypot(aside, beyond) - wall.radius if wall.shape == "capsule" else math.hypot(max(0.0, aside - wall.radius), beyond)
        return r - apart if apart > 0 else math.nan
    if wall.shape == "cylinder":
        away = x - np.array(wall.centre)
        room = wall.radius - float(np.linalg.norm(away - np.dot(away, wall.axis) * np.array(wall.axis)))
        return r - room if room > 0 else math.nan
    assert wall.shape == "box"
    assert wall.side == "outside"
    apart = float(np.linalg.norm(x - np.clip(x, wall.lower, wall.upper)))
    return r - apart if apart > 0 else math.nan


def wall_overlaps(scene, position, orientation, x, radius):
    """{(grain, wall): overlap} of all grains with all walls, numbered through, of bodies at ``position`` with ``orientation``."""
    found, number = {}, 0
    for body, place, q in zip(scene.all_bodies, position, orientation, strict=False):
        turn = rotation(q)
        for wall in body.walls:
            for i in range(len(radius)):
                found[i, number] = depth(wall, turn.T @ (x[i] - place), radius[i])
            number += 1
    return found
