"""Room that the search for contacts and the contact problem use one after the other.

Guaranteed: it changes no bits whether they share it or not, and a run holds no more bytes than the arrays that must live at one time.
"""

from __future__ import annotations

import numpy as np
import pytest

from granum import Body, Box, Grains, Material, Scene, Simulation, make_scene
from granum.analysis.results import state_hash
from granum.bench.settled import GUARDS_OFF
from granum.bench.timing import memory
from granum.nonsmooth import PGS
from granum.state import rooms

D = 0.01
ACROSS = 20
# Numbers of 8 bytes that live at one time, of a contact: its arrays (a, b and feature have half a number), of 18 fields of rows
# with two slots and a place, two slots and a lane, and what the law gives. Impulses of the iterate before are in the contact's own.
OF_CONTACT = 3 * 0.5 + 3 + 1 + 7 + 1 + 1 + 18 + 3 * 0.5 + 3 * 0.5 + 4
# Of a grain: its body and its shape; packed, before and after; where it was listed, cells and ranks; its contacts, of pairs and walls.
OF_GRAIN = 3 + 4 + 3 + 3 + 1 + 1 + 1 + 0.5 + 0.5 + 1 + 8 + 6 + 4 + 5 * 0.5 + 1 + 4 * 0.5 + 2
OF_CANDIDATE = 0.5
SPARE = 1.05
FEW = 1024 * (3 * 0.5 + 14)  # contacts more than there are: whoever works in their room has empty lanes, too


def bed() -> Simulation:
    """Grains at rest on a lattice, which just touch: 8000 of them with three contacts each."""
    along = D * (0.5 + np.arange(ACROSS)) * (1 - 1e-5)
    position = np.stack(np.meshgrid(along, along, along, indexing="ij"), axis=-1).reshape(-1, 3)
    material = Material(name="m", youngs_modulus=1e8, rolling_friction=0.1)
    grains = Grains(material="m", position=position, diameter=np.full(len(position), D))
    side = ACROSS * D
    box = Box(material="m", lower=(0.0, 0.0, 0.0), upper=(side, side, 2 * side), open=("+z",))
    scene = Scene(materials=(material,), grains=(grains,), bodies=(Body(name="box", walls=(box,)),))
    return Simulation(scene, stepper={"solver": PGS(iterations=5)}, guards=GUARDS_OFF, time_step=1e-3)


def test_a_bed_holds_what_must_live_at_one_time():
    sim = bed()
    for _ in range(3):
        sim.step()
    count, near = sim.nonsmooth.detector.contacts.contact_count, sim.nonsmooth.detector.neighbours
    assert count > 2.8 * sim.grain_count
    numbers = OF_CONTACT * count + OF_GRAIN * sim.grain_count + OF_CANDIDATE * near.candidate_first[-1]
    assert memory(sim) <= 8 * (SPARE * numbers + FEW)


def test_room_that_only_impacts_need_is_given_back():
    sim = bed()
    sim.step()
    held = memory(sim)
    sim.velocity[:, 2] = np.random.default_rng(1).normal(0.0, 0.5, sim.grain_count)
    sim.step()
    assert sim.report.impacts > 0
    assert memory(sim) > held  # they reach much, so that it is kept for the next step
    sim.velocity[:] = 0.0
    for _ in range(200):
        sim.step()
        sim.velocity[:] *= 0.5
        if not sim.report.impacts:
            break
    assert sim.report.impacts == 0
    assert memory(sim) < 1.1 * held


@pytest.mark.parametrize("name", ["collapse", "drum", "conveyor"])
@pytest.mark.parametrize("shared", [1, 10**9])
def test_same_bits_whether_it_is_shared_or_not(monkeypatch, name, shared):
    """Collisions, new neighbour lists, and walls that turn and run are there."""

    def end(threshold: int) -> str:
        monkeypatch.setattr(rooms, "SHARED", threshold)
        sim = Simulation(make_scene(name, {"count": 300}), guards=GUARDS_OFF)
        for _ in range(120):
            sim.step()
        return state_hash(sim.position, sim.orientation, sim.velocity, sim.spin)

    assert end(shared) == end(30_000)
