"""When in a step its collisions take place, and where that leaves the bodies at its end (physics 13).

A collision that is found before it happens changes velocities at the time t_c = gap / approach speed, not at the start of the step: a body
whose velocity changes by dv at t_c ends t_c dv short of where the new velocity alone would take it. That is exact for two bodies, and for
all that the collision passes its impulse on to, as in a row of touching grains: they change their velocities at the same moment. Where
several collisions inside of a step act on each other, there is no one moment, and the start of the step has to serve. Two bodies that meet
at several corners do so at one moment, the mean of those of the corners, weighted by their impulses. They are turned to where they should
be as well as moved, after the step, as their angular momentum must not turn with them.

Contacts that only pass an impulse on turn until t_c; what that would do to the angular momentum is returned to the pair.
"""

from __future__ import annotations

import numpy as np

from .._jit import device, kernel
from ..array_types import FloatArray, IntArray
from ..detection.images import nearest
from ..kernel_groups import call
from ..parallel import LIGHT, Team
from ..parallel.barrier import add_up, share, wait
from ..parallel.crew import Crew
from .blocks import ARM, BODY, LANES, OX, PN, at, fetch_next
from .groups import ContactBlocks, Found, FreeBodies, Met, ProblemArrays
from .impact import PAYING, by_grains, first_between_bodies, rows_of, turn_bodies, turn_pair
from .problem import Problem

NOBODY, NOTHING_OWED, NO_HITS = np.zeros(0, np.int32), np.zeros((0, 3)), np.zeros((0, 9))


@device
def root(parent, i):
    """The body that stands for the group of body i."""
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@device
def later_by(packed, slot, row, bodies, struck, shift, turned):
    """Where a body with full inertia is to start, and how far it is to be turned besides, if its motion changes at the time ``struck`` [s]:
    from its motion before the impact stage and after it."""
    for f in range(3):
        shift[row, f] = struck[row] * (bodies.velocity[row, f] - packed.body[slot * BODY + f])
        turned[row, f] = struck[row] * (bodies.spin[row, f] - packed.body[slot * BODY + OX + f])


@device
def turn_along(turned, row, lever, q, side, n):
    """How far a small turn of a body moves the contact point on it along n [m]."""
    x, y, z = lever[q, 3 * side], lever[q, 3 * side + 1], lever[q, 3 * side + 2]
    t = turned[row]
    return (t[1] * z - t[2] * y) * n[0] + (t[2] * x - t[0] * z) * n[1] + (t[0] * y - t[1] * x) * n[2]


def place_at_collisions(
    team: Team, problem: Problem, met: Met, bodies: FreeBodies, wall_body: IntArray, period: FloatArray | None, h: float, struck: FloatArray
) -> tuple[tuple[IntArray, FloatArray], FloatArray, FloatArray]:
    """Move bodies to where the step must start for its end to be right, and overlaps with them.

    The gap rates and the velocities of ``bodies`` are those before the impact stage, the blocks have its impulses, ``packed`` the motion
    after it; ``struck`` (B,) receives when in the step bodies are hit [s]. Returns contacts (K,) and the angular momentum [N m s] (K, 3)
    that each of them is to be given after the solve; of those between bodies impulse on b [N s] and lever arms [m] (K, 9); and by how much
    bodies that are no grains are to be turned after the step (F, 3) [rad], empty if none is.
    """
    contacts, things = len(met.a), problem.contact_count // LIGHT
    pushing, room = np.empty(contacts, np.int32), np.empty(contacts, np.int32)
    count, inside = team.run(list_pushing, things, problem.blocks, problem.found, met, pushing, room)
    if contacts and not inside:  # a rehearsal, which has none, goes on
        return (NOBODY, NOTHING_OWED), NO_HITS, NOTHING_OWED
    shift = np.zeros(bodies.position.shape)
    some, owed, hits, turned = call(find_shifts, problem.arrays, met, bodies, wall_body, period, h, pushing[:count], shift, struck)
    team.run(shift_bodies, things, problem.arrays, met, bodies, wall_body, some, shift, turned)
    return (some, owed), hits, turned


@kernel
def list_pushing(crew: Crew, blocks: ContactBlocks, found: Found, met: Met, pushing: IntArray, room: IntArray) -> tuple[int, bool]:
    """Contacts with an impulse into ``pushing`` (C,), in order; returns how many, and whether one of them collides over a gap.

    ``room`` (C,) is room to work in.
    """
    thread, threads, barrier = crew
    place, own, inside = found.place, 0, 0
    low, high = share(len(place), thread, threads)
    for c in range(low, high):
        fetch_next(blocks, place[c], PN, PN + 1)
        if blocks.data[at(place[c], blocks.fields) + PN * LANES] > 0.0:
            room[low + own] = c
            own += 1
            inside += met.rebound[c] > 0.0 and met.overlap[c] < 0.0
    before, count = add_up(barrier, thread, threads, own)
    for k in range(own):
        pushing[before + k] = room[low + k]
    return count, add_up(barrier, thread, threads, inside)[1] > 0


