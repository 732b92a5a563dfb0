"""What must not matter: a second run, a restart, where the scene stands and which way it faces."""

from __future__ import annotations

import copy
import hashlib

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.contact import Material
from granum.scene import Body, Box, Cylinder, Emitter, Grains, Gravity, Motion, Plane, Scene
from granum.scene.emitter import Disc
from granum.scene.library import make_scene
from granum.simulation import Simulation, make_settings
from tests.reference.scenes import FREE, D, G

MATERIAL = Material(name="m", density=3700, youngs_modulus=6e6, restitution=0.3, friction=0.6, rolling_friction=0.1)


def digest(sim):
    """sha256 of positions, orientations, velocities and spins, walls included."""
    b = sim.bodies
    return hashlib.sha256(b"".join(np.ascontiguousarray(x).tobytes() for x in (b.position, b.orientation, b.velocity, b.spin))).hexdigest()


def busy(count=80, **stepper):
    """An emitter over a box with a shaking floor and a free platen: everything that has a state."""
    scene = Scene(
        materials=[MATERIAL],
        gravity=Gravity(acceleration=(0, 0, -G)),
        grains=[Grains(material="m", position=[[0.01, 0, 0.05], [-0.02, 0.01, 0.03]], diameter=D)],
        walls=[Box(material="m", lower=(-0.04, -0.04, -0.1), upper=(0.04, 0.04, 0.5), open=("-z", "+z"))],
        bodies=[
            Body(name="floor", kind="kinematic", motion=Motion(amplitude=(0, 0, 0.002), frequency=5), walls=[Plane(material="m")]),
            Body(
                name="brick",
                kind="dynamic",
                position=(0, 0, 0.2),
                mass=0.02,
                inertia=(1e-6, 2e-6, 3e-6),
                spin=(1, 2, 3),
                walls=[Box(material="m", lower=(-0.01, -0.01, -0.01), upper=(0.01, 0.01, 0.01), side="outside")],
            ),
        ],
        emitters=[
            Emitter(
                material="m",
                sizes={"distribution": "uniform", "lower": 0.6 * D, "upper": D},
                rate=150,
                count=count,
                seed=5,
                source=Disc(centre=(0, 0, 0.12), diameter=0.05),
                velocity=(0, 0, -0.5),
            )
        ],
    )
    solver = {"iterations": 20, **stepper.pop("solver", {})}
    return scene, make_settings({"time_step": 0.002, "stepper": {"solver": solver, **stepper}, "guards": FREE})


STEPPERS = {
    "cold": {"warm_start": {"name": "none"}, "solver": {"momentum": False}},
    "history": {"solver": {"momentum": False}},
    "model": {"warm_start": {"name": "model"}},
    "momentum": {},
    "random order": {"solver": {"order": "random", "momentum": False}},
}


@pytest.mark.parametrize("stepper", STEPPERS)
def test_same_seed_gives_the_same_bits(stepper):
    runs = []
    for _ in range(2):
        sim = Simulation(*busy(**copy.deepcopy(STEPPERS[stepper])))
        sim.run(0.6)
        runs.append(digest(sim))
    assert sim.contacts.contact_count > 30
    assert runs[0] == runs[1]


@pytest.mark.parametrize("stepper", STEPPERS)
def test_restart_goes_on_with_the_same_bits(stepper):
    """A checkpoint taken while grains rain in, restored: after 200 more steps every bit is that of the run that never stopped."""
    scene, settings = busy(**copy.deepcopy(STEPPERS[stepper]))
    sim = Simulation(scene, settings)
    for stop in (0, 130, 150):
        while sim.step_count < stop:
            sim.step()
        saved = copy.deepcopy(sim.checkpoint())
        twin = Simulation.restore(scene, settings, copy.deepcopy(saved))
        assert digest(twin) == digest(sim)
        for _ in range(200 if stop == 150 else 20):
            twin.step()
        untouched = Simulation.restore(scene, settings, saved) if stop == 0 else None
        if untouched is not None:
            assert untouched.step_count == 0
        if stop == 150:
            for _ in range(200):
                sim.step()
            assert digest(twin) == digest(sim)
            assert sim.grain_count == twin.grain_count > 40
            assert twin.time == sim.time


