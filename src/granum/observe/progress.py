"""Live progress of a run."""

from __future__ import annotations

from typing import Any

from ..progress import Bar
from .watched import Watched

SAMPLES = 16  # times at which grains to come are counted
STEP = 40.0  # [grains] that cost as much as what a step costs without any


class Progress:
    """A progress bar on a terminal or in a notebook, a line now and then elsewhere; nothing for runs shorter than a second."""

    def __init__(self, console: Any = None) -> None:
        self.console = console
        self._bar: Bar | None = None
        self._done = 0.0  # work: grains and ``STEP``, summed over the steps so far

    def start(self, sim: Watched) -> None:
        self._bar = Bar(sim.scene.name, console=self.console)
        self._done = sim.step_count * (STEP + sim.grain_count)  # of a restart, about

    def observe(self, sim: Watched) -> None:
        self._done += STEP + sim.grain_count
        if self._bar is not None and not self._bar.waits:  # from the end of the first step on, which may have compiled
            ahead = work_ahead(sim)
            self._bar.show(self._done / (self._done + ahead), facts(sim))

    def finish(self, sim: Watched) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def work_ahead(sim: Watched) -> float:
    """Grains and ``STEP``, summed over the steps to come: those that are there, and those that emitters will have added by then."""
    steps = max(0, sim.last_step - sim.step_count)
    times = [sim.time + (k + 0.5) / SAMPLES * steps * sim.time_step for k in range(SAMPLES)]
    coming = [sum(emitter.due(time) - emitter.due(sim.time) for emitter in sim.scene.emitters) for time in times]
    return steps * (STEP + sim.grain_count + sum(coming) / SAMPLES)


def facts(sim: Watched) -> list[str]:
    """Time, grains, what extensions tell, the creep that the residual stands for, contacts and kinetic energy, in a few words each."""
    scalars = [scalar for extension in sim.settings.extensions for scalar in extension.scalars if scalar.progress]
    more = [scalar.progress.format(sim.report.more[scalar.name]) for scalar in scalars]
    creep = [f"creep {sim.report.residual / sim.scene.finest:.0e} d/s"] if sim.report.residual > 0 else []
    end = [f"{sim.report.contacts} contacts", f"E_kin {sim.report.kinetic_energy:.2e} J"]
    return [f"t = {sim.time:.3g} s", f"{sim.grain_count} grains", *more, *creep, *end]
