"""Collisions with friction win no energy.

Restitution compares speeds along the normal before and after a collision (Newton), and friction acts at the same time. Where a body is hit
beside its centre the two do not go together: friction turns the body, which takes from its speed along the normal, and for what is asked of
that the normal impulse grows until the body leaves with more energy than it came with, by a third of it in some hits (Kane and Levinson
1985). Without restitution the same collision always loses energy. All that lies between the two answers obeys the law, with less
restitution, since cones of friction are convex and velocities follow from impulses linearly. So the one of them that keeps the energy is
taken. Spheres need none of this, as a push along the normal does not turn them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .problem import Problem

WON = 1e-9  # of the kinetic energy: less is not looked at


def collide(problem: Problem, solve: Callable[[float], None], driven: Callable[[], float]) -> None:
    """Solve the collisions of a step with ``solve(part)``, which starts anew with a part of the restitution; ``driven`` tells the work [J]
    of driven bodies through the impulses of now."""
    body, data, before = problem.packed.body.copy(), problem.blocks.data, problem.kinetic_energy()
    solve(1.0)
    if problem.kinetic_energy() - before - driven() <= WON * before:
        return
    full = problem.packed.body.copy(), data.copy()
    problem.packed.body[:] = body
    solve(0.0)
    none = problem.packed.body.copy(), data.copy()

    def won(part: float) -> float:
        """Energy [J] that the collisions win with a part of what restitution adds."""
        for now, a, b in zip((problem.packed.body, data), none, full, strict=True):
            now[:] = a + part * (b - a)
        return problem.kinetic_energy() - before - driven()

    low, middle, high = won(0.0), won(0.5), won(1.0)  # a parabola
    won(_root(low, middle, high))


def _root(low: float, middle: float, high: float) -> float:
    """Where between 0 and 1 the parabola through ``low``, ``middle`` and ``high`` at 0, 1/2 and 1 rises through 0; high > 0."""
    if low >= 0.0:
        return 0.0
    square = 2.0 * (high + low - 2.0 * middle)
    slope = high - low - square
    return -2.0 * low / (slope + math.sqrt(slope * slope - 4.0 * square * low))
