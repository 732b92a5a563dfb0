"""The detector: contacts of every step, from the neighbour list, with what they carried in the last step."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array_types import FloatArray, IntArray
from ..parallel import ONE, Team
from ..state.bodies import Bodies
from ..state.contacts import Contacts, closed_up, still_there
from .images import in_cell
from .narrow import find_pair_contacts
from .neighbours import NeighbourList
from .persistence import carry_over
from .prediction import Ahead, keep_first_meetings
from .visits import Visits, fill_spheres
from .walls import WallTable, find_wall_contacts

CARRIED = ("a", "b", "feature", "normal", "overlap", "impulse", "rebound")  # of contacts, in a checkpoint


class Detector:
    """Finds the contacts of each step and gives them what they carried in the last.

    ``contacts`` is this step's result; ``same`` whether they and the order of the grains are those of the last step; ``through`` a contact
    whose grain went through its wall, or -1; ``place`` where grains meet walls: their positions, in the cell if there is one (``period``).
    ``order`` grains of the packed slots, ``slot`` (N,) the slot of each grain. With ``visits`` grains of an aggregate do not meet.
    """

    def __init__(self, walls: WallTable, team: Team = ONE, period: FloatArray | None = None) -> None:
        self.walls, self.team, self.period = walls, team, period
        self.place = np.zeros((0, 3))
        self.contacts, self._last = Contacts(), Contacts()
        self._where = np.zeros((2, 2, 0), np.int32)  # first and count, pairs and walls, of each grain
        self._last_where = np.zeros((2, 2, 0), np.int32)
        self.neighbours = NeighbourList(team=team, period=period)
        self.visits: Visits | None = None
        self._hit = np.zeros(0, np.int32)  # room to work in
        self.same = False
        self.through = -1
        self.ahead: Ahead | None = None

    def detect(self, bodies: Bodies, h: float, ahead: Ahead | None = None) -> Contacts:
        """Contacts of the bodies where they are now; ``h`` [s] is the step they are about to take.

        With ``ahead`` those that this step can close count too: they have minus their gap as overlap.
        """
        self.ahead = ahead
        relisted = self.neighbours.update(bodies, h, *((max(ahead.step, ahead.time), ahead.fall) if ahead is not None else ()))
        self.contacts, self._last = self._last, self.contacts
        self._where, self._last_where = self._last_where, self._where
        return self._look(bodies, relisted)

    def look_again(self, bodies: Bodies) -> Contacts:
        """Contacts of this step once more, after aggregates have changed."""
        return self._look(bodies, True)

    @property
    def _reach(self) -> tuple[float, float, float, float]:
        """Step and time [s], fall [m] and speed of collisions [m/s] of what is looked at ahead."""
        a = self.ahead
        return (a.step, a.time, a.fall, a.impact) if a is not None else (0.0, 0.0, 0.0, 0.0)

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
        self.place = in_cell(bodies.position, bodies.wall_body_count, self.period)
        if self.visits is not None:
            relisted |= self.visits.stale
            self._visit(self.visits, bodies, relisted)
        self._find(bodies)
        if self.ahead is not None:
            c = self.contacts
            keep_first_meetings(
                c.a, c.b, c.normal, bodies.radius, bodies.wall_body_count, self.walls.body, self.place, self.ahead, c.overlap
            )
        c, old = self.contacts, self._last
        same, self.through = self.team.run(
            carry_over,
            c.contact_count,
            c.a,
            c.b,
            c.feature,
            c.normal,
            c.overlap,
            self.ahead.fall if self.ahead is not None else 0.0,
            old.b,
            old.feature,
            old.normal,
            old.overlap,
            old.impulse,
            old.rebound,
            self._last_where[0],
            self._last_where[1],
            c.impulse,
            c.rebound,
        )
        self.same = same and not relisted
        return c

    def _visit(self, visits: Visits, bodies: Bodies, relisted: bool) -> None:
        """Who is looked at in this step, and where they are."""
        near = self.neighbours
        if relisted:
            visits.update(near)
        step, time, fall, _ = self._reach
        fill_spheres(
            visits.rank,
            near.order,
            bodies.position,
            bodies.velocity,
            bodies.wall_body_count,
            bodies.radius,
            max(step, time),
            fall,
            near.sphere,
        )
        visits.number(near.order)

    def _find(self, bodies: Bodies) -> None:
        """Narrow phase of pairs, then walls; once more with more room if there was too little."""
        contacts, near = self.contacts, self.neighbours
        if self._where.shape[2] != bodies.grain_count:
            self._where = np.zeros((2, 2, bodies.grain_count), np.int32)
        if len(self._hit) < len(near.candidate):
            self._hit = np.empty_like(near.candidate)
        first, count = self._where
        visit = aggregate = wall_aggregate = None
        at_walls = near.live
        if self.visits is not None:
            visit, at_walls = self.visits.rank, self.visits.at_walls
            aggregate, wall_aggregate = self.visits.aggregate, self.visits.wall_aggregate
            count[:] = 0  # of grains that are not visited
        while True:
            out = [contacts.whole(name) for name in ("a", "b", "feature", "normal", "overlap")]
            pairs = self.team.run(
                find_pair_contacts,
                len(near.order if visit is None else visit),
                near.sphere,
                near.order,
                near.candidate_first,
                near.candidate,
                bodies.movable,
                bodies.wall_body_count,
                visit,
                aggregate,
                self.period,
                *self._reach,
                self._hit,
                *out,
                first[0],
                count[0],
            )
            total = self.team.run(
                find_wall_contacts,
                len(at_walls),
                at_walls,
                self.place,
                bodies.orientation,
                bodies.radius,
                bodies.movable,
                bodies.wall_body_count,
                aggregate,
                wall_aggregate,
                self.walls,
                pairs,
                *out,
                first[1],
                count[1],
                self.ahead,
            )
            if total <= contacts.room:
                contacts.resize(pairs, total)
                if self.visits is not None:
                    self.visits.add(contacts.a, pairs)
                return
            contacts.reserve(total * 17 // 16)

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
        self._where = saved["where"]
        self.contacts.reserve(len(saved["a"]))
        self.contacts.resize(saved["pairs"], len(saved["a"]))
        for name in CARRIED:
            getattr(self.contacts, name)[:] = saved[name]

    def keep(self, new_row: IntArray) -> None:
        """Grains leave: ``new_row`` (N,) is the new row of each, or -1. The others keep their contacts and impulses."""
        c = self.contacts
        kept = still_there(new_row, c.a, c.b)
        first, count = self._where[:, :, new_row[: self._where.shape[2]] >= 0]
        self._where = np.stack(closed_up(first, count, kept))
        c.keep(kept, new_row)
        self.neighbours.keep(new_row)
