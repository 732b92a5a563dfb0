"""Blocks: how a contact problem lies in memory, so that one sweep streams through it with vector instructions.

Bodies are packed into 8 numbers each (velocity, radius times spin, inverse mass, inverse radius), grains in Morton order. Contacts are
coloured, no two of a colour sharing a body that yields, and lie in blocks of ``LANES`` contacts of one colour, field by field:
number f of lane l of block k is at ``(k * fields + f) * LANES + l``. Contacts of bodies with full inertia, and the few that find no colour
(of bodies with very many contacts), follow in the same layout and are swept one by one.

A wall contact has a body slot of its own, without inverse mass, that moves as the wall does at the contact point. So a sweep knows
nothing of walls and never writes what another contact reads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, types

from .._jit import device, kernel
from ..array_types import LongArray
from ..machines.linked import linked
from ..parallel.barrier import largest_of, share, wait
from ..parallel.crew import Crew
from ..parallel.prefetch import IN_LINE, fetch
from .groups import ContactBlocks, Found, Packed

intrinsic: Any = extending.intrinsic  # callers do not give the first argument, which is the compiler's
U = np.uint64  # unsigned indices need no check for negative ones
LANES = 16
W, L = U(LANES), U(IN_LINE)
BODY = 8  # numbers per packed body
VX, VY, VZ, OX, OY, OZ, INV_MASS, INV_RADIUS = range(BODY)

# Fields of a contact. Impulses act on b; n points from a towards b.
NX, NY, NZ = 0, 1, 2
ARM = 3  # kappa: lever arms are kappa r_a and kappa r_b, so that both meet in one point
TARGET = 4  # b: separation speed asked for [m/s]
SOFTNESS = 5  # C_n = Sigma_n / s^2 [1/kg]
INV_DN = 6  # 1 / D_n [kg]
INV_DT = 7  # 1 / D_t [kg]
MU = 8  # friction coefficient
PN = 9  # normal impulse [N s]
PX, PY, PZ = 10, 11, 12  # tangential impulse [N s]
FIELDS_3_ROWS = 13
INV_DR = 13  # 1 / D_r [kg m^2]
MU_R = 14  # mu_r R* [m]
RX, RY, RZ = 15, 16, 17  # rolling and twisting impulse [N m s]
FIELDS_6_ROWS = 18

COLOURS = 63
LEFT_OVER = 2 * COLOURS  # number of the contacts without a colour, after the colours of spheres and of full inertia
FEW_FULL = 8  # contacts of full inertia: a colour with fewer is swept with those left over


@device
def at(place, fields):
    """Where the first number of the contact in lane ``place`` is; number f is at f * LANES after it."""
    return np.int64(place) // LANES * fields * LANES + np.int64(place) % LANES


@device
def fetch_next(blocks, place, first, last):
    """For loops in the order in which contacts were found: have fields ``first`` to ``last`` of the next block of this contact's colour on
    their way, which the loop comes to soon. Each contact has its share of the lines."""
    block, lane, lines = U(place) // W, U(place) % W, U(last - first) * W // L
    d = ((block + U(1)) * U(blocks.fields) + U(first)) * W
    for line in range(lane * lines // W, (lane + U(1)) * lines // W):
        fetch(blocks.data, d + line * L)


@intrinsic
def lowest_clear_bit(typingctx, mask):
    """Number of the lowest 0 bit of a mask; 64: there is none."""

    def emit(context, builder, signature, args):
        return builder.cttz(builder.not_(args[0]), ir.IntType(1)(0))

    return types.uint64(types.uint64), emit


@device
def of_machine(packed, slot):
    """Whether the body of this slot is a link: contacts on any two of a machine share its mobility, so they have no colour."""
    return packed.first_full <= slot < packed.yielding and linked(packed.links, slot - packed.first_full)


@device
def yields(packed, slot):
    """Whether impulses move the body of this slot."""
    return slot < packed.yielding and packed.body[np.int64(slot) * BODY + INV_MASS] > 0.0


@device
def colour_contacts(packed, found, taken, taken_full, threads, members):
    """Give every contact a colour, in ``found.place``; ``members`` (threads, LEFT_OVER + 1) counts those of each thread's share.

    Greedy in the order of the contacts, so the same contacts in the same order always have the same colours. Contacts of bodies with full
    inertia (yielding slots from ``first_full`` on) have colours of their own. ``taken`` and ``taken_full`` are zeros for every slot that
    may yield.
    """
    slot_a, slot_b, place, first_full = found.slot_a, found.slot_b, found.place, packed.first_full
    one = np.uint64(1)
    for thread in range(threads):
        low, high = share(len(slot_a), thread, threads)
        for c in range(low, high):
            a, b = slot_a[c], slot_b[c]
            free_a, free_b = yields(packed, a), yields(packed, b)
            full = (free_a and a >= first_full) or (free_b and b >= first_full)
            marks = taken_full if full else taken
            mask = (marks[a] if free_a else np.uint64(0)) | (marks[b] if free_b else np.uint64(0))
            k = np.int64(lowest_clear_bit(mask))
            if k >= COLOURS or (full and (of_machine(packed, a) or of_machine(packed, b))):
                k = np.int64(LEFT_OVER)
            else:
                bit = one << np.uint64(k)
                if free_a:
                    marks[a] |= bit
                if free_b:
                    marks[b] |= bit
                if full:
                    k += COLOURS
            place[c] = k
            members[thread, k] += 1


@device
def first_places(members, threads, colour_block, full_first):
    """Room for all colours: where each thread's first contact of each colour is placed (block * LANES + lane), instead of their number; -1
    in colours that are swept with those left over. Returns blocks in colours, all blocks, and colours.

    Blocks of colour c are ``colour_block[c] : colour_block[c + 1]``. Contacts of bodies with full inertia follow one by one, without empty
    lanes: those of colour c are ``full_first[c] : full_first[c + 1]``, counted from the end of the coloured blocks. What is left over has
    no colour: ``full_first[COLOURS] : full_first[COLOURS + 1]``.
    """
    used, blocks = 0, 0
    for k in range(COLOURS):
        colour_block[k] = blocks
        place = blocks * LANES
        for thread in range(threads):
            own = members[thread, k]
            members[thread, k] = place
            place += own
        if place > blocks * LANES:
            used = k + 1
        blocks = (place + LANES - 1) // LANES
    colour_block[COLOURS] = blocks
    lane = 0
    for k in range(COLOURS, LEFT_OVER + 1):
        full_first[k - COLOURS] = lane
        count = 0
        for thread in range(threads):
            count += members[thread, k]
        few = k < LEFT_OVER and count < FEW_FULL  # a colour that is not worth a barrier
        for thread in range(threads):
            own = members[thread, k]
            if few:
                members[thread, LEFT_OVER] += own
            members[thread, k] = -1 if few else blocks * LANES + lane
            lane += 0 if few else own
    full_first[COLOURS + 1] = lane
    return blocks, blocks + (lane + LANES - 1) // LANES, used


@device
def place_contacts(thread, threads, place, next_place):
    """A thread's contacts from their colours into their places, in order."""
    low, high = share(len(place), thread, threads)
    for c in range(low, high):
        k = place[c]
        if next_place[thread, k] < 0:
            k = LEFT_OVER
        place[c] = next_place[thread, k]
        next_place[thread, k] += 1


