"""Whatever the grains, cells and walls: a step finds the contacts that looking at every pair finds, with the same overlaps and normals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from granum import Body, Box, Capsule, Cell, Cylinder, Material, Motion, Plane, Scene, Simulation
from granum.simulation import make_settings
from tests.reference.pairs import all_pairs
from tests.reference.periodic import all_images
from tests.reference.scenes import FREE, spheres
from tests.reference.walls import wall_overlaps

LARGEST = 0.5  # radius [m]
STEP = 1e-3  # [s]
FILE = 4  # grains along an edge of a cell, at the start
ROUNDING = 1e-12  # [m]
STEPPERS = ("nonsmooth", "smooth")

pytestmark = pytest.mark.filterwarnings("ignore:.*take stiffer grains")  # overlaps are as deep as they come here

seeds = st.integers(0, 2**32 - 1)
ratios = st.sampled_from([1.0, 2.0, 10.0, 100.0])


def swarm(count: int, ratio: float, seed: int):
    """Radii [m] between 1 and 1 / ratio of the largest, and the side [m] of a cube in which they touch often."""
    rng = np.random.default_rng(seed)
    radius = LARGEST * ratio ** -rng.random(count)
    radius[0] = LARGEST
    return rng, radius, max(2 * LARGEST, float((8 * radius**3).sum() ** (1 / 3)))


def simulation(radius, stepper, *, lengths=None, bodies=()):
    """Grains that do not touch, so that the scene is accepted; the test puts them where it wants them."""
    apart = np.zeros((len(radius), 3))
    apart[:, 2] = 100.0 + 4.0 * LARGEST * np.arange(len(radius))
    if lengths is not None:
        places = np.arange(len(radius))
        apart = np.column_stack([places % FILE, places // FILE % FILE, places // FILE**2]) * 2.0 * LARGEST
    scene = Scene(
        materials=[Material(name="m", youngs_modulus=1e4)],
        grains=spheres(apart, 2 * radius),
        cell=None if lengths is None else Cell(vectors=tuple(lengths)),
        bodies=bodies,
        gravity={"acceleration": (0, 0, 0)},
    )
    return Simulation(scene, make_settings({"stepper": {"name": stepper}, "time_step": STEP, "guards": FREE}))


def wander(sim, rng, side, compare, lengths=()):
    """Grains of a cube around the origin are driven about for some steps, some fast, some to another place; every step is compared.

    In a cell each grain may be some periods away.
    """

    def anywhere(count):
        x = rng.uniform(-0.5, 0.5, (count, 3)) * side
        x[:, : len(lengths)] += rng.integers(-2, 3, (count, len(lengths))) * np.asarray(lengths)
        return x

    sim.position[:] = anywhere(sim.grain_count)
    speed = side * np.where(rng.random((sim.grain_count, 1)) < 0.1, 30.0, 1.0)
    for _ in range(5):
        sim.velocity[:] = speed * rng.standard_normal(sim.velocity.shape)
        moved = rng.random(sim.grain_count) < 0.05
        sim.position[moved] = anywhere(int(moved.sum()))
        compare(sim)


def found_pairs(sim):
    """{(i, j): (overlap, normal from i to j)} of the pairs that overlap in the contacts of the last step, each once."""
    c, found = sim.contacts, {}
    for k in range(c.pair_count):
        a, b = int(c.a[k]), int(c.b[k])
        assert (min(a, b), max(a, b)) not in found
        found[min(a, b), max(a, b)] = float(c.overlap[k]), c.normal[k] if a < b else -c.normal[k]
    return {pair: what for pair, what in found.items() if what[0] > ROUNDING}


def check_pairs(found, expected, reach):
    """``reach`` [m]: how far positions are from the origin, in which they are rounded."""
    rounding = ROUNDING + 1e-15 * reach
    deep = {pair: what for pair, what in expected.items() if what[0] > rounding}
    assert set(deep) <= set(found)
    for pair, (overlap, normal) in found.items():
        if pair in deep:
            assert abs(overlap - deep[pair][0]) < rounding
            np.testing.assert_allclose(normal, deep[pair][1], atol=1e-9)
        else:
            assert overlap < 10 * rounding  # touching but for rounding


def step_and_take(sim):
    """Positions at which the step finds its contacts: nonsmooth steps look before they move, smooth ones after."""
    before = sim.position.copy()
    sim.step()
    return before if sim.settings.stepper.name == "nonsmooth" else sim.position.copy()


@given(count=st.integers(2, 60), ratio=ratios, seed=seeds, stepper=st.sampled_from(STEPPERS))
def test_open_space(count, ratio, seed, stepper):
    rng, radius, side = swarm(count, ratio, seed)
    sim = simulation(radius, stepper)

    def compare(sim):
        x = step_and_take(sim)
        check_pairs(found_pairs(sim), all_pairs(x, sim.radius), side)

    wander(sim, rng, side, compare)


@given(count=st.integers(2, 50), ratio=ratios, seed=seeds, dim=st.integers(1, 3), stepper=st.sampled_from(STEPPERS))
def test_periodic_cells(count, ratio, seed, dim, stepper):
    rng, radius, side = swarm(count, ratio, seed)
    lengths = 2 * LARGEST * FILE * np.array([1.0, 1.3, 1.1])[:dim]
    sim = simulation(radius, stepper, lengths=lengths)

    def compare(sim):
        x = step_and_take(sim)
        check_pairs(found_pairs(sim), all_images(x, sim.radius, lengths), 10 * side)

    wander(sim, rng, side, compare, lengths)


vectors = st.tuples(*[st.integers(-100, 100).map(lambda n: n / 100)] * 3)


@st.composite
def moving_walls(draw):
    """Bodies that drive or turn a plane, a cylinder around all grains, or a block, roller or rod among them."""
    bodies = []
    for k, shape in enumerate(draw(st.lists(st.sampled_from(["plane", "cylinder", "block", "roller", "rod"]), min_size=1, max_size=3))):
        wall = {
            "plane": Plane(material="m"),
            "cylinder": Cylinder(material="m", radius=2.0),
            "block": Box(material="m", lower=(-0.4, -0.3, -0.2), upper=(0.4, 0.3, 0.2), side="outside"),
            "roller": Cylinder(material="m", axis=(0.6, 0.0, 0.8), radius=0.3, length=0.7, side="outside"),
            "rod": Capsule(material="m", axis=(0.6, 0.0, 0.8), radius=0.2, length=0.7),
        }[shape]
        motion = Motion(velocity=draw(vectors), spin=draw(vectors), amplitude=draw(vectors), frequency=draw(st.integers(0, 5)))
        bodies.append(Body(name=f"b{k}", kind="kinematic", position=draw(vectors), motion=motion, walls=[wall]))
    return bodies


@given(count=st.integers(1, 80), ratio=ratios, seed=seeds, bodies=moving_walls(), stepper=st.sampled_from(STEPPERS))
def test_moving_walls(count, ratio, seed, bodies, stepper):
    rng, radius, _ = swarm(count, ratio, seed)
    sim = simulation(radius, stepper, bodies=bodies)

    def pose():
        return sim.bodies.position.copy(), sim.bodies.orientation.copy()

    def compare(sim):
        before = *pose(), sim.position.copy()
        sim.step()
        where = before if stepper == "nonsmooth" else (*pose(), sim.position.copy())
        expected = wall_overlaps(sim.scene, *where, sim.radius)
        c, found = sim.contacts, {}
        for k in range(c.pair_count, c.contact_count):
            key = int(c.a[k]), -1 - int(c.b[k])
            assert found.get(key, 0.0) <= ROUNDING or c.overlap[k] <= ROUNDING  # it overlaps with one place of a wall only
            found[key] = max(found.get(key, -np.inf), float(c.overlap[k]))
        for key, overlap in expected.items():
            if overlap > ROUNDING:
                assert abs(found[key] - overlap) < ROUNDING
            elif overlap <= ROUNDING:  # a gap, and not a grain whose centre is behind the wall
                assert found.get(key, 0.0) < 10 * ROUNDING

    wander(sim, rng, 2.0, compare)
