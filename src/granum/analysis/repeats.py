"""Runs that differ by their seed only, taken together: mean, spread and standard error."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Repeats:
    """Numbers of the same thing; those that are NaN or missing do not count."""

    runs: int
    """That have a number."""
    mean: float
    """NaN without any."""
    std: float
    """Standard deviation of one run, with n - 1 below; NaN of fewer than two."""

    @classmethod
    def of(cls, values: Iterable[float | None]) -> Repeats:
        """Of the numbers among ``values``."""
        found = np.array([v for v in values if v is not None and math.isfinite(v)], float)
        mean = float(found.mean()) if len(found) else math.nan
        return cls(len(found), mean, float(found.std(ddof=1)) if len(found) > 1 else math.nan)

    @property
    def error(self) -> float:
        """Standard error of the mean."""
        return self.std / math.sqrt(self.runs) if self.runs else math.nan


@dataclass(frozen=True)
class Group:
    """Runs with the same parameters but for their seed."""

    point: tuple[Any, ...]
    """Values of the parameters."""
    rows: tuple[int, ...]
    """Numbers of its runs."""


def group_by(columns: Mapping[str, Sequence[Any]], names: Sequence[str]) -> list[Group]:
    """Rows with equal values in the columns ``names``, in the order of their first appearance; without names all rows."""
    count = len(next(iter(columns.values()), ()))
    found: dict[tuple[Any, ...], list[int]] = {}
    for row in range(count):
        found.setdefault(tuple(columns[name][row] for name in names), []).append(row)
    return [Group(point, tuple(rows)) for point, rows in found.items()]
