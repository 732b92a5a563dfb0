"""The motion of bodies that are no grains over a step."""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from ..arithmetic import product
from ..array_types import FloatArray, IntArray
from .bodies import DYNAMIC, Bodies
from .free_turn import turn_free
from .rotation import matrices, turn


@kernel
def turn_bodies(orientation: FloatArray, rows: IntArray, spin: FloatArray, h: float) -> None:
    """Turn the bodies of these rows with the spins (n, 3) [rad/s] for ``h`` [s]."""
    for n in range(len(rows)):
        turn(orientation, rows[n], spin[n, 0], spin[n, 1], spin[n, 2], h)


def move_walls(bodies: Bodies, h: float) -> None:
    """Positions and orientations of the bodies of the scene after ``h`` [s]; those that are parts of others move with these.

    Driven bodies turn steadily, dynamic ones as free bodies do.
    """
    rows = bodies.moving
    if not len(rows):
        return
    rows = rows[bodies.member_of[rows] == rows]
    pushed = bodies.kind[rows] == DYNAMIC
    driven = rows[~pushed]
    bodies.position[rows] += h * bodies.velocity[rows]
    turn_bodies(bodies.orientation, driven, bodies.spin[driven], h)
    turn_free(bodies.orientation, bodies.spin, bodies.moments, rows[pushed], h)


def inverse_inertia(bodies: Bodies, rows: IntArray) -> FloatArray:
    """(n, 3, 3) in world axes [1/(kg m^2)] of dynamic bodies of the scene."""
    turned = matrices(bodies.orientation[rows])
    return np.asarray(product(turned / bodies.moments[rows][:, None, :], turned.transpose(0, 2, 1)))
