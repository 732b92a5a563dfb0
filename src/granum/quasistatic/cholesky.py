"""Sparse Cholesky factors A = U^T U of matrices on contact networks, in blocks of m x m numbers per grain (m = 1, 2 or 3).

Multifrontal: each front of the elimination order (``dissection.py``) is a dense matrix to which the entries of A and what its children
have left over are added; its own rows are eliminated, and what is left of its border is handed to its parent, in one compiled call.

Layout. Columns stand in groups of four, and in a group the four numbers of a row follow each other, row after row; only the upper triangle
(in squares of 4 x 4) is kept. So one row of squares times three groups is 4 x 12 sums in vector registers, through which all eliminated
rows are streamed. The rows of a front (its part of U) go straight into the factor, filled up to a multiple of four by ones on the diagonal;
what is left for the parent lies on one of two stacks, by the parity of the front's depth. On the diagonal of U its inverse is kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .._jit import FloatArray, IntArray, LongArray, kernel
from .dissection import LEAF, border_fronts, dissect, link_nodes, place_edges

SIDE = 4  # of a square
SQUARE = SIDE * SIDE
_DOUBLE, _LONG = ir.DoubleType(), ir.IntType(64)
_ROW = ir.VectorType(_DOUBLE, SIDE)


def _base(context: Any, builder: Any, signature: Any, args: Any, which: int) -> Any:
    """Address of the first number of an array argument."""
    return context.make_array(signature.args[which])(context, builder, args[which]).data


def _row_at(builder: Any, base: Any, index: Any) -> Any:
    return builder.bitcast(builder.gep(base, [index]), _ROW.as_pointer())


def _load(builder: Any, base: Any, index: Any) -> Any:
    return builder.load(_row_at(builder, base, index), align=8)


def _store(builder: Any, base: Any, index: Any, row: Any) -> None:
    builder.store(row, _row_at(builder, base, index), align=8)


def _spread(builder: Any, row: Any, lane: int) -> Any:
    """One number of a row in all its places."""
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), SIDE), [lane] * SIDE)
    return builder.shuffle_vector(row, ir.Constant(_ROW, ir.Undefined), lanes)


def _less_product(builder: Any, total: Any, x: Any, y: Any) -> Any:
    """total - x y, in one instruction where there is one."""
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(_ROW, [_ROW] * 3), f"llvm.fmuladd.v{SIDE}f64")
    return builder.call(function, [builder.fneg(x), y, total])


def _emit_squares(context: Any, builder: Any, signature: Any, args: Any, width: int, solve: bool) -> Any:
    """C -= A^T B for one square A and ``width`` squares B and C side by side; then C <- R^-T C with the square R of A's columns."""
    factor, target = (_base(context, builder, signature, args, k) for k in range(2))
    left, rows = args[2], args[3]
    right, out = args[4 : 4 + width], args[4 + width : 4 + 2 * width]
    steps = [ir.Constant(_LONG, SIDE * k) for k in range(SIDE)]
    start = [_load(builder, target, builder.add(o, step)) for o in out for step in steps]
    before = builder.block
    loop = builder.append_basic_block("row")
    after = builder.append_basic_block("done")
    end = builder.mul(rows, steps[1])
    zero = ir.Constant(_LONG, 0)
    builder.cbranch(builder.icmp_signed("<", zero, end), loop, after)
    builder.position_at_end(loop)
    at = builder.phi(_LONG)
    totals = [builder.phi(_ROW) for _ in start]
    sums: list[Any] = list(totals)
    for unrolled in range(2):
        here = builder.add(at, steps[unrolled])
        a = _load(builder, factor, builder.add(left, here))
        b = [_load(builder, factor, builder.add(r, here)) for r in right]
        for i in range(SIDE):
            scale = _spread(builder, a, i)
            for w in range(width):
                sums[w * SIDE + i] = _less_product(builder, sums[w * SIDE + i], scale, b[w])
    following = builder.add(at, steps[2])
    at.add_incoming(zero, before)
    at.add_incoming(following, loop)
    for total, first, last in zip(totals, start, sums, strict=True):
        total.add_incoming(first, before)
        total.add_incoming(last, loop)
    builder.cbranch(builder.icmp_signed("<", following, end), loop, after)
    builder.position_at_end(after)
    result = []
    for first, last in zip(start, sums, strict=True):
        total = builder.phi(_ROW)
        total.add_incoming(first, before)
        total.add_incoming(last, loop)
        result.append(total)
    if solve:
        square = builder.add(left, end)
        r = [_load(builder, factor, builder.add(square, step)) for step in steps]
        for w in range(width):
            for i in range(SIDE):
                value = result[w * SIDE + i]
                for k in range(i):
                    value = _less_product(builder, value, _spread(builder, r[k], i), result[w * SIDE + k])
                result[w * SIDE + i] = builder.fmul(value, _spread(builder, r[i], i))  # the diagonal holds inverses
    for w in range(width):
        for i in range(SIDE):
            _store(builder, target, builder.add(out[w], steps[i]), result[w * SIDE + i])
    return context.get_dummy_value()


