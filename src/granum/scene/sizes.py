"""Size distributions of grains, by number."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from ..arithmetic import exp, normal, total, uniform
from ..array_types import FloatArray
from ..records import NonNegative, Positive, Record


class Discrete(Record):
    """One size, or a few in given number fractions."""

    distribution: Literal["discrete"] = "discrete"
    diameters: tuple[Positive, ...] = Field(min_length=1)
    """[m]"""
    fractions: tuple[NonNegative, ...] | None = None
    """Relative numbers; none: equal."""

    @model_validator(mode="after")
    def _match(self) -> Discrete:
        if self.fractions is not None and (len(self.fractions) != len(self.diameters) or not any(self.fractions)):
            raise ValueError(f"fractions must be as many as diameters ({len(self.diameters)}) and not all zero")
        return self

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest diameter [m]."""
        return min(self.diameters), max(self.diameters)

    def sample(self, rng: np.random.Generator, count: int) -> FloatArray:
        """(count,) diameters [m]."""
        weight = None if self.fractions is None else np.asarray(self.fractions) / total(self.fractions)
        return rng.choice(np.asarray(self.diameters), size=count, p=weight)


class Uniform(Record):
    """Diameters evenly spread between two."""

    distribution: Literal["uniform"] = "uniform"
    lower: Positive
    """[m]"""
    upper: Positive
    """[m]"""

    @model_validator(mode="after")
    def _ordered(self) -> Uniform:
        if self.lower > self.upper:
            raise ValueError(f"lower must not exceed upper, has {self.lower:g} and {self.upper:g}")
        return self

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest diameter [m]."""
        return self.lower, self.upper

    def sample(self, rng: np.random.Generator, count: int) -> FloatArray:
        """(count,) diameters [m]."""
        return uniform(rng, self.lower, self.upper, count)


class LogNormal(Record):
    """ln(diameter) is normal around ln(median); drawn values are cut to [lower, upper]."""

    distribution: Literal["lognormal"] = "lognormal"
    median: Positive
    """[m]"""
    sigma: NonNegative
    """Standard deviation of ln(diameter) [-]."""
    lower: Positive
    """[m]"""
    upper: Positive
    """[m]"""

    @model_validator(mode="after")
    def _ordered(self) -> LogNormal:
        if not self.lower <= self.median <= self.upper:
            raise ValueError(f"median must lie in [lower, upper], has {self.median:g} in [{self.lower:g}, {self.upper:g}]")
        return self

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest diameter [m]."""
        return self.lower, self.upper

    def sample(self, rng: np.random.Generator, count: int) -> FloatArray:
        """(count,) diameters [m]."""
        return np.clip(self.median * exp(self.sigma * normal(rng, count)), self.lower, self.upper)


def _plain(value: Any) -> Any:
    """A bare number is one diameter, a list several."""
    if isinstance(value, (int, float)):
        return {"distribution": "discrete", "diameters": (value,)}
    if isinstance(value, (list, tuple)):
        return {"distribution": "discrete", "diameters": tuple(value)}
    return value


Sizes = Annotated[Annotated[Discrete | Uniform | LogNormal, Field(discriminator="distribution")], BeforeValidator(_plain)]
