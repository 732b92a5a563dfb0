"""A hopper that is filled from above and empties into a sink: nothing is lost, whichever way it is run."""

from __future__ import annotations

import copy
import hashlib

import numpy as np
import pytest

from granum.io import read_checkpoint, write_checkpoint
from granum.parallel import team
from granum.scene import Cell
from granum.simulation import Simulation
from tests.reference.hopper import hopper

SLOW_SMOOTH = ["nonsmooth", pytest.param("smooth", marks=pytest.mark.slow)]
END = 0.3  # [s]


def digest(sim):
    """Of all bits that a run leaves behind."""
    state, c = hashlib.sha256(), sim.contacts
    b = sim.bodies
    arrays = (b.position, b.velocity, b.spin, b.orientation, b.id, c.a, c.b, c.normal, c.overlap, c.impulse, sim.removal.count)
    for array in (*arrays, sim.removal.mass, np.array([sim.ledger.brought, sim.guard.unexplained, sim.report.energy])):
        state.update(np.ascontiguousarray(array).tobytes())
    return state.hexdigest()


@pytest.mark.parametrize("stepper", SLOW_SMOOTH)
def test_mass_in_is_mass_inside_and_mass_out(stepper):
    """At every step, to the rounding of the sums; every grain is inside or has been counted, and none is there twice."""
    sim = hopper(stepper)
    mass = np.zeros(80)
    while sim.time < END:
        sim.step()
        mass[sim.bodies.id] = sim.bodies.mass
        emitted = sim.emissions[0].emitted
        assert sim.grain_count + sim.taken_out == emitted == sim.bodies.next_id
        assert len(np.unique(sim.bodies.id)) == sim.grain_count
        inside, out = sim.bodies.mass.sum(), sim.removal.mass[0]
        assert abs(mass[:emitted].sum() - inside - out) <= 100 * np.finfo(float).eps * mass.sum()
        assert abs(sim.guard.mass - inside) <= 100 * np.finfo(float).eps * inside
    assert sim.taken_out > 40
    assert sim.grain_count > 10
    assert sim.position[:, 2].min() > -0.2  # nobody got through


@pytest.mark.parametrize("stepper", SLOW_SMOOTH)
def test_restart_across_removals_is_bit_equal(stepper, tmp_path):
    """Stopped while grains wait in the sink, just before and just after they leave, and through a file."""
    sim = hopper(stepper)
    twins, waited = [], False
    while sim.time < END:
        waits, out = len(sim.removal.checkpoint()["waiting"]) > 0, sim.taken_out
        if waits and not waited:
            twins.append(copy.deepcopy(sim.checkpoint()))
        waited = waits
        sim.step()
        if sim.taken_out > out and len(twins) < 4:
            twins.append(copy.deepcopy(sim.checkpoint()))
    assert len(twins) > 4
    write_checkpoint(tmp_path / "c.h5", twins[0])
    chosen = [read_checkpoint(tmp_path / "c.h5"), *twins[1:3], twins[-1]]
    for saved in chosen[:2] if stepper == "smooth" else chosen:
        twin = Simulation.restore(sim.scene, sim.settings, saved)
        while twin.step_count < sim.step_count:
            twin.step()
        assert digest(twin) == digest(sim)


def test_threads_are_bit_equal_across_removals(monkeypatch):
    monkeypatch.setattr(team, "LEAST", 1)  # wake every thread, however little there is to do
    found = []
    for threads in (1, 2):
        sim = hopper(threads=threads)
        while sim.time < END:
            sim.step()
        assert sim.taken_out > 40
        found.append(digest(sim))
    assert found[0] == found[1]


@pytest.mark.slow
def test_a_sink_in_a_cell_takes_grains_that_ran_on():
    """In a cell that repeats along x positions run on; a sink is where it stands in the cell."""
    sim = hopper(
        count=10,
        walls=[],
        cell=Cell(vectors=[[0.1]]),
        sinks=[],
        gravity={"acceleration": (0, 0, 0)},
        emitters=[],
        grains=[
            {"material": "stone", "position": [[0.05, 0, 0], [0.05, 0.05, 0]], "diameter": 0.005, "velocity": [[1, 0, 0], [1, 0, 0]]},
        ],
    )
    scene = sim.scene.changed(sinks=[{"region": {"shape": "ball", "centre": (0.02, 0, 0), "radius": 0.01}}])
    sim = Simulation(scene, sim.settings)
    while sim.time < 0.1:
        sim.step()
    assert sim.bodies.id.tolist() == [1]
