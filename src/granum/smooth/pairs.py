"""Forces between grains, from the neighbour list: who touches is looked for and pushed in one pass.

Every candidate of the list has a place for its springs, so that they need no search while the list lasts. Ranks are taken in chunks,
whatever thread does it: the pairs of one are found, then pushed, block by block, and each force goes to its two grains at once. Grains that
several threads would push wait for the end (``seam.py``), and get their forces in the same order then.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import device, kernel
from ..array_types import FloatArray, IntArray
from ..detection.images import nearest
from ..parallel.barrier import share, wait
from ..parallel.crew import Crew
from . import lanes as of
from .groups import Laws, Listed, Pairs, Rows, Seam
from .lanes import ROW_A, ROW_B, SCRATCH, U, W, blank, clear_sums, push, sums
from .rows import WIDE, copy_8, gather_4, gather_8, gather_apart, push_a, push_b, turn_back, which_are_set, which_touch

ROW = 8  # numbers of a grain besides its sphere: velocity, inverse mass, spin, material; as wide as a cache line
RANKS = 256  # of a chunk, whose energy is summed up in one go
FORCE = 6  # force [N] and torque [N m]
PART = 4  # of a chunk: energy [J], largest overlap [m], impacts and pairs
L, V = U(of.LAW), U(WIDE)
KEPT, TURNED = U(of.LANES * WIDE), U(2 * of.LANES * WIDE)  # where rows that are kept begin in the room for rows, after those of forces
APART, NEAR = of.NX, of.OVERLAP  # while candidates are looked at: x_b - x_a and r_a + r_b [m]
QX_KEPT = U(11)  # in a row that is kept
A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11 = ROW_A
B0, B1, B2, B3, B4, B5, B6, B7, B8, B9, B10, B11 = ROW_B
NX, NY, NZ, OVERLAP, ROUND, INERTIA, ARM_A, ARM_B = of.NX, of.NY, of.NZ, of.OVERLAP, of.ROUND, of.INERTIA, of.ARM_A, of.ARM_B
UX, UY, UZ, WX, WY, WZ, FX, FY, FZ = of.UX, of.UY, of.UZ, of.WX, of.WY, of.WZ, of.FX, of.FY, of.FZ
STIFFNESS, HELD, PX, TX, QX = of.STIFFNESS, of.HELD, of.PX, of.TX, of.QX


@device
def look(s, begin, end, listed, ball, own, held, period, pairs):
    """Find out which of the candidates from ``begin`` to ``end`` touch; true if others do than before.

    What is kept of pairs that came apart is cleared. ``held``: some of the grains never move, and two such do not push.
    """
    owner, candidate, touched, kept = listed.owner, listed.candidate, pairs.touched, pairs.kept
    changed = False
    for first in range(U(begin), U(end), W):
        full = min(W, U(end) - first)
        if full == W:
            for half in range(U(0), W, V):
                gather_apart(ball, owner, candidate, first + half, s, APART + half)
        else:
            for lane in range(full):
                k, j = U(owner[first + lane]) * U(4), U(candidate[first + lane]) * U(4)
                for f in range(U(3)):
                    s[APART + f * W + lane] = ball[j + f] - ball[k + f]
                s[NEAR + lane] = ball[j + U(3)] + ball[k + U(3)]
        if period is not None:
            for f in range(U(3)):
                for lane in range(W):
                    s[APART + f * W + lane] = nearest(s[APART + f * W + lane], period, f)
        now = which_touch(s, APART) | which_touch(s, APART + V) << V
        if held:
            for lane in range(full):
                if own[U(owner[first + lane]) * V + U(3)] == 0.0 and own[U(candidate[first + lane]) * V + U(3)] == 0.0:
                    now &= ~(U(1) << lane)
        differ = (now ^ (which_are_set(touched, first) | which_are_set(touched, first + V) << V)) & ((U(1) << full) - U(1))
        if differ:
            changed = True
            for lane in range(full):
                if differ >> lane & U(1):
                    touched[first + lane] = now >> lane & U(1)
                    kept[first + lane] = 0.0
    return changed


@device
def list_touching(begin, end, to, listed, pairs):
    """Put those of the candidates from ``begin`` to ``end`` that touch in a row, ``to`` ...; returns how many."""
    owner, candidate, touched = listed.owner, listed.candidate, pairs.touched
    a, b, place = pairs.a, pairs.b, pairs.place
    n = U(to)
    for c in range(U(begin), U(end)):
        a[n], b[n], place[n] = owner[c], candidate[c], c
        n += U(touched[c])
    for lane in range(W):  # a block that is not full looks at the first grain
        a[n + lane], b[n + lane], place[n + lane] = 0, 0, 0
    return int(n - U(to))


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
def gather(s, n, full, pairs, ball, own, numbers, kept, materials, period):
    """The grains, springs and materials of one block."""
    a, b, place, width = pairs.a, pairs.b, pairs.place, U(pairs.kept.shape[1])
    for half in range(U(0), W, V):
        first = U(n) + half
        gather_4(ball, U(4), U(0), a, first, s, A0 + half)
        gather_8(own, V, U(0), a, first, s, A4 + half)
        gather_4(ball, U(4), U(0), b, first, s, B0 + half)
        gather_8(own, V, U(0), b, first, s, B4 + half)
        gather_4(kept, width, U(0), place, first, s, HELD + half)
        if width > V:
            gather_4(kept, width, QX_KEPT, place, first, s, QX + half)
    if period is not None:  # b's image next to a
        for f in range(U(3)):
            for lane in range(W):
                s[B0 + f * W + lane] = s[A0 + f * W + lane] + nearest(s[B0 + f * W + lane] - s[A0 + f * W + lane], period, f)
    if materials > 1:
        for lane in range(W):
            m = (U(s[A11 + lane]) * U(materials) + U(s[B11 + lane])) * L
            for f in range(L):
                s[STIFFNESS + f * W + lane] = numbers[m + f]
    if full < of.LANES:
        blank(s, full)


@device
def scatter(s, rows, n, full, pairs, mark, total, kept):
    """The forces of one block to its grains, or to where the marked ones find them, and what is kept of its pairs to their places."""
    a, b, place, turn, width = pairs.a, pairs.b, pairs.place, pairs.turn, U(pairs.kept.shape[1])
    for half in range(U(0), W, V):
        turn_back(s, PX + half, rows, half * V)
        turn_back(s, HELD + half, rows, KEPT + half * V)
        if width > V:
            turn_back(s, TX + half, rows, TURNED + half * V)
    for lane in range(U(full)):
        i, j, c, row = U(a[U(n) + lane]), U(b[U(n) + lane]), U(place[U(n) + lane]), lane * V
        later_a, later_b = mark[i], mark[j]
        if not later_a:
            push_a(total, i * V, rows, row)
        if not later_b:
            push_b(total, j * V, rows, row)
        if later_a or later_b:
            copy_8(rows, row, turn, c * V)
        copy_8(rows, KEPT + row, kept, c * width)
        if width > V:
            copy_8(rows, TURNED + row, kept, c * width + V)
            for f in range(U(3)):
                t = rows[TURNED + row + f]
                if not later_a:
                    total[i * V + f + U(3)] -= t
                if not later_b:
                    total[j * V + f + U(3)] += t


@device
def push_later(low, high, seam, pairs, total, kept):
    """Forces on some of the marked grains, by their pairs in the order of the list: the sums that ``scatter`` makes."""
    turn, touched, width = pairs.turn, pairs.touched, U(pairs.kept.shape[1])
    for g in range(low, high):
        to = U(seam.grain[g]) * V
        for e in range(seam.first[g], seam.first[g + 1]):
            c, is_b = U(seam.entry[e] // 2), seam.entry[e] % 2
            if not touched[c]:
                continue
            if is_b:
                push_b(total, to, turn, c * V)
            else:
                push_a(total, to, turn, c * V)
            if width > V:
                for f in range(U(3)):
                    t = kept[c * width + V + f]
                    total[to + f + U(3)] += t if is_b else -t


@kernel
def push_pairs(
    crew: Crew,
    laws: Laws,
    rows: Rows,
    listed: Listed,
    pairs: Pairs,
    seam: Seam,
    period: FloatArray | None,
    h: float,
) -> tuple[float, float, int, int]:
    """Find the pairs that touch; forces on all grains by them. Springs move on by ``h`` [s].

    Returns elastic energy [J], largest overlap [m], number of impacts and of pairs.
    """
    thread, threads, barrier = crew
    law, table, materials = laws
    _, sphere, _, grain, force = rows
    first, found, parts, ranks = listed.first, pairs.found, pairs.parts, len(force)
    some, beyond = share(len(seam.bound) - 1, thread, threads)
    low, high = seam.bound[some], seam.bound[beyond]
    s, out = np.zeros(SCRATCH), np.zeros(3 * of.LANES * WIDE)
    ball, own, total, kept, numbers = sphere.reshape(-1), grain.reshape(-1), force.reshape(-1), pairs.kept.reshape(-1), table.reshape(-1)
    force[low * RANKS : min(ranks, high * RANKS)] = 0.0
    for chunk in range(low, high):
        begin, end = chunk * RANKS, min(ranks, (chunk + 1) * RANKS)
        to = first[begin] + chunk * of.LANES
        held = False
        for k in range(begin, end):
            held = held or grain[k, 3] == 0.0
        changed = look(s, first[begin], first[end], listed, ball, own, held, period, pairs)
        if changed or found[chunk] < 0:
            found[chunk] = list_touching(first[begin], first[end], to, listed, pairs)
        clear_sums(s)
        if materials == 1:  # the block before may have had blanks
            for lane in range(W):
                for f in range(L):
                    s[STIFFNESS + f * W + lane] = numbers[f]
        for n in range(0, found[chunk], of.LANES):
            full = min(of.LANES, found[chunk] - n)
            gather(s, to + n, full, pairs, ball, own, numbers, kept, materials, period)
            meet(s)
            push(s, h, law, pairs.kept.shape[1] > WIDE)
            scatter(s, out, to + n, full, pairs, seam.mark, total, kept)
        parts[chunk, 0], parts[chunk, 1], hits = sums(s)
        parts[chunk, 2], parts[chunk, 3] = hits, found[chunk]
    wait(barrier, threads)
    low, high = share(len(seam.grain), thread, threads)
    push_later(low, high, seam, pairs, total, kept)
    elastic, deepest, impacts, count = 0.0, 0.0, 0.0, 0.0
    for chunk in range(len(parts)):
        elastic, deepest = elastic + parts[chunk, 0], max(deepest, parts[chunk, 1])
        impacts, count = impacts + parts[chunk, 2], count + parts[chunk, 3]
    wait(barrier, threads)
    return elastic, deepest, int(impacts), int(count)


@kernel
def carry_springs(a: IntArray, b: IntArray, place: IntArray, old: FloatArray, rank: IntArray, listed: Listed, pairs: Pairs) -> None:
    """What is kept of pairs of grains that touch, a and b, from their places in an old neighbour list into a new one.

    A pair may have another owner there: then its springs change sign; their stiffness, which stands first, does not.
    """
    first, candidate, kept, touched = listed.first, listed.candidate, pairs.kept, pairs.touched
    for n in range(len(a)):
        i, j = rank[a[n]], rank[b[n]]
        for turned in range(2):
            for c in range(first[i], first[i + 1]):
                if candidate[c] == j:
                    touched[c] = 1
                    for f in range(kept.shape[1]):
                        value = old[place[n], f]
                        kept[c, f] = -value if turned and f > 0 else value
            i, j = j, i
