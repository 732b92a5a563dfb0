"""Numbers of the library scenes from states whose numbers are known."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest

from granum.analysis import PileShape, bulk_packing_fraction, exact_column_height, mean_and_largest_overlap, scene_results, state_hash
from granum.analysis.results import FRAME_MEASURES, MEASURES
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
    found = scene_results(scene, position, np.full(2, D / 2), np.zeros((2, 3)), 0.0)
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


def test_too_small_for_an_angle():
    found = scene_results(make_scene("pile"), np.zeros((2, 3)), np.full(2, D), np.zeros((2, 3)), 0.0)
    assert found["angle"] is None
    assert scene_results(make_scene("pile"), np.zeros((0, 3)), np.zeros(0), np.zeros((0, 3)), 0.0)["height"] is None


@pytest.mark.parametrize("speed", [0.5, -0.5])
def test_a_drum_that_does_not_turn_yet_has_no_plug_and_keeps_the_sign_of_its_angle(speed):
    """Grains on the side that will rise: the centre of mass is at atan(1) on either side of the start."""
    scene = make_scene("drum", {"count": 20, "width": 8, "length": 3, "speed": speed, "ramp": 1.0})
    side = math.copysign(2 * D, speed)  # a positive speed lifts grains towards x
    position = np.array([[side, y * D, -2 * D] for y in (-1, 0, 1)])
    before, after = (scene_results(scene, position, np.full(3, D / 2), np.zeros((3, 3)), t) for t in (0.99, 1.0))
    assert before["plug_fraction"] is None
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
    assert scene_results(plain, position, radius, still, 0.0) == {"height": D}
    asked = plain.changed(name="heap", results=["pile", {"measure": "bed", "area": 1.0}])
    assert set(scene_results(asked, position, radius, still, 0.0)) == {"height", "angle", "packing_fraction"}


def test_what_cannot_be_measured_is_none_and_no_refusal():
    """A scene that asks for the flow of a drum and has none."""
    scene = make_scene("column", count=1).changed(results=["drum"])
    found = scene_results(scene, np.array([[0, 0, D]]), np.full(1, D / 2), np.zeros((1, 3)), 0.0)
    assert found == {"height": 1.5 * D, "surface_angle": None, "centre_of_mass_angle": None, "plug_fraction": None}


def test_every_result_of_a_scene_has_its_measure():
    from typing import get_args

    kinds = get_args(get_args(Result)[0])
    assert {kind.model_fields["measure"].default for kind in kinds} == set(MEASURES) | set(FRAME_MEASURES)
