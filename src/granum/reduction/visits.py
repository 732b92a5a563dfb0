"""Visits: the few grains that must be looked at when most move as one.

Grains of one body never meet. So only the ranks with a candidate of another body are visited; all others cost nothing. The neighbour
list is kept in the frame of the largest body, in which that body's grains never leave their skin.
"""

from __future__ import annotations

import numpy as np

from .._jit import as_written, kernel
from ..arithmetic import length, times
from ..array_types import BoolArray, FloatArray, IntArray
from ..detection.neighbours import NeighbourList
from ..detection.wall_table import WallTable
from ..kernel_groups import call
from ..state.bodies import Bodies, BodyArrays
from ..state.rotation import axes_of, matrix
from .network import Network, mark_all_foreign, mark_foreign

MANY = 32  # part of the ranks: where more have changed, one pass over all pairs costs less than looks around each of them


@kernel
def number_slots(visit: IntArray, order: IntArray, who: IntArray, slot: IntArray) -> None:
    """Grains of the visited ranks, and the slot of each grain (-1: none)."""
    slot[:] = -1
    for n in range(len(visit)):
        who[n] = order[visit[n]]
        slot[who[n]] = n


@kernel
def add_slots(a: IntArray, first: int, who: IntArray, count: int, slot: IntArray) -> int:
    """Slots for grains that touch a wall only, after the ``count`` that have one; returns how many there are then."""
    for c in range(first, len(a)):
        if slot[a[c]] < 0:
            slot[a[c]] = count
            who[count] = a[c]
            count += 1
    return count


@as_written
def write_pose(axes, x, k, place, axes_before, turned, shift):
    """See ``pose_since``; every operation is rounded as it is written."""
    for i in range(3):
        for j in range(3):
            a, b, c = axes_before[j, 0], axes_before[j, 1], axes_before[j, 2]
            turned[i, j] = axes[3 * i] * a + axes[3 * i + 1] * b + axes[3 * i + 2] * c
        shift[i] = x[k, i] - (turned[i, 0] * place[0] + turned[i, 1] * place[1] + turned[i, 2] * place[2])


@kernel
def pose_since(bodies: BodyArrays, k: int, place: FloatArray, axes_before: FloatArray, turned: FloatArray, shift: FloatArray) -> None:
    """Rotation (3, 3) and shift (3,) [m] of body k since it was at ``place`` (3,) [m], turned to ``axes_before`` (3, 3)."""
    write_pose(axes_of(bodies.orientation, k), bodies.position, k, place, axes_before, turned, shift)


class Visits:
    """Who is looked at, given the bodies that move the grains (a ``Selection`` for the search for contacts).

    ``rank`` (V,) visited ranks; ``who`` (S,) grains with a slot, ``slot`` (N,) their slots: those visited and those at walls; ``at_walls``
    grains that may touch a wall of another body. ``stale`` when grains have changed their bodies; ``network`` links all grains.
    ``resting`` is the body in whose frame the neighbour list is kept: the carrier (a row below ``carriers``) that holds most grains.
    """

    def __init__(self, bodies: Bodies, walls: WallTable, near: NeighbourList, carriers: int) -> None:
        self.bodies, self.walls, self.carriers = bodies, walls, carriers
        self.network = Network(near)
        self.rank = self.at_walls = self.who = self.slot = np.zeros(0, np.int32)
        self._room = np.zeros(0, np.int32)
        self._marked = np.zeros(0, bool)
        self._changed: list[IntArray] = []
        self._noted = 0  # grains in these
        self._all = True
        self.far_from_walls = np.zeros(0, bool)  # grains that carriers hold and that no wall of others can reach soon
        self.stale = True
        self.resting = 0
        self.listed_pose = (np.zeros(3), np.eye(3))

    @property
    def many_rest(self) -> bool:
        """Whether more than a quarter of all grains have merged; where none has, lists are those of a run at full resolution."""
        return bool(4 * np.count_nonzero(self.bodies.merged) > self.bodies.grain_count)

    def settle(self) -> None:
        """Take the frame for a new neighbour list."""
        held = self.bodies.grain_body[self.bodies.grain_body < self.carriers]
        self.resting = int(np.bincount(held, minlength=1).argmax())
        self.listed_pose = self._pose()

    def _pose(self) -> tuple[FloatArray, FloatArray]:
        """Where the frame is [m], and how it is turned (3, 3)."""
        return self.bodies.position[self.resting].copy(), matrix(self.bodies.orientation[self.resting])

    def since_listed(self) -> tuple[FloatArray, FloatArray]:
        """Rotation (3, 3) and shift (3,) [m] of the frame since the neighbour list was made."""
        turned, shift = np.empty((3, 3)), np.empty(3)
        call(pose_since, self.bodies.arrays, self.resting, *self.listed_pose, turned, shift)
        return turned, shift

    def leaves_skin(self, near: NeighbourList, grains: IntArray, by: FloatArray) -> BoolArray:
        """(n,) whether grains that move with the frame leave their skin if they shift ``by`` [m] against it."""
        turned, shift = self.since_listed()
        at = times(turned, near.reference[grains]) + shift
        away = length(self.bodies.position[self.bodies.first_grain + grains] - at) + length(by)
        return np.asarray(~(away <= near.skin[grains] - 0.5 * near.fall))

    def update(self, near: NeighbourList) -> None:
        """Look anew who is visited."""
        b = self.bodies
        whole = self.network.update(b.grain_count)
        ranks = len(near.order)
        if whole or self._all or self._noted > ranks // MANY:
            self._all = False
            self._marked = np.empty(ranks, bool)
            call(mark_all_foreign, near.arrays, b.grain_arrays, self._marked)
        else:
            self._marked = np.concatenate([self._marked, np.zeros(ranks - len(self._marked), bool)])
            for changed in self._changed:
                call(mark_foreign, changed, b.grain_arrays, self.network.links, self._marked)
        self._changed.clear()
        self._noted = 0
        alive = near.order >= 0
        self.rank = np.flatnonzero(self._marked & alive).astype(np.int32)
        live = near.order[alive]
        meets = (self.walls.body[None, :] != np.arange(b.first_grain + 1)[:, None]).any(axis=1)  # a wall of another body
        meets[b.first_grain] = True  # stands for all grains that move on their own
        body = b.grain_body[live]
        away = (body < self.carriers) & self.far_from_walls[live]
        self.at_walls = live[meets[np.minimum(body, b.first_grain)] & ~away]
        self.stale = False

    def forget(self) -> None:
        """Rows of grains have moved: everything is looked at anew."""
        self._all = self.stale = True

    def note(self, grains: IntArray) -> None:
        """These grains are new, listed anew, or have changed their body."""
        self._changed.append(grains)
        self._noted += len(grains)
        self.stale = True

    def number(self, order: IntArray) -> None:
        """Slots of the grains that are visited."""
        count = self.bodies.grain_count
        if len(self.slot) != count:
            self.slot, self._room = np.empty(count, np.int32), np.empty(count, np.int32)
        number_slots(self.rank, order, self._room, self.slot)
        self.who = self._room[: len(self.rank)]

    def add(self, a: IntArray, first: int) -> None:
        """Slots of the grains whose wall contacts begin at ``first`` of the owners ``a`` (C,)."""
        count = add_slots(a, first, self._room, len(self.who), self.slot)
        self.who = self._room[:count]
