"""Sinks and counters count every grain once, in the step in which it passes, and change nothing of a run."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from granum import InputError
from granum.contact import Material
from granum.detection.crossings import count_crossings, face_table
from granum.scene import (
    BoxRegion,
    Cell,
    Counter,
    DiscRegion,
    Discrete,
    Emitter,
    Grains,
    Gravity,
    PlaneRegion,
    Rectangle,
    RectangleRegion,
    Scene,
    Sink,
)
from granum.simulation import Simulation, make_settings
from tests.reference.hopper import RUNS, hopper

D = 0.005  # [m]
STONE = Material(name="stone", density=2500, youngs_modulus=5e5)
MASS = 2500 * np.pi / 6 * D**3
SLIT = Counter(name="slit", region=RectangleRegion(corner=(-0.008, 0.02, -0.005), edge_u=(0.016, 0, 0), edge_v=(0, -0.04, 0)))


def thrown(speed, counters, stepper="nonsmooth", gravity=-9.81, **changes):
    """One grain, upwards from the origin."""
    grains = [Grains(material="stone", position=[[0, 0, 0]], diameter=D, velocity=[[0, 0, speed]])]
    made = Scene(
        **{"materials": [STONE], "grains": grains, "gravity": Gravity(acceleration=(0, 0, gravity)), "counters": counters, **changes}
    )
    return Simulation(made, make_settings(RUNS[stepper]))


@pytest.mark.parametrize("stepper", RUNS)
def test_a_grain_passes_a_plane_when_its_parabola_does(stepper):
    """Up and down again: it counts once, and back. Big steps fall g h t / 2 behind or ahead of the parabola, and a step has a length."""
    height, speed, g = 0.05, 1.2, 9.81
    sim = thrown(speed, [Counter(region=PlaneRegion(point=(0, 0, height)))], stepper)
    at_plane = np.sqrt(speed**2 - 2 * g * height)
    up, down = (speed - at_plane) / g, (speed + at_plane) / g
    seen = {}
    while sim.time < down + 0.02:
        sim.step()
        one = sim.counters["counter-1"]
        seen.setdefault((one.count, one.count_back), sim.time)
    h = sim.time_step
    assert list(seen) == [(0, 0), (1, 0), (0, 1)]
    assert abs(seen[1, 0] - up) <= h * (1 + g * up / (2 * at_plane))
    assert abs(seen[0, 1] - down) <= h * (1 + g * down / (2 * at_plane))
    assert sim.counters["counter-1"].mass == 0.0
    assert sim.counters["counter-1"].mass_back == pytest.approx(MASS, rel=1e-14)


def test_only_the_way_through_a_bounded_region_counts():
    """Straight ways against the formulas, of all kinds of regions, along and against their normals; static grains do not count."""
    rng = np.random.default_rng(3)
    before, after = rng.uniform(-1, 1, (2, 4000, 3))
    inverse = np.concatenate([[1.0, 1.0], np.where(rng.random(4000) < 0.1, 0.0, 0.5)])
    normal = np.array([2.0, -1.0, 2.0]) / 3
    u, v = np.array([0.6, 0, -0.6]), np.array([0.3, 0.9, 0.15])  # both lie across the normal; they are no right angle
    regions = [
        PlaneRegion(point=(0.1, 0.2, 0.0), normal=(4, -2, 4)),
        DiscRegion(centre=(0.1, 0.2, 0.0), normal=tuple(normal), radius=0.4),
        RectangleRegion(corner=(-0.2, -0.3, 0.0), edge_u=tuple(u), edge_v=tuple(v)),
    ]
    count, mass = np.zeros((3, 2), np.int64), np.zeros((3, 2))
    count_crossings(before, np.concatenate([np.zeros((2, 3)), after]), 2, inverse, face_table(regions), None, count, mass)
    for k, (centre, n) in enumerate([((0.1, 0.2, 0), normal), ((0.1, 0.2, 0), normal), (None, np.cross(u, v))]):
        corner = np.array([-0.2, -0.3, 0.0])
        d0, d1 = ((x - (corner if centre is None else centre)) @ n for x in (before, after))
        hit = before + (d0 / (d0 - d1))[:, None] * (after - before)
        inside = np.ones(4000, bool)
        if k == 1:
            inside = np.linalg.norm(hit - centre, axis=1) <= 0.4
        if k == 2:
            part = np.linalg.lstsq(np.stack([u, v], axis=1), (hit - corner).T, rcond=None)[0]
            inside = ((part >= 0) & (part <= 1)).all(axis=0)
        for side, passes in enumerate([(d0 < 0) & (d1 >= 0), (d0 >= 0) & (d1 < 0)]):
            expected = int(np.count_nonzero(passes & inside & (inverse[2:] > 0)))
            assert expected > 30
            assert count[k, side] == expected
            assert mass[k, side] == 2.0 * expected


def test_a_plane_in_a_cell_counts_every_round():
    """Positions run on beyond the cell; the plane is met in every image, whether it stands in the middle or on a face."""
    counters = [Counter(name=f"z{z}", region=PlaneRegion(point=(0, 0, z))) for z in (0.0, 0.03)]
    counters.append(Counter(name="beside", region=DiscRegion(centre=(0.02, 0.02, 0.03), radius=0.015)))
    counters.append(Counter(name="around", region=DiscRegion(centre=(0.04, 0.04, 0.03), radius=0.01)))  # the grain is at its image's centre
    sim = thrown(1.0, counters, gravity=0.0, cell=Cell(vectors=np.diag([0.04, 0.04, 0.05])))
    for _ in range(220):  # 0.22 m: past 0.05, 0.1, 0.15, 0.2, and 0.03 to 0.18
        sim.step()
    assert {name: one.count for name, one in sim.counters.items()} == {"z0.0": 4, "z0.03": 4, "beside": 0, "around": 4}
    leaning = Counter(name="tilted", region=PlaneRegion(point=(0, 0, 0), normal=(1, 0, 1)))
    with pytest.raises(InputError, match="counter 'tilted', a plane, must not lean along x"):
        thrown(1.0, [leaning], cell=Cell(vectors=np.diag([0.04, 0.04, 0.05])))


def test_an_emitter_over_a_sink_gives_its_own_rate():
    """500 grains a second fall from one height: as many come into the sink, a fall later, and every window has its share to one grain."""
    rain = Emitter(
        material="stone",
        sizes=Discrete(diameters=(D,)),
        rate=500,
        source=Rectangle(corner=(-0.2, -0.2, 0.1), edge_u=(0.4, 0, 0), edge_v=(0, 0.4, 0)),
        velocity=(0, 0, -2),
    )
    bottom = Sink(region=BoxRegion(lower=(-1, -1, -5), upper=(1, 1, 0)))
    over = Counter(name="over", region=PlaneRegion(point=(0, 0, 0), normal=(0, 0, -1)))
    sim = Simulation(Scene(materials=[STONE], emitters=[rain], sinks=[bottom], counters=[over]), make_settings({"time_step": 1e-3}))
    fall = (np.sqrt(4 + 2 * 9.81 * 0.1) - 2) / 9.81
    counts = []
    for step in range(1, 401):
        sim.step()
        sink, counter = sim.counters["sink-1"], sim.counters["over"]
        due = max(0.0, sim.time - fall) * 500
        assert abs(sink.count - due) <= 2.5  # the first comes at once, steps have a length, and what found no room comes a step later
        assert abs(sink.count - counter.count) <= 1  # one that is on the plane itself
        assert sink.mass == pytest.approx(sink.count * MASS, rel=1e-13)
        assert sink.count - sink.waiting == sim.taken_out
        if step % 100 == 0:
            counts.append(sink.count)
    assert all(abs(passed - 50) <= 2 for passed in np.diff(counts))  # windows of 0.1 s, 4 % at most
    assert sim.counters["sink-1"].count == sim.emissions[0].emitted - np.count_nonzero(sim.position[:, 2] > 0)


@pytest.mark.parametrize("stepper", ["nonsmooth", pytest.param("smooth", marks=pytest.mark.slow)])
def test_a_hopper_counts_the_same_on_any_way_and_leaves_no_trace(stepper, tmp_path):
    """Each grain once, in the step in which it comes in; with a restart, with threads, and the state as without counters."""
    sim, plain, two = hopper(stepper, counters=[SLIT]), hopper(stepper), hopper(stepper, threads=2, counters=[SLIT])
    came, saved, last = set(), None, 0.0
    while sim.time < 0.25:
        for run in (sim, plain, two):
            run.step()
        came |= set(sim.bodies.id[sim.position[:, 2] <= -0.04].tolist())
        sink = sim.counters["bin"]
        assert sink.count == len(came) == sim.taken_out + sink.waiting
        assert sink.mass >= last  # to the last bit, whoever is taken out
        last = sink.mass
        if saved is None and sink.waiting and sink.count > 5:
            saved = copy.deepcopy(sim.checkpoint())
    assert sim.taken_out > 20
    again = Simulation.restore(sim.scene, sim.settings, saved)
    while again.step_count < sim.step_count:
        again.step()
    for run in (two, again):
        assert run.counters == sim.counters
    assert plain.counters["bin"] == sim.counters["bin"]
    for name in ("position", "velocity", "spin", "orientation"):
        assert np.array_equal(getattr(plain, name), getattr(sim, name))
    below = np.count_nonzero(sim.position[:, 2] < -0.005)
    assert sim.counters["slit"].count == sim.taken_out + below  # all that is below has come through the slit
