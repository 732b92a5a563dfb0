"""The neighbour list: which grains may touch before one of them has left its skin.

Grains stand in the list by rank, along the Morton curve of the moment it was made. A new grain, or one of the few that leave their skin
early, is appended at the end with all others in its reach, and its old rank is left empty: so a single grain that falls does not make
the whole list anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arithmetic import length, product
from ..array_types import FloatArray, IntArray
from ..kernel_groups import call
from ..parallel import LIGHT, ONE, Team
from ..state.bodies import Bodies
from ..state.rooms import Room, with_spare
from .cells import Cells, file_in_cells
from .images import in_cell
from .narrow import Candidates, Skins, fill_spheres, gather_sorted, left_skin
from .pairs import append_candidates, append_near, find_candidates, who_searches
from .selection import Selection

FEW = 16  # grains that are appended in one step; more are cheaper to list all together
FEW_NEAR = 256  # the same where many grains rest as parts of one body
APPENDED = 0.05  # of all grains: when more than this part has been appended, the list is made anew
APPENDED_NEAR = 0.25
NO_LEVELS = np.zeros(0, np.int32)
SPHERE = 8  # numbers of a grain that the search for contacts reads


@dataclass(frozen=True)
class Skin:
    """How far grains may go before they must be listed anew."""

    least: float = 0.2
    """Part of the radius that a resting grain may creep."""
    ahead: int = 8
    """Steps that a moving grain's skin should last."""
    slow_ahead: int = 25
    slow_skin: float = 0.5
    """A slow grain's skin lasts ``slow_ahead`` steps, as long as it is thinner than this part of the radius."""


