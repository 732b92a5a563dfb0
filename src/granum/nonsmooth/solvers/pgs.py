"""Projected Gauss-Seidel, plain or with momentum (physics 4; Nesterov's extrapolation around the projected sweep)."""

from __future__ import annotations

import math
from enum import IntEnum
from typing import Literal

import numpy as np
from pydantic import Field

from ..._jit import FloatArray, IntArray, device, kernel
from ...contact.model import NonNegative, Record
from ..blocks import BODY, LANES
from ..problem import Problem
from ..residual import mean_residual
from ..rows import sweep_contact
from ..sweep import SCRATCH, sweep_blocks
from .report import SolveReport


class Order(IntEnum):
    """In which order a sweep visits the contacts."""

    COLOUR = 0     # colour by colour, with vector instructions
    GIVEN = 1      # as found
    SYMMETRIC = 2  # as found, every second sweep backwards
    RANDOM = 3     # a new permutation each sweep


ORDER_NUMBER = {order.name.lower(): int(order) for order in Order}  # a plain number: an enum is slow to hand to compiled code
LARGEST_MOMENTUM = 0.95  # without a cap the extrapolation diverges late in a solve
GROWTH_RESTART = 1.5     # restart when the squared step grows by this
WINDOW = 20              # sweeps: without headway from one window to the next, plain sweeps follow, longer each time
CHECK_EVERY = 5          # sweeps between two looks at the residual: a look costs about as much as a sweep


@device
def extrapolate(body, body_before, bodies, beta):
    """Velocities ahead of the last two iterates by beta; the newest is kept in ``body_before``."""
    for i in range(bodies):
        o = np.uint64(i * BODY)
        q = np.uint64(i * 6)
        for f in range(np.uint64(6)):
            v = body[o + f]
            body[o + f] = v + beta * (v - body_before[q + f])
            body_before[q + f] = v


@kernel
def iterate(
    # the problem
    lane_a: IntArray, lane_b: IntArray, place: IntArray, fields: int, colour_blocks: int, serial: int, lever: FloatArray, full: IntArray,
    inverse_inertia: FloatArray, radius_eff: FloatArray, soft_t: float, soft_r: float, yielding: int,
    # the method
    iterations: int, tolerance: float, momentum: bool, order: int, box: bool, seed: int, measure: bool,
    # in and out
    body: FloatArray, data: FloatArray,
    # work and results
    body_before: FloatArray, before: FloatArray, history: FloatArray, kinds: FloatArray,
) -> tuple[int, float]:  # fmt: skip
    """Sweep until ``iterations`` or the residual is below ``tolerance`` [m/s]; returns sweeps done and residual (-1: not measured).

    ``history`` (iterations, 4), when it has rows, receives residual and row-kind residuals after every sweep.
    """
    serial_start = np.int64(colour_blocks * LANES)
    contacts = len(place)
    visit = place.copy()
    if order == Order.RANDOM:
        np.random.seed(seed)  # noqa: NPY002  (the state of compiled code, not NumPy's)
    scratch = np.empty(SCRATCH)
    in_blocks = order == Order.COLOUR and not box
    theta, last_square, residual, done = 1.0, np.inf, -1.0, 0
    rest, plain_until, window, last_window = WINDOW, 0, 0.0, np.inf
    for sweep in range(iterations):
        beta = 0.0
        if momentum:
            new_theta = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * theta * theta))
            beta = min((theta - 1.0) / new_theta, LARGEST_MOMENTUM)
            theta = new_theta
            if sweep < plain_until:
                beta, theta = 0.0, 1.0
            extrapolate(body, body_before, yielding, beta)
        ahead, square = 0.0, 0.0
        if in_blocks:
            ahead, square = sweep_blocks(
                body, lane_a, lane_b, data, before, fields, colour_blocks, beta, momentum, soft_t, soft_r, scratch
            )
        elif order == Order.RANDOM:
            np.random.shuffle(visit)  # noqa: NPY002
        for k in range(serial if in_blocks else contacts):
            p = serial_start + k if in_blocks else np.int64(visit[k])
            if order == Order.SYMMETRIC and sweep % 2 == 1:
                p = np.int64(visit[contacts - 1 - k])
            x, y = sweep_contact(
                body, lane_a, lane_b, data, before, fields, p, serial_start, lever, full, inverse_inertia, beta, momentum,
                soft_t, soft_r, box,
            )  # fmt: skip
            ahead += x
            square += y
        done = sweep + 1
        if momentum:
            if ahead < 0.0 or square > GROWTH_RESTART * last_square:
                theta = 1.0
            last_square = square
            window += square
            if done % WINDOW == 0:
                if window >= last_window and sweep >= plain_until:  # no headway: it circles around the solution
                    plain_until, rest = done + rest, 2 * rest
                window, last_window = 0.0, window
        if len(history) > 0 or (tolerance > 0.0 and done % CHECK_EVERY == 0):
            residual = mean_residual(
                body, lane_a, lane_b, data, fields, place, serial_start, lever, full, soft_t, soft_r, box, radius_eff, kinds
            )
            if len(history) > 0:
                history[sweep, 0] = residual
                history[sweep, 1:] = kinds
            if residual <= tolerance:
                break
    if measure and (residual < 0.0 or done % CHECK_EVERY > 0):
        residual = mean_residual(
            body, lane_a, lane_b, data, fields, place, serial_start, lever, full, soft_t, soft_r, box, radius_eff, kinds
        )
    return done, residual


class PGS(Record):
    """Projected Gauss-Seidel (physics 4)."""

    name: Literal["pgs"] = "pgs"
    iterations: int = Field(default=50, ge=1)
    """Sweeps per step. A column of n grains needs of the order of n / error without momentum (physics 9)."""
    tolerance: NonNegative = 0.0
    """Stop before that when the residual is below this [m/s]; 0: never."""
    momentum: bool = True
    """Extrapolate each sweep by the last change: several times fewer sweeps for the same error."""
    friction: Literal["cone", "box"] = "cone"
    """``cone`` scales the tangential impulse back to its bound; ``box`` clamps each component (SN 2.3.2)."""
    order: Literal["colour", "given", "symmetric", "random"] = "colour"
    """Of the contacts in a sweep; ``colour`` is the fast one."""
    seed: int = Field(default=0, ge=0)
    """Of the random order."""

    def solve(
        self, problem: Problem, *, step: int = 0, measure: bool = True, history: bool = False
    ) -> SolveReport:
        """Solve in place: impulses and velocities of ``problem`` are the start and become the result."""
        rows = np.zeros((self.iterations if history else 0, 4))
        kinds = np.zeros(3)
        momentum = self.momentum and self.order != "symmetric"  # the two together diverge
        done, residual = iterate(
            *problem.for_sweeps(), self.iterations, self.tolerance, momentum, ORDER_NUMBER[self.order],
            self.friction == "box", self.seed + step, measure, problem.body, problem.data, problem.body_before,
            problem.before, rows, kinds,
        )  # fmt: skip
        return SolveReport(
            iterations=done, residual=residual, residual_by_kind=tuple(kinds), history=rows[:done],
            converged=self.tolerance > 0 and 0 <= residual <= self.tolerance,
        )  # fmt: skip
