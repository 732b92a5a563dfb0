"""Machines against MuJoCo, another program for them (``pip install mujoco``; without it these tests are left out).

The same model is built in both. MuJoCo runs with fine steps of Runge-Kutta, so the error is granum's, of first order in its step: it halves
with the step, and what two steps extrapolate to (2 x(h/2) - x(h)) is left with errors of second order.
"""

from __future__ import annotations

import numpy as np
import pytest

from granum import Body, Hinge, Motor, Simulation, Slider
from tests.reference.machines import excavator, machine_scene, pin, rod, turned
from tests.reference.mujoco_models import give_forces, to_mjcf

mujoco = pytest.importorskip("mujoco")
FINE = 1e-4  # [s] steps of MuJoCo


def in_mujoco(scene, times, velocity=None):
    """(times, bodies, 3) places of the centres of mass."""
    model = mujoco.MjModel.from_xml_string(to_mjcf(scene, FINE))
    data = mujoco.MjData(model)
    give_forces(scene, model, data)
    if velocity is not None:
        data.qvel[:] = velocity
    order = [model.body(body.name).id for body in scene.bodies]
    found = []
    for time in times:
        while data.time < time - FINE / 2:
            mujoco.mj_step(model, data)
        mujoco.mj_kinematics(model, data)
        found.append(data.xipos[order].copy())
    return np.array(found)


def in_granum(scene, times, h):
    sim = Simulation(scene, time_step=h)
    found = []
    for time in times:
        while sim.time < time - h / 2:
            sim.step()
        found.append(sim.bodies.position[1 : 1 + len(scene.bodies)].copy())
    return np.array(found), sim


def agree(scene, times, h, rough, fine, velocity=None):
    """The error halves with the step and is below ``rough`` [m] at ``h``; what both steps extrapolate to is within ``fine`` [m]."""
    truth = in_mujoco(scene, times, velocity)
    coarse, half = (in_granum(scene, times, step)[0] for step in (h, h / 2))
    moved = np.abs(truth[-1] - [body.position for body in scene.bodies]).max()
    assert moved > 0.2  # something happens
    first, second = np.abs(coarse - truth).max(), np.abs(half - truth).max()
    assert first < rough
    assert second == pytest.approx(first / 2, rel=0.25)
    assert np.abs(2 * half - coarse - truth).max() < fine


def link(name, place, axis, angle, mass):
    return Body(
        name=name,
        kind="dynamic",
        mass=mass,
        inertia=(0.05 * mass, 0.08 * mass, 0.11 * mass),
        position=place,
        orientation=turned(axis, angle),
    )


def test_a_double_pendulum_of_unequal_rods():
    left, middle, right = np.zeros(3), np.array([0.7, 0, 0.2]), np.array([1.1, 0, -0.3])
    bodies = [rod("upper", left, middle, 2.0), rod("lower", middle, right, 0.5)]
    joints = [pin("top", "ground", "upper", left), pin("elbow", "upper", "lower", middle)]
    agree(machine_scene(bodies, joints), (0.25, 0.5), 0.002, 6e-3, 2e-4)


def test_a_chain_of_skew_hinges_and_a_slider_with_motors():
    """In space, with inertias that are not along the axes of the joints: gyroscopic moments and all."""
    bodies = [
        link("a", (0.4, 0.1, 0), (1, 2, 0), 0.5, 3.0),
        link("b", (0.9, 0, 0.2), (0, 1, 1), -0.8, 2.0),
        link("c", (1.3, 0.2, 0), (1, 0, 0), 1.0, 1.0),
    ]
    joints = [
        Hinge(name="one", bodies=("ground", "a"), anchor=(0, 0, 0), axis=(0, 1, 0.3), motor=Motor(force=-8.0)),
        Hinge(name="two", bodies=("a", "b"), anchor=(0.7, 0, 0.1), axis=(1, 0.5, 0), motor=Motor(force=2.0)),
        Slider(name="three", bodies=("b", "c"), axis=(1, 0, 0.5), motor=Motor(force=6.0)),
    ]
    agree(machine_scene(bodies, joints), (0.2, 0.4), 0.001, 5e-3, 1e-4)


