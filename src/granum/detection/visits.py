"""Visits: the few grains that must be looked at when most move as one.

Grains of one aggregate never meet. So only the ranks with a candidate of another body are visited; all others cost nothing. The neighbour
list is kept in the frame of the largest body, in which that body's grains never leave their skin.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from .._jit import kernel
from ..arithmetic import product, times
from ..array_types import FloatArray, IntArray
from .narrow import fill_sphere
from .network import Network, mark_all_foreign, mark_foreign

if TYPE_CHECKING:
    from .neighbours import NeighbourList


@kernel
def left_skin(
    position: FloatArray,
    velocity: FloatArray,
    first: int,
    order: IntArray,
    reference: FloatArray,
    skin: FloatArray,
    time: float,
    fall: float,
    aggregate: IntArray,
    resting: int,
    turned: FloatArray,
    shift: FloatArray,
    left: IntArray,
) -> int:
    """How many grains leave their skin within ``time`` [s], named in ``left``; the frame has ``turned`` (3, 3) and ``shift``-ed [m] since.

    Those of the aggregate ``resting`` move with the frame.
    """
    gone = 0
    for k in range(len(order)):
        i = order[k]
        if i < 0 or aggregate[i] == resting:
            continue
        square, later = 0.0, 0.0
        for f in range(3):
            at = turned[f, 0] * reference[i, 0] + turned[f, 1] * reference[i, 1] + turned[f, 2] * reference[i, 2] + shift[f]
            square += (position[first + i, f] - at) ** 2
            later += (position[first + i, f] + time * velocity[first + i, f] - at) ** 2
        if not max(square, later) <= (skin[i] - 0.5 * fall) ** 2:  # a NaN is not inside
            if gone < len(left):
                left[gone] = i
            gone += 1
    return gone


@kernel
def fill_spheres(
    visit: IntArray,
    order: IntArray,
    position: FloatArray,
    velocity: FloatArray,
    first: int,
    radius: FloatArray,
    time: float,
    fall: float,
    sphere: FloatArray,
) -> None:
    """Rows of the ranks that are visited."""
    for n in range(len(visit)):
        k = visit[n]
        i = order[k]
        fill_sphere(sphere, k, position, velocity, first + i, radius[i], time, fall)


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


class Visits:
    """Who is looked at, given the ``aggregate`` (N,) of every grain (-1: free).

    ``rank`` (V,) visited ranks; ``who`` (S,) grains with a slot, ``slot`` (N,) their slots: those visited and those at walls; ``at_walls``
    grains that may touch a wall of another body. ``wall_aggregate`` (K,) of the walls, -1: of none. ``stale`` when aggregates have
    changed; ``network`` links all grains.
    ``resting`` is the aggregate in whose frame the neighbour list is kept: that of the ``frames`` first ones which has most grains;
    ``pose_of`` tells where such a frame is (3,) [m] and how it is turned (3, 3).
    """

    def __init__(
        self, near: NeighbourList, wall_aggregate: IntArray, frames: int, pose_of: Callable[[int], tuple[FloatArray, FloatArray]]
    ) -> None:
        self.wall_aggregate, self.frames, self.pose_of = wall_aggregate, frames, pose_of
        self.network = Network(near)
        self.aggregate = np.zeros(0, np.int32)
        self.rank = self.at_walls = self.who = self.slot = np.zeros(0, np.int32)
        self._room = np.zeros(0, np.int32)
        self._marked = np.zeros(0, bool)
        self._changed: list[IntArray] = []
        self._all = True
        self.far_from_walls = np.zeros(0, bool)  # grains that carriers hold and that no wall of others can reach soon
        self.stale = True
        self.resting = 0
        self.listed_pose = (np.zeros(3), np.eye(3))

    @property
    def many_rest(self) -> bool:
        """Whether more than a quarter of all grains have merged; where none has, lists are those of a run at full resolution."""
        return bool(4 * np.count_nonzero(self.aggregate >= 0) > len(self.aggregate))

    def settle(self) -> None:
        """Take the frame for a new neighbour list."""
        held = self.aggregate[(self.aggregate >= 0) & (self.aggregate < self.frames)]
        self.resting = int(np.bincount(held, minlength=1).argmax())
        self.listed_pose = self.pose_of(self.resting)

    def since_listed(self) -> tuple[FloatArray, FloatArray]:
        """Rotation (3, 3) and shift (3,) [m] of the frame since the neighbour list was made."""
        (x0, r0), (x, r) = self.listed_pose, self.pose_of(self.resting)
        turned = product(r, r0.T)
        return turned, x - times(turned, x0)

    def update(self, near: NeighbourList) -> None:
        """Look anew who is visited."""
        whole = self.network.update(len(self.aggregate))
        ranks = len(near.order)
        if whole or self._all:
            self._all = False
            self._marked = np.empty(ranks, bool)
            mark_all_foreign(near.order, near.candidate_first, near.candidate, self.aggregate, self._marked)
        else:
            self._marked = np.concatenate([self._marked, np.zeros(ranks - len(self._marked), bool)])
            for changed in self._changed:
                mark_foreign(changed, self.aggregate, *self.network.arrays, self._marked)
        self._changed.clear()
        alive = near.order >= 0
        self.rank = np.flatnonzero(self._marked & alive).astype(np.int32)
        live = near.order[alive]
        bodies = np.arange(-1, max(int(self.aggregate.max(initial=-1)), int(self.wall_aggregate.max(initial=-1))) + 1)
        meets = (self.wall_aggregate[None, :] != bodies[:, None]).any(axis=1)  # a wall of another body
        meets[0] = True
        body = self.aggregate[live]
        away = (body >= 0) & (body < self.frames) & self.far_from_walls[live]
        self.at_walls = live[meets[body + 1] & ~away]
        self.stale = False

    def forget(self) -> None:
        """Rows of grains have moved: everything is looked at anew."""
        self._all = self.stale = True

    def note(self, grains: IntArray) -> None:
        """These grains are new, listed anew, or have changed their body."""
        self._changed.append(grains)
        self.stale = True

    def number(self, order: IntArray) -> None:
        """Slots of the grains that are visited."""
        if len(self.slot) != len(self.aggregate):
            self.slot, self._room = np.empty(len(self.aggregate), np.int32), np.empty(len(self.aggregate), np.int32)
        number_slots(self.rank, order, self._room, self.slot)
        self.who = self._room[: len(self.rank)]

    def add(self, a: IntArray, first: int) -> None:
        """Slots of the grains whose wall contacts begin at ``first`` of the owners ``a`` (C,)."""
        count = add_slots(a, first, self._room, len(self.who), self.slot)
        self.who = self._room[:count]
