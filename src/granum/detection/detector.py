"""The detector: contacts of every step, from a neighbour list that is made anew only when a grain has left its skin."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._jit import FloatArray
from ..state.bodies import Bodies
from ..state.contacts import Contacts
from .cells import Cells, file_in_cells
from .narrow import find_pair_contacts, gather_sorted
from .pairs import append_candidates, find_candidates, who_searches
from .persistence import carry_over
from .walls import WallTable, find_wall_contacts

SKIN = 0.1          # of the radius: what a resting grain may creep before the list is made anew
STEPS_AHEAD = 8     # steps that a moving grain's skin should last
SLOW_STEPS_AHEAD, SLOW_SKIN = 25, 0.5  # a slow grain's skin lasts longer, as long as it is thinner than this part of the radius
CARRIED = ("a", "b", "feature", "normal", "overlap", "impulse", "rebound")  # of contacts, in a checkpoint


class Detector:
    """Finds the contacts of each step and gives them what they carried in the last.

    ``contacts`` is this step's result; ``order`` and ``rank`` (N,) the grains along the Morton curve; ``same`` whether contacts and
    order are those of the last step; ``through`` a contact whose grain went through its wall, or -1; ``rebuilds`` counts the lists made.
    """

    def __init__(self, walls: WallTable) -> None:
        self.walls = walls
        self.contacts, self._last = Contacts(), Contacts()
        self._where = np.zeros((2, 2, 0), np.int32)       # first and count, pairs and walls, of each grain
        self._last_where = np.zeros((2, 2, 0), np.int32)
        self.order = self.rank = np.zeros(0, np.int32)
        self.reference = np.zeros((0, 3))
        self.skin = np.zeros(0)
        self._sphere = np.zeros((0, 4))
        self._candidate_first, self._candidate = np.zeros(1, np.int32), np.zeros(256, np.int32)
        self.same = False
        self.through = -1
        self.rebuilds = 0
        self.listed = 0  # grains of the last whole list; later ones were appended

    def detect(self, bodies: Bodies, h: float) -> Contacts:
        """Contacts of the bodies where they are now; ``h`` [s] is the step they are about to take."""
        new = bodies.grain_count - len(self.order)
        if new:
            self._list_new(bodies, *self._reference_of(bodies, h, new))
        rebuilt = not self._gather(bodies)
        if rebuilt or (len(self.order) > self.listed * 3 // 2):
            self._rebuild(bodies, *self._reference_of(bodies, h, bodies.grain_count))
            self._gather(bodies)
        self.contacts, self._last = self._last, self.contacts
        self._where, self._last_where = self._last_where, self._where
        self._find(bodies)
        c, old = self.contacts, self._last
        same, self.through = carry_over(
            c.a, c.b, c.feature, c.normal, old.b, old.feature, old.normal, old.impulse, old.rebound, self._last_where[0],
            self._last_where[1], c.impulse, c.rebound,
        )  # fmt: skip
        self.same = same and not rebuilt and not new
        return c

    def _reference_of(self, bodies: Bodies, h: float, newest: int) -> tuple[FloatArray, FloatArray]:
        """Places and skins [m] of the ``newest`` grains: a grain's skin lasts some steps at its speed."""
        own = slice(bodies.body_count - newest, bodies.body_count)
        v = bodies.velocity[own]
        radius, step = bodies.radius[bodies.grain_count - newest :], h * np.sqrt(np.einsum("ij,ij->i", v, v))
        ahead = np.maximum(STEPS_AHEAD * step, np.minimum(SLOW_STEPS_AHEAD * step, SLOW_SKIN * radius))
        return bodies.position[own].copy(), np.maximum(SKIN * radius, ahead)

    def _list_new(self, bodies: Bodies, reference: FloatArray, skin: FloatArray) -> None:
        """Append new grains at the end of the order, each with all earlier grains in its reach: no new list is needed."""
        old = len(self.order)
        count = old + len(reference)
        self.reference, self.skin = np.concatenate([self.reference, reference]), np.concatenate([self.skin, skin])
        new = np.arange(old, count, dtype=np.int32)
        self.order, self.rank = np.concatenate([self.order, new]), np.concatenate([self.rank, new])
        self._sphere = np.zeros((count, 4))
        first = np.zeros(count + 1, np.int32)
        first[: old + 1] = self._candidate_first
        self._candidate_first = first
        while True:
            found = append_candidates(
                self.reference, bodies.radius[:count] + self.skin, self.order, old, self._candidate_first, self._candidate
            )
            if found <= len(self._candidate):
                return
            self._candidate = np.concatenate([self._candidate[: first[old]], np.zeros(found, np.int32)])

    def _gather(self, bodies: Bodies) -> bool:
        return gather_sorted(
            bodies.position, bodies.wall_body_count, bodies.radius, self.order, self.reference, self.skin, self._sphere
        )

    def _rebuild(self, bodies: Bodies, reference: FloatArray, skin: FloatArray) -> None:
        """A new list, a function of the positions and skins alone, so that a restart can make the same one."""
        self.reference, self.skin = reference, skin
        count = self.listed = len(reference)
        self._sphere = np.zeros((count, 4))
        self._candidate_first = np.zeros(count + 1, np.int32)
        self.rebuilds += 1
        if count == 0:
            self.order = self.rank = np.zeros(0, np.int32)
            return
        reach = bodies.radius[:count] + skin
        cells = file_in_cells(reference, 0, reach)
        self.order = cells.order
        self.rank = np.empty(count, np.int32)
        self.rank[cells.order] = np.arange(count, dtype=np.int32)
        self._search(reference, reach, cells)

    def _search(self, reference: FloatArray, reach: FloatArray, cells: Cells) -> None:
        looks = who_searches(cells)
        while True:
            found = find_candidates(
                reference, 0, reach, cells.order, cells.level, cells.width, cells.reach, looks, cells.table, cells.start,
                cells.filed, cells.code, self._candidate_first, self._candidate,
            )  # fmt: skip
            if found <= len(self._candidate):
                return
            self._candidate = np.zeros(found * 5 // 4, np.int32)

    def _find(self, bodies: Bodies) -> None:
        """Narrow phase of pairs, then walls; once more with more room if there was too little."""
        contacts = self.contacts
        if self._where.shape[2] != bodies.grain_count:
            self._where = np.zeros((2, 2, bodies.grain_count), np.int32)
        first, count = self._where
        while True:
            out = [contacts.whole(name) for name in ("a", "b", "feature", "normal", "overlap")]
            pairs = find_pair_contacts(
                self._sphere, self.order, self._candidate_first, self._candidate, bodies.inverse_mass,
                bodies.wall_body_count, *out, first[0], count[0],
            )  # fmt: skip
            total = find_wall_contacts(
                self.order, bodies.position, bodies.orientation, bodies.radius, bodies.inverse_mass, bodies.wall_body_count,
                self.walls, pairs, *out, first[1], count[1],
            )  # fmt: skip
            if total <= contacts.room:
                contacts.resize(pairs, total)
                return
            contacts.reserve(total * 17 // 16)

    def checkpoint(self) -> dict[str, Any]:
        """All that the next step depends on."""
        c = self.contacts
        return {
            "reference": self.reference, "skin": self.skin, "listed": self.listed, "where": self._where, "pairs": c.pair_count,
            **{name: getattr(c, name) for name in CARRIED},
        }  # fmt: skip

    def restore(self, bodies: Bodies, saved: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        listed = saved["listed"]
        self._rebuild(bodies, saved["reference"][:listed], saved["skin"][:listed])
        if len(saved["skin"]) > listed:
            self._list_new(bodies, saved["reference"][listed:], saved["skin"][listed:])
        self._where = saved["where"]
        self.contacts.reserve(len(saved["a"]))
        self.contacts.resize(saved["pairs"], len(saved["a"]))
        for name in CARRIED:
            getattr(self.contacts, name)[:] = saved[name]
