"""Merging: which free grains and aggregates become one body with what they touch (MR 3.1)."""

from __future__ import annotations

import numpy as np

from .._jit import device, kernel
from ..array_types import BoolArray, FloatArray, IntArray


@device
def moves_with(k, first, body, slow, slow_turn, position, velocity, spin, centre, speed, turning):
    """Whether grain k is slower than ``slow`` [m/s] and ``slow_turn`` [rad/s] against the rigid motion of a body."""
    i = first + k
    x, y, z = position[i, 0] - centre[body, 0], position[i, 1] - centre[body, 1], position[i, 2] - centre[body, 2]
    w, v = turning[body], speed[body]
    u = velocity[i, 0] - v[0] - (w[1] * z - w[2] * y)
    t = velocity[i, 1] - v[1] - (w[2] * x - w[0] * z)
    s = velocity[i, 2] - v[2] - (w[0] * y - w[1] * x)
    turn = (spin[i, 0] - w[0]) ** 2 + (spin[i, 1] - w[1]) ** 2 + (spin[i, 2] - w[2]) ** 2
    return u * u + t * t + s * s <= slow * slow and turn <= slow_turn * slow_turn


@kernel
def join_carriers(
    quiet: IntArray,
    a: IntArray,
    b: IntArray,
    normal: FloatArray,
    wall_carrier: IntArray,
    belt: FloatArray,
    carriers: int,
    barred: BoolArray,
    slow: float,
    slow_turn: float,
    first: int,
    position: FloatArray,
    velocity: FloatArray,
    spin: FloatArray,
    centre: FloatArray,
    speed: FloatArray,
    turning: FloatArray,
    aggregate: IntArray,
    taken: IntArray,
    fixed: BoolArray,
    joined: IntArray,
) -> int:
    """Free grains with a quiet contact to a carrier or to what it holds join it if they move with it; returns how many ``joined``.

    ``belt`` (K, 3) [m/s] is the velocity of the walls' surfaces: where it runs against the surface nothing joins. An aggregate whose
    grain joins is named in ``taken`` (M,) with its carrier. ``fixed`` (N,) are the grains that touch the wall of their carrier.
    """
    count = 0
    again, forward = True, True
    while again:
        again = False
        for n in range(len(quiet)):
            c = quiet[n] if forward else quiet[len(quiet) - 1 - n]
            i, j = a[c], b[c]
            own = aggregate[i]
            if j >= 0:
                other = aggregate[j]
            else:
                wall = -1 - j
                other = wall_carrier[wall]
                along = belt[wall, 0] * normal[c, 0] + belt[wall, 1] * normal[c, 1] + belt[wall, 2] * normal[c, 2]
                if abs(along) > slow:
                    other = -1
            if 0 <= own < carriers:
                if j < 0:
                    fixed[i] = fixed[i] or own == other
                    continue
                own, other = other, own
                i = j
            if not 0 <= other < carriers or 0 <= own < carriers:
                continue
            if own >= 0 and taken[own] >= 0:
                continue
            if barred[i] or not moves_with(i, first, other, slow, slow_turn, position, velocity, spin, centre, speed, turning):
                continue
            if own >= 0:  # its centre must move with the carrier too: else it is about to tip over
                d, v, w = centre[own] - centre[other], speed[own] - speed[other], turning[other]
                x, y, z = v[0] - (w[1] * d[2] - w[2] * d[1]), v[1] - (w[2] * d[0] - w[0] * d[2]), v[2] - (w[0] * d[1] - w[1] * d[0])
                if x * x + y * y + z * z <= slow * slow:
                    taken[own] = other
                    again = True
                continue
            again = True
            aggregate[i] = other
            fixed[i] = b[c] < 0
            joined[count] = i
            count += 1
        forward = not forward
    return count


@device
def root_of(parent, k):
    """The root of k, with the way to it halved."""
    while parent[k] != k:
        parent[k] = parent[parent[k]]
        k = parent[k]
    return k


@kernel
def union_quiet(
    quiet: IntArray,
    a: IntArray,
    b: IntArray,
    slot: IntArray,
    slots: int,
    carriers: int,
    bodies: int,
    aggregate: IntArray,
    wall_aggregate: IntArray,
    wall_body: IntArray,
    dynamic: IntArray,
    barred: BoolArray,
    parent: IntArray,
) -> bool:
    """Join the roots of free grains (by slot), aggregates (after them) and dynamic wall bodies (last) at quiet contacts; whether any did.

    ``dynamic`` (W,) is 1 for wall bodies that are pushed. Nothing joins what a carrier holds.
    """
    for k in range(len(parent)):
        parent[k] = k
    some = False
    for c in quiet:
        i, j = a[c], b[c]
        if 0 <= aggregate[i] < carriers or barred[i]:
            continue
        p = slot[i] if aggregate[i] < 0 else slots + aggregate[i]
        if j >= 0:
            if 0 <= aggregate[j] < carriers or barred[j]:
                continue
            q = slot[j] if aggregate[j] < 0 else slots + aggregate[j]
        else:
            w = wall_body[-1 - j]
            if not dynamic[w]:
                continue
            q = slots + wall_aggregate[w] if wall_aggregate[w] >= 0 else slots + bodies + w
        p, q = root_of(parent, p), root_of(parent, q)
        if p != q:
            some = True
            if p < q:
                parent[q] = p
            else:
                parent[p] = q
    for k in range(len(parent)):
        parent[k] = root_of(parent, k)
    return some


@kernel
def compact(parent: IntArray, joined: BoolArray, number: IntArray) -> int:
    """Number the roots with more than one member, in order; -1 for everything that stands alone. Returns how many there are."""
    size = np.zeros(len(parent), np.int32)
    for k in range(len(parent)):
        if joined[k]:
            size[parent[k]] += 1
    count = 0
    for k in range(len(parent)):
        number[k] = -1
        if parent[k] == k and size[k] > 1:
            number[k] = count
            count += 1
    for k in range(len(parent)):
        number[k] = number[parent[k]] if joined[k] else -1
    return count
