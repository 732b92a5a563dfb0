"""The same bits for any number of threads (physics 11)."""

from __future__ import annotations

import copy
import hashlib

import numpy as np
import pytest

from granum._jit import kernel
from granum.checks import InputError
from granum.parallel import Crew, Team, team
from granum.parallel.barrier import ASLEEP, FUTEX, atomic_load, wait
from granum.scene import Body, Box
from granum.scene.library import make_scene
from granum.simulation import Simulation, make_settings
from tests.reference.scenes import FREE, D, G, make

UNGUARDED = {"guards": {"on_overlap": "off", "on_energy": "off"}}
SCENES = [
    ("column", {"count": 40}, 240),
    ("pile", {"count": 300}, 240),
    ("silo", {"count": 300}, 240),
    ("drum", {"count": 300, "width": 14.0, "length": 4.0}, 240),
    ("drum", {"kind": "sawtooth", "count": 200, "width": 16.0, "length": 3.0, "teeth": 12}, 90),
    ("box", {"count": 300, "size_ratio": 5.0}, 140),
]


@pytest.fixture
def all_threads(monkeypatch):
    """Wake every thread, however little there is to do."""
    monkeypatch.setattr(team, "LEAST", 1)


def digest(sim):
    """Of all bits that a run leaves behind."""
    state = hashlib.sha256()
    c = sim.contacts
    for array in (sim.position, sim.velocity, sim.spin, sim.orientation, c.a, c.b, c.normal, c.overlap, c.impulse, c.rebound):
        state.update(np.ascontiguousarray(array).tobytes())
    r = sim.report
    state.update(repr((r.contacts, r.impacts, r.iterations, r.residual, r.energy, r.kinetic_energy, r.elastic_energy)).encode())
    return state.hexdigest()


@pytest.mark.parametrize("several", [(2, 3), pytest.param((8,), marks=pytest.mark.slow)], ids=str)
@pytest.mark.parametrize("name, parameters, filling", SCENES, ids=[p.get("kind", name) for name, p, _ in SCENES])
def test_same_bits_for_any_number_of_threads(all_threads, name, parameters, filling, several):
    """For the first 10 steps, and for 20 after ``filling`` steps, when there are many contacts."""
    scene = make_scene(name, parameters)

    def settings(threads):
        return make_settings(scene.run, {**UNGUARDED, "threads": threads, "stepper": {"solver": {"iterations": 8}}})

    filled = Simulation(scene, settings(1))
    for _ in range(filling):
        filled.step()
    saved = filled.checkpoint()

    def run(threads):
        first, then = Simulation(scene, settings(threads)), Simulation.restore(scene, settings(threads), copy.deepcopy(saved))
        for sim, steps in ((first, 10), (then, 20)):
            for _ in range(steps):
                sim.step()
        return digest(first), digest(then)

    one = run(1)
    for threads in several:
        assert run(threads) == one


def bricks(threads):
    """Bodies with full inertia, each on some grains: their contacts are coloured, and swept one by one."""
    side = 12
    grid = np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), axis=-1).reshape(-1, 2)
    position = np.column_stack([1.05 * D * grid, np.full(len(grid), 0.5 * D)])
    half, mass = 1.2 * D, 0.02
    inertia = tuple(mass / 3 * half**2 * np.array([1.25, 1.25, 2.0]))
    boxes = [
        Body(
            name=f"brick {i} {j}",
            kind="dynamic",
            mass=mass,
            inertia=inertia,
            position=(3.15 * D * i + D, 3.15 * D * j + D, 1.56 * D),
            walls=(Box(material="m", lower=(-half, -half, -half / 2), upper=(half, half, half / 2), side="outside"),),
        )
        for i in range(4)
        for j in range(4)
    ]
    return make(
        position,
        walls=True,
        bodies=boxes,
        gravity=(0.5, 0, -G),
        guards=FREE,
        solver={"iterations": 15},
        rolling_friction=0.1,
        settings={"threads": threads},
    )


def test_same_bits_with_full_inertia(all_threads):
    """Several bodies with full inertia at once: their contacts run in colours of their own."""
    found = set()
    for threads in (1, 2, 3, 8):
        sim = bricks(threads)
        for _ in range(80):
            sim.step()
        assert np.diff(sim.stepper.problem.blocks.full_first)[:-1].max() >= 8  # some colours of full inertia were shared out
        found.add(digest(sim))
    assert len(found) == 1


def test_restart_with_another_number_of_threads(all_threads):
    """A run that goes on with other threads is the run that was not interrupted."""
    scene = make_scene("pile", {"count": 200})

    def settings(threads):
        return make_settings(scene.run, {**UNGUARDED, "threads": threads, "stepper": {"solver": {"iterations": 10}}})

    whole = Simulation(scene, settings(1))
    for step in range(200):
        if step == 100:
            part = Simulation.restore(scene, settings(3), whole.checkpoint())
        whole.step()
    for _ in range(100):
        part.step()
    assert digest(part) == digest(whole)


def test_other_orders_and_box_friction_take_any_team(all_threads):
    """Sweeps in the order found are for one thread, whatever team is given."""
    found = {}
    for threads in (1, 3):
        for how, friction in (({"order": "given"}, "cone"), ({"order": "random"}, "cone"), ({}, "box")):
            sim = make(
                [(0.98 * D * k, 0, 0.5 * D) for k in range(6)],
                walls=True,
                gravity=(0, 0, -G),
                guards=FREE,
                solver={**how, "iterations": 10},
                stepper={"friction": friction},
                settings={"threads": threads},
            )
            for _ in range(20):
                sim.step()
            found.setdefault((str(how), friction), set()).add(digest(sim))
    assert all(len(digests) == 1 for digests in found.values())


@pytest.mark.parametrize("threads", [0, -1, 1000])
def test_impossible_teams_are_refused(threads):
    with pytest.raises(InputError, match="threads must be from 1"):
        Team(threads)


@kernel
def fails(crew: Crew, who: int) -> int:
    """A kernel that fails on one thread while the others wait for it."""
    thread, threads, barrier = crew
    if thread == who:
        raise ValueError("out of luck")
    wait(barrier, threads)
    return threads


@pytest.mark.parametrize("who", [0, 2])
def test_an_error_in_one_thread_is_raised_and_the_team_goes_on(all_threads, who):
    """Whoever fails, the caller hears of it, nobody waits for ever, and the next kernel runs."""
    crew = Team(3)
    with pytest.raises(ValueError, match="out of luck"):
        crew.run(fails, 100, who)
    assert crew.run(fails, 100, -1) == 3


def test_few_things_wake_few_threads():
    assert Team(8).run(fails, 10, -1) == 1
    assert Team(8).run(fails, 3 * team.LEAST, -1) == 3


@kernel
def wait_for_sleepers(crew, met):
    """The first thread comes to the barrier when all others sleep there; each then tells that it has got through."""
    thread, threads, barrier = crew
    asleep = 0
    while thread == 0 and asleep < threads - 1:
        asleep = atomic_load(barrier, np.int64(ASLEEP))
    wait(barrier, threads)
    met[thread] += 1
    wait(barrier, threads)
    return asleep


@pytest.mark.skipif(FUTEX is None, reason="threads only sleep on Linux")
def test_threads_that_wait_for_long_sleep_and_are_woken():
    met = np.zeros(3, np.int64)
    for round in range(1, 6):
        assert Team(3).run(wait_for_sleepers, 10**6, met) == 2
        assert (met == round).all()
