"""A barrier between the threads of one compiled kernel: cheap enough (well below a microsecond) to stand between two colours of a sweep.

A thread that arrives counts itself; the last one opens the gate by a new generation number, and the others look at that number until it
changes. They spin, since the work between two barriers is short, but go to sleep after a while, by the clock: more threads than cores must
not starve the ones that still work. Linux wakes who sleeps when the gate opens (futex); elsewhere a thread that has looked for long only
lets others go first.
"""

from __future__ import annotations

import os
import platform
import sys

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .._jit import device
from ..array_types import LongArray

LINE = 16  # numbers between two that different threads write: two cache lines, so that neither disturbs the other
ARRIVED, GATE, BROKEN, ASLEEP, FIRST_BOARD = 0, LINE, 2 * LINE, 3 * LINE, 4 * LINE
LOOKS = 200  # at the gate before a thread looks at the clock: a fraction of a microsecond, or a few, by processor
PATIENCE = 10_000  # [ns] that a thread looks at the gate before it gives its core away: 50 us and more cost twice as much on a busy machine
NAP = 10_000_000  # [ns] after which a sleeper looks for itself whether another thread has failed
FUTEX = {"x86_64": 202, "aarch64": 98}.get(platform.machine()) if sys.platform == "linux" and sys.byteorder == "little" else None
"""Number of the system call by which threads sleep; none: they do not."""
FUTEX_WAIT, FUTEX_WAKE = 128, 129  # between the threads of one process
MONOTONIC = 1  # the clock of that name


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def new_barrier(threads: int) -> LongArray:
    """State of a barrier: who has arrived, the generation of the gate, whether somebody will never come, how many sleep, and a board on
    which each thread may write one number."""
    return np.zeros(FIRST_BOARD + threads * LINE, np.int64)


def _element(context, builder, signature, args):
    """Address of an element of a one-dimensional array of int64."""
    array = context.make_array(signature.args[0])(context, builder, args[0])
    return builder.gep(array.data, [args[1]])


# Intrinsics: what stands in ``emit`` is written into the compiled code.
@intrinsic
def atomic_add(typingctx, array, index, value):
    """Add to an element at once for all threads; returns what it was before."""

    def emit(context, builder, signature, args):
        return builder.atomic_rmw("add", _element(context, builder, signature, args), args[2], "seq_cst")

    return types.int64(array, types.int64, types.int64), emit


@intrinsic
def atomic_load(typingctx, array, index):
    """An element as the other threads have left it; what they wrote before is seen after."""

    def emit(context, builder, signature, args):
        return builder.load_atomic(_element(context, builder, signature, args), "acquire", 8)

    return types.int64(array, types.int64), emit


@intrinsic
def atomic_store(typingctx, array, index, value):
    """Write an element so that other threads see it, and all that was written before."""

    def emit(context, builder, signature, args):
        builder.store_atomic(args[2], _element(context, builder, signature, args), "release", 8)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), emit


@intrinsic
def nanoseconds(typingctx):
    """A clock that only goes forward [ns]; Linux reads it without entering the kernel."""

    def emit(context, builder, signature, args):
        long = ir.IntType(64)
        now = cgutils.alloca_once(builder, ir.ArrayType(long, 2))
        kind = ir.FunctionType(ir.IntType(32), [ir.IntType(32), now.type])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, "clock_gettime"), [ir.IntType(32)(MONOTONIC), now])
        seconds, rest = (builder.load(cgutils.gep_inbounds(builder, now, 0, k)) for k in range(2))
        return builder.add(builder.mul(seconds, long(1_000_000_000)), rest)

    return types.int64(), emit


@intrinsic
def give_way(typingctx):
    """Let another thread have this core."""

    def emit(context, builder, signature, args):
        name = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.IntType(32), []), name)
        builder.call(function, [])
        return context.get_dummy_value()

    return types.void(), emit


def _call_futex(context, builder, address, operation, value, nap):
    """The system call, with the address of what is waited for."""
    long = ir.IntType(64)
    call = cgutils.get_or_insert_function(builder.module, ir.FunctionType(long, [long], var_arg=True), "syscall")
    builder.call(call, [long(FUTEX), builder.ptrtoint(address, long), long(operation), value, builder.ptrtoint(nap, long)])


