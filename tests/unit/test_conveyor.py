"""The conveyor and the collapse: geometry, what moves where, and the measures of their recordings."""

from __future__ import annotations

import json
import math

import h5py
import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.checks import InputError
from granum.scene.library import make_scene
from granum.simulation import Simulation, make_settings

FAST = {"length": 34.0, "rate": 1000.0, "speed": 0.25}  # a ridge 5.6 d high on a short belt


def test_sensors_follow_the_slope_and_take_in_what_falls():
    """All above a slope of 41 degrees that ends at the belt's edge lies in a sensor, down to the sink; the ridge behind does not."""
    scene = make_scene("conveyor")
    p, d = scene.parameters, scene.parameters.diameter

    def sensed(x: float, z: float) -> bool:
        return any(all(lo <= v <= hi for lo, v, hi in zip(s.lower, (x, 0.0, z), s.upper, strict=True)) for s in scene.sensors)

    slope = math.tan(math.radians(41))
    for z in np.linspace(0, p.ridge_height, 50):
        assert sensed(p.length - z / slope, z)
        assert not sensed(p.length - z / slope - 4 * d, z)
    assert sensed(p.length + 5 * d, -20 * d)
    assert not sensed(p.middle[0], p.ridge_height)
    sink = scene.sinks[0].region
    assert sink.upper[2] < p.counted < 0


def test_a_ridge_holds_what_is_fed():
    """Its cross-section is rate x volume / (solid fraction x speed); MR's is about 10 d high."""
    p = make_scene("conveyor").parameters
    area = p.ridge_height**2 / math.tan(math.radians(41))
    assert_allclose(area, 1000 * math.pi / 6 * 0.01**3 / (0.58 * 0.1), rtol=1e-12)
    assert 8 < p.ridge_height / p.diameter < 11


@pytest.mark.parametrize("values", [{"drop": 0.05}, {"length": 20}, {"speed": 0.0}, {"rate": -1.0}, {"length": math.nan}])
def test_bad_conveyors_are_refused(values):
    with pytest.raises(InputError):
        make_scene("conveyor", values)


@pytest.mark.parametrize("values", [{"count": 0}, {"width": 2}, {"size_ratio": 0.5}, {"settle": -1}])
def test_bad_collapses_are_refused(values):
    with pytest.raises(InputError):
        make_scene("collapse", values)


def test_belt_carries_the_ridge_to_the_sink(granum):
    """What lies on the belt moves with it, nothing gets lost at its sides or back, and all that is gone went into the sink."""
    done = json.loads(
        granum(
            "run",
            "conveyor",
            *(f"--set={k}={v}" for k, v in FAST.items()),
            "--duration",
            2.4,
            "--every",
            0.02,
            "--iterations",
            20,
            "--json",
            "--no-picture",
        ).stdout
    )
    found = json.loads(granum("analyse", "conveyor.vtkhdf", "ridge", "discharge", "--json").stdout)["metrics"]
    assert done["results"]["angle"] == pytest.approx(found["ridge"]["angle"])
    # A triangle has tan(angle) = mean height / mean distance from its middle; pellets that hardly roll stand at about 40 degrees.
    with h5py.File("conveyor.vtkhdf") as file:
        count = file["VTKHDF/NumberOfPoints"][-1]
        x = file["VTKHDF/Points"][-count:]
    ridge = x[(x[:, 0] > 0.12) & (x[:, 0] < 0.30) & (x[:, 2] > 0)]
    assert math.degrees(math.atan(ridge[:, 2].mean() / np.abs(ridge[:, 1]).mean())) == pytest.approx(40, abs=4)
    d, discharge = 0.01, found["discharge"]
    assert discharge["grains"] > 100
    assert 0 < discharge["centre_x"] - 34 * d < 10 * d
    assert abs(discharge["centre_y"]) < 1.5 * d
    assert len(discharge["points"]["x"]) == discharge["grains"]


def test_grains_on_the_belt_stay_on_it():
    """Grains that lie on the belt move with it: their way in 0.2 s is the belt's, in the median of some 50.

    Single grains roll or are pushed, so their speeds scatter by 5 %. The median of the ways scatters by 5e-5 m/s from run to run (ten runs
    nudged by 1e-12 d) around 1e-4 m/s above the belt's speed, as far as 20 sweeps leave it: 5 of these are allowed on top of that.
    """
    scene = make_scene("conveyor", FAST)
    sim = Simulation(scene, make_settings(scene.run, {"stepper": {"solver": {"iterations": 20}}, "guards": {"on_lost": "stop"}})).run(0.8)
    before = dict(zip(sim.bodies.id.tolist(), sim.position[:, 0].copy(), strict=True))
    sim.run(0.2)
    x, d = sim.position, 0.01
    on_belt = np.unique(sim.contacts.a[sim.contacts.b == -1])
    on_belt = on_belt[(x[on_belt, 0] > 20 * d) & (x[on_belt, 0] < 26 * d)]
    way = [x[row, 0] - before[int(sim.bodies.id[row])] for row in on_belt if int(sim.bodies.id[row]) in before]
    assert len(way) > 30
    assert_allclose(np.median(way) / 0.2, 0.25, atol=1e-4 + 5 * 5e-5)
    assert x[:, 0].min() > 0.4 * d  # the wall at the back
    on = x[:, 2] > 0
    assert np.abs(x[on, 1]).max() < scene.parameters.half_width


def test_a_cube_stands_until_its_front_is_lifted():
    """Before the lift the front holds all grains; half a second later they have run out over the floor."""
    scene = make_scene("collapse", {"count": 300, "width": 6.0, "settle": 0.3})
    sim = Simulation(scene, make_settings(scene.run, {"stepper": {"solver": {"iterations": 30}}}))
    p = scene.parameters
    sim.run(p.lift - 0.02)
    assert sim.grain_count == 300
    assert sim.position[:, 0].max() < p.width
    height = sim.position[:, 2].max()
    sim.run(0.5)
    assert sim.position[:, 0].max() > p.width + 2 * p.diameter
    assert sim.position[:, 2].max() < height
    assert sim.position[:, 0].min() > 0