# Intrinsics: what stands in ``emit`` is written into the compiled code. Arguments: the array with A and B, the one with C, where A
# begins, how many rows A and B have, where each B begins, where each C begins.
@intrinsic
def update_one(typingctx, factor, target, left, rows, r0, c0):
    def emit(context, builder, signature, args):
        return _emit_squares(context, builder, signature, args, 1, False)

    return types.void(factor, target, *[types.int64] * 4), emit


@intrinsic
def update_three(typingctx, factor, target, left, rows, r0, r1, r2, c0, c1, c2):
    def emit(context, builder, signature, args):
        return _emit_squares(context, builder, signature, args, 3, False)

    return types.void(factor, target, *[types.int64] * 8), emit


@intrinsic
def solve_one(typingctx, factor, target, left, rows, r0, c0):
    def emit(context, builder, signature, args):
        return _emit_squares(context, builder, signature, args, 1, True)

    return types.void(factor, target, *[types.int64] * 4), emit


@intrinsic
def solve_three(typingctx, factor, target, left, rows, r0, r1, r2, c0, c1, c2):
    def emit(context, builder, signature, args):
        return _emit_squares(context, builder, signature, args, 3, True)

    return types.void(factor, target, *[types.int64] * 8), emit


@intrinsic
def add_row(typingctx, target, at, source, where):
    """Add the four numbers from ``source[where]`` on to those from ``target[at]`` on."""

    def emit(context, builder, signature, args):
        to = _base(context, builder, signature, args, 0)
        row = _load(builder, _base(context, builder, signature, args, 2), args[3])
        _store(builder, to, args[1], builder.fadd(_load(builder, to, args[1]), row))
        return context.get_dummy_value()

    return types.void(target, types.int64, source, types.int64), emit


