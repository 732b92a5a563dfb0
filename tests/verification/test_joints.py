"""Every kind of joint against a closed form: what it lets free and what it holds."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granum import Ball, Body, Cylindrical, Distance, Fixed, Hinge, Limits, Motor, Simulation, Slider, Universal
from granum.state.rotation import matrix
from tests.reference.machines import GRAVITY, machine_scene, pin

H = 0.002


def body(name, position, mass=2.0, inertia=(0.3, 0.3, 0.3), **fields):
    return Body(name=name, kind="dynamic", mass=mass, inertia=inertia, position=position, **fields)


def start(bodies, joints, gravity=GRAVITY, h=H, **settings):
    return Simulation(machine_scene(bodies, joints, gravity), time_step=h, **settings)


def test_a_cylindrical_joint_lets_a_sleeve_fall_and_spin():
    """Along a pole that leans by 30 degrees, loaded off its centre: it slides with g cos 30, spins on at its own rate, and the pole holds
    the rest of its weight."""
    lean = np.radians(30)
    u = np.array([np.sin(lean), 0, np.cos(lean)])
    sleeve = body("sleeve", (0, 0, 0), spin=tuple(4.0 * u))
    sim = start([sleeve], [Cylindrical(name="pole", bodies=("ground", "sleeve"), anchor=(0, 0, 0), axis=tuple(u))])
    steps = 200
    for _ in range(steps):
        sim.step()
    time = steps * H
    way = -0.5 * GRAVITY * np.cos(lean) * time**2
    assert sim.joint("pole").coordinate == pytest.approx(way, rel=1.5 / steps)  # h sum(n h g) has n (n + 1) / 2
    assert sim.joint("pole").speed == pytest.approx(-GRAVITY * np.cos(lean) * time, rel=1e-9)
    assert_allclose(sim.bodies.spin[1], 4.0 * u, atol=1e-8)
    assert_allclose(sim.joint("pole").force, 2.0 * GRAVITY * (np.array([0, 0, 1]) - u * np.cos(lean)), atol=1e-6)


def test_a_universal_joint_passes_a_turn_on_as_a_cardan_does():
    """Two shafts at an angle b in bearings, the first driven at w: the second turns at w cos b / (1 - sin^2 b sin^2 a), a being the angle
    of the first from where its axis of the cross lies across the plane of the shafts."""
    bend, rate = np.radians(25), 3.0
    out = np.array([np.cos(bend), 0, np.sin(bend)])
    inertia = (0.01, 0.02, 0.02)
    turn = (float(np.cos(bend / 2)), 0.0, -float(np.sin(bend / 2)), 0.0)
    shafts = [body("first", (-0.5, 0, 0), inertia=inertia), body("second", tuple(0.5 * out), inertia=inertia, orientation=turn)]
    joints = [
        Hinge(name="in", bodies=("ground", "first"), anchor=(-0.5, 0, 0), axis=(1, 0, 0), motor=Motor(speed=rate)),
        Universal(name="cross", bodies=("first", "second"), anchor=(0, 0, 0), axis=(0, 1, 0), other_axis=(-out[2], 0, out[0])),
        Cylindrical(name="out", bodies=("ground", "second"), anchor=tuple(0.5 * out), axis=tuple(out)),
    ]
    sim = start(shafts, joints, gravity=0.0)
    found, expected = [], []
    for _ in range(600):
        sim.step()
        a = sim.joint("in").coordinate
        found.append(sim.bodies.spin[2] @ out)
        expected.append(rate * np.cos(bend) / (1 - np.sin(bend) ** 2 * np.sin(a) ** 2))
    assert np.ptp(expected) > 0.5
    assert_allclose(found[5:], expected[5:], rtol=2 * rate * H)  # of first order in the turn of a step
    assert_allclose(np.mean(found), rate, rtol=0.02)


def test_a_fixed_joint_makes_one_body_of_two():
    """A dumb-bell thrown with a spin turns about its common centre as one rigid body, and the joint carries m r w^2 and no torque."""
    spin = 5.0
    places = ((0.3, 0, 0), (-0.6, 0, 0))
    bodies = [
        body(name, place, mass=mass, spin=(0, 0, spin), velocity=tuple(np.cross((0, 0, spin), place)))
        for name, place, mass in (("big", places[0], 4.0), ("small", places[1], 2.0))
    ]
    sim = start(bodies, [Fixed(name="bar", bodies=("big", "small"))], gravity=0.0)
    pulls = []
    for _ in range(300):
        sim.step()
        pulls.append(np.linalg.norm(sim.joint("bar").force))
    angle = spin * 300 * H
    assert_allclose(sim.bodies.position[1], 0.3 * np.array([np.cos(angle), np.sin(angle), 0]), atol=2e-3)
    assert_allclose(np.linalg.norm(sim.bodies.position[1] - sim.bodies.position[2]), 0.9, atol=2 * 0.9 * (spin * H) ** 2)
    assert_allclose(sim.bodies.spin[1:3], [(0, 0, spin)] * 2, atol=1e-3)
    assert_allclose(pulls[100:], 2.0 * 0.6 * spin**2, rtol=5e-3)


def test_a_beam_that_is_fixed_at_one_end_carries_its_bending_moment():
    beam = body("beam", (0.7, 0, 0))
    sim = start([beam], [Fixed(name="wall", bodies=("ground", "beam"), anchor=(0, 0, 0))])
    sim.run(0.2)
    assert_allclose(sim.joint("wall").force, (0, 0, 2 * GRAVITY), atol=1e-6)
    force, torque = sim.joint("wall").force, sim.joint("wall").torque  # the latter about the centre of the beam
    assert_allclose(torque + np.cross((0.7, 0, 0), force), (0, -0.7 * 2 * GRAVITY, 0), atol=1e-6)


def test_a_rod_is_a_conical_pendulum():
    """A bob on a massless rod of length l that circles at an angle b: w^2 = g / (l cos b), and the rod pulls with m g / cos b."""
    length, b = 0.8, np.radians(40)
    rate = np.sqrt(GRAVITY / (length * np.cos(b)))
    r = length * np.sin(b)
    bob = body("bob", (r, 0, -length * np.cos(b)), inertia=(1e-4,) * 3, velocity=(0, r * rate, 0))
    sim = start([bob], [Distance(name="rod", bodies=("ground", "bob"), anchors=((0, 0, 0), (r, 0, -length * np.cos(b))))], h=0.001)
    angle, pull = [], []
    for _ in range(500):
        sim.step()
        angle.append(np.arctan2(sim.bodies.position[1, 1], sim.bodies.position[1, 0]))
        pull.append(np.linalg.norm(sim.joint("rod").force))
    assert_allclose(np.linalg.norm(sim.bodies.position[1]), length, atol=1e-5)
    assert (np.unwrap(angle)[-1] - np.unwrap(angle)[0]) / 0.499 == pytest.approx(rate, rel=2e-3)
    assert np.mean(pull) == pytest.approx(2 * GRAVITY / np.cos(b), rel=2e-3)


def test_hydraulic_cylinders_push_with_pressure_times_area_and_stop_at_their_ends():
    """4 bar on 5 cm^2 lift 2 kg at the end of a slider: (p A - m g) / m until the stroke is over, where the end takes what is too much."""
    weight, push = 2 * GRAVITY, 4e5 * 5e-5
    cylinder = Distance(
        name="cylinder",
        bodies=("ground", "load"),
        anchors=((0, 0, -1), (0, 0, 0)),
        motor=Motor(pressure=4e5, area=5e-5),
        limits=Limits(lower=0.9, upper=1.003),
    )
    sim = start([body("load", (0, 0, 0))], [Slider(name="guide", bodies=("ground", "load")), cylinder])
    for _ in range(50):
        sim.step()
    assert sim.joint("cylinder").motor_force == pytest.approx(push)
    assert sim.joint("cylinder").speed == pytest.approx((push - weight) / 2 * 50 * H, rel=1e-6)
    sim.run(0.4)
    assert sim.joint("cylinder").coordinate == pytest.approx(1.003, abs=1e-6)
    assert sim.joint("cylinder").limit_force == pytest.approx(weight - push, rel=1e-6)


def test_parallel_hinges_share_a_door():
    """Two hinges on one axis: ten rows for five freedoms. The door swings as with one, and they carry its weight and its lever together."""
    door = body("door", (0.5, 0, 0), mass=20.0, inertia=(2.0, 3.5, 1.7), spin=(0, 0, 0.6), velocity=(0, 0.3, 0))
    hinges = [Hinge(name=name, bodies=("ground", "door"), anchor=(0, 0, z), axis=(0, 0, 1)) for name, z in (("low", -0.8), ("high", 0.8))]
    sim = start([door], hinges)
    sim.run(1.0)
    assert sim.joint("low").coordinate == pytest.approx(0.6, rel=1e-3)  # nothing slows it
    assert sim.bodies.spin[1, 2] == pytest.approx(0.6, rel=1e-4)
    carried = sim.joint("low").force + sim.joint("high").force
    out = matrix(sim.bodies.orientation[1]) @ (1, 0, 0)
    assert_allclose(carried, 20 * (GRAVITY * np.array([0, 0, 1]) - 0.5 * 0.36 * out), atol=0.05)
    assert sim.joint_drift < 1e-5


HELD = {"name": "j", "bodies": ("ground", "b")}
MANY = {
    "ball": Ball(**HELD, anchor=(0, 0, 0)),
    "hinge": pin("j", "ground", "b", (0, 0, 0), motor=Motor(speed=[[0, 0], [0.1, 2]], force_limit=30), limits=Limits(upper=0.1)),
    "slider": Slider(**HELD, axis=(1, 0, 1), motor=Motor(position=[[0, 0], [0.1, 0.2]], force_limit=40)),
    "cylindrical": Cylindrical(**HELD, anchor=(0, 0, 0), axis=(1, 0, 1), limits=Limits(lower=-0.02, restitution=0.5)),
    "universal": Universal(**HELD, anchor=(0, 0, 0), axis=(0, 1, 0), other_axis=(1, 0, 0)),
    "fixed": Fixed(**HELD, anchor=(0, 0, 0)),
    "distance": Distance(**HELD, anchors=((0, 0, 0.5), (0.5, 0, 0)), motor=Motor(pressure=[[0, 1e4], [0.1, -1e4]], area=1e-3)),
}


@pytest.mark.parametrize("kind", MANY)
@pytest.mark.parametrize("stepper", ["nonsmooth", "smooth"])
def test_a_restart_in_the_middle_of_a_motion_gives_the_same_bits(kind, stepper):
    bodies = [body("b", (0.5, 0, 0), inertia=(0.2, 0.3, 0.4), spin=(0.5, 1, 0) if kind == "ball" else (0, 0, 0))]
    bodies.append(body("c", (0.9, 0, 0)))
    joints = [MANY[kind], Ball(name="end", bodies=("b", "c"), anchor=(0.7, 0, 0))]
    sim = start(bodies, joints, stepper=stepper)
    for _ in range(30):
        sim.step()
    again = Simulation.restore(sim.scene, sim.settings, sim.checkpoint())
    for _ in range(30):
        sim.step()
        again.step()
    assert np.abs(sim.bodies.velocity[2]).max() > 0.01
    for name in ("position", "orientation", "velocity", "spin"):
        assert_array_equal(getattr(sim.bodies, name), getattr(again.bodies, name))
    assert_array_equal(sim.joint("j").force, again.joint("j").force)
