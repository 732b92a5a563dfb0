"""Whether a packing holds: the stiffness matrix of a contact network, and what is left of the energy after small motions."""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from ..arithmetic import dot, length, mean, power, total, totals
from ..array_types import FloatArray, IntArray
from ..linalg import Factor, Plan
from .blocks import diagonal_blocks, multiply
from .neighbours import find_pairs
from .packing import Packing

NEAR = 0.02  # mean radii: gaps that may close
SHIFT = 1e-11  # of the mean stiffness, for grains that nothing holds
SETTLED = 1e-4  # of the energy: less that a step would release is none
GONE = 1e-8  # of the first energy: less is none
MOST_STEPS = 60


class Stiffness:
    """A stiffness matrix: blocks K (C, d, d) [N/m] of contacts on both grains' diagonal, -K between them.

    The first grain is tied to its place, so that translations are no motion of the matrix; forces that sum to zero do not feel it.
    """

    def __init__(self, a: IntArray, b: IntArray, blocks: FloatArray, points: FloatArray) -> None:
        self._a, self._b, self._blocks, self._points = a, b, blocks, points
        count, dim = points.shape
        self._diagonal = diagonal_blocks(count, a, b, blocks)
        self.scale = total(totals(self._diagonal.reshape(count, -1))[:: dim + 1]) / count / dim
        self._diagonal[0] += self.scale * np.eye(dim)

    def factorise(self, shift: float = 0.0) -> Factor | None:
        """None if the matrix is not positive definite; ``shift`` is added to it, in mean diagonal stiffnesses."""
        plan = Plan(len(self._diagonal), self._a, self._b, self._points)
        return plan.factorise(self._diagonal + shift * self.scale * np.eye(self._diagonal.shape[1]), -self._blocks)

    def apply(self, u: FloatArray) -> FloatArray:
        """The matrix times u (N, d)."""
        product = multiply(self._a, self._b, self._blocks, u)
        product[0] += self.scale * u[0]
        return product


def holds(packing: Packing) -> bool:
    """Whether overlaps are left after all motions of the grains that are small against their distances.

    To first order an overlap changes with the motion along its fixed normal. The energy of such overlaps is a convex function of the
    motion; Newton's method finds its minimum, with contacts that open and gaps that close on the way. It is zero for an unjammed
    packing, and positive if some pairs can carry forces in balance while they overlap.
    """
    k, alpha = packing.law.stiffness, packing.law.alpha
    pairs = find_pairs(packing.cell, packing.position, packing.radius + NEAR / 2 * mean(packing.radius))
    a, b = pairs.a, pairs.b
    branch = packing.position[b] + pairs.shift(packing.cell)[pairs.image] - packing.position[a]
    distance = length(branch)
    normal, overlap = branch / distance[:, None], packing.radius[a] + packing.radius[b] - distance
    points = packing.cell.wrap(packing.position)

    def energy(overlap: FloatArray) -> float:
        return k / alpha * total(power(np.maximum(overlap, 0.0), alpha))

    first = now = energy(overlap)
    for _ in range(MOST_STEPS):
        if not now > GONE * first:
            return False
        on = overlap > 0
        force = packing.law.force(overlap[on])
        blocks = ((alpha - 1) * force / overlap[on])[:, None, None] * normal[on, :, None] * normal[on, None, :]
        net = np.zeros_like(points)
        add_up(a[on], b[on], force[:, None] * normal[on], net)
        matrix, factor, shift = Stiffness(a[on], b[on], blocks, points), None, SHIFT
        while factor is None and shift < 1:
            factor, shift = matrix.factorise(shift), 100 * shift
        if factor is None:
            return False
        u = factor.solve(net)
        release = total(net * u) / 2
        if release < SETTLED * now:
            return True
        opening, part = dot(normal, u[b] - u[a]), 1.0
        while (then := energy(overlap - part * opening)) > now - 1e-4 * part * release and part > 1e-9:
            part /= 2
        overlap, now = overlap - part * opening, then
    return release < now / 4


@kernel
def add_up(a: IntArray, b: IntArray, force: FloatArray, net: FloatArray) -> None:
    """Net forces (N, d): ``force`` (C, d) acts on b, against a."""
    for c in range(len(a)):
        for k in range(net.shape[1]):
            net[a[c], k] -= force[c, k]
            net[b[c], k] += force[c, k]
