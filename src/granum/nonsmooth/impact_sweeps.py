"""Solve of the impact stage: projected Gauss-Seidel with momentum, over the contacts that the collisions reach (physics 3 and 4).

An impact is local. A block of contacts sleeps until one of its bodies has been hit; from then on it is swept to the end, so that the
extrapolation of impulses and of velocities always goes together. A grain that lands on a large bed costs as much as on a small one.

A few grains that hit each other are solved finely, since it costs nothing: a row of elastic balls keeps its energy. Many are solved to
what their speeds are worth, and what a bed feels of an impact less than that is left to the continuous stage.
"""

from __future__ import annotations

import numpy as np

from .._jit import device, kernel
from ..array_types import FloatArray, IntArray, LongArray
from ..parallel.barrier import add_up, share, wait
from .blocks import BODY, COLOURS, INV_DN, LANES, LEFT_OVER, PN, RX, TARGET, lanes_of, own_lanes, yields
from .rows import sweep_contact
from .solvers.momentum import STATE, begin, judge_step, next_momentum
from .sweep import SCRATCH, sweep_blocks

STARTED_AT = 16  # field of the scratch of ``sweep_blocks`` that holds the normal impulses a sweep started from, then the tangential ones
FINE = 0.01  # of the tolerance: how well small impacts are solved,
FEW = 1000  # contacts in a sweep: those that reach no more than this,
SMALL = 10_000  # updates of contacts: and take no more than this (a fraction of a millisecond)
# A body that no impulse has moved, one that has, one that passes it on from the next sweep on if the impact is small, and one that does.
UNTOUCHED, TOUCHED, STIRRED, HIT = np.int8(0), np.int8(1), np.int8(2), np.int8(3)


@device
def is_hit(reached, slot, first_wall_slot):
    """Whether this body wakes its contacts; walls do not."""
    return slot < first_wall_slot and reached[slot] == HIT


@device
def reach(reached, body, slot, first_wall_slot, how):
    """Note that an impulse has moved a body; returns 1 if it wakes its contacts from now on, else 0."""
    if not yields(body, slot, first_wall_slot) or reached[slot] >= how:
        return 0
    reached[slot] = how
    return 1 if how == HIT else 0


@device
def strength(square, fine, tolerance):
    """What a change makes of a body, from its square and those of both limits."""
    return HIT if square > tolerance else STIRRED if square > fine else TOUCHED


@device
def extrapolate_touched(body, body_before, reached, first, last, beta):
    """Velocities of the bodies that were moved, ahead of the last two iterates by beta; the newest is kept in ``body_before``."""
    for i in range(first, last):
        if reached[i] == UNTOUCHED:
            continue
        for f in range(6):
            v = body[i * BODY + f]
            body[i * BODY + f] = v + beta * (v - body_before[i * 6 + f])
            body_before[i * 6 + f] = v


@device
def sweep_awake(
    k, look, first_wall_slot, lane_a, lane_b, contact_at, fields, beta, fine, tolerance, scratch, reached, awake, body, data, before, sums
):
    """Sweep one block of spheres if it is awake: how many of its contacts changed a velocity by more than ``fine``, or -1 if it sleeps;
    and how many bodies were hit first here, by more than ``tolerance``. Only with ``look`` can it wake up."""
    if look and not awake[k]:
        for p in range(k * LANES, (k + 1) * LANES):
            if contact_at[p] >= 0 and (is_hit(reached, lane_a[p], first_wall_slot) or is_hit(reached, lane_b[p], first_wall_slot)):
                awake[k] = True
    if not awake[k]:
        return -1, 0
    sweep_blocks(body, lane_a, lane_b, data, before, fields, k, k + 1, 0, beta, True, 0.0, 0.0, scratch, sums)
    moved, fresh = 0, 0
    for lane in range(LANES):
        p = k * LANES + lane
        if contact_at[p] < 0:
            continue
        square = 0.0
        for f in range(4):
            change = data[(k * fields + PN + f) * LANES + lane] - scratch[(STARTED_AT + f) * LANES + lane]
            square += change * change
        weight = data[(k * fields + INV_DN) * LANES + lane]
        how = strength(square, (fine * weight) ** 2, (tolerance * weight) ** 2)
        moved += how >= STIRRED
        fresh += reach(reached, body, lane_a[p], first_wall_slot, how)
        fresh += reach(reached, body, lane_b[p], first_wall_slot, how)
    return moved, fresh


