"""Counting: what sinks and counters have seen so far, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..array_types import FloatArray
from ..detection.crossings import count_crossings, face_table
from ..scene.counter import Counter
from ..state.bodies import Bodies


@dataclass(frozen=True)
class Counted:
    """What one sink or counter has seen since the start of the run; of a counter along its normal, minus what came back."""

    count: int
    """Grains."""
    mass: float
    """[kg]"""
    count_back: int = 0
    """Grains that went against the normal of a counter, which ``count`` is less by,"""
    mass_back: float = 0.0
    """and their mass [kg]."""
    waiting: int = 0
    """Grains of a sink that are counted and still there: they leave some steps later, many together."""


class Counting:
    """The counters at work: ``count`` (K, 2) grains and ``mass`` (K, 2) [kg] that have passed each along its normal, and against it."""

    def __init__(self, counters: tuple[Counter, ...]) -> None:
        self.counters = counters
        self.count, self.mass = np.zeros((len(counters), 2), np.int64), np.zeros((len(counters), 2))
        self._table = face_table([counter.region for counter in counters])
        self._before = np.zeros((0, 3))

    def before_step(self, bodies: Bodies) -> None:
        """Keep where grains are."""
        if len(self._before) != bodies.grain_count:
            self._before = np.empty((bodies.grain_count, 3))
        self._before[:] = bodies.position[bodies.grains]

    def after_step(self, bodies: Bodies, period: FloatArray | None) -> None:
        """Count who has passed since; nobody has come or gone."""
        count_crossings(self._before, bodies.position, bodies.first_grain, bodies.inverse_mass, self._table, period, self.count, self.mass)

    @property
    def found(self) -> dict[str, Counted]:
        """By name."""
        rows = zip(self.counters, self.count.tolist(), self.mass.tolist(), strict=True)
        return {one.name: Counted(on - back, mass - mass_back, back, mass_back) for one, (on, back), (mass, mass_back) in rows}

    def checkpoint(self) -> dict[str, Any]:
        return {"count": self.count, "mass": self.mass}

    def restore(self, saved: dict[str, Any]) -> None:
        self.count, self.mass = np.array(saved["count"]), np.array(saved["mass"])
