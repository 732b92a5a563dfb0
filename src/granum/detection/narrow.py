"""Narrow phase of grain pairs: overlap and normal of those candidates that touch."""

from __future__ import annotations

import math

import numpy as np

from .._jit import FloatArray, IntArray, LongArray, kernel
from ..parallel.barrier import add_up, share, wait
from .images import nearest

ROUNDING = 1e-12  # grains that touch but for rounding are in contact


@kernel
def gather_sorted(
    thread: int, threads: int, barrier: LongArray,
    position: FloatArray, first: int, radius: FloatArray, order: IntArray, reference: FloatArray, skin: FloatArray,
    sphere: FloatArray, left: IntArray,
) -> int:  # fmt: skip
    """Fill ``sphere`` (R, 4) with centre and radius [m] by rank; returns how many grains have left their skin, named in ``left``.

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
        x, y, z = position[first + i, 0], position[first + i, 1], position[first + i, 2]
        dx, dy, dz = x - reference[i, 0], y - reference[i, 1], z - reference[i, 2]
        if not dx * dx + dy * dy + dz * dz <= skin[i] * skin[i]:  # a NaN is not inside
            if gone < len(own):
                own[gone] = i
            gone += 1
        sphere[k, 0], sphere[k, 1], sphere[k, 2], sphere[k, 3] = x, y, z, radius[i]
    before, total = add_up(barrier, thread, threads, gone)
    for k in range(min(gone, len(left) - before)):
        left[before + k] = own[k]
    wait(barrier, threads)
    return total


@kernel
def find_pair_contacts(
    thread: int, threads: int, barrier: LongArray,
    sphere: FloatArray, order: IntArray, candidate_first: IntArray, candidate: IntArray, movable: FloatArray, first: int,
    visit: IntArray | None, aggregate: IntArray | None, period: FloatArray | None, hit: IntArray, a: IntArray, b: IntArray,
    feature: IntArray, normal: FloatArray, overlap: FloatArray, first_of: IntArray, count_of: IntArray,
) -> int:  # fmt: skip
    """Contacts of grain pairs, in Morton order of their owner a; returns how many, written only as far as there is room.

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
        xk, yk, zk, rk = sphere[k, 0], sphere[k, 1], sphere[k, 2], sphere[k, 3]
        known = found
        for c in range(candidate_first[k], candidate_first[k + 1]):
            m = candidate[c]
            dx, dy, dz = sphere[m, 0] - xk, sphere[m, 1] - yk, sphere[m, 2] - zk
            if period is not None:
                dx, dy, dz = nearest(dx, period, 0), nearest(dy, period, 1), nearest(dz, period, 2)
            near = rk + sphere[m, 3]
            if dx * dx + dy * dy + dz * dz < near * near * (1.0 + ROUNDING):
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
                a[place], b[place], feature[place] = i, order[m], 0
                overlap[place] = max(0.0, rk + sphere[m, 3] - distance)
                if distance > 0.0:
                    f = 1.0 / distance
                    normal[place, 0], normal[place, 1], normal[place, 2] = dx * f, dy * f, dz * f
                else:  # concentric: any direction will do, but always the same
                    normal[place, 0], normal[place, 1], normal[place, 2] = 0.0, 0.0, 1.0
            place += 1
    wait(barrier, threads)
    return total
