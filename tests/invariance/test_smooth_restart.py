"""A smooth run that is stopped and restored goes on with the same bits; so does the same run, twice."""

from __future__ import annotations

import copy
import hashlib

import numpy as np
import pytest

from granum.io import read_checkpoint, write_checkpoint
from granum.simulation import Simulation
from tests.reference.smooth import LAWS, everything

KINDS = {
    "verlet": {},
    "euler": {"integrator": "euler"},
    "linear": {"law": LAWS["linear"]},
    "without rolling": {"rolling_friction": 0.0},
    "dissipation": {"damping": "dissipation"},
}


def digest(sim):
    """sha256 of the bodies, walls included, of all springs and forces, and of the work done."""
    b, s, c = sim.bodies, sim.stepper, sim.contacts
    held = (s.touching.spring, s.touching.pairs.touched, s.at_walls.now.of("spring"), s.touching.rows.force, s.surfaces.force)
    arrays = (b.position, b.orientation, b.velocity, b.spin, *held, c.normal_force, c.overlap)
    numbers = np.array([s.ledger.brought, sim.time, sim.grain_count])
    return hashlib.sha256(b"".join(np.ascontiguousarray(x).tobytes() for x in (*arrays, numbers))).hexdigest()


@pytest.mark.parametrize("kind, through", [("verlet", "file"), *((kind, "memory") for kind in KINDS if kind != "verlet")])
def test_restart_goes_on_with_the_same_bits(kind, through, tmp_path):
    """Stopped before the first step, while grains rain in, and when they lie: on every kind of wall, with a free plate."""
    sim = everything(h=1e-4, **KINDS[kind])
    twins, met = [], set()
    for stop in (0, 1, 420, 1000, 1400):
        while sim.step_count < stop:
            sim.step()
            met.update(sim.stepper.at_walls.now.of("b").tolist())
        saved = copy.deepcopy(sim.checkpoint())
        if through == "file":
            write_checkpoint(tmp_path / "run.checkpoint.h5", saved)
            saved = read_checkpoint(tmp_path / "run.checkpoint.h5")
        twins.append(Simulation.restore(sim.scene, sim.settings, saved))
        assert digest(twins[-1]) == digest(sim)
        assert digest(Simulation.restore(sim.scene, sim.settings, twins[-1].checkpoint())) == digest(sim)  # at once again
    met.discard(-7)  # the plate
    assert met >= {-6, -5, -4, -2}  # drum, box, mesh, belt
    for twin in twins[-2:] if through == "memory" else twins:
        while twin.step_count < 1400:
            twin.step()
        assert digest(twin) == digest(sim)
    assert sim.contacts.contact_count > 10


def test_same_input_gives_the_same_bits():
    runs = []
    for _ in range(2):
        sim = everything(h=1e-4)
        while sim.step_count < 1200:
            sim.step()
        runs.append(digest(sim))
    assert runs[0] == runs[1]


def test_restored_run_leaves_the_other_alone():
    """A checkpoint shows the run's own arrays; what is restored from it has arrays of its own."""
    sim = everything(h=1e-4)
    while sim.step_count < 400:
        sim.step()
    before = digest(sim)
    twin = Simulation.restore(sim.scene, sim.settings, sim.checkpoint())
    for _ in range(50):
        twin.step()
    assert digest(sim) == before
    while sim.step_count < 450:
        sim.step()
    assert digest(twin) == digest(sim)
