"""Contact search against all pairs, and impulses that follow their pair, while the neighbour list is reused."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granum.detection.detector import Detector
from granum.detection.neighbours import NeighbourList
from granum.detection.walls import WallTable
from granum.scene import Body, Box, Emitter, Plane
from granum.scene.emitter import BoxSource
from granum.state.bodies import Bodies
from tests.reference.pairs import all_pairs, carried
from tests.reference.scenes import FREE, make


def swarm(count, ratio, seed, walls=(), static=0):
    """Bodies and a detector: grains of sizes 1 to ``ratio`` (by number many small ones), dense enough to touch often."""
    rng = np.random.default_rng(seed)
    radius = 0.5 * ratio ** (-(rng.random(count) ** 0.5)) if ratio > 1 else np.full(count, 0.5)
    side = (np.sum(4 / 3 * np.pi * radius**3) / 0.5) ** (1 / 3)
    bodies = Bodies(np.zeros(1, np.int32), np.ones((1, 3)))
    bodies.append_grains(
        rng.uniform(0, side, (count, 3)),
        radius,
        np.zeros(count, np.int32),
        np.where(np.arange(count) < static, 0.0, 1.0),
        velocity=rng.standard_normal((count, 3)),
    )
    table = WallTable.build([Body(name="ground", walls=walls)], {"m": 0}, 0.5)
    return bodies, Detector(table), rng, side


def ends(contacts):
    """Both grains of every pair."""
    return contacts.a[: contacts.pair_count].tolist(), contacts.b[: contacts.pair_count].tolist()


def check(bodies, contacts):
    """The detector's pairs are those of the all-pairs search, each once, with the same overlap and normal."""
    x, r = bodies.position[bodies.grains], bodies.radius
    expected = all_pairs(x, r)
    found = [(min(a, b), max(a, b)) for a, b in zip(*ends(contacts), strict=True)]
    assert len(set(found)) == len(found)
    assert set(expected) <= set(found)
    known = np.array([pair in expected for pair in found], bool)
    depth, normal = (np.array(twin) for twin in zip(*(expected[pair] for pair in found if pair in expected), strict=True))
    n = contacts.pair_count
    outwards = np.where(contacts.a[:n] < contacts.b[:n], 1.0, -1.0)[:, None] * contacts.normal[:n]
    assert_allclose(contacts.overlap[:n][known], depth, rtol=0, atol=1e-14)
    assert_allclose(outwards[known], normal, rtol=1e-7, atol=1e-13)
    assert (contacts.overlap[:n][~known] <= 1e-12).all()  # touching but for rounding
    return len(expected)


@pytest.mark.parametrize("ratio", [1, 3, 10])
@pytest.mark.parametrize("seed", [0, 1])
def test_cells_find_what_all_pairs_find(ratio, seed):
    bodies, detector, _, _ = swarm(300, ratio, seed)
    contacts = detector.detect(bodies, 0.0)
    assert check(bodies, contacts) > 100


@pytest.mark.parametrize("ratio", [1, 3, 10])
def test_no_contact_is_missed_while_the_list_is_reused(ratio):
    """Grains wander at changing speeds, some fast; every step is compared. The list must be reused and made anew."""
    bodies, detector, rng, side = swarm(150, ratio, 2)
    h, touched = 0.01, 0
    x, v = bodies.position[bodies.grains], bodies.velocity[bodies.grains]
    v *= np.where(rng.random((150, 1)) < 0.1, 3.0, 0.1)
    for step in range(80):
        touched += check(bodies, detector.detect(bodies, h))
        if step % 10 == 0:
            v += 0.3 * rng.standard_normal(v.shape)  # faster than what their skins were made for
        x += h * v
        np.copyto(v, np.where((x < 0) | (x > side), -np.sign(x - side / 2) * np.abs(v), v))
    assert touched > 1000
    assert 3 < detector.neighbours.rebuilds < 75


def test_far_apart_and_coincident_grains():
    """A grain a million diameters away, negative coordinates, and two grains in the same place."""
    bodies = Bodies(np.zeros(1, np.int32), np.ones((1, 3)))
    x = np.array([[0, 0, 0], [0.9, 0, 0], [1e6, -1e6, 3e6], [1e6 + 0.5, -1e6, 3e6], [-5, -5, -5], [-5, -5, -5.0]])
    bodies.append_grains(x, np.full(6, 0.5), np.zeros(6, np.int32), np.ones(6))
    contacts = Detector(WallTable.build([Body(name="ground")], {}, 0.5)).detect(bodies, 0.0)
    assert {tuple(sorted(p)) for p in zip(contacts.a.tolist(), contacts.b.tolist(), strict=True)} == {(0, 1), (2, 3), (4, 5)}
    assert np.isfinite(contacts.normal).all()
    assert_allclose(np.linalg.norm(contacts.normal, axis=1), 1.0)


