"""What must not matter to smooth contacts: when and how the neighbour list is made, who owns a pair, which way the scene faces."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.contact import HertzContact
from granum.scene import Emitter, Plane
from granum.scene.emitter import BoxSource
from granum.simulation import Simulation, make_settings
from granum.simulation.making import make_bodies
from tests.reference.scenes import FREE, D, G
from tests.reference.smooth import make
from tests.verification.test_smooth_twin import crowd


def all_at_once(sim):
    """Every grain leaves its skin in the next step."""
    sim.stepper.neighbours.skin[:] = 0.0


def few_at_a_time(sim):
    """Three grains, others each time, leave their skin in the next step."""
    sim.stepper.neighbours.skin[(3 * sim.step_count + np.arange(3)) % sim.grain_count] = 0.0


def one_by_one(sim):
    """Now and then all, else one."""
    near = sim.stepper.neighbours
    near.skin[:] = 0.0 if sim.step_count % 20 == 0 else near.skin
    near.skin[sim.step_count % sim.grain_count] = 0.0


def springs(sim):
    """(a, b) to spring of every touching pair, with a < b whoever owns it; and the owners."""
    s = sim.stepper
    found, owner = {}, {}
    pairs = s.touching.found()
    for a, b, spring in zip(pairs.a, pairs.b, s.touching.spring, strict=True):
        i, j = int(s.neighbours.order[a]), int(s.neighbours.order[b])
        found[min(i, j), max(i, j)] = spring[1:] * (1 if i < j else -1)
        owner[min(i, j), max(i, j)] = i
    return found, owner


@pytest.mark.parametrize("habit", [all_at_once, few_at_a_time, one_by_one])
def test_lists_do_not_matter(habit):
    """Springs follow their pairs through every new list, appended or whole, with whatever owner: the same run, to rounding."""
    scene = crowd(HertzContact())
    settings = make_settings({"stepper": {"name": "smooth"}, "guards": FREE, "time_step": 1e-5})
    calm, restless = (Simulation(scene, settings, bodies=make_bodies(scene)) for _ in range(2))
    restless.callbacks.append(habit)
    owners, changed, carried = {}, 0, 0
    for _ in range(400):
        calm.step()
        restless.step()
        _, now = springs(restless)
        changed += sum(owners[pair] != now[pair] for pair in owners.keys() & now.keys())
        carried += len(owners.keys() & now.keys())
        owners = now
    lists = restless.stepper.neighbours.rebuilds, calm.stepper.neighbours.rebuilds
    assert lists[0] > 10 * lists[1] or habit is not all_at_once
    assert changed > 10
    for name in ("position", "velocity", "spin"):
        one, two = getattr(calm, name), getattr(restless, name)
        assert_allclose(two, one, atol=1e-11 * np.abs(one).max(), rtol=0)
    one, two = springs(calm)[0], springs(restless)[0]
    assert one.keys() == two.keys()
    assert len(one) > 5
    for pair, spring in one.items():
        assert_allclose(two[pair], spring, rtol=1e-8, atol=1e-9 * max(np.abs(s).max() for s in one.values()))


def raining(habit=None):
    """Grains come down in columns on others that lie and are pushed about by a callback, just when new ones come."""
    place = np.array([(x, y, 0.999 * D / 2) for x in range(4) for y in range(5)], float) * (1.5 * D, 1.5 * D, 1)
    source = BoxSource(lower=(0, 0, 3 * D), upper=(4 * D, 6 * D, 3.5 * D))
    sizes = {"distribution": "discrete", "diameters": [D]}
    emitter = Emitter(material="m", sizes=sizes, rate=1000, count=6, source=source, velocity=(0, 0, -3))
    sim = make(place, walls=[Plane(material="m")], gravity=(0, 0, -G), emitters=[emitter], h=1e-4, rolling_friction=0.1)

    def push(sim):
        if sim.step_count % 10 == 0:
            sim.position[sim.step_count // 10 % 20] += (0.3 * D, 0.1 * D, 0.0)

    sim.callbacks.append(push)
    if habit is not None:
        sim.callbacks.append(habit)
    return sim


def test_grains_that_come_while_others_leave():
    """New grains and grains that left their skin are listed in one step: forces stay with their grains, new ones fall freely."""
    sim, twin = raining(), raining(all_at_once)
    for _ in range(100):
        count = sim.grain_count
        sim.step()
        twin.step()
        assert_allclose(sim.velocity, twin.velocity, atol=1e-12)
        if sim.grain_count > count:
            assert_allclose(sim.velocity[count:], [(0, 0, -3 - G * sim.time_step)], rtol=1e-12)
    assert sim.grain_count == 26
    assert_allclose(sim.position, twin.position, atol=1e-14)


@pytest.mark.parametrize("habit", [all_at_once, few_at_a_time, one_by_one])
def test_springs_survive_two_lists_in_one_step(habit):
    """A new grain is listed when a step begins, others that leave their skin after they have moved: pressed pairs keep their springs."""

    def pressed(habit=None):
        place = np.array([(x, y, z) for x in (0, 3) for y in range(10) for z in (0.0, 0.98)]) * (D, 1.5 * D, D)
        source = BoxSource(lower=(10 * D, 0, 0), upper=(20 * D, 10 * D, 10 * D))
        emitter = Emitter(material="m", sizes={"distribution": "discrete", "diameters": [D]}, rate=5e3, count=100, source=source)
        spin = np.tile([(3.0, 5.0, 2.0), (-1.0, 4.0, 1.0)], (20, 1))
        sim = make(place, spin=spin, emitters=[emitter], h=1e-4, rolling_friction=0.1, friction=1.0, youngs_modulus=1e5)
        if habit is not None:
            sim.callbacks.append(habit)
        return sim

    calm, restless, came = pressed(), pressed(habit), 0
    for _ in range(20):
        count = calm.grain_count
        calm.step()
        restless.step()
        came += calm.grain_count > count
        one, two = springs(calm)[0], springs(restless)[0]
        assert one.keys() == two.keys()
        assert len(one) == 20
        for pair, spring in one.items():
            assert_allclose(two[pair], spring, rtol=1e-9, atol=1e-9 * np.abs(spring).max())
    assert 5 < came < 15  # every other step: then nobody but the new grain is listed at its beginning
    assert restless.stepper.neighbours.rebuilds > calm.stepper.neighbours.rebuilds


TURNS = {
    "x 90": np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0.0]]),
    "z 90": np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]]),
    "slanted": np.array([[0.6, -0.8, 0], [0.48, 0.36, -0.8], [0.64, 0.48, 0.6]]),
}


def heap(turn=np.eye(3), shift=(0.0, 0.0, 0.0), boost=(0.0, 0.0, 0.0), walls=True, count=3):
    """Grains falling into a corner of walls, turned, shifted and sped up as a whole."""
    rng = np.random.default_rng(0)
    lattice = np.array([(x, y, z) for x in range(count) for y in range(count) for z in range(count)], float)
    position = (lattice - 1.0) * 1.02 * D + 0.005 * D * rng.uniform(-1, 1, lattice.shape)
    velocity = -3 * position + 0.2 * rng.standard_normal(lattice.shape)
    spin = 20 * rng.standard_normal(lattice.shape)
    planes = [
        Plane(material="m", point=tuple(turn @ np.array(p) + shift), normal=tuple(turn @ np.array(n)))
        for p, n in (((0, 0, -1.55 * D), (0, 0, 1.0)), ((-1.55 * D, 0, 0), (1.0, 0, 0)), ((0, 1.55 * D, 0), (0, -1.0, 0)))
    ]
    return make(
        position @ turn.T + shift,
        velocity=velocity @ turn.T + boost,
        spin=spin @ turn.T,
        walls=planes if walls else (),
        gravity=tuple(turn @ np.array((1.0, -0.5, -G))) if walls else (0, 0, 0),
        rolling_friction=0.1,
        h=5e-5,
    )


@pytest.mark.parametrize("name", TURNS)
def test_turned_scene_gives_the_turned_result(name):
    turn = TURNS[name]
    one, two = heap(), heap(turn)
    touched = 0
    for _ in range(200):
        touched = max(touched, one.step().contacts)
        two.step()
    assert touched > 20
    assert_allclose(two.position, one.position @ turn.T, atol=1e-12 * D)
    assert_allclose(two.velocity, one.velocity @ turn.T, atol=1e-11)
    assert_allclose(two.spin * D, one.spin @ turn.T * D, atol=1e-11)


def test_shifted_scene_gives_the_shifted_result():
    """Two metres away, overlaps of 1e-4 m keep 12 digits."""
    shift = np.array([2.0, -1.0, 0.5])
    one, two = heap(), heap(shift=shift)
    for _ in range(200):
        one.step()
        two.step()
    assert_allclose(two.position - shift, one.position, atol=1e-10 * D)
    assert_allclose(two.velocity, one.velocity, atol=1e-9)


def test_moving_frame_gives_the_same_collisions():
    """Galilei: without walls or gravity, all faster by the same velocity."""
    boost = np.array([1.0, 2.0, -0.5])
    one, two = heap(walls=False), heap(walls=False, boost=boost)
    for _ in range(200):
        one.step()
        two.step()
    assert_allclose(two.velocity - boost, one.velocity, atol=1e-10)
    assert_allclose(two.position - boost * two.time, one.position, atol=1e-11 * D)