@kernel
def find_shifts(
    problem: ProblemArrays,
    met: Met,
    bodies: FreeBodies,
    wall_body: IntArray,
    period: FloatArray | None,
    h: float,
    some: IntArray,
    shift: FloatArray,
    struck: FloatArray,
) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
    """What ``place_at_collisions`` returns, and into ``shift`` (B, 3) [m] how far bodies are to be moved; ``some`` contacts push."""
    packed, blocks, levers, found = problem
    a, b, normal, overlap, rebound = met.a, met.b, met.normal, met.overlap, met.rebound
    position, velocity, inverse_mass, radius, first = bodies.position, bodies.velocity, bodies.inverse_mass, bodies.radius, bodies.first
    place, gap_rate, data, fields = found.place, found.gap_rate, blocks.data, blocks.fields
    count = len(some)
    body = np.empty((count, 2), np.int64)
    parent = np.arange(len(position))
    owned = first_between_bodies(some, met)
    for k in range(count):
        body[k, 0], body[k, 1] = rows_of(some[k], met, bodies, wall_body)
        if inverse_mass[body[k, 0]] > 0.0 and inverse_mass[body[k, 1]] > 0.0:
            parent[root(parent, body[k, 0])] = root(parent, body[k, 1])
    time, collisions = np.zeros(len(position)), np.zeros(len(position), np.int32)
    several = len(position) if owned < count else 0
    pressed, pair = np.zeros(several), np.zeros((several, 2), np.int64)
    turned = np.zeros((first if owned < count else 0, 3))
    for k in range(count):
        c = some[k]
        if rebound[c] > 0.0 and -gap_rate[c] * h > -overlap[c] and gap_rate[c] < 0.0:
            group = root(parent, body[k, 0] if inverse_mass[body[k, 0]] > 0.0 else body[k, 1])
            when = max(0.0, -overlap[c]) / -gap_rate[c]
            if k >= owned:
                push = data[at(place[c], fields) + PN * LANES]
                if pressed[group] > 0.0 and pair[group, 0] == body[k, 0] and pair[group, 1] == body[k, 1]:  # one more corner of these two
                    pressed[group] += push
                    time[group] += (when - time[group]) * push / pressed[group]
                    continue
                pressed[group], pair[group, 0], pair[group, 1] = push, body[k, 0], body[k, 1]
            collisions[group] += 1
            time[group] = when
    for k in range(count):
        for i in body[k]:
            if inverse_mass[i] > 0.0:
                group = root(parent, i)
                if collisions[group] == 1:
                    struck[i] = time[group]
    kept = 0
    for k in range(count):  # grains that touch, and are hit at the start of the step, stay where they are and owe nothing
        if k >= owned or overlap[some[k]] < 0.0 or struck[body[k, 0]] != 0.0 or struck[body[k, 1]] != 0.0:
            some[kept], body[kept, 0], body[kept, 1] = some[k], body[k, 0], body[k, 1]
            kept += 1
    owned, count = kept - (count - owned), kept
    for k in range(count):
        c = some[k]
        d = at(place[c], fields)
        for f in range(3):
            push = data[d + PN * LANES] * normal[c, f] + data[d + (PN + 1 + f) * LANES]
            for side in range(2):
                i = body[k, side]
                shift[i, f] += (1.0 - 2.0 * side) * inverse_mass[i] * push * struck[i]
    for k in range(owned, count):
        for side in range(2):
            i, slot = body[k, side], np.int64(found.slot_a[some[k]] if side == 0 else found.slot_b[some[k]])
            if inverse_mass[i] > 0.0:
                later_by(packed, slot, i, bodies, struck, shift, turned)
    owed, hits = np.zeros((count, 3)), np.zeros((count, 9))
    for k in range(owned, count):
        c = some[k]
        d = at(place[c], fields)
        for f in range(3):
            hits[k, f] = data[d + PN * LANES] * normal[c, f] + data[d + (PN + 1 + f) * LANES]
        hits[k, 3:] = levers.arm[place[c] - blocks.serial_start]
    arm, p = np.empty(3), np.empty(3)
    for k in range(count):
        c, i, j = some[k], body[k, 0], body[k, 1]
        if inverse_mass[i] == 0.0 or inverse_mass[j] == 0.0:
            continue
        d = at(place[c], fields)
        for f in range(3):
            p[f] = data[d + PN * LANES] * normal[c, f] + data[d + (PN + 1 + f) * LANES]
            arm[f] = struck[j] * velocity[j, f] - struck[i] * velocity[i, f]
            if b[c] >= 0:
                apart = position[j, f] - position[i, f]
                if period is not None:
                    apart = nearest(apart, period, f)
                arm[f] += apart - data[d + ARM * LANES] * (radius[a[c]] + radius[b[c]]) * normal[c, f]
            else:
                q = place[c] - blocks.serial_start
                arm[f] += position[j, f] - position[i, f] - levers.arm[q, f] + levers.arm[q, 3 + f]
        owed[k, 0] = arm[2] * p[1] - arm[1] * p[2]
        owed[k, 1] = arm[0] * p[2] - arm[2] * p[0]
        owed[k, 2] = arm[1] * p[0] - arm[0] * p[1]
    return some[:count].copy(), owed, hits, turned


