"""The motion of bodies that are no grains over a step."""

from __future__ import annotations

from .._jit import kernel
from ..arithmetic import times
from ..array_types import FloatArray, IntArray
from .bodies import DYNAMIC, Bodies
from .free_turn import turn_free
from .mobility import inertias, inverse_inertias
from .rotation import turn


@kernel
def turn_bodies(orientation: FloatArray, rows: IntArray, spin: FloatArray, h: float) -> None:
    """Turn the bodies of these rows with the spins (n, 3) [rad/s] for ``h`` [s]."""
    for n in range(len(rows)):
        turn(orientation, rows[n], spin[n, 0], spin[n, 1], spin[n, 2], h)


def move_walls(bodies: Bodies, h: float) -> None:
    """Positions and orientations of the bodies of the scene after ``h`` [s]; those that are parts of others move with these.

    Driven bodies turn steadily, dynamic ones as free bodies do, as far as nothing is locked.
    """
    rows = bodies.moving
    if not len(rows):
        return
    rows = rows[bodies.member_of[rows] == rows]
    pushed = bodies.kind[rows] == DYNAMIC
    driven = rows[~pushed]
    bodies.position[rows] += h * bodies.velocity[rows]
    turn_bodies(bodies.orientation, driven, bodies.spin[driven], h)
    dynamic = rows[pushed]
    held = bodies.locked[dynamic, 3:].any(axis=1)
    turn_free(bodies.orientation, bodies.spin, bodies.moments, dynamic[~held], h)
    if held.any():
        turn_held(bodies, dynamic[held], h)


def turn_held(bodies: Bodies, rows: IntArray, h: float) -> None:
    """Turn dynamic bodies some of whose rotations are locked: of their angular momentum the free parts stay (midpoint rule)."""
    momentum = times(inertias(bodies, rows), bodies.spin[rows])
    begin = bodies.orientation[rows]
    turn_bodies(bodies.orientation, rows, bodies.spin[rows], h / 2)
    middle = times(inverse_inertias(bodies, rows), momentum)
    bodies.orientation[rows] = begin
    turn_bodies(bodies.orientation, rows, middle, h)
    bodies.spin[rows] = times(inverse_inertias(bodies, rows), momentum)
