"""Time of a step of smooth DEM."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from ..simulation import Simulation, make_settings
from ..smooth import SmoothStepper
from .settled import settled_box
from .timing import REPEATS, Talk, warn_of_few_cores

GRAINS = {"diameter": 0.01, "youngs_modulus": 5e6, "friction": 0.7, "restitution": 0.5}  # SN 4.2 but for the restitution
TIME_STEP = 5e-5  # [s]
STEPS = 100  # of one measurement


def measure_smooth(count: int = 10_000, rows: int = 3, threads: int = 1, talk: Talk = print) -> dict[str, Any]:
    """Nanoseconds per grain and step, all of a step included, guards too: the best of several hundred steps each.

    ``rows`` = 6 adds rolling resistance.
    """
    warn_of_few_cores(threads)
    settled = settled_box(count, rows, talk, **GRAINS)
    off = {"on_overlap": "off", "on_energy": "off", "on_coarse": "off"}
    settings = make_settings({"stepper": {"name": "smooth"}, "time_step": TIME_STEP, "threads": threads, "guards": off})
    sim = Simulation(settled.scene, settings, bodies=settled.bodies)
    stepper = sim.stepper
    assert isinstance(stepper, SmoothStepper)
    seconds, lists = [], 0
    for repeat in range(REPEATS + 1):  # the first may compile, and the springs form
        if repeat == 1:
            sim.stage_seconds.clear()
            lists = stepper.neighbours.rebuilds
        start = perf_counter()
        for _ in range(STEPS):
            sim.step()
        seconds.append(perf_counter() - start)
    total = sum(seconds[1:])
    return {
        "benchmark": "smooth",
        "ns_per_grain_step": min(seconds[1:]) / STEPS / sim.grain_count * 1e9,
        "stage_share": {stage: spent / total for stage, spent in sim.stage_seconds.items()},
        "steps_per_list": STEPS * REPEATS / max(1, stepper.neighbours.rebuilds - lists),
        "time_step": TIME_STEP,
        "grains": sim.grain_count,
        "contacts": sim.contacts.contact_count,
        "rows": rows,
        "threads": threads,
        "dtype": "float64",
        "residual": 0.0,
    }
