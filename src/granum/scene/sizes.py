"""Size distributions of grains, by number or by mass."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from ..arithmetic import exp, log, total, uniform
from ..array_types import FloatArray
from ..records import Misread, NonNegative, Positive, Record
from .size_classes import MASS, NUMBER, SizeClasses

By = Literal["number", "mass"]
FINE = 4096  # classes that stand for a log-normal curve
FAINTEST = 36.0  # classes whose share is below exp(-36) of the largest one are left out


class Discrete(Record):
    """One size, or a few in given fractions."""

    distribution: Literal["discrete"] = "discrete"
    diameters: tuple[Positive, ...] = Field(min_length=1)
    """[m]"""
    fractions: tuple[NonNegative, ...] | None = None
    """Relative numbers, or masses [-]; none: equal."""
    by: By = "number"
    """What the fractions count: the number of grains, or their mass."""

    @model_validator(mode="after")
    def _match(self) -> Discrete:
        if self.fractions is not None and (len(self.fractions) != len(self.diameters) or not any(self.fractions)):
            raise ValueError(f"fractions must be as many as diameters ({len(self.diameters)}) and not all zero")
        return self

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest diameter [m]."""
        return min(self.diameters), max(self.diameters)

    @property
    def mean_cube(self) -> float:
        """[m^3] of the diameters, by number."""
        d, weight = np.asarray(self.diameters), self._weights
        cubes = d * d * d
        return total(cubes) / len(d) if weight is None else total(weight * cubes)

    @property
    def _weights(self) -> FloatArray | None:
        """(n,) parts of all grains by number; none: equal."""
        if self.by == NUMBER and self.fractions is None:
            return None
        shares = np.ones(len(self.diameters)) if self.fractions is None else np.asarray(self.fractions, float)
        if self.by == MASS:
            relative = np.asarray(self.diameters) / self.range[1]
            shares = shares / (relative * relative * relative)
        return shares / total(shares)

    def sample(self, rng: np.random.Generator, count: int) -> FloatArray:
        """(count,) diameters [m]."""
        return rng.choice(np.asarray(self.diameters), size=count, p=self._weights)


class Uniform(Record):
    """Diameters evenly spread between two."""

    distribution: Literal["uniform"] = "uniform"
    lower: Positive
    """[m]"""
    upper: Positive
    """[m]"""
    by: By = "number"
    """What is spread evenly over the diameter: the number of grains, or their mass."""

    @model_validator(mode="after")
    def _ordered(self) -> Uniform:
        if self.lower > self.upper:
            raise ValueError(f"lower must not exceed upper, has {self.lower:g} and {self.upper:g}")
        return self

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest diameter [m]."""
        return self.lower, self.upper

    @property
    def mean_cube(self) -> float:
        """[m^3] of the diameters, by number."""
        return self._curve.mean_cube

    @cached_property
    def _curve(self) -> SizeClasses:
        return SizeClasses.of(self.range, [1.0], self.by)

    def sample(self, rng: np.random.Generator, count: int) -> FloatArray:
        """(count,) diameters [m]."""
        return uniform(rng, self.lower, self.upper, count) if self.by == NUMBER else self._curve.at(rng.random(count))


class LogNormal(Record):
    """ln(diameter) is normal around ln(median); what would lie outside of [lower, upper] is cut off, and the rest takes its share."""

    distribution: Literal["lognormal"] = "lognormal"
    median: Positive
    """Of the whole curve, before it is cut [m]."""
    sigma: NonNegative
    """Standard deviation of ln(diameter) [-]."""
    lower: Positive
    """[m]"""
    upper: Positive
    """[m]"""
    by: By = "number"
    """What is normal over ln(diameter): the number of grains, or their mass."""

    @model_validator(mode="after")
    def _ordered(self) -> LogNormal:
        if not self.lower <= self.median <= self.upper:
            raise ValueError(f"median must lie in [lower, upper], has {self.median:g} in [{self.lower:g}, {self.upper:g}]")
        return self

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest diameter [m]."""
        return self.lower, self.upper

    @property
    def mean_cube(self) -> float:
        """[m^3] of the diameters, by number."""
        return self._curve.mean_cube if self._curve is not None else self.median * self.median * self.median

    @cached_property
    def _curve(self) -> SizeClasses | None:
        """Many narrow classes in place of the curve; none: all grains have the median."""
        if self.sigma == 0 or self.lower == self.upper:
            return None
        low, high = (float(log(bound / self.median)) for bound in self.range)
        # Numbers of grains whose masses are normal over ln d are normal, too, around a smaller diameter: the mass grows as exp(3 ln d).
        middle = -3 * self.sigma * self.sigma if self.by == MASS else 0.0
        first, last = ((bound - middle) / self.sigma for bound in (low, high))
        peak = min(max(0.0, first), last)
        first, last = max(first, -math.sqrt(peak * peak + 2 * FAINTEST)), min(last, math.sqrt(peak * peak + 2 * FAINTEST))
        z = first + (last - first) * np.arange(FINE + 1) / FINE
        mid = first + (last - first) * (np.arange(FINE) + 0.5) / FINE
        edges = np.clip(self.median * exp(middle + self.sigma * z), self.lower, self.upper)
        return SizeClasses.of(edges, exp((peak * peak - mid * mid) / 2), NUMBER)

    def sample(self, rng: np.random.Generator, count: int) -> FloatArray:
        """(count,) diameters [m]."""
        return self._curve.at(rng.random(count)) if self._curve is not None else np.full(count, self.median)


