"""The motion of bodies that are no grains over a step. Every operation is rounded as it is written."""

from __future__ import annotations

import numpy as np

from .._jit import as_written, kernel
from ..arithmetic.sums import sum_of
from ..array_types import FloatArray, IntArray
from ..kernel_groups import call
from .bodies import DYNAMIC, Bodies, BodyArrays
from .rotation import axes_of, to_body, to_world, turn


@kernel
def turn_bodies(orientation: FloatArray, rows: IntArray, spin: FloatArray, h: float) -> None:
    """Turn the bodies of these rows with the spins (n, 3) [rad/s] for ``h`` [s]."""
    for n in range(len(rows)):
        turn(orientation, rows[n], spin[n, 0], spin[n, 1], spin[n, 2], h)


@as_written
def momentum_of(axes, moments, k, spin):
    """Angular momentum [kg m^2/s] of body k, turned to ``axes``, with a spin [rad/s]."""
    x, y, z = to_body(axes, spin[k, 0], spin[k, 1], spin[k, 2])
    return to_world(axes, moments[k, 0] * x, moments[k, 1] * y, moments[k, 2] * z)


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
def move_wall_rows(bodies: BodyArrays, rows: IntArray, kind: IntArray, member_of: IntArray, moments: FloatArray, h: float) -> None:
    """See ``move_walls``."""
    position, orientation, velocity, spin = bodies.position, bodies.orientation, bodies.velocity, bodies.spin
    for n in range(len(rows)):
        k = rows[n]
        if member_of[k] != k:
            continue
        momentum = (0.0, 0.0, 0.0)
        if kind[k] == DYNAMIC:
            momentum = momentum_of(axes_of(orientation, k), moments, k, spin)
        shift(position, velocity, k, h)
        turn(orientation, k, spin[k, 0], spin[k, 1], spin[k, 2], h)
        if kind[k] == DYNAMIC:
            spin[k, 0], spin[k, 1], spin[k, 2] = spin_with(axes_of(orientation, k), moments, k, momentum)


def move_walls(bodies: Bodies, h: float) -> None:
    """Positions and orientations of the bodies of the scene after ``h`` [s]; those that are parts of others move with these.

    A free dynamic body keeps its angular momentum.
    """
    if len(bodies.moving):
        call(move_wall_rows, bodies.arrays, bodies.moving, bodies.kind, bodies.member_of, bodies.moments, h)


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
