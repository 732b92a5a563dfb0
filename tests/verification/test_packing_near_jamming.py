"""Packings 1e-9 above phi_cr, where the contacts are one more than hold the grains, and just below it, where nothing holds."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.checks import InputError
from granum.quasistatic.measure import is_jammed, measure, network
from granum.quasistatic.minimise import minimise
from granum.quasistatic.moduli import moduli
from granum.quasistatic.rigidity import holds
from granum.scene.cell import simple_shear
from tests.reference.packings import at_rest

CASES = [(64, 0.87, 2, 2.0), (64, 0.87, 2, 2.5), (40, 0.68, 3, 2.0), (40, 0.68, 3, 2.5)]
PLAIN = {"method": "lbfgs", "preconditioner": "none"}


@cache
def critical(count, phi, dim, alpha, distance=1e-9):
    """A packing decompressed to ``distance`` above its phi_cr, and phi_cr: p^(1/(alpha - 1)) is linear in phi."""
    packing = at_rest(count, phi, dim, alpha)
    found, power = measure(packing), 1 / (alpha - 1)
    zero = packing.phi - 0.8 * dim * packing.phi * found.mean_overlap_in_diameters
    while packing.phi - zero > distance:
        phi = zero + max(0.3 * (packing.phi - zero), 0.9 * distance)
        lower = minimise(packing.at(phi), tolerance=found.tolerance(), limit=20_000, **PLAIN).packing
        seen = measure(lower)
        assert seen.jammed
        slope = (found.pressure**power - seen.pressure**power) / (packing.phi - lower.phi)
        packing, found = lower, seen
        zero = packing.phi - found.pressure**power / slope
    return packing, zero


@pytest.mark.parametrize("case", CASES, ids=str)
def test_one_state_of_stress_is_all_there_is(case):
    """At phi_cr the contacts are one more than d (N_3 - 1): only one set of forces f is in balance, and all strains change its size only.

    So C = V sigma sigma / sum(f^2/k'), and B with it. Overlaps are some 1e-11 of the cell, in positions rounded to 1e-16 of it: forces are
    known to 1e-5, and soft motions make more of that.
    """
    packing, _ = critical(*case)
    known, net, found = measure(packing), network(packing), moduli(packing)
    assert known.jammed
    assert net.excess == 1
    assert known.coordination == pytest.approx(2 * packing.dim - 2 * (packing.dim - 1) / net.grains)
    held = net.backbone
    compliance = np.sum(held.force * held.overlap) / (packing.law.alpha - 1)
    expected = packing.cell.volume * np.multiply.outer(known.stress, known.stress) / compliance
    assert_allclose(found.stiffness, expected, atol=1e-3 * found.bulk)
    assert found.bulk == pytest.approx(packing.cell.volume * known.pressure**2 / compliance, rel=1e-3)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("below", [1e-7, 1e-5, 1e-3])
def test_just_below_nothing_holds(case, below):
    """Shaken by as much as phi is below phi_cr, and relaxed to tolerances that leave more force than the packing above phi_cr has."""
    packing, zero = critical(*case)
    rng = np.random.default_rng(0)
    loose = packing.at(zero - below)
    shaken = loose.moved(loose.position + 0.3 * below * packing.diameter * rng.standard_normal(loose.position.shape))
    for tolerance in (1e-10, 1e-13):
        left = minimise(shaken, tolerance=tolerance * packing.force_scale, **PLAIN).packing
        assert not is_jammed(left)
        with pytest.raises(InputError, match="unjammed"):
            moduli(left)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_unfinished_minimisation_is_seen_through(case):
    """Grains of the packing above phi_cr shaken by a hundredth of their overlaps: some contacts are open, but jammed it is."""
    packing, _ = critical(*case)
    overlap = measure(packing).mean_overlap_in_diameters * packing.diameter
    rng = np.random.default_rng(1)
    shaken = packing.moved(packing.position + 0.02 * overlap * rng.standard_normal(packing.position.shape))
    assert network(shaken).unbalance > 1e-3
    assert holds(shaken)
    assert is_jammed(shaken)


@pytest.mark.parametrize("dim", [2, 3])
def test_fire_with_the_contact_stiffness_falls_to_the_near_minimum(dim):
    """The matrix changes under way and knows the rattlers badly: a fall that would end above its start is not taken."""
    case = CASES[0] if dim == 2 else CASES[2]
    strained = critical(*case, distance=1e-4)[0].deformed(simple_shear(dim, 1e-3))
    fire, plain = (minimise(strained, *way, limit=20_000).report for way in (("fire", "contacts"), ("lbfgs", "none")))
    assert fire.converged
    # A rattler more or less makes another minimum, some per cent away; a fall that climbs ends a thousand times higher, or at nothing.
    assert plain.energy / 2 < fire.energy < 2 * plain.energy
