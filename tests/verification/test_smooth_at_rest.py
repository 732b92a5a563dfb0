"""Smooth grains at rest: a column under its weight, and a grain on others that never move."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.contact import Material
from granum.scene import Grains, Gravity, Scene
from granum.scene.library import make_scene
from granum.simulation import Simulation, make_settings
from tests.reference.scenes import D, G, by_height, column_heights, column_overlaps, mass


@pytest.mark.parametrize("integrator", ["verlet", "euler"])
def test_column_carries_the_weight_above_each_contact(integrator):
    """At rest, contact j of a column of n grains carries f_j = (n - j) m g, and its overlap is Hertz'. All guards are on.

    The slowest swing of three grains has died out in 0.3 s.
    """
    scene = make_scene("column", {"count": 3})
    sim = Simulation(scene, make_settings(scene.run, {"stepper": {"name": "smooth", "integrator": integrator}}))
    sim.run(0.3)
    c, order = sim.contacts, by_height(sim)
    weight = mass() * G * np.arange(3, 0, -1)
    assert_allclose(c.normal_force[order], weight, rtol=1e-6)
    assert_allclose(c.overlap[order], column_overlaps(3), rtol=1e-6)
    assert_allclose(np.sort(sim.position[:, 2]), column_heights(column_overlaps(3)), rtol=1e-8)
    assert_allclose(sim.report.elastic_energy, 0.4 * (weight * column_overlaps(3)).sum(), rtol=1e-6)


def test_grain_rests_on_static_grains():
    """Three grains that never move carry a fourth, a third of its weight each; two of them that overlap do not push each other."""
    place = np.array([(np.cos(a), np.sin(a), 0.0) for a in (0.0, 2 * np.pi / 3, 4 * np.pi / 3)]) * 0.99 * D / np.sqrt(3)
    material = Material(name="m", density=3700, youngs_modulus=6e6, restitution=0.2, friction=0.5, rolling_friction=0.1)
    scene = Scene(
        materials=[material],
        gravity=Gravity(acceleration=(0, 0, -G)),
        grains=[
            Grains(material="m", position=place, diameter=D, static=True),
            Grains(material="m", position=[(0, 0, np.sqrt(2 / 3) * D)], diameter=D),
        ],
    )
    settings = make_settings({"stepper": {"name": "smooth"}, "relax": False})
    sim = Simulation(scene, settings)
    sim.run(0.2)
    c = sim.contacts
    assert c.contact_count == 3
    assert_allclose(sim.position[:3], place, atol=0)
    # friction takes a part of the load that depends on the way it came to rest; by symmetry it is the same at all three
    force = c.normal_force[:, None] * c.normal + c.tangential_force
    up = force[:, 2] * np.where(c.b == 3, 1, -1)
    assert_allclose(up, mass() * G / 3, rtol=1e-6)
    assert np.abs(sim.velocity).max() < 1e-9
