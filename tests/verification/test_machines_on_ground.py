"""Machines that stand on the ground and press on it: how strongly, however they are driven, and that their own parts do not touch."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granum import Body, Box, Capsule, Hinge, Limits, Material, Motor, Plane, Scene, Simulation, Slider
from granum.nonsmooth import Nonsmooth
from tests.reference.machines import turned

G, H = 9.81, 1e-3
REACH, RADIUS, LEAN = 1.0, 0.05, 0.5  # of an arm [m, m, rad below the horizon]
ARM = 40.0  # [kg]
FOOT, SIZE = 8.0, (0.3, 0.2, 0.12)  # [kg, m]


def simulation(bodies, joints, friction=0.0, **settings):
    material = Material(name="m", density=2500, youngs_modulus=1e9, restitution=0.0, friction=friction)
    scene = Scene(materials=[material], bodies=bodies, joints=joints, walls=[Plane(material="m")], gravity={"acceleration": (0, 0, -G)})
    return Simulation(scene, time_step=H, guards={"on_coarse": "off"}, **settings)


def box_inertia(mass, size):
    sides = np.asarray(size, float)
    return tuple(mass / 12 * ((sides**2).sum() - sides**2))


def arm(end):
    """A capsule from where it is hinged, above the ground, down to a place ``end`` [m] of its lower end."""
    along = np.array([np.cos(LEAN), 0.0, -np.sin(LEAN)])
    moment = ARM * REACH**2 / 12
    return Body(
        name="arm",
        kind="dynamic",
        mass=ARM,
        inertia=(moment / 50, moment, moment),
        position=tuple(np.asarray(end) - REACH / 2 * along),
        orientation=turned((0, 1, 0), LEAN),
        walls=[Capsule(material="m", axis=(1, 0, 0), radius=RADIUS, length=REACH)],
    )


def shoulder(end, motor):
    """The hinge of that arm; it turns downwards."""
    at = np.asarray(end) - REACH * np.array([np.cos(LEAN), 0.0, -np.sin(LEAN)])
    return Hinge(name="shoulder", bodies=("ground", "arm"), anchor=tuple(at), axis=(0, 1, 0), motor=motor)


def foot(height):
    """A flat box."""
    half = np.array(SIZE) / 2
    wall = Box(material="m", lower=tuple(-half), upper=tuple(half), side="outside")
    return Body(name="foot", kind="dynamic", mass=FOOT, inertia=box_inertia(FOOT, SIZE), position=(0, 0, height), walls=[wall])


def run(sim, steps):
    for _ in range(steps):
        sim.step()
    return sim


def pressing_arm(torque=120.0, **settings):
    end = (0.0, 0.0, RADIUS)
    return simulation([arm(end)], [shoulder(end, Motor(force=torque))], **settings)


def test_an_arm_presses_on_the_ground_as_its_motor_says():
    """Without friction the ground pushes straight up, at the lower end: N x = T + m g x / 2, x being the way from the hinge to the end."""
    sim = run(pressing_arm(), 300)
    hinge, end = -REACH * np.cos(LEAN), sim.body_contacts.point[0, 0]
    middle = sim.bodies.position[1, 0] - hinge
    assert len(sim.body_contacts) == 1
    assert_allclose(sim.body_contacts.force_on("ground")[2], -(120.0 + ARM * G * middle) / (end - hinge), rtol=1e-6)
    assert sim.report.iterations <= 10  # warm: the first look at the residual
    assert np.abs(sim.bodies.velocity[1]).max() < 1e-6


@pytest.mark.parametrize("motor", [Motor(force=-500.0), Motor(position=-0.1, force_limit=500.0), Motor(speed=-1.0, force_limit=500.0)])
def test_a_press_stands_on_the_ground_with_the_force_of_its_motor(motor):
    """A foot on a slider presses with its weight and the motor: one of a given force, or one that is too weak to go further."""
    sim = simulation([foot(SIZE[2] / 2)], [Slider(name="press", bodies=("ground", "foot"), motor=motor)], friction=0.4)
    run(sim, 200)
    assert len(sim.body_contacts) == 4
    assert_allclose(sim.body_contacts.force_on("ground"), (0, 0, -500 - FOOT * G), rtol=1e-6, atol=1e-3)
    assert_allclose(sim.joint("press").motor_force, -500, rtol=1e-9)
    assert_allclose(sim.body_contacts.normal_force, (500 + FOOT * G) / 4, rtol=1e-4)
    assert sim.report.iterations <= 10


def test_a_held_foot_carries_nothing():
    """A motor that holds the foot where it is, above the ground or just at it, takes all of its weight."""
    for gap in (1e-3, 0.0):
        slider = Slider(name="press", bodies=("ground", "foot"), motor=Motor(position=0.0))
        sim = run(simulation([foot(SIZE[2] / 2 + gap)], [slider], friction=0.4), 50)
        assert_allclose(sim.joint("press").motor_force, FOOT * G, rtol=1e-9)
        assert_allclose(sim.body_contacts.force_on("ground"), 0.0, atol=1e-6)


@pytest.mark.parametrize("locked", [("x", "y", "rotation"), ("x", "z", "rotation")])
def test_a_body_with_locked_axes_stands_on_the_ground(locked):
    """It carries its weight if it may fall, and nothing if it may not; its friction rows have nothing to move."""
    body = foot(SIZE[2] / 2).model_copy(update={"locked": locked, "force": (30.0, 0, 0)})
    sim = run(simulation([body], [], friction=0.4), 100)
    weight = FOOT * G if "z" not in locked else 0.0
    assert_allclose(sim.body_contacts.force_on("ground"), (0, 0, -weight), rtol=1e-6, atol=1e-6)
    assert not sim.bodies.velocity[1, :2].any()
    assert not sim.bodies.spin[1].any()


def walking(**settings):
    """An arm with a flat foot at its end: the ankle turns freely, and the capsule of the arm reaches into the foot."""
    end = (0.0, 0.0, SIZE[2] / 2)
    ankle = Hinge(name="ankle", bodies=("arm", "foot"), anchor=end, axis=(0, 1, 0), limits=Limits(lower=-1.0, upper=1.0))
    return simulation([arm(end), foot(end[2])], [shoulder(end, Motor(force=120.0)), ankle], **settings)


def test_parts_of_a_machine_reach_into_each_other():
    """The foot takes the end of the arm without being pushed by it, and carries what the arm presses with."""
    sim = run(walking(), 400)
    touching = sim.body_contacts
    assert {(touching.names[a], touching.names[b]) for a, b in zip(touching.a, touching.b, strict=True)} == {("foot", "ground")}
    hinge, ankle = -REACH * np.cos(LEAN), sim.bodies.position[2, 0]
    middle = sim.bodies.position[1, 0] - hinge
    expected = FOOT * G + (120.0 + ARM * G * middle) / (ankle - hinge)
    assert_allclose(touching.force_on("ground")[2], -expected, rtol=1e-6)
    assert sim.joint_drift < 1e-6


def test_two_machines_touch_each_other():
    """A press stands on a foot that is hinged to the ground elsewhere: they are two machines."""
    half = np.array(SIZE) / 2
    lower = foot(half[2])
    upper = foot(3 * half[2]).model_copy(update={"name": "upper"})
    joints = [
        Slider(name="guide", bodies=("ground", "foot")),
        Slider(name="press", bodies=("ground", "upper"), motor=Motor(force=-200.0)),
    ]
    sim = run(simulation([lower, upper], joints), 300)
    assert_allclose(sim.body_contacts.force_on("ground")[2], -200 - 2 * FOOT * G, rtol=1e-6)
    assert_allclose(sim.body_contacts.force_on("upper")[2], 200 + FOOT * G, rtol=1e-6)


@pytest.mark.parametrize("make", [pressing_arm, walking])
def test_a_restarted_machine_on_the_ground_goes_on_with_the_same_bits(make):
    sim = run(make(friction=0.3), 40)
    again = Simulation.restore(sim.scene, sim.settings, copy.deepcopy(sim.checkpoint()))
    run(sim, 20), run(again, 20)
    for name in ("position", "orientation", "velocity", "spin"):
        assert_array_equal(getattr(sim.bodies, name), getattr(again.bodies, name))
    assert_array_equal(sim.body_contacts.normal_force, again.body_contacts.normal_force)


@pytest.mark.parametrize("solver", ["pgs", "direct"])
def test_an_arm_that_falls_on_the_ground_keeps_its_joint(solver):
    """It hits inside of a step, and with a foot that slides: links are not moved or turned to where they would have been without joints."""
    end = (0.0, 0.0, RADIUS + 0.15)
    sim = simulation([arm(end)], [shoulder(end, Motor(force=50.0))], friction=0.3, stepper=Nonsmooth(solver={"name": solver}))
    run(sim, 400)
    assert sim.joint_drift < 1e-6
    assert np.abs(sim.bodies.spin[1]).max() < 1e-4
    assert len(sim.body_contacts) == 1
