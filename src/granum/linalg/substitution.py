"""Solving with a Cholesky factor: U^T y = rhs from the first front to the last, then U x = y back again."""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from ..array_types import FloatArray, IntArray, LongArray
from .elimination import group_start
from .squares import SIDE, SQUARE, backward, forward


@kernel
def solve_fronts(
    # in: of ``Fronts``, one by one, since a small solve takes no longer than handing over a group of arrays
    order: IntArray,
    begin: IntArray,
    border_first: LongArray,
    border: IntArray,
    start: LongArray,  # where the rows of each front begin in the factor
    m: int,
    factor: FloatArray,
    # in and out
    x: FloatArray,
) -> None:
    """Solve U^T U x = rhs in place; ``x`` is (N m, columns)."""
    fronts = len(begin) - 1
    columns = x.shape[1]
    z = np.empty((columns, len(x)))  # in the order of elimination
    for k in range(len(order)):
        for i in range(m):
            for c in range(columns):
                z[c, m * k + i] = x[m * order[k] + i, c]
    longest = 0
    for f in range(fronts):
        longest = max(longest, begin[f + 1] - begin[f] + border_first[f + 1] - border_first[f])
    y = np.empty(m * longest + 2 * SIDE)
    part = np.empty(SIDE * len(y))
    for step in range(2 * fronts):
        down = step < fronts
        f = step if down else 2 * fronts - 1 - step
        lo, hi = m * begin[f], m * begin[f + 1]
        own = (hi - lo + SIDE - 1) // SIDE
        rim, end = border_first[f], border_first[f + 1]
        groups = own + (m * (end - rim) + SIDE - 1) // SIDE
        rows = SIDE * own
        at = start[f]
        length = SIDE * rows
        for c in range(columns):
            for k in range(hi - lo):
                y[k] = z[c, lo + k]
            for k in range(hi - lo, rows):
                y[k] = 0.0
            if down:
                for k in range(rows, SIDE * groups):
                    y[k] = 0.0
                for g in range(own):
                    base = at + 8 * g * (g + 1)
                    forward(factor, (base,), SIDE * g, y, SIDE * g)
                    d, k = base + SQUARE * g, SIDE * g
                    for i in range(SIDE):
                        for r in range(i):
                            y[k + i] -= factor[d + SIDE * r + i] * y[k + r]
                        y[k + i] *= factor[d + SIDE * i + i]
                for g in range(own, groups - 2, 3):
                    base = group_start(at, own, g)
                    forward(factor, (base, base + length, base + 2 * length), rows, y, SIDE * g)
                for g in range(groups - (groups - own) % 3, groups):
                    forward(factor, (group_start(at, own, g),), rows, y, SIDE * g)
                for k in range(end - rim):
                    node = m * np.int64(border[rim + k])
                    for i in range(m):
                        z[c, node + i] += y[rows + m * k + i]
            else:
                for k in range(end - rim):
                    node = m * np.int64(border[rim + k])
                    for i in range(m):
                        y[rows + m * k + i] = z[c, node + i]
                for k in range(rows + m * (end - rim), SIDE * groups):
                    y[k] = 0.0
                part[:length] = 0.0
                for g in range(own, groups - 2, 3):
                    base = group_start(at, own, g)
                    backward(factor, (base, base + length, base + 2 * length), rows, y, SIDE * g, part)
                for g in range(groups - (groups - own) % 3, groups):
                    backward(factor, (group_start(at, own, g),), rows, y, SIDE * g, part)
                for g in range(own - 1, -1, -1):
                    base = at + 8 * g * (g + 1)
                    d, k = base + SQUARE * g, SIDE * g
                    for i in range(SIDE - 1, -1, -1):
                        p = SIDE * (k + i)
                        total = y[k + i] + ((part[p] + part[p + 1]) + (part[p + 2] + part[p + 3]))
                        for t in range(i + 1, SIDE):
                            total -= factor[d + SIDE * i + t] * y[k + t]
                        y[k + i] = total * factor[d + SIDE * i + i]
                    backward(factor, (base,), SIDE * g, y, SIDE * g, part)
            for k in range(hi - lo):
                z[c, lo + k] = y[k]
    for k in range(len(order)):
        for i in range(m):
            for c in range(columns):
                x[m * order[k] + i, c] = z[c, m * k + i]
