"""Smooth runs have the same bits on any number of threads: places, springs, forces, energies and counts."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from granum.contact import Material
from granum.parallel import team
from granum.scene import BoxRegion, Emitter, Grains, Gravity, Plane, Scene, Sink
from granum.scene.emitter import Disc
from granum.simulation import Simulation, make_settings
from tests.reference.periodic import in_cell
from tests.reference.scenes import D, G
from tests.reference.smooth import LAWS, everything, make


def digest(sim, reports):
    b, s = sim.bodies, sim.stepper
    held = (s.touching.pairs.kept, s.touching.rows.force, s.at_walls.now.of("spring"), s.surfaces.force, sim.contacts.impulse)
    told = [(r.contacts, r.impacts, r.max_overlap, r.elastic_energy, r.kinetic_energy, r.energy) for r in reports]
    arrays = (b.position, b.orientation, b.velocity, b.spin, *held, np.array(told), s.extent, np.array([s.fastest, s.leap]))
    return hashlib.sha256(b"".join(np.ascontiguousarray(x).tobytes() for x in arrays)).hexdigest()


def lattice(count, side):
    """(count, 3) places, speeds and diameters, close together, the lowest layer on a plane."""
    grid = np.stack(np.unravel_index(np.arange(count), (-(-count // side**2), side, side)), axis=1)[:, ::-1]
    rng = np.random.default_rng(2)
    position = D * (grid + 0.5) + 0.01 * D * rng.uniform(-1, 1, grid.shape)
    return position, 0.3 * rng.standard_normal(grid.shape), D * rng.uniform(0.95, 1.02, count)


def crowd(count=11**3, side=11, **more):
    """More grains than are summed up in one go fall on a plane, close together."""
    position, velocity, diameter = lattice(count, side)
    return make(position, velocity=velocity, diameter=diameter, walls=True, gravity=(0, 0, -G), **more)


def cell(threads):
    """Two halves of a cell without walls shear each other; contacts resist rolling."""
    position, velocity, diameter = lattice(700, 9)
    velocity[:, 0] += np.where(position[:, 2] > 4.5 * D, 0.5, -0.5)
    lengths, run = (9 * D, 9 * D, 9 * D), {"threads": threads}
    return in_cell(position, lengths, stepper="smooth", velocity=velocity, diameter=diameter, run=run, rolling_friction=0.2)


def coming_and_going(threads):
    """Grains rain on a layer, a quarter of which leaves where it lands."""
    stone = Material(name="m", density=2500, youngs_modulus=5e6, restitution=0.4, friction=0.5)
    position, velocity, diameter = lattice(400, 10)
    position[:, 2] += 2 * D
    source = Disc(centre=(5 * D, 5 * D, 9 * D), diameter=6 * D)
    scene = Scene(
        materials=[stone],
        walls=[Plane(material="m")],
        grains=[Grains(material="m", position=position, diameter=diameter, velocity=velocity)],
        emitters=[Emitter(material="m", sizes=0.9 * D, rate=900, count=60, seed=5, source=source, velocity=(0, 0, -1.0))],
        sinks=[Sink(region=BoxRegion(lower=(-1, -1, -1), upper=(5 * D, 5 * D, 1.5 * D)))],
        gravity=Gravity(acceleration=(0, 0, -G)),
    )
    run = {"stepper": {"name": "smooth"}, "time_step": 1e-4, "threads": threads, "guards": {"on_coarse": "off"}}
    return Simulation(scene, make_settings(run))


SCENES = {
    "crowd": (lambda threads: crowd(run={"threads": threads}), 150),
    "crowd, linear, rolling": (lambda threads: crowd(run={"threads": threads}, law=LAWS["linear"], rolling_friction=0.1), 60),
    "cell": (cell, 150),
    "coming and going": (coming_and_going, 600),
    "every kind of wall": (lambda threads: everything(h=1e-4, run={"threads": threads}), 900),
}


@pytest.mark.parametrize("name", SCENES)
def test_same_bits_on_any_number_of_threads(name, monkeypatch):
    monkeypatch.setattr(team, "LEAST", 1)  # every thread is woken, however little there is to do
    build, steps = SCENES[name]
    found = set()
    for threads in (1, 2, 3, 5):
        sim = build(threads)
        reports = [sim.step() for _ in range(steps)]
        assert max(report.contacts for report in reports) > 12
        assert not sim.scene.sinks or sim.taken_out > 20
        found.add(digest(sim, reports))
    assert len(found) == 1


@pytest.mark.parametrize("count", [1, 2, 255, 256, 257, 511, 512, 513, 1024])
def test_sizes_around_the_chunks_that_are_shared_out(count, monkeypatch):
    """Fewer chunks of 256 ranks than threads, as many, and one grain more."""
    monkeypatch.setattr(team, "LEAST", 1)
    found = set()
    for threads in (1, 2, 3, 5):
        sim = crowd(count, side=7, run={"threads": threads})
        found.add(digest(sim, [sim.step() for _ in range(25)]))
    assert len(found) == 1


def test_number_of_threads_may_change_from_list_to_list(monkeypatch):
    """Lists that are just long enough for one thread more, or not: the bits are those of one thread."""

    def run(threads):
        sim, reports, things, shares = crowd(700, 7, run={"threads": threads}), [], set(), set()
        for step in range(120):
            if step % 9 == 0:
                sim.stepper.neighbours.skin[:] = 0.0  # everybody is listed anew
            reports.append(sim.step())
            things.add(sim.stepper.touching.things)
            shares.add(len(sim.stepper.touching.seam.bound) - 1)
        return digest(sim, reports), sorted(things), shares

    expected, things, shares = run(1)
    assert shares == {1}
    for several in (2, 3):
        monkeypatch.setattr(team, "LEAST", things[len(things) // 2] // several)
        found, _, shares = run(3)
        assert found == expected
        assert {several - 1, several} <= shares
