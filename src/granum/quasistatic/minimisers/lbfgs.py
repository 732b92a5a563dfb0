"""L-BFGS: steps from the last few changes of place and force (EM Algorithm 2), on top of a preconditioner or a plain scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._jit import kernel
from ...array_types import FloatArray
from ..course import Course, dot, largest
from ..line_search import probe, search
from ..precondition import Preconditioner


@dataclass(frozen=True)
class LBFGS:
    """L-BFGS with ``memory`` pairs."""

    preconditioner: Preconditioner
    memory: int = 10
    curvature: float = 0.9
    """c2 of the line search."""
    farthest: float = 0.25
    """Largest motion of a grain in a first trial, in mean diameters."""
    nearest: float = 1e-3
    """And how far a first trial may always go: after a step that was cut short the next trial goes twice as far as that, and no less."""
    name: str = "lbfgs"

    def run(self, course: Course, diameter: float) -> None:
        """Move ``course`` to a minimum; ``diameter`` [m] bounds the steps."""
        memory, reach = _Memory(self.memory, course.x), self.farthest
        while course.going:
            self.preconditioner.refresh(course)
            p = memory.direction(course.g, self.preconditioner)
            slope = dot(course.g, p)
            if not slope < 0:
                memory.clear()
                p = -self.preconditioner.apply(course.g)
                slope = dot(course.g, p)
            first = 1.0 if memory.count or self.preconditioner.scaled else probe(course, p, slope, diameter)
            span = largest(p) / diameter
            first = min(first, reach / span)
            step = search(course, p, slope, first, self.curvature)
            if step is None:
                if memory.count == 0:
                    course.stalled = "no step leads down: rounding"
                memory.clear()
                continue
            # One soft spot stops all grains: trials beyond it cost energies and new pair lists, time after time.
            reach = min(4 * reach, self.farthest) if step.length >= first else max(2 * step.length * span, self.nearest)
            memory.add(step.x - course.x, step.g - course.g)
            course.move(step.x, step.E, step.g)


class _Memory:
    """The last changes of place s and of gradient y, as rows that are written over in turn."""

    def __init__(self, length: int, like: FloatArray) -> None:
        self._s, self._y = np.zeros((length, like.size)), np.zeros((length, like.size))
        self._rho, self._alpha = np.zeros(length), np.zeros(length)
        self.count = self._next = 0

    def clear(self) -> None:
        self.count = self._next = 0

    def add(self, s: FloatArray, y: FloatArray) -> None:
        sy = dot(s, y)
        if sy > 1e-300 and sy > 1e-14 * np.sqrt(dot(s, s) * dot(y, y)):
            self._s[self._next], self._y[self._next], self._rho[self._next] = s.ravel(), y.ravel(), 1 / sy
            self._next = (self._next + 1) % len(self._rho)
            self.count = min(self.count + 1, len(self._rho))

    def direction(self, g: FloatArray, preconditioner: Preconditioner) -> FloatArray:
        """-B g."""
        q = g.ravel().copy()
        _first_loop(self._s, self._y, self._rho, self.count, self._next, q, self._alpha)
        r = preconditioner.apply(q.reshape(g.shape)).ravel()
        if self.count:
            last = (self._next - 1) % len(self._rho)
            r = preconditioner.gamma(self._s[last].reshape(g.shape), self._y[last].reshape(g.shape)) * r
        _second_loop(self._s, self._y, self._rho, self.count, self._next, r, self._alpha)
        return -r.reshape(g.shape)


@kernel
def _first_loop(s: FloatArray, y: FloatArray, rho: FloatArray, count: int, next_row: int, q: FloatArray, alpha: FloatArray) -> None:
    for n in range(count):
        k = (next_row - 1 - n) % len(rho)
        alpha[k] = rho[k] * dot(s[k], q)
        for i in range(len(q)):
            q[i] -= alpha[k] * y[k, i]


@kernel
def _second_loop(s: FloatArray, y: FloatArray, rho: FloatArray, count: int, next_row: int, r: FloatArray, alpha: FloatArray) -> None:
    for n in range(count):
        k = (next_row - count + n) % len(rho)
        beta = alpha[k] - rho[k] * dot(y[k], r)
        for i in range(len(r)):
            r[i] += beta * s[k, i]
