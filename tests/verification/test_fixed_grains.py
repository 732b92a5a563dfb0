"""Grains fixed to bodies: they keep their place, push with the body's mass and inertia, and are seen by energies, sinks and files."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granum import restart, run
from granum.checks import InputError
from granum.contact import Material
from granum.scene import Body, BoxRegion, Grains, Gravity, Lattice, Motion, Plane, Scene, Sink, Uniform
from granum.simulation import Simulation
from granum.state.rotation import matrix
from tests.reference.scenes import FREE, D, G, hertz_stiffness, mass

STEPS = {"nonsmooth": 1e-3, "smooth": 5e-5}


def scene(bodies, grains, gravity=(0.0, 0.0, 0.0), restitution=0.5, friction=0.5, **fields):
    material = Material(name="m", density=3700, youngs_modulus=6e6, restitution=restitution, friction=friction)
    return Scene(materials=[material], bodies=bodies, grains=grains, gravity=Gravity(acceleration=gravity), **fields)


def at(*places, body=None, **fields):
    return Grains(material="m", position=np.reshape(places, (-1, 3)), diameter=D, body=body, **fields)


def simulate(made, stepper="nonsmooth", **settings):
    settings = {"time_step": STEPS[stepper], "guards": FREE, "stepper": {"name": stepper}, **settings}
    return Simulation(made, settings)


def wheel(**fields):
    return Body(name="wheel", kind="kinematic", motion=Motion(spin=(0.5, 2.0, -1.0), velocity=(0.1, 0, 0)), **fields)


@pytest.mark.parametrize("stepper", STEPS)
def test_fixed_grains_keep_their_place_on_a_turning_body(stepper):
    """x = X + R r, v = V + w x r, the spin of the body, and the turn of the body, after 300 steps; to rounding."""
    places = np.array([(0.05, 0.02, 0.1), (-0.3, 0.1, 0.0)])
    body = wheel(position=(0.01, 0.0, 0.0), orientation=(0.8, 0.6, 0, 0))
    sim = simulate(scene([body], [at(*places, body="wheel"), at((9, 9, 9))]), stepper)
    for _ in range(300):
        sim.step()
    b = sim.bodies
    turned = matrix(b.orientation[1]) @ matrix(np.array([0.8, 0.6, 0, 0])).T
    arm = (places - (0.01, 0, 0)) @ turned.T
    assert_allclose(sim.position[:2], b.position[1] + arm, atol=1e-14)
    assert_allclose(sim.velocity[:2], b.velocity[1] + np.cross(b.spin[1], arm), atol=1e-14)
    assert_array_equal(sim.spin[:2], np.tile(b.spin[1], (2, 1)))
    assert_allclose(matrix(sim.orientation[0]), turned, atol=1e-13)
    assert_array_equal(sim.velocity[2], 0.0)


@pytest.mark.parametrize("stepper", STEPS)
def test_a_static_body_holds_grains_as_static_ones(stepper):
    """The same bits as with grains that never move."""
    floor = [(x, y, 0.0) for x in (-D, 0, D) for y in (-D, 0, D)]
    states = []
    for block in (at(*floor, static=True), at(*floor, body="plate")):
        sim = simulate(scene([Body(name="plate")], [block, at((0.3 * D, 0.4 * D, D))], gravity=(0, 0, -G)), stepper)
        sim.run(0.05)
        states.append((sim.position.copy(), sim.velocity.copy(), sim.spin.copy()))
    for one, other in zip(*states, strict=True):
        assert_array_equal(one, other)


@pytest.mark.parametrize("e", [0.0, 0.6, 1.0])
def test_an_impact_on_a_fixed_grain_moves_its_dynamic_body(e):
    """Newton's law with the mass of the body at the lever arm: p = (1 + e) u / (1 / m + 1 / M + (r x n) I^-1 (r x n)). Without friction."""
    big, moments = 0.05, np.array([2e-5, 3e-5, 4e-5])
    body = Body(name="b", kind="dynamic", mass=big, inertia=tuple(moments), orientation=(0.8, 0.2, -0.4, 0.4))
    arm, normal, speed = np.array([0.02, 0.01, 0.03]), np.array([0.36, -0.48, -0.8]), 1.0
    start = arm - (D + 2e-3) * normal
    made = scene(
        [body], [at(tuple(arm), (0.5, 0, 0), body="b"), at(tuple(start), velocity=[tuple(speed * normal)])], restitution=e, friction=0.0
    )
    sim = simulate(made)
    sim.run(0.01)
    axes = matrix(np.array([0.8, 0.2, -0.4, 0.4]))
    point = np.cross(arm - D / 2 * normal, normal)
    weight = 1 / mass() + 1 / big + point @ axes @ (axes.T @ point / moments)
    push = (1 + e) * speed / weight
    assert_allclose(sim.velocity[2], (speed - push / mass()) * normal, atol=1e-9)
    assert_allclose(sim.bodies.velocity[1], push / big * normal, atol=1e-9)
    momentum = matrix(sim.bodies.orientation[1]) @ (moments * (matrix(sim.bodies.orientation[1]).T @ sim.bodies.spin[1]))
    assert_allclose(momentum, push * point, rtol=1e-8, atol=1e-12)


