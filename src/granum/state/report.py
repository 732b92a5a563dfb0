"""What one step cost and did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

STAGES = ("detection", "assembly", "impact", "solve", "integrate", "measure", "output")
"""Of every run; output is not part of a step."""


def timers(more: Iterable[str] = ()) -> tuple[str, ...]:
    """The names of all timers of a run, with those of the stages that extensions add."""
    return (*STAGES[:-1], *more, STAGES[-1])


@dataclass(slots=True)
class StepReport:
    """The record of one step. Not frozen: that would cost more than all else in making it.

    What extensions add (``more``) is read like a field.
    """

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
    velocity_error: float = -1.0
    """Estimated, of the velocities after the solve: root mean square by mass, as a part of what velocities change by in the step; -1: not
    estimated. After n sweeps nothing below 0.05 / n is claimed: there it is a bound."""
    elastic_energy: float = 0.0
    """That the contact law stores in the overlaps found at the start of the step [J]."""
    kinetic_energy: float = 0.0
    """At the end of the step [J]."""
    energy: float = 0.0
    """Kinetic and gravitational, at the end of the step [J]."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Wall time by stage."""
    more: dict[str, float] = field(default_factory=dict)
    """Scalars of extensions, by name (``Extension.scalars``)."""

    def __getattr__(self, name: str) -> float:
        if name == "more" or name not in self.more:
            raise AttributeError(f"the report of a step has no {name!r}")
        return self.more[name]

    def checkpoint(self) -> dict[str, Any]:
        """All of it, side by side."""
        saved = asdict(self)
        more = saved.pop("more")
        return saved | more

    @classmethod
    def restored(cls, saved: Mapping[str, Any]) -> StepReport:
        """From a checkpoint."""
        own = {f.name for f in fields(cls)} - {"more"}
        return cls(**{name: saved[name] for name in saved if name in own}, more={name: saved[name] for name in saved if name not in own})
