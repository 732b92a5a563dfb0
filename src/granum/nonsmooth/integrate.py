"""External impulses before the solve, and positions after it (physics 3)."""

from __future__ import annotations

from typing import NamedTuple

from .._jit import device, kernel
from ..array_types import FloatArray
from ..kernel_groups import group
from ..parallel import Team
from ..parallel.barrier import share, wait
from ..parallel.crew import Crew
from ..state.bodies import Bodies, BodyArrays, GrainArrays
from ..state.motion import move_walls
from ..state.rotation import turn
from .blocks import BODY, INV_MASS


@group
class External(NamedTuple):
    """What acts from outside in a step."""

    gravity: FloatArray
    """(3,) [m/s^2]"""
    pushed: FloatArray
    """(F, 6) changes of velocity [m/s] and spin [rad/s] of the bodies with full inertia, gravity included"""


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
def move_grains(crew: Crew, bodies: BodyArrays, grains: GrainArrays, yielding: FloatArray, h: float) -> None:
    """x += h v, and the exact turn of a steady spin, for grains that move on their own and yield."""
    thread, threads, barrier = crew
    position, orientation, velocity, spin = bodies.position, bodies.orientation, bodies.velocity, bodies.spin
    low, high = share(len(grains.radius), thread, threads)
    for k in range(grains.first + low, grains.first + high):
        if yielding[k] > 0.0:
            for f in range(3):
                position[k, f] += h * velocity[k, f]
            turn(orientation, k, spin[k, 0], spin[k, 1], spin[k, 2], h)
    wait(barrier, threads)


def move_bodies(team: Team, bodies: Bodies, h: float) -> None:
    """Positions and orientations of all bodies that move on their own."""
    move_walls(bodies, h)
    team.run(move_grains, bodies.grain_count, bodies.arrays, bodies.grain_arrays, bodies.yielding, h)
