"""Bodies of a block of contacts, number by number: whole rows of eight numbers are loaded, and turned into columns by shuffles.

A loop would move the 16 x 16 numbers of a block one by one, which takes a fifth of a sweep longer. What stands here is written into the
compiled code; vectors of eight numbers are the compiler's to cut up for processors that have shorter ones. Numbers are only moved, so no
bits depend on it.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import extending, types

intrinsic: Any = extending.intrinsic  # callers do not give the first argument, which is the compiler's
EIGHT = 8  # rows and columns: numbers of a packed body
ROW = ir.VectorType(ir.DoubleType(), EIGHT)
INDEX = ir.IntType(64)


def _pointer(context, builder, array_type, array, index):
    """Where eight numbers from an element on are."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), ROW.as_pointer())


def _slot(context, builder, array_type, array, index):
    """Where the body of a lane begins."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.mul(builder.sext(builder.load(builder.gep(data, [index])), INDEX), INDEX(EIGHT))


def _transposed(builder, rows):
    """Columns of eight rows: neighbours, pairs and halves change places in turn."""
    for width in (1, 2, 4):
        done = list(rows)
        for k in range(EIGHT):
            if k & width:
                continue
            low = [i if not i & width else EIGHT + i - width for i in range(EIGHT)]
            high = [i + width if not i & width else EIGHT + i for i in range(EIGHT)]
            for at, mask in ((k, low), (k + width, high)):
                done[at] = builder.shuffle_vector(rows[k], rows[k + width], ir.Constant(ir.VectorType(ir.IntType(32), EIGHT), mask))
        rows = done
    return rows


def _emit(context, builder, signature, args, load):
    body, lanes, first, scratch, at, stride = args
    of_body, of_lanes, _, of_scratch, *_ = signature.args
    slots = [_slot(context, builder, of_lanes, lanes, builder.add(first, INDEX(k))) for k in range(EIGHT)]
    rows = [_pointer(context, builder, of_body, body, slot) for slot in slots]
    columns = [_pointer(context, builder, of_scratch, scratch, builder.add(at, builder.mul(stride, INDEX(k)))) for k in range(EIGHT)]
    source, target = (rows, columns) if load else (columns, rows)
    numbers = _transposed(builder, [builder.load(one, align=8) for one in source])
    for vector, one in zip(numbers, target, strict=True):
        builder.store(vector, one, align=8)
    return context.get_dummy_value()


@intrinsic
def load_eight(typingctx, body, lanes, first, scratch, at, stride):
    """Eight packed bodies, of the lanes from ``first`` on, into scratch: number f of all of them from ``at + f * stride`` on."""

    def emit(context, builder, signature, args):
        return _emit(context, builder, signature, args, load=True)

    return types.void(body, lanes, types.uint64, scratch, types.uint64, types.uint64), emit


@intrinsic
def store_eight(typingctx, body, lanes, first, scratch, at, stride):
    """Eight packed bodies out of scratch, whole, back to where they were loaded from."""

    def emit(context, builder, signature, args):
        return _emit(context, builder, signature, args, load=False)

    return types.void(body, lanes, types.uint64, scratch, types.uint64, types.uint64), emit
