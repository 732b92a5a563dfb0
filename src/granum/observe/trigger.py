"""Triggers: at which steps something is due, a function of the step number alone, so that a restart changes nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from ..checks import MOST_STEPS, InputError, finite_positive


class Trigger(Protocol):
    """Says when."""

    def due(self, step: int, time_step: float) -> bool:
        """Whether the state after ``step`` steps of ``time_step`` [s] is to be looked at."""
        ...

    def last(self, step: int, time_step: float) -> int:
        """The last step that was due, up to and including ``step``."""
        ...


@dataclass(frozen=True)
class EverySteps:
    """Every ``count`` steps."""

    count: int

    def due(self, step: int, time_step: float) -> bool:
        return step % self.count == 0

    def last(self, step: int, time_step: float) -> int:
        return step - step % self.count


@dataclass(frozen=True)
class EverySeconds:
    """At the step nearest to each multiple of ``period`` [s] of simulated time; at every step if the steps are longer."""

    period: float

    def due(self, step: int, time_step: float) -> bool:
        return self.last(step, time_step) == step

    def last(self, step: int, time_step: float) -> int:
        if self.period <= time_step:
            return step
        k = _nearest(step * time_step / self.period) + 1
        while (found := _nearest(k * self.period / time_step)) > step:
            k -= 1
        return found


def _nearest(x: float) -> int:
    # 1e-9: products that should be halves come out a little above or below
    return math.floor(min(x, MOST_STEPS) + 0.5 + 1e-9)


def seconds(period: float) -> EverySeconds:
    """Every ``period`` [s] of simulated time."""
    return EverySeconds(finite_positive("every", period, "s"))


def steps(count: int) -> EverySteps:
    """Every ``count`` steps."""
    if not (isinstance(count, int) and count >= 1):
        raise InputError(f"every must be 1 step or more (got {count!r}).")
    return EverySteps(count)
