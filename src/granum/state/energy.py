"""Kinetic and gravitational energy of the bodies."""

from __future__ import annotations

import numpy as np

from .._jit import FloatArray, kernel
from .bodies import Bodies
from .rotation import matrix


@kernel
def grain_energy(
    first: int, inverse_mass: FloatArray, radius: FloatArray, velocity: FloatArray, spin: FloatArray, position: FloatArray,
    gx: float, gy: float, gz: float, box: FloatArray,
) -> tuple[float, float, float]:  # fmt: skip
    """Kinetic energy [J], energy in the field of gravity [J] (zero at the origin) and largest speed [m/s] of the grains.

    ``box`` (2, 3) receives the lowest and highest coordinates of the centres [m].
    """
    box[0], box[1] = np.inf, -np.inf
    kinetic, potential, fastest = 0.0, 0.0, 0.0
    for i in range(len(radius)):
        k = first + i
        for f in range(3):
            box[0, f], box[1, f] = min(box[0, f], position[k, f]), max(box[1, f], position[k, f])
        if inverse_mass[k] > 0.0:
            mass = 1.0 / inverse_mass[k]
            square = velocity[k, 0] ** 2 + velocity[k, 1] ** 2 + velocity[k, 2] ** 2
            spins = spin[k, 0] ** 2 + spin[k, 1] ** 2 + spin[k, 2] ** 2
            kinetic += 0.5 * mass * (square + 0.4 * radius[i] * radius[i] * spins)
            potential -= mass * (gx * position[k, 0] + gy * position[k, 1] + gz * position[k, 2])
            fastest = max(fastest, square)
    return kinetic, potential, np.sqrt(fastest)


def energy(bodies: Bodies, gravity: FloatArray) -> tuple[float, float, float, FloatArray]:
    """Kinetic [J], gravitational [J], largest grain speed [m/s] and the box (2, 3) [m] around all grain centres.

    Dynamic walls are included in the energies.
    """
    box = np.empty((2, 3))
    kinetic, potential, fastest = grain_energy(
        bodies.wall_body_count, bodies.inverse_mass, bodies.radius, bodies.velocity, bodies.spin, bodies.position,
        gravity[0], gravity[1], gravity[2], box,
    )  # fmt: skip
    own, lifted = wall_energy(bodies, gravity)
    return kinetic + own, potential + lifted, fastest, box


def wall_energy(bodies: Bodies, gravity: FloatArray) -> tuple[float, float]:
    """Kinetic and gravitational energy [J] of the dynamic walls."""
    kinetic, potential = 0.0, 0.0
    for w in bodies.dynamic:
        mass = 1.0 / bodies.inverse_mass[w]
        own = matrix(bodies.orientation[w]).T @ bodies.spin[w]
        kinetic += 0.5 * mass * float(bodies.velocity[w] @ bodies.velocity[w]) + 0.5 * float(bodies.inertia[w] @ own**2)
        potential -= mass * float(gravity @ bodies.position[w])
    return kinetic, potential
