"""The motion of bodies that are no grains over a step. Every operation is rounded as it is written."""

from __future__ import annotations

import numpy as np

from .._jit import as_written, kernel
from ..arithmetic import dot, times
from ..arithmetic.sums import sum_of
from ..array_types import FloatArray, IntArray
from ..kernel_groups import call
from .bodies import DYNAMIC, Bodies, BodyArrays
from .free_turn import turn_free
from .mobility import inertias, inverse_inertias
from .rotation import axes_of, to_body, to_world, turn


@kernel
def turn_bodies(orientation: FloatArray, rows: IntArray, spin: FloatArray, h: float) -> None:
    """Turn the bodies of these rows with the spins (n, 3) [rad/s] for ``h`` [s]."""
    for n in range(len(rows)):
        turn(orientation, rows[n], spin[n, 0], spin[n, 1], spin[n, 2], h)


@as_written
def spin_with(axes, moments, k, momentum):
    """Spin [rad/s] of body k, turned to ``axes``, with an angular momentum [kg m^2/s]."""
    x, y, z = to_body(axes, momentum[0], momentum[1], momentum[2])
    return to_world(axes, x / moments[k, 0], y / moments[k, 1], z / moments[k, 2])


@as_written
def shift(position, velocity, k, h):
    """x += h v of body k."""
    for f in range(3):
        position[k, f] += h * velocity[k, f]


@kernel
def move_wall_rows(bodies: BodyArrays, rows: IntArray, kind: IntArray, member_of: IntArray, h: float) -> None:
    """x += h v of the bodies of these rows that are no parts of others; those that are driven turn steadily."""
    for n in range(len(rows)):
        k = rows[n]
        if member_of[k] == k:
            shift(bodies.position, bodies.velocity, k, h)
            if kind[k] != DYNAMIC:
                turn(bodies.orientation, k, bodies.spin[k, 0], bodies.spin[k, 1], bodies.spin[k, 2], h)


def move_walls(bodies: Bodies, h: float) -> None:
    """Positions and orientations of the bodies of the scene after ``h`` [s]; those that are parts of others move with these.

    Driven bodies turn steadily, dynamic ones as free bodies do, as far as nothing is locked.
    """
    if len(bodies.moving):
        call(move_wall_rows, bodies.arrays, bodies.moving, bodies.kind, bodies.member_of, h)
    dynamic = bodies.dynamic
    if not len(dynamic):
        return
    if bodies.may_merge:
        dynamic = dynamic[bodies.member_of[dynamic] == dynamic]
    held = bodies.locked[dynamic, 3:].any(axis=1)
    turn_free(bodies.orientation, bodies.spin, bodies.moments, dynamic[~held], h)
    if held.any():
        turn_held(bodies, dynamic[held], h)


def turn_besides(bodies: Bodies, angle: FloatArray) -> FloatArray:
    """Turn dynamic bodies of the scene by small angles (F, 3) [rad], world axes; they keep their angular momentum. Returns the energy (F,)
    [J] that they have won by it."""
    rows = bodies.dynamic[angle[bodies.dynamic].any(axis=1)]
    momentum = times(inertias(bodies, rows), bodies.spin[rows])
    before, gained = dot(momentum, bodies.spin[rows]), np.zeros(len(angle))
    turn_bodies(bodies.orientation, rows, angle[rows], 1.0)
    bodies.spin[rows] = times(inverse_inertias(bodies, rows), momentum)
    gained[rows] = 0.5 * (dot(momentum, bodies.spin[rows]) - before)
    return gained


def turn_held(bodies: Bodies, rows: IntArray, h: float) -> None:
    """Turn dynamic bodies some of whose rotations are locked: of their angular momentum the free parts stay (midpoint rule)."""
    momentum = times(inertias(bodies, rows), bodies.spin[rows])
    begin = bodies.orientation[rows]
    turn_bodies(bodies.orientation, rows, bodies.spin[rows], h / 2)
    middle = times(inverse_inertias(bodies, rows), momentum)
    bodies.orientation[rows] = begin
    turn_bodies(bodies.orientation, rows, middle, h)
    bodies.spin[rows] = times(inverse_inertias(bodies, rows), momentum)


@as_written
def power(force, velocity, k):
    """Of the force on body k [W]."""
    return force[k, 0] * velocity[k, 0] + force[k, 1] * velocity[k, 1] + force[k, 2] * velocity[k, 2]


@kernel
def power_of(rows: IntArray, force: FloatArray, velocity: FloatArray) -> float:
    """Of the forces (W, 3) [N] on the bodies of these rows [W]."""
    parts = np.empty(len(rows))
    for n in range(len(rows)):
        parts[n] = power(force, velocity, rows[n])
    return sum_of(parts, len(rows), 0, 1)


@as_written
def write_inverse_inertia(axes, moments, k, out):
    """(3, 3) in world axes [1/(kg m^2)] of body k, turned to ``axes``."""
    for i in range(3):
        x, y, z = axes[3 * i] / moments[k, 0], axes[3 * i + 1] / moments[k, 1], axes[3 * i + 2] / moments[k, 2]
        for j in range(3):
            out[i, j] = x * axes[3 * j] + y * axes[3 * j + 1] + z * axes[3 * j + 2]


@kernel
def inverse_inertia(bodies: BodyArrays, moments: FloatArray, rows: IntArray, wall_bodies: int, out: FloatArray) -> None:
    """(n, 3, 3) in world axes [1/(kg m^2)] of those bodies of these rows that belong to the scene, the first ``wall_bodies``."""
    for n in range(len(rows)):
        if rows[n] < wall_bodies:
            write_inverse_inertia(axes_of(bodies.orientation, rows[n]), moments, rows[n], out[n])
