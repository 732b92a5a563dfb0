"""The jamming search: isostatic packings in two and three dimensions, by both routes."""

from __future__ import annotations

import numpy as np
import pytest

from granum.checks import InputError
from granum.contact.power import HERTZ
from granum.quasistatic.jam import FINEST, jam, jam_packing
from granum.quasistatic.measure import measure
from granum.quasistatic.minimise import minimise
from granum.quasistatic.packing import closest
from granum.scene.sizes import Discrete, Uniform


@pytest.fixture(scope="module")
def found():
    return jam(256, seed=1, accuracy=1e-6)


@pytest.fixture(scope="module")
def fine():
    return jam(256, seed=1, accuracy=1e-9)


def test_packing_at_jamming_is_isostatic_and_in_balance(fine):
    """N_3 grains have exactly d (N_3 - 1) + 1 contacts: one state of self-stress."""
    grains = fine.packing.count - fine.rattlers
    assert fine.measured.contacts == 2 * (grains - 1) + 1
    assert fine.z == pytest.approx(4 - 2 / grains)
    assert fine.measured.jammed
    assert fine.measured.residual <= 1e-6 * fine.measured.mean_force + fine.measured.rounding
    assert 0 < fine.packing.phi - fine.phi_cr <= fine.accuracy


def test_pressure_vanishes_at_phi_cr(found):
    """A little below, the same grains relax to nothing; p is linear in phi above (Hooke)."""
    below = minimise(found.packing.at(found.phi_cr - 1e-6), tolerance=1e-13).packing
    assert not measure(below).jammed
    above = [measure(minimise(found.packing.at(found.phi_cr + d), tolerance=1e-14).packing).pressure for d in (1e-6, 2e-6)]
    # Contacts that close on the way bend the line: z - z_0 grows as the root of the distance, a few 1e-3 here.
    assert above[1] / above[0] == pytest.approx(2, rel=0.05)


def test_finer_search_refines_the_coarse_one(found, fine):
    assert abs(fine.phi_cr - found.phi_cr) <= found.accuracy


def test_routes_agree_within_the_spread_of_packings(found):
    """EM Algorithm 1 from below meets another packing of the same grains: phi_cr is not unique, but narrow (about 2e-3 at N = 256)."""
    below = jam(256, seed=1, accuracy=1e-4, route="compress")
    assert abs(below.phi_cr - found.phi_cr) < 0.01
    assert below.measured.jammed
    low = max(step.phi for step in below.steps if not step.jammed)
    assert low < below.packing.phi <= low + 1.01e-4


def test_phi_cr_does_not_depend_on_the_law(found):
    """It is geometry: the packing at phi_cr, relaxed under Hertz instead, jams at the same place."""
    from dataclasses import replace

    hertz = jam_packing(replace(found.packing.at(found.phi_cr + 1e-4), law=HERTZ), 1e-6)
    assert hertz.phi_cr == pytest.approx(found.phi_cr, abs=2e-5)  # contacts that come and go within 1e-4 of it


def test_three_dimensions():
    found = jam(150, dim=3, seed=2, accuracy=1e-4)
    assert found.measured.jammed
    assert found.z == pytest.approx(6, abs=0.25)  # 6 - 6/N, and z - z_0 of about 8 sqrt(phi - phi_cr)
    assert 0.60 < found.phi_cr < 0.66


def test_few_grains_and_one_size():
    found = jam(9, sizes=Discrete(diameters=(1.0,)), seed=1, accuracy=1e-4)
    assert 0.7 < found.phi_cr <= np.pi / np.sqrt(12)


@pytest.mark.parametrize("route", ["decompress", "compress"])
@pytest.mark.parametrize("count, dim, seed", [(3, 2, 0), (5, 2, 0), (8, 2, 1), (4, 3, 0), (5, 3, 1)])
def test_a_handful_of_grains_jams(count, dim, seed, route):
    """They may jam at any phi, and forces may be in balance at a saddle: what is found is jammed, with a state of self-stress."""
    found = jam(count, dim=dim, seed=seed, accuracy=1e-4, route=route)
    grains = count - found.rattlers
    assert found.measured.jammed
    assert found.measured.contacts >= dim * (grains - 1) + 1
    assert 0.4 < found.phi_cr < closest(dim, 1 / 1.4)


def test_many_sizes_from_below():
    """The upper bound of the bisection does not hold here: the search goes on in growing steps."""
    found = jam(100, sizes=Uniform(lower=0.8, upper=1.2), accuracy=1e-5, route="compress")
    assert found.measured.jammed
    assert len(found.steps) < 60
    assert 0.82 < found.phi_cr < 0.86


@pytest.mark.slow
def test_phi_cr_of_ten_seeds():
    found = [jam(1024, seed=seed, accuracy=1e-6) for seed in range(10)]
    assert np.mean([f.phi_cr for f in found]) == pytest.approx(0.842, abs=0.003)
    assert np.mean([f.z for f in found]) == pytest.approx(4.0, abs=0.05)


@pytest.mark.parametrize("accuracy", [0.0, FINEST / 10, 0.5, float("nan")])
def test_impossible_accuracies_are_refused(accuracy):
    with pytest.raises(InputError, match="accuracy must be"):
        jam(64, accuracy=accuracy)


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="at least 3"):
        jam(2)
    with pytest.raises(InputError, match="dim must be 2 or 3"):
        jam(64, dim=4)
    with pytest.raises(InputError, match="unknown route"):
        jam(64, route="sideways")  # type: ignore[arg-type]
