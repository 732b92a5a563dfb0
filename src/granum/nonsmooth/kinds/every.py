"""All kinds of constraints in their fixed order: spheres by colour, then bodies with full inertia by colour, then what has no colour.

A further kind gets its place in each of these functions, at the end: a block that is solved as a whole is swept after the contacts that
push it.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import device, kernel
from ...array_types import FloatArray
from ...machines.linked import any_links
from ...parallel.barrier import share, wait
from ...parallel.crew import Crew
from ..blocks import BODY, COLOURS, INV_MASS, LANES, LEFT_OVER, OX, PN, at, fetch_next, lanes_of, own_lanes
from ..groups import ContactBlocks, Found, Levers, Momentum, Packed  # noqa: F401  (Momentum: the digest of a kernel looks here)
from . import contact, full, spheres
from .spheres import sampling, sweep_blocks

CHUNK = 256  # contacts that are summed up in one go
FEW_BLOCKS = 4  # of a colour: fewer are done by one thread sooner than by several
PASSES = 8  # over the contacts of machines in a sweep, at most:
ENOUGH = 0.1  # of the squared change of the first one, which a pass must be below for it to be the last


@device
def apply_all(crew, packed, blocks, levers):
    """Add the impulses of all constraints that push to the velocities, colour by colour."""
    thread, threads, barrier = crew
    end = blocks.serial_start + blocks.full_first[COLOURS + 1]
    for k in range(LEFT_OVER + 1):
        first, last = lanes_of(blocks, k)
        if first == end:
            break
        if first == last:
            continue
        low, high = own_lanes(first, last, k, thread, threads)
        for place in range(low, high):
            fetch_next(blocks, place, 0, blocks.fields)
            if blocks.contact_at[place] < 0 or blocks.data[at(place, blocks.fields) + PN * LANES] == 0.0:
                continue
            if contact.listed(blocks, levers, place) >= 0:
                full.apply(packed, blocks, levers, place)
            else:
                spheres.apply(packed, blocks, place)
        wait(barrier, threads)


@device
def sweep_all(crew, packed, blocks, levers, momentum, beta, keeps, soft, scratch):
    """One sweep, colour by colour: the contacts of a colour share no body, so that each thread takes some of them.

    A colour with few of them is left to the first thread; between two such colours nobody waits.
    """
    thread, threads, barrier = crew
    colour_block, full_first, sums = blocks.colour_block, blocks.full_first, momentum.sums
    count = colour_block[COLOURS]
    sampled = sampling(count)
    for c in range(COLOURS):
        first, last = np.int64(colour_block[c]), np.int64(colour_block[c + 1])
        if first == count:
            break
        alone = last - first < FEW_BLOCKS
        low, high = share(last - first, thread, threads)
        if alone:
            low, high = np.int64(0), last - first if thread == 0 else np.int64(0)
        sweep_blocks(packed, blocks, momentum, first + low, first + high, sampled, beta, keeps, soft, scratch)
        if not alone or colour_block[min(c + 2, COLOURS)] - last >= FEW_BLOCKS or last == count:
            wait(barrier, threads)
    one_by_one = full_first[COLOURS + 1]
    for c in range(COLOURS + 1):
        first, last = np.int64(full_first[c]), np.int64(full_first[c + 1])
        if first == one_by_one:
            break
        if first == last:
            continue
        low, high = share(last - first, thread, threads)
        if c == COLOURS:  # those without a colour
            low, high = np.int64(0), last - first if thread == 0 else np.int64(0)
        changed = 0.0
        for k in range(first + low, first + high):
            ahead, square = full.sweep_contact(packed, blocks, levers, momentum.before, blocks.serial_start + k, beta, keeps, soft)
            sums[2 * (count + k)], sums[2 * (count + k) + 1] = ahead, square
            changed += square
        if c == COLOURS and any_links(packed.links):
            sweep_again(packed, blocks, levers, momentum.before, first + low, first + high, soft, changed)
        wait(barrier, threads)


@device
def sweep_again(packed, blocks, levers, before, first, last, soft, changed):
    """Sweep the contacts that are swept one by one from ``first`` on again, as long as they still change: those of machines.

    A light link with many contacts is pushed to and fro between heavy grains, which a pass settles for one contact at a time; a heavy one
    needs no more than one. ``changed`` is the squared change of the first pass, weighted by D. Momentum judges by that one alone.
    """
    for _ in range(PASSES - 1):
        now = 0.0
        for k in range(first, last):
            _, square = full.sweep_contact(packed, blocks, levers, before, blocks.serial_start + k, 0.0, False, soft)
            now += square
        if now <= ENOUGH * changed:
            break


@device
def add_step_sums(blocks, sums):
    """The two momentum sums of a sweep in colours, in an order that no number of threads changes, and the second one as it would be of all
    blocks."""
    ahead, square = 0.0, 0.0
    count, one_by_one = np.int64(blocks.colour_block[COLOURS]), np.int64(blocks.full_first[COLOURS + 1])
    every = sampling(count) + 1
    for k in range(0, count, every):
        ahead += sums[2 * k]
        square += sums[2 * k + 1]
    left_out = (every - 1) * square
    for k in range(count, count + one_by_one):
        ahead += sums[2 * k]
        square += sums[2 * k + 1]
    return ahead, square, square + left_out


@device
def mean_residual(crew, packed, blocks, levers, found, sums, out):
    """Root mean square over contacts of the whole residual [m/s]; by row kind in ``out`` (3,), which is each thread's own.

    ``sums`` receives the parts of chunks of contacts, which are added up in order: the result does not depend on the threads.
    """
    thread, threads, barrier = crew
    wait(barrier, threads)  # sums and velocities may still be in use
    place, radius_eff = found.place, found.radius_eff
    chunks = (len(place) + CHUNK - 1) // CHUNK
    low, high = share(chunks, thread, threads)
    for k in range(low, high):
        sn, st, sr = 0.0, 0.0, 0.0
        for c in range(k * CHUNK, min((k + 1) * CHUNK, len(place))):
            fetch_next(blocks, place[c], 0, blocks.fields)
            n, t, r = contact.residual(packed, blocks, levers, np.int64(place[c]))
            sn += n * n
            st += t * t
            sr += r * r * radius_eff[c] * radius_eff[c]
        sums[3 * k], sums[3 * k + 1], sums[3 * k + 2] = sn, st, sr
    wait(barrier, threads)
    count = max(1, len(place))
    total = 0.0
    for f in range(3):
        part = 0.0
        for k in range(chunks):
            part += sums[3 * k + f]
        out[f] = math.sqrt(part / count)
        total += part
    wait(barrier, threads)
    return math.sqrt(total / count)


@kernel
def projected_residual(packed: Packed, blocks: ContactBlocks, levers: Levers, found: Found) -> FloatArray:
    """(C, 3) residual of every contact by row kind: normal, friction, rolling (times R*) [m/s]."""
    out = np.empty((len(found.place), 3))
    for c in range(len(found.place)):
        n, t, r = contact.residual(packed, blocks, levers, np.int64(found.place[c]))
        out[c, 0], out[c, 1], out[c, 2] = n, t, r * found.radius_eff[c]
    return out


@device
def work_of_drives(packed, blocks, found, first):
    """Work [J] that what does not yield does on bodies that do, through the impulses of the contacts from the ``first`` on."""
    work = 0.0
    for c in range(first, len(found.place)):
        work += contact.work(packed, blocks, np.int64(found.place[c]))
    return work


@kernel
def driven_work(packed: Packed, blocks: ContactBlocks, found: Found, first: int) -> float:
    """See ``work_of_drives``."""
    return work_of_drives(packed, blocks, found, first)


@kernel
def driven_works(packed: Packed, blocks: ContactBlocks, found: Found, first: int) -> FloatArray:
    """(C,) the same through each contact [J]; 0 before the ``first``."""
    works = np.zeros(len(found.place))
    for c in range(first, len(works)):
        works[c] = contact.work(packed, blocks, np.int64(found.place[c]))
    return works


@device
def sphere_energy(body, o):
    """Kinetic energy [J] of the packed sphere at ``o``; 0 if it does not yield."""
    if body[o + INV_MASS] == 0.0:
        return 0.0
    square = body[o] * body[o] + body[o + 1] * body[o + 1] + body[o + 2] * body[o + 2]
    spins = body[o + OX] * body[o + OX] + body[o + OX + 1] * body[o + OX + 1] + body[o + OX + 2] * body[o + OX + 2]
    return 0.5 * (square + 0.4 * spins) / body[o + INV_MASS]


@kernel
def sphere_energies(crew: Crew, packed: Packed, parts: FloatArray) -> None:
    """Kinetic energy [J] of each chunk of packed spheres."""
    thread, threads, barrier = crew
    body = packed.body
    low, high = share(len(parts), thread, threads)
    for k in range(low, high):
        total = 0.0
        for slot in range(k * CHUNK, min((k + 1) * CHUNK, packed.first_full)):
            total += sphere_energy(body, slot * BODY)
        parts[k] = total
    wait(barrier, threads)


@kernel
def each_sphere_energy(packed: Packed, energy: FloatArray) -> None:
    """That of each packed sphere [J]; 0 of those that do not yield."""
    for slot in range(packed.first_full):
        energy[slot] = sphere_energy(packed.body, slot * BODY)
