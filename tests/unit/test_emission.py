"""Emitters place grains where nothing is, in the numbers asked for, and what they emit settles."""

from __future__ import annotations

import numpy as np
import pytest

from granum.contact import Material
from granum.scene import Box, BoxSource, Disc, Discrete, Emitter, LogNormal, Plane, Rectangle, Scene, Uniform
from granum.simulation import Simulation, make_settings

STONE = Material(name="stone", density=2500, youngs_modulus=1e7, restitution=0.3, friction=0.5, rolling_friction=0.1)
SIZES = {
    "mono": Discrete(diameters=(0.01,)),
    "bi": Discrete(diameters=(0.01, 0.014), fractions=(2, 1)),
    "poly": LogNormal(median=0.01, sigma=0.3, lower=0.006, upper=0.016),
    "wide": Uniform(lower=0.002, upper=0.02),
}
SOURCES = {
    "disc": Disc(centre=(0, 0, 0.1), diameter=0.06),
    "rectangle": Rectangle(corner=(-0.05, -0.05, 0.1), edge_u=(0.1, 0, 0), edge_v=(0, 0.1, 0)),
    "box": BoxSource(lower=(-0.05, -0.05, 0.08), upper=(0.05, 0.05, 0.12)),  # as wide as its container: no place at the sides is free
}


def make(sizes, source, count=60):
    box = Box(material="stone", lower=(-0.05, -0.05, 0), upper=(0.05, 0.05, 0.2), open=("+z",))
    emitter = Emitter(material="stone", sizes=SIZES[sizes], source=SOURCES[source], rate=400, count=count, velocity=(0, 0, -0.5), seed=3)
    scene = Scene(materials=[STONE], walls=[box], emitters=[emitter])
    # one test emits by hand, behind the back of the energy guard
    return Simulation(scene, make_settings({"time_step": 0.001, "guards": {"on_energy": "off"}}))


def gap(sim, new):
    """Smallest distance of the last ``new`` grains to any other grain's surface, and to the container [m]."""
    x, r = sim.position, sim.radius
    distance = np.linalg.norm(x[-new:, None] - x[None], axis=2) - r[-new:, None] - r[None]
    distance[np.arange(new), len(x) - new + np.arange(new)] = np.inf
    wall = 0.05 - np.abs(x[-new:, :2]).max(axis=1) - r[-new:]
    return distance.min(), wall.min()


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("sizes", SIZES)
def test_a_new_grain_touches_nothing(sizes, source):
    sim = make(sizes, source)
    seen = 0
    while seen < 60 and sim.step_count < 2000:
        emission = sim.emissions[0]
        count = emission.emit(sim.bodies, sim.stepper.walls, sim.time)
        if count:
            assert min(gap(sim, count)) >= -1e-15  # the rounding of a sum of two radii
        seen += count
        sim.step()
        seen = sim.emissions[0].emitted
    assert sim.grain_count == 60


@pytest.mark.parametrize("sizes", SIZES)
def test_what_is_emitted_settles_in_its_box(sizes):
    """After a second at rest: slow grains, no deep overlap, all inside the container."""
    sim = make(sizes, "disc")
    sim.run(1.5)
    assert sim.grain_count == 60
    assert np.sqrt((sim.velocity**2).sum(axis=1)).mean() < 0.01
    assert sim.report.max_overlap < 0.05 * 2 * sim.radius.min()
    assert np.abs(sim.position[:, :2]).max() < 0.05
    assert sim.position[:, 2].min() > 0


def test_a_source_between_walls_too_narrow_emits_nothing():
    walls = [Plane(material="stone"), Plane(material="stone", point=(0, 0, 0.008), normal=(0, 0, -1))]
    emitter = Emitter(material="stone", sizes=0.01, source=Disc(centre=(0, 0, 0.004), diameter=0.05), count=5)
    sim = Simulation(Scene(materials=[STONE], walls=walls, emitters=[emitter]), make_settings({"time_step": 0.001}))
    sim.run(0.01)
    assert sim.grain_count == 0


def test_numbers_follow_the_rate():
    sim = make("mono", "disc", count=40)
    sim.run(0.05)
    assert sim.grain_count == pytest.approx(0.05 * 400, abs=1)
    sim.run(0.2)
    assert sim.grain_count == 40
