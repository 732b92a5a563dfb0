"""Rows of memory to columns of lanes, and back: eight at a time, by instructions of vectors.

A grain's numbers stand in one row, and the law works on one number of many contacts. To move them one by one takes longer than the law.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, types

from ..array_types import FloatArray

LANES = 16  # contacts of a block: number f of lane l is ``s[f * LANES + l]``
LINE = 64  # bytes of a line of the cache
WIDE = 8  # numbers of a row of forces, and lanes that are moved together
CONTRACT = ("contract", "nsz")  # as in all kernels

intrinsic: Any = extending.intrinsic  # callers do not give the first argument, which is the compiler's
NUMBER, LONG = ir.DoubleType(), ir.IntType(64)


def in_lines(rows: int, width: int) -> FloatArray:
    """Zeros (rows, width) that begin where a line of the cache does: a row of eight is one."""
    room = np.zeros(rows * width + WIDE)
    skip = -room.ctypes.data % LINE // room.itemsize
    return room[skip : skip + rows * width].reshape(rows, width)


def _data(context, builder, signature, args, n):
    """First element of argument n, an array."""
    return context.make_array(signature.args[n])(context, builder, args[n]).data


def _vector(builder, data, index, width):
    """Pointer to ``width`` numbers from an index on."""
    return builder.bitcast(builder.gep(data, [index]), ir.VectorType(NUMBER, width).as_pointer())


def _load(builder, data, index, width):
    return builder.load(_vector(builder, data, index, width), align=8)


def _store(builder, values, data, index):
    builder.store(values, _vector(builder, data, index, values.type.count), align=8)


def _picked(builder, a, b, places):
    """Elements of two vectors, those of b counted on."""
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(ir.IntType(32), len(places)), places))


def _turned(builder, rows, steps):
    """Vectors of eight numbers with rows and columns exchanged; with ``steps`` (2, 1) in each half by itself."""
    for step in steps:
        for i in range(len(rows)):
            if not i & step:
                a, b = rows[i], rows[i + step]
                rows[i] = _picked(builder, a, b, [p if not p & step else WIDE + p - step for p in range(WIDE)])
                rows[i + step] = _picked(builder, a, b, [p + step if not p & step else WIDE + p for p in range(WIDE)])
    return rows


def _halves(builder, rows):
    """Rows of four beside each other, two by two: those of the first half, and of the second."""
    half = WIDE // 2
    return [_picked(builder, a, b, [*range(half), *range(half, WIDE)]) for a, b in zip(rows[:half], rows[half:], strict=True)]


def _columns(width):
    """An instruction that gathers 4 or 8 columns."""

    def gather(typingctx, source, stride, skip, index, first, out, at):
        def emit(context, builder, signature, args):
            data, index, out = (_data(context, builder, signature, args, n) for n in (0, 3, 5))
            rows = []
            for lane in range(WIDE):
                row = builder.zext(builder.load(builder.gep(index, [builder.add(args[4], LONG(lane))])), LONG)
                rows.append(_load(builder, data, builder.add(builder.mul(row, args[1]), args[2]), width))
            columns = _turned(builder, rows, (4, 2, 1)) if width == WIDE else _turned(builder, _halves(builder, rows), (2, 1))
            for f, column in enumerate(columns):
                _store(builder, column, out, builder.add(args[6], LONG(f * LANES)))
            return context.get_dummy_value()

        long = types.uint64
        return types.void(source, long, long, index, long, out, long), emit

    return gather


@intrinsic
def gather_4(typingctx, source, stride, skip, index, first, out, at):
    """``out[at + f * LANES + l] = source[stride * index[first + l] + skip + f]`` for eight lanes l and four columns f."""
    return _columns(4)(typingctx, source, stride, skip, index, first, out, at)


@intrinsic
def gather_8(typingctx, source, stride, skip, index, first, out, at):
    """The same for eight columns."""
    return _columns(8)(typingctx, source, stride, skip, index, first, out, at)


@intrinsic
def gather_apart(typingctx, sphere, a, b, first, out, at):
    """How far apart spheres are: columns of x_b - x_a, three of them, and of r_a + r_b, for eight lanes from ``first`` on."""

    def emit(context, builder, signature, args):
        sphere, a, b, out = (_data(context, builder, signature, args, n) for n in (0, 1, 2, 4))
        signs, rows = ir.Constant(ir.VectorType(NUMBER, 4), [-1.0, -1.0, -1.0, 1.0]), []
        for lane in range(WIDE):
            place = [builder.add(args[3], LONG(lane))]
            k, j = (builder.mul(builder.zext(builder.load(builder.gep(index, place)), LONG), LONG(4)) for index in (a, b))
            turned = builder.fmul(signs, _load(builder, sphere, k, 4), flags=CONTRACT)
            rows.append(builder.fadd(_load(builder, sphere, j, 4), turned, flags=CONTRACT))
        for f, column in enumerate(_turned(builder, _halves(builder, rows), (2, 1))):
            _store(builder, column, out, builder.add(args[5], LONG(f * LANES)))
        return context.get_dummy_value()

    return types.void(sphere, a, b, types.uint64, out, types.uint64), emit


def _as_bits(builder, found):
    """Eight yes or no as bits of a number, the first lowest."""
    return builder.zext(builder.bitcast(found, ir.IntType(WIDE)), LONG)


@intrinsic
def which_touch(typingctx, s, at):
    """Bits of the eight lanes from ``at`` on whose spheres overlap, of the columns of ``gather_apart``."""

    def emit(context, builder, signature, args):
        data = _data(context, builder, signature, args, 0)
        square = None
        for f in range(4):
            column = _load(builder, data, builder.add(args[1], LONG(f * LANES)), WIDE)
            product = builder.fmul(column, column, flags=CONTRACT)
            if f < 3:
                square = product if square is None else builder.fadd(square, product, flags=CONTRACT)
        return _as_bits(builder, builder.fcmp_ordered("<", square, product))

    return types.uint64(s, types.uint64), emit


@intrinsic
def which_are_set(typingctx, flag, first):
    """Bits of the eight bytes from ``first`` on that are not 0."""

    def emit(context, builder, signature, args):
        data, byte = _data(context, builder, signature, args, 0), ir.VectorType(ir.IntType(8), WIDE)
        flags = builder.load(builder.bitcast(builder.gep(data, [args[1]]), byte.as_pointer()), align=1)
        return _as_bits(builder, builder.icmp_unsigned("!=", flags, ir.Constant(byte, [0] * WIDE)))

    return types.uint64(flag, types.uint64), emit


@intrinsic
def turn_back(typingctx, s, at, out, to):
    """``out[to + 8 * l + f] = s[at + f * LANES + l]`` for eight lanes l and eight columns f."""

    def emit(context, builder, signature, args):
        s, out = (_data(context, builder, signature, args, n) for n in (0, 2))
        columns = [_load(builder, s, builder.add(args[1], LONG(f * LANES)), WIDE) for f in range(WIDE)]
        for lane, row in enumerate(_turned(builder, columns, (4, 2, 1))):
            _store(builder, row, out, builder.add(args[3], LONG(lane * WIDE)))
        return context.get_dummy_value()

    return types.void(s, types.uint64, out, types.uint64), emit


@intrinsic
def copy_8(typingctx, source, at, out, to):
    """``out[to + f] = source[at + f]`` for eight numbers."""

    def emit(context, builder, signature, args):
        source, out = (_data(context, builder, signature, args, n) for n in (0, 2))
        _store(builder, _load(builder, source, args[1], WIDE), out, args[3])
        return context.get_dummy_value()

    return types.void(source, types.uint64, out, types.uint64), emit


def _add(sign, arm):
    """An instruction that adds a force and its torque to a body."""

    def add(typingctx, total, to, row, at):
        def emit(context, builder, signature, args):
            total, row = (_data(context, builder, signature, args, n) for n in (0, 2))
            push = _load(builder, row, args[3], WIDE)
            known = ir.Constant(push.type, [sign] + [0.0] * (WIDE - 1))
            scale = _picked(builder, push, known, [WIDE] * 3 + [arm] * 3 + [WIDE + 1] * 2)
            product = builder.fmul(scale, push, flags=CONTRACT)
            _store(builder, builder.fsub(_load(builder, total, args[1], WIDE), product, flags=CONTRACT), total, args[1])
            return context.get_dummy_value()

        return types.void(total, types.uint64, row, types.uint64), emit

    return add


@intrinsic
def push_a(typingctx, total, to, row, at):
    """Force and torque on a of a pair, to its six numbers from ``to`` on; the row holds force on b, n x force, and the arms of a and b."""
    return _add(1.0, 6)(typingctx, total, to, row, at)


@intrinsic
def push_b(typingctx, total, to, row, at):
    """The same on b."""
    return _add(-1.0, 7)(typingctx, total, to, row, at)
