"""How dynamic bodies give way: M^-1 of a body some of whose axes are locked (machines 1).

With P the free axes of the world, among translations and rotations, forces and torques f change velocities and spins by K f,

    K = P (P^T M P)^-1 P^T,   M = blockdiag(m 1, I),

which is M^-1 if nothing is locked. Translations and rotations do not mix, since forces act at the centre of mass.
"""

from __future__ import annotations

import numpy as np

from ..arithmetic import inverse, product
from ..array_types import BoolArray, FloatArray, IntArray
from .bodies import Bodies
from .rotation import matrices


def inertias(bodies: Bodies, rows: IntArray) -> FloatArray:
    """(n, 3, 3) in world axes [kg m^2] of dynamic bodies of the scene."""
    turned = matrices(bodies.orientation[rows])
    return product(turned * bodies.moments[rows][:, None, :], turned.transpose(0, 2, 1))


def inverse_inertias(bodies: Bodies, rows: IntArray) -> FloatArray:
    """(n, 3, 3) in world axes [1/(kg m^2)] of dynamic bodies of the scene, restricted to the rotations that are free."""
    turned = matrices(bodies.orientation[rows])
    found = product(turned / bodies.moments[rows][:, None, :], turned.transpose(0, 2, 1))
    held = np.flatnonzero(bodies.locked[rows, 3:].any(axis=1))
    if len(held):
        found[held] = restricted_inverse(inertias(bodies, rows[held]), ~bodies.locked[rows[held], 3:])
    return found


def restricted_inverse(matrix: FloatArray, free: BoolArray) -> FloatArray:
    """(n, 3, 3) P (P^T A P)^-1 P^T of symmetric matrices (n, 3, 3), P being the axes that are ``free`` (n, 3)."""
    both = free[:, :, None] & free[:, None, :]
    return np.where(both, inverse(np.where(both, matrix, np.eye(3) * ~both)), 0.0)


def mobilities(bodies: Bodies, rows: IntArray) -> FloatArray:
    """(n, 6, 6) of dynamic bodies of the scene: from force [N] and torque [N m] to the rates of velocity and spin, world axes."""
    found = np.zeros((len(rows), 6, 6))
    for k in range(3):
        found[:, k, k] = np.where(bodies.locked[rows, k], 0.0, bodies.inverse_mass[rows])
    found[:, 3:, 3:] = inverse_inertias(bodies, rows)
    return found
