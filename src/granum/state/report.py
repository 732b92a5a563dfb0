"""What one step cost and did."""

from __future__ import annotations

from dataclasses import dataclass, field

STAGES = ("detection", "assembly", "impact", "solve", "integrate", "measure", "output")
"""Of every run; output is not part of a step."""
REDUCTION_STAGES = ("follow", "split", "merge")
"""That model reduction adds."""


def stages_of(reduction: bool) -> tuple[str, ...]:
    """The names of all timers of a run."""
    return (*STAGES[:-1], *REDUCTION_STAGES, STAGES[-1]) if reduction else STAGES


@dataclass(slots=True)
class StepReport:
    """The record of one step. Not frozen: that would cost more than all else in making it."""

    step: int
    time: float
    """At the end of the step [s]."""
    contacts: int
    impacts: int
    """Contacts that approached faster than v_imp (smooth: 0.05 m/s); a smooth collision, of many steps, counts in its first one."""
    iterations: int
    residual: float
    """[m/s]"""
    max_overlap: float
    """Found at the start of the step [m]."""
    elastic_energy: float = 0.0
    """That the contact law stores in the overlaps found at the start of the step [J]."""
    kinetic_energy: float = 0.0
    """At the end of the step [J]."""
    energy: float = 0.0
    """Kinetic and gravitational, at the end of the step [J]."""
    reduction_level: float = 0.0
    """1 - (free grains and aggregates) / grains (MR); grains held by a wall count as none."""
    free_grains: int = -1
    """That move on their own; -1: all."""
    aggregates: int = 0
    """Rigid bodies of merged grains that no wall holds."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Wall time by stage."""