@device
def fill_lanes(crew, found, nobody, lanes, blocks):
    """Write contact and body slots of every lane; empty lanes get no contact (-1) and the slot of nobody."""
    thread, threads, barrier = crew
    slot_a, slot_b, place = found.slot_a, found.slot_b, found.place
    lane_a, lane_b, contact_at = blocks.lane_a, blocks.lane_b, blocks.contact_at
    low, high = share(lanes, thread, threads)
    for p in range(low, high):
        lane_a[p] = lane_b[p] = nobody
        contact_at[p] = -1
    wait(barrier, threads)
    low, high = share(len(slot_a), thread, threads)
    for c in range(low, high):
        lane_a[place[c]] = slot_a[c]
        lane_b[place[c]] = slot_b[c]
        contact_at[place[c]] = c
    wait(barrier, threads)


@device
def clear_block(blocks, k):
    """Zeros into the lanes of a block that have no contact."""
    for p in range(k * LANES, (k + 1) * LANES):
        if blocks.contact_at[p] < 0:
            for f in range(blocks.fields):
                blocks.data[at(p, blocks.fields) + f * LANES] = 0.0


@device
def clear_lanes(blocks):
    """Zeros into all lanes without a contact, which are the last ones of each colour and of the contacts that are swept one by one."""
    for c in range(COLOURS):
        if blocks.colour_block[c] < blocks.colour_block[c + 1]:
            clear_block(blocks, blocks.colour_block[c + 1] - 1)
    last = np.int64(blocks.full_first[COLOURS + 1])
    if last > 0:
        clear_block(blocks, (blocks.serial_start + last - 1) // LANES)


@kernel
def lay_out(
    crew: Crew, packed: Packed, found: Found, nobody: int, blocks: ContactBlocks, known: int, next_place: LongArray
) -> tuple[int, int, int]:
    """Contacts into coloured blocks, ``nobody`` being the slot of empty lanes; returns blocks in colours, all blocks, and colours.

    If there are more blocks than there is room for, make room and call again with what it told of, the blocks ``known``: nothing is
    coloured twice. ``next_place`` (threads, LEFT_OVER + 1) is room to work in, zeros before.
    """
    thread, threads, barrier = crew
    coloured, count, used = 0, known, 0
    if known == 0:
        if thread == 0:
            taken = np.zeros(packed.yielding, np.uint64)
            taken_full = np.zeros(packed.yielding if packed.yielding > packed.first_full else 0, np.uint64)
            colour_contacts(packed, found, taken, taken_full, threads, next_place)
            coloured, count, used = first_places(next_place, threads, blocks.colour_block, blocks.full_first)
            for f in range(BODY):
                packed.body[nobody * BODY + f] = 1.0 if f == INV_RADIUS else 0.0
        wait(barrier, threads)
        place_contacts(thread, threads, found.place, next_place)
    count = largest_of(barrier, thread, threads, count)
    if count * LANES <= len(blocks.lane_a):
        fill_lanes(crew, found, nobody, count * LANES, blocks)
    return coloured, count, used


@device
def lanes_of(blocks, k):
    """First and one past the last lane of colour k: spheres, then from ``COLOURS`` on full inertia, and ``LEFT_OVER`` without a colour."""
    if k < COLOURS:
        return np.int64(blocks.colour_block[k]) * LANES, np.int64(blocks.colour_block[k + 1]) * LANES
    return blocks.serial_start + blocks.full_first[k - COLOURS], blocks.serial_start + blocks.full_first[k - COLOURS + 1]


@device
def own_lanes(first, last, k, thread, threads):
    """A thread's share of the lanes of colour k; those without a colour belong to the first thread."""
    if k == LEFT_OVER:
        return first, last if thread == 0 else first
    low, high = share(last - first, thread, threads)
    return first + low, first + high
