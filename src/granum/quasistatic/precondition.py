"""Preconditioners of the minimisers: cheap stand-ins for the Hessian that can be inverted.

``Identity`` none; ``Adjacency`` who is near whom (EM (19)-(21)); ``ContactStiffness`` the stiffness of the contact network itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from .._jit import FloatArray
from .cholesky import Factor, Plan
from .course import Course, dot
from .neighbours import farthest, find_pairs

if TYPE_CHECKING:
    from .energy import PackingEnergy

CUTOFF = 2.2            # of the largest radius: how far neighbours of EM (20) reach
STABILISER = 0.1        # C_stab
PROBE = 1e-3            # M of EM (22), in cutoffs
MOVED = 0.25            # of the cutoff: a grain that has gone so far makes a new matrix


class Preconditioner(Protocol):
    """An inverse of something like the Hessian."""

    name: str
    scaled: bool  # whether its steps have the right length from the start

    def refresh(self, course: Course) -> bool:
        """Look where ``course`` is, before an iteration; True if the matrix is another one now."""

    def apply(self, q: FloatArray) -> FloatArray:
        """P^-1 q for (N, d)."""

    def gamma(self, s: FloatArray, y: FloatArray) -> float:
        """The factor that makes P^-1 right along the last step s with change of gradient y."""


class Identity:
    """No preconditioner."""

    name, scaled = "", False

    def refresh(self, course: Course) -> bool:
        return False

    def apply(self, q: FloatArray) -> FloatArray:
        return q.copy()

    def gamma(self, s: FloatArray, y: FloatArray) -> float:
        return dot(s, y) / dot(y, y)


class Adjacency:
    """The graph Laplacian of near grains, each direction by itself: weights exp(-A (distance/mean - 1)), A = 0 for the plain adjacency.

    Its scale mu follows from a long wave (EM (21)); the matrix is made anew when a grain has moved a quarter of the cutoff.
    """

    scaled = True

    def __init__(self, decay: float = 0.0) -> None:
        self.name, self.decay = ("exponential" if decay else "adjacency"), decay
        self._reference: FloatArray | None = None

    def refresh(self, course: Course) -> bool:
        energy: PackingEnergy = course.energy  # type: ignore[assignment]
        cutoff = CUTOFF * float(energy.radius.max())
        if self._reference is not None and farthest(course.x, self._reference) <= (MOVED * cutoff) ** 2:
            return False
        cell, count = energy.packing.cell, len(course.x)
        pairs = find_pairs(cell, course.x, np.full(count, cutoff / 2))
        a, b = pairs.a, pairs.b
        distance = np.linalg.norm(course.x[b] + pairs.shift(cell)[pairs.image] - course.x[a], axis=1)
        weight = np.exp(-self.decay * (distance / distance.mean() - 1)) if self.decay else np.ones(len(a))
        weight[a == b] = 0
        total = STABILISER + np.bincount(a, weight, count) + np.bincount(b, weight, count)
        factor = Plan(count, a, b, cell.wrap(course.x)).factorise(total[:, None, None], -weight[:, None, None])
        assert factor is not None  # diagonally dominant
        self._factor = factor
        course.factorisations += 1
        # mu: what a long wave feels
        wave = PROBE * cutoff * np.sin(2 * np.pi * (course.x @ cell.inverse))
        there = np.empty_like(wave)
        energy.evaluate(course.x + wave, there)
        ripple = wave[a] - wave[b]
        square = STABILISER * dot(wave, wave) + float(np.sum(weight * np.sum(ripple**2, axis=1)))
        mu = dot(wave, there - course.g) / square
        least = 1e-3 * energy.law.stiffness * (cutoff * PROBE) ** (energy.law.alpha - 2)
        self.mu = max(mu, least)
        self._reference = course.x.copy()
        return True

    def apply(self, q: FloatArray) -> FloatArray:
        return self._factor.solve(q) / self.mu

    def gamma(self, s: FloatArray, y: FloatArray) -> float:
        return dot(s, y) / dot(y, self.apply(y))


class ContactStiffness:
    """The Hessian of the energy, with the stiffness of every contact averaged over the overlaps that the motion runs through.

    Where it has no inverse (rattlers, translations, prestress that would buckle) a multiple of the unit matrix is added.
    """

    name, scaled = "contacts", True

    def __init__(self, every: int = 15, spread: float = 3.0) -> None:
        self.every, self.spread = every, spread
        self._age = 0
        self._width = None
        self._factor: Factor | None = None
        self._last: FloatArray | None = None

    def refresh(self, course: Course) -> bool:
        if self._factor is not None and self._age < self.every:
            self._age += 1
            self._prev, self._last = self._last, course.x
            return False
        self._age = 1
        energy: PackingEnergy = course.energy  # type: ignore[assignment]
        if self._last is None:
            width = self.first_width(course)
        else:
            pairs = energy.pairs
            move = course.x - self._prev
            rel = move[pairs.a] - move[pairs.b]
            width = self.spread * np.sqrt(np.max(np.sum(rel**2, axis=1)))
        self.build(course, width)
        self._prev, self._last = course.x, course.x
        return True

    def first_width(self, course):
        return 0.0

    def build(self, course, width):
        energy = course.energy
        pairs, K = energy.stiffness(course.x, width)
        n, d = course.x.shape
        keep = K.reshape(len(K), -1).any(axis=1)
        a, b, K = pairs.a[keep], pairs.b[keep], K[keep]
        diag = np.zeros((n, d, d))
        np.add.at(diag, a, K); np.add.at(diag, b, K)
        scale = np.trace(diag.mean(axis=0)) / d
        shift = 1e-9 * scale
        plan = Plan(n, a, b, energy.packing.cell.wrap(course.x))
        while True:
            self._factor = plan.factorise(diag + shift * np.eye(d), -K)
            course.factorisations += 1
            if self._factor is not None: break
            shift *= 100
        self.shift = shift / scale; self.width = width
        if getattr(self, 'verbose', 0): print('   build it', course.iterations, 'width', width, 'shift', shift/scale, 'res', course.residual)

    def apply(self, q: FloatArray) -> FloatArray:
        return self._factor.solve(q)

    def gamma(self, s: FloatArray, y: FloatArray) -> float:
        return dot(s, y) / dot(y, self.apply(y))
