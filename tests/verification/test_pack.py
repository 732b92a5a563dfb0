"""``pack`` and the bridge to runs: packing fractions, real sizes, no contacts below jamming, rest above."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum import HertzContact, InputError, LogNormal, Material, Uniform, pack, packing_scene, relax_run, simulate
from granum.quasistatic.measure import network
from granum.quasistatic.shear import shear

BOTH = ("nonsmooth", "smooth")


@pytest.mark.parametrize(("dim", "phi"), [(2, 0.79), (3, 0.58)])
def test_below_jamming_no_two_grains_touch(dim, phi):
    """And the packing fraction is the one asked for, with the diameters that were given."""
    packed = pack((0.01, 0.014), phi, count=150, dim=dim, seed=3)
    assert not packed.jammed
    assert len(network(packed.packing).touching.a) == 0
    assert_allclose(packed.phi, phi, rtol=1e-12)
    assert sorted(set(packed.packing.radius)) == [0.005, 0.007]
    assert packed.rattlers == 150
    assert packed.z == 0


@pytest.mark.parametrize("dim", [2, 3])
def test_a_jammed_packing_stays_at_rest_in_both_steppers(dim):
    """Its forces are in balance, so that without gravity nothing moves: no more than what 1e-10 of the force scale sets in motion."""
    packed = pack((0.01, 0.014), 0.87 if dim == 2 else 0.67, count=120, dim=dim, seed=1)
    assert packed.jammed
    assert packed.overlap > 1e-3
    assert "jammed" in str(packed)
    scene = packed.scene()
    assert_allclose(scene.grains[0].position[:, :dim], packed.packing.position, atol=1e-15)
    for stepper in BOTH:
        run = simulate(scene, stepper=stepper, duration=2e-3)
        assert run.report.contacts == packed.measured.touching
        assert run.report.kinetic_energy < 1e-12 * packed.measured.energy
        assert np.abs(run.position - scene.grains[0].position).max() < 1e-6 * packed.packing.diameter


def test_a_region_and_a_distribution_make_the_count():
    packed = pack(LogNormal(median=0.01, sigma=0.2, lower=0.006, upper=0.016), 0.5, region=(0.05, 0.05, 0.1), seed=2)
    lengths = packed.packing.cell.lengths
    assert_allclose(lengths / lengths[0], [1, 1, 2], rtol=1e-12)
    assert_allclose(lengths, [0.05, 0.05, 0.1], rtol=0.05)  # whole grains, drawn at random: a few per cent of the volume
    assert_allclose(packed.phi, 0.5, rtol=1e-12)
    assert packed.packing.radius.min() >= 0.003
    assert packed.packing.radius.max() <= 0.008


def test_the_same_seed_gives_the_same_bits():
    one, two, other = (pack(0.01, 0.5, count=40, seed=seed).packing for seed in (5, 5, 6))
    assert np.array_equal(one.position, two.position)
    assert not np.array_equal(one.position, other.position)


def test_with_gravity_the_grains_lie_on_a_floor():
    """The cell no longer repeats along the last axis, and weight and contacts come to rest."""
    glass = Material(name="glass", density=2500, friction=0.3)
    scene = pack(Uniform(lower=0.01, upper=0.014), 0.55, count=60, seed=1).scene(glass, law=HertzContact(), gravity=9.81)
    assert scene.cell.dim == 2
    run = simulate(scene, duration=0.6)
    assert (run.position[:, 2] - run.radius > scene.walls[0].point[2] - 1e-3).all()
    at_floor = run.contacts.b < 0
    weight = float(run.bodies.mass.sum()) * 9.81
    assert_allclose(float(run.contacts.normal_force[at_floor].sum()), weight, rtol=0.05)


def test_another_law_is_brought_into_balance():
    """With Hertz' law the forces of equal springs do not balance; relaxed they do."""
    packed = pack((0.01, 0.014), 0.67, count=60, seed=1)
    scene = packed.scene(law=HertzContact())
    still = relax_run(scene)
    assert still.report.converged
    moved, kept = (simulate(s, stepper="smooth", duration=1e-4).report.kinetic_energy for s in (scene, still.scene))
    assert kept < 1e-6 * moved


def test_refusals_in_words():
    with pytest.raises(InputError, match=r"phi must be above 0 and at most 0\.74"):
        pack(0.01, 0.9)
    with pytest.raises(InputError, match="count must be at least 3"):
        pack(0.01, 0.5, count=2)
    with pytest.raises(InputError, match="count or region"):
        pack(0.01, 0.5, count=20, region=(1, 1, 1))
    with pytest.raises(InputError, match="region must be 3 lengths"):
        pack(0.01, 0.5, region=(1, 1))
    with pytest.raises(InputError, match="region holds 1 grains"):
        pack(0.01, 0.5, region=(0.01, 0.01, 0.012))
    with pytest.raises(InputError, match="would meet itself"):
        pack(0.01, 0.5, region=(0.1, 0.1, 0.005))
    with pytest.raises(InputError, match="lower must not exceed upper, has 2 and 1"):
        pack({"distribution": "uniform", "lower": 2, "upper": 1}, 0.5)
    jammed = pack((0.01, 0.014), 0.87, count=30, dim=2).packing
    leaning = next(shear(jammed, 0.01, 0.01, method="lbfgs", preconditioner="none")).packing
    with pytest.raises(InputError, match="upright"):
        packing_scene(leaning)
