"""What every experiment gives: rows that stand beside the paper's statements, and the arrays behind its figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..pool import Job

Size = Any
"""A frozen record of numbers; each experiment has its own."""
Runner = Callable[[Sequence[Job]], list[Any]]
"""Runs independent jobs and returns their results in order."""


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    what: str
    ours: str
    paper: str = "not in the paper"
    value: float | None = None
    """The number that is compared, where there is one."""
    agrees: bool | None = None
    """With the paper; None: nothing to compare."""


def compared(what: str, value: float, paper: str, low: float, high: float, ours: str = "{:.2g}") -> Row:
    """A row that agrees with the paper if its value lies in [low, high]; one that could not be measured says so."""
    if not np.isfinite(value):
        return Row(what, "not reached", paper)
    return Row(what, ours.format(value), paper, float(value), bool(low <= value <= high))


@dataclass(frozen=True)
class Outcome:
    """What was measured."""

    rows: list[Row]
    curves: dict[str, Any] = field(default_factory=dict)
    """Nested dictionaries of arrays, one for every plotted curve."""


@dataclass(frozen=True)
class Experiment:
    """A named experiment of a paper in two sizes."""

    title: str
    measure: Callable[[Size, Runner], Outcome]
    draw: Callable[[Outcome, Path], list[Path]]
    """Writes the figures into a folder and returns their paths."""
    quick: Size
    """Minutes."""
    full: Size
    """The paper's."""
