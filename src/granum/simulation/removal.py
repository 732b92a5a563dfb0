"""Removal: grains that came into a sink leave the run, some at a time.

Each removal moves all rows of the state, so grains wait in their sink and move on until one of three things happens: ``MANY`` wait (or
``PART`` of all grains, if that is more), a step comes whose number is a multiple of ``EVERY``, or one of them has got out of its
sink again. Who waits is part of a checkpoint. A grain counts from the step on in which it came in, waiting or gone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array_types import FloatArray, IntArray, LongArray
from ..detection.images import in_cell
from ..detection.regions import find_inside, region_table
from ..scene.sink import Sink
from ..state.bodies import Bodies
from .counting import Counted

MANY, PART, EVERY = 16, 0.01, 20
NOBODY = np.zeros(0, np.int32)


class Removal:
    """The sinks at work: ``count`` (K,) grains and ``mass`` (K,) [kg] that each has taken out, and who waits in them."""

    def __init__(self, sinks: tuple[Sink, ...]) -> None:
        self.sinks = sinks
        self.count, self.mass = np.zeros(len(sinks), np.int64), np.zeros(len(sinks))
        self._table = region_table([sink.region for sink in sinks])
        self._waiting, self._sink = NOBODY, NOBODY  # rows of the grains and the sink that each came into

    def due(self, bodies: Bodies, step: int, period: FloatArray | None) -> IntArray:
        """Rows of the grains that are to leave before step number ``step``, in order; they are counted as gone."""
        if not len(self.sinks):
            return NOBODY
        self._waiting, self._sink, gets_out = self._look(bodies, period)
        many = len(self._waiting) >= max(MANY, PART * bodies.grain_count)
        if not len(self._waiting) or not (gets_out or step % EVERY == 0 or many):
            return NOBODY
        self.count += self._grains(self._sink)
        self.mass += self._mass(bodies, self._waiting, self._sink)
        rows, self._waiting, self._sink = np.sort(self._waiting), NOBODY, NOBODY
        return rows

    def _look(self, bodies: Bodies, period: FloatArray | None) -> tuple[IntArray, IntArray, bool]:
        """Who waits now, those who have just come in last; the sink of each; and whether one has got out of its sink again."""
        inside = np.empty(bodies.grain_count, np.int32)
        found = find_inside(in_cell(bodies.position, bodies.first_grain, period), bodies.first_grain, self._table, inside)
        if not found and not len(self._waiting):
            return NOBODY, NOBODY, False
        yields = bodies.inverse_mass[bodies.grains] > 0
        new = np.setdiff1d(np.flatnonzero((inside >= 0) & yields), self._waiting).astype(np.int32)
        gets_out = bool((inside[self._waiting] < 0).any())
        return np.concatenate([self._waiting, new]), np.concatenate([self._sink, inside[new]]), gets_out

    def _grains(self, sink: IntArray) -> LongArray:
        """(K,) how many are in each sink."""
        return np.bincount(sink, minlength=len(self.sinks))

    def _mass(self, bodies: Bodies, rows: IntArray, sink: IntArray) -> FloatArray:
        """(K,) [kg] of them."""
        return np.asarray(np.bincount(sink, 1 / bodies.inverse_mass[bodies.grains][rows], len(self.sinks)), np.float64)

    def found(self, bodies: Bodies, period: FloatArray | None) -> dict[str, Counted]:
        """What has come into each sink up to now, by name, gone or not. A removal changes nothing of it, to the last bit."""
        if not len(self.sinks):
            return {}
        rows, sink, _ = self._look(bodies, period)
        waiting = self._grains(sink)
        numbers = zip(self.sinks, self.count + waiting, self.mass + self._mass(bodies, rows, sink), waiting, strict=True)
        return {one.name: Counted(int(n), float(m), waiting=int(w)) for one, n, m, w in numbers}

    def checkpoint(self) -> dict[str, Any]:
        return {"count": self.count, "mass": self.mass, "waiting": self._waiting, "sink": self._sink}

    def restore(self, saved: dict[str, Any]) -> None:
        self.count, self.mass = np.array(saved["count"]), np.array(saved["mass"])
        self._waiting, self._sink = np.array(saved["waiting"]), np.array(saved["sink"])
