"""Sizes in classes between edges, as sieves give them: how many grains each class has, and diameters drawn from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..array_types import FloatArray

NUMBER, MASS = "number", "mass"


@dataclass(frozen=True)
class SizeClasses:
    """Classes that follow each other, each with its share; inside of a class the share is spread evenly over the diameter."""

    edges: FloatArray
    """(n + 1,) diameters [m], growing."""
    shares: FloatArray
    """(n,) of each class, in any unit."""
    by: str
    """Whether shares are numbers of grains or masses."""

    @classmethod
    def of(cls, edges: Any, shares: Any, by: str) -> SizeClasses:
        """Without empty classes at the ends."""
        filled = np.flatnonzero(np.asarray(shares))
        first, last = int(filled[0]), int(filled[-1])
        return cls(np.asarray(edges, float)[first : last + 2], np.asarray(shares, float)[first : last + 1], by)

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest diameter [m]."""
        return float(self.edges[0]), float(self.edges[-1])

    @cached_property
    def cubes(self) -> FloatArray:
        """(n,) mean cube [m^3] of the diameters in each class, by number."""
        a, b = self.edges[:-1], self.edges[1:]
        if self.by == NUMBER:
            return (a + b) * (a * a + b * b) / 4
        return 2 * a * a * b * b / (a + b)  # numbers fall as 1 / d^3

    @cached_property
    def heaped(self) -> FloatArray:
        """(n,) relative number of grains in each class and all below it."""
        return np.cumsum(self.shares if self.by == NUMBER else self.shares / (self.cubes / self.cubes[-1]))

    @property
    def mean_cube(self) -> float:
        """[m^3] of all diameters, by number."""
        numbers = np.diff(self.heaped, prepend=0.0)
        return float(np.cumsum(numbers * self.cubes)[-1] / self.heaped[-1])

    def at(self, part: FloatArray) -> FloatArray:
        """Diameters [m] below which these parts of all grains lie, by number, each from 0 to 1."""
        place = part * self.heaped[-1]
        k = np.minimum(np.searchsorted(self.heaped, place, side="right"), len(self.heaped) - 1)
        below = np.where(k > 0, self.heaped[k - 1], 0.0)
        inside = np.clip((place - below) / (self.heaped[k] - below), 0.0, 1.0)
        a, b = self.edges[k], self.edges[k + 1]
        if self.by == NUMBER:
            return np.clip(a + inside * (b - a), a, b)
        ratio = b / a
        return np.clip(b / np.sqrt(ratio * ratio - inside * (ratio * ratio - 1)), a, b)
