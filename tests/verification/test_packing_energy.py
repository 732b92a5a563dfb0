"""Energy of packings: derivatives against finite differences, pairs against all images, and what must change nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.quasistatic.energy import PackingEnergy
from granum.quasistatic.measure import measure, network
from granum.quasistatic.neighbours import find_pairs
from granum.scene.cell import Cell
from tests.reference.packings import all_images, energy_of, gradient_of, plain_energy, scattered

CASES = [(count, dim, alpha, lean) for count, lean in ((3, 0.0), (3, 0.37), (12, -0.45)) for dim in (2, 3) for alpha in (2.0, 2.5, 3.0)]


def differences(function, x, h):
    """Central differences of order four: rows of d function / d x_k."""
    rows = []
    for k in np.ndindex(x.shape):
        e = np.zeros_like(x)
        e[k] = h
        rows.append((8 * (function(x + e) - function(x - e)) - (function(x + 2 * e) - function(x - 2 * e))) / (12 * h))
    return np.array(rows)


@pytest.mark.parametrize("count, dim, alpha, lean", CASES)
def test_gradient_and_stiffness_are_derivatives(count, dim, alpha, lean):
    """To 1e-8 of the largest entry; in the energy of Hertz' law the error of the difference grows as h^2.5 at contacts that close."""
    packing = scattered(count, dim, alpha, lean)
    energy, x = PackingEnergy(packing), packing.position

    def gradient(place):
        g = np.empty_like(place)
        energy.evaluate(place, g)
        return g

    g = gradient(x)
    assert_allclose(differences(lambda y: energy.evaluate(y, np.empty_like(y)), x, 1e-4).reshape(x.shape), g, atol=1e-8 * abs(g).max())
    pairs, blocks = energy.stiffness(x)
    H = np.zeros((count, dim, count, dim))
    for a, b, K in zip(pairs.a, pairs.b, blocks, strict=True):
        H[a, :, a] += K
        H[b, :, b] += K
        H[a, :, b] -= K
        H[b, :, a] -= K
    H = H.reshape(count * dim, count * dim)
    assert_allclose(H, H.T, atol=1e-14 * abs(H).max())
    assert_allclose(differences(gradient, x, 1e-5).reshape(H.shape), H, atol=1e-8 * abs(H).max())


@pytest.mark.parametrize("count, dim, alpha, lean", CASES)
def test_stress_is_the_derivative_of_the_energy_by_strain(count, dim, alpha, lean):
    """sigma = -dE/dA / V for an affine motion I + A of cell and grains, contacts of rattlers included."""
    packing = scattered(count, dim, alpha, lean)

    def strained(A):
        return energy_of(packing.deformed(np.eye(dim) + A))

    sigma = -differences(strained, np.zeros((dim, dim)), 1e-4).reshape(dim, dim) / packing.cell.volume
    known = measure(packing)
    assert_allclose(known.stress, sigma, atol=1e-8 * abs(sigma).max())
    assert known.pressure == pytest.approx(np.trace(sigma) / dim, rel=1e-8)


@pytest.mark.parametrize("count, dim, lean", [(3, 2, 0.0), (3, 2, 0.5), (3, 3, 0.4), (4, 3, -0.2), (20, 2, 0.3), (14, 3, 0.0)])
def test_pairs_are_all_images(count, dim, lean):
    """Also where a grain meets another one on two sides, or itself; with positions outside of the cell."""
    packing = scattered(count, dim, lean=lean, phi=3.0 if count == 3 else 1.6)
    rng = np.random.default_rng(5)
    moved = replace(packing, position=packing.position + rng.integers(-2, 3, (count, dim)) @ packing.cell.vectors)
    for p in (packing, moved):
        pairs = find_pairs(p.cell, p.position, p.radius)
        found = list(zip(pairs.a.tolist(), pairs.b.tolist(), map(tuple, pairs.steps[pairs.image].tolist()), strict=True))
        # An image of a grain itself may be named by either of its two ends.
        found = {(a, b, max(s, tuple(-n for n in s))) if a == b else (a, b, s) for a, b, s in found}
        assert len(found) == len(pairs.a)
        assert found == all_images(p)
        assert any(a == b for a, b, _ in found) == (count < 10)
        assert energy_of(p) == pytest.approx(plain_energy(p), rel=1e-13)


