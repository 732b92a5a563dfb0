"""Which grains that carriers hold no wall of another body can come to for some steps: nobody looks at these."""

from __future__ import annotations

import numpy as np

from ..arithmetic import dot, length, times
from ..array_types import BoolArray, IntArray
from ..detection.wall_table import CYLINDER, MESH
from ..detection.walls import find_wall_contacts
from ..parallel import ONE
from ..state.bodies import DYNAMIC
from ..state.contacts import Spans, Touching
from ..state.rotation import matrix
from .merged import Merged

WALL_STEPS = 20  # steps between two looks
SPARE = 0.5  # [largest radii] that walls which are pushed may go further than at their speed of now


class WallsReach:
    """Looks from time to time who is far from the walls of others, and sooner where these have gone as far as was allowed for."""

    def __init__(self, merged: Merged) -> None:
        self.merged = merged
        self.due = 0  # steps until the next look
        self.room = np.inf  # how far walls and carriers may go against each other until then [m]
        self.corners = np.zeros((2, 3))  # of the box around all grains that carriers hold [m]

    def follow(self, h: float, changed: bool) -> None:
        """A step of ``h`` [s] begins; ``changed``: a carrier moves otherwise than in the last one."""
        self.due -= 1
        if self.due > 0 and not changed and len(self.merged.bodies.dynamic):
            speed = self._speed()  # at which they have come here in the last step, and go on in this one
            self.room -= h * speed
            changed = self.room < 2 * h * speed  # of which one is for those that are looked for ahead
        if self.due <= 0 or changed:
            self.look(h)

    def _speed(self) -> float:
        """At which walls and what carriers hold can come nearer to each other at most [m/s]."""
        b, carriers = self.merged.bodies, self.merged.carriers
        at = b.position[:carriers]
        reach = np.maximum(np.abs(self.corners[0] - at), np.abs(self.corners[1] - at))
        speed = length(b.velocity[:carriers]) + length(b.spin[:carriers]) * length(reach)
        holds = b.kind[:carriers] != DYNAMIC
        return float(speed[holds].max(initial=0.0)) + float(speed[: b.wall_body_count].max(initial=0.0))

    def look(self, h: float) -> None:
        """Who is far now."""
        m, b, walls = self.merged, self.merged.bodies, self.merged.walls
        self.due, m.visits.stale = WALL_STEPS, True
        far = m.visits.far_from_walls = np.zeros(b.grain_count, bool)
        held = np.flatnonzero(m.held).astype(np.int32)
        if not len(held):
            self.room = np.inf
            return
        place = b.position[b.first_grain + held]
        self.corners = np.array([place.min(axis=0), place.max(axis=0)])
        self.room = (WALL_STEPS + 1) * h * self._speed()
        if len(b.dynamic):  # these may become faster
            self.room += SPARE * float(b.radius.max())
            self.corners += np.array([[-self.room], [self.room]])  # until then
        spans = Spans(np.zeros(b.grain_count, np.int32), np.zeros(b.grain_count, np.int32))
        wider = b.grain_arrays._replace(radius=b.radius + self.room)
        ONE.run(find_wall_contacts, 0, held, b.arrays, wider, walls, 0, None, Touching.room_for(0), spans)
        far[held] = (spans.number[held] == 0) & ~self._hidden(held)

    def _hidden(self, held: IntArray) -> BoolArray:
        """(n,) grains that may come to a wall that the search with larger grains does not find: it knows a mesh as far as its grid, and an
        open tube from inside."""
        m, b, walls = self.merged, self.merged.bodies, self.merged.walls
        tube = (walls.kind == CYLINDER) & np.isfinite(walls.parameter[:, 7]) & (walls.parameter[:, 8] == 0.0)
        found = (tube & (walls.body != np.arange(m.carriers)[:, None])).any(axis=1)[b.grain_body[held]]
        for k in np.flatnonzero(walls.kind == MESH):
            frame, low = walls.frame[k], walls.parameter[k, :3]
            high = low + walls.parameter[k, 3] * walls.parameter[k, 4:7]
            place = times(matrix(b.orientation[frame]).T, b.position[b.first_grain + held] - b.position[frame])
            beyond = np.maximum(np.maximum(low - place, place - high), 0.0)
            found |= (dot(beyond, beyond) <= self.room * self.room) & (b.grain_body[held] != walls.body[k])
        return found
