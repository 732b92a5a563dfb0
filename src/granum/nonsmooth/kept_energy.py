"""The energy of bodies that collide inside of a step.

A collision is solved where its bodies are at the start of the step, and takes place a little later, when they have turned on. They are
turned after the step to where that leaves them, with the angular momentum that they have (``collision_times.py``): a body with unequal
moments then has another energy, by its spin times the turn, more or less. That is made good by the impulses of the collision themselves,
some thousandth of which is given to both bodies besides or taken back. These are equal and opposite at one point, so the momenta stay.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import device, kernel
from ..array_types import FloatArray, IntArray
from ..kernel_groups import call
from ..state.bodies import Bodies
from ..state.mobility import inverse_inertias
from ..state.motion import turn_besides
from .context import NonsmoothStep
from .groups import FreeBodies, Met
from .impact import first_between_bodies, rows_of
from .shown import Shown


def turn_to_collisions(now: NonsmoothStep, b: Bodies, met: Met, wall_body: IntArray, displaced: FreeBodies, shown: Shown) -> None:
    """Turn bodies to where collisions inside of the step leave them, at the energy that these have left them."""
    assert now.owed is not None
    assert now.turned is not None
    excess = turn_besides(b, now.turned)
    if now.gained is not None:
        excess += now.gained[: len(excess)]
    if not excess.any():
        return
    before = b.velocity[b.dynamic]
    inverse = np.zeros((len(excess), 3, 3))
    inverse[b.dynamic] = inverse_inertias(b, b.dynamic)
    call(keep_energy, now.owed[0], now.hits, met, wall_body, displaced, inverse, excess)
    shown.count_pushed(before)


@device
def pushed_by(row, sign, at, p, bodies, out):
    """Add an impulse p [N s] at a point ``at`` [m] to those on a body (6,)."""
    x, y, z = at[0] - bodies.position[row, 0], at[1] - bodies.position[row, 1], at[2] - bodies.position[row, 2]
    for f in range(3):
        out[f] += sign * p[f]
    out[3] += sign * (y * p[2] - z * p[1])
    out[4] += sign * (z * p[0] - x * p[2])
    out[5] += sign * (x * p[1] - y * p[0])


@device
def answer(row, push, bodies, inverse_inertia, out):
    """Velocity and spin (6,) that impulses (6,) give a body; nothing if it does not yield."""
    for f in range(3):
        out[f] = bodies.inverse_mass[row] * push[f]
        out[3 + f] = 0.0
        if bodies.inverse_mass[row] > 0.0:
            for g in range(3):
                out[3 + f] += inverse_inertia[row, f, g] * push[3 + g]


@kernel
def keep_energy(
    contact: IntArray,
    hits: FloatArray,
    met: Met,
    wall_body: IntArray,
    bodies: FreeBodies,
    inverse_inertia: FloatArray,
    excess: FloatArray,
) -> None:
    """Take from pairs of bodies the energy ``excess`` (F,) [J] that they have won, or give them what they have lost, with the impulses
    of their collisions: ``hits`` (K, 9) [N s, m] of contacts (K,), as ``place_at_collisions`` tells them.

    ``inverse_inertia`` (F, 3, 3) is that of bodies as they are turned now. What no impulse can pay stays in ``excess``.
    """
    push, moves = np.zeros((2, 6)), np.zeros((2, 6))
    for k in range(first_between_bodies(contact, met), len(contact)):
        i, j = rows_of(contact[k], met, bodies, wall_body)
        owed = excess[i] + excess[j]
        if owed == 0.0:
            continue
        push[:] = 0.0
        for other in range(k, len(contact)):  # all corners of these two
            if rows_of(contact[other], met, bodies, wall_body) == (i, j):
                one, arm = (i, hits[other, 3:6]) if bodies.inverse_mass[i] > 0.0 else (j, hits[other, 6:9])
                at = bodies.position[one] + arm
                pushed_by(i, -1.0, at, hits[other, :3], bodies, push[0])
                pushed_by(j, 1.0, at, hits[other, :3], bodies, push[1])
        first, second = 0.0, 0.0  # E(s) = E + first s + second s^2 / 2 with a part s of the impulses
        for side in range(2):
            row = i if side == 0 else j
            answer(row, push[side], bodies, inverse_inertia, moves[side])
            if bodies.inverse_mass[row] > 0.0:
                for f in range(3):
                    first += push[side, f] * bodies.velocity[row, f] + push[side, 3 + f] * bodies.spin[row, f]
            for f in range(6):
                second += push[side, f] * moves[side, f]
        if not (first > 0.0 and second > 0.0):  # they do not part
            continue
        root = math.sqrt(max(0.0, first * first - 2.0 * second * owed))
        part = -2.0 * owed / (first + root)
        if root == 0.0:
            part = -first / second
        paid = -(first * part + 0.5 * second * part * part)
        for side in range(2):
            row = i if side == 0 else j
            excess[row] = 0.5 * (owed - paid) if root == 0.0 else 0.0
            for f in range(3):
                bodies.velocity[row, f] += part * moves[side, f]
                bodies.spin[row, f] += part * moves[side, 3 + f]
