"""Conjugate gradients (EM Algorithms 3 and 4), with a preconditioner or without."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...array_types import FloatArray
from ..course import Course, dot, largest
from ..line_search import probe, search
from ..precondition import Preconditioner


@dataclass(frozen=True)
class ConjugateGradients:
    """Fletcher-Reeves as in EM, or Polak-Ribiere that starts anew when it would turn back."""

    preconditioner: Preconditioner
    fletcher_reeves: bool = False
    curvature: float = 0.1
    """c2 of the line search: directions stay conjugate only after a sharp one."""
    farthest: float = 0.25
    """Largest motion of a grain in a first trial, in mean diameters."""
    name: str = "cg"

    def run(self, course: Course, diameter: float) -> None:
        """Move ``course`` to a minimum; ``diameter`` [m] bounds the steps."""
        p, last = np.zeros_like(course.x), _Last()  # without a last step p is along the gradient
        while course.going:
            if self.preconditioner.refresh(course):
                last = _Last()
            z = self.preconditioner.apply(course.g)
            gz = dot(course.g, z)
            p = self._beta(z, gz, last) * p - z
            slope = dot(course.g, p)
            if not slope < 0:
                p, slope, last = -z, -gz, _Last()
            first = last.length * last.slope / slope if last.length else probe(course, p, slope, diameter)
            step = search(course, p, slope, min(first, self.farthest * diameter / largest(p)), self.curvature)
            if step is None:
                if not last.length:
                    course.stalled = "no step leads down: rounding"
                last = _Last()
                continue
            last = _Last(step.length, slope, gz, course.g)
            course.move(step.x, step.E, step.g)

    def _beta(self, z: FloatArray, gz: float, last: _Last) -> float:
        """How much of the last direction is kept."""
        if last.g is None:
            return 0.0
        if self.fletcher_reeves:
            return gz / last.gz
        return max(0.0, (gz - dot(z, last.g)) / last.gz)


class _Last(NamedTuple):
    """What the last step leaves to the next; nothing at the start, and when the search begins anew."""

    length: float = 0.0
    slope: float = 0.0
    gz: float = 0.0
    g: FloatArray | None = None
