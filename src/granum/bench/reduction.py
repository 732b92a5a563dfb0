"""What a step of a resting bed costs when its grains have merged, against every grain solved."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from ..simulation import Simulation, make_settings
from .settled import settled_box
from .timing import Talk, about

STEPS = 20
LEAST = 0.99  # reduction level at which the bed counts as merged
MOST = 600  # steps that it may take
REST = 30  # steps after that


def measure_reduction(count: int = 10_000, rows: int = 6, iterations: int = 50, talk: Talk = print) -> dict[str, Any]:
    """Milliseconds per step at full resolution and merged, of the same bed, and how many times less the second is."""
    sim = settled_box(count, rows, talk)
    saved, known = sim.checkpoint(), sim.settings.model_dump()
    solver = {"name": "pgs", "iterations": iterations}
    full = Simulation.restore(sim.scene, make_settings(known, {"stepper": {"solver": solver}}), saved)
    whole = _time(full)
    policy = {"split": ("contact",)}
    merged = Simulation.restore(sim.scene, make_settings(known, {"stepper": {"solver": solver, "reduction": policy}}), saved)
    for step in range(MOST):
        merged.step()
        if merged.report.reduction_level >= LEAST:
            talk(f"merged to {merged.report.reduction_level:.2%} after {step + 1} steps")
            break
    for _ in range(REST):  # what moved last comes to rest
        merged.step()
    rest = _time(merged)
    return {
        "benchmark": "reduction",
        "milliseconds_per_step": {"full": whole, "merged": rest},
        "speed_up": whole / rest,
        "reduction_level": merged.report.reduction_level,
        "free_grains": merged.report.free_grains,
        "iterations": iterations,
        **about(full, rows),
    }


def _time(sim: Simulation) -> float:
    """Milliseconds per step, after some that may compile."""
    for _ in range(3):
        sim.step()
    start = perf_counter()
    for _ in range(STEPS):
        sim.step()
    return (perf_counter() - start) / STEPS * 1e3


BENCHMARKS = {"reduction": measure_reduction}
FIGURES = {"reduction": {"milliseconds_per_step.*": "ms", "speed_up": "1"}}