@pytest.mark.parametrize("dim", [2, 3])
def test_pairs_stay_right_while_the_list_is_followed(dim):
    """A list that is kept while grains move by up to half its skin, and made anew beyond, misses no contact."""
    packing = scattered(40, dim, phi=0.9)
    energy = PackingEnergy(packing)
    rng = np.random.default_rng(2)
    x, g = packing.position.copy(), np.empty_like(packing.position)
    for n in range(60):
        x = x + rng.standard_normal(x.shape) * packing.diameter * (0.02 if n < 30 else 1e-4)
        assert energy.evaluate(x, g) == pytest.approx(energy_of(replace(packing, position=x)), rel=1e-13)
    assert 1 < energy.lists < 40
    assert energy.evaluations == 60


@pytest.mark.parametrize("dim", [2, 3])
def test_what_changes_nothing(dim):
    """A shift of all grains, other vectors of the same lattice, whole cells added, and other numbers for the grains."""
    packing = scattered(12, dim, 2.5, lean=0.3)
    known, g = measure(packing), gradient_of(packing)
    rng = np.random.default_rng(3)
    order = rng.permutation(12)
    skewed = packing.cell.vectors.copy()
    skewed[1] += 2 * skewed[0]
    twins = {
        "shift": packing.moved(packing.position + rng.standard_normal(dim)),
        "images": replace(packing, position=packing.position + rng.integers(-3, 4, (12, dim)) @ packing.cell.vectors),
        "skewed": replace(packing, cell=Cell(vectors=skewed)),
        "order": replace(packing, position=packing.position[order], radius=packing.radius[order]),
    }
    for name, twin in twins.items():
        other = measure(twin)
        assert other.energy == pytest.approx(known.energy, rel=1e-12), name
        assert_allclose(other.stress, known.stress, atol=1e-12 * known.pressure, err_msg=name)
        assert_allclose(other.fabric, known.fabric, atol=1e-12 * known.fabric.max(), err_msg=name)
        assert (other.contacts, other.touching, other.coordination) == (known.contacts, known.touching, known.coordination), name
        expected = g[order] if name == "order" else g
        assert_allclose(gradient_of(twin), expected, atol=1e-12 * abs(g).max(), err_msg=name)
    assert Cell(vectors=skewed).shortest().vectors == pytest.approx(packing.cell.vectors)


@pytest.mark.parametrize("dim, alpha", [(2, 2.0), (3, 2.5)])
def test_units(dim, alpha):
    """Lengths times s and stiffness times q: energy times q s^alpha, pressure times q s^(alpha - d), and nothing else."""
    packing = scattered(12, dim, alpha)
    s, q = 3.7e-3, 8e4
    law = packing.law.model_copy(update={"stiffness": packing.law.stiffness * q})
    twin = replace(packing, cell=Cell(vectors=packing.cell.vectors * s), position=packing.position * s, radius=packing.radius * s, law=law)
    one, two = measure(packing), measure(twin)
    assert two.energy == pytest.approx(one.energy * q * s**alpha, rel=1e-12)
    assert_allclose(two.stress, one.stress * q * s ** (alpha - dim), rtol=1e-10)
    assert_allclose(two.fabric, one.fabric, rtol=1e-11)
    assert (two.phi, two.mean_overlap_in_diameters) == pytest.approx((one.phi, one.mean_overlap_in_diameters))
    assert twin.pressure_scale == pytest.approx(packing.pressure_scale * q * s ** (alpha - dim))


def test_net_force_is_minus_the_gradient():
    packing = scattered(12, 3, 2.5, 0.2)
    assert_allclose(network(packing).net, -gradient_of(packing), atol=1e-14)
