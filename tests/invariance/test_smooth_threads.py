"""Smooth runs have the same bits on any number of threads: places, springs, forces, energies and counts."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from granum.parallel import team
from tests.reference.scenes import D, G
from tests.reference.smooth import LAWS, everything, make


def digest(sim, reports):
    b, s = sim.bodies, sim.stepper
    held = (s.touching.pairs.spring, s.touching.rows.force, s.at_walls.now.of("spring"), s.surfaces.force, sim.contacts.impulse)
    told = [(r.contacts, r.impacts, r.max_overlap, r.elastic_energy, r.kinetic_energy, r.energy) for r in reports]
    arrays = (b.position, b.orientation, b.velocity, b.spin, *held, np.array(told), s.extent, np.array([s.fastest, s.leap]))
    return hashlib.sha256(b"".join(np.ascontiguousarray(x).tobytes() for x in arrays)).hexdigest()


def crowd(**more):
    """More grains than are summed up in one go fall on a plane, close together."""
    side = 11
    grid = np.stack(np.unravel_index(np.arange(side**3), (side, side, side)), axis=1)
    rng = np.random.default_rng(2)
    position = D * (grid + 0.5) + 0.01 * D * rng.uniform(-1, 1, grid.shape)
    velocity = 0.3 * rng.standard_normal(grid.shape)
    return make(position, velocity=velocity, diameter=D * rng.uniform(0.95, 1.02, side**3), walls=True, gravity=(0, 0, -G), **more)


SCENES = {
    "crowd": (lambda threads: crowd(run={"threads": threads}), 150),
    "crowd, linear, rolling": (lambda threads: crowd(run={"threads": threads}, law=LAWS["linear"], rolling_friction=0.1), 60),
    "every kind of wall": (lambda threads: everything(h=1e-4, run={"threads": threads}), 900),
}


@pytest.mark.parametrize("several", [(1, 3), pytest.param((1, 2, 5), marks=pytest.mark.slow)], ids=str)
@pytest.mark.parametrize("name", SCENES)
def test_same_bits_on_any_number_of_threads(name, several, monkeypatch):
    monkeypatch.setattr(team, "LEAST", 1)  # every thread is woken, however little there is to do
    build, steps = SCENES[name]
    found = set()
    for threads in several:
        sim = build(threads)
        reports = [sim.step() for _ in range(steps)]
        assert max(report.contacts for report in reports) > 12
        found.add(digest(sim, reports))
    assert len(found) == 1
