"""The motion of wall bodies over a step."""

from __future__ import annotations

from collections.abc import Container

from .._jit import kernel
from ..arithmetic import times
from ..array_types import FloatArray
from .bodies import DYNAMIC, Bodies
from .rotation import matrix, turn


@kernel
def turn_body(orientation: FloatArray, k: int, wx: float, wy: float, wz: float, h: float) -> None:
    """Turn one body."""
    turn(orientation, k, wx, wy, wz, h)


def move_walls(bodies: Bodies, h: float, bound: Container[int] = ()) -> None:
    """Positions and orientations after ``h`` [s]; a free dynamic wall keeps its angular momentum. ``bound`` ones move with others."""
    for w in bodies.moving:
        if w in bound:
            continue
        bodies.position[w] += h * bodies.velocity[w]
        before = matrix(bodies.orientation[w])
        turn_body(bodies.orientation, w, *bodies.spin[w], h)
        if bodies.kind[w] == DYNAMIC:
            momentum = times(before, bodies.inertia[w] * times(before.T, bodies.spin[w]))
            after = matrix(bodies.orientation[w])
            bodies.spin[w] = times(after, times(after.T, momentum) / bodies.inertia[w])
