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
from ..array_types import BoolArray, IntArray
from ..kernel_groups import group
from ..parallel.barrier import add_up, share, wait
from .blocks import BODY, COLOURS, INV_DN, LANES, LEFT_OVER, PN, RX, TARGET, at, lanes_of, own_lanes, yields
from .kinds.full import sweep_contact
from .kinds.links import reach_links
from .kinds.spheres import sweep_blocks
from .problem import Problem

STARTED_AT = 16  # field of the scratch of ``sweep_blocks`` that holds the normal impulses a sweep started from, then the tangential ones
FINE = 0.01  # of the tolerance: how well small impacts are solved,
FEW = 1000  # contacts in a sweep: those that reach no more than this,
SMALL = 10_000  # updates of contacts: and take no more than this (a fraction of a millisecond)
# A body that no impulse has moved, one that has, one that passes it on from the next sweep on if the impact is small, and one that does.
UNTOUCHED, TOUCHED, STIRRED, HIT = np.int8(0), np.int8(1), np.int8(2), np.int8(3)

# How sleeping blocks wake up in a sweep: not at all, since nobody was hit in the one before; as soon as one of their bodies is hit; or
# also by a look at all of their bodies when it is their turn.
ASLEEP, WOKEN, LOOKED_AT = 0.0, 1.0, 2.0
LISTED_AFTER = 4  # sweeps: looks at all blocks cost more from then on than lists of the contacts of every body

# What each thread knows of the progress: the change of a velocity [m/s] that counts, and the one that wakes others; updates of contacts
# so far; how sleeping blocks wake up; of the last sweep, contacts that changed more than that, bodies hit first, contacts; sweeps so far.
FINE_CHANGE, CHANGE, UPDATES, WAKING, MOVED, FRESH, SWEPT, SWEEPS = range(8)
PROGRESS = 8


@group
class Impact(NamedTuple):
    """Who an impact has reached, all zeros at the start; and room for lists of the lanes of every body."""

    reached: NDArray[np.int8]
    """(yielding slots,) ``UNTOUCHED`` to ``HIT``"""
    awake: BoolArray
    """(blocks, then contacts that are swept one by one)"""
    newest: IntArray
    """(grains,) the last entry in the list of each: twice its lane, and 1 more where it is b; -1: none"""
    older: IntArray
    """(2 * lanes in blocks,) the entry before each"""

    @classmethod
    def begin(cls, problem: Problem) -> Impact:
        """Nobody has been reached."""
        yielding, grains, blocks = problem.packed.yielding, problem.packed.first_full, problem.colour_blocks
        reached, awake = np.zeros(yielding, np.int8), np.zeros(blocks + problem.one_by_one, np.bool_)
        return cls(reached, awake, np.empty(grains, np.int32), np.empty(2 * LANES * blocks, np.int32))


@device
def is_hit(packed, impact, slot):
    """Whether this body wakes its contacts; walls do not."""
    return slot < packed.yielding and impact.reached[slot] == HIT


