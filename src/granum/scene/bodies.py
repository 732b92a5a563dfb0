"""Wall bodies: what owns walls, and how it moves: not at all, as prescribed, or as pushed."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from pydantic import model_validator

from ..arithmetic import cos, length
from ..array_types import FloatArray
from ..records import Finite, NonNegative, Positive, Record, Vector
from .shapes import Shape

ZERO: Vector = (0.0, 0.0, 0.0)


class Motion(Record):
    """A prescribed motion: steady, oscillating, or both, between ``start`` and ``stop`` [s]."""

    velocity: Vector = ZERO
    """[m/s]"""
    spin: Vector = ZERO
    """[rad/s] about the body's position, world axes."""
    amplitude: Vector = ZERO
    """[m] of an oscillation x = amplitude sin(2 pi frequency t)."""
    frequency: NonNegative = 0.0
    """[Hz]"""
    start: Finite = 0.0
    stop: Finite | None = None
    """none: for ever."""

    @model_validator(mode="after")
    def _ordered(self) -> Motion:
        if self.stop is not None and self.stop < self.start:
            raise ValueError(f"stop must not be before start, has {self.start:g} and {self.stop:g} s")
        return self

    def at(self, time: float) -> tuple[FloatArray, FloatArray]:
        """Velocity [m/s] and spin [rad/s] at ``time`` [s]."""
        if time < self.start or (self.stop is not None and time >= self.stop):
            return np.zeros(3), np.zeros(3)
        velocity, spin = np.asarray(self.velocity, float), np.asarray(self.spin, float)
        if self.frequency > 0 and any(self.amplitude):
            turns = self.frequency * (time - self.start)
            swing = 2 * np.pi * self.frequency * cos(2 * np.pi * (turns - math.floor(turns)))
            velocity = velocity + swing * np.asarray(self.amplitude)
        return velocity, spin


class Body(Record):
    """A wall body and its walls.

    In the nonsmooth stepper a dynamic body touches other bodies too: it rests, slides, tips and bounces on planes, boxes, meshes and other
    dynamic bodies (``touches``). Bodies that do not yield, static or driven, pass through each other and through static grains. Walls that
    are built into each other at the start, as a piston in its cylinder may be, pass through each other as well; the run says so.
    """

    name: str
    kind: Literal["static", "kinematic", "dynamic"] = "static"
    position: Vector = ZERO
    """[m] of the body's frame; the centre of mass of a dynamic body."""
    orientation: tuple[Finite, Finite, Finite, Finite] = (1.0, 0.0, 0.0, 0.0)
    """Unit quaternion, w first, from the body's frame to the world."""
    motion: Motion = Motion()
    """Of a kinematic body."""
    mass: Positive | None = None
    """[kg] of a dynamic body."""
    inertia: tuple[Positive, Positive, Positive] | None = None
    """Principal moments [kg m^2] about the axes of the body's frame, of a dynamic body."""
    velocity: Vector = ZERO
    """Initial velocity [m/s] of a dynamic body."""
    spin: Vector = ZERO
    """Initial spin [rad/s] of a dynamic body."""
    force: Vector = ZERO
    """Constant external force [N] on a dynamic body, besides gravity."""
    touches: Literal["all", "grains"] = "all"
    """``grains``: the body passes through all other bodies and touches grains only. Two bodies touch if both touch ``all``."""
    walls: tuple[Shape, ...] = ()

    @model_validator(mode="after")
    def _complete(self) -> Body:
        if self.kind == "dynamic" and (self.mass is None or self.inertia is None):
            raise ValueError(f"dynamic body {self.name!r} needs mass [kg] and inertia [kg m^2, three moments]")
        if self.kind != "dynamic":
            given = [name for name in ("mass", "inertia", "velocity", "spin", "force") if getattr(self, name) not in (None, ZERO)]
            if given:
                raise ValueError(
                    f"body {self.name!r} is {self.kind}; only a dynamic body has {' and '.join(given)}"
                    + (" (a kinematic one has a motion)" if self.kind == "kinematic" else "")
                )
        elif any(wall.surface_velocity != ZERO for wall in self.walls):
            raise ValueError(f"body {self.name!r} is dynamic; a belt (surface_velocity) needs a static or kinematic body")
        if self.kind != "kinematic" and self.motion != Motion():
            raise ValueError(f"body {self.name!r} is {self.kind}; only a kinematic body has a motion")
        if not length(self.orientation) > 0:
            raise ValueError(f"orientation of body {self.name!r} must not be zero")
        return self
