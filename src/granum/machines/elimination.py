"""Elimination of joints: S = G M^-1 G^T + Sigma, its Cholesky factor, and K times a wrench."""

from __future__ import annotations

import math

import numpy as np

from .._jit import device

SOFT = 1e-6  # of how easily the centres of mass move and turn: the softness of a row. Loops have rows that follow from others, and are
# solvable with it


@device
def move_row(links, link, row, k):
    """Row k, of velocities of the links' centres of mass, as one of those of the bodies that the links are parts of."""
    for side in range(2):
        one, o = link[k, side], 6 * side
        if one >= 0:
            x, y, z = links.arm[one, 0], links.arm[one, 1], links.arm[one, 2]
            if x != 0.0 or y != 0.0 or z != 0.0:
                row[k, o + 3] += y * row[k, o + 2] - z * row[k, o + 1]
                row[k, o + 4] += z * row[k, o] - x * row[k, o + 2]
                row[k, o + 5] += x * row[k, o + 1] - y * row[k, o]


@device
def push_rows(links, link, row, k, pushed):
    """M^-1 G^T of row k."""
    for side in range(2):
        one = link[k, side]
        for i in range(6):
            total = 0.0
            if one >= 0:
                for f in range(6):
                    total += links.inverse[one, i, f] * row[k, 6 * side + f]
            pushed[k, 6 * side + i] = total


@device
def softness_of(links, link, row, k):
    """Sigma of row k, from the masses and the largest moments of inertia: lever arms and slender bodies do not make joints soft."""
    total = 0.0
    for side in range(2):
        one = link[k, side]
        if one < 0:
            continue
        a = links.inverse[one]
        slides = row[k, 6 * side] ** 2 + row[k, 6 * side + 1] ** 2 + row[k, 6 * side + 2] ** 2
        if slides > 0.0:
            total += slides * max(a[0, 0], a[1, 1], a[2, 2])
        else:
            # 1 / trace of the inertia, by cofactors of its inverse
            xx, yy, zz, xy, xz, yz = a[3, 3], a[4, 4], a[5, 5], a[3, 4], a[3, 5], a[4, 5]
            cx, cy, cz = yy * zz - yz * yz, xx * zz - xz * xz, xx * yy - xy * xy
            trace = xx + yy + zz
            if cx + cy + cz > 1e-12 * trace * trace:
                total += (xx * cx - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz)) / (cx + cy + cz)
            else:  # but for one axis all are locked
                total += trace
    return SOFT * total if total > 0.0 else SOFT  # of a row that nothing can move


@device
def product(links_a, row_a, i, links_b, row_b, k):
    """Of row i of the first with row k of the second, over the links that they share."""
    total = 0.0
    for s in range(2):
        for t in range(2):
            if links_a[i, s] >= 0 and links_a[i, s] == links_b[k, t]:
                for f in range(6):
                    total += row_a[i, 6 * s + f] * row_b[k, 6 * t + f]
    return total


@device
def factorise(links, m):
    """The Cholesky factor of S of machine m; sums in the order of indices."""
    rows = links.rows
    first, count, o = rows.first[m], rows.first[m + 1] - rows.first[m], np.int64(rows.factor_first[m])
    factor = rows.factor
    for i in range(count):
        for j in range(i + 1):
            value = product(rows.link, rows.row, first + i, rows.link, rows.pushed, first + j)
            if i == j:
                value += rows.softness[first + i]
            for k in range(j):
                value -= factor[o + i * count + k] * factor[o + j * count + k]
            factor[o + i * count + j] = math.sqrt(value) if i == j else value / factor[o + j * count + j]


@device
def solve_rows(links, m, x):
    """S^-1 x for the rows of machine m, in place; x is (R,), of all machines."""
    rows = links.rows
    first, count, o = rows.first[m], rows.first[m + 1] - rows.first[m], np.int64(rows.factor_first[m])
    factor = rows.factor
    for i in range(count):
        value = x[first + i]
        for k in range(i):
            value -= factor[o + i * count + k] * x[first + k]
        x[first + i] = value / factor[o + i * count + i]
    for i in range(count - 1, -1, -1):
        value = x[first + i]
        for k in range(i + 1, count):
            value -= factor[o + k * count + i] * x[first + k]
        x[first + i] = value / factor[o + i * count + i]


@device
def row_speed(link, row, k, velocity):
    """G V of row k; velocity (L, 6)."""
    total = 0.0
    for side in range(2):
        if link[k, side] >= 0:
            for f in range(6):
                total += row[k, 6 * side + f] * velocity[link[k, side], f]
    return total


@device
def add_rows(links, m, x, velocity):
    """V += M^-1 G^T x for the rows of machine m."""
    rows = links.rows
    for k in range(rows.first[m], rows.first[m + 1]):
        for side in range(2):
            if rows.link[k, side] >= 0:
                for f in range(6):
                    velocity[rows.link[k, side], f] += rows.pushed[k, 6 * side + f] * x[k]


@device
def respond(links, m, wrench, out):
    """K times a wrench (L, 6) on the links of machine m; out (L, 6)."""
    rows = links.rows
    x = rows.work
    for k in range(rows.first[m], rows.first[m + 1]):
        x[k] = row_speed(rows.link, rows.pushed, k, wrench)
    solve_rows(links, m, x)
    for one in range(links.first[m], links.first[m + 1]):
        for i in range(6):
            total = 0.0
            for f in range(6):
                total += links.inverse[one, i, f] * wrench[one, f]
            out[one, i] = total
    for k in range(rows.first[m], rows.first[m + 1]):
        x[k] = -x[k]
    add_rows(links, m, x, out)
