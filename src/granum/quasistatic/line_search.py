"""Strong Wolfe line search that trusts slopes where differences of the energy drown in rounding."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..array_types import FloatArray
from .course import Course, dot, largest

DECREASE = 1e-4  # c1: part of the first slope that the energy must fall by
MOST_TRIALS = 25
PROBE = 1e-7  # of the packing's size: a motion that finds a curvature


class Step(NamedTuple):
    """Where the search has ended."""

    length: float
    x: FloatArray
    E: float
    g: FloatArray
    slope: float  # of the energy along the direction there


def search(course: Course, direction: FloatArray, slope: float, first: float, curvature: float) -> Step | None:
    """A step along ``direction`` (whose ``slope`` [J] is negative) with strong Wolfe conditions, beginning with the length ``first``.

    ``curvature`` is c2: the slope falls to this part of itself. Where the energy cannot tell, the approximate Wolfe conditions take its
    place: the slope may not rise above 1 - 2 c1 of what it was. None if no step leads down.
    """
    noise = course.energy.noise
    low, E_low, slope_low, high, slope_high = 0.0, course.E, slope, np.inf, np.nan
    length, best = first, None
    for _ in range(MOST_TRIALS):
        x = course.x + length * direction
        g = np.empty_like(x)
        E = course.energy.evaluate(x, g)
        here = dot(g, direction)
        falls = course.E + DECREASE * length * slope >= E or (course.E + noise >= E and here <= (2 * DECREASE - 1) * slope)
        if falls and abs(here) <= -curvature * slope:
            return Step(length, x, E, g, here)
        if falls and (best is None or E < best.E):
            best = Step(length, x, E, g, here)
        if not falls or E_low + noise < E or here >= 0:
            high, slope_high = length, here
        else:
            low, E_low, slope_low = length, E, here
        length = _between(low, slope_low, high, slope_high)
        if high < np.inf and high - low <= 1e-14 * high:
            break
    return best


def probe(course: Course, direction: FloatArray, slope: float, diameter: float) -> float:
    """The length at which the slope would vanish, from the curvature close by: for a direction that says nothing of how far to go."""
    near = PROBE / largest(direction) * max(float(np.ptp(course.x)), diameter)
    g = np.empty_like(course.x)
    course.energy.evaluate(course.x + near * direction, g)
    rise = dot(g, direction) - slope
    return -slope * near / rise if rise > 0 else near


def _between(low: float, slope_low: float, high: float, slope_high: float) -> float:
    """The next length: where the slope would vanish if it were linear, inside of the bracket; without one, four times further."""
    if high == np.inf:
        return 4 * low
    wide = high - low
    guess = low - slope_low * wide / (slope_high - slope_low) if slope_high > slope_low else np.nan
    return float(np.clip(guess, low + 0.05 * wide, high - 0.05 * wide)) if guess == guess else low + 0.5 * wide
