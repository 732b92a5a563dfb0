"""Bodies into the slots of a contact problem, and back to where users look."""

from __future__ import annotations

import numpy as np

from .._jit import device, kernel
from ..arithmetic.sums import sum_of
from ..array_types import FloatArray, IntArray
from ..detection.ways import any_fast
from ..parallel.barrier import add_up, share, wait
from ..parallel.crew import Crew
from .blocks import BODY, LANES, PN, RX, at, fetch_next
from .groups import ContactBlocks, Found, FreeBodies, Met, Momentum, Packed, ProblemArrays
from .integrate import move_share
from .kinds.contact import friction_work
from .kinds.every import CHUNK, work_of_drives


@device
def pack_bodies(thread, threads, packed, bodies):
    """Grains into packed bodies, in Morton order, and after them bodies with full inertia, with their spin as it is (radius 1)."""
    body, order, radius = packed.body, bodies.order, bodies.radius
    first, velocity, spin, inverse_mass = bodies.first, bodies.velocity, bodies.spin, bodies.inverse_mass
    low, high = share(len(order), thread, threads)
    for k in range(low, high):
        i, o = order[k], k * BODY
        if i < 0:  # an empty rank: nobody touches it
            for f in range(7):
                body[o + f] = 0.0
            body[o + 7] = 1.0
            continue
        g, r = first + i, radius[i]
        for f in range(3):
            body[o + f] = velocity[g, f]
            body[o + 3 + f] = r * spin[g, f]
        body[o + 6] = inverse_mass[g]
        body[o + 7] = 1.0 / r
    if thread == 0:
        for k in range(len(bodies.full)):
            g, o = bodies.full[k], (packed.first_full + k) * BODY
            for f in range(3):
                body[o + f] = velocity[g, f]
                body[o + 3 + f] = spin[g, f]
            body[o + 6] = inverse_mass[g]
            body[o + 7] = 1.0


@device
def unpack_bodies(thread, threads, packed, bodies):
    """Packed bodies back; those that do not yield keep their bits."""
    body, order, velocity, spin = packed.body, bodies.order, bodies.velocity, bodies.spin
    low, high = share(len(order), thread, threads)
    for k in range(low, high):
        g, o = bodies.first + order[k], k * BODY
        if body[o + 6] > 0.0:  # not so for an empty rank
            for f in range(3):
                velocity[g, f] = body[o + f]
                spin[g, f] = body[o + 3 + f] * body[o + 7]
    if thread == 0:
        for k in range(len(bodies.full)):
            g, o = bodies.full[k], (packed.first_full + k) * BODY
            for f in range(3):
                velocity[g, f] = body[o + f]
                spin[g, f] = body[o + 3 + f]


@device
def copy_impulse(blocks, place, impulse, c):
    """The impulse of a contact out of its lane into row c."""
    data, fields = blocks.data, blocks.fields
    d = at(place, fields)
    for f in range(4):
        impulse[c, f] = data[d + (PN + f) * LANES]
    for f in range(3):
        impulse[c, 4 + f] = data[d + (RX + f) * LANES] if fields > RX else 0.0


@kernel
def assign_slots(
    crew: Crew,
    bodies: FreeBodies,
    met: Met,
    rank: IntArray,  # (N,) slot of each grain
    wall_body: IntArray,  # (W,)
    full_slot: IntArray,  # (rows before the grains,) slot of each body with full inertia, -1: none
    packed: Packed,
    found: Found,
) -> None:
    """Bodies into their slots, and the slots of every contact: grains by rank, dynamic walls by their own slot, all other walls a slot in
    each contact."""
    thread, threads, barrier = crew
    a, b, slot_a, slot_b = met.a, met.b, found.slot_a, found.slot_b
    pack_bodies(thread, threads, packed, bodies)
    low, high = share(len(a), thread, threads)
    for c in range(low, high):
        slot_a[c] = rank[a[c]] if a[c] >= 0 else full_slot[wall_body[-1 - a[c]]]
        if b[c] >= 0:
            slot_b[c] = rank[b[c]]
        else:
            own = full_slot[wall_body[-1 - b[c]]]
            slot_b[c] = own if own >= 0 else packed.yielding + c - met.pair_count
    wait(barrier, threads)


@kernel
def read_impulses(crew: Crew, blocks: ContactBlocks, place: IntArray, impulse: FloatArray) -> None:
    """Impulses out of the blocks into (C, 7) rows."""
    thread, threads, barrier = crew
    low, high = share(len(place), thread, threads)
    for c in range(low, high):
        fetch_next(blocks, place[c], PN, blocks.fields)
        copy_impulse(blocks, place[c], impulse, c)
    wait(barrier, threads)


@kernel
def take_velocities(
    crew: Crew,
    problem: ProblemArrays,
    met: Met,
    bodies: FreeBodies,
    work: Momentum,
    driven: int,  # contacts from this one on may be driven
    wall_bodies: int,  # the first bodies, which have walls
    moves: bool,  # nothing stands between the solve and the move, and positions are the bodies' own
    h: float,
) -> tuple[float, float, bool, int]:
    """Velocities and impulses out of the problem; returns the work of drives and that of friction [J], whether anything could go far enough
    in the step to be followed (``any_fast``), and how many contacts still rebound. If nothing does, and it ``moves``, grains are moved."""
    thread, threads, barrier = crew
    packed, blocks, levers, found = problem
    chunks, rebounds = (len(met.a) + CHUNK - 1) // CHUNK, 0
    low, high = share(chunks, thread, threads)
    for k in range(low, high):
        total = 0.0
        for c in range(k * CHUNK, min((k + 1) * CHUNK, len(met.a))):
            fetch_next(blocks, found.place[c], 0, blocks.fields)
            total += friction_work(packed, blocks, levers, np.int64(found.place[c]))
            copy_impulse(blocks, found.place[c], met.impulse, c)
            rebounds += met.rebound[c] != 0.0
        work.sums[k] = total
    unpack_bodies(thread, threads, packed, bodies)
    _, rebounding = add_up(barrier, thread, threads, rebounds)
    friction, drives = 0.0, 0.0
    if thread == 0:
        friction = sum_of(work.sums, chunks, 0, 1)
        drives = work_of_drives(packed, blocks, found, driven)
    own = any_fast(thread, threads, bodies, bodies.first, bodies.radius, wall_bodies, not moves, h)
    fast = add_up(barrier, thread, threads, np.int64(own))[1] > 0
    if moves and not fast and rebounding == 0:
        move_share(thread, threads, bodies, h)
        wait(barrier, threads)
    return drives, friction, fast, rebounding
