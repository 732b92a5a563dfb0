"""Columns at rest: Hertz overlaps and the weight above every contact (physics 2, 8; WS 4.1)."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.contact import LinearContact
from granum.scene.library import make_scene
from granum.simulation import Simulation, make_settings
from tests.reference.scenes import D, G, by_height, column_heights, column_overlaps, make, mass


def column(count, iterations, overlaps=None, law=None, **more):
    """A column of grains, touching or with given overlaps."""
    z = column_heights(np.zeros(count) if overlaps is None else overlaps)
    return make(
        np.outer(z, (0, 0, 1)),
        walls=True,
        gravity=(0, 0, -G),
        law=law,
        friction=0.91,
        rolling_friction=0.32,
        solver={"iterations": iterations},
        **more,
    )


def test_overlaps_of_a_settled_column_are_hertz():
    """Contact j of a column at rest overlaps by (W_j / k_n)^(2/3), W_j the weight above it."""
    scene = make_scene("column", {"count": 20})
    sim = Simulation(scene, make_settings(scene.run, {"stepper": {"solver": {"iterations": 500}}}))
    sim.run(3.0)
    error = sim.contacts.overlap[by_height(sim)] - column_overlaps(20)
    # The slowest wave of the column has died by e^-60, and 500 sweeps with momentum (some 0.8 each) solve the chain to rounding. Plain
    # sweeps (0.975 each), or momentum that restarts all the time, would leave 1e-9 d.
    assert np.abs(error).mean() < 1e-12 * D


@pytest.mark.parametrize("count, iterations", [(10, 100), (60, 200), (200, 400)])
def test_every_contact_carries_the_weight_above_it(count, iterations):
    """At rest, contact j of a column of n grains carries f_j = (n - j) m g."""
    # Damping over 20 steps settles the slowest wave of 200 grains in 0.1 s; the law at rest does not depend on it.
    stiff = {"youngs_modulus": 6e7}
    sim = column(count, iterations, column_overlaps(count, **stiff) * 0.9, **stiff, stepper={"damping_steps": 20})
    sim.run(2.0)
    weight = mass() * G * np.arange(count, 0, -1)
    # e^-20 of the first 10 % is left of the settling
    assert_allclose(sim.contacts.normal_force[by_height(sim)], weight, rtol=1e-6)


def test_linear_law_gives_overlaps_of_weight_over_stiffness():
    """With f = k delta the overlap of contact j is W_j / k, for the plane as for the pairs."""
    stiffness = 5e3
    sim = column(20, 2000, law=LinearContact(stiffness=stiffness))
    sim.run(3.0)
    overlap = mass() * G * np.arange(20, 0, -1) / stiffness
    # overlaps of 1e-5 m are differences of heights of 0.26 m, known to 6e-17 m: 1e-11, and a little more from the sum
    assert_allclose(sim.contacts.overlap[by_height(sim)], overlap, rtol=1e-9)


def test_state_of_rest_does_not_depend_on_the_time_step():
    """The regularised constraint at rest is the contact law, whatever h is (physics 2, Check)."""
    for h in (0.005, 0.002, 0.0005):
        sim = column(8, 200, column_overlaps(8) * 0.8, h=h, stepper={"damping_steps": 0.01 / h})
        sim.run(1.5)
        # 1.5 s settle it by e^-30; overlaps of 1e-5 m are known to 1e-12
        assert_allclose(sim.contacts.overlap[by_height(sim)], column_overlaps(8), rtol=1e-9)
