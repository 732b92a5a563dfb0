"""Vector instructions on squares of 4 x 4 numbers, written for the compiler as they are: the inner loops of a Cholesky factorisation.

Columns stand in groups of four, and in a group the four numbers of a row follow each other, row after row. So one row of squares times
three groups is 4 x 12 sums in vector registers, through which all eliminated rows are streamed. A processor with shorter vectors takes
more instructions for the same numbers.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

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


def _load_single(builder: Any, base: Any, index: Any) -> Any:
    """A row of numbers in single precision, as doubles."""
    row = ir.VectorType(ir.FloatType(), SIDE)
    return builder.fpext(builder.load(builder.bitcast(builder.gep(base, [index]), row.as_pointer()), align=4), _ROW)


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
    load = _load_single if factor.dtype == types.float32 else _load

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
                    sums[k] = _less_product(builder, sums[k], row, load(builder, base, builder.add(group, builder.mul(r, step))))
            return sums

        start = [_load(builder, known, place) for place in places] + [ir.Constant(_ROW, [0.0] * SIDE)] * len(groups)
        result = _loop(builder, args[2], 2, start, body)
        for g, place in enumerate(places):
            _store(builder, known, place, builder.fadd(result[g], result[g + len(groups)]))
        return context.get_dummy_value()

    return types.void(factor, groups, types.int64, y, types.int64), emit


def _backward(typingctx, factor, groups, rows, y, at, part):
    """part -= U_g y_g, four lanes for each of ``rows`` rows, for groups of columns whose parts of y follow each other from ``at`` on."""
    load = _load_single if factor.dtype == types.float32 else _load

    def emit(context, builder, signature, args):
        base, known, out = (_base(context, builder, signature, args, k) for k in (0, 3, 5))
        groups = _parts(builder, args[1])
        scale = [_load(builder, known, builder.add(args[4], ir.Constant(_LONG, SIDE * g))) for g in range(len(groups))]

        def body(at, _):
            row = _load(builder, out, at)
            for group, y in zip(groups, scale, strict=True):
                row = _less_product(builder, row, load(builder, base, builder.add(group, at)), y)
            _store(builder, out, at, row)
            return []

        _loop(builder, builder.mul(args[2], ir.Constant(_LONG, SIDE)), SIDE, [], body)
        return context.get_dummy_value()

    return types.void(factor, groups, types.int64, y, types.int64, part), emit


add_row: Any = intrinsic(_add_row)
add_apart: Any = intrinsic(_add_apart)
forward: Any = intrinsic(_forward)
backward: Any = intrinsic(_backward)
