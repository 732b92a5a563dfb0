"""Machines that push grains: forces of motors and joints against weights, few sweeps against many, same bits, both steppers."""

from __future__ import annotations

import numpy as np
import pytest

from granum import Ball, Body, Box, Distance, Grains, Hinge, Material, Motor, Plane, Scene, Simulation, Slider
from granum.parallel import team
from tests.reference.machines import GRAVITY

STONE = Material(name="stone", density=2500, youngs_modulus=1e9, friction=0.5)
RADIUS = 0.3
MASS = 2500 * 4 / 3 * np.pi * RADIUS**3  # of a boulder: 283 kg
PLACES = [[0.45 * np.cos(a), 0.45 * np.sin(a), RADIUS] for a in np.radians([0, 120, 240])]
TOP = 2 * RADIUS + 0.05


def plate(mass: float, height: float = TOP + 1e-3) -> Body:
    wall = Box(material="stone", lower=(-1, -1, -0.05), upper=(1, 1, 0.05), side="outside")
    return Body(name="plate", kind="dynamic", mass=mass, inertia=(5, 5, 10), position=(0, 0, height), walls=[wall])


def press(motor: Motor, **fields) -> Scene:
    """A plate on a slider above three boulders."""
    return Scene(
        materials=[STONE],
        walls=[Plane(material="stone")],
        bodies=[plate(40.0)],
        grains=[Grains(material="stone", position=PLACES, diameter=2 * RADIUS)],
        joints=[Slider(name="ram", bodies=("ground", "plate"), axis=(0, 0, 1), motor=motor)],
        **fields,
    )


def ring(count: int, distance: float, turned: float) -> list[list[float]]:
    """Places of boulders around the middle of the plate, every second one a little further out; ``turned`` [degrees]."""
    away = [distance + 0.05 * (k % 2) for k in range(count)]
    angle = np.radians(turned + 360 / count * np.arange(count))
    return [[r * np.cos(a), r * np.sin(a), RADIUS] for r, a in zip(away, angle, strict=True)]


def loader(motor: Motor, places: list[list[float]] = PLACES) -> Scene:
    """A light bucket (a plate) at the end of a boom that a hydraulic cylinder presses onto boulders."""
    boom = Body(name="boom", kind="dynamic", mass=500, inertia=(10, 400, 400), position=(-1.5, 0, TOP))
    return Scene(
        materials=[STONE],
        walls=[Plane(material="stone")],
        bodies=[plate(40.0), boom],
        grains=[Grains(material="stone", position=places, diameter=2 * RADIUS)],
        joints=[
            Hinge(name="foot", bodies=("ground", "boom"), anchor=(-3, 0, TOP), axis=(0, 1, 0)),
            Hinge(name="pin", bodies=("boom", "plate"), anchor=(0, 0, TOP), axis=(0, 1, 0)),
            Distance(name="cylinder", bodies=("ground", "boom"), anchors=((-2.5, 0, 2), (-1, 0, TOP + 0.05)), motor=motor),
        ],
    )


def floor_force(sim: Simulation) -> float:
    c = sim.contacts
    at_floor = c.b == -1
    return -float((c.impulse[at_floor, 0] * c.normal[at_floor, 2]).sum()) / sim.time_step


@pytest.mark.parametrize("stepper", ["nonsmooth", "smooth"])
def test_the_floor_carries_grains_plate_and_motor(stepper):
    sim = Simulation(press(Motor(force=-2000.0)), stepper=stepper, **({"time_step": 0.0025} if stepper == "nonsmooth" else {}))
    sim.run(0.6 if stepper == "nonsmooth" else 0.4)
    weight = (40 + 3 * MASS) * GRAVITY
    # the springs of small steps still swing a little after 0.4 s
    assert floor_force(sim) == pytest.approx(weight + 2000, rel=1e-6 if stepper == "nonsmooth" else 0.05)
    assert sim.joint("ram").motor_force == -2000


def test_the_top_joint_of_a_loaded_chain_carries_the_grains_too():
    """Ten links of a ton, a load of 100 t, and boulders on it; ten sweeps."""
    bodies, joints, above = [], [], "ground"
    for k in range(10):
        bodies.append(Body(name=f"link {k}", kind="dynamic", mass=1000, inertia=(100, 100, 10), position=(0, 0, 11.5 - k)))
        joints.append(Ball(name=f"joint {k}", bodies=(above, f"link {k}"), anchor=(0, 0, 12 - k)))
        above = f"link {k}"
    wall = Box(material="stone", lower=(-1, -1, -0.05), upper=(1, 1, 0.05), side="outside")
    bodies.append(Body(name="load", kind="dynamic", mass=1e5, inertia=(1e5,) * 3, position=(0, 0, 0), walls=[wall]))
    joints.append(Ball(name="joint 10", bodies=(above, "load"), anchor=(0, 0, 2)))
    places = np.add(PLACES, [0, 0, 0.05])
    scene = Scene(materials=[STONE], bodies=bodies, joints=joints, grains=[Grains(material="stone", position=places, diameter=2 * RADIUS)])
    sim = Simulation(scene, time_step=0.0025, solver={"name": "pgs", "iterations": 10})
    sim.run(0.8)
    assert sim.joint("joint 0").force[2] == pytest.approx((1.1e5 + 3 * MASS) * GRAVITY, rel=1e-6)
    assert sim.joint("joint 5").force[2] == pytest.approx((1.05e5 + 3 * MASS) * GRAVITY, rel=1e-6)


