"""Grains at rest on a link of a machine move as one with it: loads, periods and momenta stay, and they come off when they must."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granum import Body, Box, BoxSensor, Grains, Gravity, Hinge, Material, Motor, Plane, Scene, Simulation, Slider
from granum.parallel import team
from granum.simulation.settings import make_settings
from tests.verification.test_aggregates import momenta

G = 9.81
D = 0.1
H = 2e-3
TRIAL = {"split": ["contact", "trial"]}


def stone(**changed):
    return Material(**({"name": "stone", "density": 2500.0, "youngs_modulus": 1e8, "friction": 0.5, "restitution": 0.0} | changed))


def layers(nx, ny, nz, at=(0.0, 0.0, 0.0)):
    """(n, 3) centres [m] of grains that just touch, around the axis z of ``at``, the lowest at rest on its height."""
    x, y, z = (a.ravel() for a in np.meshgrid(np.arange(nx), np.arange(ny), np.arange(nz), indexing="ij"))
    return np.stack([x - (nx - 1) / 2, y - (ny - 1) / 2, z + 0.5], axis=1) * D + np.asarray(at)


def plate(**fields):
    """A plate whose upper side is at z = 0; its centre of mass is somewhere else."""
    wall = Box(material="stone", lower=(-1, -1, -0.05), upper=(1, 1, 0.05), side="outside")
    return Body(
        **({"name": "plate", "kind": "dynamic", "mass": 40.0, "inertia": (5, 5, 10), "position": (0, 0, -0.05), "walls": [wall]} | fields)
    )


def machine(grains, joints, bodies=None, gravity=G, walls=(), **changed):
    return Scene(
        materials=[stone(**changed)],
        gravity=Gravity(acceleration=(0, 0, -gravity)),
        walls=walls,
        bodies=[plate()] if bodies is None else bodies,
        joints=joints,
        grains=[grains if isinstance(grains, Grains) else Grains(material="stone", position=grains, diameter=D)],
    )


def simulation(scene, reduction=TRIAL, h=H, threads=1):
    return Simulation(scene, make_settings({"time_step": h, "threads": threads, "stepper": {"reduction": reduction}}))


def whole(sim):
    """Mass [kg], centre [m] and moment of inertia about y [kg m^2] of plate and grains."""
    b = sim.bodies
    own = 1 / b.inverse_mass[1]
    mass = own + b.mass.sum()
    centre = (own * b.position[1] + b.mass @ sim.position) / mass
    d, c = sim.position - centre, b.position[1] - centre
    about = b.moments[1, 1] + own * (c[0] ** 2 + c[2] ** 2) + (b.mass * (d[:, 0] ** 2 + d[:, 2] ** 2 + 0.4 * sim.radius**2)).sum()
    return mass, centre, about


def test_a_platen_carries_the_same_load_before_and_after_grains_merge_with_it():
    """Beside the middle, so that the joint carries a moment too; the motor holds all the weight."""
    scene = machine(
        layers(4, 3, 2, (0.5, 0.3, 0)), [Slider(name="ram", bodies=("ground", "plate"), axis=(0, 0, 1), motor=Motor(position=0.0))]
    )
    found = {}
    for name, reduction in (("apart", None), ("merged", TRIAL)):
        sim = simulation(scene, reduction)
        sim.run(0.5)
        mass, centre, _ = whole(sim)
        arm = centre - sim.bodies.position[1]
        joint = sim.joint("ram")
        assert_allclose(joint.motor_force, mass * G, rtol=1e-9)
        # the motor pushes along the axis, and the joint holds against the moment of the weights
        assert_allclose(joint.torque[:2], np.cross(arm, (0, 0, mass * G))[:2], rtol=1e-8)
        found[name] = sim
    assert found["apart"].position == pytest.approx(found["merged"].position, abs=1e-3 * D)
    assert found["merged"].report.free_grains == 0
    assert found["merged"].joint_drift < 1e-9


def test_the_motor_does_the_work_that_lifts_a_platen_with_merged_grains():
    """It is at rest before and after: m g z of all; what the lock of the motor swings back is 1e-8 of it."""
    path = [(0.0, 0.0), (0.3, 0.0), (0.8, 0.2), (1.5, 0.2)]
    scene = machine(
        layers(4, 3, 2, (0.5, 0.3, 0)), [Slider(name="ram", bodies=("ground", "plate"), axis=(0, 0, 1), motor=Motor(position=path))]
    )
    sim = simulation(scene)
    sim.run(0.3)
    before, work = sim.report.energy, sim.ledger.joules["motors"]
    sim.run(0.9)
    lifted = whole(sim)[0] * G * 0.2
    assert sim.report.free_grains == 0
    assert sim.report.energy - before == pytest.approx(lifted, rel=1e-9)
    assert sim.ledger.joules["motors"] - work == pytest.approx(lifted, rel=1e-7)


def test_a_tray_with_merged_grains_swings_as_one_body():
    """Period and greatest joint force of a compound pendulum; the tray stays across its rod, so that nothing slides."""
    length, angle = 1.5, 0.08
    c, s = math.cos(angle), math.sin(angle)
    turn = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])  # about y, through the pivot
    pivot = np.array([0, 0, length])
    at = turn @ (np.array([0, 0, -0.05]) - pivot) + pivot
    tray = plate(position=at, orientation=(math.cos(angle / 2), 0, math.sin(angle / 2), 0))
    grains = (layers(3, 3, 1) - pivot) @ turn.T + pivot
    scene = machine(grains, [Hinge(name="pivot", bodies=("ground", "plate"), anchor=pivot, axis=(0, 1, 0))], [tray], youngs_modulus=1e10)
    sim = simulation(scene)
    crossed, most, x = [], 0.0, [sim.bodies.position[1, 0]]
    mass, centre, about = whole(sim)
    while len(crossed) < 2:
        sim.step()
        x.append(sim.bodies.position[1, 0])
        if crossed:  # at the start the grains come to rest
            most = max(most, float(np.linalg.norm(sim.joint("pivot").force)))
        if (x[-2] > 0) != (x[-1] > 0):
            crossed.append(sim.time - sim.time_step * x[-1] / (x[-1] - x[-2]))
    assert sim.report.free_grains == 0
    arm = np.linalg.norm(centre - pivot)
    inertia = about + mass * arm * arm
    period = 2 * math.pi * math.sqrt(inertia / (mass * G * arm)) * (1 + angle**2 / 16)
    assert crossed[1] - crossed[0] == pytest.approx(period / 2, rel=1e-4)
    lowest = mass * G + mass * arm * 2 * (1 - math.cos(angle)) * mass * G * arm / inertia  # with the centripetal force
    assert most == pytest.approx(lowest, rel=1e-3)


def tilting(rate=0.15):
    """A tray that a motor tilts about y; rolling resistance lets grains slide, not roll."""
    joint = Hinge(name="tilt", bodies=("ground", "plate"), anchor=(0, 0, 0), axis=(0, 1, 0), motor=Motor(speed=rate))
    return machine(layers(3, 3, 1), [joint], friction=0.3, rolling_friction=1.0)


def slides_at(sim, fast=0.02):
    """Angle [rad] of the tray at which the first grain slides along it faster than ``fast`` [m/s]."""
    while sim.joint("tilt").coordinate < 0.6:
        sim.step()
        b = sim.bodies
        rigid = b.velocity[1] + np.cross(b.spin[1], sim.position - b.position[1])
        slip = np.linalg.norm(b.velocity[b.grains] - rigid, axis=1).max()
        if slip > fast and sim.joint("tilt").coordinate > 0.1:  # at the start the grains take up the motion of the tray
            return sim.joint("tilt").coordinate
    return math.inf


def test_grains_slide_off_a_tilting_tray_at_the_angle_of_friction():
    """A trial is due after 0.02 rad at the latest, and lets grains go that would accelerate by 0.01 of g and of the contact force: 0.02 rad
    more. To be fast takes them 0.02 rad besides: what an angle beyond friction makes of it in that time."""
    scene = tilting()
    friction = math.atan(0.3)
    apart = slides_at(simulation(scene, None))
    merged = slides_at(simulation(scene, TRIAL | {"trial": {"force": 0.01}}))
    assert friction < apart < friction + 0.03
    assert friction < merged < apart + 0.05


def test_a_floating_machine_keeps_its_momenta_while_grains_merge_with_a_link_and_come_off():
    """A plate with grains, and an arm on it that a motor turns; a sensor on their way takes the grains apart, and they merge again."""
    arm = Body(name="arm", kind="dynamic", mass=10.0, inertia=(1, 1, 1), position=(0, 0.8, -0.4), velocity=(0.3, 0, 0))
    place = layers(3, 3, 2, (0.2, 0.1, 0))
    grains = Grains(material="stone", position=place, diameter=D, velocity=np.full(place.shape, (0.3, 0, 0)))
    joint = Hinge(name="pin", bodies=("plate", "arm"), anchor=(0, 0.8, -0.05), axis=(1, 0, 0), motor=Motor(speed=0.4, force_limit=2.0))
    scene = machine(grains, [joint], [plate(velocity=(0.3, 0, 0)), arm], gravity=0.0)
    scene = scene.changed(sensors=(BoxSensor(lower=(0.33, -1, -1), upper=(0.36, 1, 1)),))
    sim = simulation(scene, {"split": ["sensor"]})
    linear, angular = momenta(sim.bodies)
    size = np.linalg.norm(linear)
    free = []
    for _ in range(200):
        sim.step()
        free.append(sim.report.free_grains)
        now = momenta(sim.bodies)
        assert_allclose(now[0], linear, atol=1e-12 * size)
        assert_allclose(now[1], angular, atol=1e-7 * size)  # the anchors of a joint drift apart, by 1e-7 m here
    assert free[5] == 0  # all had merged
    assert max(free[5:]) > 0  # and came off
    assert free[-1] < max(free[5:])


def digger():
    """A box on two sliders: it is let down beside a bed, pushes through it, and lifts."""
    push = [(0.0, 0.0), (0.1, 0.0), (0.6, 0.05)]
    blade = plate(
        name="blade", mass=5.0, inertia=(1, 1, 1), position=(-0.32, 0, 0.15), walls=[
            Box(material="stone", lower=(-0.05, -0.24, -0.12), upper=(0.05, 0.24, 0.2), side="outside")
        ]
    )  # fmt: skip
    joint = Slider(name="push", bodies=("ground", "blade"), axis=(1, 0, 0), motor=Motor(position=push))
    rim = Box(material="stone", lower=(-2, -0.25, -1), upper=(2, 0.25, 2), side="inside")
    return machine(layers(5, 5, 3), [joint], [blade], walls=[Plane(material="stone"), rim])


def test_nothing_is_frozen_that_a_machine_moves_through():
    """A blade that goes through a merged bed more slowly than any contact event presses into no grain more than at full resolution."""
    deepest = {}
    for name, reduction in (("full", None), ("reduced", TRIAL)):
        sim = simulation(digger(), reduction)
        level, deep = [], 0.0
        while sim.time < 0.6:
            sim.step()
            deep = max(deep, sim.report.max_overlap)
            level.append(sim.report.more.get("reduction_level", 0.0))
        deepest[name] = deep
        assert sim.joint("push").coordinate == pytest.approx(0.05, abs=1e-6)
    assert max(level) > 0.5
    assert deepest["reduced"] < 1.5 * deepest["full"]


def test_same_bits_after_a_restart_and_on_two_threads(monkeypatch):
    """Restarted while all grains are parts of the tray; at the end some have come off."""
    monkeypatch.setattr(team, "LEAST", 1)
    scene = tilting(rate=0.6)
    sim = simulation(scene)
    sim.run(0.3)
    assert sim.report.free_grains == 0
    again = Simulation.restore(scene, sim.settings, sim.checkpoint())
    both = simulation(scene, threads=2)
    sim.run(0.7)
    again.run(0.7)
    both.run(1.0)
    assert sim.report.free_grains > 0
    for other in (again, both):
        for name in ("position", "orientation", "velocity", "spin"):
            assert_array_equal(getattr(sim.bodies, name), getattr(other.bodies, name))