@kernel
def shift_bodies(
    crew: Crew,
    problem: ProblemArrays,
    met: Met,
    bodies: FreeBodies,
    wall_body: IntArray,
    some: IntArray,
    shift: FloatArray,
    turned: FloatArray,
) -> None:
    """Move the bodies of ``some`` contacts by their ``shift`` (B, 3) [m], zeros after that, and overlaps with them; ``turned`` (F, 3) [rad]
    are those that will be turned besides, empty if none is."""
    thread, threads, barrier = crew
    _, blocks, levers, found = problem
    normal, overlap, position = met.normal, met.overlap, bodies.position
    low, high = share(len(met.a), thread, threads)
    for c in range(low, high):
        i, j = rows_of(c, met, bodies, wall_body)
        for f in range(3):
            overlap[c] += (shift[i, f] - shift[j, f]) * normal[c, f]
        if len(turned) == 0 or met.b[c] >= 0:  # nothing is turned, or nothing of this
            continue
        q = found.place[c] - blocks.serial_start
        if bodies.inverse_mass[j] > 0.0:
            overlap[c] -= turn_along(turned, j, levers.arm, q, 1, normal[c])
        if c >= met.grain_contacts:
            overlap[c] += turn_along(turned, i, levers.arm, q, 0, normal[c])
    wait(barrier, threads)
    for k in range(len(some) if thread == 0 else 0):
        for i in rows_of(some[k], met, bodies, wall_body):
            for f in range(3):
                position[i, f] += shift[i, f]
                shift[i, f] = 0.0


@kernel
def return_angular_momentum(
    contact: IntArray,
    owed: FloatArray,
    problem: ProblemArrays,
    met: Met,
    bodies: FreeBodies,
    wall_body: IntArray,
    period: FloatArray | None,
    struck: FloatArray,
) -> FloatArray:
    """Give pairs the angular momentum that collisions inside of the step owe them: what ``place_at_collisions`` found, and what the solve
    has added since at contacts of bodies that were moved, whose normals are not those of their places now.

    Returns the energy (F,) [J] that bodies which are no grains have won by what they gave each other."""
    gained = np.zeros(bodies.first)
    if len(contact) == 0:
        return gained
    blocks, found = problem.blocks, problem.found
    a, b, normal, impulse = met.a, met.b, met.normal, met.impulse
    position, radius, first = bodies.position, bodies.radius, bodies.first
    debt = np.zeros(len(position))
    owned = first_between_bodies(contact, met)
    for k in range(owned, len(contact)):
        if owed[k, 0] != 0.0 or owed[k, 1] != 0.0 or owed[k, 2] != 0.0:  # both yield
            k_owed = (owed[k, 0], owed[k, 1], owed[k, 2])
            turn_bodies(contact[k], k_owed, problem, met, bodies, wall_body, gained)
    order = by_grains(contact[:owned].astype(np.int64), a, b, len(radius))
    for owes in PAYING:
        for k in order:
            give(contact[k], (owes * owed[k, 0], owes * owed[k, 1], owes * owed[k, 2]), met, bodies, wall_body, period, debt)
    moved = np.empty(len(a), np.int64)
    count = 0
    for c in range(len(a)):
        if b[c] >= 0 and impulse[c, 0] != 0.0 and (struck[first + a[c]] != 0.0 or struck[first + b[c]] != 0.0):
            moved[count] = c
            count += 1
    arm, p = np.empty(3), np.empty(3)
    order = by_grains(moved[:count], a, b, len(radius))
    for owes in PAYING:
        for m in order:
            c = moved[m]
            kappa = blocks.data[at(found.place[c], blocks.fields) + ARM * LANES]
            for f in range(3):
                apart = position[first + b[c], f] - position[first + a[c], f]
                if period is not None:
                    apart = nearest(apart, period, f)
                arm[f] = owes * (apart - kappa * (radius[a[c]] + radius[b[c]]) * normal[c, f])
                p[f] = impulse[c, 0] * normal[c, f] + impulse[c, 1 + f]
            turn = arm[2] * p[1] - arm[1] * p[2], arm[0] * p[2] - arm[2] * p[0], arm[1] * p[0] - arm[0] * p[1]
            give(c, turn, met, bodies, wall_body, period, debt)
    return gained


@device
def give(c, k, met, bodies, wall_body, period, debt):
    """Give the two bodies of contact c together an angular momentum k [N m s]; nothing if one of them does not yield."""
    a, b, inverse_mass, radius = met.a[c], met.b[c], bodies.inverse_mass, bodies.radius
    i, j = bodies.first + a, bodies.first + b if b >= 0 else wall_body[-1 - b]
    if inverse_mass[i] == 0.0 or inverse_mass[j] == 0.0:
        return
    inertia_i = 0.4 * radius[a] ** 2 / inverse_mass[i]
    inertia_j = 0.4 * radius[b] ** 2 / inverse_mass[j] if b >= 0 else 0.0
    turn_pair(i, j, k, inertia_i, inertia_j, bodies, period, debt)
