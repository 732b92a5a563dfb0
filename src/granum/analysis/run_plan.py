"""Ways to run a system, with the time that each will take."""

from __future__ import annotations

import math
from typing import Any

from ..talk import in_time
from .cost_model import PAPER_COST, SN_TABLE, Estimate, PlannedSystem, amdahl, estimate
from .step_plan import PlannedStep

FEWER_SWEEPS = {"history": 1.8, "momentum": 2.1, "momentum + history": 4.2}
"""Times fewer sweeps than cold, plain ones for the same error: the smallest measured here, in columns of 10 to 50 grains (height to 1 %:
history 2.8-3.2, momentum 2.1-3.6, both 4.2-6.8) and in boxes of 2000 and 10 000 that have just been tilted (forces to 5 %: 1.8, 7,
11-13). WS has 2 to 5 for history; SN 5.4 found a gain in columns only."""
MOMENTUM_COST = 1.07
"""A sweep with momentum over a plain one, where it is not measured."""
PARALLEL_PART = {"nonsmooth": 0.75, "smooth": 0.5}
"""Of a step, that runs on all threads: whole nonsmooth steps of 20 000 grains are 1.5 to 1.7 times as fast on two (`bench parallel`),
smooth ones of 10 000 grains 1.35 times (`bench smooth`)."""


def paper_costs() -> dict[str, Any]:
    """SN's: 1e-6 s per contact and sweep, and nothing besides."""
    return {
        "nonsmooth": PAPER_COST,
        "nonsmooth_momentum": PAPER_COST * MOMENTUM_COST,
        "smooth": PAPER_COST,
        "rest_of_step": 0.0,
        "contacts_per_grain": 1.0,
        "measured": False,
    }


def make_plan(
    system: PlannedSystem, planned: PlannedStep, smooth_step: float, grains: int | None, costs: dict[str, Any], threads: int
) -> dict[str, Any]:
    """Everything that is said about a system: the law's numbers, the ways to run it, and the best one.

    ``planned`` and ``smooth_step`` [s] are the steps that granum takes; the law's own, h_N and h_S, stay with the law's numbers.
    """
    found = estimate(system, costs["nonsmooth"], costs["smooth"], grains, costs["contacts_per_grain"])
    ways: list[dict[str, Any]] = []
    h = planned.step.seconds
    for name, gain in {"plain": 1.0, **FEWER_SWEEPS}.items():
        sweeps = max(1, math.ceil(found.iterations / gain))
        cost = costs["nonsmooth_momentum" if "momentum" in name else "nonsmooth"]
        seconds = (cost * sweeps + costs["rest_of_step"]) * found.contacts / h
        ways.append(_way("nonsmooth", name, h, sweeps, 1, seconds))
    ways.append(_way("smooth", "", smooth_step, None, 1, costs["smooth"] * found.grains / smooth_step))
    as_run = ways[-2:]  # both steppers with the solver that is the default
    best = min(as_run, key=lambda way: way["effort"])
    if threads > 1:
        for way in as_run:
            faster = amdahl(threads, PARALLEL_PART[way["stepper"]])
            ways.append({**way, "threads": threads, **_seconds(way["effort"] / faster)})
    return {
        "inputs": system.as_options(),
        **_row(found),
        "contacts": found.contacts,
        "recommended": best,
        "ways": ways,
        "costs": costs,
        "time_step": h,
        "time_step_reason": planned.step.reason,
        "fastest": planned.speed,
        "fewer_sweeps": FEWER_SWEEPS,
        "parallel_part": PARALLEL_PART,
    }


def _way(stepper: str, solver: str, step: float, sweeps: int | None, threads: int, seconds: float) -> dict[str, Any]:
    return {"stepper": stepper, "solver": solver, "time_step": step, "iterations": sweeps, "threads": threads, **_seconds(seconds)}


def _seconds(effort: float) -> dict[str, Any]:
    return {"effort": effort, "words": f"{in_time(effort)} per simulated second"}


def _row(found: Estimate) -> dict[str, float]:
    return {
        "iterations": found.iterations,
        "time_step_nonsmooth": found.time_step_nonsmooth,
        "time_step_smooth": found.time_step_smooth,
        "grains": found.grains,
        "normal_velocity": found.normal_velocity,
        "effort_nonsmooth": found.effort_nonsmooth,
        "effort_smooth": found.effort_smooth,
        "ratio": found.ratio,
    }


def table_rows() -> list[dict[str, float]]:
    """SN Table I, computed: results beside inputs, SI units."""
    return [{"row": k, **_row(estimate(system)), **system.as_options()} for k, system in enumerate(SN_TABLE, start=1)]