class NeighbourList:
    """Candidates by rank.

    ``order`` (R,) grain of each rank, -1 for an empty one; ``rank`` (N,) of each grain; candidates of rank k are
    ``candidate[candidate_first[k] : candidate_first[k + 1]]``, as ranks. ``sphere`` (R, 8) centre, radius, velocity and look-out by rank;
    ``arrays`` has these for kernels. ``live`` (N,) are the grains in the order of their ranks; ``rebuilds`` counts the whole lists made.
    In a cell (``period``) no grain reaches further than a quarter of it, so that two meet in one image at most.
    """

    def __init__(
        self,
        skin: Skin = Skin(),
        team: Team = ONE,
        period: FloatArray | None = None,
        origin: FloatArray | None = None,
        room: Room | None = None,
    ) -> None:
        """``origin`` (3,) [m] of the grid of cells; the scene decides it (``grid_origin``), none: 0. ``room``: of the spheres, which others
        use between two looks; none: one of its own."""
        self.rule, self.team, self.period = skin, team, period
        self.origin = np.zeros(3) if origin is None else origin
        self.furthest = np.inf if period is None else 0.25 * period[0, period[0] > 0].min()  # that a grain may reach [m]
        self.order = self.rank = self.live = np.zeros(0, np.int32)
        self.reference, self.skin = np.zeros((0, 3)), np.zeros(0)  # of each grain when it was listed [m]
        self._shared, self._own = room, Room()
        self.sphere = np.zeros((0, SPHERE))
        self.candidate_first, self.candidate = np.zeros(1, np.int32), np.zeros(256, np.int32)
        self.listed = 0  # ranks of the last whole list; later ones were appended
        self.rebuilds = 0
        self.fall = 0.0  # [m] that gravity may add to the way of a step
        self.visits: Selection | None = None
        self._cells: Cells | None = None  # of the last whole list; none after a restart
        self._show()

    def _show(self) -> None:
        """Arrays were replaced."""
        self.arrays = Candidates(self.order, self.candidate_first, self.candidate, self.sphere)

    @property
    def _room(self) -> Room:
        """Of the spheres; those that ``visits`` do not fill must stay."""
        return self._shared if self._shared is not None and self.visits is None else self._own

    def _spheres(self, ranks: int) -> FloatArray:
        """(ranks, 8) of them, as far as they are there."""
        known, numbers = self.sphere, ranks * SPHERE
        room = self._room.for_search(numbers)
        found = room[:numbers].reshape(ranks, SPHERE)
        if known.base is not room:
            found[: len(known)] = known[:ranks]
        return found

    def settle_room(self) -> None:
        """Go on in the room that is shared, if somebody has made it larger."""
        if self.sphere.base is not self._room.search:
            self.sphere = self._spheres(len(self.order))
            self._show()

    def update(self, bodies: Bodies, h: float, time: float = 0.0, fall: float = 0.0) -> bool:
        """Make the list hold for the bodies where they are now; ``h`` [s] is their next step. True if it has changed.

        It also holds for where they will be after ``time`` [s], with what gravity adds (``fall`` [m]).
        """
        changed = self.list_new(bodies, h, fall)
        left = self._gather(bodies, time, fall)
        if not len(left):
            return changed
        if self.list_left(bodies, h, left):
            self._gather(bodies, time, fall)
        else:
            appended = np.arange(len(self.order) - len(left), len(self.order), dtype=np.int32)
            call(fill_spheres, appended, bodies.arrays, bodies.grain_arrays, self.arrays, time, fall)
        return True

    def list_new(self, bodies: Bodies, h: float, fall: float) -> bool:
        """List the grains that are new; true if there are any."""
        self.fall = fall
        if len(self.rank) >= bodies.grain_count:
            return False
        new = np.arange(len(self.rank), bodies.grain_count, dtype=np.int32)
        if len(new) > self._few:
            self._list_all(bodies, h)
        else:
            self._append(bodies, h, new)
        return True

    def list_left(self, bodies: Bodies, h: float, left: IntArray) -> bool:
        """List the grains that have ``left`` their skin; true if the whole list was made anew."""
        few, most = self._few, APPENDED_NEAR if self._many_rest else APPENDED
        if len(left) > few or len(self.order) + len(left) > self.listed * (1 + most) + few:
            self._list_all(bodies, h)
            return True
        self._append(bodies, h, left)
        return False

    @property
    def _many_rest(self) -> bool:
        return self.visits is not None and self.visits.many_rest

    @property
    def _few(self) -> int:
        """Grains that are appended in one step."""
        return FEW_NEAR if self._many_rest else FEW

    def _gather(self, bodies: Bodies, time: float, fall: float) -> IntArray:
        """Fill ``sphere`` (with ``visits`` they do); returns the grains that have left their skin."""
        left = np.empty((FEW if self.visits is None else FEW_NEAR) + 1, np.int32)
        if self.visits is not None:
            skins, frame = Skins(self.reference, self.skin), (self.visits.resting, *self.visits.since_listed())
            count = call(left_skin, bodies.arrays, bodies.grain_arrays, self.order, skins, time, fall, *frame, left)
            return left[: min(count, len(left))]
        count = self.team.run(
            gather_sorted,
            len(self.order) // LIGHT,
            bodies.arrays,
            bodies.grain_arrays,
            self.arrays,
            Skins(self.reference, self.skin),
            time,
            fall,
            left,
        )
        return left[: min(count, len(left))]

    def _skin(self, bodies: Bodies, h: float, grains: IntArray) -> FloatArray:
        """(n,) of some grains [m]: it lasts some steps at their speed."""
        v, radius = bodies.velocity[bodies.first_grain + grains], bodies.radius[grains]
        step = h * length(v)
        ahead = np.maximum(self.rule.ahead * step, np.minimum(self.rule.slow_ahead * step, self.rule.slow_skin * radius))
        return np.minimum(np.maximum(self.rule.least * radius, ahead) + 0.5 * self.fall, self.furthest - radius)

    def _list_all(self, bodies: Bodies, h: float) -> None:
        """A new list of all grains."""
        count = self.listed = bodies.grain_count
        self.reference = bodies.position[bodies.grains].copy()
        self.skin = self._skin(bodies, h, np.arange(count, dtype=np.int32))
        self.rebuilds += 1
        if self.visits is not None:
            self.visits.settle()
        reach = bodies.radius + self.skin
        place = in_cell(self.reference, 0, self.period)
        cells = file_in_cells(place, reach, self.origin)
        self._cells = cells._replace(level=NO_LEVELS)  # of whom is looked for later, nobody asks
        self.order = self.live = cells.order
        self.rank = np.empty(count, np.int32)
        self.rank[cells.order] = np.arange(count, dtype=np.int32)
        self.sphere, self.candidate_first = self._spheres(count), np.zeros(count + 1, np.int32)
        looks, sorted_reach = who_searches(cells), np.empty((count, 4))
        while True:
            found = self.team.run(
                find_candidates,
                count,
                place,
                reach,
                cells,
                looks,
                self.period,
                sorted_reach,
                np.empty_like(self.candidate),
                self.candidate_first,
                self.candidate,
            )
            if found <= len(self.candidate):
                break
            self.candidate = np.zeros(with_spare(found), np.int32)
        self._show()

    def _append(self, bodies: Bodies, h: float, grains: IntArray) -> None:
        """List some grains, new ones or ones that have left their skin, at the end."""
        known, more = len(self.rank), int(np.count_nonzero(grains >= len(self.rank)))
        left = self.rank[grains[grains < known]]
        self.order[left], self.sphere[left, :3] = -1, np.inf
        if more:
            self.reference = np.concatenate([self.reference, np.zeros((more, 3))])
            self.skin = np.concatenate([self.skin, np.zeros(more)])
            self.rank = np.concatenate([self.rank, np.zeros(more, np.int32)])
        place = bodies.position[bodies.first_grain + grains]
        if self.visits is not None:  # as seen when the others were listed
            turned, shift = self.visits.since_listed()
            place = product(place - shift, turned)
        self.reference[grains] = place
        self.skin[grains] = self._skin(bodies, h, grains)
        if self.visits is not None:
            self.visits.note(grains)
        first = len(self.order)
        self.rank[grains] = np.arange(first, first + len(grains), dtype=np.int32)
        self.order = np.concatenate([self.order, grains])
        self.live = self.order[self.order >= 0]
        self.sphere = self._spheres(len(self.order))
        self.candidate_first = np.concatenate([self.candidate_first, np.zeros(len(grains), np.int32)])
        reach = bodies.radius[: len(self.skin)] + self.skin
        while True:
            if self._cells is not None and self.period is None:
                found = append_near(self.reference, reach, self.order, first, self._cells, self.candidate_first, self.candidate)
            else:
                found = append_candidates(self.reference, reach, self.order, first, self.period, self.candidate_first, self.candidate)
            if found <= len(self.candidate):
                break
            self.candidate = np.concatenate([self.candidate[: self.candidate_first[first]], np.zeros(found, np.int32)])
        self._show()

    def checkpoint(self) -> dict[str, Any]:
        """The whole list: a restarted run must visit the same pairs in the same order."""
        return {
            "order": self.order,
            "rank": self.rank,
            "reference": self.reference,
            "skin": self.skin,
            "listed": self.listed,
            "candidate_first": self.candidate_first,
            "candidate": self.candidate[: self.candidate_first[-1]],
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        for name in ("order", "rank", "reference", "skin", "candidate_first", "candidate"):
            setattr(self, name, np.array(saved[name]))
        self.listed = saved["listed"]
        self.live = self.order[self.order >= 0]
        self.sphere = self._spheres(len(self.order))
        self.sphere[self.order < 0, :3] = np.inf
        self._show()

    def keep(self, new_row: IntArray) -> None:
        """Grains leave: ``new_row`` (N,) is the new row of each, or -1. Their ranks become empty; the others keep theirs."""
        stays = new_row[: len(self.rank)] >= 0
        self.rank, self.reference, self.skin = self.rank[stays], self.reference[stays], self.skin[stays]
        self.order = np.where(self.order >= 0, new_row[self.order], -1).astype(np.int32)
        self.sphere[self.order < 0, :3] = np.inf
        self.live = self.order[self.order >= 0]
        self._show()
