"""What golden runs share: how one is started and run, and what is kept of it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..contact import Material
from ..scene import Scene
from ..simulation import Simulation, make_settings

D = 0.01  # [m]
STONE = Material(name="stone", density=2500, youngs_modulus=2e7, restitution=0.3, friction=0.5, rolling_friction=0.05)


class Outcome(NamedTuple):
    """What a run has come to: the arrays that are hashed, and numbers that say whether it did what it is for."""

    arrays: tuple[np.ndarray, ...]
    facts: dict[str, float]


def outcome_of(sim: Simulation) -> Outcome:
    """Of a simulation as it is now."""
    c, b = sim.contacts, sim.bodies
    rows = np.r_[0 : b.wall_body_count, b.grains]  # not those that a run makes itself
    arrays = (b.position[rows], b.orientation[rows], b.velocity[rows], b.spin[rows], b.radius, c.a, c.b, c.normal, c.overlap, c.impulse)
    facts: dict[str, float] = {
        "grains": sim.grain_count,
        "contacts": c.contact_count,
        "at walls": int(np.count_nonzero(c.b < 0)),
        "emitted": sum(e.emitted for e in sim.emissions),
        "left": sim.taken_out,
        "merged": int(np.count_nonzero(b.merged)),
    }
    return Outcome(tuple(np.array(a) for a in arrays), facts)


def start(scene: Scene, threads: int, **settings: Any) -> Simulation:
    """The steps are coarse on purpose, since much shall happen in few: nothing is told of that."""
    return Simulation(scene, make_settings(scene.run, {"threads": threads, "guards": {"on_coarse": "off"}, **settings}))


def run_steps(scene: Scene, steps: int, threads: int, **settings: Any) -> Outcome:
    """The outcome after some steps; of what extensions report, the most that there ever was."""
    sim, most = start(scene, threads, **settings), dict[str, float]()
    for _ in range(steps):
        for name, value in sim.step().more.items():
            most[name] = max(value, most.get(name, value))
    outcome = outcome_of(sim)
    return Outcome(outcome.arrays, {**outcome.facts, **most})
