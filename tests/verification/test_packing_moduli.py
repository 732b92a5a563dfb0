"""Moduli of random packings: linear response against strains, and the two ways to compress."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.checks import InputError
from granum.contact.power import HERTZ, HOOKE
from granum.quasistatic.measure import force_tolerance, measure
from granum.quasistatic.minimise import minimise
from granum.quasistatic.moduli import moduli, moduli_by_strain
from granum.quasistatic.packing import random_packing
from tests.reference.packings import at_rest

JAMMED = [(256, 0.9, 2, 2.0), (256, 0.9, 2, 2.5), (100, 0.7, 3, 2.0), (100, 0.7, 3, 2.5)]
NEAR = {"method": "lbfgs", "preconditioner": "contacts"}


@pytest.mark.parametrize("count, phi, dim, alpha", JAMMED)
def test_linear_response_is_the_limit_of_small_strains(count, phi, dim, alpha):
    """Differences fall in proportion to the strain or faster, and are rounding over strain in the end."""
    packing = at_rest(count, phi, dim, alpha)
    found = moduli(packing)
    assert found.residual < 1e-12
    small = moduli_by_strain(packing, 1e-6, **NEAR)
    # Strains of 1e-6 are 1e-4 of the mean overlap, and differences are central: errors of 1e-8, more in soft directions.
    assert_allclose(small.stiffness, found.stiffness, atol=1e-5 * found.bulk)
    assert (small.bulk, small.bulk_grown) == pytest.approx((found.bulk, found.bulk_grown), rel=1e-5)
    assert small.shear == pytest.approx(found.shear, abs=1e-5 * found.bulk)
    # Grains that move on their own take most of the shear and some of the compression.
    assert found.shear < found.shear_affine
    assert 0 < found.bulk < found.bulk_affine


@pytest.mark.parametrize("count, phi, dim, alpha", JAMMED)
def test_growing_grains_is_compression_and_a_change_of_scale(count, phi, dim, alpha):
    """phi dp/dphi with radii grown at a fixed cell is B + (alpha - d)/d p, as lengths of all of it scale p by s^(alpha - d)."""
    packing = at_rest(count, phi, dim, alpha)
    found, part = moduli(packing), 1e-6
    tolerance = force_tolerance(packing, 1e-10)
    relaxed = [minimise(packing.at(packing.phi * (1 + s)), tolerance=tolerance, **NEAR).packing for s in (part, -part)]
    ends = [measure(twin).pressure for twin in relaxed]
    grown = (ends[0] - ends[1]) / (2 * part)
    assert grown == pytest.approx(found.bulk_grown, rel=1e-4)
    assert found.bulk_grown - found.bulk == pytest.approx((alpha - dim) / dim * found.pressure, abs=1e-12 * found.bulk)
    if alpha != dim:  # the test can tell the two apart
        assert abs(grown - found.bulk_grown) < 0.02 * abs(grown - found.bulk)


@pytest.mark.parametrize("count, phi, dim, alpha", JAMMED[1:3])
def test_moduli_turn_with_the_packing(count, phi, dim, alpha):
    """A packing that is turned and moved has the same moduli along the turned axes, and the same mean ones."""
    packing = at_rest(count, phi, dim, alpha)
    turn, _ = np.linalg.qr(np.random.default_rng(4).standard_normal((dim, dim)))
    turn *= np.linalg.det(turn) if dim == 3 else np.array([1.0, np.linalg.det(turn)])
    turned = packing.moved(packing.position + 0.3).deformed(turn)
    one, two = moduli(packing), moduli(turned)
    assert_allclose(measure(turned).stress, turn @ measure(packing).stress @ turn.T, atol=1e-11 * one.pressure)
    assert_allclose(two.stiffness, np.einsum("ia,jb,kc,ld,abcd", turn, turn, turn, turn, one.stiffness), atol=1e-9 * one.bulk)
    assert (two.bulk, two.shear) == pytest.approx((one.bulk, one.shear), rel=1e-9)


def test_unjammed_packings_have_no_moduli():
    """Said in words, with phi and the way out; also for what a coarse tolerance leaves of the forces."""
    for law in (HOOKE, HERTZ):
        loose = minimise(random_packing(64, 0.7, law=law, seed=3), "lbfgs", "none").packing
        for function in (moduli, moduli_by_strain):
            with pytest.raises(InputError, match=r"unjammed \(phi = 0\.7, pressure .* larger phi"):
                function(loose)


def test_a_packing_in_motion_has_no_moduli():
    packing = at_rest(256, 0.9, 2, 2.0)
    rng = np.random.default_rng(0)
    shaken = packing.moved(packing.position + 1e-3 * packing.diameter * rng.standard_normal(packing.position.shape))
    with pytest.raises(InputError, match=r"not at rest: balance would release .* Minimise"):
        moduli(shaken)


def test_strain_must_be_small():
    with pytest.raises(InputError, match="strain must be a small number"):
        moduli_by_strain(at_rest(256, 0.9, 2, 2.0), 0.5)
