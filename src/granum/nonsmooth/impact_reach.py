"""Who an impact has reached, and which contacts that wakes (physics 3 and 4).

An impact is local. A contact sleeps until one of its bodies has been hit; then it is copied into blocks of its colour beside those of the
problem (``Impact.gathered``). So blocks that are swept are full of contacts that count, however few of the problem's they are.

When few of them still change, only those blocks are *due* of whose grains one has been moved since they were swept; each grain knows its
contacts. Bodies with full inertia may have very many, and a heavy one needs the momentum of all: where they are, all contacts are swept on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._jit import device
from ..array_types import BoolArray, IntArray
from ..kernel_groups import group
from ..parallel.barrier import share, wait
from .blocks import COLOURS, LANES, yields
from .groups import ContactBlocks
from .kinds.links import reach_links
from .problem import Problem

# A body that no impulse has moved, one that has, one that passes it on from the next sweep on if the impact is small, and one that does.
UNTOUCHED, TOUCHED, STIRRED, HIT = np.int8(0), np.int8(1), np.int8(2), np.int8(3)


@group
class Impact(NamedTuple):
    """Who an impact has reached, and the contacts that it has woken."""

    reached: NDArray[np.int8]
    """(yielding slots,) ``UNTOUCHED`` to ``HIT``"""
    awake: BoolArray
    """(contacts that are swept one by one,)"""
    gathered: ContactBlocks
    """Copies of the contacts in colours that are awake: those of a colour in the first lanes of its blocks, in the order they woke."""
    used: IntArray
    """(COLOURS,) lanes of each colour in ``gathered`` that have a contact"""
    copied: IntArray
    """(COLOURS,) ... whose numbers are there, too"""
    lane: IntArray
    """(lanes in colours,) where the contact in a lane of the problem is among them; -1: it sleeps"""
    colour: IntArray
    """(blocks in colours,)"""
    newest: IntArray
    """(2, grains) the last lane in which each is a, and b; -1: none"""
    older: IntArray
    """(2, lanes in colours) the one before each"""
    due: BoolArray
    """(blocks in colours,) whether a body of a block of ``gathered`` has been moved since that was swept"""
    calm: BoolArray
    """(1,) whether only blocks that are due are swept"""
    fresh: IntArray
    """(threads, 1 + grains) how many grains each thread has found to be hit since others were told, and which"""
    nobody: int
    """Slot of empty lanes."""

    @classmethod
    def begin(cls, problem: Problem) -> Impact:
        """Nobody has been reached."""
        grains, blocks, threads = problem.packed.first_full, problem.colour_blocks, problem.team.threads
        used, copied = np.zeros(COLOURS, np.int32), np.zeros(COLOURS, np.int32)
        return cls(
            np.zeros(problem.packed.yielding, np.int8),
            np.zeros(problem.one_by_one, np.bool_),
            problem.beside,
            used,
            copied,
            np.full(LANES * blocks, -1, np.int32),
            np.empty(blocks, np.int32),
            np.empty((2, grains), np.int32),
            np.empty((2, LANES * blocks), np.int32),
            np.zeros(blocks, np.bool_),
            np.zeros(1, np.bool_),
            np.empty((threads, 1 + grains), np.int32),
            problem.nobody,
        )


@device
def is_hit(packed, impact, slot):
    """Whether this body wakes its contacts; walls do not."""
    return slot < packed.yielding and impact.reached[slot] == HIT


@device
def reach(packed, impact, slot, how, thread):
    """Note that an impulse has moved a body, and if it is hit by that, for the others."""
    if not yields(packed, slot) or impact.reached[slot] >= how:
        return
    impact.reached[slot] = how
    reach_links(packed.links, impact.reached, packed.first_full, slot, how)
    if how == HIT and slot < packed.first_full:
        tell(impact.fresh[thread], slot)


@device
def tell(fresh, slot):
    """One more grain that is hit."""
    fresh[0] += 1
    fresh[fresh[0]] = slot


@device
def list_lanes(crew, packed, blocks, impact):
    """The lanes in colours of every grain, and the colours of blocks. The two sides of contacts have lists of their own, which two threads
    can make."""
    thread, threads, _ = crew
    for side in range(thread, 2, threads):
        newest, older, slots = impact.newest[side], impact.older[side], blocks.lane_a if side == 0 else blocks.lane_b
        newest[:] = -1
        for p in range(len(older)):
            slot = slots[p]
            if slot < packed.first_full:
                older[p] = newest[slot]
                newest[slot] = p
    if thread == 0:
        for k in range(COLOURS):
            for block in range(blocks.colour_block[k], blocks.colour_block[k + 1]):
                impact.colour[block] = k


@device
def gather_contacts(packed, blocks, impact, slot):
    """Give all contacts in colours of a grain that has been hit a lane among those that are swept."""
    g = impact.gathered
    for side in range(2):
        p = np.int64(impact.newest[side, slot])
        while p >= 0:
            if impact.lane[p] < 0:
                k = impact.colour[p // LANES]
                place = np.int64(blocks.colour_block[k]) * LANES + impact.used[k]
                if impact.used[k] % LANES == 0:
                    for empty in range(place, place + LANES):
                        g.lane_a[empty] = g.lane_b[empty] = impact.nobody
                        g.contact_at[empty] = -1
                g.lane_a[place], g.lane_b[place], g.contact_at[place] = blocks.lane_a[p], blocks.lane_b[p], blocks.contact_at[p]
                impact.used[k] += 1
                impact.lane[p] = place
                impact.due[place // LANES] = True
                other = blocks.lane_b[p] if side == 0 else blocks.lane_a[p]
                if yields(packed, other):
                    impact.reached[other] = max(impact.reached[other], TOUCHED)
            p = np.int64(impact.older[side, p])


@device
def call_on(packed, impact, slot):
    """A grain has been moved: the blocks of its contacts are due."""
    if slot >= packed.first_full:
        return
    for side in range(2):
        p = np.int64(impact.newest[side, slot])
        while p >= 0:
            if impact.lane[p] >= 0:
                impact.due[impact.lane[p] // LANES] = True
            p = np.int64(impact.older[side, p])


@device
def gather_fresh(packed, blocks, impact, threads):
    """Those of all grains that were found to be hit: in the order of threads, whose parts follow each other, so in one order always."""
    for thread in range(threads):
        fresh = impact.fresh[thread]
        for n in range(1, fresh[0] + 1):
            gather_contacts(packed, blocks, impact, fresh[n])


@device
def calm_down(crew, impact):
    """From now on only what is due is swept: at first, all that is awake."""
    thread, threads, barrier = crew
    low, high = share(len(impact.due), thread, threads)
    impact.due[low:high] = True
    wait(barrier, threads)  # until all have seen that it was not so before
    if thread == 0:
        impact.calm[0] = True
    wait(barrier, threads)
