"""Live progress of a run."""

from __future__ import annotations

from time import monotonic
from typing import Any

from .watched import Watched

QUIET = 1.0  # [s] of wall time before anything is shown
REFRESH = 0.25  # [s] of wall time between two updates of the bar
LINE_EVERY = 10  # [s] of wall time between two lines where there is no terminal


class Progress:
    """A progress bar on a terminal, a line now and then elsewhere; nothing for runs shorter than a second."""

    def __init__(self, console: Any = None) -> None:
        if console is None:
            from rich.console import Console

            console = Console(stderr=True, highlight=False)
        self.console = console
        self._bar: Any = None
        self._task: Any = None
        self._first_step = -1
        self._began = self._next = 0.0

    def start(self, sim: Watched) -> None:
        self._first_step = -1

    def observe(self, sim: Watched) -> None:
        now = monotonic()
        if self._first_step < 0:  # counted from the end of the first step, which may have compiled
            self._first_step, self._began, self._next = sim.step_count, now, now + QUIET
        if now < self._next:
            return
        if self.console.is_terminal:
            self._show_bar(sim)
            self._next = now + REFRESH
        else:
            self._print_line(sim, now)
            self._next = now + LINE_EVERY

    def finish(self, sim: Watched) -> None:
        if self._bar is not None:
            self._update(sim)
            self._bar.stop()
            self._bar = None

    def _show_bar(self, sim: Watched) -> None:
        if self._bar is None:
            from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            self._bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(bar_width=24),
                TextColumn("{task.percentage:3.0f} %"),
                TextColumn("{task.fields[facts]}"),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(),
                console=self.console,
                auto_refresh=False,
                transient=True,
            )
            self._task = self._bar.add_task(sim.scene.name, total=sim.last_step, completed=sim.step_count, facts="")
            self._bar.start()
        self._update(sim)

    def _update(self, sim: Watched) -> None:
        self._bar.update(self._task, completed=sim.step_count, facts=facts(sim))
        self._bar.refresh()

    def _print_line(self, sim: Watched, now: float) -> None:
        done, total = sim.step_count - self._first_step, sim.last_step - self._first_step
        left = (now - self._began) * (total - done) / max(done, 1)
        self.console.print(f"{sim.scene.name}: {sim.step_count / sim.last_step:.0%}, {facts(sim)}, about {left:.0f} s left", soft_wrap=True)


def facts(sim: Watched) -> str:
    """Time, grains, contacts, kinetic energy, the creep that the residual stands for and reduction level in a few words."""
    creep = f", creep {sim.report.residual / sim.scene.size_range[0]:.0e} d/s" if sim.report.residual > 0 else ""
    level = f", level = {sim.report.reduction_level:.0%}" if sim.settings.reduction is not None else ""
    return (
        f"t = {sim.time:.3g} s, {sim.grain_count} grains, {sim.report.contacts} contacts, "
        f"E_kin {sim.report.kinetic_energy:.2e} J{creep}{level}"
    )
