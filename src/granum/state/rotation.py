"""Rotations by unit quaternions, w first."""

from __future__ import annotations

import math

import numpy as np

from .._jit import FloatArray, device


@device
def turn(q, k, wx, wy, wz, h):
    """Turn quaternion ``q[k]`` by the spin (wx, wy, wz) [rad/s], world axes, for ``h`` [s]: exact for a steady spin."""
    speed = math.sqrt(wx * wx + wy * wy + wz * wz)
    half = 0.5 * speed * h
    # sin(x)/x to fourth order where the division would be 0/0
    f = 0.5 * h * (1.0 - half * half / 6.0) if half < 1e-4 else math.sin(half) / speed
    c, x, y, z = math.cos(half), f * wx, f * wy, f * wz
    a, b, d, e = q[k, 0], q[k, 1], q[k, 2], q[k, 3]
    w0 = c * a - x * b - y * d - z * e
    w1 = c * b + x * a + y * e - z * d
    w2 = c * d + y * a + z * b - x * e
    w3 = c * e + z * a + x * d - y * b
    f = 1.0 / math.sqrt(w0 * w0 + w1 * w1 + w2 * w2 + w3 * w3)
    q[k, 0], q[k, 1], q[k, 2], q[k, 3] = w0 * f, w1 * f, w2 * f, w3 * f


def matrix(quaternion: FloatArray) -> FloatArray:
    """(3, 3) rotation from the body's frame to the world."""
    w, x, y, z = np.asarray(quaternion, float) / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
