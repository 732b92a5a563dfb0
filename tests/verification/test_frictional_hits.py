"""Collisions with friction never win energy, and have as much restitution as that allows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granum import Body, Box, Capsule, Grains, Gravity, Material, Plane, Scene, Simulation
from granum.state.rotation import matrix

STEP = 1e-3
LEAST_SPEED = 0.4  # [m/s] at which the bodies here come, many times the impact velocity


def simulation(shape: Box | Capsule, moments, restitution, friction, **start) -> Simulation:
    """A body of 1 kg that flies at a plane, without gravity."""
    stuff = Material(name="stuff", density=2500, youngs_modulus=1e9, restitution=restitution, friction=friction)
    body = Body(name="body", kind="dynamic", mass=1.0, inertia=moments, walls=[shape], **start)
    scene = Scene(materials=[stuff], walls=[Plane(material="stuff")], bodies=[body], gravity=Gravity(acceleration=(0, 0, 0)))
    return Simulation(scene, time_step=STEP, guards={"on_coarse": "off"})


ROD_RADIUS, ROD_LENGTH, ROD_MOMENTS = 0.005, 0.2, (1 / 300, 1 / 300, 1e-5)


def rod(tilt, velocity) -> dict:
    """A rod of 1 kg whose lower end is about to hit the plane z = 0, by its tilt [degrees] from upright: name, mass, pose and walls."""
    half = math.radians(tilt) / 2
    end = ROD_RADIUS + ROD_LENGTH / 2 * math.cos(2 * half)
    return {
        "name": "rod",
        "kind": "dynamic",
        "mass": 1.0,
        "inertia": ROD_MOMENTS,
        "walls": [Capsule(material="stuff", axis=(0, 0, 1), radius=ROD_RADIUS, length=ROD_LENGTH)],
        "position": (0, 0, end + 0.5 * STEP * LEAST_SPEED),
        "orientation": (math.cos(half), 0.0, math.sin(half), 0.0),
        "velocity": tuple(velocity),
    }


def energy(sim: Simulation, moments) -> float:
    b, axes = sim.bodies, matrix(sim.bodies.orientation[1])
    own = axes.T @ b.spin[1]
    return float(0.5 * b.velocity[1] @ b.velocity[1] + 0.5 * own @ (np.asarray(moments) * own))


@pytest.mark.parametrize("seed", (12, 24, 26, 28, 30, 33, 45, 46, 47, 56, 57, 59))
def test_a_box_that_hits_a_rough_plane_never_wins_energy(seed):
    """By the law of restitution alone each of these wins energy in one of its hits, up to a third of it."""
    rng = np.random.default_rng(seed)
    half, turn = rng.uniform(0.02, 0.1, 3), rng.normal(size=4)
    moments = (half @ half - half**2) / 3
    sim = simulation(
        Box(material="stuff", lower=tuple(-half), upper=tuple(half), side="outside"),
        tuple(moments),
        float(rng.choice([0.8, 0.95, 1.0])),
        float(rng.uniform(0.1, 1.0)),
        position=(0, 0, 0.3),
        orientation=tuple(turn / np.linalg.norm(turn)),
        velocity=(*rng.normal(size=2), -0.5 - abs(rng.normal())),
        spin=tuple(5 * rng.normal(size=3)),
    )
    energies = [energy(sim, moments)]
    for _ in range(500):
        sim.step()
        energies.append(energy(sim, moments))
    assert sim.bodies.velocity[1, 2] > 0.0  # it has hit
    assert (np.diff(energies) <= 1e-6 * np.array(energies[:-1])).all()


def answer(weights, before, restitution, friction):
    """Normal and tangential impulse of a hit in a plane, and the velocities after it: the normal one reversed, friction that sticks if it
    can and slides if not. ``weights`` (2, 2) are the velocities that unit impulses give."""
    stick = np.linalg.solve(weights, [-(1 + restitution) * before[0], -before[1]])
    if abs(stick[1]) <= friction * stick[0]:
        impulse = stick
    else:
        way = math.copysign(1.0, stick[1])
        normal = -(1 + restitution) * before[0] / (weights[0, 0] + friction * way * weights[0, 1])
        impulse = np.array([normal, friction * way * normal])
    return impulse, before + weights @ impulse


@pytest.mark.parametrize("restitution", (0.0, 0.5, 0.9, 1.0))
@pytest.mark.parametrize("friction", (0.2, 0.6))
@pytest.mark.parametrize("tilt", (15.0, 30.0, 55.0))
@pytest.mark.parametrize("across", (-0.8, 0.8))
def test_a_rod_leaves_with_as_much_restitution_as_its_energy_allows(across, tilt, friction, restitution):
    """One end of a tilted rod hits the plane: against the answer in a plane, with less of its restitution where that would win energy."""
    radius, length = 0.005, 0.2
    u = np.array([math.sin(math.radians(tilt)), 0.0, math.cos(math.radians(tilt))])
    velocity, moments = np.array([across, 0.0, -1.0]), (1 / 300, 1 / 300, 1e-5)
    half = math.radians(tilt) / 2
    end = radius + length / 2 * u[2]
    sim = simulation(
        Capsule(material="stuff", axis=(0, 0, 1), radius=radius, length=length),
        moments,
        restitution,
        friction,
        position=(0, 0, end + 0.5 * STEP * LEAST_SPEED),
        orientation=(math.cos(half), 0.0, math.sin(half), 0.0),
        velocity=tuple(velocity),
    )
    came = energy(sim, moments)
    for _ in range(3):
        sim.step()
    x, z = -length / 2 * u[0], -end  # of the point that hits, from the centre
    weights = np.array([[1 + x * x / moments[1], -x * z / moments[1]], [-x * z / moments[1], 1 + z * z / moments[1]]])
    before = np.array([velocity[2], velocity[0]])
    (full, fast), (none, slow) = answer(weights, before, restitution, friction), answer(weights, before, 0.0, friction)

    def won(part):
        impulse, after = none + part * (full - none), slow + part * (fast - slow)
        return 0.5 * impulse @ (before + after)

    low, high = 0.0, 1.0
    if won(1.0) > 0.0:
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if won(middle) <= 0.0 else (low, middle)
    impulse = none + high * (full - none)
    b = sim.bodies
    assert b.velocity[1] == pytest.approx([across + impulse[1], 0.0, impulse[0] - 1.0], abs=1e-4)  # the impact stage is solved to 5e-5 m/s
    assert b.spin[1] == pytest.approx([0.0, (z * impulse[1] - x * impulse[0]) / moments[1], 0.0], abs=2e-3)
    assert energy(sim, moments) <= (1 + 1e-6) * came


def test_what_hits_elsewhere_has_all_of_its_restitution():
    """A rod that would win energy gets less restitution; a ball that hits the plane 5 m away in the same step rebounds by the law, and what
    the rod does is the same to the bit without it."""
    stuff = Material(name="stuff", density=2500, youngs_modulus=1e9, restitution=1.0, friction=0.6)
    ball = Grains(material="stuff", position=[(5.0, 0, 0.005 + 0.5 * STEP * LEAST_SPEED)], velocity=[(0, 0, -1.0)], diameter=0.01)
    given, found = rod(30.0, (0.8, 0, -1.0)), []
    for grains in ((), (ball,)):
        scene = Scene(
            materials=[stuff],
            walls=[Plane(material="stuff")],
            bodies=[Body(**given)],
            grains=grains,
            gravity=Gravity(acceleration=(0, 0, 0)),
        )
        sim = Simulation(scene, time_step=STEP, guards={"on_coarse": "off"})
        sim.run(3 * STEP)
        found.append(sim)
    alone, beside = found
    assert beside.velocity[0] == pytest.approx([0, 0, 1.0], abs=1e-12)
    assert_array_equal(beside.bodies.velocity[1], alone.bodies.velocity[1])
    tip = (-ROD_LENGTH / 2 * math.sin(math.radians(30.0)), 0, 0.5 * STEP * LEAST_SPEED - given["position"][2])
    leaves = alone.bodies.velocity[1, 2] + np.cross(alone.bodies.spin[1], tip)[2]
    assert 0.0 < leaves < 0.95  # of 1 m/s at its end: all of it would win energy


def test_a_rod_that_a_plate_runs_into_does_what_one_that_runs_into_the_plate_does():
    """Seen from the plate they are the same hit; the plate works on the rod, which is not energy won from nothing. Impacts are solved to
    5e-5 m/s."""
    stuff = Material(name="stuff", density=2500, youngs_modulus=1e9, restitution=1.0, friction=0.6)
    along, left = np.array([0.3, 0.0, 0.7]), []
    for moves in (0.0, 1.0):
        plate = Body(name="plate", kind="kinematic", motion={"velocity": tuple(moves * along)}, walls=[Plane(material="stuff")])
        bodies = [plate, Body(**rod(30.0, np.array([0.8, 0, -1.0]) + moves * along))]
        scene = Scene(materials=[stuff], bodies=bodies, gravity=Gravity(acceleration=(0, 0, 0)))
        sim = Simulation(scene, time_step=STEP, guards={"on_coarse": "off"})
        sim.run(3 * STEP)
        left.append(np.concatenate([sim.bodies.velocity[2] - moves * along, sim.bodies.spin[2]]))
    assert left[0][2] > -0.9  # it has hit
    assert_allclose(left[1][:3], left[0][:3], rtol=0, atol=1e-4)
    assert_allclose(left[1][3:], left[0][3:], rtol=0, atol=2e-3)
