"""Rods and rollers with grains on them: a ball rolls down a rod, and rests on turning rollers that make it turn."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.scene import Body, Capsule, Cylinder, Motion
from tests.reference.scenes import FREE, D, G, hertz_stiffness, make, mass

R = 0.1  # of the rod [m]
STEPS = {"nonsmooth": 2e-4, "smooth": 2e-5}


@pytest.mark.parametrize("stepper", STEPS)
@pytest.mark.parametrize("shape", ["capsule", "cylinder"])
def test_a_ball_rolls_down_a_rod(shape, stepper):
    """Rolling on a lying rod from 10 degrees beside its top: 7/10 v^2 = g (R + r) (cos 10 - cos a), up to 40 degrees.

    The step adds g h = 2e-3 m/s where v is 0.4; contacts count as flat walls. With this friction it does not slide before 45 degrees:
    mu N = 2/7 m g sin a.
    """
    wall = (
        Capsule(material="m", axis=(0, 1, 0), radius=R, length=0.2)
        if shape == "capsule"
        else Cylinder(material="m", axis=(0, 1, 0), radius=R, length=0.2, side="outside")
    )
    way, start = R + D / 2, np.radians(10)
    sim = make(
        [(way * np.sin(start), 0.0, way * np.cos(start))],
        gravity=(0, 0, -G),
        walls=(wall,),
        friction=1.0,
        h=STEPS[stepper],
        guards=FREE,
        settings={"stepper": {"name": stepper}},
    )
    while (angle := np.arctan2(sim.position[0, 0], sim.position[0, 2])) < np.radians(40):
        sim.step()
    speed = np.sqrt(10 / 7 * G * way * (np.cos(start) - np.cos(angle)))
    assert_allclose(np.linalg.norm(sim.velocity[0]), speed, rtol=1e-2)
    assert_allclose(sim.spin[0], (0, speed / (D / 2), 0), rtol=1e-2, atol=1e-9 * speed / D)
    overlap = (mass() * (G * np.cos(angle) - speed**2 / way) / hertz_stiffness(D / 2)) ** (2 / 3)
    assert_allclose(way - np.linalg.norm(sim.position[0]), overlap, rtol=0.1)  # it follows the load within some steps


@pytest.mark.parametrize("stepper", STEPS)
def test_a_ball_between_turning_rollers_turns_against_them(stepper):
    """At rest in the groove between two equal rollers that turn alike, a ball rolls on both: r w = -R w_roller, and it stays in place."""
    side, turning = 0.04, 5.0
    radius = 0.0395
    rollers = [
        Body(
            name=name,
            kind="kinematic",
            position=(x, 0, 0),
            motion=Motion(spin=(0, turning, 0)),
            walls=(Cylinder(material="m", axis=(0, 1, 0), radius=radius, length=0.1, side="outside"),),
        )
        for name, x in (("left", -side), ("right", side))
    ]
    height = np.sqrt((radius + D / 2) ** 2 - side**2)
    h = {"nonsmooth": 1e-3, "smooth": 5e-5}[stepper]
    sim = make(
        [(0, 0, height)], gravity=(0, 0, -G), bodies=rollers, friction=0.5, h=h, guards=FREE, settings={"stepper": {"name": stepper}}
    )
    sim.run(0.5)
    # friction of the two pushes up on one side and down on the other: the ball leans on one roller and slides on neither in the end
    assert_allclose(sim.spin[0], (0, -turning * radius / (D / 2), 0), rtol=2e-3, atol=1e-6 * turning)
    assert_allclose(sim.position[0], (0, 0, height), atol=0.01 * D)
