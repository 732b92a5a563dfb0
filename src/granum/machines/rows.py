"""Rows of joints: how fast the two bodies of a joint leave it, and how far they are from it.

A row of a translation along t is [-t, -d_a x t, t, d_b x t], one of a turn about t [0, -t, 0, t], with lever arms d from the centres of
mass of a and b to the anchor of b. Directions are fixed in a, and so the arm of a reaches to the anchor of b, not to its own.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import device, kernel
from ..arithmetic.elementary import arctangent
from ..state.bodies import BodyArrays
from .groups import BALL, CYLINDER, CYLINDRICAL, FIXED, HINGE, ROD, SLIDER, UNIVERSAL, JointTable


@device
def rotated(q, k, x, y, z):
    """A vector of body k's frame in world axes."""
    w, a, b, c = q[k, 0], q[k, 1], q[k, 2], q[k, 3]
    tx, ty, tz = 2.0 * (b * z - c * y), 2.0 * (c * x - a * z), 2.0 * (a * y - b * x)
    return x + w * tx + b * tz - c * ty, y + w * ty + c * tx - a * tz, z + w * tz + a * ty - b * tx


@device
def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@device
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@device
def slide_row(out, k, t, arm_a, arm_b):
    """Row k: b against a along t."""
    ca, cb = cross(arm_a, t), cross(arm_b, t)
    for f in range(3):
        out[k, f], out[k, 3 + f], out[k, 6 + f], out[k, 9 + f] = -t[f], -ca[f], t[f], cb[f]


@device
def turn_row(out, k, t):
    """Row k: b against a about t."""
    for f in range(3):
        out[k, f], out[k, 3 + f], out[k, 6 + f], out[k, 9 + f] = 0.0, -t[f], 0.0, t[f]


@device
def pose(table, bodies, j):
    """Anchors of both, lever arms to the anchor of b and to their own, and axes of a and b, world axes [m]."""
    a, b = table.body[j, 0], table.body[j, 1]
    x, q, anchor = bodies.position, bodies.orientation, table.anchor
    oa = rotated(q, a, anchor[j, 0, 0], anchor[j, 0, 1], anchor[j, 0, 2])
    ob = rotated(q, b, anchor[j, 1, 0], anchor[j, 1, 1], anchor[j, 1, 2])
    d = x[b, 0] + ob[0] - x[a, 0] - oa[0], x[b, 1] + ob[1] - x[a, 1] - oa[1], x[b, 2] + ob[2] - x[a, 2] - oa[2]
    arm_a = d[0] + oa[0], d[1] + oa[1], d[2] + oa[2]
    return d, oa, arm_a, ob


@device
def axis_of(table, bodies, j, side, k):
    """Axis k (0: u) of body a (side 0) or b, world axes."""
    e = table.axes
    return rotated(bodies.orientation, table.body[j, side], e[j, side, k, 0], e[j, side, k, 1], e[j, side, k, 2])


@device
def angle_about(table, bodies, j, u):
    """Angle [rad] from a to b about u."""
    ra, rb = axis_of(table, bodies, j, 0, 1), axis_of(table, bodies, j, 1, 1)
    return arctangent(dot(u, cross(ra, rb)), dot(ra, rb))


@device
def joint_rows(table, bodies, j, row, gap):
    """All rows of joint j."""
    kind, k = table.kind[j], np.int64(table.first_row[j])
    d, own_arm, arm_a, arm_b = pose(table, bodies, j)
    if kind == CYLINDER:
        return
    if kind == ROD:
        size = math.sqrt(dot(d, d))
        slide_row(row, k, (d[0] / size, d[1] / size, d[2] / size), own_arm, arm_b)
        gap[k] = size - table.length[j]
        return
    u = axis_of(table, bodies, j, 0, 0)
    t1, t2 = axis_of(table, bodies, j, 0, 1), axis_of(table, bodies, j, 0, 2)
    if kind in (BALL, HINGE, UNIVERSAL, FIXED):
        slide_row(row, k, u, arm_a, arm_b)
        gap[k] = dot(u, d)
        k += 1
    slide_row(row, k, t1, arm_a, arm_b)
    slide_row(row, k + 1, t2, arm_a, arm_b)
    gap[k], gap[k + 1] = dot(t1, d), dot(t2, d)
    k += 2
    if kind == BALL:
        return
    other = axis_of(table, bodies, j, 1, 0)
    if kind == UNIVERSAL:
        turn_row(row, k, cross(other, u))
        gap[k] = dot(u, other)
        return
    lean = cross(u, other)
    turn_row(row, k, t1)
    turn_row(row, k + 1, t2)
    gap[k], gap[k + 1] = dot(t1, lean), dot(t2, lean)
    if kind in (FIXED, SLIDER):
        turn_row(row, k + 2, u)
        gap[k + 2] = angle_about(table, bodies, j, u)


@kernel
def measure_coordinate(table: JointTable, bodies: BodyArrays, j: int, near: float) -> tuple[float, float]:
    """The coordinate of joint j, an angle nearest to ``near`` [rad], and its rate."""
    row = np.zeros((1, 12))
    found = coordinate_row(table, bodies, j, 0, row)
    if table.kind[j] == HINGE:
        found += 2.0 * math.pi * math.floor((near - found) / (2.0 * math.pi) + 0.5)
    rate = 0.0
    for side in range(2):
        b = table.body[j, side]
        for f in range(3):
            rate += row[0, 6 * side + f] * bodies.velocity[b, f] + row[0, 6 * side + 3 + f] * bodies.spin[b, f]
    return found, rate


@device
def coordinate_row(table, bodies, j, k, row):
    """Row k: the rate of the coordinate of joint j; returns the coordinate, an angle from -pi to pi."""
    kind = table.kind[j]
    d, own_arm, arm_a, arm_b = pose(table, bodies, j)
    if kind in (CYLINDER, ROD):
        size = math.sqrt(dot(d, d))
        slide_row(row, k, (d[0] / size, d[1] / size, d[2] / size), own_arm, arm_b)
        return size
    u = axis_of(table, bodies, j, 0, 0)
    if kind in (SLIDER, CYLINDRICAL):
        slide_row(row, k, u, arm_a, arm_b)
        return dot(u, d)
    turn_row(row, k, u)
    return angle_about(table, bodies, j, u)
