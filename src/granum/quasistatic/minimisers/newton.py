"""Newton's method in a trust region: the exact Hessian, its step by truncated conjugate gradients (Steihaug)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...arithmetic import mean, product, times
from ...array_types import FloatArray, IntArray
from ..blocks import diagonal_blocks, eigenpairs, multiply
from ..course import Course, dot, largest
from ..energy import of_packing
from ..precondition import Preconditioner


@dataclass(frozen=True)
class Newton:
    """Truncated Newton with the exact Hessian; without another preconditioner its blocks on the diagonal serve as one."""

    preconditioner: Preconditioner
    first_radius: float = 0.02
    """Of the trust region, in mean diameters (norm over all grains)."""
    accept: float = 1e-4
    """Of the predicted decrease: a step with less is not taken."""
    inner_limit: int = 2000
    """Conjugate gradient iterations of a step."""
    name: str = "newton"

    def run(self, course: Course, diameter: float) -> None:
        """Move ``course`` to a minimum; ``diameter`` [m] sizes the first trust region."""
        radius = self.first_radius * diameter * np.sqrt(len(course.x))
        g = np.empty_like(course.x)
        while course.going:
            self.preconditioner.refresh(course)
            pairs, block = of_packing(course).stiffness(course.x)
            used = block.any(axis=(1, 2))
            hessian = Hessian(pairs.a[used], pairs.b[used], block[used])
            own = hessian.inverse_blocks(len(course.x)) if not self.preconditioner.name else None
            goal = min(0.1, np.sqrt(course.residual / course.first_residual)) * np.sqrt(dot(course.g, course.g))
            u, predicted = self._step(course.g, hessian, own, radius, goal)
            x = course.x + u
            E = course.energy.evaluate(x, g)
            won = course.E - E
            # Where rounding hides the decrease the slope at the end must tell.
            good = won >= self.accept * predicted or (abs(won) <= course.energy.noise and abs(dot(g, u)) <= abs(dot(course.g, u)))
            long = np.sqrt(dot(u, u))
            if good:
                course.move(x, E, g)
                g = np.empty_like(g)
                radius = max(radius, 2 * long) if won > 0.75 * predicted else radius
            else:
                radius = 0.25 * long
                if radius < 1e-16 * largest(course.x):
                    course.stalled = "no step leads down: rounding"

    def _step(self, g: FloatArray, hessian: Hessian, own: FloatArray | None, radius: float, goal: float) -> tuple[FloatArray, float]:
        """Minimise g.u + u.H u / 2 within ``radius`` [m], until the gradient of it is below ``goal`` [N]; u and the decrease [J]."""
        u, r = np.zeros_like(g), g.copy()
        z = self._inverse(r, own)
        p, rz = -z, dot(r, z)
        for _ in range(self.inner_limit):
            hp = hessian.times(p)
            bend = dot(p, hp)
            length = rz / bend if bend > 0 else np.inf
            edge = _to_edge(u, p, radius)
            u = u + min(length, edge) * p
            if length >= edge:
                break
            r = r + length * hp
            if dot(r, r) <= goal * goal:
                break
            z = self._inverse(r, own)
            rz, before = dot(r, z), rz
            p = rz / before * p - z
        return u, -dot(g, u) - dot(u, hessian.times(u)) / 2

    def _inverse(self, r: FloatArray, own: FloatArray | None) -> FloatArray:
        return self.preconditioner.apply(r) if own is None else times(own, r)


def _to_edge(u: FloatArray, p: FloatArray, radius: float) -> float:
    """The length at which u + length p leaves the trust region."""
    pp, up = dot(p, p), dot(u, p)
    room = radius * radius - dot(u, u)
    return (np.sqrt(max(up * up + pp * room, 0.0)) - up) / pp


class Hessian(NamedTuple):
    """A sparse matrix by its contacts: see :mod:`~granum.quasistatic.blocks`."""

    a: IntArray
    b: IntArray
    blocks: FloatArray

    def times(self, v: FloatArray) -> FloatArray:
        """H v (N, d)."""
        return multiply(self.a, self.b, self.blocks, v)

    def inverse_blocks(self, count: int) -> FloatArray:
        """(N, d, d) inverses of the diagonal blocks, made positive where they are not."""
        size, vectors = eigenpairs(diagonal_blocks(count, self.a, self.b, self.blocks))
        size = np.abs(size)
        least = 1e-3 * mean(size.max(axis=1))
        return product(vectors / np.maximum(size, max(least, 1e-300))[:, None, :], vectors.transpose(0, 2, 1))
