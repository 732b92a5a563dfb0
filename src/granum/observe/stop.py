"""Ends a run before its time when there is nothing more to see."""

from __future__ import annotations

from ..checks import finite_positive
from .trigger import Trigger, steps
from .watched import Watched


class StopWhen:
    """Stops a run when its kinetic energy [J] is below a value; not before ``after`` [s]."""

    def __init__(self, *, kinetic_energy_below: float, after: float = 0.0, every: Trigger | None = None) -> None:
        self.kinetic_energy_below = finite_positive("kinetic_energy_below", kinetic_energy_below, "J")
        self.after = after
        self.every = every if every is not None else steps(100)

    def start(self, sim: Watched) -> None:
        """Looks only after steps."""

    def observe(self, sim: Watched) -> None:
        if sim.time < self.after or not self.every.due(sim.step_count, sim.time_step):
            return
        if sim.report.kinetic_energy < self.kinetic_energy_below:
            sim.stop(f"kinetic energy {sim.report.kinetic_energy:.3g} J is below {self.kinetic_energy_below:g} J")

    def finish(self, sim: Watched) -> None:
        """Nothing to close."""
