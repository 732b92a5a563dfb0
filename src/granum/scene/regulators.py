"""Regulators that set motors of joints before every step: to a stress on an area that changes, or to a speed."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from ..records import Finite, NonNegative, Positive, Record
from .joints import Motor, SetPoint, value_at


class Span(Record):
    """A length [m] that sliding joints change: what it is at the start, less the ways of the joints."""

    length: Positive
    """[m] as the scene is given"""
    joints: tuple[str, ...]
    """Sliders whose positive way makes it shorter, as platens whose axes point inwards."""


class Regulator(Record):
    """Sets the motor of a joint before every step, so that a stress or a speed follows its set point.

    What the motor drives by itself is set directly: a motor for force gets stress x area, a motor for speed the speed. Else the regulator
    is of kind PI: with e = set point - what was measured in the last step, it sets ``proportional`` e + ``integral`` times the integral of
    e over time, starting from what the motor does when the regulator takes over.
    """

    name: str
    """Of the regulator."""
    joint: str
    """Name of a joint with a motor for force or for speed. At any time one regulator works on it at most; until the first does, the motor
    does as the scene says, and when none does any more it keeps its last target."""
    stress: SetPoint | None = None
    """[Pa] of the motor's force on ``area``: a number, or a table of times and values"""
    speed: SetPoint | None = None
    """[m/s] of the joint's coordinate, of a hinge [rad/s]: a number, or a table of times and values"""
    area: Positive | None = None
    """[m^2] that a stress acts on, as the scene is given"""
    spans: tuple[Span, ...] = ()
    """Edges of that area that change: it grows and shrinks with each of them."""
    proportional: NonNegative = 0.0
    """Of a stress by a motor for speed [m/s/Pa], below h area / 2 m for a step h and a mass m; of a speed by a motor for force [N s/m],
    below m / h: larger gains swing."""
    integral: NonNegative = 0.0
    """[m/s/(Pa s)] or [N/m]"""
    start: Finite = 0.0
    """[s] from when on it works"""
    stop: Finite | None = None
    """[s] until when; none: to the end of the run"""

    @model_validator(mode="after")
    def _complete(self) -> Regulator:
        if (self.stress is None) == (self.speed is None):
            raise ValueError(f"regulator {self.name!r} needs a stress or a speed, and not both")
        if (self.stress is None) != (self.area is None):
            raise ValueError(f"regulator {self.name!r}: stress and area belong together, force = stress x area")
        if self.spans and self.area is None:
            raise ValueError(f"regulator {self.name!r}: spans are edges of an area, and a speed has none")
        if self.stop is not None and not self.start < self.stop:
            raise ValueError(f"regulator {self.name!r} must start before it stops, has {self.start:g} s and {self.stop:g} s")
        return self

    @property
    def quantity(self) -> Literal["stress", "speed"]:
        """What follows the set point."""
        return "stress" if self.stress is not None else "speed"

    def set_point(self, time: float) -> float:
        """[Pa, m/s or rad/s] at ``time`` [s]."""
        point = self.stress if self.stress is not None else self.speed
        assert point is not None
        return value_at(point, time)

    def works_at(self, time: float) -> bool:
        """Whether it sets its motor for a step that begins at ``time`` [s]."""
        return self.start <= time and (self.stop is None or time < self.stop)

    def is_direct(self, motor: Motor) -> bool:
        """Whether the motor of its joint drives what is regulated by itself."""
        return (motor.mode == "force") == (self.quantity == "stress")


def check_regulator(regulator: Regulator, motor: Motor | None) -> None:
    """ValueError unless it can work on a joint with this motor."""
    if motor is None or motor.mode == "position":
        raise ValueError(f"regulator {regulator.name!r}: joint {regulator.joint!r} needs a motor for force or for speed")
    has_gains = regulator.proportional > 0 or regulator.integral > 0
    if regulator.is_direct(motor) and has_gains:
        raise ValueError(
            f"regulator {regulator.name!r}: the motor of joint {regulator.joint!r} drives the {regulator.quantity} by itself: leave "
            "proportional and integral out"
        )
    if not regulator.is_direct(motor) and not has_gains:
        raise ValueError(
            f"regulator {regulator.name!r} of a {regulator.quantity} needs proportional or integral above 0: the motor of joint "
            f"{regulator.joint!r} is for {motor.mode}"
        )


def check_turns(regulators: tuple[Regulator, ...]) -> None:
    """ValueError if two regulators work on one joint at the same time."""
    for k, one in enumerate(regulators):
        for other in regulators[:k]:
            later = max(one.start, other.start)
            if one.joint == other.joint and one.works_at(later) and other.works_at(later):
                raise ValueError(f"regulators {other.name!r} and {one.name!r} both work on joint {one.joint!r} at t = {later:g} s")
