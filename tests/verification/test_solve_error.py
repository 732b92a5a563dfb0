"""The estimated error of a solve against its true one: the distance to the solution, by solves of 20 000 sweeps from the same start."""

from __future__ import annotations

import math

import h5py
import numpy as np
import pytest

from granum import PGS, Grains, Material, Plane, Scene, Simulation, restart, run
from granum._jit import kernel
from granum.kernel_groups import call
from granum.nonsmooth.accuracy import scale
from granum.nonsmooth.blocks import BODY, INV_MASS
from granum.nonsmooth.groups import ContactBlocks, Met
from granum.nonsmooth.kinds.every import add_step_sums
from granum.scene.library import make_scene

CLAIM = 0.05  # over the number of sweeps: what they can claim; there the estimate is a bound
FACTOR = 3.0
ASKED = (0.1, 0.03, 0.01, 0.003)


def heavy_on_light():
    """A ball of six hundred times the mass of those of the column below it."""
    stuff = {"youngs_modulus": 1e8, "restitution": 0.2, "friction": 0.5}
    light, heavy = Material(name="light", density=500, **stuff), Material(name="heavy", density=5000, **stuff)
    column = Grains(material="light", position=[[0, 0, 0.005 + 0.01 * k] for k in range(10)], diameter=0.01)
    ball = Grains(material="heavy", position=[[0, 0, 0.12]], diameter=0.04)
    return Scene(materials=[light, heavy], walls=[Plane(material="light")], grains=[column, ball])


SCENES = {
    "column": (lambda: make_scene("column", {"count": 40}), 0.01, 0.6),
    "heavy on light": (heavy_on_light, 0.02, 0.6),
    "box": (lambda: make_scene("box", {"count": 200}), 0.1, 1.5),
    "pile": (lambda: make_scene("pile", {"count": 300}), 0.2, 1.5),
    "silo": (lambda: make_scene("silo", {"count": 500}), 0.1, 1.0),
    "discharge": (lambda: make_scene("silo", {"count": 500, "outlet": 3.5, "settle": 0.3}), 0.3, 1.0),
    "collapse": (lambda: make_scene("collapse", {"count": 1000}), 0.02, 0.6),
    "conveyor": (lambda: make_scene("conveyor", {"length": 40.0}), 0.3, 1.0),
    "drum": (lambda: make_scene("drum", {"count": 1200, "width": 22.0, "length": 5.0}), 0.3, 1.0),
    "stiff box": (lambda: make_scene("box", {"count": 600, "youngs_modulus": 6e10}), 0.05, 1.2),
    "rough box": (lambda: make_scene("box", {"count": 600, "friction": 1.2, "diameter": 0.004}), 0.1, 1.2),
    "sheared cell": (lambda: make_scene("shear-cell", {"count": 200}), 0.2, 0.8),
}
FOUND_WITH = tuple(SCENES)
"""With these the estimate was found; the others have been tried on it since."""
SCENES |= {
    "wide silo": (lambda: make_scene("silo", {"count": 900, "width": 9.0, "seed": 5}), 0.2, 1.2),
    "fine pile": (lambda: make_scene("pile", {"count": 300, "diameter": 0.003, "rolling_friction": 0.05, "seed": 3}), 0.2, 0.9),
    "sawtooth drum": (lambda: make_scene("drum", {"kind": "sawtooth", "count": 800}), 0.2, 0.8),
    "soft box": (lambda: make_scene("box", {"count": 500, "youngs_modulus": 3e5, "seed": 9}), 0.1, 1.0),
    "stiff collapse": (lambda: make_scene("collapse", {"count": 700, "stiffness": 1e5, "seed": 2}), 0.02, 0.5),
    "tall column": (lambda: make_scene("column", {"count": 150}), 0.01, 0.5),
}
FAST = ("column", "heavy on light", "box", "pile", "tall column")


def shares_within(name):
    """(solves,) whether the estimate is within the factor of the true error, of some steps on the way and each accuracy."""
    make, begin, end = SCENES[name]
    sim = Simulation(make(), guards={"on_coarse": "off"})
    every = max(1, round((end - begin) / sim.time_step / 16))
    good = []

    def look(problem):
        if sim.time < begin or sim.step_count % every or not problem.contact_count:
            return
        packed, data = problem.packed, problem.blocks.data
        start, impulses = packed.body.copy(), data.copy()
        slots = packed.body[: packed.first_full * BODY].reshape(-1, BODY)
        mass = np.divide(1.0, slots[:, INV_MASS], out=np.zeros(len(slots)), where=slots[:, INV_MASS] > 0)

        def solved(solver):
            packed.body[:], data[:] = start, impulses
            report = solver.solve(problem)
            return slots[:, :6].copy(), report.error / problem.scale, report.iterations

        right, *_ = solved(PGS(iterations=20_000, tolerance=1e-4 * problem.accuracy))
        for accuracy in ASKED:
            found, estimated, sweeps = solved(PGS(accuracy=accuracy))
            off = (found - right) ** 2
            true = math.sqrt((mass * (off[:, :3].sum(axis=1) + 0.4 * off[:, 3:].sum(axis=1))).sum() / mass.sum()) / problem.scale
            bound = estimated <= (1 + 1e-9) * CLAIM / sweeps
            good.append(true <= FACTOR * estimated and (bound or estimated <= FACTOR * true))
        packed.body[:], data[:] = start, impulses

    sim.nonsmooth.before_solve = look
    sim.run(end)
    return np.array(good)