@device
def reach(packed, impact, slot, how, listed):
    """Note that an impulse has moved a body; returns 1 if it wakes its contacts from now on, else 0.

    Where they are ``listed``, their blocks are awake at once.
    """
    if not yields(packed, slot) or impact.reached[slot] >= how:
        return 0
    impact.reached[slot] = how
    reach_links(packed.links, impact.reached, packed.first_full, slot, how)
    if how != HIT:
        return 0
    if listed and slot < packed.first_full:
        entry = impact.newest[slot]
        while entry >= 0:
            impact.awake[entry // 2 // LANES] = True
            entry = impact.older[entry]
    return 1


@device
def list_lanes(crew, packed, blocks, impact):
    """The lanes in blocks of every body that yields."""
    thread, threads, barrier = crew
    low, high = share(len(impact.newest), thread, threads)
    for slot in range(low, high):
        impact.newest[slot] = -1
    wait(barrier, threads)
    if thread == 0:
        for p in range(len(impact.older) // 2):
            for side in range(2):
                slot = blocks.lane_a[p] if side == 0 else blocks.lane_b[p]
                if slot < packed.first_full:
                    impact.older[2 * p + side] = impact.newest[slot]
                    impact.newest[slot] = 2 * p + side
    wait(barrier, threads)


@device
def is_listed(progress):
    """Whether bodies that are hit in this sweep wake their blocks themselves."""
    return progress[SWEEPS] >= LISTED_AFTER and progress[WAKING] != ASLEEP


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
            reach(packed, impact, blocks.lane_a[p], HIT, False)
            reach(packed, impact, blocks.lane_b[p], HIT, False)
    low, high = share((lanes + LANES - 1) // LANES * LANES * (7 if blocks.fields > RX else 4), thread, threads)
    for o in range(low, high):
        work.before[o] = 0.0
    low, high = share(np.int64(packed.yielding), thread, threads)
    for i in range(low, high):
        for f in range(6):
            work.body_before[i * 6 + f] = packed.body[i * BODY + f]
    low, high = share(2 * len(impact.awake), thread, threads)
    for o in range(low, high):
        work.sums[o] = 0.0  # blocks may be awake before they are swept
    progress[FINE_CHANGE], progress[CHANGE], progress[UPDATES], progress[SWEEPS] = FINE * tolerance, tolerance, 0.0, 0.0
    progress[WAKING] = LOOKED_AT
    wait(barrier, threads)


@device
def sweep_awake_block(packed, blocks, work, impact, k, beta, scratch, progress):
    """Sweep one block of spheres if it is awake, or wakes up."""
    if progress[WAKING] == LOOKED_AT and not impact.awake[k]:
        for p in range(k * LANES, (k + 1) * LANES):
            if blocks.contact_at[p] >= 0 and (is_hit(packed, impact, blocks.lane_a[p]) or is_hit(packed, impact, blocks.lane_b[p])):
                impact.awake[k] = True
    if not impact.awake[k]:
        return
    sweep_blocks(packed, blocks, work, k, k + 1, 0, beta, True, 0.0, scratch)
    fine, tolerance, fields, listed = progress[FINE_CHANGE], progress[CHANGE], blocks.fields, is_listed(progress)
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
        fresh += reach(packed, impact, blocks.lane_a[p], how, listed)
        fresh += reach(packed, impact, blocks.lane_b[p], how, listed)
    progress[MOVED] += moved
    progress[FRESH] += fresh
    progress[SWEPT] += LANES


@device
def sweep_awake(crew, packed, blocks, levers, found, work, impact, beta, scratch, progress):
    """One sweep over the contacts that are awake. A box of friction is swept contact by contact and without momentum."""
    thread, threads, barrier = crew
    box, fine, tolerance, listed = blocks.box, progress[FINE_CHANGE], progress[CHANGE], is_listed(progress)
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
            fresh += reach(packed, impact, a, how, listed)
            fresh += reach(packed, impact, b, how, listed)
        progress[MOVED] += moved
        progress[FRESH] += fresh
        progress[SWEPT] += swept
        wait(barrier, threads)


@device
def go_on_with_impact(crew, packed, blocks, impact, low, high, progress):
    """Whether another sweep is due after this one, of which every thread knows its own part; ``low`` to ``high`` are its bodies."""
    thread, threads, barrier = crew
    if add_up(barrier, thread, threads, np.int64(progress[MOVED]))[1] == 0:
        return False
    listed = is_listed(progress)  # in this sweep
    progress[SWEEPS] += 1.0
    if progress[SWEEPS] == LISTED_AFTER:
        list_lanes(crew, packed, blocks, impact)
    fresh = add_up(barrier, thread, threads, np.int64(progress[FRESH]))[1]
    progress[WAKING] = ASLEEP if fresh == 0 else WOKEN if listed else LOOKED_AT
    swept = add_up(barrier, thread, threads, np.int64(progress[SWEPT]))[1]
    progress[UPDATES] += swept
    if swept > FEW or progress[UPDATES] > SMALL:
        progress[FINE_CHANGE] = progress[CHANGE]
    elif progress[FINE_CHANGE] < progress[CHANGE]:
        progress[WAKING] = LOOKED_AT
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