@kernel
def eliminate(factor: FloatArray, rest: FloatArray, begin: int, own: int, border: int, left_over: int) -> bool:
    """Factorise one front: ``own`` groups of its own columns, then ``border`` groups; whether all pivots were positive.

    Its rows begin at ``factor[begin]``, what is left over at ``rest[left_over]``.
    """
    rows = SIDE * own
    rim = begin + SQUARE * own * (own + 1) // 2  # where the groups of the border begin
    length = SIDE * rows
    groups = own + border
    for j in range(0, groups, 3):
        width = min(3, groups - j)
        b0 = begin + 8 * j * (j + 1) if j < own else rim + (j - own) * length
        b1 = begin + 8 * (j + 1) * (j + 2) if j + 1 < own else rim + (j + 1 - own) * length
        b2 = begin + 8 * (j + 2) * (j + 3) if j + 2 < own else rim + (j + 2 - own) * length
        h = j - own
        c0 = left_over + 8 * h * (h + 1)
        c1 = left_over + 8 * (h + 1) * (h + 2)
        c2 = left_over + 8 * (h + 2) * (h + 3)
        if width == 3:
            for i in range(min(j, own)):
                a = begin + 8 * i * (i + 1)
                s = SQUARE * i
                solve_three(factor, factor, a, SIDE * i, b0, b1, b2, b0 + s, b1 + s, b2 + s)  # type: ignore[call-arg]
            for i in range(own, j):
                a = rim + (i - own) * length
                s = SQUARE * (i - own)
                update_three(factor, rest, a, rows, b0, b1, b2, c0 + s, c1 + s, c2 + s)  # type: ignore[call-arg]
        for w in range(width):
            k = j + w
            b = begin + 8 * k * (k + 1) if k < own else rim + (k - own) * length
            h = k - own
            c = left_over + 8 * h * (h + 1)
            least = j if width == 3 else 0
            for i in range(least, min(k, own)):
                solve_one(factor, factor, begin + 8 * i * (i + 1), SIDE * i, b, b + SQUARE * i)  # type: ignore[call-arg]
            for i in range(max(least, own), k + 1):
                update_one(factor, rest, rim + (i - own) * length, rows, b, c + SQUARE * (i - own))  # type: ignore[call-arg]
            if k < own:
                d = b + SQUARE * k
                update_one(factor, factor, b, SIDE * k, b, d)  # type: ignore[call-arg]
                for r in range(SIDE):
                    pivot = factor[d + SIDE * r + r]
                    if not 0.0 < pivot < np.inf:
                        return False
                    inverse = 1.0 / np.sqrt(pivot)
                    factor[d + SIDE * r + r] = inverse
                    for col in range(r + 1, SIDE):
                        factor[d + SIDE * r + col] *= inverse
                    for below in range(r + 1, SIDE):
                        scale = factor[d + SIDE * r + below]
                        for col in range(below, SIDE):
                            factor[d + SIDE * below + col] -= scale * factor[d + SIDE * r + col]
    return True


@kernel
def extend(
    source: FloatArray, start: int, within: IntArray, m: int, own_nodes: int, own: int, begin: int, left_over: int,
    row: LongArray, factor: FloatArray, rest: FloatArray,
) -> None:  # fmt: skip
    """Add what a child has left over, from ``source[start]`` on, to its parent's front. ``row`` is room for the numbers of its border."""
    numbers = m * len(within)
    rows = SIDE * own
    rim = begin + SQUARE * own * (own + 1) // 2
    split = 0  # numbers of the child's border that are the parent's own
    for k in range(len(within)):
        place = within[k] * m if within[k] < own_nodes else rows + (within[k] - own_nodes) * m
        if within[k] < own_nodes:
            split += m
        for x in range(m):
            row[m * k + x] = place + x
    padded = (numbers + SIDE - 1) // SIDE * SIDE
    for k in range(numbers, padded):
        row[k] = row[numbers - 1]  # zeros are added there
    at = start
    upper = np.empty(SIDE, np.int64)
    lower = np.empty(SIDE, np.int64)
    for group in range(0, padded, SIDE):
        for t in range(SIDE):
            column = row[group + t]
            g, lane = column // SIDE, column % SIDE
            if g < own:
                upper[t] = begin + 8 * g * (g + 1) + lane
                lower[t] = 0
            else:
                upper[t] = rim + (g - own) * SIDE * rows + lane
                lower[t] = left_over + 8 * (g - own) * (g - own + 1) + lane - SIDE * rows
        u0, u1, u2, u3 = upper[0], upper[1], upper[2], upper[3]
        middle = min(split, group)
        if u3 == u0 + 3 and u1 == u0 + 1 and u2 == u0 + 2:
            for i in range(middle):
                add_row(factor, u0 + SIDE * row[i], source, at + SIDE * i)  # type: ignore[call-arg]
            for i in range(middle, group):
                add_row(rest, lower[0] + SIDE * row[i], source, at + SIDE * i)  # type: ignore[call-arg]
        else:
            for i in range(middle):
                r, s = SIDE * row[i], at + SIDE * i
                factor[u0 + r] += source[s]
                factor[u1 + r] += source[s + 1]
                factor[u2 + r] += source[s + 2]
                factor[u3 + r] += source[s + 3]
            l0, l1, l2, l3 = lower[0], lower[1], lower[2], lower[3]
            for i in range(middle, group):
                r, s = SIDE * row[i], at + SIDE * i
                rest[l0 + r] += source[s]
                rest[l1 + r] += source[s + 1]
                rest[l2 + r] += source[s + 2]
                rest[l3 + r] += source[s + 3]
        for i in range(group, min(group + SIDE, numbers)):
            for t in range(i - group, min(SIDE, numbers - group)):
                if i < split:
                    factor[upper[t] + SIDE * row[i]] += source[at + SIDE * i + t]
                else:
                    rest[lower[t] + SIDE * row[i]] += source[at + SIDE * i + t]
        at += SIDE * (group + SIDE)


