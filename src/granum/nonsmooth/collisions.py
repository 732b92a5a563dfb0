"""Collisions win no energy.

Restitution compares speeds along the normal before and after a collision (Newton). There are two ways in which it may ask for more energy
than there was. Where a body is hit beside its centre, friction turns it, which takes from its speed along the normal, and for what is asked
of that the normal impulse grows until the body leaves with a third more than it came with (Kane and Levinson 1985). And where a body that
has just left another is thrown back onto it, in one step, the contact that opens bears the push, while the collision still rebounds by the
speed of its whole approach: of two elastic balls that fall on a plane, one above the other, the upper one would leave with twice their
energy. Without restitution the same collisions always lose energy. All that lies between the two answers obeys the law, with less
restitution, since cones of friction are convex and velocities follow from impulses linearly. So the one of them that keeps the energy is
taken, for each *island* by itself: bodies that the collisions of the step push against each other.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._jit import kernel
from ..array_types import BoolArray, FloatArray, LongArray
from ..kernel_groups import call
from .blocks import BODY, INV_MASS, LANES, PN, at, yields
from .collision_times import root
from .groups import ProblemArrays
from .problem import Problem

WON = 1e-9  # of the kinetic energy of an island: less is not looked at


def collide(problem: Problem, solve: Callable[[float], None], driven: Callable[[], FloatArray]) -> None:
    """Solve the collisions of a step with ``solve(part)``, which starts anew with a part of the restitution; ``driven`` tells the work
    (C,) [J] of driven bodies through each contact, by the impulses of now."""
    p = problem
    before, began = p.packed.body.copy(), p.kinetic_energies()
    solve(1.0)
    islands = Islands(p, began)
    if not islands.win(islands.gain(driven())).any():
        return
    full = p.packed.body.copy(), p.blocks.data.copy()
    p.packed.body[:] = before
    solve(0.0)
    none = p.packed.body.copy(), p.blocks.data.copy()
    islands.tie()

    def gain(part: float) -> FloatArray:
        _mix(p, none, full, np.full(len(began) + 1, part))
        return islands.gain(driven())

    low, middle, high = gain(0.0), gain(0.5), gain(1.0)  # parabolas
    part = np.append(np.where(islands.win(high), _root(low, middle, high), 1.0)[islands.of], 1.0)
    _mix(p, none, full, part)


class Islands:
    """Bodies that push each other in the collisions of a step; one of them stands for each island."""

    def __init__(self, problem: Problem, began: FloatArray) -> None:
        """``began`` (yielding slots,) [J] is the kinetic energy of each body before the collisions."""
        self.problem, self.began = problem, began
        self.parent = np.arange(len(began))
        self.tie()

    def tie(self) -> None:
        """Tie together what pushes each other now."""
        self.of = call(tie, self.problem.arrays, self.parent)

    def gain(self, driven: FloatArray) -> FloatArray:
        """(yielding slots,) [J] that each island has won, at the body that stands for it; ``driven`` (C,) is the work on it by contact."""
        p = self.problem
        own = call(pushed_by, p.arrays, np.zeros(len(driven), np.int64))
        return self._sums(p.kinetic_energies() - self.began) - np.bincount(self.of[own], driven, len(self.of))

    def win(self, gain: FloatArray) -> BoolArray:
        """Whether an island wins energy."""
        return np.asarray(gain > WON * self._sums(self.began))

    def _sums(self, values: FloatArray | BoolArray) -> FloatArray:
        """Of each island, added in the order of its bodies."""
        return np.asarray(np.bincount(self.of, values, len(self.of)), float)


@kernel
def tie(problem: ProblemArrays, parent: LongArray) -> LongArray:
    """Tie bodies that push each other; returns who stands for the island of each."""
    packed, blocks, _, found = problem
    for c in range(len(found.place)):
        a, b = np.int64(found.slot_a[c]), np.int64(found.slot_b[c])
        if blocks.data[at(found.place[c], blocks.fields) + PN * LANES] > 0.0 and yields(packed, a) and yields(packed, b):
            parent[root(parent, a)] = root(parent, b)
    of = np.empty_like(parent)
    for slot in range(len(parent)):
        of[slot] = root(parent, slot)
    return of


@kernel
def pushed_by(problem: ProblemArrays, own: LongArray) -> LongArray:
    """A body that each contact pushes, in ``own`` (C,): the first one, if that yields."""
    packed, _, _, found = problem
    for c in range(len(own)):
        if yields(packed, np.int64(found.slot_a[c])):
            own[c] = found.slot_a[c]
        elif yields(packed, np.int64(found.slot_b[c])):
            own[c] = found.slot_b[c]
    return own


def _mix(problem: Problem, none: tuple[FloatArray, ...], full: tuple[FloatArray, ...], part: FloatArray) -> None:
    """Velocities and impulses between two answers: ``part`` (yielding slots + 1,) of the way for each body, and for all that does not
    yield."""
    packed, blocks = problem.packed, problem.blocks
    slots = len(packed.body) // BODY
    moves = packed.body[INV_MASS : slots * BODY : BODY] > 0.0
    moves[packed.yielding :] = False
    by_body = part[np.minimum(np.arange(slots), packed.yielding)]
    by_lane = by_body[np.where(moves[blocks.lane_a], blocks.lane_a, blocks.lane_b)]
    for now, a, b, share in (
        (packed.body, none[0], full[0], np.repeat(by_body, BODY)),
        (blocks.data, none[1], full[1], np.repeat(by_lane.reshape(-1, 1, LANES), blocks.fields, axis=1).ravel()),
    ):
        some = slice(len(share))
        now[some] = np.where(share == 1.0, b[some], a[some] + share * (b[some] - a[some]))


def _root(low: FloatArray, middle: FloatArray, high: FloatArray) -> FloatArray:
    """Where between 0 and 1 the parabolas through ``low``, ``middle`` and ``high`` at 0, 1/2 and 1 rise through 0, where high > 0."""
    square = 2.0 * (high + low - 2.0 * middle)
    slope = high - low - square
    below = low < 0.0
    under = np.where(below & (high > 0.0), slope * slope - 4.0 * square * low, 1.0)
    return np.where(below, -2.0 * low / np.where(below, slope + np.sqrt(under), 1.0), 0.0)