class _Classed(Record):
    """Sizes that come in classes, each of them spread evenly over the diameter."""

    @property
    def _curve(self) -> SizeClasses:
        raise NotImplementedError

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest diameter [m]."""
        return self._curve.range

    @property
    def mean_cube(self) -> float:
        """[m^3] of the diameters, by number."""
        return self._curve.mean_cube

    def sample(self, rng: np.random.Generator, count: int) -> FloatArray:
        """(count,) diameters [m]."""
        return self._curve.at(rng.random(count))


class SizeTable(_Classed):
    """Classes of diameters between edges, with the share of each; inside of a class the share is spread evenly over the diameter."""

    distribution: Literal["table"] = "table"
    edges: tuple[Positive, ...] = Field(min_length=2)
    """[m], growing: class k reaches from edge k to edge k + 1."""
    shares: tuple[NonNegative, ...]
    """Of each class [-], relative to each other; one fewer than edges."""
    by: By = "number"
    """What the shares count: the number of grains, or their mass."""

    @model_validator(mode="after")
    def _match(self) -> SizeTable:
        _growing("edges", self.edges)
        if len(self.shares) != len(self.edges) - 1 or not any(self.shares):
            raise ValueError(f"shares must be {len(self.edges) - 1} numbers, one fewer than edges, and not all zero; has {self.shares}")
        return self

    @cached_property
    def _curve(self) -> SizeClasses:
        return SizeClasses.of(self.edges, self.shares, self.by)


class SieveCurve(_Classed):
    """A sieve curve: which part of the mass passes openings of these sizes. Between two sieves it is a straight line over the diameter."""

    distribution: Literal["sieve"] = "sieve"
    sizes: tuple[Positive, ...] = Field(min_length=2)
    """Openings of the sieves [m], growing."""
    passing: tuple[NonNegative, ...]
    """Part that passes each of them [-], from 0 at the first to 1 (or to 100: bare numbers in percent) at the last."""
    by: By = "mass"
    """What is weighed or counted: mass, as sieves do, or the number of grains."""

    @model_validator(mode="after")
    def _match(self) -> SieveCurve:
        _growing("sizes", self.sizes)
        if len(self.passing) != len(self.sizes):
            raise ValueError(f"passing must have as many numbers as sizes ({len(self.sizes)}), has {len(self.passing)}")
        for k in range(1, len(self.passing)):
            if self.passing[k] < self.passing[k - 1]:
                raise ValueError(
                    f"passing must not fall: it is {self.passing[k - 1]:g} at {self.sizes[k - 1]:g} m and {self.passing[k]:g} at "
                    f"{self.sizes[k]:g} m, but what passes a sieve passes all wider ones. If these are parts that each sieve keeps, "
                    'take distribution = "table"'
                )
        if self.passing[0] != 0:
            raise ValueError(
                f"passing must begin with 0, has {self.passing[0]:g} at {self.sizes[0]:g} m: add the smallest diameter there is, with 0"
            )
        if self.passing[-1] not in (1, 100):
            raise ValueError(
                f"passing must end with 1, or with 100 in percent, has {self.passing[-1]:g} at {self.sizes[-1]:g} m: add the largest "
                "diameter there is"
            )
        return self

    @cached_property
    def _curve(self) -> SizeClasses:
        return SizeClasses.of(self.sizes, np.diff(self.passing), self.by)


def _growing(name: str, values: tuple[float, ...]) -> None:
    for k in range(1, len(values)):
        if not values[k] > values[k - 1]:
            raise ValueError(f"{name} must grow, has {values[k]:g} after {values[k - 1]:g}")


def _plain(value: Any) -> Any:
    """A bare number is one diameter, a list several."""
    if isinstance(value, (int, float)):
        return {"distribution": "discrete", "diameters": (value,)}
    if isinstance(value, (list, tuple)):
        return {"distribution": "discrete", "diameters": tuple(value)}
    if isinstance(value, str):
        raise ValueError(value.reason if isinstance(value, Misread) else "must be a diameter, a list of them, or a table of a distribution")
    return value


Distribution = Annotated[Discrete | Uniform | LogNormal | SizeTable | SieveCurve, Field(discriminator="distribution")]
Sizes = Annotated[Distribution, BeforeValidator(_plain, json_schema_input_type=Distribution | float | list[float])]
