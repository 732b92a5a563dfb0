"""Energy of a run in time."""

from __future__ import annotations

import numpy as np

from .trigger import Trigger, steps
from .watched import Watched


class Energy:
    """Collects ``time`` [s], ``kinetic``, ``total`` (kinetic and gravitational) and ``elastic`` energy [J] as arrays."""

    def __init__(self, every: Trigger | None = None) -> None:
        self.every = every if every is not None else steps(1)
        self._rows: list[tuple[float, float, float, float]] = []

    def start(self, sim: Watched) -> None:
        """Nothing is known before the first step."""

    def observe(self, sim: Watched) -> None:
        if self.every.due(sim.step_count, sim.time_step):
            r = sim.report
            self._rows.append((sim.time, r.kinetic_energy, r.energy, r.elastic_energy))

    def finish(self, sim: Watched) -> None:
        """What was collected stays."""

    @property
    def table(self) -> np.ndarray:
        """(n, 4) time, kinetic, total, elastic."""
        return np.array(self._rows).reshape(-1, 4)

    @property
    def time(self) -> np.ndarray:
        return self.table[:, 0]

    @property
    def kinetic(self) -> np.ndarray:
        return self.table[:, 1]

    @property
    def total(self) -> np.ndarray:
        return self.table[:, 2]

    @property
    def elastic(self) -> np.ndarray:
        return self.table[:, 3]
