"""Sweeps of the impact stage: over the contacts that the collisions reach alone (physics 3 and 4).

Contacts that an impact has woken (``impact_reach.py``) are swept in every sweep, so that the extrapolation of impulses and of velocities
always goes together, and a grain that lands on a large bed costs as much as on a small one.

A few grains that hit each other are solved finely, since it costs nothing: a row of elastic balls keeps its energy. Many are solved to
what their speeds are worth, and what a bed feels of an impact less than that is left to the continuous stage. Of many, most settle soon,
while here and there a push still wanders: then the stage is *calm*, and only what is due is swept, without momentum, which moves all
bodies together.

These are the parts that ``solvers/sweeping.py`` takes for an impact; its loop, and the momentum, are those of every other solve.
"""

from __future__ import annotations

import numpy as np

from .._jit import device
from ..parallel.barrier import add_up, share, wait
from .blocks import BODY, COLOURS, INV_DN, LANES, LEFT_OVER, PN, RX, TARGET, at, lanes_of, own_lanes, yields
from .impact_reach import HIT, STIRRED, TOUCHED, UNTOUCHED, call_on, calm_down, gather_fresh, is_hit, list_lanes, reach, tell
from .kinds.full import sweep_contact
from .kinds.links import reach_links
from .kinds.spheres import sweep_blocks

U = np.uint64  # unsigned indices need no check for negative ones, which would keep the loops from being vectorised
W = U(LANES)
STARTED_AT = 16  # field of the scratch of ``sweep_blocks`` that holds the normal impulses a sweep started from, then the tangential ones
CHANGED = 23  # ... and the first of two that are free after a block
FINE = 0.01  # of the tolerance: how well small impacts are solved,
FEW = 1000  # contacts in a sweep: those that reach no more than this,
SMALL = 10_000  # updates of contacts: and take no more than this (a fraction of a millisecond)
RARE = 0.01  # part of the contacts in a sweep: an impact that reaches more than a few is calm when no more of them change

# What each thread knows of the progress: the change of a velocity [m/s] that counts, and the one that wakes others; updates of contacts
# so far; of the last sweep, contacts that changed more than that, and contacts.
FINE_CHANGE, CHANGE, UPDATES, MOVED, SWEPT = range(5)
PROGRESS = 5


@device
def copy_contacts(blocks, found, work, impact, m):
    """Numbers of the contacts that are new in a gathered block, and zeros in its empty lanes."""
    g, fields = impact.gathered, blocks.fields
    k = impact.colour[m]
    first, kept = np.int64(blocks.colour_block[k]) * LANES, 7 if fields > RX else 4
    for p in range(max(m * LANES, first + impact.copied[k]), (m + 1) * LANES):
        c, to = g.contact_at[p], at(p, fields)
        if c >= 0:
            source = at(found.place[c], fields)
            for f in range(fields):
                g.data[to + f * LANES] = blocks.data[source + f * LANES]
        else:
            for f in range(fields):
                g.data[to + f * LANES] = 0.0
        for f in range(kept):
            work.before[at(p, kept) + f * LANES] = 0.0


@device
def return_impulses(crew, blocks, found, impact):
    """Impulses of the gathered contacts, back into the problem."""
    thread, threads, barrier = crew
    g, fields = impact.gathered, blocks.fields
    for k in range(COLOURS):
        low, high = share(np.int64(impact.used[k]), thread, threads)
        first = np.int64(blocks.colour_block[k]) * LANES
        for p in range(first + low, first + high):
            source, to = at(p, fields), at(found.place[g.contact_at[p]], fields)
            for f in range(PN, PN + 4):
                blocks.data[to + f * LANES] = g.data[source + f * LANES]
            for f in range(RX, fields):
                blocks.data[to + f * LANES] = g.data[source + f * LANES]
    wait(barrier, threads)


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
    impact.fresh[thread, 0] = 0
    for p in range(low, high):
        c = blocks.contact_at[p]
        if c >= 0 and found.gap_rate[c] < blocks.data[at(p, blocks.fields) + TARGET * LANES] - tolerance:
            for slot in (blocks.lane_a[p], blocks.lane_b[p]):
                if yields(packed, slot):
                    impact.reached[slot] = HIT
                    reach_links(packed.links, impact.reached, packed.first_full, slot, HIT)
    kept = 7 if blocks.fields > RX else 4
    low, high = share(blocks.full_first[COLOURS + 1], thread, threads)
    for p in range(blocks.serial_start + low, blocks.serial_start + high):
        for f in range(kept):
            work.before[at(p, kept) + f * LANES] = 0.0
    low, high = share(np.int64(packed.yielding), thread, threads)
    for i in range(low, high):
        for f in range(6):
            work.body_before[i * 6 + f] = packed.body[i * BODY + f]
    if not blocks.box:
        list_lanes(crew, packed, blocks, impact)
    progress[FINE_CHANGE], progress[CHANGE], progress[UPDATES] = FINE * tolerance, tolerance, 0.0
    wait(barrier, threads)
    hit_all(crew, packed, blocks, impact, HIT)


@device
def hit_all(crew, packed, blocks, impact, state):
    """All bodies in this state wake their contacts."""
    thread, threads, _ = crew
    low, high = share(np.int64(packed.yielding), thread, threads)
    fresh = impact.fresh[thread]
    fresh[0] = 0
    for slot in range(low, high):
        if impact.reached[slot] == state:
            impact.reached[slot] = HIT
            if slot < packed.first_full:
                tell(fresh, slot)
    gather(crew, packed, blocks, impact, LEFT_OVER)


