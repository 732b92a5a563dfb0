"""Kinetic and gravitational energy of the bodies."""

from __future__ import annotations

import math

import numpy as np

from .._jit import as_written, device, kernel
from ..arithmetic.sums import sum_of
from ..array_types import FloatArray, IntArray
from ..kernel_groups import call
from ..parallel import LIGHT, ONE, Team
from ..parallel.barrier import share, wait
from ..parallel.crew import Crew
from .bodies import Bodies, BodyArrays, GrainArrays
from .rotation import axes_of, to_body

CHUNK = 1024  # grains that are summed up in one go
PARTS, LOW, HIGH = 9, 3, 6  # numbers that are found of each chunk, and where its lowest and highest coordinates begin


def parts_of(grains: int) -> int:
    """Numbers that ``grain_energies`` writes."""
    return (grains + CHUNK - 1) // CHUNK * PARTS


@device
def grain_energies(thread, threads, bodies, grains, gravity, parts):
    """Of each chunk of grains, in ``parts``: kinetic energy [J], energy in the field of gravity [J] (zero at the origin), the square of the
    largest speed [m/s], and the lowest and highest coordinates of the centres [m]."""
    position, velocity, spin, inverse_mass, radius = bodies.position, bodies.velocity, bodies.spin, bodies.inverse_mass, grains.radius
    gx, gy, gz = gravity[0], gravity[1], gravity[2]
    low, high = share(len(parts) // PARTS, thread, threads)
    for chunk in range(low, high):
        kinetic, potential, fastest, o = 0.0, 0.0, 0.0, chunk * PARTS
        for f in range(3):
            parts[o + LOW + f], parts[o + HIGH + f] = np.inf, -np.inf
        for i in range(chunk * CHUNK, min((chunk + 1) * CHUNK, len(radius))):
            k = grains.first + i
            for f in range(3):
                parts[o + LOW + f] = min(parts[o + LOW + f], position[k, f])
                parts[o + HIGH + f] = max(parts[o + HIGH + f], position[k, f])
            if inverse_mass[k] > 0.0:
                mass = 1.0 / inverse_mass[k]
                square = velocity[k, 0] ** 2 + velocity[k, 1] ** 2 + velocity[k, 2] ** 2
                spins = spin[k, 0] ** 2 + spin[k, 1] ** 2 + spin[k, 2] ** 2
                kinetic += 0.5 * mass * (square + 0.4 * radius[i] * radius[i] * spins)
                potential -= mass * (gx * position[k, 0] + gy * position[k, 1] + gz * position[k, 2])
                fastest = max(fastest, square)
        parts[o], parts[o + 1], parts[o + 2] = kinetic, potential, fastest


@device
def fold_energies(parts, extent):
    """Kinetic and gravitational energy [J] and largest speed [m/s] of all chunks; ``extent`` (2, 3) [m] is the box around all of them."""
    for f in range(3):
        extent[0, f], extent[1, f] = np.inf, -np.inf
    fastest, chunks = 0.0, len(parts) // PARTS
    for chunk in range(chunks):
        o = chunk * PARTS
        for f in range(3):
            extent[0, f], extent[1, f] = min(extent[0, f], parts[o + LOW + f]), max(extent[1, f], parts[o + HIGH + f])
        fastest = max(fastest, parts[o + 2])
    return sum_of(parts, chunks, 0, PARTS), sum_of(parts, chunks, 1, PARTS), math.sqrt(fastest)


@kernel
def grain_energy(
    crew: Crew, bodies: BodyArrays, grains: GrainArrays, gravity: FloatArray, parts: FloatArray, extent: FloatArray
) -> tuple[float, float, float]:
    """Kinetic and gravitational energy [J] and largest speed [m/s] of all grains; ``extent`` (2, 3) receives the box around them [m]."""
    thread, threads, barrier = crew
    grain_energies(thread, threads, bodies, grains, gravity, parts)
    wait(barrier, threads)
    return fold_energies(parts, extent) if thread == 0 else (0.0, 0.0, 0.0)


def energy(bodies: Bodies, gravity: FloatArray, team: Team = ONE) -> tuple[float, float, float, FloatArray]:
    """Kinetic [J], gravitational [J], largest grain speed [m/s] and the box (2, 3) [m] around all grain centres.

    Dynamic walls are included in the energies.
    """
    parts, extent = np.empty(parts_of(bodies.grain_count)), np.empty((2, 3))
    kinetic, potential, fastest = team.run(
        grain_energy, bodies.grain_count // LIGHT, bodies.arrays, bodies.grain_arrays, gravity, parts, extent
    )
    own, lifted = wall_energy(bodies, gravity)
    return kinetic + own, potential + lifted, fastest, extent


@as_written
def kinetic_of(bodies, moments, k):
    """Kinetic energy [J] of a dynamic body of the scene."""
    velocity, spin = bodies.velocity, bodies.spin
    x, y, z = to_body(axes_of(bodies.orientation, k), spin[k, 0], spin[k, 1], spin[k, 2])
    square = velocity[k, 0] * velocity[k, 0] + velocity[k, 1] * velocity[k, 1] + velocity[k, 2] * velocity[k, 2]
    spins = moments[k, 0] * (x * x) + moments[k, 1] * (y * y) + moments[k, 2] * (z * z)
    return 0.5 * (1.0 / bodies.inverse_mass[k]) * square + 0.5 * spins


@as_written
def lift_of(bodies, gravity, k):
    """m g.x [J] of a body."""
    position = bodies.position
    return 1.0 / bodies.inverse_mass[k] * (position[k, 0] * gravity[0] + position[k, 1] * gravity[1] + position[k, 2] * gravity[2])


@kernel
def energy_of_rows(bodies: BodyArrays, rows: IntArray, moments: FloatArray, gravity: FloatArray) -> tuple[float, float]:
    """Kinetic and gravitational energy [J] of dynamic bodies of the scene."""
    kinetic, lift, count = np.empty(len(rows)), np.empty(len(rows)), len(rows)
    for n in range(count):
        kinetic[n], lift[n] = kinetic_of(bodies, moments, rows[n]), lift_of(bodies, gravity, rows[n])
    return sum_of(kinetic, count, 0, 1), -sum_of(lift, count, 0, 1)


def wall_energy(bodies: Bodies, gravity: FloatArray) -> tuple[float, float]:
    """Kinetic and gravitational energy [J] of the dynamic bodies of the scene."""
    if not len(bodies.dynamic):
        return 0.0, 0.0
    found: tuple[float, float] = call(energy_of_rows, bodies.arrays, bodies.dynamic, bodies.moments, gravity)
    return found


def wall_kinetic(bodies: Bodies, rows: IntArray) -> float:
    """Kinetic energy [J] of some dynamic bodies of the scene."""
    return float(call(energy_of_rows, bodies.arrays, rows, bodies.moments, np.zeros(3))[0])
