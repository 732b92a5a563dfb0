"""Edges of bodies across edges of others.

Two edges touch where they cross and each is the other's nearest, which the faces beside them tell. Of crossings that are deeper in than the
two bodies are by their faces none is the way out, so they do not count. Round edges are rods: they touch where their axis is no
further away than their radius.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import device
from .body_corners import LYING
from .body_meeting import EDGE, closes, time_of_touch, velocities_at, write
from .surfaces import to_body, to_world, turned

SHALLOW = 0.05  # of the smaller radius: how deep two edges of meshes may have crossed
PARALLEL = 1e-7  # sine of the angle of two edges that do not cross
ROUNDING = 1e-9  # of a depth, and of a size


@device
def cross_edges(bodies, walls, shapes, ahead, pair, frames, limits, edges, total, between):
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
            write(between, total, parts, (nx, ny, nz), -height, point)
            total += 1
    return total


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
def between_faces(row, nx, ny, nz):
    """Whether a direction across an edge points away from both of its faces, but for ``LYING``: n = s f + t g with s, t >= 0."""
    f = row[7] * nx + row[8] * ny + row[9] * nz
    g = row[10] * nx + row[11] * ny + row[12] * nz
    c = row[7] * row[10] + row[8] * row[11] + row[9] * row[12]
    slack = -LYING * (1.0 - c * c)
    return f - c * g > slack and g - c * f > slack
