"""FIRE: grains that fall downhill with inertia, and stop whenever they would climb. The baseline that is hard to beat far from jamming."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._jit import kernel
from ...arithmetic import normal
from ...array_types import FloatArray
from ..course import Course, dot, largest
from ..precondition import Preconditioner


@dataclass(frozen=True)
class FIRE:
    """FIRE with unit masses, or with the preconditioner as mass."""

    preconditioner: Preconditioner
    longest: float = 1.55
    """Largest time step, in units of 1/omega of the stiffest mode: 2 is the limit of stability."""
    shortest: float = 1e-6
    """Of the largest time step: what is left is rounding."""
    faster: float = 1.1
    """Of the time step, after a run downhill."""
    slower: float = 0.5
    """Of the time step, after a turn."""
    patience: int = 5
    """Steps downhill before the time step grows."""
    first_mixing: float = 0.1
    """How much of the velocity is turned downhill."""
    less_mixing: float = 0.99
    """How that fades, step by step."""
    look_every: int = 1000
    """Iterations between two looks at the stiffest mode, which bounds the time step."""
    farthest: float = 0.25
    """Largest motion of a grain in an iteration, in mean diameters."""
    name: str = "fire"

    def run(self, course: Course, diameter: float) -> None:
        """Move ``course`` to a minimum; ``diameter`` [m] bounds the steps."""
        v = np.zeros_like(course.x)
        h = limit = 0.0
        highest, longest = course.E, self.longest
        down, mixing, looked, loose = 0, self.first_mixing, -self.look_every, False
        while course.going:
            if self.preconditioner.refresh(course) or course.iterations - looked >= self.look_every:
                stiff, looked = stiffest(course, self.preconditioner, diameter), course.iterations
                loose = not stiff > 0  # nothing touches: the longest step stops the largest force
                limit = longest / np.sqrt(largest(self.preconditioner.apply(course.g)) / (self.farthest * diameter) if loose else stiff)
                h = min(h, limit) if h else limit / 4
            force = -self.preconditioner.apply(course.g)
            if dot(course.g, v) < 0:
                down += 1
                if down > self.patience:
                    h, mixing = min(h * self.faster, limit), mixing * self.less_mixing
            elif down:
                v[:] = 0.0
                h, mixing, down = h * self.slower, self.first_mixing, 0
                if loose:  # something has been met
                    looked = -self.look_every
                    continue
                if h < self.shortest * limit:
                    course.stalled = "the time step has shrunk to nothing: rounding"
                    break
            x = course.x.copy()
            _fall(x, v, force, h, mixing, self.farthest * diameter)
            g = np.empty_like(x)
            E = course.energy.evaluate(x, g)
            if highest + course.energy.noise < E and h > self.shortest * limit:  # no fall ends above its start: the time step is too long
                v[:] = 0.0
                h, down = h * self.slower, 0
                longest *= 1.0 if loose else self.slower
                continue
            course.move(x, E, g)


@kernel
def _fall(x: FloatArray, v: FloatArray, force: FloatArray, h: float, mixing: float, farthest: float) -> None:
    """Semi-implicit Euler, with the velocity turned downhill a little; no grain goes farther than ``farthest`` [m]."""
    for i in range(len(v)):
        for k in range(v.shape[1]):
            v[i, k] += h * force[i, k]
    speed, push = np.sqrt(dot(v, v)), np.sqrt(dot(force, force))
    turn = mixing * speed / push if push > 0.0 else 0.0
    for i in range(len(v)):
        for k in range(v.shape[1]):
            v[i, k] = (1.0 - mixing) * v[i, k] + turn * force[i, k]
    part = min(1.0, farthest / (h * largest(v) + 1e-300))
    for i in range(len(v)):
        for k in range(v.shape[1]):
            x[i, k] += part * h * v[i, k]


def stiffest(course: Course, preconditioner: Preconditioner, diameter: float) -> float:
    """Largest eigenvalue of P^-1 H at x, by some power iterations of finite differences; [N/m] without a preconditioner.

    0 where nothing touches.
    """
    rng = np.random.default_rng(0)
    v = normal(rng, course.x.shape)
    g = np.empty_like(v)
    value = 0.0
    small = 1e-7 * max(float(np.ptp(course.x)), diameter)
    for _ in range(20):
        v *= small / largest(v)
        course.energy.evaluate(course.x + v, g)
        w = preconditioner.apply(g - course.g)
        if not largest(w) > 0:
            return 0.0
        value = np.sqrt(dot(w, w) / dot(v, v))
        v = w
    return float(value)