@pytest.mark.parametrize("name", FAST)
def test_the_estimated_error_is_near_the_true_one(name):
    """Within a factor of three in nine of ten solves."""
    good = shares_within(name)
    assert len(good) >= 40
    assert good.mean() >= 0.85


@pytest.mark.slow
def test_the_estimated_error_is_near_the_true_one_in_nine_of_ten_solves():
    """Of all scenes alike, those with which it was not found too (96 and 91 of 100); in no scene in fewer than three of four."""
    shares = {name: shares_within(name).mean() for name in SCENES}
    assert min(shares.values()) >= 0.75
    for names in (FOUND_WITH, [name for name in SCENES if name not in FOUND_WITH]):
        assert np.mean([shares[name] for name in names]) >= 0.9


def test_a_solve_goes_on_until_it_is_as_accurate_as_asked():
    """More sweeps for less error, and short of it at the most sweeps, which the run counts."""
    sweeps = []
    for accuracy in ("10%", 0.01, "0.2%"):
        sim = Simulation(heavy_on_light(), solver={"name": "pgs", "accuracy": accuracy}, guards={"on_coarse": "off"})
        sim.run(0.2)
        told = sim.nonsmooth.tally.summary()
        assert told["largest_velocity_error"] <= float(sim.settings.stepper.solver.accuracy)
        assert told["steps_short_of_accuracy"] == 0
        assert sim.report.velocity_error <= told["largest_velocity_error"]
        sweeps.append(told["sweeps_per_step"])
    assert sweeps[0] < sweeps[1] < sweeps[2]
    few = Simulation(heavy_on_light(), solver={"name": "pgs", "accuracy": 0.002, "iterations": 12}, guards={"on_coarse": "off"}).run(0.1)
    told = few.nonsmooth.tally.summary()
    assert told["steps_short_of_accuracy"] > 10
    assert told["largest_velocity_error"] > 0.002
    assert few.report.iterations <= 12


def test_sweeps_and_errors_are_recorded_and_counted_on_after_a_restart(tmp_path):
    sim = Simulation(heavy_on_light(), solver={"name": "pgs", "accuracy": 0.01}, guards={"on_coarse": "off"})
    sim.run(0.1)
    other = Simulation.restore(sim.scene, sim.settings, sim.checkpoint())
    assert other.run(0.1).nonsmooth.tally == sim.run(0.1).nonsmooth.tally
    found = run(make_scene("column", {"count": 5}), duration=0.1, every=0.02, output=tmp_path / "a.vtkhdf", picture=False, progress=False)
    errors = found.recording.scalars["velocity_error"]
    assert ((errors > 0) | (errors == -1)).all()
    assert (errors[1:] > 0).any()
    assert found.summary["largest_velocity_error"] >= errors.max()
    assert found.summary["sweeps_per_step"] >= 10


def test_a_recording_that_knows_no_error_is_continued(tmp_path):
    """As those of older versions."""
    path = tmp_path / "a.vtkhdf"
    before = len(run(make_scene("column", {"count": 5}), duration=0.1, every=0.02, output=path, picture=False, progress=False).recording)
    names = []
    with h5py.File(path, "r+") as file:
        file.visit(lambda name: names.append(name) if name.endswith("/velocity_error") else None)
        for name in names:
            del file[name]
    longer = restart(path, duration=0.1, picture=False, progress=False)
    assert "velocity_error" not in longer.recording.scalars
    assert len(longer.recording) == before + 5


def test_errors_are_a_part_of_what_a_step_changes():
    """Of g h in a column at rest; without gravity of what the last impulses would give each contact by itself."""
    sim = Simulation(make_scene("column", {"count": 10}), guards={"on_coarse": "off"}).run(0.5)
    problem, contacts = sim.nonsmooth.problem, sim.nonsmooth.detector.contacts
    assert problem.scale == pytest.approx(9.81 * sim.time_step, rel=1e-4)
    alone = contacts.every.impulse[:, 0] * problem.found.weight
    found = scale(0.0, 0.0, Met.of(contacts), problem.found, 1.0)
    assert found == pytest.approx(math.sqrt(np.mean(alone**2)), rel=1e-12)
    assert found > 3 * problem.scale  # the lowest grain carries ten
    assert scale(3.0, 4.0, Met.of(contacts), problem.found, 1.0) == 5.0


@kernel
def sums_of(blocks: ContactBlocks, sums: np.ndarray) -> tuple[float, float, float]:
    return add_step_sums(blocks, sums)


@pytest.mark.parametrize("count", (100, 1500))
def test_steps_of_large_problems_count_as_if_all_of_their_blocks_were_added(count):
    """Momentum adds up a quarter of many blocks, whose sums are 1 here; an error needs all of them."""
    sim = Simulation(make_scene("box", {"count": count}), guards={"on_coarse": "off"}).run(0.2)
    problem = sim.nonsmooth.problem
    blocks = problem.colour_blocks
    ahead, square, whole = call(sums_of, problem.blocks, np.ones(2 * blocks))
    every = 4 if blocks >= 64 else 1
    assert (every == 4) == (count == 1500)
    assert ahead == square == -(-blocks // every)
    assert blocks <= whole < blocks + every
