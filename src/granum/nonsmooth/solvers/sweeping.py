"""The one loop of sweeps: projected Gauss-Seidel with momentum, until a number of sweeps, a residual, or nothing that changes.

``pgs`` and the sweeps of ``direct`` run it as it is; ``multigrid`` hands it its coarse problem, and sweeps between the corrections;
the impact stage hands it who was hit, and only the contacts that the collisions reach are swept. What is not handed over is left out when
the loop is compiled.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from ..._jit import device, kernel
from ...array_types import FloatArray
from ...kernel_groups import group
from ...machines.linked import any_links, drives_changed, extrapolate_links
from ...parallel.barrier import share, wait
from ...parallel.crew import Crew
from ..blocks import BODY
from ..coarse import Coarse, correct
from ..groups import ContactBlocks, Found, Levers, Momentum, Packed
from ..impact_reach import Impact
from ..impact_sweeps import (
    PROGRESS,
    begin_impact,
    extrapolate_touched,
    go_on_with_impact,
    return_impulses,
    sum_awake,
    sweep_awake,
)
from ..kinds.every import add_step_sums, mean_residual, sweep_all
from ..kinds.full import sweep_contact, weigh_links
from ..kinds.links import update_drives
from ..kinds.spheres import SCRATCH
from ..problem import Problem
from .estimate import FIRST, estimated_error, mass_of
from .momentum import STATE, begin, judge_step, next_momentum
from .report import SolveReport

CHECK_EVERY = 5  # sweeps between two looks at the residual at least: a look costs about as much as a sweep
SWEPT = 4  # things that a contact counts for when threads share them out, since it is swept so often
LAST_GAP = 8  # most sweeps from one coarse correction to the next


class Order(IntEnum):
    """In which order a sweep visits the contacts."""

    COLOUR = 0  # colour by colour, with vector instructions
    GIVEN = 1  # as found
    SYMMETRIC = 2  # as found, every second sweep backwards
    RANDOM = 3  # a new permutation each sweep


ORDER_NUMBER = {order.name.lower(): int(order) for order in Order}  # a plain number: an enum is slow to hand to compiled code


NO_HISTORY, NO_CORRECTIONS = np.zeros((0, 5)), np.zeros(0)


@group
class Method(NamedTuple):
    """How to sweep."""

    iterations: int
    """Sweeps at most."""
    tolerance: float
    """Residual [m/s] to stop at; 0: none. Of an impact: the change of a velocity."""
    soft: float
    """Softness of the friction [1/kg] and rolling rows [1/(kg m^2)]."""
    momentum: bool = True
    order: int = 0
    """Of ``Order``; box friction is swept as found whatever is asked."""
    seed: int = 0
    """Of the random order."""
    measure: bool = False
    """Measure the residual of the last sweep."""
    accuracy: float = 0.0
    """Error of the velocities to stop at, as it is estimated, as a part of ``scale``; 0: none."""
    scale: float = 0.0
    """[m/s] by which velocities change in the step."""
    first_look: int = 2 * CHECK_EVERY
    """Sweep after which the residual is first compared with the tolerance."""
    looks: int = 4
    """The next look comes after a further part 1 / looks of the sweeps done so far, and ``CHECK_EVERY`` at least."""
    history: FloatArray = NO_HISTORY
    """(iterations, 5), when it has rows, receives residual, row-kind residuals and coarse corrections so far after every sweep."""


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
def sweep_visits(packed, blocks, levers, before, visit, backwards, beta, keeps, soft):
    """Sweep contacts one by one in the order of ``visit`` (lanes); returns the two momentum sums."""
    ahead, square = 0.0, 0.0
    count = len(visit)
    for k in range(count):
        place = np.int64(visit[count - 1 - k if backwards else k])
        x, y = sweep_contact(packed, blocks, levers, before, place, beta, keeps, soft)
        ahead += x
        square += y
    return ahead, square


@kernel
def sweep_until(
    crew: Crew,
    packed: Packed,
    blocks: ContactBlocks,
    levers: Levers,
    found: Found,
    work: Momentum,
    method: Method,
    coarse: Coarse | None,
    impact: Impact | None,
) -> tuple[int, float, float, float, float, float]:
    """Sweeps done, the residual (-1: not measured), its three kinds, and the estimated error of the velocities (-1: not estimated) [m/s];
    velocities and impulses are changed in place.

    Every thread comes to the same decisions from the same numbers; orders other than by colour are for one thread.
    """
    thread, threads, barrier = crew
    iterations, tolerance, soft, momentum, order, seed, measure, accuracy, scale, next_look, looks, history = method
    body, body_before = packed.body, work.body_before
    keeps = momentum or coarse is not None or accuracy > 0.0  # a correction moves the iterate before along; sums of steps are an estimate
    in_colours = impact is None and order == Order.COLOUR and not blocks.box
    visit = np.empty(0 if in_colours or impact is not None else len(found.place), np.int32)
    for k in range(len(visit)):
        visit[k] = found.place[k]
    if order == Order.RANDOM:
        np.random.seed(seed)  # noqa: NPY002  (the state of compiled code, not NumPy's)
    scratch, kinds, state, progress = np.empty(SCRATCH), np.zeros(3), np.empty(STATE), np.zeros(PROGRESS)
    low, high = share(np.int64(packed.yielding), thread, threads)
    begin(state)
    if impact is not None:
        begin_impact(crew, packed, blocks, found, work, impact, tolerance, progress)
    residual, error, done = -1.0, -1.0, 0
    estimates = keeps and impact is None and coarse is None and (measure or accuracy > 0.0)
    squares, mass = np.empty(iterations if estimates else 0), mass_of(packed) if estimates else 0.0
    next_correction, corrections = 0, 0
    if coarse is not None:
        next_correction = coarse.first_correction
    for sweep in range(iterations):
        if coarse is not None:  # noqa: SIM102  (alone, so that it is left out when compiled)
            if sweep == next_correction and sweep <= coarse.last_correction:
                correct(crew, packed, blocks, work, coarse, scratch)
                corrections += 1
                next_correction = sweep + min(LAST_GAP, coarse.first_gap + sweep // 4)
        beta = next_momentum(state, sweep) if momentum else 0.0
        if impact is not None and impact.calm[0]:
            beta = 0.0
        elif keeps:
            if impact is not None:
                extrapolate_touched(body, body_before, impact.reached, low, high, beta)
            else:
                extrapolate(body, body_before, low, high, beta)
            if thread == 0:
                extrapolate_links(packed.links, beta)
            wait(barrier, threads)
        ahead, square, whole = 0.0, 0.0, 0.0
        if impact is not None:
            sweep_awake(crew, packed, blocks, levers, found, work, impact, beta, scratch, progress)
        elif in_colours:
            sweep_all(crew, packed, blocks, levers, work, beta, keeps, soft, scratch)
            if keeps:
                ahead, square, whole = add_step_sums(blocks, work.sums)
        else:
            if order == Order.RANDOM:
                np.random.shuffle(visit)  # noqa: NPY002
            backwards = order == Order.SYMMETRIC and sweep % 2 == 1
            ahead, square = sweep_visits(packed, blocks, levers, work.before, visit, backwards, beta, keeps, soft)
            whole = square
        done = sweep + 1
        if any_links(packed.links):
            wait(barrier, threads)
            if thread == 0:
                update_drives(packed.links, body, packed.first_full)
                if drives_changed(packed.links):
                    weigh_links(packed, blocks, levers, found)
            wait(barrier, threads)
        if impact is not None:
            if not go_on_with_impact(crew, packed, blocks, impact, progress):
                break
            if keeps and not impact.calm[0]:
                ahead, square = sum_awake(blocks, impact, work.sums)
                wait(barrier, threads)  # they are read by all before they are written anew
        if keeps:
            judge_step(state, sweep, ahead, square)
            if drives_changed(packed.links):  # velocities do not follow from the impulses as before
                begin(state)
        if impact is not None:
            continue
        if estimates:
            squares[sweep] = whole
        accurate = accuracy > 0.0 and done >= FIRST and estimated_error(squares, done, mass, scale) <= accuracy * scale
        if len(history) > 0 or (tolerance > 0.0 and done == next_look) or (measure and (done == iterations or accurate)):
            if done == next_look:
                next_look = done + max(CHECK_EVERY, done // looks)
            residual = mean_residual(crew, packed, blocks, levers, found, work.sums, kinds)
            if len(history) > 0 and thread == 0:
                history[sweep, 0] = residual
                history[sweep, 1:4] = kinds
                history[sweep, 4] = corrections
            if residual <= tolerance:
                break
        if accurate:
            break
    if impact is not None:
        return_impulses(crew, blocks, found, impact)
    if estimates and done > 0:
        error = estimated_error(squares, done, mass, scale)
    return done, residual, kinds[0], kinds[1], kinds[2], error


def sweep(
    problem: Problem, method: Method, *, coarse: Coarse | None = None, impact: Impact | None = None, history: bool = False
) -> tuple[SolveReport, FloatArray]:
    """Sweep a problem in place; what was done, and the coarse corrections so far at each row of the history."""
    p = problem
    in_colours = method.order == Order.COLOUR and not p.blocks.box
    shared = p.contact_count * (1 if impact is not None else SWEPT if in_colours else 0)
    if history:
        method = method._replace(history=np.zeros((method.iterations, 5)))
    done, residual, normal, friction, rolling, error = p.team.run(
        sweep_until, shared, p.packed, p.blocks, p.levers, p.found, p.room_to_sweep(), method, coarse, impact
    )
    converged = (
        0 <= residual <= method.tolerance
        if method.tolerance > 0
        else 0 <= error <= method.accuracy * method.scale
        if method.accuracy > 0
        else False
    )
    report = SolveReport(done, residual, converged, (normal, friction, rolling), error)
    if not history:
        return report, NO_CORRECTIONS
    rows = method.history[:done]
    report.history, report.work = rows[:, :4], np.arange(1.0, done + 1)
    return report, rows[:, 4]
