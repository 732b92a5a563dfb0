"""The detector: contacts of every step, from the neighbour list, with what they carried in the last step."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array_types import FloatArray, IntArray
from ..parallel import ONE, Team
from ..state.bodies import Bodies
from ..state.contacts import ContactArrays, Contacts, closed_up, still_there
from .find import Cell, Looks, Noted, find_contacts
from .narrow import fill_spheres
from .neighbours import FEW, NeighbourList
from .prediction import NOTHING_AHEAD, Ahead
from .selection import Selection
from .wall_table import WallTable

CARRIED = ContactArrays._fields
"""What contacts carry into the next step, in a checkpoint."""


class Detector:
    """Finds the contacts of each step and gives them what they carried in the last.

    ``contacts`` is this step's result; ``same`` whether they and the order of the grains are those of the last step; ``through`` a contact
    whose grain went through its wall, or -1; ``place`` where grains meet walls: their positions, in the cell if there is one (``period``).
    ``order`` grains of the packed slots, ``slot`` (N,) the slot of each grain. ``visits`` says who is looked at, if not all are.
    """

    def __init__(self, walls: WallTable, team: Team = ONE, period: FloatArray | None = None, origin: FloatArray | None = None) -> None:
        self.walls, self.team, self.period = walls, team, period
        self.place = np.zeros((0, 3))
        self.contacts, self._last = Contacts(), Contacts()
        self._where = np.zeros((2, 2, 0), np.int32)  # first and count, pairs and walls, of each grain
        self._last_where = np.zeros((2, 2, 0), np.int32)
        self.neighbours = NeighbourList(team=team, period=period, origin=origin)
        self.visits: Selection | None = None
        self._hit, self._left = np.zeros(0, np.int32), np.zeros(FEW + 1, np.int32)  # room to work in
        self.same = False
        self.through = -1
        self.ahead = NOTHING_AHEAD

    def detect(self, bodies: Bodies, h: float, ahead: Ahead = NOTHING_AHEAD) -> Contacts:
        """Contacts of the bodies where they are now; ``h`` [s] is the step they are about to take.

        With ``ahead`` those that this step can close count too: they have minus their gap as overlap.
        """
        near, self.ahead = self.neighbours, ahead
        self.contacts, self._last = self._last, self.contacts
        self._where, self._last_where = self._last_where, self._where
        if self.visits is not None:
            return self._look(bodies, near.update(bodies, h, max(ahead.step, ahead.time), ahead.fall))
        relisted = near.list_new(bodies, h, ahead.fall)
        left = self._find(bodies, goes_on=False)
        if left:
            near.list_left(bodies, h, self._left[:left])
            self._find(bodies)
        self.same &= not (relisted or left)
        return self.contacts

    def look_again(self, bodies: Bodies) -> Contacts:
        """Contacts of this step once more, after grains have changed their bodies."""
        return self._look(bodies, True)

    @property
    def last(self) -> Contacts:
        """Contacts of the step before."""
        return self._last

    @property
    def order(self) -> IntArray:
        return self.neighbours.order if self.visits is None else self.visits.who

    @property
    def slot(self) -> IntArray:
        return self.neighbours.rank if self.visits is None else self.visits.slot

    def _look(self, bodies: Bodies, relisted: bool) -> Contacts:
        if self.visits is not None:
            relisted |= self.visits.stale
            self._visit(self.visits, bodies, relisted)
        self._find(bodies)
        self.same &= not relisted
        return self.contacts

    def _visit(self, visits: Selection, bodies: Bodies, relisted: bool) -> None:
        """Who is looked at in this step, and where they are."""
        near = self.neighbours
        if relisted:
            visits.update(near)
        ahead = self.ahead
        fill_spheres(visits.rank, bodies.arrays, bodies.grain_arrays, near.arrays, max(ahead.step, ahead.time), ahead.fall)
        visits.number(near.order)

    def _find(self, bodies: Bodies, goes_on: bool = True) -> int:
        """The contacts, once more with more room if there was too little; returns how many grains have left their skin.

        If there are any, nothing was found unless it ``goes_on``.
        """
        contacts, near, visits, grains = self.contacts, self.neighbours, self.visits, bodies.grain_count
        if self._where.shape[2] != grains:
            self._where = np.zeros((2, 2, grains), np.int32)
        if len(self._hit) < len(near.candidate):
            self._hit = np.empty_like(near.candidate)
        if visits is not None:
            visit, at_walls = visits.rank, visits.at_walls
            self._where[1] = 0  # of grains that are not visited
        else:
            visit, at_walls = None, near.live
        cell, self.place = None, bodies.position
        if self.period is not None:
            self.place = np.empty_like(bodies.position)
            cell = Cell(self.period, self.place)
        ahead = self.ahead
        looks = Looks(near.reference, near.skin, at_walls, bodies.id, self._hit, self._left, goes_on)
        last = Noted(self._last.arrays, *self._last_where)
        while True:
            left, pairs, total, self.same, self.through = self.team.run(
                find_contacts,
                grains if visit is None else max(len(visit), len(at_walls)),
                near.arrays,
                bodies.arrays,
                bodies.grain_arrays,
                self.walls,
                visit,
                ahead,
                ahead if ahead is not NOTHING_AHEAD else None,
                last,
                looks,
                cell,
                Noted(contacts.whole, *self._where),
            )
            if left and not goes_on:
                return min(left, len(self._left))
            if total <= contacts.room:
                break
            contacts.reserve(total * 17 // 16)
        contacts.resize(pairs, total)
        if visits is not None:
            visits.add(contacts.a, pairs)
        return 0

    def checkpoint(self) -> dict[str, Any]:
        """All that the next step depends on."""
        c = self.contacts
        return {
            "neighbours": self.neighbours.checkpoint(),
            "where": self._where,
            "pairs": c.pair_count,
            **{name: getattr(c, name) for name in CARRIED},
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        self.neighbours.restore(saved["neighbours"])
        self._where = np.array(saved["where"])
        self.contacts.reserve(len(saved["a"]))
        self.contacts.resize(saved["pairs"], len(saved["a"]))
        for name in CARRIED:
            getattr(self.contacts, name)[:] = saved[name]

    def keep(self, new_row: IntArray) -> None:
        """Grains leave: ``new_row`` (N,) is the new row of each, or -1. The others keep their contacts and impulses."""
        c = self.contacts
        kept = still_there(new_row, c.a, c.b)
        first, count = self._where[:, :, new_row[: self._where.shape[2]] >= 0]
        self._where = np.ascontiguousarray(np.stack(closed_up(first, count, kept)))  # whose order in memory was that of the mask
        c.keep(kept, new_row)
        self.neighbours.keep(new_row)
