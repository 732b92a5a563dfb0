"""Narrow phase of grain pairs: overlap and normal of those candidates that touch."""

from __future__ import annotations

import math

import numpy as np

from .._jit import device, kernel
from ..array_types import FloatArray, IntArray, LongArray
from ..parallel.barrier import add_up, share, wait
from .images import nearest
from .prediction import closes, margin

ROUNDING = 1e-12  # grains that touch but for rounding are in contact


@device
def fill_sphere(sphere, k, position, velocity, body, r, time, fall):
    """Row k: 0:3 centre, 3 radius [m], 4:7 velocity [m/s], 7 how far beyond the surface partners are looked for [m]."""
    vx, vy, vz = velocity[body, 0], velocity[body, 1], velocity[body, 2]
    sphere[k, 0], sphere[k, 1], sphere[k, 2], sphere[k, 3] = position[body, 0], position[body, 1], position[body, 2], r
    sphere[k, 4], sphere[k, 5], sphere[k, 6] = vx, vy, vz
    sphere[k, 7] = margin(vx, vy, vz, r, time, fall) if time > 0.0 else 0.0


@kernel
def gather_sorted(
    thread: int,
    threads: int,
    barrier: LongArray,
    position: FloatArray,
    velocity: FloatArray,
    first: int,
    radius: FloatArray,
    order: IntArray,
    reference: FloatArray,
    skin: FloatArray,
    time: float,
    fall: float,
    sphere: FloatArray,
    left: IntArray,
) -> int:
    """Fill ``sphere`` (R, 8) by rank; returns how many grains leave their skin within ``time`` [s], named in ``left``.

    It names no more than there is room for in ``left``. An empty rank is put out of everybody's reach.
    """
    low, high = share(len(order), thread, threads)
    own = np.empty(len(left), np.int32)
    gone = 0
    for k in range(low, high):
        i = order[k]
        if i < 0:
            sphere[k, 0], sphere[k, 1], sphere[k, 2], sphere[k, 3] = np.inf, np.inf, np.inf, 0.0
            continue
        fill_sphere(sphere, k, position, velocity, first + i, radius[i], time, fall)
        dx, dy, dz = sphere[k, 0] - reference[i, 0], sphere[k, 1] - reference[i, 1], sphere[k, 2] - reference[i, 2]
        ex, ey, ez = dx + time * sphere[k, 4], dy + time * sphere[k, 5], dz + time * sphere[k, 6]
        furthest = max(dx * dx + dy * dy + dz * dz, ex * ex + ey * ey + ez * ez)
        if not furthest <= (skin[i] - 0.5 * fall) ** 2:  # a NaN is not inside
            if gone < len(own):
                own[gone] = i
            gone += 1
    before, total = add_up(barrier, thread, threads, gone)
    for k in range(min(gone, len(left) - before)):
        left[before + k] = own[k]
    wait(barrier, threads)
    return total


@kernel
def find_pair_contacts(
    thread: int,
    threads: int,
    barrier: LongArray,
    sphere: FloatArray,
    order: IntArray,
    candidate_first: IntArray,
    candidate: IntArray,
    movable: FloatArray,
    first: int,
    visit: IntArray | None,
    aggregate: IntArray | None,
    period: FloatArray | None,
    step: float,
    time: float,
    fall: float,
    impact: float,
    hit: IntArray,
    a: IntArray,
    b: IntArray,
    feature: IntArray,
    normal: FloatArray,
    overlap: FloatArray,
    first_of: IntArray,
    count_of: IntArray,
) -> int:
    """Contacts of grain pairs, in Morton order of their owner a; returns how many, written only as far as there is room.

    With a ``step`` [s] > 0 pairs that close their gap in it are contacts too (see ``closes``), with minus their gap as overlap.

    ``movable`` is the inverse mass of the bodies: two grains that never move do not push. ``hit`` has room for all candidates and keeps
    those that touch, until each thread knows where its contacts begin. With aggregates only the ranks of ``visit`` are looked at, and two
    grains of one ``aggregate`` (N,) do not touch.
    """
    low, high = share(len(order) if visit is None else len(visit), thread, threads)
    start = candidate_first[low]
    if visit is not None:
        start = candidate_first[visit[low]] if low < high else candidate_first[0]
    found = start
    for n in range(low, high):
        k = n
        if visit is not None:
            k = visit[n]
        i = order[k]
        if i < 0:
            continue
        xk, yk, zk, rk, mk = sphere[k, 0], sphere[k, 1], sphere[k, 2], sphere[k, 3], sphere[k, 7]
        known = found
        for c in range(candidate_first[k], candidate_first[k + 1]):
            m = candidate[c]
            dx, dy, dz = sphere[m, 0] - xk, sphere[m, 1] - yk, sphere[m, 2] - zk
            if period is not None:
                dx, dy, dz = nearest(dx, period, 0), nearest(dy, period, 1), nearest(dz, period, 2)
            near = rk + sphere[m, 3]
            far = near + mk + sphere[m, 7]
            square = dx * dx + dy * dy + dz * dz
            if square < far * far * (1.0 + ROUNDING):
                if not square < near * near * (1.0 + ROUNDING):
                    ux, uy, uz = sphere[m, 4] - sphere[k, 4], sphere[m, 5] - sphere[k, 5], sphere[m, 6] - sphere[k, 6]
                    if not closes(dx, dy, dz, math.sqrt(square), near, ux, uy, uz, step, time, fall, impact)[0]:
                        continue
                pushes = movable[first + i] + movable[first + order[m]] > 0.0
                if aggregate is not None:
                    pushes = pushes or aggregate[i] != aggregate[order[m]]
                if pushes:
                    hit[found] = m
                    found += 1
        count_of[i] = found - known
    place, total = add_up(barrier, thread, threads, np.int64(found - start))
    next_hit = start
    for n in range(low, high):
        k = n
        if visit is not None:
            k = visit[n]
        i = order[k]
        if i < 0:
            continue
        xk, yk, zk, rk = sphere[k, 0], sphere[k, 1], sphere[k, 2], sphere[k, 3]
        first_of[i] = place
        for _ in range(count_of[i]):
            m = hit[next_hit]
            next_hit += 1
            if place < len(a):
                dx, dy, dz = sphere[m, 0] - xk, sphere[m, 1] - yk, sphere[m, 2] - zk
                if period is not None:
                    dx, dy, dz = nearest(dx, period, 0), nearest(dy, period, 1), nearest(dz, period, 2)
                distance = math.sqrt(dx * dx + dy * dy + dz * dz)
                near = rk + sphere[m, 3]
                a[place], b[place], feature[place] = i, order[m], 0
                overlap[place] = max(0.0, near - distance)
                if not distance * distance < near * near * (1.0 + ROUNDING):
                    ux, uy, uz = sphere[m, 4] - sphere[k, 4], sphere[m, 5] - sphere[k, 5], sphere[m, 6] - sphere[k, 6]
                    _, nx, ny, nz, gap = closes(dx, dy, dz, distance, near, ux, uy, uz, step, time, fall, impact)
                    normal[place, 0], normal[place, 1], normal[place, 2], overlap[place] = nx, ny, nz, gap
                elif distance > 0.0:
                    f = 1.0 / distance
                    normal[place, 0], normal[place, 1], normal[place, 2] = dx * f, dy * f, dz * f
                else:  # concentric: any direction will do, but always the same
                    normal[place, 0], normal[place, 1], normal[place, 2] = 0.0, 0.0, 1.0
            place += 1
    wait(barrier, threads)
    return total
