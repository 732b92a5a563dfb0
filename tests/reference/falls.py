"""Plain twins of ``scene/falls.py`` and ``scene/floors.py``: every grain against all below it, every ball against all triangles."""

from __future__ import annotations

import math

import numpy as np


def let_down_plainly(x, radius, floor, period):
    """Heights of the centres after each grain, from the lowest up, has come down onto floors and grains."""
    end = np.full(len(x), np.nan)
    done = []
    for i in np.argsort(x[:, 2], kind="stable"):
        best = x[i, 2] - floor[i]
        for j in done:
            d = x[i, :2] - x[j, :2]
            d -= np.where(period > 0, period * np.rint(d / np.where(period > 0, period, 1.0)), 0.0)
            room = (radius[i] + radius[j]) ** 2 - d @ d
            if room > 0:
                best = max(best, end[j] + math.sqrt(room))
        end[i] = min(x[i, 2], best)
        done.append(i)
    return end


def fall_to_triangles_plainly(triangles, centre, radius):
    """From a ball down to triangles (T, 3, 3): the centre's vertical line, and the radius across the slope."""
    fall = math.inf
    for a, b, c in triangles:
        normal = np.cross(b - a, c - a)
        matrix = np.stack([b - a, c - a, [0.0, 0.0, 1.0]], axis=1)
        if abs(np.linalg.det(matrix)) < 1e-12:
            continue
        u, v, above = np.linalg.solve(matrix, centre - a)
        if u >= 0 and v >= 0 and u + v <= 1 and above >= 0:
            fall = min(fall, max(0.0, above - radius * np.linalg.norm(normal) / abs(normal[2])))
    return fall
