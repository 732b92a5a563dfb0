"""Cholesky factors A = U^T U of matrices on contact networks, front by front, in blocks of m x m numbers per grain (m = 1, 2 or 3).

Multifrontal: each front of the elimination order (``fronts.py``) is a dense matrix to which the entries of A and what its children
have left over are added; its own rows are eliminated, and what is left of its border is handed to its parent, in one compiled call.

Layout. Columns stand in groups of four (``squares.py``); only the upper triangle (in squares of 4 x 4) is kept. The rows of a front (its
part of U) go straight into the factor, filled up to a multiple of four by ones on the diagonal; what is left for the parent lies on one of
two stacks, by the parity of the front's depth. On the diagonal of U its inverse is kept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import kernel
from ..array_types import FloatArray, IntArray, LongArray
from .fronts import EdgePlaces, Fronts
from .squares import SIDE, SQUARE, add_apart, add_row, solve_squares, update_squares


class Layout(NamedTuple):
    """Where the numbers of F fronts stand, for one size of blocks."""

    start: LongArray  # (F + 1,) where the rows of each front begin in the factor, and their end
    stack: LongArray  # (F,) which of the two stacks holds what a front leaves over
    stacked: LongArray  # (F,) its place on that stack
    room: LongArray  # (2,) numbers on each stack, at most


class Front(NamedTuple):
    """One front that is being filled."""

    m: int  # numbers of a node
    nodes: int  # of its own
    own: int  # groups of columns of its own
    begin: int  # of its rows in the factor
    left_over: int  # place on its stack of what it leaves over


@kernel
def group_start(begin: int, own: int, group: int) -> int:
    """Where a group of columns begins in the rows of a front that has ``own`` groups of its own."""
    if group < own:
        return begin + 8 * group * (group + 1)
    return begin + 8 * own * (own + 1) + (group - own) * SQUARE * own


@kernel
def factorise_square(factor: FloatArray, at: int) -> bool:
    """R of the square A = R^T R that begins at ``at``, in place, with inverses on the diagonal; whether all pivots were positive."""
    for r in range(SIDE):
        pivot = factor[at + SIDE * r + r]
        if not 0.0 < pivot < np.inf:
            return False
        inverse = 1.0 / np.sqrt(pivot)
        factor[at + SIDE * r + r] = inverse
        for x in range(r + 1, SIDE):
            factor[at + SIDE * r + x] *= inverse
        for y in range(r + 1, SIDE):
            for x in range(y, SIDE):
                factor[at + SIDE * y + x] -= factor[at + SIDE * r + y] * factor[at + SIDE * r + x]
    return True


@kernel
def eliminate(factor: FloatArray, rest: FloatArray, begin: int, own: int, border: int, left_over: int) -> bool:
    """Factorise one front: ``own`` groups of its own columns, then ``border`` groups; whether all pivots were positive.

    Its rows begin at ``factor[begin]``, what is left over at ``rest[left_over]``. Three groups at a time, from left to right, each from
    top to bottom; the first are fewer, so that the long ones are whole.
    """
    groups = own + border
    for j in range(groups % 3 - 3, groups, 3):
        b0, b1, b2 = group_start(begin, own, j), group_start(begin, own, j + 1), group_start(begin, own, j + 2)
        for i in range(min(j, own)):
            s = SQUARE * i
            solve_squares(factor, factor, begin + 8 * i * (i + 1), SIDE * i, (b0, b1, b2), (b0 + s, b1 + s, b2 + s))
        h = j - own
        c0, c1, c2 = left_over + 8 * h * (h + 1), left_over + 8 * (h + 1) * (h + 2), left_over + 8 * (h + 2) * (h + 3)
        for i in range(own, j):
            s = SQUARE * (i - own)
            update_squares(factor, rest, group_start(begin, own, i), SIDE * own, (b0, b1, b2), (c0 + s, c1 + s, c2 + s))
        for k in range(max(j, 0), j + 3):  # the squares at the diagonal and right of it
            a = group_start(begin, own, k)
            if k < own:
                s = SQUARE * k
                update_squares(factor, factor, a, SIDE * k, (a,), (a + s,))
                if not factorise_square(factor, a + s):
                    return False
                if k == j:
                    solve_squares(factor, factor, a, SIDE * k, (b1, b2), (b1 + s, b2 + s))
                elif k == j + 1:
                    solve_squares(factor, factor, a, SIDE * k, (b2,), (b2 + s,))
            else:
                s = SQUARE * (k - own)
                if k == j:
                    update_squares(factor, rest, a, SIDE * own, (b0, b1, b2), (c0 + s, c1 + s, c2 + s))
                elif k == j + 1:
                    update_squares(factor, rest, a, SIDE * own, (b1, b2), (c1 + s, c2 + s))
                else:
                    update_squares(factor, rest, a, SIDE * own, (b2,), (c2 + s,))
    return True


@kernel
def extend(
    source: FloatArray,
    start: int,
    within: IntArray,
    first: int,
    last: int,
    front: Front,
    row: LongArray,
    factor: FloatArray,
    rest: FloatArray,
) -> None:
    """Add what a child has left over, from ``source[start]`` on, to its parent's front.

    ``within[first : last]`` says where the nodes of its border stand in the parent; ``row`` is room for the numbers of its border.
    """
    m, nodes, own, begin, left_over = front
    numbers = m * (last - first)
    split = 0  # numbers of the child's border that are the parent's own
    for k in range(last - first):
        node = np.int64(within[first + k])
        place = m * node
        if node < nodes:
            split += m
        else:
            place = SIDE * own + m * (node - nodes)
        for x in range(m):
            row[m * k + x] = place + x
    for k in range(numbers, numbers + SIDE):
        row[k] = row[numbers - 1]  # nothing but zeros is added there
    at = start
    for group in range(0, numbers, SIDE):
        g0, g1, g2, g3 = row[group] // SIDE, row[group + 1] // SIDE, row[group + 2] // SIDE, row[group + 3] // SIDE
        x0, x1, x2, x3 = row[group] % SIDE, row[group + 1] % SIDE, row[group + 2] % SIDE, row[group + 3] % SIDE
        upper = (
            group_start(begin, own, g0) + x0,
            group_start(begin, own, g1) + x1,
            group_start(begin, own, g2) + x2,
            group_start(begin, own, g3) + x3,
        )
        g0, g1, g2, g3 = g0 - own, g1 - own, g2 - own, g3 - own
        shift = left_over - SQUARE * own
        lower = (
            shift + 8 * g0 * (g0 + 1) + x0,
            shift + 8 * g1 * (g1 + 1) + x1,
            shift + 8 * g2 * (g2 + 1) + x2,
            shift + 8 * g3 * (g3 + 1) + x3,
        )
        middle = min(split, group)
        if upper[1] == upper[0] + 1 and upper[2] == upper[0] + 2 and upper[3] == upper[0] + 3:
            for i in range(middle):
                add_row(factor, upper[0] + SIDE * row[i], source, at + SIDE * i)
            for i in range(middle, group):
                add_row(rest, lower[0] + SIDE * row[i], source, at + SIDE * i)
        else:
            for i in range(middle):
                add_apart(factor, upper, SIDE * row[i], source, at + SIDE * i)
            for i in range(middle, group):
                add_apart(rest, lower, SIDE * row[i], source, at + SIDE * i)
        for t in range(group, min(group + SIDE, numbers)):  # the square at the diagonal
            g, x = row[t] // SIDE, row[t] % SIDE
            up, low = group_start(begin, own, g) + x, shift + 8 * (g - own) * (g - own + 1) + x
            for i in range(group, min(t + 1, split)):
                factor[up + SIDE * row[i]] += source[at + SIDE * i + t - group]
            for i in range(max(group, split), t + 1):
                rest[low + SIDE * row[i]] += source[at + SIDE * i + t - group]
        at += SIDE * (group + SIDE)


@kernel
def place_fronts(begin: IntArray, parent: IntArray, border_first: LongArray, m: int) -> tuple[LongArray, LongArray, LongArray, LongArray]:
    """The fields of a ``Layout`` for blocks of m x m numbers."""
    fronts = len(parent)
    stack = np.zeros(fronts, np.int64)
    start = np.zeros(fronts + 1, np.int64)
    stacked = np.zeros(fronts, np.int64)
    room = np.zeros(2, np.int64)
    top = np.zeros(2, np.int64)
    lowest = np.full(fronts, -1, np.int64)  # where the first child of a front lies on its stack
    for f in range(fronts - 1, -1, -1):
        if parent[f] >= 0:
            stack[f] = 1 - stack[parent[f]]
    for f in range(fronts):
        own = (m * (begin[f + 1] - begin[f]) + SIDE - 1) // SIDE
        border = (m * (border_first[f + 1] - border_first[f]) + SIDE - 1) // SIDE
        start[f + 1] = group_start(start[f], own, own + border)
        stacked[f] = top[stack[f]]
        top[stack[f]] += SQUARE * border * (border + 1) // 2
        room[stack[f]] = max(room[stack[f]], top[stack[f]])
        if lowest[f] >= 0:
            top[1 - stack[f]] = lowest[f]
        if parent[f] >= 0 and lowest[parent[f]] < 0:
            lowest[parent[f]] = stacked[f]
    return start, stack, stacked, room


@kernel
def factorise_fronts(
    # in
    fronts_of: Fronts,
    edges: EdgePlaces,
    layout: Layout,
    diagonal: FloatArray,  # (N, m, m)
    off: FloatArray,  # (E, m, m)
    # out
    stack_0: FloatArray,
    stack_1: FloatArray,
    factor: FloatArray,
) -> bool:
    """The factor of all fronts; whether all pivots were positive and finite."""
    order, begin, parent, border_first, _, within = fronts_of
    edge_first, edge, row, column = edges
    start, stack, stacked, _ = layout
    m = diagonal.shape[1]
    fronts = len(parent)
    child = np.full(fronts, -1, np.int32)
    sibling = np.full(fronts, -1, np.int32)
    longest = 0
    for f in range(fronts):
        longest = max(longest, border_first[f + 1] - border_first[f])
    numbers = np.empty(m * longest + SIDE, np.int64)
    for f in range(fronts):
        nodes = begin[f + 1] - begin[f]
        own = (m * nodes + SIDE - 1) // SIDE
        border = (m * (border_first[f + 1] - border_first[f]) + SIDE - 1) // SIDE
        rows = SIDE * own
        at = start[f]
        rest, others = (stack_0, stack_1) if stack[f] == 0 else (stack_1, stack_0)
        left_over = stacked[f]
        front = Front(m, nodes, own, at, left_over)
        factor[at : start[f + 1]] = 0.0
        rest[left_over : left_over + SQUARE * border * (border + 1) // 2] = 0.0
        for k in range(m * nodes, rows):
            factor[group_start(at, own, k // SIDE) + SIDE * k + k % SIDE] = 1.0
        for k in range(nodes):
            i = order[begin[f] + k]
            for y in range(m):
                c = m * k + y
                base = group_start(at, own, c // SIDE) + c % SIDE
                for x in range(y + 1):
                    factor[base + SIDE * (m * k + x)] = diagonal[i, x, y]
        for e in range(edge_first[f], edge_first[f + 1]):
            k = edge[e]
            for y in range(m):
                c = m * column[e] + y if column[e] < nodes else rows + m * (column[e] - nodes) + y
                base = group_start(at, own, c // SIDE) + c % SIDE
                for x in range(m):
                    factor[base + SIDE * (m * row[e] + x)] += off[k, x, y] if k >= 0 else off[-1 - k, y, x]
        c = child[f]
        while c >= 0:
            extend(others, stacked[c], within, border_first[c], border_first[c + 1], front, numbers, factor, rest)
            c = sibling[c]
        if not eliminate(factor, rest, at, own, border, left_over):
            return False
        if parent[f] >= 0:
            sibling[f] = child[parent[f]]
            child[parent[f]] = f
    return True
