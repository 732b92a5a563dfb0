"""Emitters: sources of new grains, seeded, at a rate or up to a total, never overlapping a grain that is there."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field, field_validator, model_validator

from ..arithmetic import cos, length, sin, uniform
from ..array_types import FloatArray
from ..records import Finite, Positive, Record, Vector, Whole
from .shapes import unit
from .sizes import Sizes


class Disc(Record):
    """A flat round source."""

    source: Literal["disc"] = "disc"
    centre: Vector
    """[m]"""
    normal: Vector = (0.0, 0.0, 1.0)
    """Across the disc; any length."""
    diameter: Positive
    """[m]; grain centres stay inside it."""

    _normal = field_validator("normal")(unit)

    def points(self, rng: np.random.Generator, count: int) -> FloatArray:
        """(count, 3) evenly spread over the source [m]."""
        n = np.asarray(self.normal)
        u = np.cross(n, np.eye(3)[np.argmin(np.abs(n))])
        u /= length(u)
        radius = self.diameter / 2 * np.sqrt(rng.random((count, 1)))
        angle = 2 * np.pi * rng.random((count, 1))
        return np.asarray(self.centre) + radius * (cos(angle) * u + sin(angle) * np.cross(n, u))


class Rectangle(Record):
    """A flat source spanned by two edges from a corner."""

    source: Literal["rectangle"] = "rectangle"
    corner: Vector
    """[m]"""
    edge_u: Vector
    """[m]"""
    edge_v: Vector
    """[m]"""

    def points(self, rng: np.random.Generator, count: int) -> FloatArray:
        """(count, 3) evenly spread over the source [m]."""
        part = rng.random((count, 2))
        return np.asarray(self.corner) + part[:, :1] * np.asarray(self.edge_u) + part[:, 1:] * np.asarray(self.edge_v)


class BoxSource(Record):
    """A box-shaped source."""

    source: Literal["box"] = "box"
    lower: Vector
    """[m]"""
    upper: Vector
    """[m]"""

    @model_validator(mode="after")
    def _ordered(self) -> BoxSource:
        if not all(lo <= hi for lo, hi in zip(self.lower, self.upper, strict=True)):
            raise ValueError(f"lower must not be above upper in any direction, has {self.lower} and {self.upper}")
        return self

    def points(self, rng: np.random.Generator, count: int) -> FloatArray:
        """(count, 3) evenly spread over the source [m]."""
        return uniform(rng, self.lower, self.upper, (count, 3))


class Emitter(Record):
    """Emits grains from a source while there is room; what found no room is caught up later."""

    name: str = "emitter"
    """By which the summary of a run knows it."""
    material: str
    """Name of the material."""
    sizes: Sizes
    """Diameters [m]: one, a list, or a distribution."""
    source: Annotated[Disc | Rectangle | BoxSource, Field(discriminator="source")]
    """Where grains appear."""
    rate: Positive | None = None
    """[1/s]; none: as fast as there is room."""
    count: Whole | None = Field(default=None, ge=1)
    """Total number; none: without end."""
    velocity: Vector = (0.0, 0.0, 0.0)
    """Of an emitted grain [m/s]."""
    start: Finite = 0.0
    """[s]"""
    seed: Whole = Field(default=0, ge=0)
    """Of places and sizes."""

    @model_validator(mode="after")
    def _bounded(self) -> Emitter:
        if self.rate is None and self.count is None:
            raise ValueError(f"emitter {self.name!r} needs a rate [1/s], a total count, or both")
        return self

    def due(self, time: float) -> int:
        """How many grains should have been emitted by ``time`` [s]."""
        if time < self.start:
            return 0
        total = self.count if self.count is not None else np.iinfo(np.int64).max
        return total if self.rate is None else min(total, int((time - self.start) * self.rate + 1e-9) + 1)
