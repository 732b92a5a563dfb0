"""Numbers on their way before they are needed.

A processor foresees that an array is read on from where it is being read, but only within a page of memory, and not where an index leads.
Of arrays that do not fit into its cache a core waits for all others. A hint some time before they are needed costs next to nothing, and
changes no result. Hints for many lines at once stand in each other's way, so they are given a few at a time, between what is computed.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import extending, types
from numba.core import cgutils

intrinsic: Any = extending.intrinsic  # callers do not give the first argument, which is the compiler's
IN_LINE = 8  # numbers of eight bytes in a line of the cache


@intrinsic
def fetch(typingctx, array, index):
    """Have the line of the cache with this element of a one-dimensional array on its way; the element need not exist."""

    def emit(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        hint = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        prefetch = cgutils.get_or_insert_function(builder.module, hint, "llvm.prefetch.p0")
        builder.call(prefetch, [builder.bitcast(builder.gep(data, [args[1]]), byte), number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.uint64), emit
