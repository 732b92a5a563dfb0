"""How a free body turns: its angular momentum stays, its spin does not (machines 2).

In the principal axes of the body the energy is H = l1^2 / 2 I1 + l2^2 / 2 I2 + l3^2 / 2 I3. With the middle moment Im taken out,

    H = l^2 / 2 Im + (1 / I1 - 1 / Im) l1^2 / 2 + (1 / I3 - 1 / Im) l3^2 / 2,

the first term turns the body about its angular momentum, and commutes with all others; each of the others turns it about an axis of its
own. All of them are exact, and the last two are put together as half of one, all of the other, half of the first: the splitting of
Dullweber, Leimkuhler and McLachlan (1997). It keeps the angular momentum, its energy stays within O(h^2) for ever, and tops with two equal
moments turn exactly.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import device, kernel
from ..arithmetic.elementary import arctangent, sincos
from ..array_types import FloatArray, IntArray

SWEEPS = 12  # of Jacobi's method, which needs five or so


@device
def _turn_about(axis, angle, q, own):
    """Turn the body by ``angle`` [rad] about one of its axes: the quaternion q, and the angular momentum ``own`` as the body sees it."""
    s, c = sincos(0.5 * angle)
    j, k = (axis + 1) % 3, (axis + 2) % 3
    w, x, y, z = q[0], q[1 + axis], q[1 + j], q[1 + k]
    q[0], q[1 + axis], q[1 + j], q[1 + k] = c * w - s * x, c * x + s * w, c * y + s * z, c * z - s * y
    sine, cosine = 2.0 * s * c, (c - s) * (c + s)
    own[j], own[k] = cosine * own[j] + sine * own[k], cosine * own[k] - sine * own[j]


@device
def _free_turn(axes, moments, momentum, h, q, own):
    """Turn ``q`` (4,), world axes, of a free body over ``h`` [s]; ``own`` (3,) is room to work in.

    ``axes`` (3, 3) has the principal axes as columns, ``momentum`` (3,) is the angular momentum in world axes [kg m^2/s].
    """
    low, high = 0, 0
    for k in range(1, 3):
        if moments[k] < moments[low]:
            low = k
        if not moments[k] < moments[high]:
            high = k
    middle = 3 - low - high
    for k in range(3):
        own[k] = axes[0, k] * momentum[0] + axes[1, k] * momentum[1] + axes[2, k] * momentum[2]
    q[0], q[1], q[2], q[3] = 1.0, 0.0, 0.0, 0.0
    slow = 1.0 / moments[middle]
    _turn_about(low, 0.5 * h * (1.0 / moments[low] - slow) * own[low], q, own)
    _turn_about(high, h * (1.0 / moments[high] - slow) * own[high], q, own)
    _turn_about(low, 0.5 * h * (1.0 / moments[low] - slow) * own[low], q, own)
    b, c, d, e = q[0], q[1], q[2], q[3]
    x = axes[0, 0] * c + axes[0, 1] * d + axes[0, 2] * e
    y = axes[1, 0] * c + axes[1, 1] * d + axes[1, 2] * e
    z = axes[2, 0] * c + axes[2, 1] * d + axes[2, 2] * e
    size = math.sqrt(momentum[0] * momentum[0] + momentum[1] * momentum[1] + momentum[2] * momentum[2])
    s, a = sincos(0.5 * h * slow * size)
    f = s / size if size > 0.0 else 0.0
    u, v, w = f * momentum[0], f * momentum[1], f * momentum[2]
    q[0] = a * b - u * x - v * y - w * z
    q[1] = a * x + u * b + v * z - w * y
    q[2] = a * y + v * b + w * x - u * z
    q[3] = a * z + w * b + u * y - v * x


@device
def _axes_of(q, axes):
    """``axes`` (3, 3) receives the rotation of the unit quaternion ``q``, from the body's axes to the world's."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    axes[0, 0], axes[0, 1], axes[0, 2] = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)
    axes[1, 0], axes[1, 1], axes[1, 2] = 2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)
    axes[2, 0], axes[2, 1], axes[2, 2] = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)


@device
def _apply(axes, factor, vector, own, out):
    """``out`` = R diag(factor) R^T ``vector`` with R of ``axes``; ``own`` (3,) is room to work in."""
    for k in range(3):
        own[k] = factor[k] * (axes[0, k] * vector[0] + axes[1, k] * vector[1] + axes[2, k] * vector[2])
    for k in range(3):
        out[k] = axes[k, 0] * own[0] + axes[k, 1] * own[1] + axes[k, 2] * own[2]


