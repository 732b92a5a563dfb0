"""Preconditioners of the minimisers: cheap stand-ins for the Hessian that can be inverted.

``Identity`` none; ``Adjacency`` who is near whom (EM (19)-(21)); ``ContactStiffness`` the stiffness of the contact network itself.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from .._jit import kernel
from ..arithmetic import dot as inner
from ..arithmetic import exp, length, mean, power, product, sin
from ..arithmetic import total as sum_up
from ..array_types import FloatArray, IntArray
from ..checks import RunError
from ..linalg import Factor, Plan
from .blocks import diagonal_blocks
from .course import Course, dot
from .energy import of_packing
from .neighbours import farthest, find_pairs

CUTOFF = 2.2  # of the largest radius: how far neighbours of EM (20) reach
STABILISER = 0.1  # C_stab
PROBE = 1e-3  # M of EM (22), in cutoffs
MOVED = 0.25  # of the cutoff: a grain that has gone so far makes a new matrix
MOST_DIRECT = 20_000  # grains in 3D whose matrix is factorised; factors of more are too dense
CG_PART = 1e-4  # of the right side, left by conjugate gradients
LEAST_WIDTH = 10.0  # of the averaged overlaps, in residuals over the mean stiffness
EVERY = {2: 12, 3: 60}  # iterations with one factorisation, by dimension: in 3D factors are dear
SHIFTS = (1e-7, 1e-5, 1e-3, 1e-1, 1e1, 1e3, 1e6)  # of the mean stiffness, tried one after the other; in 3D from the second on


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
        energy = of_packing(course)
        cutoff = CUTOFF * float(energy.radius.max())
        if self._reference is not None and farthest(course.x, self._reference) <= MOVED * cutoff * MOVED * cutoff:
            return False
        cell, count = energy.packing.cell, len(course.x)
        pairs = find_pairs(cell, course.x, np.full(count, cutoff / 2))
        a, b = pairs.a, pairs.b
        distance = length(course.x[b] + pairs.shift(cell)[pairs.image] - course.x[a])
        weight = exp(-self.decay * (distance / mean(distance) - 1)) if self.decay else np.ones(len(a))
        weight[a == b] = 0
        total: FloatArray = np.asarray(STABILISER + np.bincount(a, weight, count) + np.bincount(b, weight, count), np.float64)
        self._inverse: Factor | Laplacian
        if course.x.shape[1] == 3 and count > MOST_DIRECT:
            self._inverse = Laplacian(a, b, weight, total)
        else:
            factor = Plan(count, a, b, cell.wrap(course.x)).factorise(total[:, None, None], -weight[:, None, None])
            assert factor is not None  # diagonally dominant
            self._inverse = factor
            course.factorisations += 1
        # mu: what a long wave feels
        wave = PROBE * cutoff * sin(2 * np.pi * product(course.x, cell.inverse))
        there = np.empty_like(wave)
        energy.evaluate(course.x + wave, there)
        ripple = wave[a] - wave[b]
        square = STABILISER * dot(wave, wave) + sum_up(weight * inner(ripple, ripple))
        mu = dot(wave, there - course.g) / square
        least = 1e-3 * energy.law.stiffness * power(cutoff * PROBE, energy.law.alpha - 2)
        self.mu = max(mu, least)
        self._reference = course.x.copy()
        return True

    def apply(self, q: FloatArray) -> FloatArray:
        return self._inverse.solve(q) / self.mu

    def gamma(self, s: FloatArray, y: FloatArray) -> float:
        return dot(s, y) / dot(y, self.apply(y))


class Laplacian:
    """A graph Laplacian with a stabilised diagonal, inverted by conjugate gradients: for those whose factors would be too dense."""

    def __init__(self, a: IntArray, b: IntArray, weight: FloatArray, total: FloatArray) -> None:
        self._a, self._b, self._weight, self._total = a, b, weight, total

    def solve(self, q: FloatArray) -> FloatArray:
        """P^-1 q for (N, d), to a small part of q."""
        u, r = np.zeros_like(q), q.copy()
        z = r / self._total[:, None]
        p, rz = z, dot(r, z)
        goal = CG_PART * CG_PART * dot(q, q)
        while dot(r, r) > goal:
            hp = laplace(self._a, self._b, self._weight, self._total, p)
            length = rz / dot(p, hp)
            u, r = u + length * p, r - length * hp
            z = r / self._total[:, None]
            rz, before = dot(r, z), rz
            p = z + rz / before * p
        return u


@kernel
def laplace(a: IntArray, b: IntArray, weight: FloatArray, total: FloatArray, v: FloatArray) -> FloatArray:
    """The matrix with diagonal ``total`` (N,) and -weight (E,) between a and b, times v (N, d)."""
    out = np.empty_like(v)
    for i in range(len(v)):
        for k in range(v.shape[1]):
            out[i, k] = total[i] * v[i, k]
    for e in range(len(a)):
        for k in range(v.shape[1]):
            out[a[e], k] -= weight[e] * v[b[e], k]
            out[b[e], k] -= weight[e] * v[a[e], k]
    return out


class ContactStiffness:
    """The Hessian of the energy, with the stiffness of every contact averaged over the overlaps that the motion runs through.

    Contacts that open and close are what makes a packing near jamming hard: the exact Hessian at one place knows nothing of those that
    the step will close. The average does, and the memory of L-BFGS learns the rest, so that one factorisation serves a dozen
    iterations. Where it has no inverse (rattlers, translations, prestress that would buckle) a multiple of the unit matrix is added.
    """

    name, scaled = "contacts", True

    def __init__(self) -> None:
        self._age = 0
        self._place: FloatArray | None = None
        self._motion: FloatArray | None = None
        self._scale = 0.0
        self._factor: Factor | None = None

    def refresh(self, course: Course) -> bool:
        if self._place is not None:
            self._motion = course.x - self._place
        self._place = course.x
        self._age += 1
        if self._factor is not None and self._age <= EVERY[course.x.shape[1]]:
            return False
        self._factor, self._age = self._factorise(course), 1
        return True

    def _factorise(self, course: Course) -> Factor:
        energy, x = of_packing(course), course.x
        if not self._scale:
            self._scale = _mean_stiffness(energy.stiffness(x)[1])
        pairs, block = energy.stiffness(x, self._motion, LEAST_WIDTH * course.residual / self._scale)
        used = block.any(axis=(1, 2))
        a, b, block = pairs.a[used], pairs.b[used], block[used]
        self._scale = _mean_stiffness(block)
        plan = Plan(len(x), a, b, energy.packing.cell.wrap(x))
        diagonal, unit = diagonal_blocks(len(x), a, b, block), self._scale * np.eye(x.shape[1])
        for shift in SHIFTS[x.shape[1] - 2 :]:
            course.factorisations += 1
            factor = plan.factorise(diagonal + shift * unit, -block)
            if factor is not None:
                return factor.single()
        raise RunError(f"the stiffness of the contacts has no inverse after {course.iterations} iterations. Use method fire, without one.")

    def apply(self, q: FloatArray) -> FloatArray:
        assert self._factor is not None  # refresh comes first
        return self._factor.solve(q)

    def gamma(self, s: FloatArray, y: FloatArray) -> float:
        return 1.0  # the average has the right size already


def _mean_stiffness(block: FloatArray) -> float:
    """[N/m] of the blocks (P, d, d) that are not zero; 1 if there are none."""
    size = np.abs(np.trace(block, axis1=1, axis2=2))
    return mean(size[size > 0]) if size.any() else 1.0