@kernel
def lay_out(begin: IntArray, parent: IntArray, border_first: LongArray, m: int) -> tuple[LongArray, LongArray, LongArray, LongArray]:
    """Where the rows of each front begin in the factor (and their end), its stack and place in it, and the room of both stacks."""
    fronts = len(parent)
    depth = np.zeros(fronts, np.int64)
    start = np.zeros(fronts + 1, np.int64)
    stacked = np.zeros(fronts, np.int64)
    room = np.zeros(2, np.int64)
    top = np.zeros(2, np.int64)
    lowest = np.full(fronts, -1, np.int64)  # where the first child of a front lies on its stack
    for f in range(fronts - 1, -1, -1):
        if parent[f] >= 0:
            depth[f] = 1 - depth[parent[f]]
    for f in range(fronts):
        own = (m * (begin[f + 1] - begin[f]) + SIDE - 1) // SIDE
        border = (m * (border_first[f + 1] - border_first[f]) + SIDE - 1) // SIDE
        start[f + 1] = start[f] + SQUARE * own * (own + 1) // 2 + SQUARE * own * border
        stacked[f] = top[depth[f]]
        top[depth[f]] += SQUARE * border * (border + 1) // 2
        room[depth[f]] = max(room[depth[f]], top[depth[f]])
        if lowest[f] >= 0:
            top[1 - depth[f]] = lowest[f]
        if parent[f] >= 0 and lowest[parent[f]] < 0:
            lowest[parent[f]] = stacked[f]
    return start, depth, stacked, room