@kernel
def solve_impacts(
    thread: int,
    threads: int,
    barrier: LongArray,
    gap_rate: FloatArray,
    weight: FloatArray,
    lane_a: IntArray,
    lane_b: IntArray,
    contact_at: IntArray,
    fields: int,
    colour_block: IntArray,
    full_first: IntArray,
    first_wall_slot: int,
    lever: FloatArray,
    full: IntArray,
    inverse_inertia: FloatArray,
    box: bool,
    most_sweeps: int,
    tolerance: float,
    reached: IntArray,
    awake: IntArray,
    body: FloatArray,
    data: FloatArray,
    body_before: FloatArray,
    before: FloatArray,
    sums: FloatArray,
) -> int:
    """Sweep the contacts that approach too fast, and those they reach, until no velocity changes by more than ``tolerance`` [m/s], or
    finer where few are reached.

    ``reached`` (slots,) and ``awake`` (blocks, then contacts that are swept one by one) start with zeros. A ``box`` of friction is swept
    contact by contact and without momentum. Returns the sweeps.
    """
    blocks = np.int64(colour_block[COLOURS])
    serial_start = blocks * LANES
    lanes = serial_start + full_first[COLOURS + 1]
    low, high = share(lanes, thread, threads)
    for p in range(low, high):
        c = contact_at[p]
        if c >= 0 and gap_rate[c] < data[p // LANES * fields * LANES + TARGET * LANES + p % LANES] - tolerance:
            reach(reached, body, lane_a[p], first_wall_slot, HIT)
            reach(reached, body, lane_b[p], first_wall_slot, HIT)
    low, high = share((lanes + LANES - 1) // LANES * LANES * (7 if fields > RX else 4), thread, threads)
    for o in range(low, high):
        before[o] = 0.0
    low, high = share(np.int64(first_wall_slot), thread, threads)
    for i in range(low, high):
        for f in range(6):
            body_before[i * 6 + f] = body[i * BODY + f]
    wait(barrier, threads)
    scratch, state = np.empty(SCRATCH), np.empty(STATE)
    begin(state)
    changes, updates, look = FINE * tolerance, 0, True
    for sweep in range(most_sweeps):
        beta = 0.0
        if not box:
            beta = next_momentum(state, sweep)
            extrapolate_touched(body, body_before, reached, low, high, beta)
            wait(barrier, threads)
        moved, swept, fresh = 0, 0, 0
        for k in range(LEFT_OVER + 1):
            first, last = lanes_of(colour_block, full_first, k)
            if first == last:
                continue
            if k < COLOURS and not box:
                block, end = share((last - first) // LANES, thread, threads)
                for m in range(first // LANES + block, first // LANES + end):
                    changed, hits = sweep_awake(
                        m,
                        look,
                        first_wall_slot,
                        lane_a,
                        lane_b,
                        contact_at,
                        fields,
                        beta,
                        changes,
                        tolerance,
                        scratch,
                        reached,
                        awake,
                        body,
                        data,
                        before,
                        sums,
                    )
                    if changed >= 0:
                        moved += changed
                        fresh += hits
                        swept += LANES
                wait(barrier, threads)
                continue
            place, end = own_lanes(first, last, k, thread, threads)
            for p in range(place, end):
                c, a, b = contact_at[p], lane_a[p], lane_b[p]
                if c < 0:
                    continue
                is_awake = is_hit(reached, a, first_wall_slot) or is_hit(reached, b, first_wall_slot)
                if not is_awake and (box or not awake[blocks + p - serial_start]):
                    continue
                ahead, square = sweep_contact(
                    body,
                    lane_a,
                    lane_b,
                    data,
                    before,
                    fields,
                    np.int64(p),
                    serial_start,
                    lever,
                    full,
                    inverse_inertia,
                    beta,
                    not box,
                    0.0,
                    0.0,
                    box,
                )
                if not box:
                    awake[blocks + p - serial_start] = True
                    sums[2 * (blocks + p - serial_start)], sums[2 * (blocks + p - serial_start) + 1] = ahead, square
                swept += 1
                # D dp^2 D: the square of a change of velocity
                how = strength(square * weight[c], changes * changes, tolerance * tolerance)
                moved += how >= STIRRED
                fresh += reach(reached, body, a, first_wall_slot, how)
                fresh += reach(reached, body, b, first_wall_slot, how)
            wait(barrier, threads)
        if add_up(barrier, thread, threads, moved)[1] == 0:
            return sweep + 1
        look = add_up(barrier, thread, threads, fresh)[1] > 0
        swept = add_up(barrier, thread, threads, swept)[1]
        updates += swept
        if swept > FEW or updates > SMALL:
            changes = tolerance
        elif changes < tolerance:
            look = True
            for i in range(low, high):
                if reached[i] == STIRRED:
                    reached[i] = HIT
            wait(barrier, threads)
        if not box:
            ahead, square = 0.0, 0.0
            for k in range(blocks + lanes - serial_start):
                if awake[k]:
                    ahead += sums[2 * k]
                    square += sums[2 * k + 1]
            judge_step(state, sweep, ahead, square)
            wait(barrier, threads)
    return most_sweeps
