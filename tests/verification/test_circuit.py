"""A roller sieve sorts: what is larger than a gap does not fall through it; and no pellet of a circuit gets lost."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from granum.scene.library import make_scene
from granum.simulation import Simulation

SMALL = {"drum_width": 8, "drum_length": 8, "speed": 3.0, "rate": 30, "belt_length": 6, "belt_speed": 0.2, "rollers": 5}
HARD = 6e9  # [Pa]


def squeezed(scene):
    """[m] by which a pellet may be larger than a gap that it is hammered through.

    The pellet that strikes it has the speed of a fall by 3 d, and of the rollers; 2/5 k delta^(5/2) at each roller takes up its energy.
    The step must be small besides: in 5 ms a pellet between rollers goes 2 mm, and few sweeps let one of 100 in by 3 %.
    """
    p, m = scene.parameters, scene.materials[0]
    r = p.sizes[1] / 2
    energy = 0.5 * m.density * 4 / 3 * np.pi * r**3 * (np.sqrt(2 * 9.81 * 3 * p.diameter) + p.roller_speed) ** 2
    modulus = m.youngs_modulus / (2 * (1 - m.poisson_ratio**2))
    k = 4 / 3 * modulus * np.sqrt(r * p.roller_radius / (r + p.roller_radius))
    return 2 * (energy / (0.8 * k)) ** 0.4


def run_and_follow(duration, **values):
    """The simulation, and of every pellet that was ever there its mass and diameter by id, and the sink that it is in or was taken by."""
    sim = Simulation(make_scene("circuit", {**SMALL, "youngs_modulus": HARD, **values}), guards={"on_coarse": "off"})
    most = len(sim.radius) + int(duration * sim.scene.parameters.rate) + 10
    mass, diameter, gap = np.zeros(most), np.zeros(most), np.full(most, -1)
    upper = np.array([sink.region.upper for sink in sim.scene.sinks])
    lower = np.array([sink.region.lower for sink in sim.scene.sinks])
    while sim.time < duration:
        sim.step()
        ids, x = sim.bodies.id, sim.position
        mass[ids], diameter[ids] = sim.bodies.mass, 2 * sim.radius
        inside = (x[:, None] > lower).all(axis=2) & (x[:, None] < upper).all(axis=2)
        new = inside.any(axis=1) & (gap[ids] < 0)
        gap[ids[new]] = inside[new].argmax(axis=1)
        started = len(sim.scene.grains[0].diameter)
        assert sim.grain_count + sim.taken_out == started + sim.emissions[0].emitted == sim.bodies.next_id
    return sim, mass[: sim.bodies.next_id], diameter[: sim.bodies.next_id], gap[: sim.bodies.next_id]


def check(sim, mass, diameter, gap):
    inside, out = sim.bodies.mass.sum(), sim.removal.mass.sum()
    assert_allclose(inside + out, mass.sum(), rtol=1e-13)  # sums of a few hundred numbers
    p = sim.scene.parameters
    assert squeezed(sim.scene) < 0.03 * p.gaps[0]
    for k, width in enumerate(p.gaps):
        assert (diameter[gap == k] <= width + squeezed(sim.scene)).all()
    gone = np.setdiff1d(np.arange(len(mass)), sim.bodies.id)
    assert (gap[gone] >= 0).all()  # nobody was taken out anywhere else
    _, y, z = sim.position.T
    assert (np.abs(y) < p.half_width).all()  # and nobody got out at the sides
    assert z.min() > p.rollers[-1][1] - 0.6


def test_a_sieve_sorts_and_nothing_is_lost():
    sim, *found = run_and_follow(3.2, seed=1)
    check(sim, *found)
    assert sim.taken_out > 10


@pytest.mark.slow
@pytest.mark.parametrize(
    "values", [{"seed": 2}, {"seed": 3, "sieve_incline": 10, "roller_width": 5, "roller_speed": 0.3}, {"diameter": 0.02}]
)
def test_other_sieves_sort_too(values):
    """After pellets have come to the end, also in order: the larger the gap, the larger what falls through it."""
    sim, mass, diameter, gap = run_and_follow(10.0, rate=50, drum_width=10, **values)
    check(sim, mass, diameter, gap)
    means = [diameter[gap == k].mean() for k in range(4) if (gap == k).sum() > 5]
    assert len(means) >= 3
    assert (np.diff(means) > 0).all()
