"""Multigrid: projected Gauss-Seidel with momentum; between the sweeps a coarse problem (``coarse.py``) tells the size of the impulses."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from ..._jit import kernel
from ...array_types import FloatArray, IntArray, LongArray
from ...checks import InputError
from ...parallel.barrier import share, wait
from ...records import NonNegative, Record, Sweeps, Whole
from ..blocks import BODY, COLOURS, INV_MASS, LANES
from ..coarse import SHARE, correct, layers_along_load
from ..problem import Problem
from ..residual import mean_residual
from ..rows import sweep_contact
from ..sweep import SCRATCH
from .momentum import STATE, begin, judge_step, next_momentum
from .pgs import CHECK_EVERY, SWEPT, add_step_sums, extrapolate, sweep_colours
from .report import SolveReport

SETUP_WORK = 1.0  # of laying the layers, by the time it takes, in sweeps
CORRECTION_WORK = 1.7  # of a coarse correction, likewise
LAST_GAP = 8  # most sweeps from one correction to the next


@kernel
def cycle(
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
    box: bool,
    measure: bool,
    first_correction: int,
    first_gap: int,
    last_correction: int,
    # the layers
    base: IntArray,
    layer: IntArray,
    part: FloatArray,
    # in and out
    body: FloatArray,
    data: FloatArray,
    # work and results
    body_before: FloatArray,
    before: FloatArray,
    sums: FloatArray,
    share_of: FloatArray,
    band: FloatArray,
    r: FloatArray,
    factor: FloatArray,
    alpha: FloatArray,
    history: FloatArray,
    kinds: FloatArray,
    verdict: LongArray,
) -> tuple[int, int, float]:
    """Sweep and correct until ``iterations`` sweeps or the tolerance [m/s]; returns sweeps, corrections and residual (-1: not measured).

    ``history`` (iterations, 5), when it has rows, receives residual, row-kind residuals and corrections so far after every sweep.
    """
    blocks = np.int64(colour_block[COLOURS])
    serial_start = blocks * LANES
    scratch, own_kinds = np.empty(SCRATCH), np.zeros(3)
    low, high = share(np.int64(yielding), thread, threads)
    state = np.empty(STATE)
    begin(state)
    residual, done = -1.0, 0
    next_correction, corrections = first_correction, 0
    for sweep in range(iterations):
        if sweep == next_correction and sweep <= last_correction:
            correct(
                thread,
                threads,
                barrier,
                body,
                lane_a,
                lane_b,
                data,
                fields,
                colour_block,
                yielding,
                soft_t,
                soft_r,
                box,
                base,
                layer,
                part,
                body_before,
                before,
                share_of,
                band,
                r,
                factor,
                alpha,
                scratch,
                verdict,
            )
            corrections += 1
            next_correction = sweep + min(LAST_GAP, first_gap + sweep // 4)
        beta = next_momentum(state, sweep) if momentum else 0.0
        extrapolate(body, body_before, low, high, beta)
        wait(barrier, threads)
        ahead, square = 0.0, 0.0
        if box:
            for k in range(len(place)):
                x, y = sweep_contact(
                    body,
                    lane_a,
                    lane_b,
                    data,
                    before,
                    fields,
                    np.int64(place[k]),
                    serial_start,
                    lever,
                    full,
                    inverse_inertia,
                    beta,
                    True,
                    soft_t,
                    soft_r,
                    True,
                )
                ahead += x
                square += y
        else:
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
                True,
                soft_t,
                soft_r,
                scratch,
                sums,
            )
            ahead, square = add_step_sums(sums, blocks, np.int64(full_first[COLOURS + 1]))
        done = sweep + 1
        judge_step(state, sweep, ahead, square)
        if len(history) > 0 or (tolerance > 0.0 and done % CHECK_EVERY == 0) or (measure and done == iterations):
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
                history[sweep, 1:4] = own_kinds
                history[sweep, 4] = corrections
            if residual <= tolerance:
                break
        else:
            wait(barrier, threads)  # the sums are read by all before they are written anew
    if thread == 0:
        kinds[:] = own_kinds
    return done, corrections, residual


class Multigrid(Record):
    """Projected Gauss-Seidel with momentum and coarse corrections: the iterations hardly grow with the height of a column or silo."""

    name: Literal["multigrid"] = "multigrid"
    iterations: Sweeps = 20
    """Sweeps per step. In the first half of them (from a cold start: three quarters) coarse corrections come in between: at first after
    every second one (cold: every one), later after every eighth."""
    tolerance: NonNegative = 0.0
    """Stop before that when the residual is below this [m/s]; 0: never."""
    partitions: Whole | None = Field(default=None, ge=1)
    """Layers across the load in which impulses are scaled; none: one for every three grain diameters. None is thinner than a grain."""
    momentum: bool = True
    """Extrapolate each sweep by the last change."""
    friction: Literal["cone", "box"] = "cone"
    """``cone`` scales the tangential impulse back to its bound; ``box`` clamps each component (SN 2.3.2)."""

    def solve(self, problem: Problem, *, step: int = 0, measure: bool = True, history: bool = False) -> SolveReport:
        """Solve in place: impulses and velocities of ``problem`` are the start and become the result."""
        grains = int(np.count_nonzero(problem.body[INV_MASS : problem.first_full * BODY : BODY]))
        if self.partitions is not None and self.partitions > max(1, grains):
            raise InputError(
                f"partitions of solver 'multigrid' must be at most the number of grains (got {self.partitions} for {grains} grains); "
                "leave it out to have one layer for every three grain diameters."
            )
        lanes = problem.colour_blocks * LANES
        base, layer = np.zeros(problem.yielding, np.int32), np.empty(max(lanes, 1), np.int32)
        height, part = np.zeros(problem.yielding), np.zeros(max(lanes, 1))
        layers, warm, carries = layers_along_load(
            problem.slot_a,
            problem.slot_b,
            problem.place,
            problem.fields,
            lanes,
            problem.first_full,
            problem.yielding,
            problem.body,
            problem.data,
            self.partitions or 0,
            height,
            base,
            layer,
            part,
        )
        # The last sweeps smooth what a correction leaves between the grains; without them a warm start feeds it back, step after step.
        last_correction = self.iterations // 2 if warm else 3 * self.iterations // 4
        rows = np.zeros((self.iterations if history else 0, 5))
        kinds, verdict = np.zeros(3), np.zeros(1, np.int64)
        box = self.friction == "box"
        band, factor = np.zeros((layers + 1, 3)), np.zeros((layers + 1, 3))
        done, corrections, residual = problem.team.run(
            cycle,
            0 if box else SWEPT * problem.contact_count,
            *problem.for_sweeps(),
            self.iterations,
            self.tolerance,
            self.momentum,
            box,
            measure,
            0 if carries else 1,
            2 if warm else 1,
            last_correction,
            base,
            layer,
            part,
            problem.body,
            problem.data,
            problem.body_before,
            problem.before,
            problem.sums,
            np.empty(problem.yielding * SHARE),
            band,
            np.zeros(layers + 1),
            factor,
            np.zeros(layers + 1),
            rows,
            kinds,
            verdict,
        )
        message = ""
        if verdict[0]:
            message = f"{verdict[0]} of {corrections} coarse corrections were left out: their problem is singular (no contact carries yet)."
        rows = rows[:done]
        return SolveReport(
            iterations=done,
            residual=residual,
            residual_by_kind=tuple(kinds),
            history=rows[:, :4],
            converged=self.tolerance > 0 and 0 <= residual <= self.tolerance,
            work=SETUP_WORK + np.arange(1.0, len(rows) + 1) + CORRECTION_WORK * rows[:, 4],
            message=message,
        )