def test_a_body_stands_on_its_feet():
    """A body of four fixed grains on a plane: each carries a quarter of the body's weight, and their own masses do not count."""
    load = 0.4 * G / 4
    sink_in = (load / hertz_stiffness(D / 2)) ** (2 / 3)
    feet = [(x, y, D / 2 - sink_in) for x in (-0.04, 0.04) for y in (-0.04, 0.04)]
    body = Body(name="table", kind="dynamic", mass=0.4, inertia=(4e-4, 4e-4, 8e-4), position=(0, 0, 0.05))
    made = scene([body], [at(*feet, body="table"), at((9, 9, 9))], gravity=(0, 0, -G), walls=[Plane(material="m")])
    sim = simulate(made)
    sim.run(0.3)
    on_floor = (sim.contacts.b < 0) & (sim.contacts.a < 4)
    assert_allclose(sim.contacts.normal_force[on_floor], load, rtol=1e-5)
    assert_allclose(sim.bodies.position[1], (0, 0, 0.05), atol=1e-4 * D)
    assert_allclose(sim.position[:4], feet, atol=1e-4 * D)


@pytest.mark.parametrize("stepper", STEPS)
def test_driven_fixed_grains_put_in_the_energy_that_others_have(stepper):
    """A row of fixed grains sweeps through free ones without gravity and losses: all energy of these is the work of the drive."""
    teeth = at(*[(0.0, y * 1.2 * D, 0.0) for y in range(-3, 4)], body="rake")
    free = Lattice(material="m", lower=(D, -4 * D, -2 * D), upper=(8 * D, 4 * D, 2 * D), count=100, sizes=Uniform(lower=0.9 * D, upper=D))
    rake = Body(name="rake", kind="kinematic", motion=Motion(velocity=(0.5, 0, 0)))
    sim = simulate(scene([rake], [teeth, free], restitution=1.0, friction=0.0), stepper)
    sim.run(0.1)
    work = sim.ledger.joules["drives"]
    have = sim.report.kinetic_energy + sim.report.elastic_energy
    assert have > 0.01 * mass() * 0.5**2
    # velocity Verlet keeps energies to (w h)^2; of the nonsmooth step, collisions of a crowd within one step do so to some 1e-3
    assert_allclose(work, have, rtol=1e-4 if stepper == "smooth" else 5e-3)


@pytest.mark.parametrize("stepper", STEPS)
def test_restart_with_sinks_and_fixed_grains(stepper, tmp_path):
    """Grains leave, rows move up, and fixed ones stay, even inside of the sink; a restart gives the same bits."""
    teeth = at(*[(0.02 * k, 0.0, 0.0) for k in range(4)], body="wheel")
    rain = at(*[(0.02 * k, 0.003, D + 0.001 + 0.002 * k) for k in range(4)])
    late = at(*[(0.02 * k, 0.0, 4 * D) for k in range(2)], body="wheel")
    sink = Sink(region=BoxRegion(lower=(-1, -1, -1), upper=(1, 1, -0.004)))
    made = scene([wheel()], [rain, teeth, late, at((0.5, 0.5, 0.5))], gravity=(0, 0, -G), sinks=[sink])
    h = STEPS[stepper]
    how = {"stepper": stepper, "time_step": h, "guards": FREE, "progress": False, "picture": False}
    whole = run(made, duration=0.12, output=tmp_path / "whole.h5", **how)
    run(made, duration=0.06, output=tmp_path / "part.h5", **how)
    part = restart(tmp_path / "part.h5", duration=0.06, progress=False)
    assert whole.found.taken_out >= 1
    assert {4, 5, 6, 7, 8, 9} <= set(whole.found.bodies.id.tolist())
    for name in ("position", "velocity", "spin", "orientation"):
        assert_array_equal(getattr(whole.found, name), getattr(part.found, name))
    assert whole.recording.frame(-1).position.shape == (whole.found.grain_count, 3)


def test_refusals_in_words():
    for words, make in (
        ("unknown body of grains 'weel'; choose one of", lambda: scene([wheel()], [at((0, 0, 0), body="weel")])),
        ("move with it: leave velocity out", lambda: at((0, 0, 0), body="wheel", velocity=[(1, 0, 0)])),
        ("leave static out", lambda: at((0, 0, 0), body="wheel", static=True)),
        (
            "which the smooth stepper cannot push",
            lambda: simulate(scene([Body(name="b", kind="dynamic", mass=1, inertia=(1, 1, 1))], [at((0, 0, 0), body="b")]), "smooth"),
        ),
        (
            "does not know of grains that are fixed",
            lambda: Simulation(scene([wheel()], [at((0, 0, 0), body="wheel")]), stepper={"reduction": {}}),
        ),
    ):
        with pytest.raises(InputError, match=words):
            make()


def test_threads_keep_the_bits_of_a_heavy_rough_body():
    """A dynamic body of 40 fixed grains thrown into free ones, on one thread and on two."""
    rng = np.random.default_rng(3)
    rough = at(*(rng.uniform(-0.03, 0.03, (40, 3)) * (1, 1, 0.2) + (0, 0, 0.12)), body="hammer")
    bed = Lattice(material="m", lower=(-0.06, -0.06, 0), upper=(0.06, 0.06, 0.08), count=300, sizes=Uniform(lower=0.9 * D, upper=D))
    hammer = Body(
        name="hammer", kind="dynamic", mass=0.3, inertia=(1e-4, 2e-4, 2e-4), position=(0, 0, 0.12), velocity=(0, 0, -1), spin=(3, 5, 0)
    )
    made = scene([hammer], [rough, bed], gravity=(0, 0, -G), walls=[Plane(material="m")])
    states = []
    for threads in (1, 2):
        sim = simulate(made, threads=threads)
        sim.run(0.1)
        states.append((sim.position.copy(), sim.bodies.position[1].copy(), sim.bodies.spin[1].copy()))
    for one, other in zip(*states, strict=True):
        assert_array_equal(one, other)
    assert sim.bodies.position[1, 2] > 0.02  # it was stopped
    gap = np.linalg.norm(sim.position[:40, None] - sim.position[None, :40], axis=-1)
    start = np.linalg.norm(rough.position[:, None] - rough.position[None], axis=-1)
    assert_allclose(gap, start, atol=1e-14)
