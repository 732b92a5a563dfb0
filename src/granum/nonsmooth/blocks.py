"""Blocks: how a contact problem lies in memory, so that one sweep streams through it with vector instructions.

Bodies are packed into 8 numbers each (velocity, radius times spin, inverse mass, inverse radius), grains in Morton order. Contacts are
coloured, no two of a colour sharing a body that yields, and lie in blocks of ``LANES`` contacts of one colour, field by field:
number f of lane l of block k is at ``(k * fields + f) * LANES + l``. What cannot be coloured (bodies with very many contacts, or with full
inertia) follows in serial blocks of the same layout, which are swept lane by lane.

A wall contact has a body slot of its own, without inverse mass, that moves as the wall does at the contact point. So a sweep knows
nothing of walls and never writes what another contact reads.
"""

from __future__ import annotations

import numpy as np

from .._jit import FloatArray, IntArray, device, kernel

LANES = 16
BODY = 8  # numbers per packed body
VX, VY, VZ, OX, OY, OZ, INV_MASS, INV_RADIUS = range(BODY)

# Fields of a contact. Impulses act on b; n points from a towards b.
NX, NY, NZ = 0, 1, 2
ARM = 3       # kappa: lever arms are kappa r_a and kappa r_b, so that both meet in one point
TARGET = 4    # b: separation speed asked for [m/s]
SOFTNESS = 5  # C_n = Sigma_n / s^2 [1/kg]
INV_DN = 6    # 1 / D_n [kg]
INV_DT = 7    # 1 / D_t [kg]
MU = 8        # friction coefficient
PN = 9        # normal impulse [N s]
PX, PY, PZ = 10, 11, 12   # tangential impulse [N s]
FIELDS_3_ROWS = 13
INV_DR = 13   # 1 / D_r [kg m^2]
MU_R = 14     # mu_r R* [m]
RX, RY, RZ = 15, 16, 17   # rolling and twisting impulse [N m s]
FIELDS_6_ROWS = 18

COLOURS = 63


@device
def lowest_clear_bit(mask):
    """Number of the lowest 0 bit of a mask."""
    bit = 0
    while mask & np.uint64(1):
        mask >>= np.uint64(1)
        bit += 1
    return bit


@kernel
def colour_contacts(
    slot_a: IntArray, slot_b: IntArray, yields: FloatArray, first_full: int, place: IntArray, colour_block: IntArray
) -> tuple[int, int, int]:
    """Give every contact its place (block * LANES + lane); returns blocks in colours, all blocks, and colours.

    Greedy in the order of the contacts, so the same contacts in the same order always get the same places. ``yields`` is the inverse mass
    of each slot; slots from ``first_full`` on that yield have full inertia and go to the serial blocks. Blocks of colour c are
    ``colour_block[c] : colour_block[c + 1]``.
    """
    count = len(slot_a)
    taken = np.zeros(len(yields), np.uint64)
    colour = np.empty(count, np.int32)
    members = np.zeros(COLOURS + 1, np.int64)
    one = np.uint64(1)
    for c in range(count):
        a, b = slot_a[c], slot_b[c]
        free_a, free_b = yields[a] > 0.0, yields[b] > 0.0
        mask = (taken[a] if free_a else np.uint64(0)) | (taken[b] if free_b else np.uint64(0))
        k = lowest_clear_bit(mask)
        if k >= COLOURS or (free_a and a >= first_full) or (free_b and b >= first_full):
            k = COLOURS
        else:
            bit = one << np.uint64(k)
            if free_a:
                taken[a] |= bit
            if free_b:
                taken[b] |= bit
        colour[c] = k
        members[k] += 1
    used = 0
    cursor = np.empty(COLOURS + 1, np.int64)
    blocks = 0
    for k in range(COLOURS):
        colour_block[k] = blocks
        cursor[k] = blocks * LANES
        blocks += (members[k] + LANES - 1) // LANES
        if members[k] > 0:
            used = k + 1
    colour_block[COLOURS] = blocks
    cursor[COLOURS] = blocks * LANES
    for c in range(count):
        place[c] = cursor[colour[c]]
        cursor[colour[c]] += 1
    return blocks, blocks + (members[COLOURS] + LANES - 1) // LANES, used


@kernel
def lay_out(
    slot_a: IntArray, slot_b: IntArray, place: IntArray, nobody: int, fields: int, lane_a: IntArray, lane_b: IntArray, data: FloatArray
) -> None:
    """Write the two body slots of every lane; empty lanes get the slot of nobody, and zeros."""
    lane_a[:] = nobody
    lane_b[:] = nobody
    for c in range(len(slot_a)):
        lane_a[place[c]] = slot_a[c]
        lane_b[place[c]] = slot_b[c]
    for p in range(len(lane_a)):
        if lane_a[p] == nobody:
            for f in range(fields):
                data[p // LANES * fields * LANES + f * LANES + p % LANES] = 0.0