@pytest.mark.parametrize("speed", [1e3, 1e9, 1e15, 1e25])
def test_one_grain_of_any_speed_is_listed_with_all_it_can_reach(speed):
    """What it may cross in some steps is more cells than an integer counts, then further than an integer reaches."""
    bodies = swarm(300, 1, 0)[0]
    bodies.velocity[bodies.grains] *= 1e-3
    near = NeighbourList()
    near.update(bodies, 1e-3)
    bodies.position[bodies.grains.start + 7] += (2.0, 0, 0)
    bodies.velocity[bodies.grains.start + 7] = (speed, -speed, speed)
    assert near.update(bodies, 1e-3)
    assert near.rebuilds == 1  # it was appended
    k, far = near.rank[7], bodies.radius + near.skin
    apart = np.linalg.norm(near.reference - near.reference[7], axis=1)
    expected = np.flatnonzero((apart < far + far[7]) & (np.arange(300) != 7))
    found = near.order[near.candidate[near.candidate_first[k] : near.candidate_first[k + 1]]]
    assert sorted(found) == expected.tolist()
    assert len(expected) == 299 or speed == 1e3
    near = NeighbourList()
    near.update(bodies, 1e-3)  # all of them anew
    pairs = {
        frozenset((int(near.order[k]), int(near.order[j])))
        for k in range(300)
        for j in near.candidate[near.candidate_first[k] : near.candidate_first[k + 1]]
    }
    assert sum(7 in pair for pair in pairs) == len(expected)


def test_static_grains_do_not_push_each_other():
    bodies, detector, _, _ = swarm(200, 1, 3, static=100)
    contacts = detector.detect(bodies, 0.0)
    n = contacts.pair_count
    assert not ((contacts.a[:n] < 100) & (contacts.b[:n] < 100)).any()
    expected = {p for p in all_pairs(bodies.position[1:], bodies.radius) if p[1] >= 100}
    assert {tuple(sorted(p)) for p in zip(contacts.a[:n].tolist(), contacts.b[:n].tolist(), strict=True)} == expected


@pytest.mark.parametrize("ratio", [1, 4])
def test_impulses_follow_their_contact(ratio):
    """Through rebuilds and changes of owner, with walls, each contact gets what its pair carried; new ones start from zero."""
    walls = (Plane(material="m"), Box(material="m", lower=(0, 0, 0), upper=(50, 50, 50)))
    bodies, detector, rng, side = swarm(120, ratio, 4, walls=walls)
    x, v = bodies.position[bodies.grains], bodies.velocity[bodies.grains]
    kept, swapped, lasted, h = {}, 0, 0, 0.02
    for _ in range(60):
        c = detector.detect(bodies, h)
        keys = list(zip(c.a.tolist(), c.b.tolist(), c.feature.tolist(), strict=True))
        if keys:
            impulse, rebound = zip(*(carried(kept, *key, normal) for key, normal in zip(keys, c.normal, strict=True)), strict=True)
            assert_allclose(c.impulse, np.array(impulse), atol=1e-14)
            assert_array_equal(c.rebound, rebound)
        lasted += sum(key in kept for key in keys)
        swapped += sum((b, a, feature) in kept for a, b, feature in keys)
        c.impulse[:] = rng.standard_normal(c.impulse.shape)
        c.impulse[:, 0] = np.abs(c.impulse[:, 0])
        c.rebound[:] = rng.random(c.contact_count)
        kept = {
            (int(a), int(b), int(f)): (p.copy(), float(s)) for a, b, f, p, s in zip(c.a, c.b, c.feature, c.impulse, c.rebound, strict=True)
        }
        assert len(kept) == c.contact_count  # keys are unique
        x += h * v
        np.copyto(v, np.where((x < 0) | (x > side), -np.sign(x - side / 2) * np.abs(v), v))
    assert lasted > 500
    assert swapped > 10
    assert (c.b < 0).any()


def test_order_of_contacts_is_the_same_every_time():
    """Two detectors on the same motion give the same contacts in the same order, owner by owner."""
    runs = []
    for _ in range(2):
        bodies, detector, _, _ = swarm(150, 3, 5)
        rows = []
        for _ in range(20):
            c = detector.detect(bodies, 0.01)
            rows.append((c.a.copy(), c.b.copy(), c.overlap.copy()))
            bodies.position[bodies.grains] += 0.01 * bodies.velocity[bodies.grains]
        runs.append(rows)
    for one, two in zip(*runs, strict=True):
        for x, y in zip(one, two, strict=True):
            assert_array_equal(x, y)


def test_emitted_grains_are_found():
    """Grains that join between rebuilds are in the list at once, and an emitter never places one into another."""
    sizes = {"distribution": "uniform", "lower": 0.005, "upper": 0.02}
    emitter = Emitter(
        material="m",
        sizes=sizes,
        source=BoxSource(lower=(-0.05, -0.05, 0.1), upper=(0.05, 0.05, 0.2)),
        rate=500,
        count=120,
        velocity=(0, 0, -1.0),
        seed=3,
    )
    sim = make(np.zeros((0, 3)), emitters=[emitter], walls=True, gravity=(0, 0, -9.81), guards=FREE, h=0.003)
    known, touched = 0, 0
    for _ in range(110):
        before = sim.grain_count
        for emission in sim.emissions:
            emission.emit(sim.bodies, sim.stepper.walls, sim.time)
        new = range(before, sim.grain_count)
        pairs = all_pairs(sim.position, sim.radius)
        assert not [p for p in pairs if p[1] in new]
        sim.step()
        # contacts were found where the step began
        x = sim.position - sim.time_step * sim.velocity
        if not sim.contacts.rebound.any():  # else positions were also parted
            n = sim.contacts.pair_count
            found = {tuple(sorted(p)) for p in zip(sim.contacts.a[:n].tolist(), sim.contacts.b[:n].tolist(), strict=True)}
            deep = {p for p, (depth, _) in all_pairs(x, sim.radius).items() if depth > 1e-12}
            assert deep <= found
        touched += len(pairs)
        known = sim.grain_count
    assert known == 120
    assert touched > 100
