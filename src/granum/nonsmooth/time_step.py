"""The step that the nonsmooth stepper takes by itself, why, and the error that a step stands for (physics 9; SN 3).

No step is unstable here, for stiff grains neither: what limits a step is how far things move in it. SN (37) has the error
eps = max(v h / d, g h^2 / 2 d), in diameters d of the smallest grain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import length
from ..checks import InputError
from ..scene.scene import Scene
from ..scene.speeds import Speed, expected_speeds

Number = float | NDArray[np.float64]

FREE_FALL = 4e-4
"""eps_g [d]: how far a grain that is let go may fall in an automatic step, 0.9 ms for 1 cm on Earth. Dense flows down a chute of 22 to 26
degrees then keep their speed to 5 % and their density to 0.004. Grains at rest allow far more: WS's 5 ms for 13 mm are 0.01."""
REACH = 0.1
"""eps_v [d]: how far the fastest grain or wall that a scene lets expect may move in an automatic step."""


@dataclass(frozen=True)
class TimeStep:
    """A step and what decided on it."""

    seconds: float
    """h [s]"""
    reason: str
    """In words: "a fall of 0.26 m, 0.1 d per step"."""


def step_by_gravity(diameter: Number, gravity: Number, part: Number = FREE_FALL) -> Number:
    """sqrt(2 eps d / g) [s]: in it a grain falls from rest by ``part`` of the diameter [m] under ``gravity`` [m/s^2]."""
    with np.errstate(divide="ignore"):
        return np.sqrt(np.divide(2 * np.multiply(part, diameter), gravity))


def step_by_speed(diameter: Number, speed: Number, part: Number = REACH) -> Number:
    """eps d / v [s]: in it ``speed`` [m/s] goes ``part`` of the diameter [m]."""
    with np.errstate(divide="ignore"):
        return np.divide(np.multiply(part, diameter), speed)


def step_error(step: float, diameter: float, gravity: float, speed: float) -> float:
    """eps [d] of a step [s] (SN (37)): the further of what ``speed`` [m/s] goes in it and what a grain falls in it from rest."""
    return max(speed * step / diameter, gravity * step * step / (2 * diameter))


def largest_step(diameter: float, gravity: float, speed: Speed | None) -> TimeStep | None:
    """The automatic step for grains of a diameter [m] under gravity [m/s^2] and the fastest speed; None where nothing moves."""
    by_gravity = float(step_by_gravity(diameter, gravity))
    by_speed = float(step_by_speed(diameter, speed.value)) if speed is not None else math.inf
    if speed is not None and by_speed < by_gravity:
        return TimeStep(by_speed, f"{speed.reason}, {REACH:g} d per step")
    return TimeStep(by_gravity, f"gravity, {FREE_FALL:g} d of a fall from rest per step") if math.isfinite(by_gravity) else None


def automatic_step(scene: Scene) -> TimeStep:
    """The step of a scene that gives none: its smallest grain (or body, if there are none), gravity and the speeds that it lets expect."""
    smallest = scene.finest
    if not math.isfinite(smallest):
        raise InputError("time_step must be given: without grains or emitters there is nothing to derive it from.")
    gravity = float(length(scene.gravity.acceleration))
    found = largest_step(smallest, gravity, next(iter(expected_speeds(scene)), None))
    if found is None:
        raise InputError(
            "time_step must be given: without gravity, and with all grains and walls at rest, there is no speed to derive it from. "
            "Give time_step [s] (--time-step), gravity, or what moves a velocity."
        )
    return found


def as_typed(seconds: float) -> str:
    """A step with two digits, rounded down, as one would type it: 9.1e-4."""
    exponent = math.floor(math.log10(seconds))
    digits = math.floor(seconds / 10.0 ** (exponent - 1) + 1e-9)
    return f"{digits / 10:g}e{exponent}"
