"""The balling circuit: its geometry, where pellets count as being, flows and sizes of states that are known, and a small run."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.analysis import GrainRows, Snapshot
from granum.analysis.circuit import Passes, SizeShares, circuit_flow, drum_bed_angle, evenness, heap_angle, stage_of
from granum.checks import InputError
from granum.plot.outline import wall_frames, wall_lines
from granum.plot.parts import machine_parts, painted
from granum.plot.render import Camera, Window, render
from granum.scene.library import make_scene
from tests.command_line import granum
from tests.figures import panels

SMALL = {"drum_width": 8, "drum_length": 8, "speed": 3.0, "rate": 30, "belt_length": 6, "belt_speed": 0.2, "rollers": 4, "time_step": 0.005}


@pytest.fixture(scope="module")
def scene():
    return make_scene("circuit", SMALL)


def shot(scene, places, diameters, ids, time=0.0):
    grains = GrainRows(position=np.array(places, float), radius=np.array(diameters) / 2, id=np.array(ids))
    return Snapshot.build(scene, grains, time=time)


def test_gaps_grow_along_the_row_and_are_what_lies_between_the_rollers(scene):
    p = scene.parameters
    way = np.linalg.norm(np.diff(np.array(p.rollers), axis=0), axis=1)
    assert_allclose(way - 2 * p.roller_radius, p.gaps, rtol=1e-12)
    assert (np.diff(p.gaps) > 0).all()
    assert_allclose((p.gaps[0], p.gaps[-1]), (0.75 * p.diameter, 1.3 * p.diameter))
    assert [sink.name for sink in scene.sinks] == ["gap 1", "gap 2", "gap 3", "oversize"]


def test_a_longer_drum_with_more_flow_holds_more():
    """And a bed that would fill the drum is refused."""
    held = [len(make_scene("circuit", v).grains[0].diameter) for v in ({"rate": 60}, {"rate": 100}, {"rate": 60, "drum_length": 24})]
    assert held[0] < min(held[1:])
    with pytest.raises(InputError, match="rate of scene 'circuit' must be less"):
        make_scene("circuit", rate=2000)


@pytest.mark.parametrize(
    "values, words",
    [
        ({"smallest_gap": 1.5}, "gaps of scene 'circuit' must grow"),
        ({"smallest_gap": 0.0}, "0 < smallest_gap"),
        ({"rollers": 1}, "rollers of scene 'circuit' must be between 2 and 1000"),
        ({"incline": 0}, "incline of scene"),
        ({"spread": -0.1}, "spread of scene"),
        ({"rate": 0}, "rate must be"),
        ({"speed": math.nan}, "speed"),
        ({"drum_length": math.inf}, "drum_length"),
        ({"count": 100_000}, "which fit into the drum"),
        ({"count": 0}, "count of scene"),
        ({"drum_width": 1e7}, "grains"),
        ({"iterations": -1}, "iterations of scene"),
    ],
)
def test_bad_parameters_are_refused_in_words(values, words):
    with pytest.raises(InputError, match=words):
        make_scene("circuit", values)


def test_pellets_are_where_they_are(scene):
    p = scene.parameters
    (x1, z1), (x2, z2), *_, (xn, zn) = p.rollers
    middle = ((x1 + x2) / 2, 0, (z1 + z2) / 2)
    above, below = (0, 0, 0.02), (0, 0, -0.02)
    inside = np.array(p.outlet) - 0.01 * np.array(p.axis)
    under_the_drum = (-0.01, 0, 0.005)
    places = [inside, under_the_drum, (p.belt_end / 2, 0, 0.01), np.add(middle, above), np.add(middle, below), (xn + 0.1, 0, zn - 0.05)]
    stage, gap = stage_of(shot(scene, places, [p.diameter] * 6, range(6)))
    assert stage.tolist() == [0, 1, 1, 2, 3, 3]
    assert gap[3:].tolist() == [0, 0, 3]


def test_angles_of_known_beds(scene):
    """A bed 30 degrees up the side; on the belt a ridge whose flanks have 35 degrees, of points that fill it evenly."""
    p = scene.parameters
    a, lean = np.array(p.axis), math.radians(30)
    out = math.sin(lean) * np.array([0, 1, 0]) - math.cos(lean) * np.array([-a[2], 0, a[0]])
    bed = [np.array(p.outlet) - s * a + 0.5 * p.drum_radius * out for s in (0.01, 0.03)]
    assert drum_bed_angle(shot(scene, bed, [p.diameter] * 2, range(2))) == pytest.approx(30)
    tan, width, d = math.tan(math.radians(35)), 0.04, 0.002
    x, y, z = (
        v.ravel() for v in np.meshgrid(np.arange(0.3, 0.95, 0.02) * p.belt_end, *[np.arange(0.0005, 0.06, 0.001)] * 2, indexing="ij")
    )
    full = z < tan * (width - y)
    places = np.stack([x, y, z], axis=1)[full]
    ridge = places[(places[:, 0] >= 0.35 * p.belt_end) & (places[:, 0] <= 0.9 * p.belt_end)]
    solid = 0.58 * 0.55 * p.belt_end * tan * width**2  # of the ridge, both sides
    d = (solid / len(ridge) * 6 / math.pi) ** (1 / 3)
    assert heap_angle(shot(scene, places, [d] * len(places), range(len(places)))) == pytest.approx(35, abs=1.0)


def test_evenness():
    assert evenness(np.full(5, 0.3)) == pytest.approx(1)
    assert evenness(np.array([0, 0, 2.0, 0])) == pytest.approx(1 / 4)
    assert evenness(np.array([1.0, 1.0, 0, 0])) == pytest.approx(1 / 2)
    assert math.isnan(evenness(np.zeros(3)))


def test_sizes_are_by_mass():
    found = SizeShares.of(np.array([3.0, 1.0, 2.0]), np.array([5.0, 1.0, 4.0]))
    assert [found.at(s) for s in (0.1, 0.5, 0.51, 1.0)] == [1.0, 2.0, 3.0, 3.0]
    assert math.isnan(SizeShares.of(np.zeros(0), np.zeros(0)).at(0.5))


def test_flows_of_pellets_that_are_followed(scene):
    """Two pellets leave the drum, one goes on over the belt and through the second gap, the other is taken out above the first, unseen."""
    p = scene.parameters
    d, small = p.diameter, 0.8 * p.diameter
    (x1, z1), (x2, z2), (x3, z3), _ = p.rollers
    drum, belt = np.array(p.outlet) - 0.02 * np.array(p.axis), (p.belt_end / 2, 0, 0.01)
    on_first, on_second = ((x1 + x2) / 2, 0.01, z1 + 0.02), ((x2 + x3) / 2, 0.01, z2 + 0.02)
    through = ((x2 + x3) / 2, 0.01, z3 - 0.05)
    frames = [
        ([drum, drum], [0, 7]),
        ([belt, belt], [0, 7]),
        ([on_first, on_first], [7, 0]),
        ([on_second], [7]),
        ([through], [7]),
        ([], []),
    ]
    passes = Passes(p)
    for k, (places, ids) in enumerate(frames):
        passes.look(shot(scene, np.reshape(places, (-1, 3)), [small if i == 7 else d for i in ids], np.array(ids, np.int64), time=float(k)))
    flow = circuit_flow(passes, (0.0, 5.0))
    mass = p.density * math.pi / 6 * np.array([d**3, small**3])
    assert_allclose([flow.flow[name] for name in ("drum", "belt", "sieve")], mass.sum() / 5, rtol=1e-12)
    assert_allclose(flow.gap_flow, np.array([mass[0], mass[1], 0, 0]) / 5, rtol=1e-12)
    assert flow.gap_sizes[1].at(1.0) == pytest.approx(small)
    assert (flow.unseen, flow.oversize) == (1, 0)
    assert flow.strip_flow.sum() == pytest.approx(mass.sum() / 5)
    assert_allclose(flow.held["belt"], mass.sum() / 6)
    with pytest.raises(InputError, match="frames over some time"):
        circuit_flow(passes, (1.0, 1.0))


@pytest.fixture(scope="module")
def small_run(tmp_path_factory):
    path = tmp_path_factory.mktemp("circuit") / "c.h5"
    asked = [f"--set={k}={v}" for k, v in SMALL.items()]
    result = granum("run", "circuit", *asked, "--duration", 2.5, "--iterations", 10, "-o", path, "--no-picture", "--json")
    assert result.exit_code == 0, result.stderr
    return path, json.loads(result.stdout)


def test_a_small_circuit_tells_its_results(small_run):
    path, done = small_run
    results = done["results"]
    assert results["drum_flow"] > 0
    assert results["sieve_flow"] > 0
    assert 0 < results["evenness_along"] <= 1
    low, high = make_scene("circuit", SMALL).parameters.sizes
    assert low < results["belt_d50"] < high
    found = json.loads(granum("analyse", path, "circuit", "circuit-angles", "--json").stdout)["metrics"]
    assert found["circuit"]["drum_flow"] == results["drum_flow"]
    assert len(found["circuit"]["gaps"]["gap"]) == 4
    assert sum(found["circuit"]["gaps"]["mass_flow"]) == pytest.approx(results["sieve_flow"])
    assert 0 < found["circuit-angles"]["drum"] < 90


def test_its_figure(small_run, drawn):
    path, _ = small_run
    assert granum("plot", path, "circuit", "-o", path.with_suffix(".png")).exit_code == 0
    assert len(panels(drawn["c.png"])) == 4


def test_pictures_show_machine_parts_as_surfaces(scene):
    """Belt and rollers are solid, the drum and the frames are seen through; no line is left of them."""
    frames, low, high = wall_frames(scene), np.array([-0.2, -0.1, -0.1]), np.array([0.3, 0.1, 0.2])
    painting = painted(scene, low, high)
    thin = {scene.all_bodies[b].name: paint.thin for (b, _), paint in painting.items() if b > 0}
    assert thin == {"drum": True} | {f"roller {k}": False for k in range(1, 5)}
    assert [painting[0, w].thin for w in range(len(scene.walls)) if (0, w) in painting] == [False, *5 * [True]]  # belt; stop, partitions
    assert wall_lines(scene, frames, low, high, without=painting.keys()) == []
    parts = machine_parts(scene, frames, painting)
    out = np.linalg.norm(np.cross(parts.corner - frames[1][0], scene.parameters.axis), axis=2)  # from the axis of the drum
    assert (np.isclose(out, scene.parameters.drum_radius).all(axis=1) & parts.thin).sum() == 2 * 90
    x, z = np.array(scene.parameters.rollers).T
    last = parts.corner[~parts.thin]
    assert_allclose(last[..., 0].max(), x[-1] + scene.parameters.roller_radius)
    assert_allclose(last[..., 2].min(), z[-1] - scene.parameters.roller_radius)


def test_pellets_are_seen_through_the_drum_and_not_through_a_roller(scene):
    """One in the middle of the drum, and one below the middle of a roller, seen from above."""
    p, d = scene.parameters, 0.01
    middle, (x, z) = np.asarray(scene.all_bodies[1].position), p.rollers[1]
    places = np.array([middle, [x, 0, z - p.roller_radius - d]])
    painting = painted(scene, places.min(axis=0), places.max(axis=0))
    window = Window(-0.5, -0.5, 0.001, 1000, 1000)
    red = np.tile([1.0, 0.0, 0.0], (2, 1))
    camera, light = Camera.at(0.0, 89.9), np.array([0.0, 0.0, 1.0])
    bare = render(places, np.full(2, d / 2), red, camera, window, light=light)
    seen = render(places, np.full(2, d / 2), red, camera, window, light=light, parts=machine_parts(scene, wall_frames(scene), painting))
    (row, rows), (column, columns) = ((camera.project(places)[:, k] + 0.5) // 0.001 for k in (1, 0))
    inside, below = (int(row), int(column)), (int(rows), int(columns))
    assert bare[inside][0] > 0.5
    assert bare[inside][1] < 0.3
    assert 0 < seen[inside][0] - seen[inside][1] < bare[inside][0] - bare[inside][1]  # a paler red
    assert np.ptp(seen[below][:3]) < 0.1  # grey


def test_gates_stay_lines():
    gate = make_scene("collapse")
    assert [body.name for body in gate.bodies if body.is_driven] == ["front"]
    assert painted(gate, np.zeros(3), np.ones(3)) == {}


def test_other_scenes_are_refused_in_words(tmp_path):
    path = tmp_path / "b.h5"
    assert granum("run", "box", "--set", "count=10", "--duration", 0.05, "-o", path, "--no-picture").exit_code == 0
    result = granum("analyse", path, "circuit")
    assert result.exit_code == 2
    assert "not made as 'circuit'" in result.stderr
