"""External impulses before the solve, and positions after it (physics 3)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import as_written, device, kernel
from ..arithmetic import times
from ..array_types import FloatArray, IntArray
from ..kernel_groups import call, group
from ..parallel.barrier import share, wait
from ..parallel.crew import Crew
from ..state.bodies import Bodies
from ..state.rotation import turn
from .blocks import BODY, INV_MASS
from .groups import FreeBodies


@group
class External(NamedTuple):
    """What acts from outside in a step."""

    gravity: FloatArray
    """(3,) [m/s^2]"""
    pushed: FloatArray
    """(F, 6) changes of velocity [m/s] and spin [rad/s] of the bodies with full inertia, gravity included"""


@as_written
def write_push(rows, n, inverse_mass, force, h, gravity, pushes):
    """Change of velocity [m/s] of body n of these rows by gravity, and by the force on it if it is a body of the scene."""
    k = rows[n]
    for f in range(3):
        pushes[n, f] = h * (gravity[f] + inverse_mass[k] * force[k, f]) if k < len(force) else h * gravity[f]
        pushes[n, 3 + f] = 0.0


@kernel
def write_pushes(rows: IntArray, inverse_mass: FloatArray, force: FloatArray, h: float, gravity: FloatArray, pushes: FloatArray) -> None:
    """Of all of them."""
    for n in range(len(rows)):
        write_push(rows, n, inverse_mass, force, h, gravity, pushes)


def external_pushes(
    bodies: Bodies, rows: IntArray, inverse_inertia: FloatArray, force: FloatArray, h: float, gravity: FloatArray
) -> FloatArray:
    """(F, 6) changes of velocity [m/s] and spin [rad/s] in a step of the bodies with full inertia in these ``rows`` (F,).

    ``inverse_inertia`` (F, 3, 3) in world axes [1/(kg m^2)], ``force`` (W, 3) on the bodies of the scene [N], ``gravity`` (3,) [m/s^2].
    """
    b, pushes = bodies, np.empty((len(rows), 6))
    call(write_pushes, rows, b.inverse_mass, force, h, gravity, pushes)
    if not b.may_merge:
        return pushes
    inside = b.dynamic[b.member_of[b.dynamic] != b.dynamic]  # forces on the parts of a body push it
    for w in inside[force[inside].any(axis=1)]:
        k = int(np.searchsorted(rows, b.member_of[w]))
        arm = b.position[w] - b.position[rows[k]]
        pushes[k, :3] += h * b.inverse_mass[rows[k]] * force[w]
        pushes[k, 3:] += h * times(inverse_inertia[k], np.cross(arm, force[w]))
    return pushes


@device
def add_external_impulse(thread, threads, packed, external, h):
    """v += h g for every packed grain that yields, and what pushes bodies with full inertia."""
    body, gravity, pushed = packed.body, external.gravity, external.pushed
    gx, gy, gz = gravity[0], gravity[1], gravity[2]
    low, high = share(packed.first_full, thread, threads)
    for k in range(low, high):
        o = k * BODY
        if body[o + INV_MASS] > 0.0:
            body[o] += h * gx
            body[o + 1] += h * gy
            body[o + 2] += h * gz
    if thread == 0:
        for k in range(len(pushed)):
            for f in range(6):
                body[(packed.first_full + k) * BODY + f] += pushed[k, f]


@kernel
def move_grains(crew: Crew, bodies: FreeBodies, h: float) -> None:
    """x += h v, and the exact turn of a steady spin, for grains that move on their own and yield."""
    thread, threads, barrier = crew
    position, orientation, velocity, spin = bodies.position, bodies.orientation, bodies.velocity, bodies.spin
    low, high = share(len(bodies.radius), thread, threads)
    for k in range(bodies.first + low, bodies.first + high):
        if bodies.inverse_mass[k] > 0.0:
            for f in range(3):
                position[k, f] += h * velocity[k, f]
            turn(orientation, k, spin[k, 0], spin[k, 1], spin[k, 2], h)
    wait(barrier, threads)
