"""What an observer is: anything with these three methods."""

from __future__ import annotations

from typing import Protocol

from .watched import Watched


class Observer(Protocol):
    """Looks at a run and never changes its state; ``sim.stop(reason)`` ends it after the step."""

    def start(self, sim: Watched) -> None:
        """Before the first step."""

    def observe(self, sim: Watched) -> None:
        """After every step."""

    def finish(self, sim: Watched) -> None:
        """At the end, however the run ended; only what has started is finished."""
