"""The contact law linearised, contact by contact: dp = e - D du, on the active set or along the central path.

Rows are those of `System`. ``balls`` (n, 2) are first row and size of every bounded part of a contact: the two tangents and the three
rolling rows with cone friction, each row alone with box friction. Its bound is g = ``coefficient`` (C, n) times the normal impulse; on the
central path a part ``base`` (C, n) [N s; N m s] may be held.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._jit import kernel
from ...array_types import BoolArray, FloatArray, IntArray

TIGHT = 1e-9  # of g^2: below it g^2 - |p|^2 drowns in rounding


class Rows(NamedTuple):
    """What the law of all R rows is made of."""

    target: FloatArray
    """(R,) b"""
    soft: FloatArray
    """(R,) Sigma"""
    firm: FloatArray
    """(R,) the softness that a step takes at least"""
    rho: FloatArray
    """(R,) length of a projected step: 1 / D"""
    balls: IntArray
    """(n, 2)"""


class Bounds(NamedTuple):
    """g = base + coefficient p_n of every ball."""

    coefficient: FloatArray
    """(C, n)"""
    base: FloatArray
    """(C, n)"""


class Interior(NamedTuple):
    """A point inside the bounds."""

    p: FloatArray
    """(R,) impulses."""
    z: FloatArray
    """(R,) û of every row as the bounds see it: it becomes that of the impulses on the way."""
    top: FloatArray
    """(C, balls) > |z| of the ball: the slip speed that the bound stands for."""
    slips: BoolArray
    """(C, balls) on its bound for good."""


class Change(NamedTuple):
    """Of a point."""

    p: FloatArray
    z: FloatArray
    top: FloatArray


@kernel
def let_slip(
    p: FloatArray, u: FloatArray, fixed: Rows, c: int, k: int, coefficient: float, base: float, law: FloatArray, e: FloatArray
) -> None:
    """Rows of an impulse that slips: p = g z / |z| with z = p - rho û; the bound g follows the normal impulse."""
    soft, firm, rho = fixed.soft, fixed.firm, fixed.rho
    first, size = fixed.balls[k]
    o = c * law.shape[1]
    g, r = base + coefficient * max(p[o], 0.0), rho[o + first]
    square = 0.0
    for i in range(o + first, o + first + size):
        square += (p[i] - r * (u[i] + soft[i] * p[i])) ** 2
    length = np.sqrt(square)
    if length == 0.0:
        for i in range(o + first, o + first + size):
            e[i] = -p[i]
        return
    part = g / length
    across = 1.0 / (1.0 - part * (1.0 - r * firm[o + first]))
    for a in range(first, first + size):
        za = (p[o + a] - r * (u[o + a] + soft[o + a] * p[o + a])) / length
        e[o + a] = coefficient * za * e[o]
        law[c, a, 0] = coefficient * za * law[c, 0, 0]
        for b in range(first, first + size):
            zb = (p[o + b] - r * (u[o + b] + soft[o + b] * p[o + b])) / length
            other = (1.0 if a == b else 0.0) - za * zb
            law[c, a, b] = part * r * across * other
            e[o + a] -= (za * zb + across * other) * (p[o + b] - g * zb)


@kernel
def active_set(p: FloatArray, u: FloatArray, fixed: Rows, coefficient: FloatArray, law: FloatArray, e: FloatArray) -> None:
    """dp = e - D du of every contact, closed or open, sticking or slipping as a projected update of p would have it."""
    target, soft, firm, rho, balls = fixed
    contacts, rows = len(coefficient), law.shape[1]
    law[:] = 0.0
    for c in range(contacts):
        o = c * rows
        excess = u[o] + soft[o] * p[o] - target[o]
        if p[o] - rho[o] * excess <= 0.0:
            for i in range(o, o + rows):
                e[i] = -p[i]
            continue
        law[c, 0, 0] = 1.0 / firm[o]
        e[o] = -excess / firm[o]
        for k in range(len(balls)):
            first, size = balls[k]
            g, square = coefficient[c, k] * max(p[o], 0.0), 0.0
            for i in range(o + first, o + first + size):
                square += (p[i] - rho[i] * (u[i] + soft[i] * p[i])) ** 2
            if square <= g * g:
                for i in range(first, first + size):
                    law[c, i, i] = 1.0 / firm[o + i]
                    e[o + i] = -(u[o + i] + soft[o + i] * p[o + i]) / firm[o + i]
            else:
                let_slip(p, u, fixed, c, k, coefficient[c, k], 0.0, law, e)


@kernel
def scaling(x: FloatArray, z: FloatArray, size: int, w: FloatArray) -> float:
    """The point w (unit) and the factor eta at which the cones of x and z look alike: eta^2 (2 w w^T - J) z = x, J = diag(1, -1, ...)."""
    x1, z1 = 0.0, 0.0
    for i in range(1, size + 1):
        x1 += x[i] * x[i]
        z1 += z[i] * z[i]
    x1, z1 = np.sqrt(x1), np.sqrt(z1)
    nx, nz = np.sqrt((x[0] - x1) * (x[0] + x1)), np.sqrt((z[0] - z1) * (z[0] + z1))
    dot = 0.0
    for i in range(size + 1):
        dot += x[i] / nx * z[i] / nz
    gamma = np.sqrt(0.5 * (1.0 + dot))
    w[0] = (x[0] / nx + z[0] / nz) / (2.0 * gamma)
    for i in range(1, size + 1):
        w[i] = (x[i] / nx - z[i] / nz) / (2.0 * gamma)
    return np.sqrt(nx / nz)


@kernel
def scaled(w: FloatArray, factor: float, sign: float, x: FloatArray, size: int, out: FloatArray) -> None:
    """W x with W = factor [w0, w1^T; w1, 1 + w1 w1^T / (1 + w0)]; its inverse with sign -1 and one over the factor."""
    dot = 0.0
    for i in range(1, size + 1):
        dot += sign * w[i] * x[i]
    out[0] = factor * (w[0] * x[0] + dot)
    for i in range(1, size + 1):
        out[i] = factor * (x[i] + sign * w[i] * (x[0] + dot / (1.0 + w[0])))


@kernel
def central_path(
    at: Interior,
    u: FloatArray,
    fixed: Rows,
    bounds: Bounds,
    tau: float,
    correct: bool,
    predicted: Change,
    law: FloatArray,
    e: FloatArray,
    kept: FloatArray,
) -> None:
    """dp = e - D du of every contact towards p_n û_n = tau and (g, p_t) o (top, û_t) = (tau, 0).

    The second is taken in the scaling of Nesterov and Todd. With ``correct`` the products of the predicted change are taken off. ``kept``
    (C, balls, 3 + size) is what `follow_path` needs of it.
    """
    p, z, top, slips = at
    target, soft, _, _, balls = fixed
    coefficient, base = bounds
    dp, dz, dtop = predicted
    contacts, rows = len(coefficient), law.shape[1]
    law[:] = 0.0
    x, y, w, v, d, r = np.empty(4), np.empty(4), np.empty(4), np.empty(4), np.empty(4), np.empty(4)
    for c in range(contacts):
        o = c * rows
        weight = z[o] + soft[o] * p[o]
        law[c, 0, 0] = p[o] / weight
        e[o] = (tau - p[o] * (u[o] + soft[o] * p[o] - target[o])) / weight
        if correct:
            e[o] -= dp[o] * dz[o] / weight
        for k in range(len(balls)):
            first, size = balls[k]
            m = coefficient[c, k]
            if base[c, k] + m * p[o] <= 0.0:
                for i in range(o + first, o + first + size):
                    e[i] = -p[i]
                continue
            if slips[c, k]:
                let_slip(p, u, fixed, c, k, m, base[c, k], law, e)
                continue
            x[0], y[0] = base[c, k] + m * p[o], top[c, k]
            for i in range(size):
                x[i + 1], y[i + 1] = p[o + first + i], z[o + first + i]
            eta = scaling(x, y, size, w)
            scaled(w, eta, 1.0, y, size, v)  # the scaled point
            square = 0.0
            for i in range(1, size + 1):
                square += v[i] * v[i]
                d[i] = -2.0 * v[0] * v[i]
            d[0] = tau - v[0] * v[0] - square
            if correct:
                x[0], y[0] = m * dp[o], dtop[c, k]
                for i in range(size):
                    x[i + 1], y[i + 1] = dp[o + first + i], dz[o + first + i]
                scaled(w, 1.0 / eta, -1.0, x, size, r)
                scaled(w, eta, 1.0, y, size, x)
                for i in range(size + 1):
                    d[0] -= r[i] * x[i]
                for i in range(1, size + 1):
                    d[i] -= r[0] * x[i] + x[0] * r[i]
            across = 0.0
            for i in range(1, size + 1):
                across += v[i] * d[i]
            r[0] = (v[0] * d[0] - across) / (v[0] * v[0] - square)
            for i in range(1, size + 1):
                r[i] = (d[i] - r[0] * v[i]) / v[0]
            scaled(w, eta, 1.0, r, size, d)  # (m dp_n, dp) + W^2 (dtop, dz) = d
            long = 2.0 * w[0] * w[0] - 1.0
            pull = 2.0 * w[0] / long
            kept[c, k, 0], kept[c, k, 1] = d[0], eta * eta * long
            for i in range(1, size + 1):
                kept[c, k, 1 + i] = pull * w[i]
            # S = eta^2 (1 - 2 w1 w1^T / long): dp = (1 + soft S)^-1 (d1 - pull w1 (d0 - m dp_n) - S (du + û - z))
            wide = w[0] * w[0] - 1.0  # |w1|^2
            all_round, inwards = eta * eta / (1.0 + soft[o + first] * eta * eta), eta * eta / (long + soft[o + first] * eta * eta)
            left, inner = 1.0 / (1.0 + soft[o + first] * eta * eta), long / (long + soft[o + first] * eta * eta)
            dot = 0.0
            for i in range(1, size + 1):
                r[i] = d[i] - pull * w[i] * d[0]
                v[i] = u[o + first + i - 1] + soft[o + first] * p[o + first + i - 1] - z[o + first + i - 1]
            for a in range(1, size + 1):
                dot = 0.0
                for b in range(1, size + 1):
                    part = w[a] * w[b] / wide if wide > 0.0 else 0.0
                    one = 1.0 if a == b else 0.0
                    law[c, first + a - 1, first + b - 1] = all_round * (one - part) + inwards * part
                    dot += (left * (one - part) + inner * part) * r[b] - law[c, first + a - 1, first + b - 1] * v[b]
                follow = inner * pull * w[a] * m
                e[o + first + a - 1] = dot + follow * e[o]
                law[c, first + a - 1, 0] = follow * law[c, 0, 0]


@kernel
def reach(x: FloatArray, dx: FloatArray, size: int) -> float:
    """How much of dx leads from inside the cone x0 > |x1| to its edge."""
    a, b, c = dx[0] * dx[0], x[0] * dx[0], 0.0
    square = 0.0
    for i in range(1, size + 1):
        a -= dx[i] * dx[i]
        b -= x[i] * dx[i]
        square += x[i] * x[i]
    square = np.sqrt(square)
    c = (x[0] - square) * (x[0] + square)
    step = np.inf if dx[0] >= 0.0 else -x[0] / dx[0]
    inside = b * b - a * c
    if inside >= 0.0:
        root = np.sqrt(inside)
        if b <= 0.0 and root > b:
            step = min(step, c / (root - b))
        elif a < 0.0:
            step = min(step, (b + root) / -a)
    return step


@kernel
def follow_path(at: Interior, u: FloatArray, fixed: Rows, bounds: Bounds, kept: FloatArray, du: FloatArray, change: Change) -> float:
    """The changes of z and top that go with dp, and how much of the step leads to a bound."""
    p, z, top, slips = at
    target, soft, _, _, balls = fixed
    coefficient, base = bounds
    dp, dz, dtop = change
    contacts, rows = len(coefficient), len(p) // len(coefficient)
    step = np.inf
    x, d = np.empty(4), np.empty(4)
    for c in range(contacts):
        o = c * rows
        for i in range(o, o + rows):
            dz[i] = du[i] + soft[i] * dp[i] + u[i] + soft[i] * p[i] - target[i] - z[i]
        if dp[o] < 0.0:
            step = min(step, -p[o] / dp[o])
        if dz[o] < 0.0:
            step = min(step, -z[o] / dz[o])
        for k in range(len(balls)):
            first, size = balls[k]
            m = coefficient[c, k]
            dtop[c, k] = 0.0
            if base[c, k] + m * p[o] <= 0.0 or slips[c, k]:
                continue
            dtop[c, k] = (kept[c, k, 0] - m * dp[o]) / kept[c, k, 1]
            x[0], d[0] = base[c, k] + m * p[o], m * dp[o]
            for i in range(size):
                dtop[c, k] -= kept[c, k, 2 + i] * dz[o + first + i]
                x[i + 1], d[i + 1] = p[o + first + i], dp[o + first + i]
            step = min(step, reach(x, d, size))
            x[0], d[0] = top[c, k], dtop[c, k]
            for i in range(size):
                x[i + 1], d[i + 1] = z[o + first + i], dz[o + first + i]
            step = min(step, reach(x, d, size))
    return step


@kernel
def products(at: Interior, balls: IntArray, bounds: Bounds) -> tuple[float, float]:
    """Mean and least eigenvalue of the products that shall become tau."""
    p, z, top, slips = at
    coefficient, base = bounds
    contacts, rows = len(coefficient), len(p) // len(coefficient)
    total, count, least = 0.0, 0, np.inf
    for c in range(contacts):
        o = c * rows
        total, count, least = total + p[o] * z[o], count + 1, min(least, p[o] * z[o])
        for k in range(len(balls)):
            first, size = balls[k]
            g = base[c, k] + coefficient[c, k] * p[o]
            if g <= 0.0 or slips[c, k]:
                continue
            product, px, zx = g * top[c, k], 0.0, 0.0
            for i in range(o + first, o + first + size):
                product += p[i] * z[i]
                px += p[i] * p[i]
                zx += z[i] * z[i]
            px, zx = np.sqrt(px), np.sqrt(zx)
            spread = (g - px) * (g + px) * (top[c, k] - zx) * (top[c, k] + zx)
            total, count, least = total + product, count + 1, min(least, np.sqrt(max(spread, 0.0)))
    return total / max(1, count), least


@kernel
def choose_slips(u: FloatArray, fixed: Rows, coefficient: FloatArray, tau: float, at: Interior) -> None:
    """Impulses so near their bound that rounding hides the distance slip from now on, until a projected update takes them off it."""
    p, z, top, slips = at
    soft, rho, balls = fixed.soft, fixed.rho, fixed.balls
    rows = len(p) // len(slips)
    for c in range(len(slips)):
        o = c * rows
        for k in range(len(balls)):
            first, size = balls[k]
            g, square, goal = coefficient[c, k] * p[o], 0.0, 0.0
            for i in range(o + first, o + first + size):
                square += p[i] * p[i]
                goal += (p[i] - rho[i] * (u[i] + soft[i] * p[i])) ** 2
            if g <= 0.0:
                continue
            if not slips[c, k]:
                slips[c, k] = g * g - square < TIGHT * g * g and goal > g * g
            elif goal <= g * g:
                slips[c, k] = False
                part = min(1.0, (1.0 - 1e3 * TIGHT) * g / np.sqrt(max(square, 1e-300)))
                left = tau / (g * g - part * part * square)
                top[c, k] = left * g
                for i in range(o + first, o + first + size):
                    p[i] *= part
                    z[i] = -left * p[i]
