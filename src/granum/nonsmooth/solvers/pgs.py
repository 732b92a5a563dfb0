"""Projected Gauss-Seidel, plain or with momentum (physics 4; Nesterov's extrapolation around the projected sweep)."""

from __future__ import annotations

from enum import IntEnum
from typing import Literal

import numpy as np
from pydantic import Field

from ..._jit import device, kernel
from ...array_types import FloatArray, IntArray, LongArray
from ...parallel.barrier import share, wait
from ...records import NonNegative, Record, Sweeps, Whole
from ..blocks import BODY, COLOURS, LANES
from ..problem import Problem
from ..residual import mean_residual
from ..rows import sweep_contact
from ..sweep import SCRATCH, sampling, sweep_blocks
from .momentum import STATE, begin, judge_step, next_momentum
from .report import SolveReport


class Order(IntEnum):
    """In which order a sweep visits the contacts."""

    COLOUR = 0  # colour by colour, with vector instructions
    GIVEN = 1  # as found
    SYMMETRIC = 2  # as found, every second sweep backwards
    RANDOM = 3  # a new permutation each sweep


ORDER_NUMBER = {order.name.lower(): int(order) for order in Order}  # a plain number: an enum is slow to hand to compiled code
FEW_BLOCKS = 4  # of a colour: fewer are done by one thread sooner than by several
SWEPT = 4  # things that a contact counts for, since it is swept so often
CHECK_EVERY = 5  # sweeps between two looks at the residual at least: a look costs about as much as a sweep
MOST_SWEEPS = 500  # of a solve whose number of sweeps is left to its accuracy


@device
def extrapolate(body, body_before, first, last, beta):
    """Velocities ahead of the last two iterates by beta; the newest is kept in ``body_before``."""
    for i in range(first, last):
        o = np.uint64(i * BODY)
        q = np.uint64(i * 6)
        for f in range(np.uint64(6)):
            v = body[o + f]
            body[o + f] = v + beta * (v - body_before[q + f])
            body_before[q + f] = v


@device
def sweep_colours(
    thread,
    threads,
    barrier,
    body,
    lane_a,
    lane_b,
    data,
    before,
    fields,
    colour_block,
    full_first,
    lever,
    full,
    inverse_inertia,
    beta,
    momentum,
    soft_t,
    soft_r,
    scratch,
    sums,
):
    """One sweep, colour by colour: the contacts of a colour share no body, so that each thread takes some of them.

    A colour with few of them is left to the first thread; between two such colours nobody waits.
    """
    blocks = colour_block[COLOURS]
    serial_start = np.int64(blocks) * LANES
    sampled = sampling(blocks)
    for c in range(COLOURS):
        first, last = np.int64(colour_block[c]), np.int64(colour_block[c + 1])
        if first == blocks:
            break
        alone = last - first < FEW_BLOCKS
        low, high = share(last - first, thread, threads)
        if alone:
            low, high = np.int64(0), last - first if thread == 0 else np.int64(0)
        sweep_blocks(
            body, lane_a, lane_b, data, before, fields, first + low, first + high, sampled, beta, momentum, soft_t, soft_r, scratch, sums
        )
        if not alone or colour_block[min(c + 2, COLOURS)] - last >= FEW_BLOCKS or last == blocks:
            wait(barrier, threads)
    for c in range(COLOURS + 1):
        first, last = np.int64(full_first[c]), np.int64(full_first[c + 1])
        if first == last:
            continue
        low, high = share(last - first, thread, threads)
        if c == COLOURS:  # those without a colour
            low, high = np.int64(0), last - first if thread == 0 else np.int64(0)
        for k in range(first + low, first + high):
            ahead, square = sweep_contact(
                body,
                lane_a,
                lane_b,
                data,
                before,
                fields,
                serial_start + k,
                serial_start,
                lever,
                full,
                inverse_inertia,
                beta,
                momentum,
                soft_t,
                soft_r,
                False,
            )
            sums[2 * (blocks + k)], sums[2 * (blocks + k) + 1] = ahead, square
        wait(barrier, threads)


@device
def add_step_sums(sums, blocks, one_by_one):
    """The two momentum sums of a sweep in colours, in an order that no number of threads changes."""
    ahead, square = 0.0, 0.0
    for k in range(0, blocks, sampling(blocks) + 1):
        ahead += sums[2 * k]
        square += sums[2 * k + 1]
    for k in range(blocks, blocks + one_by_one):
        ahead += sums[2 * k]
        square += sums[2 * k + 1]
    return ahead, square


