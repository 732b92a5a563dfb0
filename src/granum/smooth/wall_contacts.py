"""Grains at walls: the few that are near enough to be looked at, and the contacts that were found."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .._jit import as_written, kernel
from ..arithmetic import length
from ..array_types import FloatArray, IntArray
from ..detection.images import in_cell
from ..detection.neighbours import NeighbourList
from ..detection.wall_table import CYLINDER, WallTable
from ..detection.walls import find_wall_contacts
from ..kernel_groups import prepared
from ..parallel.barrier import new_barrier
from ..parallel.crew import Crew
from ..state.bodies import Bodies, BodyArrays
from ..state.contacts import Spans, Touching, closed_up
from .groups import WallRows
from .touching import Relisted

REACH = 0.5  # of the largest radius: how far beyond a grain walls are looked for, its skin and the walls' way included
KEPT = ("a", "b", "feature", "normal", "overlap", "spring", "force")  # in a checkpoint
ALONE = Crew(0, 1, new_barrier(1))


class WallContacts:
    """``count`` contacts with walls and their springs; ``rows`` is the group that kernels take, renewed when room or grains change."""

    def __init__(self, room: int, springs: int) -> None:
        self.springs, self.count = springs, 0
        self._reserve(room, 0)

    def _reserve(self, room: int, grains: int) -> None:
        self.room = room
        a, b, feature = (np.zeros(room, np.int32) for _ in range(3))
        spring, force = np.zeros((room, self.springs)), np.zeros((room, self.springs - 1))
        first, number = np.zeros(grains, np.int32), np.zeros(grains, np.int32)
        self.rows = WallRows(a, b, feature, np.zeros((room, 3)), np.zeros(room), spring, force, first, number)

    def of(self, name: str) -> Any:
        """The used part of an array."""
        return getattr(self.rows, name)[: self.count]

    def search(self, grains: IntArray, bodies: Bodies, position: FloatArray, radius: FloatArray, walls: WallTable) -> Callable[[], int]:
        """A call that finds the contacts of some grains, taken to have these radii [m], with all walls, and tells how many there are.

        ``position`` [m]: of the bodies, in the cell. If there are more than ``room``, make some and search again.
        """
        a, b, feature, normal, overlap, _, _, first, number = self.rows
        state, own = bodies.arrays._replace(position=position), bodies.grain_arrays._replace(radius=radius)
        out, spans = Touching(a, b, feature, normal, overlap), Spans(first, number)
        return prepared(find_wall_contacts, ALONE, grains, state, own, walls, 0, None, out, spans)

    def fit(self, grains: int, count: int = 0) -> bool:
        """Make room for ``count`` contacts of so many grains; true if there was not, and what was found is lost."""
        if count > self.room:
            self._reserve(count * 5 // 4, grains)
            return True
        if len(self.rows.first) != grains:
            self.rows = self.rows._replace(first=np.zeros(grains, np.int32), number=np.zeros(grains, np.int32))
            return True
        return False

    def find(self, grains: IntArray, bodies: Bodies, radius: FloatArray, walls: WallTable, period: FloatArray | None = None) -> None:
        """Contacts of some grains with all walls, once."""
        position = in_cell(bodies.position, bodies.first_grain, period)
        self.fit(bodies.grain_count)
        self.rows.number[:] = 0
        self.count = self.search(grains, bodies, position, radius, walls)()
        if self.count > self.room:
            self.fit(bodies.grain_count, self.count)
            self.find(grains, bodies, radius, walls, period)

    def keep(self, new_row: IntArray) -> None:
        """Grains leave: ``new_row`` (N,) is the new row of each, or -1."""
        kept, stays = new_row[self.of("a")] >= 0, new_row[: len(self.rows.first)] >= 0
        first, number = closed_up(self.rows.first[stays], self.rows.number[stays], kept)
        self.rows = self.rows._replace(first=first, number=number)
        count = int(np.count_nonzero(kept))
        for name in KEPT:
            getattr(self.rows, name)[:count] = self.of(name)[kept]
        self.count = count
        self.rows.a[:count] = new_row[self.rows.a[:count]]

    def checkpoint(self) -> dict[str, Any]:
        """All that the next step looks up."""
        return {**{name: self.of(name) for name in KEPT}, "first": self.rows.first, "number": self.rows.number}

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        self.count = len(saved["a"])
        self._reserve(self.count, len(saved["first"]))
        for name in (*KEPT, "first", "number"):
            getattr(self.rows, name)[:] = saved[name]


class AtWalls:
    """Contacts with walls of this step, ``now``, and of the one before; ``near`` are the grains that may touch one."""

    def __init__(self, walls: WallTable, springs: int, reach: float, largest: float, period: FloatArray | None) -> None:
        self.walls, self.reach, self.largest, self.period = walls, reach, largest, period
        self.now, self.before = WallContacts(0, springs), WallContacts(0, springs)
        self.near = np.zeros(0, np.int32)
        self.way = 0.0  # how far walls may still go [m] before ``near`` is found anew
        self._endless = endless_tubes(walls)

    def follow(self, changed: Relisted) -> None:
        """The neighbour list has changed."""
        if changed.whole:
            self.way = 0.0
        else:
            self.near = np.concatenate([self.near[~changed.moved[self.near]], changed.added])

    def turn(self) -> None:
        """What was found now was found before."""
        self.now, self.before = self.before, self.now

    def list_near(self, bodies: Bodies, neighbours: NeighbourList) -> None:
        """The grains that may touch a wall before they leave their skin, or the walls have gone their way."""
        self.way = 0.25 * REACH * self.largest
        position = bodies.position[bodies.grains]
        gone = length(position - neighbours.reference)  # a grain may turn back to the far side of its skin
        wide = bodies.radius + gone + neighbours.skin + self.way
        looked = WallContacts(0, self.now.springs)
        looked.find(neighbours.live, bodies, np.minimum(wide, self.reach), self._endless, self.period)
        listed = wide > self.reach  # further than walls can be asked
        if self.period is not None:  # through a face of the cell a grain comes to walls that are not near yet
            repeats, place = self.period[0] > 0, in_cell(position, 0, self.period)
            listed |= ((place < wide[:, None]) | (place + wide[:, None] > self.period[0]))[:, repeats].any(axis=1)
        listed[looked.of("a")] = True
        self.near = neighbours.live[listed[neighbours.live]]

    def keep(self, new_row: IntArray) -> None:
        """Grains leave: ``new_row`` (N,) is the new row of each, or -1."""
        self.now.keep(new_row)
        self.near = new_row[self.near][new_row[self.near] >= 0]


@as_written
def size(x, y, z):
    """Length of a vector."""
    return math.sqrt(x * x + y * y + z * z)


@as_written
def speed_at_rim(bodies, k, box, reach):
    """Speed [m/s] of body k at the corner of a box that is furthest from it, and ``reach`` [m] beyond."""
    x, v, w = bodies.position, bodies.velocity, bodies.spin
    far = size(
        max(abs(box[0] - x[k, 0]), abs(box[3] - x[k, 0])),
        max(abs(box[1] - x[k, 1]), abs(box[4] - x[k, 1])),
        max(abs(box[2] - x[k, 2]), abs(box[5] - x[k, 2])),
    )
    return size(v[k, 0], v[k, 1], v[k, 2]) + size(w[k, 0], w[k, 1], w[k, 2]) * (far + reach)


@kernel
def fastest_wall(bodies: BodyArrays, rows: IntArray, extent: FloatArray, period: FloatArray | None, reach: float) -> float:
    """Largest speed [m/s] of the bodies in these rows within ``reach`` [m] of the box ``extent`` (2, 3) around the grains, or the cell."""
    box = np.empty(6)
    for f in range(3):
        box[f], box[3 + f] = extent[0, f], extent[1, f]
        if period is not None:  # noqa: SIM102  (alone, so that it is left out when compiled)
            if period[0, f] > 0.0:
                box[f], box[3 + f] = 0.0, period[0, f]
    fastest = 0.0
    for n in range(len(rows)):
        fastest = max(fastest, speed_at_rim(bodies, rows[n], box, reach))
    return fastest


def endless_tubes(walls: WallTable) -> WallTable:
    """The same walls, but tubes that are open at their ends go on: a grain that is about to enter one is near it."""
    parameter = walls.parameter.copy()
    parameter[(walls.kind == CYLINDER) & (parameter[:, 8] == 0.0), 7] = np.inf
    return walls._replace(parameter=parameter)
