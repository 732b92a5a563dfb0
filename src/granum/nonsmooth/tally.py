"""What the solves of a run came to: sweeps, estimated errors, and how often the most sweeps were not enough."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from .solvers import SolveReport


@dataclass
class SolveTally:
    """Of all steps so far."""

    steps: int = 0
    sweeps: int = 0
    estimated: int = 0
    """Steps whose error was estimated."""
    error: float = 0.0
    """The sum of these errors, as parts of what velocities change by in their steps."""
    largest: float = 0.0
    last: float = -1.0
    """That of the last step; -1: it was not estimated."""
    short: int = 0
    """Steps that did not come to the accuracy that was asked for."""

    def add(self, report: SolveReport, scale: float, asked: bool) -> None:
        """One more solve; errors are a part of ``scale`` [m/s], and ``asked`` tells whether an accuracy is."""
        self.steps += 1
        self.sweeps += report.iterations
        self.last = report.error / scale if report.error >= 0.0 else -1.0
        if self.last >= 0.0:
            self.estimated += 1
            self.error += self.last
            self.largest = max(self.largest, self.last)
            self.short += asked and not report.converged

    def summary(self) -> dict[str, float | None]:
        """For the summary of a run."""
        return {
            "sweeps_per_step": self.sweeps / self.steps if self.steps else None,
            "velocity_error": self.error / self.estimated if self.estimated else None,
            "largest_velocity_error": self.largest if self.estimated else None,
            "steps_short_of_accuracy": self.short,
        }

    def checkpoint(self) -> dict[str, Any]:
        return asdict(self)

    def restore(self, saved: dict[str, Any]) -> None:
        """Go on counting."""
        for name in saved:
            setattr(self, name, type(getattr(self, name))(saved[name]))