@intrinsic
def sleep_while(typingctx, array, index, value):
    """Sleep for as long as an element has this value, until somebody wakes the sleepers, but not longer than ``NAP``."""

    def emit(context, builder, signature, args):
        long = ir.IntType(64)
        nap = cgutils.alloca_once(builder, ir.ArrayType(long, 2))
        builder.store(ir.Constant(ir.ArrayType(long, 2), [0, NAP]), nap)
        low = builder.and_(args[2], long(0xFFFFFFFF))  # the call looks at the lower half of the number
        _call_futex(context, builder, _element(context, builder, signature, args), FUTEX_WAIT, low, nap)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), emit


@intrinsic
def wake_all(typingctx, array, index):
    """Wake all that sleep for this element to change."""

    def emit(context, builder, signature, args):
        long = ir.IntType(64)
        address = _element(context, builder, signature, args)
        _call_futex(context, builder, address, FUTEX_WAKE, long(2**31 - 1), long(0).inttoptr(address.type))
        return context.get_dummy_value()

    return types.void(array, types.int64), emit


@device
def out_of_patience(since):
    """Whether a thread has looked for long enough, and since when [ns] it does; 0: it has not looked at the clock before."""
    if FUTEX is None:
        return True, since
    now = nanoseconds()  # type: ignore[call-arg, var-annotated]  # its first argument is the compiler's
    if since == 0:
        return False, now
    return now - since > PATIENCE, since


@device
def let_others_work(barrier, generation):
    """Give the core away while the gate is that of this generation."""
    if FUTEX is None:
        give_way()  # type: ignore[call-arg]  # its first argument is the compiler's
        return
    atomic_add(barrier, np.int64(ASLEEP), np.int64(1))  # type: ignore[call-arg]
    sleep_while(barrier, np.int64(GATE), generation)
    atomic_add(barrier, np.int64(ASLEEP), np.int64(-1))


@device
def open_gate(barrier):
    """Let all that wait go on. Who counts as asleep either is woken, or finds the gate open before it sleeps."""
    atomic_add(barrier, np.int64(GATE), np.int64(1))  # type: ignore[call-arg]
    if FUTEX is not None and atomic_load(barrier, np.int64(ASLEEP)) > 0:
        wake_all(barrier, np.int64(GATE))


@device
def wait(barrier, threads):
    """Until all threads have come here; if one has failed, the others fail too, before they touch what it did not finish."""
    if threads == 1:
        return
    generation = atomic_load(barrier, np.int64(GATE))  # type: ignore[call-arg, var-annotated]  # its first argument is the compiler's
    if atomic_add(barrier, np.int64(ARRIVED), np.int64(1)) == threads - 1:
        atomic_store(barrier, np.int64(ARRIVED), np.int64(0))
        open_gate(barrier)
        return
    looks, since, sleeps = 0, np.int64(0), False
    while atomic_load(barrier, np.int64(GATE)) == generation:
        looks += 1
        if looks % LOOKS == 0 or sleeps:
            if atomic_load(barrier, np.int64(BROKEN)):
                raise RuntimeError("another thread has failed")
            if not sleeps:
                sleeps, since = out_of_patience(since)
            if sleeps:
                let_others_work(barrier, generation)


@device
def share(count, thread, threads):
    """First and one past the last of the ``count`` things that belong to a thread."""
    return count * thread // threads, count * (thread + 1) // threads


@device
def add_up(barrier, thread, threads, count):
    """Of things that every thread has ``count`` of: how many the threads before this one have, and how many there are in all."""
    if threads == 1:  # the board is not touched: others may run alone on the same barrier
        return np.int64(0), np.int64(count)
    barrier[FIRST_BOARD + thread * LINE] = count
    wait(barrier, threads)
    before, total = np.int64(0), np.int64(0)
    for t in range(threads):
        if t == thread:
            before = total
        total += barrier[FIRST_BOARD + t * LINE]
    wait(barrier, threads)  # nobody writes anew while another still reads
    return before, total


@device
def largest_of(barrier, thread, threads, value):
    """The largest of the numbers that the threads have."""
    if threads == 1:
        return np.int64(value)
    barrier[FIRST_BOARD + thread * LINE] = value
    wait(barrier, threads)
    largest = np.int64(value)
    for t in range(threads):
        largest = max(largest, barrier[FIRST_BOARD + t * LINE])
    wait(barrier, threads)
    return largest
