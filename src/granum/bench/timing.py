"""Times of the solve alone, of a whole step by stage, and of the contact search."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from ..nonsmooth import PGS
from ..parallel import cores
from ..simulation import Simulation
from .settled import settled_box

REPEATS = 7
Talk = Callable[[str], None]


def warn_of_few_cores(threads: int) -> None:
    """More threads than cores tell little."""
    if threads > cores():
        warnings.warn(f"{threads} threads on {cores()} cores wait for each other: the measured speed means little.", stacklevel=3)


def about(sim: Simulation, rows: int) -> dict[str, Any]:
    """What was measured on."""
    return {
        "grains": sim.grain_count,
        "contacts": sim.contacts.contact_count,
        "rows": rows,
        "threads": 1,
        "dtype": str(sim.nonsmooth.problem.blocks.data.dtype),
        "residual": sim.report.residual,
    }


def measure_pgs(count: int = 10_000, rows: int = 6, iterations: int = 50, talk: Talk = print) -> dict[str, Any]:
    """Nanoseconds per contact and iteration of the solve alone, plain and with momentum: the best of several solves."""
    sim = settled_box(count, rows, talk)
    sim.step()
    problem = sim.nonsmooth.problem
    body, data = problem.packed.body.copy(), problem.blocks.data.copy()
    best = {}
    for name, momentum in (("plain", False), ("momentum", True)):
        solver = PGS(iterations=iterations, momentum=momentum)
        seconds = []
        for _ in range(REPEATS + 1):  # the first may compile
            problem.packed.body[:], problem.blocks.data[:] = body, data
            start = perf_counter()
            solver.solve(problem, measure=False)
            seconds.append(perf_counter() - start)
        best[name] = min(seconds[1:]) / iterations / max(1, problem.contact_count) * 1e9
    return {
        "benchmark": "pgs",
        "ns_per_contact_iteration": best["plain"],
        "ns_per_contact_iteration_momentum": best["momentum"],
        "iterations": iterations,
        "colours": problem.colours,
        **about(sim, rows),
    }


def measure_step(count: int = 10_000, rows: int = 6, iterations: int = 50, talk: Talk = print) -> dict[str, Any]:
    """Share of each stage in a step, milliseconds per step, and bytes of memory per contact."""
    sim = settled_box(count, rows, talk)
    solver = PGS(iterations=iterations)
    sim.nonsmooth.settings = sim.nonsmooth.settings.model_copy(update={"solver": solver})
    sim.step()
    sim.stage_seconds.clear()
    steps = 20
    start = perf_counter()
    for _ in range(steps):
        sim.step()
    whole = perf_counter() - start
    share = {stage: seconds / whole for stage, seconds in sim.stage_seconds.items()}
    return {
        "benchmark": "step",
        "stage_share": share,
        "search_and_assembly_share": share["detection"] + share["assembly"],
        "milliseconds_per_step": whole / steps * 1e3,
        "iterations": iterations,
        "bytes_per_contact": memory(sim) / max(1, sim.report.contacts),
        **about(sim, rows),
    }


def measure_detect(count: int = 10_000, rows: int = 6, talk: Talk = print) -> dict[str, Any]:
    """Nanoseconds per grain of a search with a kept neighbour list, and of one that makes the list anew."""
    sim = settled_box(count, rows, talk)
    sim.step()
    detector, bodies, h = sim.nonsmooth.detector, sim.bodies, sim.time_step
    kept, anew = [], []
    for _ in range(REPEATS + 1):
        start = perf_counter()
        detector.detect(bodies, h)
        kept.append(perf_counter() - start)
        detector.neighbours.reference += 1.0  # nobody is inside his skin
        start = perf_counter()
        detector.detect(bodies, h)
        anew.append(perf_counter() - start)
    grains = max(1, sim.grain_count)
    return {
        "benchmark": "detect",
        "ns_per_grain": min(kept[1:]) / grains * 1e9,
        "ns_per_grain_rebuild": min(anew[1:]) / grains * 1e9,
        **about(sim, rows),
    }


def memory(sim: Simulation) -> int:
    """Bytes of all arrays of a simulation."""
    seen: dict[int, int] = {}

    def visit(thing: Any, depth: int) -> None:
        if isinstance(thing, np.ndarray):
            base = thing if thing.base is None or not isinstance(thing.base, np.ndarray) else thing.base
            seen[id(base)] = base.nbytes
        elif isinstance(thing, (tuple, list)):
            for part in thing:
                visit(part, depth)
        elif depth > 0:
            for part in thing.values() if isinstance(thing, dict) else getattr(thing, "__dict__", {}).values():
                visit(part, depth - 1)

    visit([sim.bodies, sim.nonsmooth.detector, sim.nonsmooth.problem], 3)
    return sum(seen.values())