@kernel
def factorise_fronts(
    # in
    begin: IntArray, parent: IntArray, order: IntArray, border_first: LongArray, within: IntArray,
    edge_first: LongArray, edge: IntArray, row: IntArray, column: IntArray,
    start: LongArray, depth: LongArray, stacked: LongArray,
    diagonal: FloatArray,  # (N, m, m)
    off: FloatArray,       # (E, m, m)
    # out
    stack_0: FloatArray, stack_1: FloatArray, factor: FloatArray,
) -> bool:  # fmt: skip
    """The factor of all fronts; whether all pivots were positive and finite."""
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
        rim = at + SQUARE * own * (own + 1) // 2
        rest, others = (stack_0, stack_1) if depth[f] == 0 else (stack_1, stack_0)
        left_over = stacked[f]
        factor[at : start[f + 1]] = 0.0
        rest[left_over : left_over + SQUARE * border * (border + 1) // 2] = 0.0
        for k in range(m * nodes, rows):
            g = k // SIDE
            factor[at + 8 * g * (g + 1) + SIDE * k + k % SIDE] = 1.0
        for k in range(nodes):
            i = order[begin[f] + k]
            for y in range(m):
                c = m * k + y
                g = c // SIDE
                for x in range(y + 1):
                    factor[at + 8 * g * (g + 1) + SIDE * (m * k + x) + c % SIDE] = diagonal[i, x, y]
        for e in range(edge_first[f], edge_first[f + 1]):
            k = edge[e]
            for y in range(m):
                c = m * column[e] + y if column[e] < nodes else rows + m * (column[e] - nodes) + y
                g = c // SIDE
                base = (at + 8 * g * (g + 1) if g < own else rim + (g - own) * SIDE * rows) + c % SIDE
                for x in range(m):
                    factor[base + SIDE * (m * row[e] + x)] += off[k, x, y] if k >= 0 else off[-1 - k, y, x]
        c = child[f]
        while c >= 0:
            extend(
                others, stacked[c], within[border_first[c] : border_first[c + 1]], m, nodes, own, at, left_over, numbers, factor, rest
            )
            c = sibling[c]
        if not eliminate(factor, rest, at, own, border, left_over):
            return False
        if parent[f] >= 0:
            sibling[f] = child[parent[f]]
            child[parent[f]] = f
    return True


@kernel
def solve_fronts(
    begin: IntArray, order: IntArray, border_first: LongArray, border: IntArray, start: LongArray, m: int, factor: FloatArray,
    x: FloatArray,
) -> None:  # fmt: skip
    """Solve U^T U x = rhs in place; ``x`` is (N m, columns), in the order of the nodes."""
    fronts = len(begin) - 1
    longest = 0
    for f in range(fronts):
        longest = max(longest, begin[f + 1] - begin[f] + border_first[f + 1] - border_first[f])
    y = np.empty(m * longest + 2 * SIDE)
    part = np.empty(SIDE * len(y))
    for turn in range(2):
        for step in range(fronts):
            f = step if turn == 0 else fronts - 1 - step
            nodes = begin[f + 1] - begin[f]
            bordering = border_first[f + 1] - border_first[f]
            own = (m * nodes + SIDE - 1) // SIDE
            rim_groups = (m * bordering + SIDE - 1) // SIDE
            rows = SIDE * own
            at = start[f]
            rim = at + SQUARE * own * (own + 1) // 2
            for c in range(x.shape[1]):
                y[: rows + SIDE * rim_groups] = 0.0
                for k in range(nodes):
                    for i in range(m):
                        y[m * k + i] = x[m * order[begin[f] + k] + i, c]
                if turn == 0:
                    for g in range(own + rim_groups):
                        base = at + 8 * g * (g + 1) if g < own else rim + (g - own) * SIDE * rows
                        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
                        q0, q1, q2, q3 = 0.0, 0.0, 0.0, 0.0
                        last = SIDE * g if g < own else rows
                        for r in range(0, last, 2):
                            p, q = y[r], y[r + 1]
                            k = base + SIDE * r
                            s0 += factor[k] * p
                            s1 += factor[k + 1] * p
                            s2 += factor[k + 2] * p
                            s3 += factor[k + 3] * p
                            q0 += factor[k + 4] * q
                            q1 += factor[k + 5] * q
                            q2 += factor[k + 6] * q
                            q3 += factor[k + 7] * q
                        k = SIDE * g
                        y[k] -= s0 + q0
                        y[k + 1] -= s1 + q1
                        y[k + 2] -= s2 + q2
                        y[k + 3] -= s3 + q3
                        if g < own:
                            d = base + SQUARE * g
                            for i in range(SIDE):
                                for r in range(i):
                                    y[k + i] -= factor[d + SIDE * r + i] * y[k + r]
                                y[k + i] *= factor[d + SIDE * i + i]
                    for k in range(bordering):
                        node = order[border[border_first[f] + k]]
                        for i in range(m):
                            x[m * node + i, c] += y[rows + m * k + i]
                else:
                    for k in range(bordering):
                        node = order[border[border_first[f] + k]]
                        for i in range(m):
                            y[rows + m * k + i] = x[m * node + i, c]
                    part[: SIDE * rows] = 0.0
                    for g in range(own + rim_groups - 1, -1, -1):
                        base = at + 8 * g * (g + 1) if g < own else rim + (g - own) * SIDE * rows
                        k = SIDE * g
                        if g < own:
                            d = base + SQUARE * g
                            for i in range(SIDE - 1, -1, -1):
                                total = y[k + i]
                                for t in range(SIDE):
                                    total += part[SIDE * (k + i) + t]
                                for t in range(i + 1, SIDE):
                                    total -= factor[d + SIDE * i + t] * y[k + t]
                                y[k + i] = total * factor[d + SIDE * i + i]
                        y0, y1, y2, y3 = y[k], y[k + 1], y[k + 2], y[k + 3]
                        last = SIDE * g if g < own else rows
                        for r in range(0, SIDE * last, SIDE):
                            part[r] -= factor[base + r] * y0
                            part[r + 1] -= factor[base + r + 1] * y1
                            part[r + 2] -= factor[base + r + 2] * y2
                            part[r + 3] -= factor[base + r + 3] * y3
                for k in range(nodes):
                    for i in range(m):
                        x[m * order[begin[f] + k] + i, c] = y[m * k + i]


class Factor:
    """U of A = U^T U."""

    def __init__(self, plan: Plan, m: int, start: LongArray, values: FloatArray) -> None:
        self._plan, self._m, self._start, self._values = plan, m, start, values
        self.entries = len(values)

    def solve(self, rhs: FloatArray) -> FloatArray:
        """x of A x = rhs; rhs is (N, m), and for m = 1 also (N, columns)."""
        x = np.array(rhs, np.float64, order="C")
        plan = self._plan
        flat = x if self._m == 1 else x.reshape(-1, 1)
        solve_fronts(plan.begin, plan.order, plan.border_first, plan.border, self._start, self._m, self._values, flat)
        return x


class Plan:
    """Order, fronts and places of the entries: all that does not depend on the numbers in a matrix.

    ``count`` nodes, edges a-b (given twice they add up; a == b is ignored), and points (count, d) by which the nodes are halved.
    """

    def __init__(self, count: int, a: IntArray, b: IntArray, points: FloatArray) -> None:
        a, b = np.ascontiguousarray(a, np.int32), np.ascontiguousarray(b, np.int32)
        self.count = count
        first, neighbour = link_nodes(count, a, b)
        self.order, self.begin, self.parent = dissect(first, neighbour, np.ascontiguousarray(points, np.float64), LEAF)
        place, self.border_first, self.border, self.within = border_fronts(first, neighbour, self.order, self.begin, self.parent)
        self.edges = place_edges(a, b, place, self.begin, self.border_first, self.border)
        self._layout: dict[int, Any] = {}

    def factorise(self, diagonal: FloatArray, edge: FloatArray) -> Factor | None:
        """Factor of the matrix with these blocks: ``diagonal`` (count, m, m), and A[a, b] = A[b, a]^T in ``edge`` (E, m, m).

        None if it is not positive definite: a pivot is not above zero, or not finite.
        """
        m = diagonal.shape[1]
        if m not in self._layout:
            start, depth, stacked, room = lay_out(self.begin, self.parent, self.border_first, m)
            self._layout[m] = start, depth, stacked, np.empty(room[0]), np.empty(room[1])
        start, depth, stacked, stack_0, stack_1 = self._layout[m]
        values = np.empty(start[-1])
        good = factorise_fronts(
            self.begin, self.parent, self.order, self.border_first, self.within, *self.edges, start, depth, stacked,
            np.ascontiguousarray(diagonal, np.float64), np.ascontiguousarray(edge, np.float64), stack_0, stack_1, values,
        )  # fmt: skip
        return Factor(self, m, start, values) if good else None
