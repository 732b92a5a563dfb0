"""Time of a step of few grains, where the way from Python to the kernels counts, not the grains."""

from __future__ import annotations

import gc
import warnings
from time import perf_counter
from typing import Any

import numpy as np

from ..checks import InputError
from ..scene.library import make_scene
from ..simulation import Simulation
from .timing import Talk

COUNTS = (1, 3, 10, 30, 100)
SETTLE = {"nonsmooth": 1.0, "smooth": 0.3}  # [s]
STEPS = 2000


def measure_small(count: int | None = None, talk: Talk = print) -> dict[str, Any]:
    """Microseconds of a whole step of 1 to 100 grains at rest in a box, guards and report included: medians.

    ``count``: of so many grains only, and of the stages of their steps.
    """
    if count is not None and count < 1:
        raise InputError(f"grains must be 1 or more (got {count}).")
    steps: dict[str, dict[str, float]] = {}
    stages: dict[str, dict[str, dict[str, float]]] = {}
    for stepper, settle in SETTLE.items():
        for grains in COUNTS if count is None else (count,):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a lattice may land fast
                sim = Simulation(make_scene("box", {"count": grains}), stepper=stepper).run(settle)
            steps.setdefault(stepper, {})[str(grains)], stages.setdefault(stepper, {})[str(grains)] = _medians(sim)
    shown = {"stage_microseconds": stages} if count is not None else {}
    return {"benchmark": "small", "microseconds_per_step": steps, **shown, "threads": 1, "dtype": "float64"}


def _medians(sim: Simulation) -> tuple[float, dict[str, float]]:
    """Of a step, and of each of its stages [us]."""
    whole, parts = np.empty(STEPS), np.empty((STEPS, len(sim.report.seconds)))
    collects = gc.isenabled()
    gc.disable()
    try:
        for k in range(STEPS):
            start = perf_counter()
            sim.step()
            whole[k], parts[k] = perf_counter() - start, tuple(sim.report.seconds.values())
    finally:
        if collects:
            gc.enable()
    stages = zip(sim.report.seconds, np.median(parts, axis=0), strict=True)
    return float(np.median(whole)) * 1e6, {stage: float(seconds) * 1e6 for stage, seconds in stages}
