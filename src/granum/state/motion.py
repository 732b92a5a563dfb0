"""The motion of bodies that are no grains over a step."""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from ..arithmetic import product, times
from ..array_types import FloatArray, IntArray
from .bodies import DYNAMIC, Bodies
from .rotation import matrices, turn


@kernel
def turn_bodies(orientation: FloatArray, rows: IntArray, spin: FloatArray, h: float) -> None:
    """Turn the bodies of these rows with the spins (n, 3) [rad/s] for ``h`` [s]."""
    for n in range(len(rows)):
        turn(orientation, rows[n], spin[n, 0], spin[n, 1], spin[n, 2], h)


def move_walls(bodies: Bodies, h: float) -> None:
    """Positions and orientations of the bodies of the scene after ``h`` [s]; those that are parts of others move with these.

    A free dynamic body keeps its angular momentum.
    """
    rows = bodies.moving
    if not len(rows):
        return
    rows = rows[bodies.member_of[rows] == rows]
    pushed = rows[bodies.kind[rows] == DYNAMIC]
    before = matrices(bodies.orientation[pushed])
    momentum = times(before, bodies.moments[pushed] * times(before.transpose(0, 2, 1), bodies.spin[pushed]))
    bodies.position[rows] += h * bodies.velocity[rows]
    turn_bodies(bodies.orientation, rows, bodies.spin[rows], h)
    after = matrices(bodies.orientation[pushed])
    bodies.spin[pushed] = times(after, times(after.transpose(0, 2, 1), momentum) / bodies.moments[pushed])


def turn_besides(bodies: Bodies, angle: FloatArray) -> None:
    """Turn dynamic bodies of the scene by small angles (F, 3) [rad], world axes; they keep their angular momentum."""
    rows = bodies.dynamic[angle[bodies.dynamic].any(axis=1)]
    before = matrices(bodies.orientation[rows])
    momentum = times(before, bodies.moments[rows] * times(before.transpose(0, 2, 1), bodies.spin[rows]))
    turn_bodies(bodies.orientation, rows, angle[rows], 1.0)
    bodies.spin[rows] = times(inverse_inertia(bodies, rows), momentum)


def inverse_inertia(bodies: Bodies, rows: IntArray) -> FloatArray:
    """(n, 3, 3) in world axes [1/(kg m^2)] of dynamic bodies of the scene."""
    turned = matrices(bodies.orientation[rows])
    return np.asarray(product(turned / bodies.moments[rows][:, None, :], turned.transpose(0, 2, 1)))
