"""Sparse Cholesky factors A = U^T U of matrices on contact networks, in blocks of m x m numbers per grain (m = 1, 2 or 3).

Multifrontal: each front of the elimination order (``dissection.py``) is a dense matrix to which the entries of A and what its children
have left over are added; its own rows are eliminated, and what is left of its border is handed to its parent, in one compiled call.

Layout. Columns stand in groups of four, and in a group the four numbers of a row follow each other, row after row; only the upper triangle
(in squares of 4 x 4) is kept. So one row of squares times three groups is 4 x 12 sums in vector registers, through which all eliminated
rows are streamed. The rows of a front (its part of U) go straight into the factor, filled up to a multiple of four by ones on the diagonal;
what is left for the parent lies on one of two stacks, by the parity of the front's depth. On the diagonal of U its inverse is kept.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .._jit import kernel
from ..array_types import FloatArray, IntArray, LongArray
from .dissection import LEAF, border_fronts, dissect, line_up, link_nodes, place_edges

SIDE = 4  # of a square
SQUARE = SIDE * SIDE
KEPT = 2**25  # numbers, of 8 bytes: larger memory is not kept for the next factor
SPARES = 4  # pieces of memory that are kept
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


def _loop(builder: Any, end: Any, step: int, start: list[Any], body: Any) -> list[Any]:
    """Rows that ``body(at, rows)`` carries from ``start`` on through a loop over 0 <= at < end in steps of ``step``."""
    before, loop, after = builder.block, builder.append_basic_block("loop"), builder.append_basic_block("done")
    zero = ir.Constant(_LONG, 0)
    builder.cbranch(builder.icmp_signed("<", zero, end), loop, after)
    builder.position_at_end(loop)
    at = builder.phi(_LONG)
    carried = [builder.phi(_ROW) for _ in start]
    last = body(at, carried)
    following = builder.add(at, ir.Constant(_LONG, step))
    at.add_incoming(zero, before)
    at.add_incoming(following, loop)
    builder.cbranch(builder.icmp_signed("<", following, end), loop, after)
    builder.position_at_end(after)
    result = [builder.phi(_ROW) for _ in start]
    for first, here, there, final in zip(start, carried, result, last, strict=True):
        here.add_incoming(first, before)
        here.add_incoming(final, loop)
        there.add_incoming(first, before)
        there.add_incoming(final, loop)
    return result


def _parts(builder: Any, pack: Any) -> list[Any]:
    """The members of a tuple."""
    return [builder.extract_value(pack, k) for k in range(pack.type.count)]


# Intrinsics: what stands in ``emit`` is written into the compiled code.
def _squares(solve: bool) -> Any:
    """C -= A^T B for squares C side by side, and then, if wanted, C <- R^-T C with the square R below A.

    Arguments: the array of A and B, that of C, where A begins, the rows of A and B, where each B begins, where each C begins.
    """

    def squares(typingctx, factor, target, left, rows, right, out):
        def emit(context, builder, signature, args):
            base, to = (_base(context, builder, signature, args, k) for k in range(2))
            left, rows, right, out = args[2], args[3], _parts(builder, args[4]), _parts(builder, args[5])
            steps = [ir.Constant(_LONG, SIDE * k) for k in range(SIDE)]
            end = builder.mul(rows, steps[1])

            def body(at, sums):
                sums = list(sums)
                for unrolled in range(2):
                    here = builder.add(at, steps[unrolled])
                    a = _load(builder, base, builder.add(left, here))
                    b = [_load(builder, base, builder.add(r, here)) for r in right]
                    for i in range(SIDE):
                        scale = _spread(builder, a, i)
                        for w, row in enumerate(b):
                            sums[w * SIDE + i] = _less_product(builder, sums[w * SIDE + i], scale, row)
                return sums

            start = [_load(builder, to, builder.add(o, step)) for o in out for step in steps]
            result = _loop(builder, end, 2 * SIDE, start, body)
            if solve:
                square = builder.add(left, end)
                r = [_load(builder, base, builder.add(square, step)) for step in steps]
                for w in range(len(out)):
                    for i in range(SIDE):
                        value = result[w * SIDE + i]
                        for k in range(i):
                            value = _less_product(builder, value, _spread(builder, r[k], i), result[w * SIDE + k])
                        result[w * SIDE + i] = builder.fmul(value, _spread(builder, r[i], i))  # the diagonal holds inverses
            for w, o in enumerate(out):
                for step, row in zip(steps, result[w * SIDE : (w + 1) * SIDE], strict=True):
                    _store(builder, to, builder.add(o, step), row)
            return context.get_dummy_value()

        return types.void(factor, target, types.int64, types.int64, right, out), emit

    return intrinsic(squares)


update_squares, solve_squares = _squares(False), _squares(True)


def _add_row(typingctx, target, at, source, where):
    """Add the four numbers from ``source[where]`` on to those from ``target[at]`` on."""

    def emit(context, builder, signature, args):
        to = _base(context, builder, signature, args, 0)
        row = _load(builder, _base(context, builder, signature, args, 2), args[3])
        _store(builder, to, args[1], builder.fadd(_load(builder, to, args[1]), row))
        return context.get_dummy_value()

    return types.void(target, types.int64, source, types.int64), emit


def _add_apart(typingctx, target, columns, at, source, where):
    """Add the four numbers from ``source[where]`` on to ``target[column + at]`` of four columns."""

    def emit(context, builder, signature, args):
        to = _base(context, builder, signature, args, 0)
        row = _load(builder, _base(context, builder, signature, args, 3), args[4])
        for lane, column in enumerate(_parts(builder, args[1])):
            place = builder.gep(to, [builder.add(column, args[2])])
            value = builder.extract_element(row, ir.Constant(ir.IntType(32), lane))
            builder.store(builder.fadd(builder.load(place), value), place)
        return context.get_dummy_value()

    return types.void(target, columns, types.int64, source, types.int64), emit


def _forward(typingctx, factor, groups, rows, y, at):
    """y_g -= U_g^T y for groups of columns whose parts of y follow each other from ``at`` on; ``rows`` rows of y are known."""

    def emit(context, builder, signature, args):
        base, known = (_base(context, builder, signature, args, k) for k in (0, 3))
        groups = _parts(builder, args[1])
        step = ir.Constant(_LONG, SIDE)
        places = [builder.add(args[4], ir.Constant(_LONG, SIDE * g)) for g in range(len(groups))]

        def body(at, sums):
            sums = list(sums)
            for unrolled in range(2):
                r = builder.add(at, ir.Constant(_LONG, unrolled))
                value = builder.load(builder.gep(known, [r]))
                empty = ir.Constant(_ROW, ir.Undefined)
                row = _spread(builder, builder.insert_element(empty, value, ir.Constant(ir.IntType(32), 0)), 0)
                for g, group in enumerate(groups):
                    k = unrolled * len(groups) + g
                    sums[k] = _less_product(builder, sums[k], row, _load(builder, base, builder.add(group, builder.mul(r, step))))
            return sums

        start = [_load(builder, known, place) for place in places] + [ir.Constant(_ROW, [0.0] * SIDE)] * len(groups)
        result = _loop(builder, args[2], 2, start, body)
        for g, place in enumerate(places):
            _store(builder, known, place, builder.fadd(result[g], result[g + len(groups)]))
        return context.get_dummy_value()

    return types.void(factor, groups, types.int64, y, types.int64), emit


def _backward(typingctx, factor, groups, rows, y, at, part):
    """part -= U_g y_g, four lanes for each of ``rows`` rows, for groups of columns whose parts of y follow each other from ``at`` on."""

    def emit(context, builder, signature, args):
        base, known, out = (_base(context, builder, signature, args, k) for k in (0, 3, 5))
        groups = _parts(builder, args[1])
        scale = [_load(builder, known, builder.add(args[4], ir.Constant(_LONG, SIDE * g))) for g in range(len(groups))]

        def body(at, _):
            row = _load(builder, out, at)
            for group, y in zip(groups, scale, strict=True):
                row = _less_product(builder, row, _load(builder, base, builder.add(group, at)), y)
            _store(builder, out, at, row)
            return []

        _loop(builder, builder.mul(args[2], ir.Constant(_LONG, SIDE)), SIDE, [], body)
        return context.get_dummy_value()

    return types.void(factor, groups, types.int64, y, types.int64, part), emit


add_row: Any = intrinsic(_add_row)
add_apart: Any = intrinsic(_add_apart)
forward: Any = intrinsic(_forward)
backward: Any = intrinsic(_backward)


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
    m: int,
    nodes: int,
    own: int,
    begin: int,
    left_over: int,
    row: LongArray,
    factor: FloatArray,
    rest: FloatArray,
) -> None:
    """Add what a child has left over, from ``source[start]`` on, to its parent's front.

    ``within[first : last]`` says where the nodes of its border stand in the parent; ``row`` is room for the numbers of its border.
    """
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
        start[f + 1] = group_start(start[f], own, own + border)
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
    begin: IntArray,
    parent: IntArray,
    order: IntArray,
    border_first: LongArray,
    within: IntArray,
    edge_first: LongArray,
    edge: IntArray,
    row: IntArray,
    column: IntArray,
    start: LongArray,
    depth: LongArray,
    stacked: LongArray,
    diagonal: FloatArray,  # (N, m, m)
    off: FloatArray,  # (E, m, m)
    # out
    stack_0: FloatArray,
    stack_1: FloatArray,
    factor: FloatArray,
) -> bool:
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
        rest, others = (stack_0, stack_1) if depth[f] == 0 else (stack_1, stack_0)
        left_over = stacked[f]
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
            extend(others, stacked[c], within, border_first[c], border_first[c + 1], m, nodes, own, at, left_over, numbers, factor, rest)
            c = sibling[c]
        if not eliminate(factor, rest, at, own, border, left_over):
            return False
        if parent[f] >= 0:
            sibling[f] = child[parent[f]]
            child[parent[f]] = f
    return True


@kernel
def solve_fronts(
    begin: IntArray,
    order: IntArray,
    border_first: LongArray,
    border: IntArray,
    start: LongArray,
    m: int,
    factor: FloatArray,
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


_spare: dict[int, FloatArray] = {}  # memory that was used and is not any more, by its identity


def _take(numbers: int) -> FloatArray:
    """Memory for so many numbers at least, used before if there is some: the system hands out fresh pages slower than we factorise."""
    for key in list(_spare):
        room = _spare.pop(key, None)  # at once or not at all, also if another thread looks for memory
        if room is not None and numbers <= len(room) <= 2 * numbers + 4096:
            return room
        if room is not None:
            _spare[key] = room
    return np.empty(numbers + numbers // 8)  # a little more, since the next network will be a little different


def _give_back(room: FloatArray) -> None:
    if len(room) <= KEPT:
        _spare[id(room)] = room
        for key in list(_spare)[:-SPARES]:
            _spare.pop(key, None)


class Factor:
    """U of A = U^T U."""

    def __init__(self, plan: Plan, m: int, start: LongArray, values: FloatArray) -> None:
        self._plan, self._m, self._start, self._values = plan, m, start, values
        self.entries = int(start[-1])  # numbers in U, as stored
        weakref.finalize(self, _give_back, values).atexit = False

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
        points = np.ascontiguousarray(points, np.float64)
        line = line_up(points)
        rank = np.empty(count, np.int32)
        rank[line] = np.arange(count, dtype=np.int32)
        a, b = rank[a], rank[b]
        first, neighbour = link_nodes(count, a, b)
        order, self.begin, self.parent = dissect(first, neighbour, points[line], LEAF)
        place, self.border_first, self.border, self.within = border_fronts(first, neighbour, order, self.begin, self.parent)
        self.edges = place_edges(a, b, place, self.begin, self.border_first, self.border)
        self.order = line[order]
        self._layout: dict[int, Any] = {}

    def factorise(self, diagonal: FloatArray, edge: FloatArray) -> Factor | None:
        """Factor of the matrix with these blocks: ``diagonal`` (count, m, m), and A[a, b] = A[b, a]^T in ``edge`` (E, m, m).

        None if it is not positive definite: a pivot is not above zero, or not finite.
        """
        m = diagonal.shape[1]
        if m not in self._layout:
            self._layout[m] = lay_out(self.begin, self.parent, self.border_first, m)
        start, depth, stacked, room = self._layout[m]
        values, stacks = _take(int(start[-1])), _take(int(room.sum()))
        good = factorise_fronts(
            self.begin,
            self.parent,
            self.order,
            self.border_first,
            self.within,
            *self.edges,
            start,
            depth,
            stacked,
            np.ascontiguousarray(diagonal, np.float64),
            np.ascontiguousarray(edge, np.float64),
            stacks[: room[0]],
            stacks[room[0] :],
            values,
        )
        _give_back(stacks)
        if not good:
            _give_back(values)
            return None
        return Factor(self, m, start, values)
