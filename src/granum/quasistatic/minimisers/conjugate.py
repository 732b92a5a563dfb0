"""Conjugate gradients (EM Algorithms 3 and 4), with a preconditioner or without."""

from __future__ import annotations

from dataclasses import dataclass

from ..course import Course, dot, largest
from ..line_search import probe, search
from ..precondition import Preconditioner

CURVATURE = 0.1     # c2: directions stay conjugate only after a sharp search
FARTHEST = 0.25     # largest motion of a grain in a first trial, in mean diameters
LOST = 0.2          # of |g|^2: successive gradients that share more are no longer conjugate, so that the search starts anew


@dataclass
class ConjugateGradients:
    """Fletcher-Reeves as in EM, or Polak-Ribiere that starts anew when it would turn back."""

    preconditioner: Preconditioner
    fletcher_reeves: bool = False
    name: str = "cg"

    def run(self, course: Course, diameter: float) -> None:
        """Move ``course`` to a minimum; ``diameter`` [m] bounds the steps."""
        p = z = None
        while course.going:
            if self.preconditioner.refresh(course):
                p = None
            z = self.preconditioner.apply(course.g)
            gz = dot(course.g, z)
            if p is None:
                p, length = -z, 0.0
            else:
                beta = gz / gz_before if self.fletcher_reeves else max(0.0, (gz - dot(z, g_before)) / gz_before)
                p = beta * p - z
            slope = dot(course.g, p)
            if not slope < 0:
                p, length = -z, 0.0
                slope = -gz
            first = length * slope_before / slope if length else probe(course, p, slope)
            step = search(course, p, slope, min(first, FARTHEST * diameter / largest(p)), CURVATURE)
            if step is None:
                if length == 0.0:
                    course.stalled = "no step leads down: rounding"
                p = None
                continue
            length, slope_before, gz_before, g_before = step.length, slope, gz, course.g
            course.move(step.x, step.E, step.g)
