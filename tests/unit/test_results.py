"""Numbers of the library scenes from states whose numbers are known."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest

from granum.analysis import PileShape, bulk_packing_fraction, exact_column_height, mean_and_largest_overlap, scene_results, state_hash
from granum.analysis.results import FRAME_MEASURES, MEASURES
from granum.runs.summary_rows import with_error
from granum.scene.library import make_scene
from granum.scene.results import Result

D = 0.01


def test_column_of_one_is_hertz_on_a_plane():
    """delta = (m g / k_n)^(2/3), k_n = (4/3) E* sqrt(R), E* = E / (2 (1 - nu^2))."""
    scene = make_scene("column", {"count": 1, "diameter": D})
    material = scene.materials[0]
    weight = material.density * np.pi / 6 * D**3 * 9.81
    stiffness = 4 / 3 * material.youngs_modulus / (2 * (1 - material.poisson_ratio**2)) * np.sqrt(D / 2)
    assert exact_column_height(scene) == pytest.approx(D - (weight / stiffness) ** (2 / 3), rel=1e-12)


def test_height_error_is_the_missing_part():
    scene = make_scene("column", {"count": 2, "diameter": D})
    exact = exact_column_height(scene)
    position = np.array([[0, 0, D / 2], [0, 0, 0.99 * exact - D / 2]])
    found, _ = scene_results(scene, position, np.full(2, D / 2), np.zeros((2, 3)), 0.0)
    assert found["height_error"] == pytest.approx(0.01)


@pytest.mark.parametrize("angle", [15.0, 25.0, 35.0])
def test_angle_of_a_cone(angle):
    """A lattice cut to a cone; its steps of one grain blur the slope by about a degree."""
    x = np.stack(np.meshgrid(*[np.arange(-40, 41)] * 2, np.arange(0, 30), indexing="ij"), axis=-1).reshape(-1, 3) * D
    high = 35 * D * np.tan(np.radians(angle))
    x = x[x[:, 2] < high - np.hypot(x[:, 0], x[:, 1]) * np.tan(np.radians(angle))] + [0.3, -0.2, D / 2]
    shape = PileShape().compute(x, np.full(len(x), D / 2))
    assert shape.angle == pytest.approx(angle, abs=1.5)
    assert shape.height == pytest.approx(high, abs=D)


def crust(slopes: list[float], top: float, rings: int) -> np.ndarray:
    """(n, 3) centres of grains whose tops fall from ``top`` by ``slopes``, one for each of 8 sectors, over that many rings of one diameter.

    The highest grains of a ring lie 0.1 d from its inner edge in all cells, so the surface of the rings falls by the slope exactly.
    """
    away, turn = np.meshgrid((np.arange(rings)[:, None] + [0.1, 0.6]).ravel() * D, (np.arange(640) + 0.5) / 640, indexing="ij")
    angle = 2 * np.pi * (turn - 0.5)
    high = np.maximum(top - np.asarray(slopes)[(turn * 8).astype(int)] * away, D)
    return np.stack([away * np.cos(angle), away * np.sin(angle), high - D / 2], axis=-1).reshape(-1, 3)


def test_the_error_of_the_angle_is_that_of_the_mean_of_its_sectors():
    """Flanks that fall by 0.5 and 0.6 in turn: 0.55, with a standard error of sqrt(8 / 7) 0.05 / sqrt(8)."""
    x = crust([0.5, 0.6] * 4, 12 * D, 16)
    found = PileShape().compute(x, np.full(len(x), D / 2))
    assert found.angle == pytest.approx(math.degrees(math.atan(0.55)), abs=1e-6)
    assert found.error == pytest.approx(math.degrees(0.05 / math.sqrt(7) / (1 + 0.55**2)), rel=1e-6)
    assert (found.sectors, found.strays, found.lack) == (8, 0, None)


def test_strays_and_single_layers_are_no_flank():
    """Grains that lie apart, and one layer around the heap, leave the angle as it is, whatever their number."""
    x = crust([0.5] * 8, 12 * D, 24)
    angle = 2 * np.pi * np.arange(500) / 500
    ring = lambda r: np.stack([r * D * np.cos(angle), r * D * np.sin(angle), np.full(500, D / 2)], axis=1)  # noqa: E731
    layer = np.concatenate([ring(24.1 + k / 2) for k in range(20)])
    apart = np.concatenate([ring(40.0), ring(60.0)])
    apart[:, 2] += 3 * D
    everything = np.concatenate([x, layer, apart])
    found = PileShape().compute(everything, np.full(len(everything), D / 2))
    assert found.angle == pytest.approx(math.degrees(math.atan(0.5)), abs=1e-6)
    assert found.error == pytest.approx(0, abs=1e-6)
    assert found.strays == len(apart)
    assert found.surface[found.flank].min() > 1.5 * D


def test_a_low_heap_has_no_angle_and_says_why():
    scene = make_scene("pile")
    for high, told in ((4.9, True), (5.1, False)):
        x = crust([0.5] * 8, high * D, 12)
        numbers, missing = scene_results(scene, x, np.full(len(x), D / 2), np.zeros_like(x), 0.0)
        assert numbers["height"] == pytest.approx((high - 0.05) * D)
        assert (numbers["angle"] is None) is told
        assert missing == (dict.fromkeys(("angle", "angle_error"), missing["angle"]) if told else {})
        assert not told or missing["angle"].startswith("too small to tell: the heap is 4.8 diameters high")  # 4.85


@pytest.mark.parametrize("level", [-0.4, 0.3])
def test_a_pile_stands_on_its_own_ground(level):
    """Heights and angle do not depend on where the ground is, nor on grains of the ground that never move."""
    scene, x = make_scene("pile"), crust([0.5] * 8, 12 * D, 24)
    floor = np.stack([*np.meshgrid(*[np.arange(-30, 30) * D] * 2, indexing="ij"), np.full((60, 60), -D / 2)], axis=-1).reshape(-1, 3)
    here, _ = scene_results(scene, x, np.full(len(x), D / 2), np.zeros_like(x), 0.0)
    both = np.concatenate([x, floor]) + np.array([0, 0, level])
    static = np.arange(len(both)) >= len(x)
    there, missing = scene_results(scene, both, np.full(len(both), D / 2), np.zeros_like(both), 0.0, static)
    assert missing == {}
    assert there["height"] == pytest.approx(11.95 * D)
    assert there == pytest.approx(here, abs=1e-9)


def test_an_angle_needs_gravity_along_z():
    scene = make_scene("pile").changed(gravity={"acceleration": (1.0, 0.0, -9.7)})
    x = crust([0.5] * 8, 12 * D, 24)
    found, missing = scene_results(scene, x, np.full(len(x), D / 2), np.zeros_like(x), 0.0)
    assert found["angle"] is None
    assert missing["angle"].startswith("gravity does not point along -z")


def test_without_grains_there_is_nothing_to_tell():
    numbers, missing = scene_results(make_scene("pile"), np.zeros((0, 3)), np.zeros(0), np.zeros((0, 3)), 0.0)
    assert numbers == dict.fromkeys(("height", "angle", "angle_error"))
    assert missing == dict.fromkeys(numbers, "there are no grains at rest")


@pytest.mark.parametrize("speed", [0.5, -0.5])
def test_a_drum_that_does_not_turn_yet_has_no_plug_and_keeps_the_sign_of_its_angle(speed):
    """Grains on the side that will rise: the centre of mass is at atan(1) on either side of the start."""
    scene = make_scene("drum", {"count": 20, "width": 8, "length": 3, "speed": speed, "ramp": 1.0})
    side = math.copysign(2 * D, speed)  # a positive speed lifts grains towards x
    position = np.array([[side, y * D, -2 * D] for y in (-1, 0, 1)])
    (before, missing), (after, _) = (scene_results(scene, position, np.full(3, D / 2), np.zeros((3, 3)), t) for t in (0.99, 1.0))
    assert before["plug_fraction"] is None
    assert missing["plug_fraction"] == "the drum stands still"
    assert after["plug_fraction"] is not None
    assert before["centre_of_mass_angle"] == pytest.approx(45)
    assert after["centre_of_mass_angle"] == pytest.approx(45)


def test_packing_fraction_of_a_cubic_lattice():
    """pi / 6."""
    x = np.stack(np.meshgrid(*[np.arange(10) + 0.5] * 3, indexing="ij"), axis=-1).reshape(-1, 3) * D
    assert bulk_packing_fraction(x, np.full(len(x), D / 2), (10 * D) ** 2) == pytest.approx(np.pi / 6, rel=1e-12)
    assert np.isnan(bulk_packing_fraction(x[:1], np.full(1, D / 2), 1.0))


def test_mean_and_largest_overlap_of_the_smaller_grain():
    radius = np.array([1.0, 0.5])
    mean, largest = mean_and_largest_overlap(np.array([0.1, 0.1]), np.array([0, 0]), np.array([1, -1]), radius)
    assert (mean, largest) == (pytest.approx(0.075), pytest.approx(0.1))


def test_state_hash_is_of_the_bytes():
    a, b = np.arange(6.0).reshape(2, 3), np.ones((2, 4))
    assert state_hash(a, b) == hashlib.sha256(a.tobytes() + b.tobytes()).hexdigest()
    assert state_hash(a.T.copy().T, b) == state_hash(a, b)


def test_results_are_those_that_the_scene_asks_for_not_those_of_its_name():
    position, radius, still = np.array([[0, 0, D / 2]]), np.full(1, D / 2), np.zeros((1, 3))
    plain = make_scene("column", count=1).changed(name="pile", results=())
    assert scene_results(plain, position, radius, still, 0.0) == ({"height": D}, {})
    asked = plain.changed(name="heap", results=["pile", {"measure": "bed", "area": 1.0}])
    found, missing = scene_results(asked, position, radius, still, 0.0)
    assert set(found) == {"height", "angle", "angle_error", "packing_fraction"}
    assert missing["packing_fraction"] == "the bed is too low"


def test_what_cannot_be_measured_is_none_and_no_refusal():
    """A scene that asks for the flow of a drum and has none."""
    scene = make_scene("column", count=1).changed(results=["drum"])
    found, missing = scene_results(scene, np.array([[0, 0, D]]), np.full(1, D / 2), np.zeros((1, 3)), 0.0)
    assert found == {"height": 1.5 * D, "surface_angle": None, "centre_of_mass_angle": None, "plug_fraction": None}
    assert set(missing.values()) == {"no drum turns at the end of the run"}


def test_rows_of_results_have_units_errors_and_reasons(granum, tmp_path, monkeypatch):
    """A file called drum.toml whose drum stands still when the run ends is finished like any other; so is what `info` tells of it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "drum.toml").write_text(
        """
        results = ["drum"]
        materials = [{ name = "ore", density = 3000, youngs_modulus = 2e7 }]
        grains = [{ material = "ore", position = [[0, 0, -0.05]], diameter = 0.01 }]
        [[bodies]]
        name = "drum"
        kind = "kinematic"
        motion = { spin = [0, 1, 0], stop = 0.01 }
        walls = [{ shape = "cylinder", material = "ore", axis = [0, 1, 0], radius = 0.06, length = 0.04 }]
        """
    )
    done = granum("run", "drum.toml", "--duration", "0.02", "--time-step", "0.002", "--no-picture")
    assert done.exit_code == 0
    for text in (done.stdout, granum("info", "drum.vtkhdf").stdout):
        assert " ".join(text.split()).count("none (no drum turns at the end of the run)") == 3


def test_a_number_with_its_error_has_the_digits_that_are_known():
    assert with_error(46.8374, 0.6073) == "46.84 ± 0.61"
    assert with_error(46.8374, 2.31) == "47 ± 2"
    assert with_error(0.123456, 0.00047) == "0.12346 ± 0.00047"
    assert with_error(1e5, 12.0) == "100000 ± 12"
    assert with_error(1.0, 0.0) == "1 ± 0"


def test_every_result_of_a_scene_has_its_measure():
    from typing import get_args

    kinds = get_args(get_args(Result)[0])
    assert {kind.model_fields["measure"].default for kind in kinds} == set(MEASURES) | set(FRAME_MEASURES)
