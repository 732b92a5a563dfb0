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
class Owners(NamedTuple):
    """The bodies that walls belong to."""

    body: IntArray  # (K,) the body that each wall is part of
    carrier: IntArray  # (K,) its carrier, -1: none
    carriers: int  # rows before it are carriers


@group
class Joining(NamedTuple):
    """Who may join carriers, and who does."""

    barred: BoolArray  # (N,) grains that must not join
    fixed: BoolArray  # (N,) grains that touch the wall of their carrier; in and out
    taken: IntArray  # (F,) the carrier that an aggregate joins as a whole, -1: none; out
    joined: IntArray  # grains that join, in order; out


@device
def goes_with(row, body, bodies, slow):
    """Whether the centre of a body is slow against the rigid motion of another; an aggregate whose centre is not is about to tip over."""
    position, velocity = bodies.position, bodies.velocity
    x, y, z = position[row, 0] - position[body, 0], position[row, 1] - position[body, 1], position[row, 2] - position[body, 2]
    w, v = bodies.spin[body], velocity[body]
    u = velocity[row, 0] - v[0] - (w[1] * z - w[2] * y)
    t = velocity[row, 1] - v[1] - (w[2] * x - w[0] * z)
    s = velocity[row, 2] - v[2] - (w[0] * y - w[1] * x)
    return u * u + t * t + s * s <= slow.speed * slow.speed


@device
def moves_with(grain, body, bodies, first, slow):
    """Whether a grain is slow against the rigid motion of a body, and turns with it."""
    w, o = bodies.spin[body], bodies.spin[first + grain]
    turn = (o[0] - w[0]) ** 2 + (o[1] - w[1]) ** 2 + (o[2] - w[2]) ** 2
    return turn <= slow.spin * slow.spin and goes_with(first + grain, body, bodies, slow)


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
            if own < first:  # an aggregate
                if goes_with(own, other, bodies, slow):
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


@kernel
def join_links(
    quiet: IntArray,
    contacts: ContactArrays,
    bodies: BodyArrays,
    grains: GrainArrays,
    owners: Owners,
    slow: Slow,
    slot: IntArray,
    barred: BoolArray,
    claimed: IntArray,
) -> None:
    """What touches a link of a machine, or what has joined it, joins it if it moves with it itself.

    ``claimed`` are first the free grains by slot, then the bodies before the grains: each has the row of the body with a link that it is
    part of, or -1; in and out.
    """
    wall_body, wall_carrier, carriers = owners
    a, b, body, first = contacts.a, contacts.b, grains.body, grains.first
    slots = len(claimed) - first
    again, forward = True, True
    while again:
        again = False
        for n in range(len(quiet)):
            c = quiet[n] if forward else quiet[len(quiet) - 1 - n]
            i, j = a[c], b[c]
            if body[i] < carriers or barred[i] or (j >= 0 and (body[j] < carriers or barred[j])):
                continue
            if j < 0 and wall_carrier[-1 - j] >= 0:
                continue
            other_body = body[j] if j >= 0 else wall_body[-1 - j]
            p = slot[i] if body[i] >= first else slots + body[i]
            q = slot[j] if other_body >= first else slots + other_body
            if (claimed[p] >= 0) == (claimed[q] >= 0):
                continue
            link = max(claimed[p], claimed[q])
            new, row = (q, other_body) if claimed[p] >= 0 else (p, body[i])
            # the grain of the contact that is not of the link, or, of a wall that is to join, the one that touches it
            grain = j if claimed[p] >= 0 and j >= 0 else i
            if not moves_with(grain, link, bodies, first, slow) or (row < first and not goes_with(row, link, bodies, slow)):
                continue
            claimed[new] = link
            again = True
        forward = not forward


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
    owners: Owners,
    slot: IntArray,
    barred: BoolArray,
    claimed: IntArray,
    parent: IntArray,
) -> bool:
    """Join the roots of free grains (by slot) and of the bodies before the grains (after them) at quiet contacts; whether any did.

    ``claimed`` is what links have taken (``join_links``). Nothing else joins those, nor carriers and what they hold.
    """
    wall_body, wall_carrier, carriers = owners
    a, b, body, first = contacts.a, contacts.b, grains.body, grains.first
    slots, some = len(parent) - first, False
    for k in range(len(parent)):
        parent[k] = k
        if claimed[k] >= 0:
            parent[k] = slots + claimed[k]
            some = some or parent[k] != k
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
        if claimed[p] >= 0 or claimed[q] >= 0:
            continue
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
