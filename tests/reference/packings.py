"""Packings of the tests: lattices, random ones at rest, and the slow twins of their energy."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np

from granum.contact.power import PowerLaw
from granum.quasistatic.energy import PackingEnergy
from granum.quasistatic.minimise import minimise
from granum.quasistatic.packing import Packing, random_packing
from granum.scene.cell import Cell


def all_images(packing, reach=None):
    """{(i, j, steps of the cell)}: every image of every pair closer than the sum of reaches, once; by looking at all of them."""
    x, cell = packing.position, packing.cell.vectors
    reach = packing.radius if reach is None else reach
    steps = np.array(list(product(range(-5, 6), repeat=packing.dim)))
    found = set()
    for i in range(len(x)):
        for j in range(i, len(x)):
            near = np.linalg.norm(x[j] + steps @ cell - x[i], axis=1) < reach[i] + reach[j]
            found |= {(i, j, tuple(step)) for step in steps[near].tolist() if i < j or step > [0] * packing.dim}
    return found


def plain_energy(packing):
    """[J] by the sum over all images."""
    x, r, law = packing.position, packing.radius, packing.law
    distance = {(i, j, s): np.linalg.norm(x[j] + np.array(s) @ packing.cell.vectors - x[i]) for i, j, s in all_images(packing)}
    return sum(law.stiffness * (r[i] + r[j] - far) ** law.alpha / law.alpha for (i, j, _), far in distance.items())


def energy_of(packing):
    """[J] by granum."""
    return PackingEnergy(packing).evaluate(packing.position, np.empty_like(packing.position))


def gradient_of(packing):
    """(N, d) [N] by granum."""
    g = np.empty_like(packing.position)
    PackingEnergy(packing).evaluate(packing.position, g)
    return g


def scattered(count, dim, alpha=2.0, lean=0.0, phi=1.1, seed=0):
    """Grains anywhere, overlapping a lot, in a cell that leans by ``lean``."""
    rng = np.random.default_rng(seed)
    vectors = np.diag([1.0, 0.8, 0.9][:dim])
    vectors[1, 0] = lean
    if dim == 3:
        vectors[2, 0], vectors[2, 1] = -lean / 2, lean / 3
    cell = Cell(vectors=vectors)
    law = PowerLaw(alpha=alpha, stiffness=2.0)
    return Packing(cell, rng.random((count, dim)) @ vectors, rng.uniform(1.0, 1.4, count), law).at(phi)


def triangular(columns, rows, overlap, law):
    """Discs on a triangular lattice with a distance of 1 m, ``rows`` even, pressed into each other by ``overlap`` [m]."""
    n, m = (part.ravel() for part in np.meshgrid(np.arange(columns), np.arange(rows)))
    position = np.stack([n + 0.5 * (m % 2), m * np.sqrt(3) / 2], axis=1) + 0.1
    cell = Cell(vectors=(float(columns), rows * np.sqrt(3) / 2))
    return Packing(cell, position, np.full(len(position), (1 + overlap) / 2), law)


def cubic(cells, overlap, law, faces=False):
    """Balls on a simple cubic lattice, or one with its faces centred, with a distance of 1 m."""
    edge = np.sqrt(2) if faces else 1.0
    basis = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]) / 2 if faces else np.zeros((1, 3))
    corners = np.stack(np.meshgrid(*[np.arange(cells)] * 3, indexing="ij"), axis=-1).reshape(-1, 1, 3)
    position = ((corners + basis) * edge).reshape(-1, 3) + 0.1
    return Packing(Cell(vectors=(cells * edge,) * 3), position, np.full(len(position), (1 + overlap) / 2), law)


@cache
def at_rest(count, phi, dim, alpha, seed=1):
    """A random packing, relaxed to 1e-13 of the force scale."""
    packing = random_packing(count, phi, dim=dim, law=PowerLaw(alpha=alpha), seed=seed)
    return minimise(packing, "lbfgs", "none", tolerance=1e-13 * packing.force_scale).packing
