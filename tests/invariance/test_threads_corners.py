"""The same bits for any number of threads: scenes with few, odd, fixed, fast or very different bodies, and every way to solve them."""

from __future__ import annotations

import copy
import os
import sys
import threading
import time

import numpy as np
import pytest

from granum._jit import kernel
from granum.parallel import ONE, Crew, Team, team
from granum.parallel.barrier import add_up, largest_of, wait
from granum.scene import Body, Box, BoxSource, Emitter, Mesh, Plane, Uniform
from granum.simulation import Simulation
from tests.invariance.test_threads import digest
from tests.reference.scenes import FREE, D, G, make

DOWN = (0.3, 0.1, -G)


@pytest.fixture(autouse=True)
def all_threads(monkeypatch):
    """Wake every thread, however little there is to do."""
    monkeypatch.setattr(team, "LEAST", 1)


def cloud(count, spacing, seed=3, lowest=0.6 * D):
    """(count, 3) grains of a shaken lattice."""
    side = round(count ** (1 / 3) + 0.499)
    grid = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)[:count]
    return spacing * D * grid + np.random.default_rng(seed).uniform(-0.05, 0.05, (count, 3)) * D + (0, 0, lowest)


def speeds(count, size, seed=4):
    return np.random.default_rng(seed).normal(0.0, size, (count, 3))


def box(width):
    return Box(material="m", lower=(-D, -D, 0.0), upper=(width, width, 3 * width))


def settled(**given):
    """Grains that fall into a box and stay."""
    return make(
        cloud(120, 1.05),
        walls=(box(6.5 * D),),
        gravity=DOWN,
        guards=FREE,
        **{"solver": {"iterations": 10}, "rolling_friction": 0.1} | given,
    )


def fixed_grains(**given):
    """A bed that never moves: many contacts of one colour share a body, as no impulse moves it."""
    sim = settled(**given)
    first = sim.bodies.wall_body_count
    sim.bodies.inverse_mass[first : first + 40] = 0.0
    return sim


def giant(**given):
    """One grain with more contacts than there are colours: small ones that fly at it from all sides."""
    k = np.arange(120)
    height, angle = 1 - (2 * k + 1) / 120, k * np.pi * (3 - np.sqrt(5))
    out = np.column_stack([np.sqrt(1 - height**2) * np.cos(angle), np.sqrt(1 - height**2) * np.sin(angle), height])
    return make(
        np.vstack([6.49 * D * out, (0, 0, 0)]),
        diameter=np.append(np.full(120, D), 12 * D),
        guards=FREE,
        rolling_friction=0.1,
        velocity=np.vstack([-0.5 * out + speeds(120, 0.1), (0, 0, 0)]),
        solver={"iterations": 10},
        **given,
    )


def platen(**given):
    """A heavy plate with full inertia that falls on grains: one body in most contacts."""
    plate = Body(
        name="plate",
        kind="dynamic",
        mass=0.5,
        inertia=(1e-4, 1e-4, 2e-4),
        position=(2.5 * D, 2.5 * D, 6.5 * D),
        walls=(Plane(material="m", normal=(0, 0, -1)),),
    )
    return make(
        cloud(100, 1.05),
        walls=(box(6 * D),),
        bodies=(plate,),
        gravity=DOWN,
        guards=FREE,
        rolling_friction=0.1,
        solver={"iterations": 10},
        **given,
    )


def tray(**given):
    """Grains on triangles: many touch several of them at once."""
    x, y = (a.ravel() for a in np.meshgrid(np.arange(7.0), np.arange(7.0), indexing="ij"))
    vertices = np.column_stack([x, y, 0.3 * np.sin(2 * x) * np.cos(3 * y)]) * 1.3 * D - (D, D, 0)
    corner = np.array([7 * i + j for i in range(6) for j in range(6)])
    triangles = np.vstack([np.column_stack([corner, corner + 7, corner + 8]), np.column_stack([corner, corner + 8, corner + 1])])
    mesh = Mesh(material="m", vertices=vertices, triangles=triangles)
    return make(cloud(80, 1.05, lowest=D), walls=(mesh,), gravity=DOWN, guards=FREE, solver={"iterations": 10}, **given)


def colliding(**given):
    """Fast grains that rebound: the impact stage does most of the work."""
    return make(
        cloud(120, 1.1),
        velocity=speeds(120, 2.0),
        walls=(box(7 * D),),
        restitution=0.9,
        guards=FREE,
        h=0.001,
        **{"solver": {"iterations": 10}} | given,
    )


def pouring(**given):
    """Bodies that are added while the run goes on."""
    source = BoxSource(lower=(0, 0, 5 * D), upper=(4 * D, 4 * D, 9 * D))
    emitter = Emitter(material="m", sizes=Uniform(lower=0.8 * D, upper=1.2 * D), source=source, rate=3000.0, velocity=(0, 0, -1.0))
    return make([], walls=(box(5 * D),), emitters=(emitter,), gravity=DOWN, guards=FREE, h=0.002, solver={"iterations": 10}, **given)


