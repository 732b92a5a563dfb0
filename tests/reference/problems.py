"""Small contact problems of many kinds, ready to be solved: what solvers are held against each other on."""

from __future__ import annotations

import dataclasses

import numpy as np

from granum.nonsmooth.blocks import LANES, SOFTNESS, TARGET
from granum.nonsmooth.problem import Problem
from granum.nonsmooth.rebuild import put_together, take_apart
from granum.scene import Body, Box
from granum.scene.library import make_scene
from granum.simulation import Simulation, make_settings
from tests.reference.scenes import FREE, D, G, make


def ready(sim: Simulation) -> Problem:
    """The problem of the step that a simulation is about to take, impacts done and warm started."""
    stepper = sim.stepper
    stepper.detector.detect(sim.bodies, sim.time_step)
    stepper.prepare(sim.time_step, sim.scene.gravity.at(sim.time))
    return stepper.problem


def kept(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Velocities and impulses of a problem, to be put back."""
    return problem.packed.body.copy(), problem.blocks.data.copy()


def put_back(problem: Problem, saved: tuple[np.ndarray, np.ndarray]) -> None:
    problem.packed.body[:], problem.blocks.data[:] = saved


def after(name, steps, iterations=50, **parameters):
    """A scene of the library after some steps."""
    scene = make_scene(name, parameters)
    sim = Simulation(scene, make_settings(scene.run, {"stepper": {"solver": {"iterations": iterations}}, "guards": FREE}))
    for _ in range(steps):
        sim.step()
    return sim


def tilted(sim, degrees, speed=0.0):
    """Gravity and, at random, all grains set into motion: a problem far from its warm start."""
    angle = np.radians(degrees)
    sim.scene = sim.scene.model_copy(
        update={"gravity": sim.scene.gravity.model_copy(update={"acceleration": (G * np.sin(angle), 0.0, -G * np.cos(angle))})}
    )
    sim.velocity[:] += speed * np.random.default_rng(3).standard_normal(sim.velocity.shape)
    return sim


def under_platen():
    """A heap of nine and four grains that carry a heavy plate, which has six freedoms."""
    d = 0.992 * D
    low = [(x * d, y * d, 0.493 * D) for x in (-1, 0, 1) for y in (-1, 0, 1)]
    high = [((x + 0.5) * d, (y + 0.5) * d, 0.493 * D + d / np.sqrt(2)) for x in (-1, 0) for y in (-1, 0)]
    top = 0.493 * D + d / np.sqrt(2) + 0.495 * D
    box = Box(material="m", lower=(-0.05, -0.05, -0.005), upper=(0.05, 0.05, 0.005), side="outside")
    plate = Body(
        name="plate",
        kind="dynamic",
        position=(0.001, 0.002, top + 0.005),
        mass=0.2,
        inertia=(1.7e-4, 1.7e-4, 3.3e-4),
        walls=(box,),
        spin=(0.1, 0.2, 0.5),
        orientation=(0.9999, 0.0, 0.0, 0.0141),
    )
    return make(
        low + high,
        walls=True,
        gravity=(0.2 * G, 0, -G),
        friction=0.4,
        rolling_friction=0.1,
        guards=FREE,
        bodies=[plate],
        stepper={"impact_velocity": 1e9},
    )


def bounded_by(problem: Problem, friction):
    """The same problem with the friction ``cone`` or ``box``."""
    parts = dataclasses.replace(take_apart(problem), box=friction == "box")
    return put_together(parts)


def with_impact_targets(problem: Problem, restitution=0.5, hard=False):
    """Targets as of an impact stage: every contact that approaches is asked to part; ``hard``: without softness."""
    p = problem
    d = p.address
    p.blocks.data[d + TARGET * LANES] = restitution * np.maximum(0.0, -p.found.gap_rate)
    if hard:
        p.blocks.data[d + SOFTNESS * LANES] = 0.0
    return p


def impact(hard):
    sim = tilted(after("box", 60, count=150, rolling_friction=0.0, friction=0.3, seed=2), 0, speed=0.3)
    return with_impact_targets(ready(sim), hard=hard)


PROBLEMS = {
    "column": lambda: ready(after("column", 40, count=30)),
    "box": lambda: ready(after("box", 80, count=200, friction=0.3, rolling_friction=0.0)),
    "tilted box": lambda: ready(tilted(after("box", 80, count=100, rolling_friction=0.02), 40)),
    "stirred box": lambda: ready(tilted(after("box", 80, count=120, size_ratio=1.5), 10, speed=0.2)),
    "pile": lambda: ready(after("pile", 80, count=60)),
    "silo": lambda: ready(after("silo", 120, count=200, friction=0.1)),
    "drum": lambda: ready(after("drum", 120, count=150, width=14, length=5, rolling_friction=0.0)),
    "platen": lambda: ready(under_platen()),
    "impact": lambda: impact(hard=False),
    "hard impact": lambda: impact(hard=True),
}
"""Where sweeps get to the solution in some thousands."""

RESTING = {
    "resting box": lambda: ready(after("box", 80, count=150)),
    "resting pile": lambda: ready(after("pile", 160, count=60)),
    "slow drum": lambda: ready(after("drum", 120, count=120, width=12, length=5, friction=0.2)),  # at more there may be several solutions
}
"""With rolling resistance at rest: loads can be carried in very many ways, and sweeps hardly get anywhere."""
