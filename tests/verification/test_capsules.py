"""Capsules on planes, boxes, meshes and each other: they lie, stand, roll and cross as rods with round ends do."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.detection.body_shapes import body_shapes
from granum.detection.wall_table import WallTable
from granum.scene import Ball, Body, Box, Capsule, Cylinder, Fixed, Hinge, Plane
from tests.reference.blocks import blocks, cube_mesh, motion, run, solid_box, turned
from tests.reference.scenes import G, hertz_stiffness

R, LENGTH, MASS = 0.05, 0.3, 3.0
SPIN = MASS * R**2 / 2  # moment about the axis, x
ALONG_Y = turned((0, 0, 1), np.pi / 2)
UPRIGHT = turned((0, 1, 0), np.pi / 2)


def rod(position, name="rod", **given):
    """A capsule along x."""
    across = MASS * (LENGTH + 2 * R) ** 2 / 12
    walls = [Capsule(material="m", axis=(1, 0, 0), radius=R, length=LENGTH)]
    return Body(name=name, kind="dynamic", mass=MASS, inertia=(SPIN, across, across), position=position, walls=walls, **given)


def stand(size, top=0.0):
    """A static box whose upper face is at z = ``top`` [m]."""
    return Body(name="stand", position=(0, 0, top - size[2] / 2), walls=[solid_box(size)])


def carries(sim, name):
    return sim.body_contacts.force_on(name)[2]


@pytest.mark.parametrize("on", ["plane", "box", "mesh"])
def test_a_capsule_lies_on_its_two_ends(on):
    """Each carries half of the weight, and is pressed in as a ball of the capsule's radius."""
    below = {"plane": Body(name="stand", walls=[Plane(material="m")]), "box": stand((1, 1, 0.2))}
    below["mesh"] = Body(name="stand", position=(0, 0, -0.5), walls=[cube_mesh(1.0)])
    sim = run(blocks([below[on], rod((0, 0, R))], walls=()), 300)
    touching = sim.body_contacts
    assert_allclose(np.sort(touching.point[:, 0]), (-LENGTH / 2, LENGTH / 2), atol=1e-6)
    assert_allclose(touching.normal_force, MASS * G / 2, rtol=1e-4)
    stiffness = hertz_stiffness(R, {"plane": np.inf, "box": 0.1, "mesh": 0.5}[on], youngs_modulus=1e9)
    assert_allclose(touching.overlap, (touching.normal_force / stiffness) ** (2 / 3), rtol=1e-3)
    assert sim.report.iterations <= 10


def test_a_capsule_stands_on_one_end_until_it_tips():
    sim = run(blocks([rod((0, 0, R + LENGTH / 2), orientation=UPRIGHT)]), 100)
    assert len(sim.body_contacts) == 1
    assert_allclose(carries(sim, "rod"), MASS * G, rtol=1e-4)
    leaning = turned((0, 1, 0), np.pi / 2 - 0.02)
    sim = run(blocks([rod((0, 0, R + LENGTH / 2 * np.cos(0.02)), orientation=leaning)]), 2000)
    assert_allclose(sim.bodies.position[1, 2], R, rtol=1e-3)  # it lies
    assert len(sim.body_contacts) == 2


@pytest.mark.parametrize("friction", [0.0, 0.6])
def test_a_capsule_rolls_down_an_incline(friction):
    """Without friction it slides with g sin(alpha), with enough of it rolls with g sin(alpha) / (1 + I / m R^2)."""
    slope, h, steps = 0.3, 5e-4, 400
    pull = G * np.array([0, np.sin(slope), -np.cos(slope)])
    sim = run(blocks([rod((0, 0, R - 1e-6))], gravity=pull, friction=friction, h=h), steps)
    slower = 1 + SPIN / (MASS * R**2) if friction else 1.0
    speed = sim.bodies.velocity[1, 1]
    assert_allclose(speed, G * np.sin(slope) / slower * steps * h, rtol=2e-3)
    if friction:
        assert_allclose(-sim.bodies.spin[1, 0] * R, speed, rtol=1e-3)
    else:
        assert abs(sim.bodies.spin[1, 0]) * R < 1e-9


