"""Sweeps of the impact stage: over the contacts that the collisions reach alone (physics 3 and 4).

An impact is local. A block of contacts sleeps until one of its bodies has been hit; from then on it is swept to the end, so that the
extrapolation of impulses and of velocities always goes together. A grain that lands on a large bed costs as much as on a small one.

A few grains that hit each other are solved finely, since it costs nothing: a row of elastic balls keeps its energy. Many are solved to
what their speeds are worth, and what a bed feels of an impact less than that is left to the continuous stage.

These are the parts that ``solvers/sweeping.py`` takes for an impact; its loop, and the momentum, are those of every other solve.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._jit import device
from ..array_types import BoolArray
from ..kernel_groups import group
from ..parallel.barrier import add_up, share, wait
from .blocks import BODY, COLOURS, INV_DN, LANES, LEFT_OVER, PN, RX, TARGET, at, lanes_of, own_lanes, yields
from .kinds.full import sweep_contact
from .kinds.links import reach_links
from .kinds.spheres import sweep_blocks

STARTED_AT = 16  # field of the scratch of ``sweep_blocks`` that holds the normal impulses a sweep started from, then the tangential ones
FINE = 0.01  # of the tolerance: how well small impacts are solved,
FEW = 1000  # contacts in a sweep: those that reach no more than this,
SMALL = 10_000  # updates of contacts: and take no more than this (a fraction of a millisecond)
# A body that no impulse has moved, one that has, one that passes it on from the next sweep on if the impact is small, and one that does.
UNTOUCHED, TOUCHED, STIRRED, HIT = np.int8(0), np.int8(1), np.int8(2), np.int8(3)

# What each thread knows of the progress: the change of a velocity [m/s] that counts, and the one that wakes others; updates of contacts
# so far; whether sleeping blocks are to be looked at; of the last sweep, contacts that changed more than that, bodies hit first, contacts.
FINE_CHANGE, CHANGE, UPDATES, LOOK, MOVED, FRESH, SWEPT = range(7)
PROGRESS = 7


@group
class Impact(NamedTuple):
    """Who an impact has reached; all zeros at the start."""

    reached: NDArray[np.int8]
    """(yielding slots,) ``UNTOUCHED`` to ``HIT``"""
    awake: BoolArray
    """(blocks, then contacts that are swept one by one)"""


@device
def is_hit(packed, impact, slot):
    """Whether this body wakes its contacts; walls do not."""
    return slot < packed.yielding and impact.reached[slot] == HIT


@device
def reach(packed, impact, slot, how):
    """Note that an impulse has moved a body; returns 1 if it wakes its contacts from now on, else 0."""
    if not yields(packed, slot) or impact.reached[slot] >= how:
        return 0
    impact.reached[slot] = how
    reach_links(packed.links, impact.reached, packed.first_full, slot, how)
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
def begin_impact(crew, packed, blocks, found, work, impact, tolerance, progress):
    """Hit the bodies of the contacts that approach faster than their targets allow by more than ``tolerance`` [m/s]."""
    thread, threads, barrier = crew
    lanes = blocks.serial_start + blocks.full_first[COLOURS + 1]
    low, high = share(lanes, thread, threads)
    for p in range(low, high):
        c = blocks.contact_at[p]
        if c >= 0 and found.gap_rate[c] < blocks.data[at(p, blocks.fields) + TARGET * LANES] - tolerance:
            reach(packed, impact, blocks.lane_a[p], HIT)
            reach(packed, impact, blocks.lane_b[p], HIT)
    low, high = share((lanes + LANES - 1) // LANES * LANES * (7 if blocks.fields > RX else 4), thread, threads)
    for o in range(low, high):
        work.before[o] = 0.0
    low, high = share(np.int64(packed.yielding), thread, threads)
    for i in range(low, high):
        for f in range(6):
            work.body_before[i * 6 + f] = packed.body[i * BODY + f]
    progress[FINE_CHANGE], progress[CHANGE], progress[UPDATES], progress[LOOK] = FINE * tolerance, tolerance, 0.0, 1.0
    wait(barrier, threads)


@device
def sweep_awake_block(packed, blocks, work, impact, k, beta, scratch, progress):
    """Sweep one block of spheres if it is awake; only if sleeping ones are looked at can it wake up."""
    if progress[LOOK] > 0.0 and not impact.awake[k]:
        for p in range(k * LANES, (k + 1) * LANES):
            if blocks.contact_at[p] >= 0 and (is_hit(packed, impact, blocks.lane_a[p]) or is_hit(packed, impact, blocks.lane_b[p])):
                impact.awake[k] = True
    if not impact.awake[k]:
        return
    sweep_blocks(packed, blocks, work, k, k + 1, 0, beta, True, 0.0, scratch)
    fine, tolerance, fields = progress[FINE_CHANGE], progress[CHANGE], blocks.fields
    moved, fresh = 0, 0
    for lane in range(LANES):
        p = k * LANES + lane
        if blocks.contact_at[p] < 0:
            continue
        square = 0.0
        for f in range(4):
            change = blocks.data[(k * fields + PN + f) * LANES + lane] - scratch[(STARTED_AT + f) * LANES + lane]
            square += change * change
        weight = blocks.data[(k * fields + INV_DN) * LANES + lane]
        how = strength(square, (fine * weight) ** 2, (tolerance * weight) ** 2)
        moved += how >= STIRRED
        fresh += reach(packed, impact, blocks.lane_a[p], how)
        fresh += reach(packed, impact, blocks.lane_b[p], how)
    progress[MOVED] += moved
    progress[FRESH] += fresh
    progress[SWEPT] += LANES


@device
def sweep_awake(crew, packed, blocks, levers, found, work, impact, beta, scratch, progress):
    """One sweep over the contacts that are awake. A box of friction is swept contact by contact and without momentum."""
    thread, threads, barrier = crew
    box, fine, tolerance = blocks.box, progress[FINE_CHANGE], progress[CHANGE]
    progress[MOVED], progress[FRESH], progress[SWEPT] = 0.0, 0.0, 0.0
    count = np.int64(blocks.colour_block[COLOURS])
    for k in range(LEFT_OVER + 1):
        first, last = lanes_of(blocks, k)
        if first == last:
            continue
        if k < COLOURS and not box:
            block, end = share((last - first) // LANES, thread, threads)
            for m in range(first // LANES + block, first // LANES + end):
                sweep_awake_block(packed, blocks, work, impact, m, beta, scratch, progress)
            wait(barrier, threads)
            continue
        place, end = own_lanes(first, last, k, thread, threads)
        moved, fresh, swept = 0, 0, 0
        for p in range(place, end):
            c, a, b = blocks.contact_at[p], blocks.lane_a[p], blocks.lane_b[p]
            if c < 0:
                continue
            own = count + p - blocks.serial_start
            is_awake = is_hit(packed, impact, a) or is_hit(packed, impact, b)
            if not is_awake and (box or not impact.awake[own]):
                continue
            ahead, square = sweep_contact(packed, blocks, levers, work.before, np.int64(p), beta, not box, 0.0)
            if not box:
                impact.awake[own] = True
                work.sums[2 * own], work.sums[2 * own + 1] = ahead, square
            swept += 1
            # D dp^2 D: the square of a change of velocity
            how = strength(square * found.weight[c], fine * fine, tolerance * tolerance)
            moved += how >= STIRRED
            fresh += reach(packed, impact, a, how)
            fresh += reach(packed, impact, b, how)
        progress[MOVED] += moved
        progress[FRESH] += fresh
        progress[SWEPT] += swept
        wait(barrier, threads)


@device
def go_on_with_impact(crew, impact, low, high, progress):
    """Whether another sweep is due after this one, of which every thread knows its own part; ``low`` to ``high`` are its bodies."""
    thread, threads, barrier = crew
    if add_up(barrier, thread, threads, np.int64(progress[MOVED]))[1] == 0:
        return False
    progress[LOOK] = 1.0 if add_up(barrier, thread, threads, np.int64(progress[FRESH]))[1] > 0 else 0.0
    swept = add_up(barrier, thread, threads, np.int64(progress[SWEPT]))[1]
    progress[UPDATES] += swept
    if swept > FEW or progress[UPDATES] > SMALL:
        progress[FINE_CHANGE] = progress[CHANGE]
    elif progress[FINE_CHANGE] < progress[CHANGE]:
        progress[LOOK] = 1.0
        for i in range(low, high):
            if impact.reached[i] == STIRRED:
                impact.reached[i] = HIT
        wait(barrier, threads)
    return True


@device
def sum_awake(blocks, impact, sums):
    """The two momentum sums of a sweep over what is awake."""
    ahead, square = 0.0, 0.0
    for k in range(np.int64(blocks.colour_block[COLOURS]) + blocks.full_first[COLOURS + 1]):
        if impact.awake[k]:
            ahead += sums[2 * k]
            square += sums[2 * k + 1]
    return ahead, square
