"""Who joins whom: which free grains and aggregates become one body with what they touch (MR 3.1)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import device, kernel
from ..array_types import BoolArray, FloatArray, IntArray
from ..kernel_groups import group
from ..state.bodies import BodyArrays, GrainArrays
from ..state.contacts import ContactArrays


@group
class Slow(NamedTuple):
    """Motion that is slow enough to be that of a carrier."""

    speed: float  # [m/s]
    spin: float  # [rad/s]


@group
class Joining(NamedTuple):
    """Who may join carriers, and who does."""

    barred: BoolArray  # (N,) grains that must not join
    fixed: BoolArray  # (N,) grains that touch the wall of their carrier; in and out
    taken: IntArray  # (F,) the carrier that an aggregate joins as a whole, -1: none; out
    joined: IntArray  # grains that join, in order; out


@device
def moves_with(grain, body, bodies, first, slow):
    """Whether a grain is slow against the rigid motion of a body."""
    position, velocity, spin = bodies.position, bodies.velocity, bodies.spin
    i = first + grain
    x, y, z = position[i, 0] - position[body, 0], position[i, 1] - position[body, 1], position[i, 2] - position[body, 2]
    w, v = spin[body], velocity[body]
    u = velocity[i, 0] - v[0] - (w[1] * z - w[2] * y)
    t = velocity[i, 1] - v[1] - (w[2] * x - w[0] * z)
    s = velocity[i, 2] - v[2] - (w[0] * y - w[1] * x)
    turn = (spin[i, 0] - w[0]) ** 2 + (spin[i, 1] - w[1]) ** 2 + (spin[i, 2] - w[2]) ** 2
    return u * u + t * t + s * s <= slow.speed * slow.speed and turn <= slow.spin * slow.spin


@kernel
def join_carriers(
    quiet: IntArray,
    contacts: ContactArrays,
    bodies: BodyArrays,
    grains: GrainArrays,
    wall_carrier: IntArray,
    belt: FloatArray,
    carriers: int,
    slow: Slow,
    joining: Joining,
) -> int:
    """Free grains with a quiet contact to a carrier or to what it holds join it if they move with it; returns how many ``joined``.

    ``wall_carrier`` (K,) is the carrier of each wall, -1: none; ``belt`` (K, 3) [m/s] the velocity of the walls' surfaces: where it runs
    against the surface nothing joins.
    """
    barred, fixed, taken, joined = joining
    a, b, normal, body, first = contacts.a, contacts.b, contacts.normal, grains.body, grains.first
    position, velocity, spin = bodies.position, bodies.velocity, bodies.spin
    count = 0
    again, forward = True, True
    while again:
        again = False
        for n in range(len(quiet)):
            c = quiet[n] if forward else quiet[len(quiet) - 1 - n]
            i, j = a[c], b[c]
            own = body[i]
            if j >= 0:
                other = body[j]
            else:
                wall = -1 - j
                other = wall_carrier[wall]
                along = belt[wall, 0] * normal[c, 0] + belt[wall, 1] * normal[c, 1] + belt[wall, 2] * normal[c, 2]
                if abs(along) > slow.speed:
                    other = -1
            if own < carriers:
                if j < 0:
                    fixed[i] = fixed[i] or own == other
                    continue
                own, other = other, own
                i = j
            if not 0 <= other < carriers or own < carriers:
                continue
            if own < first and taken[own] >= 0:
                continue
            if barred[i] or not moves_with(i, other, bodies, first, slow):
                continue
            if own < first:  # an aggregate: its centre must move with the carrier too, else it is about to tip over
                d, v, w = position[own] - position[other], velocity[own] - velocity[other], spin[other]
                x, y, z = v[0] - (w[1] * d[2] - w[2] * d[1]), v[1] - (w[2] * d[0] - w[0] * d[2]), v[2] - (w[0] * d[1] - w[1] * d[0])
                if x * x + y * y + z * z <= slow.speed * slow.speed:
                    taken[own] = other
                    again = True
                continue
            again = True
            body[i] = other
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
    contacts: ContactArrays,
    grains: GrainArrays,
    wall_body: IntArray,
    wall_carrier: IntArray,
    carriers: int,
    slot: IntArray,
    slots: int,
    barred: BoolArray,
    parent: IntArray,
) -> bool:
    """Join the roots of free grains (by slot) and of the bodies before the grains (after them) at quiet contacts; whether any did.

    ``wall_body`` (K,) is the body that each wall is part of. Nothing joins carriers, and what they hold.
    """
    a, b, body, first = contacts.a, contacts.b, grains.body, grains.first
    for k in range(len(parent)):
        parent[k] = k
    some = False
    for c in quiet:
        i, j = a[c], b[c]
        if body[i] < carriers or barred[i]:
            continue
        p = slot[i] if body[i] >= first else slots + body[i]
        if j >= 0:
            if body[j] < carriers or barred[j]:
                continue
            q = slot[j] if body[j] >= first else slots + body[j]
        else:
            if wall_carrier[-1 - j] >= 0:
                continue
            q = slots + wall_body[-1 - j]
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
