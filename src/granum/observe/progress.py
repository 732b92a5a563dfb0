"""Live progress of a run."""

from __future__ import annotations

from typing import Any

from ..progress import Bar
from .watched import Watched


class Progress:
    """A progress bar on a terminal or in a notebook, a line now and then elsewhere; nothing for runs shorter than a second."""

    def __init__(self, console: Any = None) -> None:
        self.console = console
        self._bar: Bar | None = None

    def start(self, sim: Watched) -> None:
        self._bar = Bar(sim.scene.name, console=self.console)

    def observe(self, sim: Watched) -> None:
        if self._bar is not None:  # from the end of the first step on, which may have compiled
            self._bar.show(sim.step_count / sim.last_step, facts(sim))

    def finish(self, sim: Watched) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def facts(sim: Watched) -> list[str]:
    """Time, grains, what extensions tell, the creep that the residual stands for, contacts and kinetic energy, in a few words each."""
    scalars = [scalar for extension in sim.settings.extensions for scalar in extension.scalars if scalar.progress]
    more = [scalar.progress.format(sim.report.more[scalar.name]) for scalar in scalars]
    creep = [f"creep {sim.report.residual / sim.scene.finest:.0e} d/s"] if sim.report.residual > 0 else []
    end = [f"{sim.report.contacts} contacts", f"E_kin {sim.report.kinetic_energy:.2e} J"]
    return [f"t = {sim.time:.3g} s", f"{sim.grain_count} grains", *more, *creep, *end]
