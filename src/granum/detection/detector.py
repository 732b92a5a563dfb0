"""The detector: contacts of every step, from the neighbour list, with what they carried in the last step."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array_types import FloatArray, IntArray
from ..kernel_groups import call
from ..parallel import ONE, Team
from ..state.bodies import Bodies
from ..state.contacts import ContactArrays, Contacts, Spans, Touching, closed_up, still_there
from .body_contacts import carry_over_bodies, find_body_contacts
from .body_shapes import BodyShapes
from .images import in_cell
from .narrow import fill_spheres, find_pair_contacts
from .neighbours import NeighbourList
from .persistence import carry_over
from .prediction import NOTHING_AHEAD, Ahead, keep_first_meetings
from .selection import Selection
from .wall_table import WallTable
from .walls import find_wall_contacts

CARRIED = ContactArrays._fields
"""What contacts carry into the next step, in a checkpoint."""


class Detector:
    """Finds the contacts of each step and gives them what they carried in the last.

    ``contacts`` is this step's result; ``same`` whether they and the order of the grains are those of the last step; ``through`` a contact
    whose grain went through its wall, or -1; ``place`` where grains meet walls: their positions, in the cell if there is one (``period``).
    ``order`` grains of the packed slots, ``slot`` (N,) the slot of each grain. ``visits`` says who is looked at, if not all are; ``shapes``
    which bodies may touch each other, none: none may.
    """

    def __init__(self, walls: WallTable, team: Team = ONE, period: FloatArray | None = None, origin: FloatArray | None = None) -> None:
        self.walls, self.team, self.period = walls, team, period
        self.place = np.zeros((0, 3))
        self.contacts, self._last = Contacts(), Contacts()
        self._where = np.zeros((2, 2, 0), np.int32)  # first and count, pairs and walls, of each grain
        self._last_where = np.zeros((2, 2, 0), np.int32)
        self.neighbours = NeighbourList(team=team, period=period, origin=origin)
        self.visits: Selection | None = None
        self.shapes: BodyShapes | None = None
        self._hit = np.zeros(0, np.int32)  # room to work in
        self.same = False
        self.through = -1
        self.ahead = NOTHING_AHEAD

    def detect(self, bodies: Bodies, h: float, ahead: Ahead = NOTHING_AHEAD) -> Contacts:
        """Contacts of the bodies where they are now; ``h`` [s] is the step they are about to take.

        With ``ahead`` those that this step can close count too: they have minus their gap as overlap.
        """
        self.ahead = ahead
        relisted = self.neighbours.update(bodies, h, max(ahead.step, ahead.time), ahead.fall)
        self.contacts, self._last = self._last, self.contacts
        self._where, self._last_where = self._last_where, self._where
        return self._look(bodies, relisted)

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
        self.place = in_cell(bodies.position, bodies.first_grain, self.period)
        if self.visits is not None:
            relisted |= self.visits.stale
            self._visit(self.visits, bodies, relisted)
        self._find(bodies)
        if self.ahead is not NOTHING_AHEAD:
            at = bodies.arrays if self.period is None else bodies.arrays._replace(position=self.place)
            call(keep_first_meetings, self.contacts.arrays, at, bodies.grain_arrays, self.walls.frame, self.ahead)
        c = self.contacts
        same, self.through = self.team.run(
            carry_over, c.contact_count, bodies.id, self.ahead.fall, self._last.arrays, *self._last_where, c.arrays
        )
        if c.body_contact_count or self._last.body_contact_count:
            same &= call(carry_over_bodies, self._last.of_bodies, c.of_bodies, self.ahead.fall)
        self.same = same and not relisted
        return c

    def _visit(self, visits: Selection, bodies: Bodies, relisted: bool) -> None:
        """Who is looked at in this step, and where they are."""
        near = self.neighbours
        if relisted:
            visits.update(near)
        ahead = self.ahead
        fill_spheres(visits.rank, bodies.arrays, bodies.grain_arrays, near.arrays, max(ahead.step, ahead.time), ahead.fall)
        visits.number(near.order)

    def _find(self, bodies: Bodies) -> None:
        """Narrow phase of pairs, then walls; once more with more room if there was too little."""
        contacts, near = self.contacts, self.neighbours
        if self._where.shape[2] != bodies.grain_count:
            self._where = np.zeros((2, 2, bodies.grain_count), np.int32)
        if len(self._hit) < len(near.candidate):
            self._hit = np.empty_like(near.candidate)
        first, count = self._where
        pair_spans, wall_spans = Spans(first[0], count[0]), Spans(first[1], count[1])
        visit, at_walls = None, near.live
        if self.visits is not None:
            visit, at_walls = self.visits.rank, self.visits.at_walls
            count[:] = 0  # of grains that are not visited
        state, grains, ahead = bodies.arrays, bodies.grain_arrays, self.ahead
        ahead_at_walls = ahead if ahead is not NOTHING_AHEAD else None
        while True:
            out, visited = contacts.whole, len(near.order if visit is None else visit)
            pairs = self.team.run(
                find_pair_contacts, visited, near.arrays, state, grains, visit, self.period, ahead, self._hit, out, pair_spans
            )
            at = state if self.period is None else state._replace(position=self.place)
            total = self.team.run(
                find_wall_contacts, len(at_walls), at_walls, at, grains, self.walls, pairs, ahead_at_walls, out, wall_spans
            )
            between = 0 if self.shapes is None else self._find_between_bodies(self.shapes, bodies, total, out)
            if total + between <= contacts.room:
                contacts.resize(pairs, total, between)
                if self.visits is not None:
                    self.visits.add(contacts.a, pairs)
                return
            contacts.reserve((total + between) * 17 // 16)

    def _find_between_bodies(self, shapes: BodyShapes, bodies: Bodies, first: int, out: Touching) -> int:
        """Contacts of bodies behind the ``first`` ones; returns how many."""
        count = 64
        while True:
            room = self.contacts.room_for_bodies(count)
            count = call(find_body_contacts, bodies.arrays, self.walls, shapes, self.ahead, first, out, room)
            if count <= len(room.point):
                return count

    def checkpoint(self) -> dict[str, Any]:
        """All that the next step depends on."""
        c = self.contacts
        return {
            "neighbours": self.neighbours.checkpoint(),
            "where": self._where,
            "pairs": c.pair_count,
            **{name: getattr(c, name) for name in CARRIED},
            "between_bodies": {**c.of_bodies._asdict(), "point": c.point},
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        self.neighbours.restore(saved["neighbours"])
        self._where = np.array(saved["where"])
        c, between = self.contacts, saved["between_bodies"]
        c.reserve(len(saved["a"]) + len(between["a"]))
        c.room_for_bodies(len(between["a"]))
        c.resize(saved["pairs"], len(saved["a"]), len(between["a"]))
        for name in CARRIED:
            getattr(c, name)[:], getattr(c.of_bodies, name)[:] = saved[name], between[name]
        c.point[:] = between["point"]

    def keep(self, new_row: IntArray) -> None:
        """Grains leave: ``new_row`` (N,) is the new row of each, or -1. The others keep their contacts and impulses."""
        c = self.contacts
        kept = still_there(new_row, c.a, c.b)
        first, count = self._where[:, :, new_row[: self._where.shape[2]] >= 0]
        self._where = np.ascontiguousarray(np.stack(closed_up(first, count, kept)))  # whose order in memory was that of the mask
        c.keep(kept, new_row)
        self.neighbours.keep(new_row)
