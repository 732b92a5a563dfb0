"""The detector: contacts of every step, from the neighbour list, with what they carried in the last step."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array_types import FloatArray, IntArray
from ..kernel_groups import call
from ..parallel import ONE, Team
from ..state.bodies import Bodies
from ..state.contacts import ContactArrays, Contacts, closed_up, still_there
from ..state.rooms import Rooms, with_spare
from .body_contacts import carry_over_bodies, find_body_contacts
from .body_shapes import BodyShapes
from .find import Cell, Looks, Noted, find_contacts
from .narrow import fill_spheres
from .neighbours import FEW, NeighbourList
from .past import KNOWN, NEXT, WAITS, Past
from .prediction import NOTHING_AHEAD, Ahead
from .selection import Selection
from .wall_table import WallTable

NOBODY = np.zeros(0, np.int32)
SPARE = 1024  # contacts: places that the solve leaves empty, where it works in the room of their impulses
CARRIED = ContactArrays._fields
"""What contacts carry into the next step, in a checkpoint."""


class Detector:
    """Finds the contacts of each step and gives them what they carried in the last.

    ``contacts`` is this step's result; ``same`` whether they and the order of the grains are those of the last step; ``through`` a contact
    whose grain went through its wall, or -1; ``place`` where grains meet walls: their positions, in the cell if there is one (``period``).
    ``had_contacts``: whether there were any in the step before; ``last_sides``, with ``visits``, who they were between.
    ``order`` grains of the packed slots, ``slot`` (N,) the slot of each grain. ``visits`` says who is looked at, if not all are; ``shapes``
    which bodies may touch each other, none: none may.
    """

    def __init__(
        self,
        walls: WallTable,
        team: Team = ONE,
        period: FloatArray | None = None,
        origin: FloatArray | None = None,
        rooms: Rooms | None = None,
    ) -> None:
        self.walls, self.team, self.period = walls, team, period
        self.rooms = rooms = rooms if rooms is not None else Rooms()
        self.place = np.zeros((0, 3))
        self.contacts = Contacts()
        self._noted, self._noted_of = _noted(self.contacts, 0), 0  # of how many grains
        self._past = Past.of(np.zeros(KNOWN, np.int64), rooms.lanes, 0, 0, 0)
        self._room_aside = 0, 0, 0
        self._last_between = self.contacts.of_bodies
        self.last_sides: tuple[IntArray, IntArray] = NOBODY, NOBODY
        self.had_contacts = False
        self.neighbours = NeighbourList(team=team, period=period, origin=origin, room=rooms.bodies)
        self.visits: Selection | None = None
        self.shapes: BodyShapes | None = None
        self._looks: Looks | None = None
        self.same = False
        self.through = -1
        self.ahead = NOTHING_AHEAD

    def detect(self, bodies: Bodies, h: float, ahead: Ahead = NOTHING_AHEAD) -> Contacts:
        """Contacts of the bodies where they are now; ``h`` [s] is the step they are about to take.

        With ``ahead`` those that this step can close count too: they have minus their gap as overlap.
        """
        near, self.ahead = self.neighbours, ahead
        near.settle_room()
        self._put_aside()
        try:
            return self._search(bodies, h, near, ahead)
        except BaseException:  # Ctrl-C in a notebook, where somebody may step on: contacts that are half found are none
            self.contacts.resize(0, 0)
            self._noted.number[:] = 0
            self._past.known[NEXT:WAITS] = 0
            raise

    def _search(self, bodies: Bodies, h: float, near: NeighbourList, ahead: Ahead) -> Contacts:
        """Of all grains, or of those that are visited."""
        if self.visits is not None:
            return self._look(bodies, near.update(bodies, h, max(ahead.step, ahead.time), ahead.fall))
        relisted = near.list_new(bodies, h, ahead.fall)
        looks = self._looks_at(bodies, near.live)
        left = self._find(bodies, looks)
        if left:
            near.list_left(bodies, h, looks.left[:left])
            self._find(bodies, self._looks_at(bodies, near.live)._replace(left=NOBODY))
        self.same &= not (relisted or left)
        return self.contacts

    def look_again(self, bodies: Bodies) -> Contacts:
        """Contacts of this step once more, after grains have changed their bodies."""
        return self._look(bodies, True)

    @property
    def order(self) -> IntArray:
        return self.neighbours.order if self.visits is None else self.visits.who

    @property
    def slot(self) -> IntArray:
        return self.neighbours.rank if self.visits is None else self.visits.slot

    def _put_aside(self) -> None:
        """Contacts become those of the last step: room for what they carry, which the search takes down before anything else."""
        c, past, (room, walls, grains) = self.contacts, self._past, self._room_aside
        count, at_walls, between = c.contact_count, c.contact_count - c.pair_count, c.body_contact_count
        self.had_contacts = count > 0 or between > 0
        if count > room or at_walls > walls or self._noted_of > grains or past.rebound.base is not self.rooms.lanes.search:
            self._room_aside = c.room, with_spare(at_walls), with_spare(self._noted_of)
            self._past = past = Past.of(past.known, self.rooms.lanes, *self._room_aside)
        past.known[WAITS] = 1
        if between or len(self._last_between.a):
            copies: list[Any] = [values.copy() for values in c.of_bodies]
            self._last_between = ContactArrays(*copies)
        if self.visits is not None:
            self.last_sides = c.a.copy(), c.b.copy()

    def _look(self, bodies: Bodies, relisted: bool) -> Contacts:
        visits = self.visits
        if visits is None:
            self._find(bodies, self._looks_at(bodies, self.neighbours.live)._replace(left=NOBODY))
        else:
            relisted |= visits.stale
            self._visit(visits, bodies, relisted)
            self._find(bodies, self._looks_at(bodies, visits.at_walls), visits.rank)
            visits.add(self.contacts.a, self.contacts.pair_count)
        self.same &= not relisted
        return self.contacts

    def _visit(self, visits: Selection, bodies: Bodies, relisted: bool) -> None:
        """Who is looked at in this step, and where they are."""
        near = self.neighbours
        if relisted:
            visits.update(near)
        ahead = self.ahead
        time = max(ahead.step, ahead.time)
        call(fill_spheres, visits.rank, bodies.arrays, bodies.grain_arrays, near.arrays, time, ahead.fall)
        visits.number(near.order)

    def _looks_at(self, bodies: Bodies, at_walls: IntArray) -> Looks:
        """Who is looked at, for kernels."""
        near, looks = self.neighbours, self._looks
        known = looks is not None and looks.near is near.arrays and looks.at_walls is at_walls and looks.id is bodies.id
        if looks is None or not known or looks.hit.base is not self.rooms.before.search:
            hit = self.rooms.before.for_search((len(near.candidate) + 1) // 2).view(np.int32)
            looks = self._looks = Looks(near.arrays, near.reference, near.skin, at_walls, bodies.id, hit, np.empty(FEW + 1, np.int32))
        return looks

    def _find(self, bodies: Bodies, looks: Looks, visit: IntArray | None = None) -> int:
        """The contacts, once more with more room if there was too little; returns how many grains have left their skin.

        If there are any, nothing was found, unless there is no room for their names.
        """
        contacts, grains = self.contacts, bodies.grain_count
        if self._noted_of != grains:
            self._noted, self._noted_of = _noted(contacts, grains, self._noted), grains
        cell, self.place = None, bodies.position
        if self.period is not None:
            self.place = np.empty_like(bodies.position)
            cell = Cell(self.period, self.place)
        ahead = self.ahead
        while True:
            left, pairs, total, same, self.through = self.team.run(
                find_contacts,
                grains if visit is None else max(len(visit), len(looks.at_walls)),
                bodies.arrays,
                bodies.grain_arrays,
                self.walls,
                visit,
                ahead,
                self._past,
                looks,
                cell,
                self._noted,
            )
            self.same = same
            if left:
                return min(left, len(looks.left))
            between = 0 if self.shapes is None else self._find_between_bodies(self.shapes, bodies, total)
            if total + between + SPARE <= contacts.room:
                contacts.resize(pairs, total, between)
                if between or len(self._last_between.a):
                    self.same &= call(carry_over_bodies, self._last_between, contacts.of_bodies, ahead.fall)
                return 0
            contacts.reserve(with_spare(total + between) + SPARE)
            self._noted = self._noted._replace(contacts=contacts.whole)

    def _find_between_bodies(self, shapes: BodyShapes, bodies: Bodies, first: int) -> int:
        """Contacts of bodies behind the ``first`` ones, if there is room; returns how many there are."""
        contacts, count = self.contacts, 64
        while True:
            points = contacts.room_for_bodies(count)
            count = call(find_body_contacts, bodies.arrays, self.walls, shapes, self.ahead, first, contacts.whole, points)
            if count <= len(points):
                return count

    def checkpoint(self) -> dict[str, Any]:
        """All that the next step depends on."""
        c = self.contacts
        return {
            "neighbours": self.neighbours.checkpoint(),
            "where": np.stack(self._noted[1:]),
            "pairs": c.pair_count,
            **{name: getattr(c, name) for name in CARRIED},
            "between_bodies": {**c.of_bodies._asdict(), "point": c.body_points},
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        self.neighbours.restore(saved["neighbours"])
        c, between = self.contacts, saved["between_bodies"]
        c.reserve(len(saved["a"]) + len(between["a"]))
        c.room_for_bodies(len(between["a"]))
        c.resize(saved["pairs"], len(saved["a"]), len(between["a"]))
        self._noted, self._noted_of = Noted(c.whole, *np.array(saved["where"])), saved["where"].shape[-1]
        self._past.known[NEXT:WAITS] = c.contact_count, c.pair_count, self._noted_of
        for name in CARRIED:
            getattr(c, name)[:], getattr(c.of_bodies, name)[:] = saved[name], between[name]
        c.body_points[:] = between["point"]

    def keep(self, new_row: IntArray) -> None:
        """Grains leave: ``new_row`` (N,) is the new row of each, or -1. The others keep their contacts and impulses."""
        c, (whole, first, number) = self.contacts, self._noted
        kept, stays = still_there(new_row, c.a, c.b), new_row[: first.shape[1]] >= 0
        # whose order in memory is that of the mask
        self._noted = Noted(whole, *map(np.ascontiguousarray, closed_up(first[:, stays], number[:, stays], kept)))
        c.keep(kept, new_row)
        self._noted_of = self._noted.first.shape[1]
        self._past.known[NEXT:WAITS] = c.contact_count, c.pair_count, self._noted_of
        self.neighbours.keep(new_row)


def _noted(contacts: Contacts, grains: int, known: Noted | None = None) -> Noted:
    """With room for so many grains; of the first ones as it is ``known``."""
    first, number = np.zeros((2, grains), np.int32), np.zeros((2, grains), np.int32)
    if known is not None:
        count = min(grains, known.first.shape[1])
        first[:, :count], number[:, :count] = known.first[:, :count], known.number[:, :count]
    return Noted(contacts.whole, first, number)