def heap(turn=np.eye(3), shift=(0.0, 0.0, 0.0), seed=0, friction="cone"):
    """Thirty grains falling into a corner of walls, turned and shifted as a whole."""
    rng = np.random.default_rng(seed)
    lattice = np.array([(x, y, z) for x in range(3) for y in range(3) for z in range(4)], float)
    position = (lattice - 1.0) * 1.2 * D + 0.05 * D * rng.uniform(-1, 1, lattice.shape)
    velocity, spin = 0.2 * rng.standard_normal((2, *lattice.shape))
    place = lambda x: np.asarray(x) @ turn.T + shift  # noqa: E731
    vector = lambda x: tuple(turn @ np.asarray(x, float))  # noqa: E731
    walls = [
        Plane(material="m", point=tuple(place(p)), normal=vector(n))
        for p, n in (((0, 0, -2 * D), (0, 0, 1)), ((-2 * D, 0, 0), (1, 0, 0)), ((0, 2 * D, 0), (0, -1, 0)))
    ] + [Cylinder(material="m", centre=tuple(place((0, 0, 0))), axis=vector((0, 0, 1)), radius=4 * D)]
    scene = Scene(
        materials=[MATERIAL],
        walls=walls,
        gravity=Gravity(acceleration=vector((1.0, -0.5, -G))),
        grains=[Grains(material="m", position=place(position), velocity=velocity @ turn.T, spin=spin @ turn.T, diameter=D)],
    )
    # Sweeps to rounding: the order of contacts follows the Morton curve, which a turn changes.
    solver = {"iterations": 3000, "tolerance": 1e-15}
    exact = {"impact_tolerance": 1e-12, "impact_iterations": 5000}
    return Simulation(
        scene, make_settings({"time_step": 0.002, "stepper": {"solver": solver, "friction": friction, **exact}, "guards": FREE})
    )


TURNS = {
    "x 90": np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0.0]]),
    "z 90": np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]]),
    "cyclic": np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0.0]]),
}


@pytest.mark.parametrize("name", TURNS)
def test_turned_scene_gives_the_turned_result(name):
    """By 90 degrees about an axis, for 0.04 s with impacts: 1e-9 of the speeds. Collisions then let rounding grow."""
    turn = TURNS[name]
    one, two = heap(), heap(turn)
    impacts = 0
    for _ in range(20):
        impacts += one.step().impacts
        two.step()
    assert impacts > 5
    assert_allclose(two.position, one.position @ turn.T, atol=1e-9 * D)
    assert_allclose(two.velocity, one.velocity @ turn.T, atol=1e-9)
    assert_allclose(two.spin * D, one.spin @ turn.T * D, atol=1e-9)


def test_shifted_scene_gives_the_shifted_result():
    """Two metres away every position loses 1e-16 m x 2 / D of the overlaps' digits: 1e-9 after 0.04 s with impacts."""
    shift = np.array([2.0, -1.0, 0.5])
    one, two = heap(), heap(shift=shift)
    for _ in range(20):
        one.step()
        two.step()
    assert_allclose(two.position - shift, one.position, atol=1e-9 * D)
    assert_allclose(two.velocity, one.velocity, atol=1e-9)


def test_moving_frame_gives_the_same_collisions():
    """Galilei: grains without walls or gravity, all faster by the same velocity, collide alike."""
    rng = np.random.default_rng(1)
    position = rng.permutation([(x, y, z) for x in range(3) for y in range(3) for z in range(3)]) * 1.05 * D
    velocity = -4 * (position - position.mean(axis=0)) + 0.1 * rng.standard_normal((27, 3))
    boost = np.array([1.0, 2.0, -0.5])
    runs = []
    for extra in (np.zeros(3), boost):
        scene = Scene(
            materials=[MATERIAL],
            gravity=Gravity(acceleration=(0, 0, 0)),
            grains=[Grains(material="m", position=position, velocity=velocity + extra, diameter=D)],
        )
        solver = {"iterations": 3000, "tolerance": 1e-15}
        exact = {"impact_tolerance": 1e-12, "impact_iterations": 5000}
        sim = Simulation(scene, make_settings({"time_step": 0.002, "stepper": {"solver": solver, **exact}, "guards": FREE}))
        impacts = sum(sim.step().impacts for _ in range(20))
        runs.append((sim.position - extra * sim.time, sim.velocity - extra, sim.spin.copy()))
    assert impacts > 10
    for x, y in zip(*runs, strict=True):
        assert_allclose(y, x, atol=1e-9)


@pytest.mark.parametrize("stepper", [{}, {"reduction": {}}, {"name": "smooth"}], ids=["nonsmooth", "merging", "smooth"])
def test_runs_from_one_checkpoint_leave_it_as_it_is(stepper):
    """Each of two runs that go on from the same state in memory has the bits of the other."""
    scene = make_scene("box", {"count": 80})
    settings = make_settings(
        scene.run, {"stepper": stepper, "guards": {"on_coarse": "off"}, "time_step": 2e-5 if "name" in stepper else 1e-3}
    )
    first = Simulation(scene, settings).run(60 * settings.time_step)
    saved = first.checkpoint()
    ends = []
    for _ in range(2):
        sim = Simulation.restore(scene, settings, saved)
        ends.append(sim.run(60 * settings.time_step))
    for name in ("position", "velocity", "spin", "orientation"):
        np.testing.assert_array_equal(getattr(ends[0], name), getattr(ends[1], name))