def test_a_four_bar_linkage_that_falls():
    a, b, c, d = (np.array(p) for p in ((0.0, 0, 0), (0.1, 0, 0.3), (0.7, 0, 0.5), (0.8, 0, 0)))
    bodies = [rod("crank", a, b, 1.0), rod("coupler", b, c, 2.0), rod("rocker", c, d, 1.5)]
    joints = [
        pin("a", "ground", "crank", a, motor=Motor(force=4.0)),
        pin("b", "crank", "coupler", b),
        pin("c", "coupler", "rocker", c),
        pin("d", "ground", "rocker", d),
    ]
    agree(machine_scene(bodies, joints), (0.15, 0.3), 0.002, 3e-3, 5e-4)


def test_a_machine_that_floats():
    """A spinning body with an arm that a motor swings and a mass that another one pushes out. MuJoCo has the spin of a free body in its own
    frame, which is that of the world at the start."""
    spin, drift = np.array([0.4, -0.6, 1.5]), np.array([0.2, 0, 0.1])
    places = {"hub": (0.0, 0.0, 0.0), "arm": (0.5, 0.0, 0.1), "mass": (-0.4, 0.1, 0.0)}
    bodies = [
        link(name, place, (1, 1, 0), 0.3 * k, 1.0 + k).model_copy(
            update={"spin": tuple(spin), "velocity": tuple(np.cross(spin, place) + drift)}
        )
        for k, (name, place) in enumerate(places.items())
    ]
    joints = [
        Hinge(name="swing", bodies=("hub", "arm"), anchor=(0.2, 0, 0), axis=(0, 1, 0), motor=Motor(force=0.5)),
        Slider(name="push", bodies=("hub", "mass"), axis=(-1, 0.2, 0), motor=Motor(force=0.6)),
    ]
    agree(machine_scene(bodies, joints, gravity=0.0), (0.3, 0.6), 0.001, 5e-4, 1e-5, velocity=[*drift, *spin, 0, 0])


@pytest.mark.parametrize("load", [(3e4, 2e4, -1e4), (-2e4, -4e4, 6e4)])
def test_cylinders_of_an_excavator_by_virtual_work(load):
    """MuJoCo has the tree of hinges and the forces that hold it still; the cylinders do the same work: J^T f = q, J being how fast they
    lengthen. The load pulls sideways too, which the hinges carry."""
    scene = excavator(load)
    hinges = [joint for joint in scene.joints if isinstance(joint, Hinge)]
    cylinders = [joint for joint in scene.joints if not isinstance(joint, Hinge)]
    model = mujoco.MjModel.from_xml_string(to_mjcf(scene.changed(joints=hinges), FINE))
    data = mujoco.MjData(model)
    mujoco.mj_inverse(model, data)
    lengthen = []
    for joint in cylinders:
        along = np.subtract(*joint.anchors[::-1])
        rate = np.zeros(model.nv)
        for side, name, at in zip((-1, 1), joint.bodies, joint.anchors, strict=True):
            jacobian = np.zeros((3, model.nv))
            if name != "ground":
                mujoco.mj_jac(model, data, jacobian, None, np.array(at), model.body(name).id)
            rate += side * (along / np.linalg.norm(along)) @ jacobian
        lengthen.append(rate)
    # the inverse of MuJoCo leaves out forces on bodies
    pushed = np.zeros(model.nv)
    for body in scene.bodies:
        jacobian = np.zeros((3, model.nv))
        mujoco.mj_jac(model, data, jacobian, None, np.array(body.position), model.body(body.name).id)
        pushed += np.asarray(body.force) @ jacobian
    expected = np.linalg.solve(np.array(lengthen).T, data.qfrc_inverse - pushed)
    sim = Simulation(scene, time_step=0.005)
    sim.run(1.5)
    assert [sim.joint(joint.name).motor_force for joint in cylinders] == pytest.approx(expected, abs=1.0)
