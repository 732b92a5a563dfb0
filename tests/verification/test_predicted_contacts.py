"""Contacts that are about to close: stiff grains rest, collisions happen at their time, and fast grains pass through nothing."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.contact import Material
from granum.detection.ways import LATE
from granum.nonsmooth.accuracy import AT_REST
from granum.scene import Body, Box, Cylinder, Grains, Gravity, Mesh, Motion, Plane, Scene
from granum.simulation import Simulation, make_settings
from tests.reference.scenes import FREE, D, G, H, make

STIFF = [6e6, 6e8, 6e11, 1e15, 1e18]


def column(youngs_modulus, count=12):
    """Grains that touch, one upon the other, on a plane; without rolling resistance they would buckle, twice as far every 25 ms."""
    position = np.outer(np.arange(count) + 0.5, (0.0, 0.0, D))
    return make(position, walls=True, gravity=(0, 0, -G), youngs_modulus=youngs_modulus, rolling_friction=0.3)


@pytest.mark.parametrize("youngs_modulus", STIFF)
def test_touching_grains_carry_from_the_first_step(youngs_modulus):
    """A gap of 0 is a contact: the grain on the floor is held in the first step, it does not fall by g h."""
    sim = make((0, 0, D / 2), walls=True, gravity=(0, 0, -G), youngs_modulus=youngs_modulus)
    sim.step()
    assert sim.contacts.contact_count == 1
    assert abs(sim.velocity[0, 2]) < 0.5 * G * H  # the law gives way, by its own softness


@pytest.mark.parametrize("youngs_modulus", STIFF)
def test_column_rests_whatever_its_stiffness(youngs_modulus):
    """After settling nothing moves, every contact has its overlap by the law, and the floor carries the weight."""
    sim = column(youngs_modulus)
    sim.run(1.0)
    before = sim.position.copy()
    sim.run(1.0)
    # Solved to AT_REST sqrt(g d) a step; a grain creeps by what that leaves over, at most count times of it at the top.
    assert np.abs(sim.position - before).max() < 12 * AT_REST * np.sqrt(G * D)
    weight = sim.bodies.mass.sum() * G
    c = sim.contacts
    assert_allclose(c.normal_force[c.b < 0].sum(), weight, rtol=1e-3)
    assert c.contact_count == 12


@pytest.mark.parametrize("youngs_modulus", STIFF)
def test_bed_rests_whatever_its_stiffness(youngs_modulus):
    """Nothing hits, nothing flickers, the walls carry the weight, and no grain creeps further than the residual stands for."""
    rng = np.random.default_rng(3)
    site = np.stack(np.meshgrid(*[np.arange(4)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    position = (site + 0.5) * 1.1 * D + rng.uniform(-0.04, 0.04, (64, 3)) * D
    side = 4.4 * D
    walls = (Box(material="m", lower=(0, 0, 0), upper=(side, side, 2 * side), open=("+z",)),)
    sim = make(position, walls=walls, gravity=(0, 0, -G), youngs_modulus=youngs_modulus, rolling_friction=0.1, guards=FREE)
    sim.run(2.0)
    carried, hits = [], 0
    before = sim.position.copy()
    for _ in range(40):
        hits += sim.step().impacts
        c = sim.contacts
        wall = c.b < 0
        carried.append(-(c.normal_force[wall, None] * c.normal[wall] + c.tangential_force[wall])[:, 2].sum())
    assert hits == 0
    assert np.abs(sim.position - before).max() < AT_REST * np.sqrt(G * D) * 40 * sim.time_step
    assert_allclose(np.mean(carried), sim.bodies.mass.sum() * G, rtol=1e-3)


def test_open_gap_is_not_pushed():
    """While a grain falls towards the floor and does not reach it, it falls freely."""
    sim = make((0, 0, D / 2 + 1.5 * G * H * H), walls=True, gravity=(0, 0, -G), youngs_modulus=6e9)
    sim.step()
    assert_allclose(sim.velocity[0], (0, 0, -G * H), rtol=1e-14)
    sim.step()  # now it closes the rest of its gap, and no more
    assert sim.position[0, 2] - D / 2 <= 1e-12 * D
    assert sim.position[0, 2] - D / 2 > -1e-2 * D


@pytest.mark.parametrize("e", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("phase", [0.05, 0.5, 0.95])
def test_collision_inside_of_a_step_leaves_the_exact_gap(e, phase):
    """Two spheres end the step of their collision with a gap of e u (h - t_c), the centre of mass where it should be."""
    u, axis = 2.0, np.array([0.6, 0.0, 0.8])
    gap = phase * u * H
    sim = make([(0, 0, 0), (D + gap) * axis], velocity=[0.7 * u * axis, -0.3 * u * axis], restitution=e, guards=FREE, youngs_modulus=1e9)
    centre = sim.position.mean(axis=0) + H * sim.velocity.mean(axis=0)
    assert sim.step().impacts == 1
    assert_allclose((sim.velocity[1] - sim.velocity[0]) @ axis, e * u, atol=1e-12)
    assert_allclose((sim.position[1] - sim.position[0]) @ axis - D, e * u * H * (1 - phase), atol=1e-12 * D)
    assert_allclose(sim.position.mean(axis=0), centre, atol=1e-15)


def test_elastic_head_on_collision_at_twenty_diameters_a_step():
    u = 20 * D / H
    sim = make([(0, 0, 0), (11 * D, 0, 0)], velocity=[(u, 0, 0), (0, 0, 0)], restitution=1.0, friction=0.0, guards=FREE)
    start = sim.position.copy()
    normal = (start[1] - start[0]) / D
    normal[0] = np.sqrt(1 - normal[1] ** 2 - normal[2] ** 2)  # when they meet: grains that aim a little beside are turned by it
    meeting = (start[1, 0] - start[0, 0] - D * normal[0]) / u
    before, hit = np.array([u, 0, 0]), u * normal[0] * normal
    sim.step()
    assert_allclose(sim.velocity / u, [(before - hit) / u, hit / u], atol=1e-12)
    after = H - meeting
    end = [start[0] + meeting * before + after * (before - hit), start[1] + after * hit]
    assert_allclose(sim.position / D, np.divide(end, D), atol=1e-12)


def test_fast_grains_that_pass_each_other_do_not_touch():
    """Their line of centres closes fast, their ways do not cross: a miss by a hundredth of a diameter."""
    u = 10 * D / H
    sim = make([(0, 0, 0), (4 * D, 1.01 * D, 0)], velocity=[(u, 0, 0), (0, 0, 0)], guards=FREE)
    assert sim.step().impacts == 0
    assert_allclose(sim.velocity / u, [(1, 0, 0), (0, 0, 0)], atol=1e-14)


@pytest.mark.parametrize("reach", [0.5, 1.0, 2.0])
def test_collisions_do_not_depend_on_how_far_is_predicted(reach):
    """A fast approach is a collision in the step in which it closes, at its time, and no contact before, however far rest is predicted."""
    u = 1.0
    sim = make([(0, 0, 0), (D + 1.9 * u * H, 0, 0)], velocity=[(u, 0, 0), (0, 0, 0)], stepper={"prediction": reach}, guards=FREE)
    sim.step()
    assert sim.stepper.detector.contacts.contact_count == 0
    assert sim.step().impacts == 1
    e = sim.scene.materials[0].restitution
    assert_allclose(sim.position[1, 0] - sim.position[0, 0] - D, e * u * 0.1 * H, atol=1e-12 * D)


@pytest.mark.parametrize("reach, contacts", [(0.5, 0), (1.0, 0), (2.0, 1)])
def test_slow_approaches_are_predicted_as_far_as_is_asked(reach, contacts):
    """A gap that closes in 1.5 steps at less than the impact velocity."""
    u = 0.04
    sim = make([(0, 0, 0), (D + 1.5 * u * H, 0, 0)], velocity=[(u, 0, 0), (0, 0, 0)], stepper={"prediction": reach}, guards=FREE)
    sim.step()
    assert sim.stepper.detector.contacts.contact_count == contacts


@pytest.mark.parametrize("aim", [0.0, 0.3])
@pytest.mark.parametrize("way", [0.1, 0.5, 0.75])
def test_grains_that_are_met_late_wait_for_the_next_step(way, aim):
    """A grain that is hit goes ``way`` [d] a step against another, which nobody could foresee. It ends the step no deeper than LATE, and
    the next one has the collision: nothing is lost but some time. Centre of mass, momentum and angular momentum (about any point) keep
    their values.
    """
    u, gap = way * D / H, 0.02 * D
    across = np.sqrt(1 - aim**2)  # the second is hit at an angle, and flies towards the third along their line of centres
    line = np.array([across, aim, 0.0])
    position = np.array([(-gap, 0, 0), D * line, D * line + (D + gap) * line])
    sim = make(position, velocity=[(u, 0, 0), (0, 0, 0), (0, 0, 0)], restitution=1.0, friction=0.0, guards=FREE, youngs_modulus=1e10)
    start, mass = sim.position.copy(), sim.bodies.mass[0]
    turn = np.cross(start, sim.velocity).sum(axis=0)
    deepest = 0.0
    for k in range(1, 5):
        sim.step()
        deepest = max(deepest, D - np.linalg.norm(sim.position[2] - sim.position[1]))
        assert_allclose(sim.position.mean(axis=0), start.mean(axis=0) + k * H * np.array([u / 3, 0, 0]), atol=1e-14)
        assert_allclose(np.cross(sim.position, sim.velocity).sum(axis=0), turn, atol=1e-12 * u * D)
        assert sim.report.kinetic_energy <= mass / 2 * u**2 * (1 + 1e-12)
    assert 0.0 < deepest < (1 + 1e-9) * LATE * D
    assert_allclose(sim.velocity[2], u * across * line, atol=1e-9 * u)


SHEET = Mesh(
    material="m", vertices=np.array([(-1.0, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]), triangles=np.array([(0, 1, 2), (0, 2, 3)])
)
ROOM = 16 * D
TARGETS = {
    "plane": ([Plane(material="m")], lambda x: x[..., 2] > 0.4 * D),
    "room": ([Box(material="m", lower=(-ROOM,) * 3, upper=(ROOM,) * 3)], lambda x: (np.abs(x) < ROOM - 0.4 * D).all(axis=-1)),
    "tube": (
        [Cylinder(material="m", radius=ROOM, length=2 * ROOM)],
        lambda x: (np.hypot(x[..., 0], x[..., 1]) < ROOM - 0.4 * D) & (np.abs(x[..., 2]) < ROOM - 0.4 * D),
    ),
    "block": (
        [Box(material="m", lower=(-4 * D, -4 * D, -D), upper=(4 * D, 4 * D, D), side="outside")],
        lambda x: (np.abs(x[..., :2]) > 4 * D).any(axis=-1) | (np.abs(x[..., 2]) > D),
    ),
    "sheet": ([SHEET], lambda x: (x[..., 2] > 0) | (np.abs(x[..., :2]) > 0.9).any(axis=-1)),
}


def shoot(kind, rng, steps=30):
    """One projectile at up to 50 d per step; returns the speed that it keeps and whether it stayed on its side."""
    walls, stays = TARGETS[kind]
    direction = rng.standard_normal(3)
    direction /= np.linalg.norm(direction)
    start = rng.uniform(-4, 4, 3) * D
    if kind in ("plane", "sheet"):
        start[2], direction[2] = abs(start[2]) + D, -abs(direction[2]) - 0.2
    elif kind == "block":
        start = -direction * rng.uniform(8, 40) * D
    speed = rng.uniform(1, 50) * D / H
    sim = make(start, velocity=speed * direction / np.linalg.norm(direction), walls=walls, restitution=1.0, friction=0.0, guards=FREE)
    for _ in range(steps):
        sim.step()
        if not stays(sim.position).all():
            return 0.0, False
    return np.linalg.norm(sim.velocity) / speed, True


@pytest.mark.parametrize("shots", [8, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", TARGETS)
def test_projectiles_pass_through_no_wall(kind, shots):
    """And they keep their speed (e = 1): 1e-9, as curved walls are met to rounding of half a radius halved forty times."""
    rng = np.random.default_rng(5)
    for _ in range(shots):
        kept, stayed = shoot(kind, rng)
        assert stayed
        assert_allclose(kept, 1.0, rtol=1e-9)


@pytest.mark.parametrize(
    "shots, fastest, seed", [(6, 50, 6), (6, 5, 8), *(pytest.param(200, *more, marks=pytest.mark.slow) for more in ((50, 6), (5, 8)))]
)
def test_projectiles_hit_a_layer_of_grains(shots, fastest, seed):
    """A projectile meets one grain of a layer at a time: momentum keeps its value, and energy (e = 1) does not grow.

    Grains that a second collision inside of a step leaves in each other, deeper than v_imp goes in one, are parted without giving them
    speed. Others may get some v_imp: (v_imp h / d)^2 = 4e-4 of the energy of a projectile of 1 d per step.
    """
    rng = np.random.default_rng(seed)
    site = np.stack(np.meshgrid(np.arange(-3, 4), np.arange(-3, 4), indexing="ij"), axis=-1).reshape(-1, 2) * 1.05 * D
    layer = np.column_stack([site, np.zeros(len(site))])
    for _ in range(shots):
        aim, height = rng.uniform(-2, 2, 2) * D, rng.uniform(2, 30) * D
        way = np.array([*rng.uniform(-0.3, 0.3, 2), -1.0])
        way /= np.linalg.norm(way)
        speed = rng.uniform(1, fastest) * D / H
        start = np.array([*aim, 0.0]) + way * height / way[2]
        velocity = np.zeros((len(layer) + 1, 3))
        velocity[0] = speed * way
        sim = make(np.vstack([start, layer]), velocity=velocity, restitution=1.0, friction=0.0, guards=FREE)
        energy, hits = 0.5 * sim.bodies.mass[0] * speed**2, 0
        for _ in range(60):
            hits += sim.step().impacts
            assert_allclose(sim.velocity.sum(axis=0), velocity[0], atol=1e-12 * speed)
        assert hits > 0
        assert sim.report.kinetic_energy < energy * (1 + 1e-3)


def test_fast_wall_does_not_pass_through_grains():
    """A thin plate of two triangles at 40 d per step takes the grain in its way along: u+ = (1 + e) of the plate's speed."""
    speed = 40 * D / H
    plate = Body(name="plate", kind="kinematic", motion=Motion(velocity=(0, 0, speed)), walls=(SHEET,), position=(0.1, 0.1, -3 * D))
    material = Material(name="m", restitution=0.5, friction=0.0)
    scene = Scene(
        materials=[material],
        bodies=[plate],
        grains=[Grains(material="m", position=[(0, 0, 0)], diameter=D)],
        gravity=Gravity(acceleration=(0, 0, 0)),
    )
    sim = Simulation(scene, make_settings({"time_step": H, "guards": FREE}))
    sim.run(4 * H)
    assert_allclose(sim.velocity[0], (0, 0, 1.5 * speed), rtol=1e-9, atol=1e-9)


