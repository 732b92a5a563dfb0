"""Counters: planes in space that tell how many grains pass them, and how much mass; they take nothing out."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, field_validator, model_validator

from ..arithmetic import dot
from ..array_types import FloatArray
from ..records import Positive, Record, Vector
from .shapes import unit


class PlaneRegion(Record):
    """A plane without an end."""

    shape: Literal["plane"] = "plane"
    point: Vector
    """Of the plane [m]."""
    normal: Vector = (0.0, 0.0, 1.0)
    """The way that counts as forward; any length."""

    _normal = field_validator("normal")(unit)

    @property
    def centre(self) -> Vector:
        """A point of it [m]."""
        return self.point


class DiscRegion(Record):
    """A round piece of a plane, as the outlet of a silo."""

    shape: Literal["disc"] = "disc"
    centre: Vector
    """[m]"""
    normal: Vector = (0.0, 0.0, 1.0)
    """The way that counts as forward; any length."""
    radius: Positive
    """[m]"""

    _normal = field_validator("normal")(unit)


class RectangleRegion(Record):
    """A piece of a plane, spanned by two edges from a corner; its normal is edge_u x edge_v."""

    shape: Literal["rectangle"] = "rectangle"
    corner: Vector
    """[m]"""
    edge_u: Vector
    """From the corner along one side [m]."""
    edge_v: Vector
    """From the corner along the other side [m]."""

    @model_validator(mode="after")
    def _spans(self) -> RectangleRegion:
        u, v, area = np.asarray(self.edge_u), np.asarray(self.edge_v), self._area
        if not dot(area, area) > 1e-12 * dot(u, u) * dot(v, v):
            raise ValueError(
                f"edge_u and edge_v must span a piece of a plane, has {self.edge_u} and {self.edge_v}, which lie along each other"
            )
        return self

    @cached_property
    def _area(self) -> FloatArray:
        return np.cross(self.edge_u, self.edge_v)

    @property
    def normal(self) -> Vector:
        """Unit vector across it."""
        x, y, z = self._area.tolist()
        return unit((x, y, z))

    @property
    def centre(self) -> Vector:
        """Its middle [m]."""
        (a, b, c), (d, e, f), (g, h, i) = self.corner, self.edge_u, self.edge_v
        return a + (d + g) / 2, b + (e + h) / 2, c + (f + i) / 2

    @property
    def parts(self) -> tuple[FloatArray, FloatArray]:
        """Vectors (3,) [1/m] whose products with a way from the middle tell how many edges u and v it is long."""
        square = dot(self._area, self._area)
        return np.cross(self.edge_v, self._area) / square, np.cross(self._area, self.edge_u) / square


Face = Annotated[PlaneRegion | DiscRegion | RectangleRegion, Field(discriminator="shape")]


class Counter(Record):
    """Counts the grains whose centre passes its region, along the normal and against it; it takes nothing out and changes no bits of a run.

    A grain counts in the step in which it passes, on the straight line from where the step began to where it ended. One that goes back
    counts back, so that ``count`` is what has passed in all. Grains that never move or that are fixed to a body do not count.
    """

    name: str = ""
    """None: ``counter-1`` and so on."""
    region: Face
    """Which grains are to pass."""