@kernel
def iterate(
    thread: int,
    threads: int,
    barrier: LongArray,
    # the problem
    lane_a: IntArray,
    lane_b: IntArray,
    place: IntArray,
    contact_at: IntArray,
    fields: int,
    colour_block: IntArray,
    full_first: IntArray,
    lever: FloatArray,
    full: IntArray,
    inverse_inertia: FloatArray,
    radius_eff: FloatArray,
    soft_t: float,
    soft_r: float,
    yielding: int,
    # the method
    iterations: int,
    tolerance: float,
    momentum: bool,
    order: int,
    box: bool,
    seed: int,
    measure: bool,
    # in and out
    body: FloatArray,
    data: FloatArray,
    # work and results
    body_before: FloatArray,
    before: FloatArray,
    sums: FloatArray,
    history: FloatArray,
    kinds: FloatArray,
) -> tuple[int, float]:
    """Sweep until ``iterations`` or the residual is below ``tolerance`` [m/s]; returns sweeps done and residual (-1: not measured).

    ``history`` (iterations, 4), when it has rows, receives residual and row-kind residuals after every sweep. Every thread comes to the
    same decisions from the same numbers; orders other than by colour are for one thread.
    """
    blocks = np.int64(colour_block[COLOURS])
    serial_start = blocks * LANES
    contacts = len(place)
    in_colours = order == Order.COLOUR and not box
    visit = np.empty(0 if in_colours else contacts, np.int32)
    for k in range(len(visit)):
        visit[k] = place[k]
    if order == Order.RANDOM:
        np.random.seed(seed)  # noqa: NPY002  (the state of compiled code, not NumPy's)
    scratch, own_kinds = np.empty(SCRATCH), np.zeros(3)
    low, high = share(np.int64(yielding), thread, threads)
    state = np.empty(STATE)
    begin(state)
    residual, done = -1.0, 0
    next_look = 2 * CHECK_EVERY
    for sweep in range(iterations):
        beta = 0.0
        if momentum:
            beta = next_momentum(state, sweep)
            extrapolate(body, body_before, low, high, beta)
            wait(barrier, threads)
        ahead, square = 0.0, 0.0
        if in_colours:
            sweep_colours(
                thread,
                threads,
                barrier,
                body,
                lane_a,
                lane_b,
                data,
                before,
                fields,
                colour_block,
                full_first,
                lever,
                full,
                inverse_inertia,
                beta,
                momentum,
                soft_t,
                soft_r,
                scratch,
                sums,
            )
            if momentum:
                ahead, square = add_step_sums(sums, blocks, np.int64(full_first[COLOURS + 1]))
        elif order == Order.RANDOM:
            np.random.shuffle(visit)  # noqa: NPY002
        for k in range(len(visit)):
            backwards = order == Order.SYMMETRIC and sweep % 2 == 1
            x, y = sweep_contact(
                body,
                lane_a,
                lane_b,
                data,
                before,
                fields,
                np.int64(visit[contacts - 1 - k if backwards else k]),
                serial_start,
                lever,
                full,
                inverse_inertia,
                beta,
                momentum,
                soft_t,
                soft_r,
                box,
            )
            ahead += x
            square += y
        done = sweep + 1
        if momentum:
            judge_step(state, sweep, ahead, square)
        if len(history) > 0 or (tolerance > 0.0 and done == next_look) or (measure and done == iterations):
            if done == next_look:
                next_look = done + max(CHECK_EVERY, done // 4)
            residual = mean_residual(
                thread,
                threads,
                barrier,
                body,
                lane_a,
                lane_b,
                data,
                fields,
                place,
                serial_start,
                lever,
                full,
                soft_t,
                soft_r,
                box,
                radius_eff,
                sums,
                own_kinds,
            )
            if len(history) > 0 and thread == 0:
                history[sweep, 0] = residual
                history[sweep, 1:] = own_kinds
            if residual <= tolerance:
                break
    if thread == 0:
        kinds[:] = own_kinds
    return done, residual


class PGS(Record):
    """Projected Gauss-Seidel (physics 4)."""

    name: Literal["pgs"] = "pgs"
    iterations: Sweeps | None = None
    """Sweeps per step; with a tolerance the most. None: as many as the accuracy asks for, 500 at most. A column of n grains needs of the
    order of n / error without momentum (physics 9)."""
    tolerance: NonNegative | None = None
    """Stop when the residual is below this [m/s]; 0: never. None: never if iterations are given, else at the accuracy of the step
    (``Problem.accuracy``)."""
    momentum: bool = True
    """Extrapolate each sweep by the last change: several times fewer sweeps for the same error."""
    friction: Literal["cone", "box"] = "cone"
    """``cone`` scales the tangential impulse back to its bound; ``box`` clamps each component (SN 2.3.2)."""
    order: Literal["colour", "given", "symmetric", "random"] = "colour"
    """Of the contacts in a sweep; ``colour`` is the fast one."""
    seed: Whole = Field(default=0, ge=0)
    """Of the random order."""

    def solve(self, problem: Problem, *, step: int = 0, measure: bool = True, history: bool = False) -> SolveReport:
        """Solve in place: impulses and velocities of ``problem`` are the start and become the result."""
        iterations = self.iterations if self.iterations is not None else MOST_SWEEPS
        tolerance = self.tolerance
        if tolerance is None:
            tolerance = 0.0 if self.iterations is not None else problem.accuracy
        rows = np.zeros((iterations if history else 0, 4))
        kinds = np.zeros(3)
        momentum = self.momentum and self.order != "symmetric"  # the two together diverge
        box = self.friction == "box"
        shared = SWEPT * problem.contact_count if self.order == "colour" and not box else 0
        done, residual = problem.team.run(
            iterate,
            shared,
            *problem.for_sweeps(),
            iterations,
            tolerance,
            momentum,
            ORDER_NUMBER[self.order],
            box,
            self.seed + step,
            measure,
            problem.body,
            problem.data,
            problem.body_before,
            problem.before,
            problem.sums,
            rows,
            kinds,
        )
        return SolveReport(
            iterations=done,
            residual=residual,
            residual_by_kind=tuple(kinds),
            history=rows[:done],
            converged=tolerance > 0 and 0 <= residual <= tolerance,
            work=np.arange(1.0, len(rows[:done]) + 1),
        )