def test_energy_of_five_touching_balls():
    """e = 1: the simultaneous law of impact keeps the energy; a small stage is solved to 1e-3 v_imp, which leaves 1e-4 of it at 1 m/s."""
    position = np.outer(np.arange(6.0), (D, 0, 0))
    position[0, 0] -= 0.3 * D
    velocity = np.zeros((6, 3))
    velocity[0, 0] = 1.0
    sim = make(position, velocity=velocity, restitution=1.0, guards=FREE)
    before = sim.bodies.mass[0] / 2
    for _ in range(10):
        sim.step()
    assert 0.9999 * before <= sim.report.kinetic_energy <= before * (1 + 1e-12)


def test_heavy_grain_rests_on_light_ones():
    """A thousand times their mass on a row of five: it sinks by 0.02 d at most, with the solver as it is."""
    size = 10 * D
    position = np.vstack([np.outer(np.arange(5) + 0.5, (0, 0, D)), [(0, 0, 5 * D + size / 2)]])
    diameter = np.append(np.full(5, D), size)
    sim = make(
        position, diameter=diameter, walls=True, gravity=(0, 0, -G), youngs_modulus=1e11, rolling_friction=0.3, h=0.0045, guards=FREE
    )
    top = sim.position[-1, 2]
    lowest = top
    for _ in range(200):
        sim.step()
        lowest = min(lowest, sim.position[-1, 2])
    assert top - lowest < 0.02 * D


def test_no_prediction_is_the_papers_way():
    """With ``prediction = 0`` contacts exist only while grains overlap."""
    sim = make((0, 0, D / 2 + 0.1 * G * H * H), walls=True, gravity=(0, 0, -G), stepper={"prediction": 0.0})
    sim.step()
    assert sim.position[0, 2] < D / 2 - 0.5 * G * H * H