@kernel
def turn_free(orientation: FloatArray, spin: FloatArray, moments: FloatArray, rows: IntArray, h: float) -> None:
    """Turn the free bodies of these rows over ``h`` [s]: ``orientation`` (B, 4) and ``spin`` (B, 3) [rad/s], world axes.

    ``moments`` (F, 3) are the principal ones [kg m^2], about the axes of each body.
    """
    axes, q, own, momentum, inverse = np.empty((3, 3)), np.empty(4), np.empty(3), np.empty(3), np.empty(3)
    for n in range(len(rows)):
        k = rows[n]
        if spin[k, 0] == 0.0 and spin[k, 1] == 0.0 and spin[k, 2] == 0.0:
            continue
        o = orientation[k]
        _axes_of(o, axes)
        _apply(axes, moments[k], spin[k], own, momentum)
        _free_turn(axes, moments[k], momentum, h, q, own)
        a, b, c, d = q[0] * o[0], q[0] * o[1], q[0] * o[2], q[0] * o[3]
        a, b = a - q[1] * o[1] - q[2] * o[2] - q[3] * o[3], b + q[1] * o[0] + q[2] * o[3] - q[3] * o[2]
        c, d = c + q[2] * o[0] + q[3] * o[1] - q[1] * o[3], d + q[3] * o[0] + q[1] * o[2] - q[2] * o[1]
        length = math.sqrt(a * a + b * b + c * c + d * d)
        o[0], o[1], o[2], o[3] = a / length, b / length, c / length, d / length
        _axes_of(o, axes)
        for f in range(3):
            inverse[f] = 1.0 / moments[k, f]
        _apply(axes, inverse, momentum, own, spin[k])


@device
def _principal_axes(inertia, axes, left):
    """Jacobi's method: ``axes`` (3, 3) receives the principal axes of ``inertia`` (3, 3) as columns, ``left`` the moments on its
    diagonal."""
    for i in range(3):
        for j in range(3):
            left[i, j], axes[i, j] = inertia[i, j], 1.0 if i == j else 0.0
    for _ in range(SWEEPS):
        if left[0, 1] == 0.0 and left[0, 2] == 0.0 and left[1, 2] == 0.0:
            return
        for i in range(2):
            for j in range(i + 1, 3):
                if abs(left[i, j]) <= 1e-17 * (abs(left[i, i]) + abs(left[j, j])):
                    left[i, j] = left[j, i] = 0.0
                    continue
                ratio = 0.5 * (left[j, j] - left[i, i]) / left[i, j]
                t = 1.0 / (abs(ratio) + math.sqrt(ratio * ratio + 1.0))
                t = -t if ratio < 0.0 else t
                c = 1.0 / math.sqrt(t * t + 1.0)
                s, k = t * c, 3 - i - j
                left[i, i], left[j, j] = left[i, i] - t * left[i, j], left[j, j] + t * left[i, j]
                left[i, j] = left[j, i] = 0.0
                a, b = left[k, i], left[k, j]
                left[k, i], left[k, j] = c * a - s * b, s * a + c * b
                left[i, k], left[j, k] = left[k, i], left[k, j]
                for f in range(3):
                    a, b = axes[f, i], axes[f, j]
                    axes[f, i], axes[f, j] = c * a - s * b, s * a + c * b


@kernel
def principal_axes(inertia: FloatArray, moments: FloatArray, axes: FloatArray) -> None:
    """``moments`` (3,) and ``axes`` (3, 3), as columns, of a symmetric matrix (3, 3)."""
    left = np.empty((3, 3))
    _principal_axes(inertia, axes, left)
    for f in range(3):
        moments[f] = left[f, f]


@kernel
def mean_spins(inertia: FloatArray, spin: FloatArray, h: float, mean: FloatArray) -> None:
    """``mean`` (n, 3) receives the steady spins [rad/s] that turn free bodies over ``h`` [s] as their own motion does.

    ``inertia`` (n, 3, 3) [kg m^2] and ``spin`` (n, 3) [rad/s] are those at the start, in world axes.
    """
    axes, left, q, own, momentum, moments = np.empty((3, 3)), np.empty((3, 3)), np.empty(4), np.empty(3), np.empty(3), np.empty(3)
    for n in range(len(spin)):
        mean[n] = spin[n]
        if spin[n, 0] == 0.0 and spin[n, 1] == 0.0 and spin[n, 2] == 0.0:
            continue
        for f in range(3):
            momentum[f] = inertia[n, f, 0] * spin[n, 0] + inertia[n, f, 1] * spin[n, 1] + inertia[n, f, 2] * spin[n, 2]
        _principal_axes(inertia[n], axes, left)
        for f in range(3):
            moments[f] = left[f, f]
        _free_turn(axes, moments, momentum, h, q, own)
        size = math.sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
        if size > 0.0:  # the shorter way round
            rate = math.copysign(2.0 * arctangent(size, abs(q[0])) / (h * size), q[0])
            for f in range(3):
                mean[n, f] = rate * q[1 + f]