@pytest.mark.parametrize("places", [PLACES, ring(3, 0.5, 20), ring(4, 0.55, 10), ring(4, 0.5, 45), ring(5, 0.62, 0), ring(5, 0.6, 25)])
def test_few_cold_sweeps_find_the_force_of_a_motor_that_presses_on_heavy_grains(places):
    """A bucket of 40 kg on three to five boulders of 283 kg, which it is pushed to and fro between; ten sweeps."""
    stalled = Simulation(loader(Motor(speed=0.5, force_limit=2e4), places), time_step=0.0025, solver={"name": "pgs", "iterations": 500})
    stalled.run(0.4)
    assert stalled.joint("cylinder").motor_force == 2e4  # it cannot go on
    saved = stalled.checkpoint()
    scene = loader(Motor(position=stalled.joint("cylinder").coordinate, force_limit=1e6), places)  # and is locked where it stands
    found = []
    for sweeps in (10, 2000):
        how = {"name": "nonsmooth", "solver": {"name": "pgs", "iterations": sweeps}, "warm_start": {"name": "none"}}
        sim = Simulation.restore(scene, Simulation(scene, time_step=0.0025, stepper=how).settings, saved)
        sim.step()
        found.append(sim.joint("cylinder").motor_force)
    assert found[1] == pytest.approx(2e4, rel=1e-3)
    assert found[0] == pytest.approx(found[1], rel=1e-3)


def test_a_motor_comes_to_its_bound_within_a_solve():
    """A plate that is driven down onto boulders stalls with all its force, and the floor carries it."""
    sim = Simulation(press(Motor(speed=-0.2, force_limit=3000.0)), time_step=0.0025)
    sim.run(0.5)
    assert sim.joint("ram").motor_force == -3000
    assert floor_force(sim) == pytest.approx((40 + 3 * MASS) * GRAVITY + 3000, rel=1e-5)
    assert abs(sim.joint("ram").speed) < 1e-5


@pytest.mark.parametrize(
    "solver",
    [
        pytest.param({"name": "direct"}, marks=pytest.mark.slow),  # seconds to run, but kernels of their own to compile
        pytest.param({"name": "multigrid"}, marks=pytest.mark.slow),
        {"name": "pgs", "order": "given"},
        {"name": "pgs", "momentum": False},
    ],
)
def test_all_solvers_know_machines(solver):
    sim = Simulation(loader(Motor(speed=0.5, force_limit=2e4)), time_step=0.0025, solver=solver)
    sim.run(0.4)
    other = Simulation(loader(Motor(speed=0.5, force_limit=2e4)), time_step=0.0025)
    other.run(0.4)
    assert floor_force(sim) == pytest.approx(floor_force(other), rel=1e-3)


@pytest.mark.parametrize("stepper", ["nonsmooth", "smooth"])
def test_a_restarted_machine_among_grains_goes_on_with_the_same_bits(stepper):
    sim = Simulation(loader(Motor(speed=0.5, force_limit=2e4)), stepper=stepper)
    sim.run(100 * sim.time_step)
    again = Simulation.restore(sim.scene, sim.settings, sim.checkpoint())
    for _ in range(50):
        sim.step()
        again.step()
    assert np.array_equal(sim.bodies.position, again.bodies.position)
    assert np.array_equal(sim.bodies.velocity, again.bodies.velocity)


@pytest.mark.parametrize("threads", [2, 3])
def test_machines_have_the_same_bits_on_any_number_of_threads(monkeypatch, threads):
    """Every thread is woken for anything; the motor comes to its bound on the way."""
    monkeypatch.setattr(team, "LEAST", 1)
    found = []
    for count in (1, threads):
        sim = Simulation(press(Motor(speed=-0.2, force_limit=3000.0)), time_step=0.0025, threads=count)
        forces = []
        for _ in range(60):
            sim.step()
            forces.append(sim.joint("ram").motor_force)
        found.append((sim.bodies.position, sim.bodies.velocity, sim.contacts.impulse, np.array(forces)))
    assert found[0][3][-1] == -3000
    assert np.abs(found[0][3]).min() < 3000
    for one, many in zip(*found, strict=True):
        assert np.array_equal(one, many)
