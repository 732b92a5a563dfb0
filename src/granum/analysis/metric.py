"""What a metric is and what it gives, and the two ways most of them go through the frames."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..io import Recording
from .contact_errors import Spread
from .snapshot import Snapshot, snapshots


@dataclass(frozen=True)
class Shots:
    """Frames that are read anew each time one goes through them: they need not fit into memory."""

    recording: Recording
    frames: Sequence[int]

    def __iter__(self) -> Iterator[Snapshot]:
        return snapshots(self.recording, self.frames)


@dataclass(frozen=True)
class MetricResult:
    """What a metric found: numbers by name, and columns of equal length that belong together. NaN: there is no such number."""

    values: dict[str, float]
    columns: dict[str, Any] = field(default_factory=dict)
    note: str | None = None
    units: dict[str, str] = field(default_factory=dict)
    """Of what the metric does not name in advance."""


@dataclass(frozen=True)
class Metric:
    """A measurement of some frames of a recording."""

    measure: Callable[..., MetricResult]
    """Of snapshots (:class:`Shots`), which it may go through more than once; and of names, if it is ``of`` something."""
    about: str
    units: dict[str, str]
    """Of every number and column that has one; the others are counts and ratios."""
    needs: str = "any recording"
    table: str = "series"
    """What the columns are."""
    all_frames: bool = False
    """Of all frames unless some are asked for; else of the last one."""
    of: str = ""
    """What it looks at by name: ``body``, ``joint`` or ``counter``; the measure chooses where no name is given."""
    windows: bool = False
    """It takes the length of a window [s], as its third argument."""


def means(rows: Sequence[dict[str, float]]) -> MetricResult:
    """Means over the frames, whose numbers are ``rows``."""
    return MetricResult({name: rows[0][name] if len(rows) == 1 else Spread.of([row[name] for row in rows]).mean for name in rows[0]})


def series(shots: Iterable[Snapshot], look: Callable[[Snapshot], dict[str, float]], missing: str, spread: bool = False) -> MetricResult:
    """Means over the frames, and the values of each where there are several; ``missing`` says why one is NaN.

    ``spread`` adds standard deviations over the frames, which one frame has not.
    """
    times, rows = [], []
    for s in shots:
        times.append(s.time)
        rows.append(look(s))
    values = means(rows).values
    note = missing if any(math.isnan(value) for value in values.values()) else None
    if spread:
        values |= {f"{name}_std": Spread.of([row[name] for row in rows]).std if len(rows) > 1 else math.nan for name in rows[0]}
    columns = {"time": times} | {name: [row[name] for row in rows] for name in rows[0]} if len(rows) > 1 else {}
    return MetricResult(values, columns, note)
