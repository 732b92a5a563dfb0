"""The contact search in a cell against all pairs in all images, and what a cell must be like at the door of a run."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from granum.checks import InputError
from granum.detection.detector import Detector
from granum.detection.images import in_cell as moved_in
from granum.detection.images import period_of
from granum.detection.walls import WallTable
from granum.scene import Body, Box, Cell, Emitter, Motion, Plane, Scene
from granum.scene.emitter import BoxSource
from granum.scene.file import load_scene
from granum.state.bodies import Bodies
from tests.reference.periodic import STEPPERS, all_images, in_cell
from tests.reference.scenes import D


def swarm(count, ratio, dim, seed):
    """Bodies, a detector and the lengths of a cell: grains of sizes 1 to ``ratio``, many periods apart, dense enough to touch often."""
    rng = np.random.default_rng(seed)
    radius = 0.5 * ratio ** (-(rng.random(count) ** 0.5)) if ratio > 1 else np.full(count, 0.5)
    side = (np.sum(4 / 3 * np.pi * radius**3) / 0.5) ** (1 / 3)
    lengths = np.maximum(side * np.array([1.0, 1.3, 0.8])[:dim], 2.5)
    x = rng.uniform(0, side, (count, 3))
    x[:, :dim] = rng.uniform(-2, 3, (count, dim)) * lengths
    bodies = Bodies(np.zeros(1, np.int32), np.ones((1, 3)))
    bodies.append_grains(x, radius, np.zeros(count, np.int32), np.ones(count), velocity=rng.standard_normal((count, 3)))
    period = period_of(Cell(vectors=lengths))
    return bodies, Detector(WallTable.build([Body(name="ground")], {}, 0.5), period=period), lengths, rng


def check(bodies, contacts, lengths):
    """The detector's pairs are those in all images, each once; positions of some periods have rounding of 1e-15."""
    expected = all_images(bodies.position[bodies.grains], bodies.radius, lengths)
    found = set()
    for c in range(contacts.pair_count):
        a, b = int(contacts.a[c]), int(contacts.b[c])
        pair = min(a, b), max(a, b)
        assert pair not in found
        found.add(pair)
        if pair in expected:
            depth, normal = expected[pair]
            assert abs(contacts.overlap[c] - depth) < 1e-13
            assert_allclose(contacts.normal[c], normal if a < b else -normal, atol=1e-12)
        else:
            assert contacts.overlap[c] <= 1e-12  # touching but for rounding
    assert set(expected) <= found
    return len(expected)


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("ratio", [1, 3, 10])
def test_search_finds_what_all_images_find(ratio, dim):
    """Grains wander through the faces at changing speeds, some fast, while the list is reused and made anew."""
    bodies, detector, lengths, rng = swarm(90, ratio, dim, seed=dim)
    h, touched = 0.02, 0
    x, v = bodies.position[bodies.grains], bodies.velocity[bodies.grains]
    v *= np.where(rng.random((len(x), 1)) < 0.1, 3.0, 0.3)
    for step in range(25):
        touched += check(bodies, detector.detect(bodies, h), lengths)
        if step % 10 == 0:
            v += 0.3 * rng.standard_normal(v.shape)
        x += h * v
        x[:, dim:] %= lengths.min()  # along open axes they are kept together
    assert touched > 500
    assert detector.neighbours.rebuilds < 22


def test_few_grains_are_appended_across_a_face():
    """Grains that come one by one find the others through the faces without a new list."""
    bodies, detector, lengths, rng = swarm(60, 1, 3, seed=5)
    detector.detect(bodies, 0.0)
    for _ in range(4):
        bodies.append_grains(rng.uniform(-1, 2, (1, 3)) * lengths, np.full(1, 0.5), np.zeros(1, np.int32), np.ones(1))
        check(bodies, detector.detect(bodies, 0.0), lengths)
    assert detector.neighbours.rebuilds == 1


def test_positions_move_into_the_cell_along_its_axes_only():
    x = np.array([[-0.1, 2.5, 9.0], [0.0, 0.0, 0.0], [7.3, -4.0, -9.0]])
    period = period_of(Cell(vectors=(1.0, 2.0)))
    assert period is not None
    assert_allclose(moved_in(x, 1, period), [[-0.1, 2.5, 9.0], [0.0, 0.0, 0.0], [0.3, 0.0, -9.0]], atol=1e-15)
    assert moved_in(x, 0, None) is x
    assert_allclose(Cell(vectors=(1.0, 2.0)).nearest(x), [[-0.1, 0.5, 9.0], [0, 0, 0], [0.3, 0.0, -9.0]], atol=1e-15)


