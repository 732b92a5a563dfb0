"""Forces between grains, from the neighbour list.

Every candidate of the list has a place for its springs, so that they need no search while the list lasts.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import device, kernel
from ..array_types import FloatArray, IntArray
from ..detection.images import nearest
from ..parallel.barrier import add_up, largest_of, share, wait
from ..parallel.crew import Crew
from . import lanes as of
from .groups import Laws, Listed, Pairs, Rows
from .lanes import ROW_A, ROW_B, SCRATCH, U, W, blank, clear_sums, push, sums

ROW = 8  # numbers of a grain besides its sphere: velocity, inverse mass, spin, material; as wide as a cache line
CHUNK = 1024  # pairs whose energy is summed up in one go, whatever thread does it; blocks of lanes
FORCE = 6  # force [N] and torque [N m]
R, L, F = U(ROW), U(of.LAW), U(FORCE)
A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11 = ROW_A
B0, B1, B2, B3, B4, B5, B6, B7, B8, B9, B10, B11 = ROW_B
(NX, NY, NZ, OVERLAP, ROUND, INERTIA, ARM_A, ARM_B, UX, UY, UZ, WX, WY, WZ, FX, FY, FZ) = (U(f * of.LANES) for f in range(17))
STIFFNESS, HELD, PX, CX, TX = of.STIFFNESS, of.HELD, of.PX, of.CX, of.TX


@device
def touches(sphere, grain, period, k, j, held):
    """Whether the grains of ranks k and j touch; ``held``: k never moves."""
    dx, dy, dz = sphere[j, 0] - sphere[k, 0], sphere[j, 1] - sphere[k, 1], sphere[j, 2] - sphere[k, 2]
    near = sphere[j, 3] + sphere[k, 3]
    if period is not None:
        dx, dy, dz = nearest(dx, period, 0), nearest(dy, period, 1), nearest(dz, period, 2)
    found = dx * dx + dy * dy + dz * dz < near * near
    if held:  # two grains that never move do not push
        found = found and grain[j, 3] != 0.0
    return found


@kernel
def find_touching(crew: Crew, rows: Rows, listed: Listed, pairs: Pairs, period: FloatArray | None) -> int:
    """Ranks a and b of the pairs that touch and their place in the list; returns how many. Springs of pairs that came apart are cleared."""
    thread, threads, barrier = crew
    sphere, grain = rows.sphere, rows.grain
    candidate_first, candidate = listed.first, listed.candidate
    a, b, place, _, touched, spring, _, _ = pairs
    kept, found = U(spring.shape[1]), U(0)
    low, high = share(len(candidate_first) - 1, thread, threads)
    if threads > 1:  # first counted: each thread writes where the pairs of those before it end
        for k in range(U(low), U(high)):
            held = grain[k, 3] == 0.0
            for c in range(U(candidate_first[k]), U(candidate_first[k + U(1)])):
                found += U(touches(sphere, grain, period, k, U(candidate[c]), held))
        found = U(add_up(barrier, thread, threads, np.int64(found))[0])
    for k in range(U(low), U(high)):
        held = grain[k, 3] == 0.0
        for c in range(U(candidate_first[k]), U(candidate_first[k + U(1)])):
            j = U(candidate[c])
            touching = touches(sphere, grain, period, k, j, held)
            if threads == 1 or touching:
                a[found], b[found], place[found] = k, j, c
            found += U(touching)
            if touched[c] != touching:
                touched[c] = touching
                for f in range(kept):
                    spring[c, f] = 0.0
    return int(largest_of(barrier, thread, threads, np.int64(found)))


@device
def meet(s):
    """How the two grains of each pair of a block meet: normal, overlap, relative velocities, spin of the frame."""
    for lane in range(W):
        dx, dy, dz = s[B0 + lane] - s[A0 + lane], s[B1 + lane] - s[A1 + lane], s[B2 + lane] - s[A2 + lane]
        ra, rb = s[A3 + lane], s[B3 + lane]
        square = dx * dx + dy * dy + dz * dz
        away = 1.0 / math.sqrt(square if square > 0.0 else 1.0)  # concentric grains do not push: there is no direction
        distance = square * away
        nx, ny, nz = dx * away, dy * away, dz * away
        both = ra + rb
        part = distance / both if both > 0.0 else 0.0
        arm_a, arm_b = part * ra, part * rb
        delta = both - distance
        mass = s[A7 + lane] + s[B7 + lane]
        s[NX + lane], s[NY + lane], s[NZ + lane] = nx, ny, nz
        s[OVERLAP + lane] = delta if delta > 0.0 else 0.0
        s[ROUND + lane] = ra * rb / (both if both > 0.0 else 1.0)
        s[INERTIA + lane] = 1.0 / (mass if mass > 0.0 else 1.0)
        s[ARM_A + lane], s[ARM_B + lane] = arm_a, arm_b
        ax, ay, az = s[A8 + lane], s[A9 + lane], s[A10 + lane]
        bx, by, bz = s[B8 + lane], s[B9 + lane], s[B10 + lane]
        vx, vy, vz = s[B4 + lane] - s[A4 + lane], s[B5 + lane] - s[A5 + lane], s[B6 + lane] - s[A6 + lane]
        ox, oy, oz = arm_a * ax + arm_b * bx, arm_a * ay + arm_b * by, arm_a * az + arm_b * bz
        s[UX + lane] = vx - (oy * nz - oz * ny)
        s[UY + lane] = vy - (oz * nx - ox * nz)
        s[UZ + lane] = vz - (ox * ny - oy * nx)
        s[WX + lane], s[WY + lane], s[WZ + lane] = bx - ax, by - ay, bz - az
        twist = 0.5 * ((ax + bx) * nx + (ay + by) * ny + (az + bz) * nz)
        s[FX + lane] = (ny * vz - nz * vy) * away + twist * nx
        s[FY + lane] = (nz * vx - nx * vz) * away + twist * ny
        s[FZ + lane] = (nx * vy - ny * vx) * away + twist * nz


@device
def gather(s, first, full, pairs, ball, own, numbers, springs, materials, period):
    """The grains, springs and materials of one block."""
    a, b, place, kept = pairs.a, pairs.b, pairs.place, U(pairs.spring.shape[1])
    for lane in range(U(full)):
        n = U(first) + lane
        i, j, c = U(a[n]), U(b[n]), U(place[n]) * kept
        for f in range(U(4)):
            s[A0 + f * W + lane] = ball[i * U(4) + f]
        for f in range(R):
            s[A4 + f * W + lane] = own[i * R + f]
        for f in range(U(4)):
            s[B0 + f * W + lane] = ball[j * U(4) + f]
        if period is not None:  # b's image next to a
            for f in range(U(3)):
                s[B0 + f * W + lane] = s[A0 + f * W + lane] + nearest(s[B0 + f * W + lane] - s[A0 + f * W + lane], period, f)
        for f in range(R):
            s[B4 + f * W + lane] = own[j * R + f]
        for f in range(kept):
            s[HELD + f * W + lane] = springs[c + f]
    if materials > 1:
        for lane in range(U(full)):
            m = (U(s[A11 + lane]) * U(materials) + U(s[B11 + lane])) * L
            for f in range(L):
                s[STIFFNESS + f * W + lane] = numbers[m + f]
    if full < of.LANES:
        blank(s, full)


@device
def scatter(s, first, full, pairs, rolling, total, springs):
    """The forces of one block to its grains, and its springs to their places."""
    a, b, place, pair_force, kept = pairs.a, pairs.b, pairs.place, pairs.force, U(pairs.spring.shape[1])
    for lane in range(U(full)):
        n = U(first) + lane
        i, j, c = U(a[n]) * F, U(b[n]) * F, U(place[n]) * kept
        arm_a, arm_b = s[ARM_A + lane], s[ARM_B + lane]
        for f in range(U(3)):
            p, t = s[PX + f * W + lane], s[CX + f * W + lane]
            total[i + f] -= p
            total[j + f] += p
            total[i + f + U(3)] -= arm_a * t
            total[j + f + U(3)] -= arm_b * t
            pair_force[n, f] = p
        for f in range(kept):
            springs[c + f] = s[HELD + f * W + lane]
        if rolling:
            for f in range(U(3)):
                t = s[TX + f * W + lane]
                total[i + f + U(3)] -= t
                total[j + f + U(3)] += t
                pair_force[n, f + U(3)] = t


@device
def store(s, first, full, pairs, rolling, springs):
    """The forces of one block for whoever adds them up, and its springs to their places."""
    place, pair_force, turn, kept = pairs.place, pairs.force, pairs.turn, U(pairs.spring.shape[1])
    for lane in range(U(full)):
        n = U(first) + lane
        c = U(place[n]) * kept
        turn[n, 3], turn[n, 4] = s[ARM_A + lane], s[ARM_B + lane]
        for f in range(U(3)):
            pair_force[n, f], turn[n, f] = s[PX + f * W + lane], s[CX + f * W + lane]
        for f in range(kept):
            springs[c + f] = s[HELD + f * W + lane]
        if rolling:
            for f in range(U(3)):
                pair_force[n, f + U(3)] = s[TX + f * W + lane]


@device
def add_forces(low, high, count, pairs, rolling, force):
    """Forces on the ranks from ``low`` up to ``high`` by all pairs, in their order: the sums that ``scatter`` makes."""
    a, b, pair_force, turn = pairs.a, pairs.b, pairs.force, pairs.turn
    for n in range(count):
        i, j = a[n], b[n]
        if low <= i < high:
            for f in range(3):
                force[i, f] -= pair_force[n, f]
                force[i, f + 3] -= turn[n, 3] * turn[n, f]
            if rolling:
                for f in range(3):
                    force[i, f + 3] -= pair_force[n, f + 3]
        if low <= j < high:
            for f in range(3):
                force[j, f] += pair_force[n, f]
                force[j, f + 3] -= turn[n, 4] * turn[n, f]
            if rolling:
                for f in range(3):
                    force[j, f + 3] += pair_force[n, f + 3]


@kernel
def push_pairs(
    crew: Crew,
    laws: Laws,
    rows: Rows,
    pairs: Pairs,
    period: FloatArray | None,
    count: int,
    h: float,
) -> tuple[float, float, int]:
    """Forces on all grains by the ``count`` pairs that touch; returns elastic energy [J], largest overlap [m] and number of impacts.

    Springs move on by ``h`` [s]. One thread adds forces to the grains as it finds them; several find them first, and each adds up those
    of its own grains, in the same order.
    """
    thread, threads, barrier = crew
    law, table, materials = laws
    _, sphere, _, grain, force = rows
    spring, parts = pairs.spring, pairs.parts
    s = np.zeros(SCRATCH)
    rolling = spring.shape[1] == of.ROLLING
    ball, own, total = sphere.reshape(-1), grain.reshape(-1), force.reshape(-1)
    numbers, springs = table.reshape(-1), spring.reshape(-1)
    if materials == 1:
        for lane in range(W):
            for f in range(L):
                s[STIFFNESS + f * W + lane] = numbers[f]
    first_row, last_row = share(len(force), thread, threads)
    force[first_row:last_row] = 0.0
    chunks = (count + CHUNK - 1) // CHUNK
    low, high = share(chunks, thread, threads)
    for chunk in range(low, high):
        clear_sums(s)
        for first in range(chunk * CHUNK, min(count, (chunk + 1) * CHUNK), of.LANES):
            full = min(of.LANES, count - first)
            gather(s, first, full, pairs, ball, own, numbers, springs, materials, period)
            meet(s)
            push(s, h, law, rolling)
            if threads == 1:
                scatter(s, first, full, pairs, rolling, total, springs)
            else:
                store(s, first, full, pairs, rolling, springs)
        parts[chunk, 0], parts[chunk, 1], hits = sums(s)
        parts[chunk, 2] = hits
    wait(barrier, threads)
    if threads > 1:
        add_forces(first_row, last_row, count, pairs, rolling, force)
    elastic, deepest, impacts = 0.0, 0.0, 0.0
    for chunk in range(chunks):
        elastic, deepest, impacts = elastic + parts[chunk, 0], max(deepest, parts[chunk, 1]), impacts + parts[chunk, 2]
    wait(barrier, threads)
    return elastic, deepest, int(impacts)


@kernel
def carry_springs(a: IntArray, b: IntArray, place: IntArray, old_spring: FloatArray, rank: IntArray, listed: Listed, pairs: Pairs) -> None:
    """Springs of pairs of grains that touch, a and b, from their places in an old neighbour list into a new one.

    ``a``, ``b`` and ``place`` become ranks and places of the new one. A pair may have another owner there: then its springs change sign;
    their stiffness, which stands first, does not.
    """
    first, candidate, spring, touched = listed.first, listed.candidate, pairs.spring, pairs.touched
    kept = spring.shape[1]
    for n in range(len(a)):
        old = place[n]
        i, j = rank[a[n]], rank[b[n]]
        for turned in range(2):
            for c in range(first[i], first[i + 1]):
                if candidate[c] == j:
                    a[n], b[n], place[n], touched[c] = i, j, c, 1
                    for f in range(kept):
                        value = old_spring[old, f]
                        spring[c, f] = -value if turned and f > 0 else value
            i, j = j, i
