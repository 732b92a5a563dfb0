"""Regions: shapes in space that grains pass through, for sensors and sinks."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from ..records import Positive, Record, Vector
from .shapes import unit


class BoxRegion(Record):
    """A box along the world's axes."""

    shape: Literal["box"] = "box"
    lower: Vector
    """[m]"""
    upper: Vector
    """[m]"""

    @model_validator(mode="after")
    def _ordered(self) -> BoxRegion:
        if not all(lo < hi for lo, hi in zip(self.lower, self.upper, strict=True)):
            raise ValueError(f"lower must be below upper in every direction, has {self.lower} and {self.upper}")
        return self

    @property
    def bounds(self) -> tuple[Vector, Vector]:
        """Lower and upper corner [m] of the box around it."""
        return self.lower, self.upper


class CylinderRegion(Record):
    """A full cylinder with flat ends."""

    shape: Literal["cylinder"] = "cylinder"
    centre: Vector
    """[m]"""
    axis: Vector = (0.0, 0.0, 1.0)
    """Any length."""
    radius: Positive
    """[m]"""
    length: Positive
    """[m]"""

    _axis = field_validator("axis")(unit)

    @property
    def bounds(self) -> tuple[Vector, Vector]:
        """Lower and upper corner [m] of the box around it."""
        half = [0.5 * self.length * abs(a) + self.radius * math.sqrt(max(0.0, 1.0 - a * a)) for a in self.axis]
        (x, y, z), (u, v, w) = self.centre, half
        return (x - u, y - v, z - w), (x + u, y + v, z + w)


class BallRegion(Record):
    """A ball."""

    shape: Literal["ball"] = "ball"
    centre: Vector
    """[m]"""
    radius: Positive
    """[m]"""

    @property
    def bounds(self) -> tuple[Vector, Vector]:
        """Lower and upper corner [m] of the box around it."""
        (x, y, z), r = self.centre, self.radius
        return (x - r, y - r, z - r), (x + r, y + r, z + r)


Region = Annotated[BoxRegion | CylinderRegion | BallRegion, Field(discriminator="shape")]
