"""What brings energy in is not taken for energy from nothing."""

from __future__ import annotations

import numpy as np
import pytest

from granum.checks import RunError
from granum.contact import Material
from granum.scene import Body, Box, Grains, Gravity, Plane, Scene
from granum.simulation import Simulation, make_settings
from tests.reference.blocks import block, blocks

M = Material(name="m")
D = 0.01


def falling(gravity=None, bodies=(), z=0.5):
    grains = Grains(material="m", position=[[0, 0, z]], diameter=D)
    return Scene(materials=[M], walls=[Plane(material="m")], grains=[grains], bodies=bodies, gravity=gravity or Gravity())


def test_a_force_on_a_dynamic_body_does_work():
    platen = Body(
        name="platen",
        kind="dynamic",
        position=(1, 0, 1),
        mass=1.0,
        inertia=(0.1, 0.1, 0.1),
        force=(0, 0, 12.0),
        walls=[Box(material="m", lower=(-0.1, -0.1, -0.01), upper=(0.1, 0.1, 0.01), side="outside")],
    )
    sim = Simulation(falling(bodies=[platen]), make_settings({"time_step": 0.005}))
    sim.run(0.2)
    assert sim.bodies.velocity[1, 2] == pytest.approx(0.2 * (12.0 - 9.81), rel=1e-12)


@pytest.mark.parametrize("ramp", [0.003, 0.012, 0.1, 0.2])
def test_growing_gravity_is_accounted_for(ramp):
    sim = Simulation(falling(Gravity(ramp=ramp), z=3.0), make_settings({"time_step": 0.005}))
    sim.run(0.3)
    assert sim.velocity[0, 2] == pytest.approx(-9.81 * (0.3 - ramp / 2), abs=9.81 * 0.005)


def test_a_callback_may_push():
    sim = Simulation(falling(z=D / 2), make_settings({"time_step": 0.005}))

    def kick(sim):
        if sim.step_count == 10:
            sim.velocity[0, 0] += 1.0

    sim.callbacks.append(kick)
    sim.run(0.1)
    assert sim.velocity[0, 0] > 0.5


def test_a_kick_that_nobody_accounts_for_stops_the_run():
    sim = Simulation(falling(z=D / 2), make_settings({"time_step": 0.005}))
    sim.run(0.05)
    sim.velocity[0] += (0, 0, 1.0)
    with pytest.raises(RunError, match="energy came from nothing"):
        sim.run(0.01)


def test_radius_is_not_writable_but_velocity_is():
    sim = Simulation(falling(), make_settings({"time_step": 0.005}))
    sim.velocity[0] = (1, 0, 0)
    assert sim.bodies.velocity[1, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        sim.radius[0] = 1.0
    assert np.isfinite(sim.bodies.mass).all()


@pytest.mark.parametrize(
    "body, words",
    [
        ({"kind": "kinematic", "velocity": (1, 0, 0)}, "motion"),
        ({"mass": 1.0}, "only a dynamic body has mass"),
        ({"kind": "kinematic", "motion": {"start": 2, "stop": 1}}, "stop must not be before start"),
        ({"kind": "dynamic", "mass": 1, "inertia": (1, 1, 1), "walls": [Plane(material="m", surface_velocity=(1, 0, 0))]}, "belt"),
    ],
)
def test_a_body_refuses_what_it_would_ignore(body, words):
    with pytest.raises(ValueError, match=words):
        Body(name="b", **body)


def test_a_scene_without_grains_names_its_fastest_body():
    """A box that bounces on a corner, under a guard that takes what rounding and turning bring for too much."""
    box = block((0.1, 0.07, 0.13), (0, 0, 0.1), "box", None, velocity=(0.2, 0, -1), spin=(3, -2, 4), orientation=(1, 0.3, 0.2, 0.5))
    sim = blocks([box], gravity=(0, 0, 0), restitution=1.0, friction=0.0, guards={"energy": 1e-15, "on_energy": "warn", "on_coarse": "off"})
    with pytest.warns(RuntimeWarning, match="energy came from nothing.* the fastest body is 'box' at"):
        sim.run(0.3)
