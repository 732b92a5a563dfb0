"""Joints between bodies, with limits and motors: what makes a machine of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from ..arithmetic import dot, length
from ..records import Finite, Fraction, Positive, Record, Vector


class Limits(Record):
    """The range of a joint's coordinate: the angle [rad] of a hinge, the slide [m] of a slider or cylindrical joint, both 0 as the scene is
    given, or the length [m] of a distance."""

    lower: Finite | None = None
    """[m], of a hinge [rad]"""
    upper: Finite | None = None
    """[m], of a hinge [rad]"""
    restitution: Fraction = 0.0
    """Part of the speed with which the joint leaves its limit."""

    @model_validator(mode="after")
    def _ordered(self) -> Limits:
        if self.lower is None and self.upper is None:
            raise ValueError("limits need lower, upper, or both")
        if self.lower is not None and self.upper is not None and not self.lower < self.upper:
            raise ValueError(f"lower must be below upper, has {self.lower:g} and {self.upper:g}")
        return self


def _rows_of_two(value: Any) -> Any:
    """A table has rows of a time and a value."""
    for row in value if _is_table(value) == "table" else ():
        if not isinstance(row, (list, tuple, np.ndarray)) or len(row) != 2:
            raise ValueError(f"must be a number, or a table of rows of a time [s] and a value; has the row {row!r}")
    return value


def _is_table(value: Any) -> str:
    return "table" if isinstance(value, (list, tuple, np.ndarray)) else "number"


_Table = Annotated[tuple[tuple[Finite, Finite], ...], Tag("table")]
SetPoint = Annotated[Annotated[Finite, Tag("number")] | _Table, Discriminator(_is_table), BeforeValidator(_rows_of_two)]
"""A number, or a table of times [s] and values, joined by straight lines and constant outside."""


def value_at(point: SetPoint, time: float) -> float:
    """A set point at ``time`` [s]."""
    if not isinstance(point, tuple):
        return point
    if time <= point[0][0]:
        return point[0][1]
    for (t0, v0), (t1, v1) in pairwise(point):
        if time < t1:
            return v0 + (v1 - v0) * ((time - t0) / (t1 - t0))
    return point[-1][1]


class Motor(Record):
    """What drives the coordinate of a joint: to a speed, to a position, or with a force. Positive drives b away from a."""

    speed: SetPoint | None = None
    """[m/s], of a hinge [rad/s]"""
    position: SetPoint | None = None
    """[m], of a hinge [rad]: the motor goes there, follows it, or holds it"""
    force: SetPoint | None = None
    """[N], of a hinge [N m]"""
    pressure: SetPoint | None = None
    """[Pa] on ``area``: a force"""
    area: Positive | None = None
    """[m^2] that a pressure acts on"""
    force_limit: Positive | None = None
    """The largest force [N], of a hinge [N m], of a motor for speed or position. None: as much as it takes."""

    @model_validator(mode="after")
    def _one_target(self) -> Motor:
        given = [name for name in ("speed", "position", "force", "pressure") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"a motor needs one of speed, position, force and pressure, has {', '.join(given) or 'none'}")
        if (self.pressure is None) != (self.area is None):
            raise ValueError("pressure and area belong together: force = pressure x area")
        if self.force_limit is not None and given[0] in ("force", "pressure"):
            raise ValueError(f"force_limit bounds a motor for speed or position; this one gives its {given[0]}")
        table = getattr(self, given[0])
        if isinstance(table, tuple):
            if len(table) == 0:
                raise ValueError(f"{given[0]}: the table is empty")
            for (t0, _), (t1, _) in pairwise(table):
                if not t0 < t1:
                    raise ValueError(f"{given[0]}: times must grow from row to row, has {t0:g} s and then {t1:g} s")
        return self

    @property
    def mode(self) -> Literal["speed", "position", "force"]:
        """What the motor is told to reach; a pressure is a force."""
        return "speed" if self.speed is not None else "position" if self.position is not None else "force"

    def target(self, time: float) -> float:
        """The set point [m/s, rad/s, m, rad, N or N m] at ``time`` [s]."""
        if self.pressure is not None and self.area is not None:
            return self.area * value_at(self.pressure, time)
        point = self.speed if self.speed is not None else self.position if self.position is not None else self.force
        assert point is not None
        return value_at(point, time)


COORDINATES = "hinge, slider, cylindrical or distance"


class _Joint(Record):
    """What all joints have."""

    name: str
    """By which runs and recordings know it."""
    bodies: tuple[str, str]
    """Names of a and b; ``ground`` is the world."""

    @property
    def has_coordinate(self) -> bool:
        """Whether limits and a motor make sense."""
        return False

    @model_validator(mode="before")
    @classmethod
    def _nothing_to_drive(cls, data: Any) -> Any:
        given = [name for name in ("motor", "limits") if name not in cls.model_fields and isinstance(data, Mapping) and name in data]
        if given:
            raise ValueError(
                f"joint {data.get('name')!r} is a {data.get('kind', cls.__name__.lower())}, which has no coordinate for "
                f"{' and '.join(given)}: take a {COORDINATES}"
            )
        return data

    @model_validator(mode="after")
    def _two_bodies(self) -> Any:
        if self.bodies[0] == self.bodies[1]:
            raise ValueError(f"joint {self.name!r} links the body {self.bodies[0]!r} to itself; it needs two bodies")
        for axis in ("axis", "other_axis"):
            given = getattr(self, axis, None)
            if given is not None and not length(given) > 0:
                raise ValueError(f"{axis} of joint {self.name!r} must not be zero")
        return self


class _Driven(_Joint):
    """A joint with one coordinate."""

    limits: Limits | None = None
    """Where its coordinate ends; none: nowhere."""
    motor: Motor | None = None
    """What drives its coordinate; none: nothing."""

    @property
    def has_coordinate(self) -> bool:
        return True


class Ball(_Joint):
    """A point of b stays at a point of a."""

    kind: Literal["ball"] = "ball"
    anchor: Vector
    """[m] where the point is in the scene as it is given"""


class Hinge(_Driven):
    """b turns against a about an axis through a point. Its coordinate is the angle [rad]."""

    kind: Literal["hinge"] = "hinge"
    anchor: Vector
    """[m] a point on the axis, in the scene as it is given"""
    axis: Vector = (0.0, 0.0, 1.0)
    """In the scene as it is given; any length."""

    @model_validator(mode="after")
    def _turns(self) -> Hinge:
        if self.motor is not None and self.motor.pressure is not None:
            raise ValueError(f"joint {self.name!r} turns, and a pressure drives what slides: give the torque as force [N m]")
        return self


class Slider(_Driven):
    """b slides along an axis of a, and does not turn against it. Its coordinate is the way [m]."""

    kind: Literal["slider"] = "slider"
    axis: Vector = (0.0, 0.0, 1.0)
    """Along which b slides, in the scene as it is given; any length."""
    anchor: Vector | None = None
    """[m] where the two hold each other; none: at the position of b"""


class Cylindrical(_Driven):
    """b slides along an axis of a, and turns about it. Its coordinate is the way [m]."""

    kind: Literal["cylindrical"] = "cylindrical"
    anchor: Vector
    """[m]"""
    axis: Vector = (0.0, 0.0, 1.0)
    """Along and about which b moves, in the scene as it is given; any length."""


class Universal(_Joint):
    """A point of b stays at a point of a, and an axis of b across an axis of a (Cardan)."""

    kind: Literal["universal"] = "universal"
    anchor: Vector
    """[m]"""
    axis: Vector
    """Of a."""
    other_axis: Vector
    """Of b; across the first."""

    @model_validator(mode="after")
    def _across(self) -> Universal:
        u, v = np.asarray(self.axis), np.asarray(self.other_axis)
        if abs(float(dot(u, v))) > 1e-6 * float(length(u) * length(v)):
            raise ValueError(f"the two axes of joint {self.name!r} must be at a right angle, have {self.axis} and {self.other_axis}")
        return self


class Fixed(_Joint):
    """b does not move against a."""

    kind: Literal["fixed"] = "fixed"
    anchor: Vector | None = None
    """[m] where the two hold each other; none: at the position of b"""


class Distance(_Driven):
    """A rod or a hydraulic cylinder without mass between a point of a and a point of b. Its coordinate is the length [m].

    Without limits and motor it is a rod, whose length stays. With them the length is free within the limits, and the motor drives it.
    """

    kind: Literal["distance"] = "distance"
    anchors: tuple[Vector, Vector]
    """[m] the two points in the scene as it is given"""

    @model_validator(mode="after")
    def _apart(self) -> Distance:
        if not length(np.subtract(*self.anchors)) > 0:
            raise ValueError(f"the two anchors of joint {self.name!r} must not be the same point, have {self.anchors[0]}")
        for name, end in self._lengths():
            if not (end > 0 or (name == "lower" and end == 0)):
                raise ValueError(f"{name} of joint {self.name!r} is a length [m] from anchor to anchor and must be above 0, has {end:g}")
        return self

    def _lengths(self) -> Iterator[tuple[str, float]]:
        """Those that limits and motor name."""
        for name in ("lower", "upper"):
            end = getattr(self.limits, name, None)
            if end is not None:
                yield name, end
        held = self.motor.position if self.motor is not None else None
        if held is not None:
            yield from (("position", value) for value in ([row[1] for row in held] if isinstance(held, tuple) else [held]))

    @property
    def is_rod(self) -> bool:
        """Whether the length stays as it is."""
        return self.limits is None and self.motor is None


Joint = Annotated[Ball | Hinge | Slider | Cylindrical | Universal | Fixed | Distance, Field(discriminator="kind")]
