"""Rotations by unit quaternions, w first."""

from __future__ import annotations

import math

import numpy as np

from .._jit import as_written, device
from ..arithmetic import arctan2, cos, length, sin
from ..arithmetic.elementary import sincos
from ..array_types import FloatArray


@device
def turn(q, k, wx, wy, wz, h):
    """Turn quaternion ``q[k]`` by the spin (wx, wy, wz) [rad/s], world axes, for ``h`` [s]: exact for a steady spin."""
    square = 0.25 * h * h * (wx * wx + wy * wy + wz * wz)  # of half the angle
    if square < 0.1:  # series of sin(x)/x and cos(x), exact to rounding here
        f = 1.0 + square * (
            -1.0 / 6.0
            + square
            * (
                1.0 / 120.0
                + square * (-1.0 / 5040.0 + square * (1.0 / 362880.0 + square * (-1.0 / 39916800.0 + square * (1.0 / 6227020800.0))))
            )
        )
        c = 1.0 + square * (
            -1.0 / 2.0
            + square
            * (1.0 / 24.0 + square * (-1.0 / 720.0 + square * (1.0 / 40320.0 + square * (-1.0 / 3628800.0 + square * (1.0 / 479001600.0)))))
        )
    else:
        half = math.sqrt(square)
        s, c = sincos(half)
        f = s / half
    f *= 0.5 * h
    x, y, z = f * wx, f * wy, f * wz
    a, b, d, e = q[k, 0], q[k, 1], q[k, 2], q[k, 3]
    w0 = c * a - x * b - y * d - z * e
    w1 = c * b + x * a + y * e - z * d
    w2 = c * d + y * a + z * b - x * e
    w3 = c * e + z * a + x * d - y * b
    f = 1.5 - 0.5 * (w0 * w0 + w1 * w1 + w2 * w2 + w3 * w3)  # 1 / length, to rounding, as the length is 1 but for rounding
    q[k, 0], q[k, 1], q[k, 2], q[k, 3] = w0 * f, w1 * f, w2 * f, w3 * f


@as_written
def axes_of(q, k):
    """The rotation from the body's frame to the world of quaternion ``q[k]``: the nine numbers that ``matrices`` gives, row by row."""
    size = math.sqrt(q[k, 0] * q[k, 0] + q[k, 1] * q[k, 1] + q[k, 2] * q[k, 2] + q[k, 3] * q[k, 3])
    w, x, y, z = q[k, 0] / size, q[k, 1] / size, q[k, 2] / size, q[k, 3] / size
    first = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)
    second = 2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)
    third = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)
    return *first, *second, *third


@as_written
def to_world(axes, x, y, z):
    """A vector given in the body's frame, in world axes."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = axes
    return xx * x + xy * y + xz * z, yx * x + yy * y + yz * z, zx * x + zy * y + zz * z


@as_written
def to_body(axes, x, y, z):
    """A vector given in world axes, in the body's frame."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = axes
    return xx * x + yx * y + zx * z, xy * x + yy * y + zy * z, xz * x + yz * y + zz * z


def matrices(quaternion: FloatArray) -> FloatArray:
    """(n, 3, 3) rotations from the bodies' frames to the world, of (n, 4) quaternions."""
    w, x, y, z = (np.asarray(quaternion, float) / length(quaternion)[:, None]).T
    found = np.empty((len(quaternion), 3, 3))
    found[:, 0, 0], found[:, 0, 1], found[:, 0, 2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    found[:, 1, 0], found[:, 1, 1], found[:, 1, 2] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    found[:, 2, 0], found[:, 2, 1], found[:, 2, 2] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
    return found


def matrix(quaternion: FloatArray) -> FloatArray:
    """(3, 3) rotation from the body's frame to the world."""
    return matrices(np.asarray(quaternion, float)[None])[0]


def quaternion_product(a: FloatArray, b: FloatArray) -> FloatArray:
    """(..., 4) a b: the turn b, then the turn a."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    p, x, y, z = (a[..., k] for k in range(4))
    q, u, v, w = (b[..., k] for k in range(4))
    return np.stack(
        [p * q - x * u - y * v - z * w, p * u + x * q + y * w - z * v, p * v + y * q + z * u - x * w, p * w + z * q + x * v - y * u],
        axis=-1,
    )


def conjugate(q: FloatArray) -> FloatArray:
    """(..., 4) the turns back."""
    return np.asarray(q, float) * np.array([1.0, -1.0, -1.0, -1.0])


def quaternions(turn: FloatArray) -> FloatArray:
    """(..., 4) of turns about the vectors ``turn`` (..., 3) by their lengths [rad]."""
    turn = np.asarray(turn, float)
    half = 0.5 * np.asarray(length(turn))
    small = half < 1e-4
    part = np.where(small, 1.0 - half * half / 6.0, np.asarray(sin(half)) / np.where(small, 1.0, half))
    return np.concatenate([np.asarray(cos(half))[..., None], 0.5 * part[..., None] * turn], axis=-1)


def rotation_vectors(q: FloatArray) -> FloatArray:
    """(..., 3) vectors [rad] of unit quaternions (..., 4): the axis times the angle, by the shorter way round."""
    q = np.asarray(q, float)
    size = np.asarray(length(q[..., 1:]))
    angle = 2.0 * np.asarray(arctan2(size, np.abs(q[..., 0])))
    small = size < 1e-9
    factor = np.where(small, 2.0, angle / np.where(small, 1.0, size))
    return np.asarray((np.where(q[..., 0] < 0.0, -factor, factor))[..., None] * q[..., 1:])
