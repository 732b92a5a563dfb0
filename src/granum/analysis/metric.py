"""What a metric is and what it gives, and the two ways most of them go through the frames."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .contact_errors import Spread
from .snapshot import Snapshot


@dataclass(frozen=True)
class MetricResult:
    """What a metric found: numbers by name, and columns of equal length that belong together. NaN: there is no such number."""

    values: dict[str, float]
    columns: dict[str, Any] = field(default_factory=dict)
    note: str | None = None


@dataclass(frozen=True)
class Metric:
    """A measurement of some frames of a recording."""

    measure: Callable[[Iterable[Snapshot]], MetricResult]
    """Of snapshots, which it may go through more than once."""
    about: str
    units: dict[str, str]
    """Of every number and column that has one; the others are counts and ratios."""
    needs: str = "any recording"
    table: str = "series"
    """What the columns are."""
    all_frames: bool = False
    """Of all frames unless some are asked for; else of the last one."""


def means(rows: Sequence[dict[str, float]]) -> MetricResult:
    """Means over the frames, whose numbers are ``rows``."""
    return MetricResult({name: rows[0][name] if len(rows) == 1 else Spread.of([row[name] for row in rows]).mean for name in rows[0]})


def series(shots: Iterable[Snapshot], look: Callable[[Snapshot], dict[str, float]], missing: str, spread: bool = False) -> MetricResult:
    """Means over the frames, and the values of each where there are several; ``missing`` says why one is NaN."""
    times, rows = [], []
    for s in shots:
        times.append(s.time)
        rows.append(look(s))
    values = means(rows).values
    if spread:
        values |= {f"{name}_std": Spread.of([row[name] for row in rows]).std for name in rows[0]}
    columns = {"time": times} | {name: [row[name] for row in rows] for name in rows[0]} if len(rows) > 1 else {}
    return MetricResult(values, columns, missing if any(math.isnan(value) for value in values.values()) else None)
