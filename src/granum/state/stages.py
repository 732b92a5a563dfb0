"""A step as a list of named stages, each with its own timer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple

from ..array_types import FloatArray
from .ledger import Ledger


@dataclass
class StepContext:
    """What the stages of one step share."""

    number: int
    time: float
    """At the start of the step [s]."""
    h: float
    """The step [s]."""
    gravity: FloatArray
    """(3,) [m/s^2]"""
    ledger: Ledger
    pull: float
    """Strength of gravity [m/s^2]."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Wall time by stage."""
    found: dict[str, Any] = field(default_factory=dict)
    """What stages tell the report."""
    more: dict[str, float] = field(default_factory=dict)
    """The same of stages that extensions add."""


class Stage(NamedTuple):
    """One stage of a step. Stages of one name share a timer."""

    name: str
    run: Callable[[Any], None]
    """Is given the context of the step."""


def run_stages(stages: Sequence[Stage], context: StepContext) -> None:
    """All stages in order; their times add up to that of the whole."""
    seconds, before = context.seconds, perf_counter()
    for name, run in stages:
        run(context)
        now = perf_counter()
        seconds[name] = seconds.get(name, 0.0) + now - before
        before = now