def test_a_capsule_lies_across_a_beam():
    """Its ends stand out on both sides: the edges of the beam carry it, at the places where they cross its axis."""
    sim = run(blocks([stand((0.1, 0.4, 0.1)), rod((0.01, 0, R))], walls=()), 300)
    touching = sim.body_contacts
    assert_allclose(np.sort(touching.point[:, 0]), (-0.05, 0.05), atol=1e-4)
    left, right = touching.normal_force[np.argsort(touching.point[:, 0])]
    assert_allclose((left, right), MASS * G * np.array([0.4, 0.6]), rtol=1e-3)


def test_a_capsule_falls_off_a_box_it_overhangs():
    """With its centre beside the box it tips over the edge and never sinks into it."""
    sim = blocks([stand((0.4, 0.4, 1.0)), rod((0.25, 0, R))], walls=())
    for _ in range(600):
        sim.step()
        assert sim.body_contacts.overlap.max(initial=0.0) < 1e-3
    assert sim.bodies.position[2, 2] < -0.2


def test_capsules_cross():
    """One lies across another, which a stand holds: each carries what is above it, where the two axes cross."""
    lower = Body(name="lower", position=(0, 0, 0), walls=[Capsule(material="m", axis=(0, 1, 0), radius=0.1, length=0.5)])
    sim = run(blocks([lower, rod((0, 0, 0.1 + R))], walls=(), friction=0.9), 100)
    assert len(sim.body_contacts) == 1
    assert_allclose(sim.body_contacts.point[0], (0, 0, 0.1), atol=1e-4)
    assert_allclose(carries(sim, "rod"), MASS * G, rtol=1e-3)


def test_a_collision_of_capsules_keeps_momentum_and_energy():
    """Two that fly at each other across: momentum and angular momentum to rounding, energy to what a turn inside of a step is worth."""
    bodies = [
        rod((0, 0, 0), velocity=(0.1, 0, 2), spin=(0, 0, 1)),
        rod((0.06, 0.05, 0.2), "other", orientation=ALONG_Y, velocity=(0, 0, -1)),
    ]
    sim = blocks(bodies, walls=(), gravity=(0, 0, 0), restitution=1.0, friction=0.0, h=1e-3)
    linear, angular, kinetic = motion(sim)
    run(sim, 100)
    after = motion(sim)
    assert sim.bodies.velocity[1, 2] < 0.5  # they met
    assert_allclose(after[0], linear, atol=1e-12)
    assert_allclose(after[1], angular, atol=1e-11 * np.abs(angular).max())
    assert_allclose(after[2], kinetic, rtol=1e-5)


def test_a_box_lies_on_a_solid_cylinder_and_on_a_capsule():
    """Corners of a box meet the flat end of a standing cylinder, and the side of a capsule that is nearer than its own faces."""
    column = Body(name="column", walls=[Cylinder(material="m", side="outside", radius=0.3, length=0.4, centre=(0, 0, -0.2))])
    cube = Body(name="cube", kind="dynamic", mass=2.0, inertia=(0.01,) * 3, position=(0, 0, 0.1), walls=[solid_box(0.2)])
    sim = run(blocks([column, cube], walls=()), 200)
    assert len(sim.body_contacts) == 4
    assert_allclose(carries(sim, "cube"), 2.0 * G, rtol=1e-4)


def test_joints_say_who_does_not_touch():
    """Bodies of one machine, however far apart in it, and two with a joint between them; the ground is always touched."""
    wall = {"walls": [Box(material="m", lower=(-1, -1, -1), upper=(1, 1, 1), side="outside")]}
    free = [Body(name=name, kind="dynamic", mass=1.0, inertia=(1, 1, 1), **wall) for name in "abcd"]
    bodies = (Body(name="ground", walls=[Plane(material="m")]), Body(name="post", **wall), *free)
    joints = [
        Hinge(name="1", bodies=("ground", "a"), anchor=(0, 0, 0)),
        Ball(name="2", bodies=("a", "b"), anchor=(0, 0, 0)),
        Fixed(name="3", bodies=("c", "b")),
        Ball(name="4", bodies=("post", "c"), anchor=(0, 0, 0)),
    ]
    found = body_shapes(bodies, WallTable.build(bodies, {"m": 0}, 0.01), joints)
    assert found is not None
    names = ["ground", "post", *"abcd"]
    pairs = {tuple(sorted((names[a], names[b]))) for a, b in found.pair}
    expected = {(name, "ground") for name in "abcd"} | {("a", "post"), ("b", "post"), ("d", "post"), ("a", "d"), ("b", "d"), ("c", "d")}
    assert pairs == expected
