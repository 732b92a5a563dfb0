"""The ledger of energies: entries against closed forms, and what is left over."""

from __future__ import annotations

import numpy as np
import pytest

from granum import Grains, Material, Plane, Scene, Simulation

G, D = 9.81, 0.01


def grain(height, velocity, h, **material):
    """One grain above a plane; mass [kg] and simulation."""
    made = Material(name="m", density=2500, youngs_modulus=1e8, **material)
    scene = Scene(
        materials=[made],
        walls=[Plane(material="m")],
        grains=[Grains(material="m", position=[[0, 0, D / 2 + height]], diameter=D, velocity=[velocity])],
    )
    return 2500 * np.pi / 6 * D**3, Simulation(scene, time_step=h, guards={"on_coarse": "off"})


@pytest.mark.parametrize("restitution", [0.0, 0.3, 0.8])
def test_an_impact_takes_what_restitution_leaves(restitution):
    """The collision of a grain that falls on a plane at v takes m v^2 (1 - e^2) / 2, and friction takes nothing."""
    mass, sim = grain(0.02, (0, 0, -0.5), 1e-3, restitution=restitution, friction=0.0)
    before = sim.velocity[0, 2]
    while not sim.step().impacts:
        before = sim.velocity[0, 2]
    assert sim.ledger.joules["impact"] == pytest.approx(-0.5 * mass * before**2 * (1 - restitution**2), rel=1e-9)
    assert sim.ledger.joules["friction"] == 0


@pytest.mark.parametrize("h", [1e-3, 2.5e-4])
def test_friction_takes_two_sevenths_of_a_sliding_grain(h):
    """A grain that slides at v rolls at 5 v / 7 in the end: friction takes m v^2 / 7, less mu g h / v of it as its work counts with the
    velocities at the end of each step."""
    speed, mu = 0.5, 0.3
    mass, sim = grain(0.0, (speed, 0, 0), h, restitution=0.0, friction=mu)
    sim.run(2 * 2 / 7 * speed / (mu * G))
    assert sim.velocity[0, 0] == pytest.approx(5 / 7 * speed, rel=1e-3)
    lost = -sim.ledger.joules["friction"] / (mass * speed**2 / 7)
    assert 1 - 7 * mu * G * h / speed < lost <= 1 + 1e-9


def test_nothing_is_left_over_where_nothing_is_lost():
    """A free fall keeps its energy but for m g^2 h^2 / 2 a step, which the scheme takes."""
    mass, sim = grain(10.0, (0, 0, 0), 1e-3, restitution=0.5, friction=0.3)
    sim.run(0.5)
    kinetic = sim.report.kinetic_energy
    found = sim.ledger.balance(kinetic, sim.report.energy - kinetic, sim.report.elastic_energy, sim.guard.began)
    assert found["left_over"] == pytest.approx(-0.5 * mass * G**2 * 1e-6 * 500, rel=1e-6)
    assert {name for name, joules in found.items() if joules} == {"kinetic", "potential", "left_over"}


def test_an_unknown_entry_is_refused():
    _, sim = grain(0.0, (0, 0, 0), 1e-3)
    with pytest.raises(Exception, match="entry of the ledger 'wind'"):
        sim.ledger.add("wind", 1.0)