SCENES = {
    "six rows": (settled, {}),
    "three rows": (settled, {"rolling_friction": 0.0}),
    "tolerance": (settled, {"solver": {"iterations": 60, "tolerance": 1e-4}}),
    "plain sweeps": (settled, {"solver": {"iterations": 10, "momentum": False}}),
    "box friction": (settled, {"stepper": {"friction": "box"}}),
    "model start": (settled, {"stepper": {"warm_start": {"name": "model"}}}),
    "cold start": (settled, {"stepper": {"warm_start": {"name": "none"}}}),
    "multigrid": (settled, {"solver": {"name": "multigrid", "iterations": 10}}),
    "multigrid on fixed grains": (fixed_grains, {"solver": {"name": "multigrid", "iterations": 10}}),
    "fixed grains": (fixed_grains, {}),
    "more contacts than colours": (giant, {}),
    "platen": (platen, {}),
    "mesh": (tray, {}),
    "impacts": (colliding, {}),
    "impacts in a box of friction": (colliding, {"stepper": {"friction": "box"}}),
    "emitter": (pouring, {}),
}


@pytest.mark.parametrize("more", [3, pytest.param(8, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", SCENES)
def test_same_bits_in_corners(name, more):
    """For the first 5 steps, and for 8 after one thread has gone on to 32: where threads are more than cores, steps take long."""
    scene, given = SCENES[name]
    begun = scene(settings={"threads": 1}, **given)
    for _ in range(32):
        begun.step()
    saved, found = begun.checkpoint(), set()
    for threads in (1, more):
        first = scene(settings={"threads": threads}, **given)
        then = Simulation.restore(begun.scene, begun.settings.model_copy(update={"threads": threads}), copy.deepcopy(saved))
        contacts = impacts = 0
        for sim, steps in ((first, 5), (then, 8)):
            for _ in range(steps):
                report = sim.step()
                contacts, impacts = max(contacts, report.contacts), impacts + report.impacts
            assert np.isfinite(sim.position).all()
        assert contacts > 20
        found.add((digest(first), digest(then), impacts))
    assert len(found) == 1


@pytest.mark.parametrize("count", [1, 2])
def test_more_threads_than_bodies(count):
    found = set()
    for threads in (1, 2, 8):
        sim = make(
            [(0, 0, (0.5 + 0.98 * k) * D) for k in range(count)], walls=True, gravity=DOWN, guards=FREE, settings={"threads": threads}
        )
        for _ in range(10):
            sim.step()
        found.add(digest(sim))
    assert len(found) == 1


@kernel
def wrong_sums(crew: Crew, times: int) -> int:
    """How often the threads do not agree on a sum and a largest number that are known."""
    thread, threads, barrier = crew
    wrong = 0
    for k in range(times):
        before, total = add_up(barrier, thread, threads, k)
        largest = largest_of(barrier, thread, threads, k + thread)
        wrong += before != k * thread or total != k * threads or largest != k + threads - 1
    wait(barrier, threads)
    return wrong


@kernel
def all_fail(crew: Crew) -> None:
    """A kernel that fails on every thread."""
    _, _, _ = crew
    raise ValueError("out of luck")


def test_threads_agree_on_sums():
    for threads in (1, 2, 3, 8):
        assert Team(threads).run(wrong_sums, threads, 2000) == 0


def test_runs_in_two_threads_of_python_do_not_disturb_each_other():
    """Kernels release the interpreter, so that those of two runs really run at once: with a team for all, and with one each."""
    ONE.run(wrong_sums, 1, 1)
    found = []
    runs = [(ONE, 1, 2_000_000), (ONE, 1, 2_000_000), (Team(2), 2, 20_000), (Team(3), 3, 20_000)]
    callers = [threading.Thread(target=lambda run=run: found.append(run[0].run(wrong_sums, *run[1:]))) for run in runs]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert found == [0, 0, 0, 0]


def test_an_error_of_all_threads_is_raised_once():
    """What the others failed of is not raised again by the next kernel, which does nothing wrong."""
    crew = Team(3)
    with pytest.raises(ValueError, match="out of luck"):
        crew.run(all_fail, 3)
    assert crew.run(wrong_sums, 3, 10) == 0


def test_an_interrupt_while_work_is_given_out_leaves_nobody_waiting():
    """The second of two threads never hears of the kernel; the next one runs all the same."""
    crew = Team(3)
    assert crew.run(wrong_sums, 3, 10) == 0
    given = []

    def interrupt(frame, event, argument):
        if event == "call" and frame.f_code.co_name == "give":
            given.append(frame)
            if len(given) == 2:
                raise KeyboardInterrupt

    sys.setprofile(interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            crew.run(wrong_sums, 3, 10)
    finally:
        sys.setprofile(None)
    assert len(given) == 2
    assert crew.run(wrong_sums, 3, 20) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    crew = Team(2)
    assert crew.run(wrong_sums, 2, 10) == 0
    child = os.fork()
    if child == 0:
        os._exit(crew.run(wrong_sums, 2, 10))
    for _ in range(600):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        time.sleep(0.05)
    else:
        os.kill(child, 9)
        os.waitpid(child, 0)
    assert (ended, status) == (child, 0)
