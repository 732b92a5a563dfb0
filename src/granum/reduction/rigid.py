"""Grains that move with one rigid body: its mass, centre, inertia and momentum, and the motion it gives them (MR (6)-(13), physics 7)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import device, kernel
from ..arithmetic import cos, length, product, sin
from ..array_types import FloatArray, IntArray
from ..kernel_groups import group
from ..parallel.barrier import share, wait
from ..parallel.crew import Crew
from ..state.bodies import BodyArrays, GrainArrays
from ..state.rotation import turn

CHUNK = 1024  # grains whose energies are summed up in one go


@group
class Sums(NamedTuple):
    """What groups of grains are together, about their common centre."""

    mass: FloatArray  # (G,) [kg]
    centre: FloatArray  # (G, 3) [m]
    velocity: FloatArray  # (G, 3) [m/s]
    inertia: FloatArray  # (G, 3, 3) [kg m^2]
    momentum: FloatArray  # (G, 3) angular momentum [kg m^2/s]

    @classmethod
    def of(cls, groups: int) -> Sums:
        """Sums over nothing."""
        return cls(np.zeros(groups), np.zeros((groups, 3)), np.zeros((groups, 3)), np.zeros((groups, 3, 3)), np.zeros((groups, 3)))


@group
class Turns(NamedTuple):
    """How the bodies before the grains move in a step (F,)."""

    still: FloatArray  # 1: a carrier at rest, 0: a carrier that moves, -1: a body that is pushed
    shift: FloatArray  # (F, 3) [m]
    turned: FloatArray  # (F, 3, 3) the rotation of the step
    spin: FloatArray  # (F, 3) steady one that makes the rotation of the step [rad/s]
    new_spin: FloatArray  # (F, 3) after it


@kernel
def sum_momenta(member: IntArray, group: IntArray, bodies: BodyArrays, first: int, sums: Sums) -> None:
    """Add mass, first moment and momentum of the ``member`` grains to those of their ``group``."""
    for n in range(len(member)):
        k, g = first + member[n], group[n]
        m = 1.0 / bodies.inverse_mass[k]
        sums.mass[g] += m
        for f in range(3):
            sums.centre[g, f] += m * bodies.position[k, f]
            sums.velocity[g, f] += m * bodies.velocity[k, f]


@kernel
def sum_turns(member: IntArray, group: IntArray, bodies: BodyArrays, grains: GrainArrays, sums: Sums) -> None:
    """Add inertia and angular momentum of the ``member`` grains about the centre of their ``group``; spins and own inertia included."""
    position, velocity, spin, radius, centre, speed = (
        bodies.position,
        bodies.velocity,
        bodies.spin,
        grains.radius,
        sums.centre,
        sums.velocity,
    )
    inertia, momentum = sums.inertia, sums.momentum
    for n in range(len(member)):
        k, g = grains.first + member[n], group[n]
        m = 1.0 / bodies.inverse_mass[k]
        own = 0.4 * m * radius[member[n]] ** 2
        x, y, z = position[k, 0] - centre[g, 0], position[k, 1] - centre[g, 1], position[k, 2] - centre[g, 2]
        u, v, w = velocity[k, 0] - speed[g, 0], velocity[k, 1] - speed[g, 1], velocity[k, 2] - speed[g, 2]
        i = inertia[g]
        i[0, 0] += m * (y * y + z * z) + own
        i[1, 1] += m * (z * z + x * x) + own
        i[2, 2] += m * (x * x + y * y) + own
        i[0, 1] -= m * x * y
        i[0, 2] -= m * x * z
        i[1, 2] -= m * y * z
        momentum[g, 0] += m * (y * w - z * v) + own * spin[k, 0]
        momentum[g, 1] += m * (z * u - x * w) + own * spin[k, 1]
        momentum[g, 2] += m * (x * v - y * u) + own * spin[k, 2]


@device
def set_rigid(k, x, y, z, v, w, velocity, spin):
    """Velocity of a point (x, y, z) [m] from the centre of a body with velocity v and spin w."""
    velocity[k, 0] = v[0] + w[1] * z - w[2] * y
    velocity[k, 1] = v[1] + w[2] * x - w[0] * z
    velocity[k, 2] = v[2] + w[0] * y - w[1] * x
    spin[k, 0], spin[k, 1], spin[k, 2] = w[0], w[1], w[2]


@kernel
def set_members(rows: IntArray, moved_by: IntArray, bodies: BodyArrays) -> None:
    """Give the bodies in ``rows`` the motion of those that move them."""
    position, velocity, spin = bodies.position, bodies.velocity, bodies.spin
    for n in range(len(rows)):
        k, g = rows[n], moved_by[n]
        x, y, z = position[k, 0] - position[g, 0], position[k, 1] - position[g, 1], position[k, 2] - position[g, 2]
        set_rigid(k, x, y, z, velocity[g], spin[g], velocity, spin)


@kernel
def move_members(
    crew: Crew,
    bodies: BodyArrays,
    grains: GrainArrays,
    turns: Turns,
    h: float,
    gravity: FloatArray,
    gained: FloatArray,
) -> None:
    """Move the grains of all bodies that are not still: turn about the old centre, shift, and take the body's new motion.

    ``gained`` (chunks,) is the kinetic and gravitational energy [J] that carriers bring to the grains of each chunk; bodies that are pushed
    bring none.
    """
    thread, threads, barrier = crew
    position, orientation, velocity, spin, inverse_mass = bodies
    still, shift, turning = turns.still, turns.shift, turns.spin
    gx, gy, gz = gravity[0], gravity[1], gravity[2]
    low, high = share(len(gained), thread, threads)
    for chunk in range(low, high):
        total = 0.0
        for i in range(chunk * CHUNK, min((chunk + 1) * CHUNK, len(grains.body))):
            body = grains.body[i]
            if body >= grains.first or still[body] > 0.0:
                continue
            k = grains.first + i
            if turning[body, 0] == 0.0 and turning[body, 1] == 0.0 and turning[body, 2] == 0.0 and still[body] == 0.0:
                if inverse_mass[k] > 0.0:  # a carrier that only shifts: its grains have its velocity already
                    for f in range(3):
                        position[k, f] += shift[body, f]
                    total -= (gx * shift[body, 0] + gy * shift[body, 1] + gz * shift[body, 2]) / inverse_mass[k]
                continue
            x, y, z = position[k, 0] - position[body, 0], position[k, 1] - position[body, 1], position[k, 2] - position[body, 2]
            r = turns.turned[body]
            px = r[0, 0] * x + r[0, 1] * y + r[0, 2] * z
            py = r[1, 0] * x + r[1, 1] * y + r[1, 2] * z
            pz = r[2, 0] * x + r[2, 1] * y + r[2, 2] * z
            nx = position[body, 0] + shift[body, 0] + px
            ny = position[body, 1] + shift[body, 1] + py
            nz = position[body, 2] + shift[body, 2] + pz
            if inverse_mass[k] > 0.0:
                square = velocity[k, 0] ** 2 + velocity[k, 1] ** 2 + velocity[k, 2] ** 2
                lifted = gx * (nx - position[k, 0]) + gy * (ny - position[k, 1]) + gz * (nz - position[k, 2])
                position[k, 0], position[k, 1], position[k, 2] = nx, ny, nz
                turn(orientation, k, turning[body, 0], turning[body, 1], turning[body, 2], h)
                set_rigid(k, px, py, pz, velocity[body], turns.new_spin[body], velocity, spin)
                if still[body] == 0.0:
                    after = velocity[k, 0] ** 2 + velocity[k, 1] ** 2 + velocity[k, 2] ** 2
                    total += (0.5 * (after - square) - lifted) / inverse_mass[k]
        gained[chunk] = total
    wait(barrier, threads)


def rotations(angle: FloatArray) -> FloatArray:
    """(n, 3, 3) turns about the vectors ``angle`` (n, 3) by their lengths [rad]."""
    size = length(angle)
    cross = np.zeros((len(angle), 3, 3))
    cross[:, 0, 1], cross[:, 0, 2], cross[:, 1, 2] = -angle[:, 2], angle[:, 1], -angle[:, 0]
    cross -= cross.transpose(0, 2, 1)
    small = size < 1e-4
    part = np.where(small, 1.0 - size * size / 6.0, sin(size) / np.where(small, 1.0, size))
    square = np.where(small, 0.5 - size * size / 24.0, (1.0 - cos(size)) / np.where(small, 1.0, size * size))
    return np.eye(3) + part[:, None, None] * cross + square[:, None, None] * product(cross, cross)