LEANING = [[0.1, 0.0], [0.02, 0.1]]
REFUSED = {
    "leaning": ({"lengths": None, "vectors": LEANING}, "lean"),
    "short": ({"lengths": (0.1, 2.4 * D)}, f"at least {2.5 * D:.4g} m"),
    "cut": ({"lengths": (0.1,), "walls": (Plane(material="m", normal=(1, 0, 1)),)}, "must not lean along x"),
    "cut by a turned body": (
        {"lengths": (0.1, 0.1), "bodies": (Body(name="b", orientation=(2**0.5, 2**0.5, 0, 0), walls=[Plane(material="m")]),)},
        "must not lean along y",
    ),
    "turning": (
        {"lengths": (0.1,), "bodies": (Body(name="b", kind="kinematic", motion=Motion(spin=(0, 1, 0)), walls=[Plane(material="m")]),)},
        "turning",
    ),
}


@pytest.mark.parametrize("stepper", STEPPERS)
@pytest.mark.parametrize("name", REFUSED)
def test_cell_that_does_not_suit_is_refused(name, stepper):
    scene, words = REFUSED[name]
    with pytest.raises(InputError, match=words):
        in_cell((0.05, 0.05, D), **scene, stepper=stepper)


@pytest.mark.parametrize("stepper", STEPPERS)
def test_walls_that_do_no_harm_are_taken(stepper):
    """A floor under x and y, a plate that turns about the axis that repeats, and a box that is not repeated."""
    turning = Body(name="b", kind="kinematic", position=(0, 0, -1), motion=Motion(spin=(1, 0, 0)), walls=[Plane(material="m")])
    obstacle = Box(material="m", lower=(0.01, 0.01, 0), upper=(0.02, 0.02, 0.01), side="outside")
    in_cell((0.05, 0.05, D), (0.1, 0.1), walls=(Plane(material="m"), obstacle), stepper=stepper).step()
    in_cell((0.05, 0.05, D), (0.1,), bodies=(turning,), stepper=stepper).step()


def test_initial_overlap_across_a_face_is_refused():
    with pytest.raises(InputError, match=r"grain 0 with grain 1"):
        in_cell([(0.001, 0.05, 0.05), (0.1 - 0.001, 0.05, 0.05)], (0.1,))


def test_relaxing_pushes_apart_through_a_face():
    sim = in_cell([(0.001, 0.05, 0.05), (0.1 - 0.001, 0.05, 0.05)], (0.1,), run={"relax": True})
    apart = Cell(vectors=(0.1,)).nearest(sim.position[1:] - sim.position[:1])[0]
    assert_allclose(np.linalg.norm(apart), D, rtol=0.011)  # relaxing ends at overlaps of 1 %
    assert sim.position[0, 0] > 0.001


def test_emitted_grains_find_room_between_images():
    """A source across the whole cell: nothing it emits overlaps, also not through a face."""
    lengths = (6 * D, 5 * D)
    source = BoxSource(lower=(0, 0, 0), upper=(6 * D, 5 * D, 4 * D))
    emitter = Emitter(material="m", sizes={"distribution": "uniform", "lower": 0.7 * D, "upper": D}, source=source, count=60)
    sim = in_cell(np.zeros((0, 3)), lengths, emitters=(emitter,))
    for _ in range(20):
        sim.step()
    assert sim.grain_count > 40
    assert not all_images(sim.position, sim.radius, np.array(lengths))


def test_scene_file_names_the_cell(tmp_path):
    file = tmp_path / "periodic.toml"
    file.write_text(
        "[[materials]]\nname = 'm'\ndensity = 3700\n[cell]\nvectors = [0.1, 0.2]\n"
        "[[grains]]\nmaterial = 'm'\nposition = [[0.05, 0.05, 0.05]]\ndiameter = 0.01\n"
    )
    scene = load_scene(str(file))
    assert scene.cell is not None
    assert_array_equal(scene.cell.vectors, [[0.1, 0.0], [0.0, 0.2]])
    again = Scene.model_validate_json(scene.model_dump_json())
    assert again.cell is not None
    assert_array_equal(again.cell.vectors, scene.cell.vectors)
    assert load_scene("column").cell is None
