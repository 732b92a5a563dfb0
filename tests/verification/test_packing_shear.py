"""Quasi-static shear: signs, exact strains, and its first steps against the linear response."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.checks import InputError
from granum.quasistatic.measure import measure
from granum.quasistatic.moduli import moduli
from granum.quasistatic.shear import shear, strains
from tests.reference.packings import at_rest, energy_of

NEAR = {"method": "lbfgs", "preconditioner": "contacts"}


@pytest.mark.parametrize("count, phi, dim, alpha", [(256, 0.9, 2, 2.0), (100, 0.7, 3, 2.5)])
def test_first_steps_follow_the_moduli(count, phi, dim, alpha):
    """-dsigma_xy = G dgamma in simple shear, d(sigma_yy - sigma_xx) = 4 G dgamma in pure shear, in both directions."""
    packing = at_rest(count, phi, dim, alpha)
    start, found = measure(packing), moduli(packing)
    for sign in (1, -1):
        tight = {"tolerance": 1e-10 * start.mean_force, **NEAR}
        *_, simple = shear(packing, sign * 1e-7, 1e-7, **tight)
        *_, pure = shear(packing, sign * 1e-7, 1e-7, "pure", **tight)
        assert (simple.strain, pure.strain) == (sign * 1e-7, sign * 1e-7)
        # One-sided differences: errors of strain over overlap, 1e-5 of B, and more for soft packings.
        change = simple.measured.shear_stress - start.shear_stress
        assert change / simple.strain == pytest.approx(found.shear_simple[0], abs=1e-4 * found.bulk)
        change = np.diff(np.diagonal(pure.measured.stress - start.stress))[0]
        assert change / (4 * pure.strain) == pytest.approx(found.shear_pure[0], abs=1e-4 * found.bulk)


def test_work_is_the_integral_of_the_stress():
    """Without rearrangements dE = -V sigma_xy dgamma: the trapezoidal rule is exact to the cube of the step."""
    packing = at_rest(256, 0.9, 2, 2.0)
    steps = list(shear(packing, 2e-5, 2e-6, tolerance=1e-9 * measure(packing).mean_force, **NEAR))
    stress = np.array([measure(packing).shear_stress] + [s.measured.shear_stress for s in steps])
    work = packing.cell.volume * 2e-6 * np.sum((stress[1:] + stress[:-1]) / 2)
    assert energy_of(steps[-1].packing) - energy_of(packing) == pytest.approx(work, rel=1e-5)
    assert all(s.report.converged for s in steps)


@pytest.mark.parametrize("mode", ["simple", "pure"])
@pytest.mark.parametrize("strain, step, count", [(0.02, 4e-3, 5), (-0.01, 4e-3, 3), (1.3, 0.1, 13)])
def test_strains_are_reached_exactly(mode, strain, step, count):
    """The cell has the volume and the strain that was asked for, and leans by no more than half of its width."""
    packing = at_rest(64, 0.88, 2, 2.0)
    steps = list(shear(packing, strain, step, mode, method="lbfgs", preconditioner="none"))
    assert len(steps) == count
    assert steps[-1].strain == strain
    assert all(0 < abs(b.strain - a.strain) <= step * (1 + 1e-9) for a, b in pairwise(steps))
    cell = steps[-1].packing.cell
    assert cell.volume == pytest.approx(packing.cell.volume, rel=1e-13)
    assert steps[-1].packing.phi == pytest.approx(packing.phi, rel=1e-13)
    if mode == "simple":
        assert_allclose(cell.vectors, [[1, 0], [strain - round(strain), 1]], atol=1e-14)
    else:
        assert_allclose(cell.vectors, [[1 + strain, 0], [0, 1 / (1 + strain)]], rtol=1e-13)
    for s in steps:
        assert s.report.converged
        assert s.measured.residual <= 1.01 * s.report.tolerance + 1e-15
        assert s.measured.jammed
        # 1e-6 of the mean force before the step, which the strain changes by much less than a factor of two.
        assert 0.5e-6 < s.report.tolerance / s.measured.mean_force < 2e-6


def test_simple_shear_by_one_leads_back_to_the_same_lattice():
    """At a strain of 1 the images are where they were: the energy of the packing in balance is one of the old cell."""
    packing = at_rest(64, 0.88, 2, 2.0)
    *_, last = shear(packing, 1.0, 0.05, method="lbfgs", preconditioner="none")
    assert_allclose(last.packing.cell.vectors, packing.cell.vectors, atol=1e-14)
    assert measure(last.packing).stress == pytest.approx(last.measured.stress)


def test_an_unjammed_packing_flows():
    """It stays unjammed, at no stress to speak of, with the tolerance of a minimisation."""
    packing = at_rest(64, 0.6, 2, 2.0)
    for s in shear(packing, 0.05, 0.01, method="lbfgs", preconditioner="none"):
        assert not s.measured.jammed
        assert abs(s.measured.shear_stress) < 1e-8 * packing.pressure_scale
        assert s.report.tolerance == pytest.approx(1e-10 * packing.force_scale)


def test_strains_of_the_steps():
    assert_allclose(strains(0.02, 0.005), [0.005, 0.01, 0.015, 0.02])
    assert_allclose(strains(-0.012, 0.005), [-0.005, -0.01, -0.012])
    assert strains(0.3, 0.1)[-1] == 0.3
    assert len(strains(0.02, 1e-4)) == 200


@pytest.mark.parametrize(
    "strain, step, mode, words",
    [
        (0.02, 0.0, "simple", "step must be a finite number above 0"),
        (0.02, -1e-3, "simple", "step must be a finite number above 0"),
        (1e-4, 1e-3, "simple", "strain must be a finite number of at least one step"),
        (float("nan"), 1e-3, "simple", "strain must be a finite number"),
        (-1.0, 0.1, "pure", "must be above -1"),
        (0.02, 1e-3, "bulk", "choose one of: 'pure', 'simple'"),
    ],
)
def test_refused_in_words(strain, step, mode, words):
    """At the call, not at the first step."""
    with pytest.raises(InputError, match=words):
        shear(at_rest(64, 0.88, 2, 2.0), strain, step, mode)
