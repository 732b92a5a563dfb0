"""Kinetic and gravitational energy of the bodies."""

from __future__ import annotations

import math

import numpy as np

from .._jit import kernel
from ..arithmetic import dot, times, total
from ..arithmetic.sums import total_of
from ..array_types import FloatArray, IntArray
from ..parallel import LIGHT, ONE, Team
from ..parallel.barrier import share, wait
from ..parallel.crew import Crew
from .bodies import Bodies, BodyArrays, GrainArrays
from .rotation import matrices

CHUNK = 1024  # grains that are summed up in one go


@kernel
def grain_energy(
    crew: Crew,
    bodies: BodyArrays,
    grains: GrainArrays,
    gravity: FloatArray,
    parts: FloatArray,
    box: FloatArray,
) -> None:
    """Of each chunk of grains, in ``parts`` (chunks, 3): kinetic energy [J], energy in the field of gravity [J] (zero at the origin) and
    the square of the largest speed [m/s]; in ``box`` (chunks, 2, 3) the lowest and highest coordinates of the centres [m].
    """
    thread, threads, barrier = crew
    position, velocity, spin, inverse_mass, radius = bodies.position, bodies.velocity, bodies.spin, bodies.inverse_mass, grains.radius
    gx, gy, gz = gravity[0], gravity[1], gravity[2]
    low, high = share(len(parts), thread, threads)
    for chunk in range(low, high):
        kinetic, potential, fastest = 0.0, 0.0, 0.0
        own = box[chunk]
        own[0], own[1] = np.inf, -np.inf
        for i in range(chunk * CHUNK, min((chunk + 1) * CHUNK, len(radius))):
            k = grains.first + i
            for f in range(3):
                own[0, f], own[1, f] = min(own[0, f], position[k, f]), max(own[1, f], position[k, f])
            if inverse_mass[k] > 0.0:
                mass = 1.0 / inverse_mass[k]
                square = velocity[k, 0] ** 2 + velocity[k, 1] ** 2 + velocity[k, 2] ** 2
                spins = spin[k, 0] ** 2 + spin[k, 1] ** 2 + spin[k, 2] ** 2
                kinetic += 0.5 * mass * (square + 0.4 * radius[i] * radius[i] * spins)
                potential -= mass * (gx * position[k, 0] + gy * position[k, 1] + gz * position[k, 2])
                fastest = max(fastest, square)
        parts[chunk, 0], parts[chunk, 1], parts[chunk, 2] = kinetic, potential, fastest
    wait(barrier, threads)


@kernel
def fold_energies(parts: FloatArray, box: FloatArray, extent: FloatArray) -> tuple[float, float, float]:
    """Kinetic and gravitational energy [J] and largest speed [m/s] of all chunks; ``extent`` (2, 3) [m] is the box around all of them."""
    extent[0], extent[1] = np.inf, -np.inf
    fastest = 0.0
    for chunk in range(len(parts)):
        for f in range(3):
            extent[0, f], extent[1, f] = min(extent[0, f], box[chunk, 0, f]), max(extent[1, f], box[chunk, 1, f])
        fastest = max(fastest, parts[chunk, 2])
    return total_of(parts[:, 0].copy()), total_of(parts[:, 1].copy()), math.sqrt(fastest)


def energy(bodies: Bodies, gravity: FloatArray, team: Team = ONE) -> tuple[float, float, float, FloatArray]:
    """Kinetic [J], gravitational [J], largest grain speed [m/s] and the box (2, 3) [m] around all grain centres.

    Dynamic walls are included in the energies.
    """
    chunks = (bodies.grain_count + CHUNK - 1) // CHUNK
    parts, box = np.empty((chunks, 3)), np.empty((chunks, 2, 3))
    team.run(grain_energy, bodies.grain_count // LIGHT, bodies.arrays, bodies.grain_arrays, gravity, parts, box)
    own, lifted = wall_energy(bodies, gravity)
    extent = np.empty((2, 3))
    kinetic, potential, fastest = fold_energies(parts, box, extent)
    return kinetic + own, potential + lifted, fastest, extent


def wall_energy(bodies: Bodies, gravity: FloatArray) -> tuple[float, float]:
    """Kinetic and gravitational energy [J] of the dynamic bodies of the scene."""
    rows = bodies.dynamic
    if not len(rows):
        return 0.0, 0.0
    return total(wall_kinetic(bodies, rows)), -total(1.0 / bodies.inverse_mass[rows] * dot(bodies.position[rows], gravity))


def wall_kinetic(bodies: Bodies, rows: IntArray) -> FloatArray:
    """(n,) kinetic energy [J] of dynamic bodies of the scene."""
    own = times(matrices(bodies.orientation[rows]).transpose(0, 2, 1), bodies.spin[rows])
    v = bodies.velocity[rows]
    return np.asarray(0.5 * (1.0 / bodies.inverse_mass[rows]) * dot(v, v) + 0.5 * dot(bodies.moments[rows], own * own))
