"""Measures of MR's experiments on shapes whose numbers are known: ridges, falling grains, collapsed heaps, towers, speed-ups."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.analysis import ContactRows, Discharge, GrainRows, Snapshot, collapse_slope, discharge_points, main_heap, ridge_angle, towers
from granum.analysis.reduction import (
    contact_overhead,
    level_of_links,
    mergeable_level,
    overhead_of,
    predicted_speed_up,
    trial_overhead,
)
from granum.contact import Material
from granum.scene.library import make_scene
from granum.scene.scene import Scene
from granum.scene.shapes import Plane

D, G = 0.01, 9.81
RNG = np.random.default_rng


def heap_points(height: float, angle: float, length: float, count: int, *, ridge: bool) -> tuple[np.ndarray, np.ndarray]:
    """Centres of grains, evenly spread below the surface of a ridge along x, or of a slope along x [m]; and their radii."""
    slope, rng = math.tan(math.radians(angle)), RNG(0)
    reach = height / slope
    across, z = rng.uniform(-reach if ridge else 0.0, reach, count), rng.uniform(D / 2, height, count)
    inside = z < height - slope * np.abs(across)
    across, z = across[inside], z[inside]
    along = rng.uniform(0, length, len(z))
    place = np.stack([along, across, z] if ridge else [across, along, z], axis=1)
    return place, np.full(len(z), D / 2)


@pytest.mark.parametrize("angle", [25.0, 41.0])
def test_flanks_of_a_ridge(angle):
    """Cells of one by two diameters hold dozens of grains, so that their highest points scatter by some per cent of a diameter."""
    place, radius = heap_points(10 * D, angle, 15 * D, 60_000, ridge=True)
    found = ridge_angle(place, radius, (2 * D, 13 * D))
    assert_allclose([found.left, found.right], angle, atol=1.0)
    assert found.mean == (found.left + found.right) / 2
    assert_allclose(found.height, 10.5 * D, atol=0.5 * D)


def test_grains_on_the_belt_are_no_flank():
    """A layer beside the ridge, directly on the belt, changes nothing."""
    place, radius = heap_points(10 * D, 41.0, 15 * D, 60_000, ridge=True)
    layer = np.stack([RNG(1).uniform(0, 15 * D, 2000), RNG(2).uniform(-30 * D, 30 * D, 2000), np.full(2000, D / 2)], axis=1)
    alone = ridge_angle(place, radius, (0, 15 * D))
    both = ridge_angle(np.concatenate([place, layer]), np.full(len(place) + 2000, D / 2), (0, 15 * D))
    assert (alone.left, alone.right) == (both.left, both.right)


def test_no_ridge_has_no_angle():
    assert math.isnan(ridge_angle(np.zeros((0, 3)), np.zeros(0), (0.0, 1.0)).mean)


@pytest.mark.parametrize("scheme", ["exact", "steps"])
def test_every_falling_grain_is_counted_once_where_it_crosses(scheme):
    """Grains thrown at random times; looked at every 20 ms, each is found once, at the place of its parabola."""
    rng, count, h, every, level = RNG(3), 500, 0.005, 4, -0.15
    start, leaves = rng.uniform(-0.1, 0.1, (count, 2)), rng.integers(0, 100, count)
    v0 = rng.uniform(-0.5, 0.5, (count, 3))
    fall = (v0[:, 2] + np.sqrt(v0[:, 2] ** 2 - 2 * G * level)) / G
    if scheme == "steps":  # z_n = h n v - g h^2 n (n + 1) / 2 : a parabola whose velocity at the start is v - g h / 2
        w = v0[:, 2] - G * h / 2
        fall = (w + np.sqrt(w**2 - 2 * G * level)) / G
    right = start + v0[:, :2] * fall[:, None]
    points = []
    for step in range(every, 200, every):
        n = np.maximum(0, step - leaves)[:, None] * h
        lag = h if scheme == "steps" else 0.0
        z = n[:, 0] * v0[:, 2] - G * n[:, 0] * (n[:, 0] + lag) / 2
        vz = v0[:, 2] - G * n[:, 0]
        place, velocity = np.column_stack([start + n * v0[:, :2], z]), np.column_stack([v0[:, :2], vz])
        points.append(discharge_points(place, velocity, level, G, every * h, time_step=lag))
    found = np.concatenate(points)
    assert len(found) == count
    order = lambda p: p[np.lexsort(p.T.round(9))]  # noqa: E731
    assert_allclose(order(found), order(right), atol=1e-9)
    discharge = Discharge(found)
    assert_allclose(discharge.centre, right.mean(axis=0), atol=1e-9)
    x, y, part = discharge.distribution(D)
    assert part.shape == (len(x) - 1, len(y) - 1)
    assert_allclose(part.sum(), 1.0)


@pytest.mark.parametrize("angle", [0.0, 20.0, 36.0])
def test_top_of_a_collapsed_heap(angle):
    """The slope over the floor it stood on; a grain that lies apart, and what ran out, do not count."""
    slope, rng = math.tan(math.radians(angle)), RNG(4)
    x, y, z = rng.uniform(0, 0.15, 20_000), rng.uniform(0, 0.15, 20_000), rng.uniform(D / 2, 0.15, 20_000)
    inside = z < 0.15 - slope * x
    place = np.concatenate([np.stack([x, y, z], axis=1)[inside], [[0.1, 0.05, 0.5]]])
    found = collapse_slope(place, np.full(len(place), D / 2), 0.15)
    assert_allclose(found.angle, angle, atol=1.0)


def test_main_heap_is_what_hangs_together():
    """A row of five, a gap of 3 % of a diameter, a row of three."""
    x = np.array([0, 1, 2, 3, 4, 5.03, 6.03, 7.03]) * D
    heap = main_heap(np.column_stack([x, 0 * x, 0 * x]), np.full(8, D / 2))
    assert heap.tolist() == [True] * 5 + [False] * 3


def test_a_tower_in_a_drum_is_seen():
    """A bed with a flat surface at 30 degrees in rigid rotation; then a column of 6 grains on it, whose tops are 0.6 to 5.6 d above."""
    scene = make_scene("drum", {"count": 1, "speed": 0.5, "size_ratio": 1.0, "diameter": D})
    R, tilt, rng = scene.parameters.drum_radius, math.radians(30), RNG(5)
    x, z = rng.uniform(-R, R, (2, 60_000))
    y = rng.uniform(-3 * D, 3 * D, 60_000)
    n = -math.sin(tilt) * x + math.cos(tilt) * z  # out of the bed, which is higher towards +x
    bed = np.stack([x, y, z], axis=1)[(np.hypot(x, z) < R - D / 2) & (n < -0.2 * R)]
    on = np.array([-math.sin(tilt), 0, math.cos(tilt)])
    column = (-0.2 * R + (0.6 + np.arange(6)[:, None]) * 0.99 * D) * on

    def look(position: np.ndarray):
        spin = np.array([0, -0.5, 0])
        s = Snapshot.build(
            scene, GrainRows(position=position, radius=np.full(len(position), D / 2), velocity=np.cross(spin, position)), time=100.0
        )
        return towers(s)

    flat, with_column = look(bed), look(np.concatenate([bed, column]))
    assert flat.above < 1.0
    assert flat.standing == 0.0
    assert_allclose(flat.steepest, 30.0, atol=3.0)
    assert_allclose(with_column.above, 5.6, atol=0.3)  # centres are half a diameter lower than tops, the mean surface a little lower
    assert_allclose(with_column.standing * (len(bed) + 6), 4, atol=1e-6)


def test_speed_up_of_the_model():
    """MR (39), (40): no reduction and no overhead give 1; the numbers that MR reads from its Fig. 14."""
    assert predicted_speed_up(0.0, 0.0) == 1.0
    assert_allclose(predicted_speed_up(0.7, 0.0), 0.3 ** (-4 / 3))  # 'a factor 5 even at h = 0.7'
    assert 4.5 < predicted_speed_up(0.7, 0.01) < 5.0
    assert 30 < predicted_speed_up(0.95, 0.01) < 50
    assert_allclose(contact_overhead([1, 8, 1000], 0.5), [0.5, 0.25, 0.05])
    assert_allclose(trial_overhead(0.5, 4.0), 0.5 ** (4 / 3) / 4)  # 'about 0.1'
    assert_allclose(overhead_of(0.8, predicted_speed_up(0.8, 0.03)), 0.03)


def test_level_counts_what_is_left():
    """Ten grains: three joined, two joined to a wall, one joined to these; five bodies are left."""
    a, b = np.array([0, 1, 3, 4, 5]), np.array([1, 2, -1, -2, 4])
    assert_allclose(level_of_links(10, a, b), 1 - 5 / 10)
    assert level_of_links(3, a[:0], b[:0]) == 0.0


def test_grains_that_move_as_one_could_merge():
    """A row of four on a floor: at rest all merge with it; one that spins, slides, or was just stopped does not."""
    scene = Scene(materials=(Material(name="glass"),), walls=(Plane(material="glass"),))
    place = np.column_stack([np.arange(4) * D, np.zeros(4), np.full(4, D / 2)])
    a, b = np.array([0, 1, 2, 0, 1, 2, 3]), np.array([1, 2, 3, -1, -1, -1, -1])
    normal = np.array([[1, 0, 0]] * 3 + [[0, 0, -1]] * 4)

    def state(time: float, **moves):
        grains = GrainRows(position=place, radius=np.full(4, D / 2), **moves)
        return Snapshot.build(scene, grains, ContactRows(a=a, b=b, normal=normal), time=time)

    slides = np.array([[0, 0, 0]] * 3 + [[0.01, 0, 0]])
    spins = np.array([[0, 0, 0]] * 3 + [[0, 0, 1.0]])
    assert mergeable_level(state(0.0), state(0.005)) == 1.0
    assert mergeable_level(state(0.0, velocity=slides), state(0.005, velocity=slides)) == 0.75
    assert mergeable_level(state(0.0, spin=spins), state(0.005, spin=spins)) == 0.75
    hit = np.array([[0, 0, 0]] * 3 + [[-0.1, 0, 0]])  # at rest now, but stopped within the step: faster than 5 m/s^2
    assert mergeable_level(state(0.0, velocity=hit), state(0.005)) == 0.75
