"""The ledger of energies: entries against closed forms, and what is left over."""

from __future__ import annotations

import numpy as np
import pytest

from granum import Body, Box, Grains, Gravity, Material, Motion, Plane, Scene, Simulation

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


@pytest.mark.parametrize("restitution", [0.0, 0.6])
def test_an_impact_on_a_free_plate_counts_the_motion_of_both(restitution):
    """Off its centre: the plate turns, and what is lost is (1 - e^2) v^2 / 2 over n.(M^-1 n) of the two, lever arm included."""
    plate_mass, inertia, arm, speed, h = 0.02, (2e-6, 3e-6, 4e-6), 0.01, 0.7, 1e-3
    box = Box(material="m", lower=(-0.03, -0.03, -0.01), upper=(0.03, 0.03, 0.0), side="outside")
    scene = Scene(
        materials=[Material(name="m", density=2500, youngs_modulus=1e8, restitution=restitution, friction=0.0)],
        gravity=Gravity(acceleration=(0, 0, 0)),
        bodies=[Body(name="plate", kind="dynamic", mass=plate_mass, inertia=inertia, walls=[box])],
        grains=[Grains(material="m", position=[[arm, 0, D / 2 + 0.003]], diameter=D, velocity=[(0, 0, -speed)])],
    )
    sim = Simulation(scene, time_step=h, guards={"on_coarse": "off"})
    while not sim.step().impacts:
        assert sim.step_count < 20
    mass = 2500 * np.pi / 6 * D**3
    yielding = 1 / mass + 1 / plate_mass + arm**2 / inertia[1]
    assert sim.ledger.joules["impact"] == pytest.approx(-0.5 * speed**2 * (1 - restitution**2) / yielding, rel=1e-9)


def test_a_driven_plate_gives_its_work_to_the_drives_and_not_to_the_impact():
    """A plate at speed V meets a grain at rest does m (1 + e) V^2 of work; the grain has m ((1 + e) V)^2 / 2."""
    restitution, speed = 0.5, 0.8
    box = Box(material="m", lower=(-0.03, -0.03, -0.01), upper=(0.03, 0.03, 0.0), side="outside")
    scene = Scene(
        materials=[Material(name="m", density=2500, youngs_modulus=1e8, restitution=restitution, friction=0.0)],
        gravity=Gravity(acceleration=(0, 0, 0)),
        bodies=[Body(name="plate", kind="kinematic", walls=[box], motion=Motion(velocity=(0, 0, speed)))],
        grains=[Grains(material="m", position=[[0, 0, D / 2 + 0.003]], diameter=D)],
    )
    sim = Simulation(scene, time_step=1e-3, guards={"on_coarse": "off"})
    while not sim.step().impacts:
        assert sim.step_count < 20
    mass, e = 2500 * np.pi / 6 * D**3, restitution
    assert sim.ledger.joules["drives"] == pytest.approx(mass * (1 + e) * speed**2, rel=1e-9)
    assert sim.ledger.joules["impact"] == pytest.approx(-0.5 * mass * speed**2 * (1 - e**2), rel=1e-9)


def test_rolling_resistance_takes_all_that_a_rolling_grain_has():
    """A grain that rolls at v, with 7/10 m v^2, comes to rest: the ledger has it as friction but for the part of the order of a step.

    Rolling resistance of mu_r r m g slows it by a = 5/7 mu_r g, and work counts with the velocities at the end of each step: a h / v less.
    """
    speed, mu_r, h = 0.4, 0.1, 2.5e-4
    mass, sim = grain(0.0, (speed, 0, 0), h, restitution=0.0, friction=0.8, rolling_friction=mu_r)
    sim.spin[0] = (0, speed / (D / 2), 0)
    slowed = 5 / 7 * mu_r * G
    sim.run(1.2 * speed / slowed)
    assert np.abs(sim.velocity).max() < 1e-4 * speed
    lost = -sim.ledger.joules["friction"] / (0.7 * mass * speed**2)
    assert 1 - 3 * slowed * h / speed < lost <= 1 + 1e-9
