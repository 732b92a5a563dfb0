"""The ways to start and to sweep a solve that are compared, and runs with them."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..array_types import FloatArray
from ..nonsmooth.warm_start import StabilityGuard
from ..scene.library import make_scene
from ..scene.scene import Scene
from ..simulation import Settings, Simulation, make_settings

GUARDS_OFF = {"on_overlap": "off", "on_lost": "off", "on_energy": "off", "on_coarse": "off"}  # some runs are bad on purpose
HISTORY: dict[str, Any] = {"name": "history", "beta": 0.85}

METHODS: dict[str, tuple[dict[str, Any], bool]] = {  # warm start, momentum
    "cold": ({"name": "none"}, False),
    "history": (HISTORY, False),
    "history, unguarded": ({**HISTORY, "guard": False}, False),
    "model": ({"name": "model"}, False),
    "history, normals only": ({**HISTORY, "normals_only": True}, False),
    "history, no velocity update": ({**HISTORY, "update_velocity": False}, False),
    "momentum": ({"name": "none"}, True),
    "momentum + history": (HISTORY, True),
}
"""Plain sweeps unless it says momentum; ``unguarded`` is history as the paper has it, without our stability guard."""


def settings_for(scene: Scene, method: str, iterations: int) -> Settings:
    """Run settings of a scene with that method and number of sweeps, without guards."""
    warm_start, momentum = METHODS[method]
    stepper = {"warm_start": warm_start, "solver": {"iterations": iterations, "momentum": momentum}}
    return make_settings(scene.run, {"stepper": stepper, "guards": GUARDS_OFF})


def start(scene: Scene, method: str, iterations: int) -> Simulation:
    """A simulation at its beginning."""
    return Simulation(scene, settings_for(scene, method, iterations))


def go_on(sim: Simulation, method: str, iterations: int) -> Simulation:
    """A copy of a simulation that continues with another method."""
    return Simulation.restore(sim.scene, settings_for(sim.scene, method, iterations), copy.deepcopy(sim.checkpoint()))


def run_on(prepared: Simulation, method: str, iterations: int, duration: float) -> Simulation:
    """A copy of a prepared state, run on for ``duration`` [s]; its stability guard knows nothing of what was before."""
    sim = go_on(prepared, method, iterations)
    sim.nonsmooth.stability = StabilityGuard()
    return sim.run(duration)


def warm_kernels() -> None:
    """Compile (or load) everything that the experiments run, so that workers find it on disk."""
    for scene in (make_scene("column", {"count": 2}), make_scene("pile", {"count": 2, "rate": 1000})):
        for method in ("history", "model"):
            sim = start(scene, method, 2)
            for _ in range(3):
                sim.step()
            sim.nonsmooth.problem.residual()
    sim = start(make_scene("box", {"count": 8}), "history", 2)
    sim.run(0.3)


@dataclass(frozen=True)
class Solve:
    """One solve of a state, looked at after several numbers of sweeps."""

    sweeps: np.ndarray
    """(K,)"""
    impulse: FloatArray
    """(K, C) normal impulses [N s]."""
    residual: FloatArray
    """(K, C, 3) of the normal, friction and rolling rows [m/s]."""

    @property
    def mean_residual(self) -> FloatArray:
        """(K, 3) over the contacts, by row kind [m/s]."""
        return self.residual.mean(axis=1)

    def multiplier_error(self, least: float) -> FloatArray:
        """(K,) mean relative error of the normal impulses against the last ones (WS (13)), where those exceed ``least`` [N s]."""
        last = self.impulse[-1]
        carries = last > least
        return (np.abs(self.impulse[:, carries] - last[carries]) / last[carries]).mean(axis=1)


def look_into_solve(sim: Simulation, method: str, sweeps: np.ndarray) -> Solve:
    """The next step of ``sim`` with each number of sweeps, which are the iterates of one long solve."""
    impulse, residual = [], []
    for count in sweeps:
        once = go_on(sim, method, int(count))
        once.step()
        impulse.append(once.nonsmooth.detector.contacts.impulse[:, 0].copy())
        residual.append(once.nonsmooth.problem.residual())
    return Solve(sweeps, np.array(impulse), np.array(residual))


def sweep_ladder(most: int, also: int = 1) -> np.ndarray:
    """1 ... most sweeps, about 12 to a decade, and ``also``."""
    ladder = np.geomspace(1, most, 1 + round(12 * np.log10(most)))
    return np.unique([*np.round(ladder).astype(int), also])


def iterations_within(iterations: np.ndarray, values: np.ndarray, right: float, part: float = 0.05) -> float:
    """Iterations from which on the values stay within ``part`` of the right one, between those run on a logarithmic scale; NaN: none."""
    off = np.abs(values / right - 1)
    bad = np.flatnonzero(~(off <= part))
    if not len(bad):
        return float(iterations[0])
    k = bad[-1]
    if k == len(off) - 1:
        return np.nan
    way = (off[k] - part) / (off[k] - off[k + 1]) if np.isfinite(off[k]) else 1.0
    return float(iterations[k] * (iterations[k + 1] / iterations[k]) ** way)
