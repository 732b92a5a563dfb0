"""Runs with and without model reduction side by side: who is compared, how a run is made, timed and described (MR section 5)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from ..analysis.contact_errors import Spread
from ..reduction import Reduction
from ..reduction.policy import TrialSplit
from ..scene.library import make_scene
from ..scene.scene import Scene
from ..simulation import Settings, Simulation, make_settings
from .experiment import Row, compared
from .methods import GUARDS_OFF, METHODS

BEST = "momentum + history"
Which = tuple[str, int, str | None]
"""A way to run: warm start and momentum (``METHODS``), sweeps, and one of ``REDUCTIONS`` or none for full resolution."""
VELOCITIES = {"approach": 2.6, "separation": 0.26, "tangential": 0.26}  # of a trial [m/s] (MR Table 2)

REDUCTIONS: dict[str, Reduction] = {
    "c": Reduction(split=("contact",)),
    "cs": Reduction(split=("contact", "sensor")),
    "ctr-f": Reduction(split=("contact", "trial"), trial=TrialSplit(every=1)),
    "ctr4-f": Reduction(split=("contact", "trial"), trial=TrialSplit(every=4)),
    "ctr4-fl": Reduction(split=("contact", "trial"), trial=TrialSplit(every=4, load=0.01, depth=3)),
    "tr-f": Reduction(split=("trial",), trial=TrialSplit(every=1)),
    "tr-fv": Reduction(split=("trial",), trial=TrialSplit(every=1, **VELOCITIES)),
}
"""By MR's names: contact events (c), sensors (s), trials (tr: in every step, tr4: in every fourth) that test forces (f) or velocities
too (fv); thresholds of Table 2 but for the force limit, 0.1: with MR's 0.15 a grain stays merged that would accelerate with up to 0.3 g.
Trials are limited to some layers around what moves, where MR tries everything. Under machines (fl) they may leave a hundredth of the load
of a grain unbalanced, and look at three layers."""


def settings_of(scene: Scene, method: str, iterations: int, reduction: str | None) -> Settings:
    """Run settings with that warm start and number of sweeps, and one of ``REDUCTIONS``; without guards: some runs are bad on purpose."""
    warm_start, momentum = METHODS[method]
    stepper = {
        "warm_start": warm_start,
        "solver": {"iterations": iterations, "momentum": momentum},
        "reduction": REDUCTIONS[reduction].model_dump() if reduction is not None else None,
    }
    return make_settings(scene.run, {"stepper": stepper, "guards": GUARDS_OFF})


def label(method: str, iterations: int, reduction: str | None) -> str:
    """As MR names runs, less the sweeps of trials, which are those of the step: ref-150, cs-150, tr-150-f; ``full`` is full resolution
    with warm start and momentum, like the reduced ones."""
    if reduction is None:
        return f"{'full' if method == BEST else 'ref'}-{iterations}"
    kind, _, tests = reduction.partition("-")
    return f"{kind}-{iterations}" + (f"-{tests}" if tests else "")


def prepare(name: str, parameters: dict[str, Any], iterations: int, until: float) -> dict[str, Any]:
    """A checkpoint of a library scene at the time ``until`` [s], at full resolution."""
    scene = make_scene(name, parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # grains that fall a diameter a step meet nobody any more
        return Simulation(scene, settings_of(scene, BEST, iterations, None)).run(until).checkpoint()


def warm(name: str, parameters: dict[str, Any], reduction: str | None) -> None:
    """Compile what a run needs, on a small one, before it is timed."""
    scene = make_scene(name, parameters)
    Simulation(scene, settings_of(scene, BEST, 2, reduction)).run(0.4)


class TimedRun:
    """A run from a prepared state: its wall time, and the reduction level of every step; ``look`` is called after each, off the clock."""

    def __init__(self, scene: Scene, prepared: dict[str, Any], method: str, iterations: int, reduction: str | None) -> None:
        self.sim = Simulation.restore(scene, settings_of(scene, method, iterations, reduction), prepared)
        self.seconds: list[float] = []
        self.level: list[float] = []
        self.time: list[float] = []
        self.residual: list[float] = []

    def run(self, duration: float, look: Callable[[Simulation], None] = lambda sim: None) -> TimedRun:
        """Go on for ``duration`` [s]."""
        for _ in range(round(duration / self.sim.time_step)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # as above
                began = perf_counter()
                report = self.sim.step()
            self.seconds.append(perf_counter() - began)
            self.level.append(report.more.get("reduction_level", 0.0))
            self.time.append(self.sim.time)
            self.residual.append(report.residual)
            look(self.sim)
        return self

    def summary(self, since: float = -math.inf) -> dict[str, Any]:
        """Of the steps after ``since`` [s]: seconds a step (the mean), level, residual; and the level of all steps over time."""
        time, seconds, level = np.array(self.time), np.array(self.seconds), np.array(self.level)
        late = time > since
        spread = Spread.of(level[late])
        return {
            "time": time,
            "level": level,
            "seconds_per_step": float(seconds[late].mean()),
            "level_mean": spread.mean,
            "level_spread": spread.std,
            "residual": float(np.mean(np.array(self.residual)[late])),
            "grains": self.sim.grain_count,
        }


def level_row(name: str, found: dict[str, Any], paper: str, low: float, high: float = 100.0) -> Row:
    """The reduction level [%] of a run, mean and spread in time."""
    return compared(
        f"reduction level, {name}", 100 * found["level_mean"], paper, low, high, f"{{:.0f}} % +- {100 * found['level_spread']:.0f} %"
    )


def speed_row(name: str, found: dict[str, Any], full: dict[str, Any], floor: float) -> Row:
    """How many times less wall time a step takes than at full resolution with warm start, in one process."""
    value = full["seconds_per_step"] / found["seconds_per_step"]
    return compared(f"speed-up, {name}", value, f"floor {floor:g} (MR: only estimated)", floor, math.inf, "{:.1f}")
