"""Bodies that touch each other: the same bits for any number of threads, after a restart, and of a problem that was taken apart."""

from __future__ import annotations

import copy
import hashlib

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from granum.io import read_checkpoint, write_checkpoint
from granum.nonsmooth import PGS
from granum.nonsmooth.rebuild import put_together, take_apart
from granum.parallel import team
from granum.scene import Body, Box, Grains, Motion
from granum.simulation import Simulation
from tests.reference.blocks import block, blocks, cube_mesh, run

L = 0.1


@pytest.fixture
def all_threads(monkeypatch):
    """Wake every thread, however little there is to do."""
    monkeypatch.setattr(team, "LEAST", 1)


def heap(threads=1):
    """Boxes and cubes of triangles that fall on each other, among grains, in a box that shakes."""
    rng = np.random.default_rng(2)
    bodies = []
    for k in range(10):
        wall = cube_mesh(0.8 * L) if k % 3 == 2 else None
        place = (*(0.5 * L * rng.uniform(-1, 1, 2)), L * (0.8 + 1.3 * k))
        moving = {"velocity": (0, 0, -3.0), "spin": tuple(3 * rng.normal(size=3)), "orientation": tuple(rng.normal(size=4))}
        bodies.append(block(L * rng.uniform(0.6, 1.1, 3), place, f"block {k}", wall, **moving))
    walls = [Box(material="m", lower=(-1.5 * L, -1.5 * L, 0), upper=(1.5 * L, 1.5 * L, 30 * L), open=("+z",))]
    tray = Body(name="tray", kind="kinematic", motion=Motion(amplitude=(0.002, 0, 0.001), frequency=4.0), walls=walls)
    grid = np.array([(x, y) for x in range(5) for y in range(5)]) * 0.5 * L - L
    grains = Grains(material="m", position=np.column_stack([grid, np.full(len(grid), 0.11 * L)]), diameter=0.2 * L)
    given = {"threads": threads, "guards": {"on_coarse": "off", "on_overlap": "off"}}
    return blocks([tray, *bodies], walls=(), restitution=0.2, grains=[grains], **given)


def digest(sim):
    """Of all bits that a run leaves behind."""
    b, c = sim.bodies, sim.nonsmooth.detector.contacts
    arrays = (b.position, b.orientation, b.velocity, b.spin, *c.every, c.body_points)
    return hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()


def test_the_same_bits_for_any_number_of_threads(all_threads):
    """For the first 10 steps, and for 30 at two moments later: while bodies fall on each other, and at rest."""
    begun, found = heap(), {}
    for moment in (0, 200, 470):
        saved = run(begun, moment - begun.step_count).checkpoint()
        for threads in (1, 2, 3):
            settings = begun.settings.model_copy(update={"threads": threads})
            sim = Simulation.restore(begun.scene, settings, copy.deepcopy(saved))
            found.setdefault(moment, set()).add(digest(run(sim, 30 if moment else 10)))
    assert len(sim.body_contacts) > 10
    assert [len(digests) for digests in found.values()] == [1, 1, 1]


def test_a_restart_goes_on_with_the_same_bits(tmp_path):
    """From a checkpoint in memory and from one in a file, in the middle of impacts and at rest."""
    sim = heap()
    for step in range(500):
        if step in (220, 450):
            write_checkpoint(tmp_path / f"{step}.h5", {"simulation": sim.checkpoint()})
            again = Simulation.restore(sim.scene, sim.settings, copy.deepcopy(sim.checkpoint()))
            from_file = Simulation.restore(sim.scene, sim.settings, read_checkpoint(tmp_path / f"{step}.h5")["simulation"])
            assert len(again.body_contacts) == len(sim.body_contacts) > 3
        sim.step()
        if step >= 220:
            again.step()
            from_file.step()
            assert digest(again) == digest(from_file) == digest(sim)


def test_a_problem_that_was_put_together_again_is_solved_with_the_same_bits():
    sim, problems = heap(), []
    sim.nonsmooth.before_solve = lambda problem: problems.append(take_apart(problem))
    run(sim, 500)
    parts = problems[-1]
    one, two = put_together(parts), put_together(take_apart(put_together(parts)))
    for problem in (one, two):
        PGS(iterations=30).solve(problem)
    assert len(parts.lever) > 20
    assert_array_equal(one.packed.body, two.packed.body)
    assert one.residual().max() < 1e-2
