"""Impact stage: velocities just after the collisions of this step.

Contacts that approach faster than ``v_imp``, and touch or will touch in this step, leave with Newton's restitution of the approach speed
they had before the stage; all others must not approach further than their gap allows (physics 3 and 13; MR Appendix). Friction acts,
nothing is soft or warm started.

A collision inside of the step takes place at its own time (``collision_times.py``): bodies end the step where they would if their
velocities had changed at that moment.

A big step finds an impact late, with the grains already inside each other, and the stabilisation of the continuous stage would push
them apart faster than restitution allows. So a contact remembers the speed of its impact until it opens or is back at its law's overlap;
meanwhile the excess overlap is removed from the positions alone, at the rate of the stabilisation but without giving speed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._jit import device, kernel
from ..array_types import FloatArray, IntArray, LongArray
from ..contact.law import Parameters, overlap_under
from ..detection.images import nearest
from ..kernel_groups import group
from ..parallel.barrier import share, wait
from ..parallel.crew import Crew
from .assemble import SETTLED, collides
from .blocks import INV_DN, LANES, PN, RX, SOFTNESS, TARGET, at, fetch_next
from .groups import ContactBlocks, Found, FreeBodies, Met, ProblemArrays, Step
from .impact_reach import Impact
from .kinds.contact import listed, separation_speed, twist
from .problem import Problem
from .solvers.sweeping import Method, sweep

PARTING_SWEEPS = 100
PARTED = 1e-10  # of the largest radius: the sweeps end when no contact moves further than this
PAYING = (1.0, 0.0, 0.0)  # of what is owed to pairs, round by round: after the first they only pay each other's debts of energy
FORGET = 0.7  # per step: the part of an impact's speed that a pressed contact still remembers


@kernel
def aim_at_impacts(
    crew: Crew,
    blocks: ContactBlocks,
    found: Found,
    met: Met,
    material: IntArray,
    wall_material: IntArray,
    restitution: FloatArray,
    step: Step,
) -> None:
    """Targets of the impact stage, from the separation speeds before it, without impulses; remembers who rebounds."""
    thread, threads, barrier = crew
    data, gap_rate = blocks.data, found.gap_rate
    low, high = share(len(met.a), thread, threads)
    for c in range(low, high):
        d = at(found.place[c], blocks.fields)
        fetch_next(blocks, found.place[c], TARGET, blocks.fields)
        target, weight = min(0.0, met.overlap[c]) / step.h, found.weight[c]
        if weight == 0.0:  # joints hold both bodies: nothing parts them
            target, weight = gap_rate[c], 1.0
        elif collides(gap_rate[c], met, c, step):
            approach = -gap_rate[c]
            kind_a = material[met.a[c]] if met.a[c] >= 0 else wall_material[-1 - met.a[c]]
            kind_b = material[met.b[c]] if met.b[c] >= 0 else wall_material[-1 - met.b[c]]
            target = restitution[kind_a, kind_b] * approach
            met.rebound[c] = approach
        data[d + TARGET * LANES] = target
        data[d + SOFTNESS * LANES] = 0.0
        data[d + INV_DN * LANES] = 1.0 / weight
        for f in range(4):
            data[d + (PN + f) * LANES] = 0.0
        if blocks.fields > RX:
            for f in range(3):
                data[d + (RX + f) * LANES] = 0.0
    wait(barrier, threads)


def solve_impacts(problem: Problem, most_sweeps: int, tolerance: float) -> None:
    """Sweep the contacts that approach too fast, and those they reach, until no velocity changes by more than ``tolerance`` [m/s], or
    finer where few are reached. Nothing is soft; a box of friction is swept without momentum."""
    impact = Impact.begin(problem)
    sweep(problem, Method(most_sweeps, tolerance, 0.0, momentum=not problem.blocks.box), impact=impact)
    problem.end_impacts(int(impact.used.sum()))


@kernel
def by_grains(contact: LongArray, a: IntArray, b: IntArray, grains: int) -> LongArray:
    """Numbers of these contacts in an order that follows from their grains alone, however they were found."""
    key = np.empty(len(contact), np.int64)
    for k in range(len(contact)):
        i, j = np.int64(a[contact[k]]), np.int64(b[contact[k]])
        key[k] = min(i, j) * grains + max(i, j) if j >= 0 else grains * grains + i - j * grains
    return np.argsort(key, kind="mergesort")


@device
def rows_of(c, met, bodies, frame):
    """Rows of the two bodies of contact c; ``frame`` (K,) is that of each wall."""
    a, b = met.a[c], met.b[c]
    return (
        bodies.first + a if a >= 0 else np.int64(frame[-1 - a]),
        bodies.first + b if b >= 0 else np.int64(frame[-1 - b]),
    )


@device
def first_between_bodies(contact, met):
    """Where the contacts between bodies begin among some contacts, which are in order."""
    first = len(contact)
    while first > 0 and contact[first - 1] >= met.grain_contacts:
        first -= 1
    return first


@device
def turn_bodies(c, k, problem, met, bodies, frame, gained):
    """Give the two bodies of contact c, both with full inertia, the angular momentum k [kg m^2/s] together, each a half of it.

    The energy of that, ``gained`` [J], is not paid back here: k is how far a pair is moved in a step times the speed at which it slides.
    """
    packed, blocks, levers, found = problem
    q = np.int64(found.place[c]) - blocks.serial_start
    i, j = rows_of(c, met, bodies, frame)
    for row, slot, full in ((i, found.slot_a[c], levers.full[q, 0]), (j, found.slot_b[c], levers.full[q, 1])):
        if full >= 0:
            wx, wy, wz = twist(packed, np.int64(slot), np.int64(full), 0.5 * k[0], 0.5 * k[1], 0.5 * k[2])
            sx, sy, sz = bodies.spin[row, 0] + 0.5 * wx, bodies.spin[row, 1] + 0.5 * wy, bodies.spin[row, 2] + 0.5 * wz
            gained[row] += 0.5 * (k[0] * sx + k[1] * sy + k[2] * sz)
            bodies.spin[row, 0] += wx
            bodies.spin[row, 1] += wy
            bodies.spin[row, 2] += wz


@device
def turn_pair(i, j, k, inertia_i, inertia_j, bodies, period, debt):
    """Give the bodies i and j together the angular momentum k [kg m^2/s]: by equal and opposite impulses across the line between
    them, and what lies along that line to the spins of both alike (of i alone, if j is no sphere): whoever owns the contact.

    What energy that brings is taken from the speed at which they part or approach, by impulses along the line. What that speed cannot pay
    stays as ``debt`` (B,) [J] of both bodies, for their other pairs. So the order of pairs that share a body matters (``by_grains``).
    """
    kx, ky, kz = k
    inverse_mass, position, velocity, spin = bodies.inverse_mass, bodies.position, bodies.velocity, bodies.spin
    dx, dy, dz = position[j, 0] - position[i, 0], position[j, 1] - position[i, 1], position[j, 2] - position[i, 2]
    if period is not None:
        dx, dy, dz = nearest(dx, period, 0), nearest(dy, period, 1), nearest(dz, period, 2)
    square = dx * dx + dy * dy + dz * dz
    if square == 0.0:
        return
    yielding = inverse_mass[i] + inverse_mass[j]
    ux, uy, uz = velocity[j, 0] - velocity[i, 0], velocity[j, 1] - velocity[i, 1], velocity[j, 2] - velocity[i, 2]
    jx, jy, jz = (ky * dz - kz * dy) / square, (kz * dx - kx * dz) / square, (kx * dy - ky * dx) / square
    gain = debt[i] + debt[j] + jx * ux + jy * uy + jz * uz + 0.5 * yielding * (jx * jx + jy * jy + jz * jz)
    along = (kx * dx + ky * dy + kz * dz) / (square * (inertia_i + inertia_j))
    for o, inertia in ((i, inertia_i), (j, inertia_j)):
        if inertia > 0.0:
            gain += inertia * along * (spin[o, 0] * dx + spin[o, 1] * dy + spin[o, 2] * dz + 0.5 * along * square)
            spin[o, 0] += along * dx
            spin[o, 1] += along * dy
            spin[o, 2] += along * dz
    along_line = (ux * dx + uy * dy + uz * dz) / math.sqrt(square)  # as after j, which lies across
    left = along_line * along_line - 2.0 * yielding * max(0.0, gain)
    kept = math.copysign(math.sqrt(max(0.0, left)), along_line)
    debt[i] = debt[j] = 0.25 * max(0.0, -left) / yielding
    push = (kept - along_line) / (yielding * math.sqrt(square))
    jx, jy, jz = jx + push * dx, jy + push * dy, jz + push * dz
    velocity[j, 0] += inverse_mass[j] * jx
    velocity[j, 1] += inverse_mass[j] * jy
    velocity[j, 2] += inverse_mass[j] * jz
    velocity[i, 0] -= inverse_mass[i] * jx
    velocity[i, 1] -= inverse_mass[i] * jy
    velocity[i, 2] -= inverse_mass[i] * jz


@group
class Parting(NamedTuple):
    """How contacts that rebound are parted."""

    rate: float
    """Part of the excess overlap that goes in a step."""
    h: float
    """[s]"""
    forgotten: float
    """Speed [m/s] below which an impact is forgotten."""

    @classmethod
    def of(cls, law: Parameters, damping_steps: float, h: float, impact_velocity: float) -> Parting:
        """At the rate of the stabilisation."""
        tau = max(damping_steps * h, law.dissipation / law.exponent)
        return cls(4.0 / (1.0 + 4.0 * tau / h) / law.exponent, h, 0.02 * impact_velocity)


@kernel
def part_rebounding(
    problem: ProblemArrays,
    met: Met,
    bodies: FreeBodies,
    wall_body: IntArray,
    law: Parameters,
    overlap: FloatArray,
    parting: Parting,
    period: FloatArray | None,
    shift: FloatArray,
) -> None:
    """Move contacts that still rebound towards the overlap of their force: a part of what their own speed leaves over.

    Those that collided over a gap (overlap <= 0 as they were met) end the step where they should; ``overlap`` (C,) [m] is where collisions
    have put the bodies.

    A few Gauss-Seidel sweeps on displacements, pushing only; contacts that are back at their law, or pressed for
    long, are let go. ``shift`` (B, 3) is room to work in, zeros before and after.
    """
    packed, blocks, levers, found = problem
    a, b, normal, impulse, rebound = met.a, met.b, met.normal, met.impulse, met.rebound
    position, velocity, inverse_mass, radius = bodies.position, bodies.velocity, bodies.inverse_mass, bodies.radius
    first, h = bodies.first, parting.h
    some = np.flatnonzero((rebound > 0.0) & (met.overlap > 0.0))
    body = np.empty((len(some), 2), np.int64)
    wanted = np.empty(len(some))
    pushed = np.zeros(len(some))
    for k in range(len(some)):
        c = some[k]
        body[k, 0], body[k, 1] = rows_of(c, met, bodies, wall_body)
        q = listed(blocks, levers, found.place[c])
        n = normal[c, 0], normal[c, 1], normal[c, 2]
        speed = separation_speed(packed, levers, np.int64(found.slot_a[c]), np.int64(found.slot_b[c]), n, q)
        at_rest = overlap_under(law, h * found.stiffness[c], impulse[c, 0])
        wanted[k] = parting.rate * (overlap[c] - at_rest - max(0.0, speed) * h)
        if speed < SETTLED * rebound[c]:
            # It rests, or is pressed: forget the impact at once when the law is reached, else within some steps.
            rebound[c] *= FORGET if wanted[k] > SETTLED * rebound[c] * h else 0.0
            if rebound[c] < parting.forgotten:
                rebound[c] = 0.0
    close = PARTED * (radius.max() if len(radius) > 0 else found.radius_eff.max())
    for _ in range(PARTING_SWEEPS):
        furthest = 0.0
        for k in range(len(some)):
            i, j, c = body[k, 0], body[k, 1], some[k]
            if inverse_mass[i] + inverse_mass[j] == 0.0:  # nobody to move
                continue
            apart = 0.0
            for f in range(3):
                apart += (shift[j, f] - shift[i, f]) * normal[c, f]
            new = max(0.0, pushed[k] + (wanted[k] - apart) / (inverse_mass[i] + inverse_mass[j]))
            for f in range(3):
                shift[i, f] -= inverse_mass[i] * (new - pushed[k]) * normal[c, f]
                shift[j, f] += inverse_mass[j] * (new - pushed[k]) * normal[c, f]
            furthest = max(furthest, abs(new - pushed[k]) * (inverse_mass[i] + inverse_mass[j]))
            pushed[k] = new
        if furthest < close:
            break
    # Bodies that are put further apart keep their angular momentum: what the shift adds to it is taken back below.
    excess = np.empty((len(some), 3))
    for k in range(len(some)):
        i, j, c, p = body[k, 0], body[k, 1], some[k], -pushed[k]
        ux, uy, uz = velocity[j, 0] - velocity[i, 0], velocity[j, 1] - velocity[i, 1], velocity[j, 2] - velocity[i, 2]
        excess[k, 0] = p * (normal[c, 1] * uz - normal[c, 2] * uy)
        excess[k, 1] = p * (normal[c, 2] * ux - normal[c, 0] * uz)
        excess[k, 2] = p * (normal[c, 0] * uy - normal[c, 1] * ux)
    for k in range(len(some)):
        for i in body[k]:
            for f in range(3):
                position[i, f] += shift[i, f]
                shift[i, f] = 0.0
    debt = np.zeros(len(position))
    owned = first_between_bodies(some, met)
    order = by_grains(some[:owned], a, b, len(radius))
    for k in range(owned, len(some)):
        if inverse_mass[body[k, 0]] > 0.0 and inverse_mass[body[k, 1]] > 0.0:
            owed = (excess[k, 0], excess[k, 1], excess[k, 2])
            turn_bodies(some[k], owed, problem, met, bodies, wall_body, debt)
    for owes in PAYING:
        for k in order:
            i, j = body[k, 0], body[k, 1]
            if pushed[k] > 0.0 and inverse_mass[i] > 0.0 and inverse_mass[j] > 0.0:
                inertia_i = 0.4 * radius[i - first] ** 2 / inverse_mass[i]
                inertia_j = 0.4 * radius[j - first] ** 2 / inverse_mass[j] if b[some[k]] >= 0 else 0.0
                owed = owes * excess[k, 0], owes * excess[k, 1], owes * excess[k, 2]
                turn_pair(i, j, owed, inertia_i, inertia_j, bodies, period, debt)