@device
def gather(crew, packed, blocks, impact, swept):
    """After colour ``swept``: gather the contacts of all that was hit since this was last done. Every thread waits for the others before
    and after it."""
    thread, threads, barrier = crew
    wait(barrier, threads)
    if thread == 0 and not blocks.box:
        if swept < COLOURS:
            impact.copied[swept] = impact.used[swept]
        gather_fresh(packed, blocks, impact, threads)
    wait(barrier, threads)
    impact.fresh[thread, 0] = 0


@device
def changes(data, first, s):
    """Squares of what a sweep changed in the normal and tangential impulses of a block, whose numbers begin at ``first`` of ``data``, and
    of the inverse weights 1 / D_n, by lane: into fields 23 and 24 of the scratch of ``sweep_blocks``."""
    for lane in range(W):
        square = 0.0
        for f in range(U(4)):
            change = data[first + (U(PN) + f) * W + lane] - s[(U(STARTED_AT) + f) * W + lane]
            square += change * change
        weight = data[first + U(INV_DN) * W + lane]
        s[U(CHANGED) * W + lane], s[U(CHANGED + 1) * W + lane] = square, weight * weight


@device
def sweep_gathered(packed, blocks, found, work, impact, m, beta, scratch, progress, thread):
    """Sweep one block of spheres that are awake."""
    copy_contacts(blocks, found, work, impact, m)
    g = impact.gathered
    sweep_blocks(packed, g, work, m, m + 1, 0, beta, True, 0.0, scratch)
    changes(g.data, U(m * g.fields) * W, scratch)
    fine, tolerance, moved = progress[FINE_CHANGE] ** 2, progress[CHANGE] ** 2, 0
    for lane in range(LANES):
        square, weight = scratch[CHANGED * LANES + lane], scratch[(CHANGED + 1) * LANES + lane]
        if square > fine * weight:
            moved += 1
            how = strength(square, fine * weight, tolerance * weight)
            for slot in (g.lane_a[m * LANES + lane], g.lane_b[m * LANES + lane]):
                reach(packed, impact, slot, how, thread)
                if impact.calm[0]:
                    call_on(packed, impact, slot)
    impact.due[m] = False
    progress[MOVED] += moved
    progress[SWEPT] += LANES


@device
def sweep_awake(crew, packed, blocks, levers, found, work, impact, beta, scratch, progress):
    """One sweep over the contacts that are awake. A box of friction is swept contact by contact and without momentum."""
    thread, threads, _ = crew
    box, fine, tolerance = blocks.box, progress[FINE_CHANGE], progress[CHANGE]
    progress[MOVED], progress[SWEPT] = 0.0, 0.0
    count = np.int64(blocks.colour_block[COLOURS])
    for k in range(LEFT_OVER + 1):
        first, last = lanes_of(blocks, k)
        if first == last:
            continue
        if k < COLOURS and not box:
            if impact.used[k] == 0:
                continue
            block, end = share((np.int64(impact.used[k]) + LANES - 1) // LANES, thread, threads)
            for m in range(first // LANES + block, first // LANES + end):
                if impact.due[m] or not impact.calm[0]:
                    sweep_gathered(packed, blocks, found, work, impact, m, beta, scratch, progress, thread)
            gather(crew, packed, blocks, impact, k)
            continue
        place, end = own_lanes(first, last, k, thread, threads)
        for p in range(place, end):
            c, a, b = blocks.contact_at[p], blocks.lane_a[p], blocks.lane_b[p]
            if c < 0:
                continue
            own = p - blocks.serial_start
            is_awake = is_hit(packed, impact, a) or is_hit(packed, impact, b)
            if not is_awake and (box or not impact.awake[own]):
                continue
            ahead, square = sweep_contact(packed, blocks, levers, work.before, np.int64(p), beta, not box, 0.0)
            if not box:
                impact.awake[own] = True
                work.sums[2 * (count + own)], work.sums[2 * (count + own) + 1] = ahead, square
            progress[SWEPT] += 1
            # D dp^2 D: the square of a change of velocity
            how = strength(square * found.weight[c], fine * fine, tolerance * tolerance)
            progress[MOVED] += how >= STIRRED
            reach(packed, impact, a, how, thread)
            reach(packed, impact, b, how, thread)
        gather(crew, packed, blocks, impact, k)


@device
def go_on_with_impact(crew, packed, blocks, impact, progress):
    """Whether another sweep is due after this one, of which every thread knows its own part."""
    thread, threads, barrier = crew
    moved = add_up(barrier, thread, threads, np.int64(progress[MOVED]))[1]
    if moved == 0:
        return False
    swept = add_up(barrier, thread, threads, np.int64(progress[SWEPT]))[1]
    progress[UPDATES] += swept
    if impact.calm[0]:
        return True
    if swept > FEW or progress[UPDATES] > SMALL:
        progress[FINE_CHANGE] = progress[CHANGE]
        if swept > FEW and moved <= RARE * swept and len(impact.awake) == 0:
            calm_down(crew, impact)
    elif progress[FINE_CHANGE] < progress[CHANGE]:
        hit_all(crew, packed, blocks, impact, STIRRED)
    return True


@device
def sum_awake(blocks, impact, sums):
    """The two momentum sums of a sweep over what is awake."""
    ahead, square = 0.0, 0.0
    for k in range(COLOURS):
        first = np.int64(blocks.colour_block[k])
        for m in range(first, first + (np.int64(impact.copied[k]) + LANES - 1) // LANES):  # who has woken since was not swept
            ahead += sums[2 * m]
            square += sums[2 * m + 1]
    count = np.int64(blocks.colour_block[COLOURS])
    for own in range(len(impact.awake)):
        if impact.awake[own]:
            ahead += sums[2 * (count + own)]
            square += sums[2 * (count + own) + 1]
    return ahead, square
