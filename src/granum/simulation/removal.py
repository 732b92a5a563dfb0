"""Removal: grains that came into a sink leave the run, some at a time.

Each removal moves all rows of the state, so grains wait in their sink and move on until one of three things happens: ``MANY`` wait (or
``PART`` of all grains, if that is more), a step comes whose number is a multiple of ``EVERY``, or one of them has got out of its
sink again. Who waits is part of a checkpoint.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array_types import FloatArray, IntArray
from ..detection.images import in_cell
from ..detection.regions import find_inside, region_table
from ..scene.sink import Sink
from ..state.bodies import Bodies

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
        inside = np.empty(bodies.grain_count, np.int32)
        found = find_inside(in_cell(bodies.position, bodies.first_grain, period), bodies.first_grain, self._table, inside)
        if not found and not len(self._waiting):
            return NOBODY
        inverse = bodies.inverse_mass[bodies.grains]
        new = np.setdiff1d(np.flatnonzero((inside >= 0) & (inverse > 0)), self._waiting).astype(np.int32)
        gets_out = bool((inside[self._waiting] < 0).any())
        self._waiting, self._sink = np.concatenate([self._waiting, new]), np.concatenate([self._sink, inside[new]])
        if not (gets_out or step % EVERY == 0 or len(self._waiting) >= max(MANY, PART * bodies.grain_count)):
            return NOBODY
        rows = self._waiting
        self.count += np.bincount(self._sink, minlength=len(self.sinks))
        self.mass += np.bincount(self._sink, 1 / inverse[rows], len(self.sinks))
        self._waiting, self._sink = NOBODY, NOBODY
        return np.sort(rows)

    def checkpoint(self) -> dict[str, Any]:
        return {"count": self.count, "mass": self.mass, "waiting": self._waiting, "sink": self._sink}

    def restore(self, saved: dict[str, Any]) -> None:
        self.count, self.mass = np.array(saved["count"]), np.array(saved["mass"])
        self._waiting, self._sink = np.array(saved["waiting"]), np.array(saved["sink"])
