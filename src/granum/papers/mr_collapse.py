"""The collapse of a cube of grains, with and without model reduction (MR section 5, Table 3, Fig. 6 and 9 to 11)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis.reduction import mergeable_level
from ..analysis.snapshot import Snapshot
from ..analysis.surface import collapse_slope, main_heap
from ..pool import Job
from ..scene.library import make_scene
from ..scene.library.collapse import CollapseParameters
from ..scene.parameters import parameters_of
from ..simulation import make_settings
from .experiment import Outcome, Row, Runner, compared
from .figures.mr import draw_collapse, draw_heaps
from .mr_runs import BEST, TimedRun, Which, label, prepare, speed_row, warm

TITLE = "a cube of grains collapses, reduced and at full resolution (MR 5, Table 3, Fig. 9-11)"
MAIN = "tr-f"
REDUCED = ("tr-f", "tr-fv", "ctr-f")
EVERY = 5  # steps between two looks at the surface
WHOLE = 10.0  # [m] longer than any heap
SMALL = {"count": 60, "width": 4.0, "settle": 0.1}  # a cube to compile with


@dataclass(frozen=True)
class CollapseSize:
    """Sizes of the experiment."""

    count: int = 4000
    width: float = 15.0
    """[d]"""
    iterations: int = 150
    reference_iterations: int = 500
    """Of the converged reference."""
    prepare_iterations: int = 150
    """Until the grains are at rest."""
    duration: float = 2.0
    """From the lift to the end [s]."""
    seeds: int = 1
    """Cubes, whose mean angles are compared."""


QUICK = CollapseSize(reference_iterations=300, prepare_iterations=60, duration=1.5, seeds=2)
FULL = CollapseSize(seeds=5)


def measure(size: CollapseSize, run: Runner) -> Outcome:
    """The same cubes at rest, run on at full resolution and reduced; timed one after the other."""
    cubes = [{"count": size.count, "width": size.width, "seed": seed} for seed in range(size.seeds)]
    lifts = [parameters_of(make_scene("collapse", cube), CollapseParameters).lift for cube in cubes]
    states = run(
        [Job(prepare, ("collapse", cube, size.prepare_iterations, lift - 0.02), 1.0) for cube, lift in zip(cubes, lifts, strict=True)]
    )
    which: list[Which] = [(BEST, size.reference_iterations, None), (BEST, size.iterations, None), ("cold", size.iterations, None)]
    which += [(BEST, size.iterations, reduction) for reduction in REDUCED]
    found = run(
        [Job(heap, (cube, state, *one, size.duration), 1.0, alone=True) for one in which for cube, state in zip(cubes, states, strict=True)]
    )
    runs = {label(*one): found[k * size.seeds : (k + 1) * size.seeds] for k, one in enumerate(which)}
    means = {name: _mean(some) for name, some in runs.items()}
    reference, full, main = (
        label(BEST, n, r)
        for n, r in (
            (size.reference_iterations, None),
            (size.iterations, None),
            (size.iterations, MAIN),
        )
    )
    reduced = [label(BEST, size.iterations, reduction) for reduction in REDUCED]
    curves: dict[str, Any] = {
        "angle": means[main]["final_angle"],
        "angle_reference": means[reference]["final_angle"],
        "reduction_level": means[main]["final_level"],
        "speed_up": means[full]["seconds_per_step"] / means[main]["seconds_per_step"],
        "reference": reference,
        "reduced": reduced,
        "runs": {name: some[0] for name, some in runs.items()},
        "final_angles": {name: np.array([one["final_angle"] for one in some]) for name, some in runs.items()},
    }
    return Outcome(_rows(means, reference, full, reduced), curves)


def draw(outcome: Outcome, folder: Path) -> list[Path]:
    """Two figures: the final heaps; angle and reduction level over time."""
    return [draw_heaps(outcome.curves, folder / "mr-collapse.png"), draw_collapse(outcome.curves, folder / "mr-collapse-time.png")]


def heap(
    parameters: dict[str, Any], prepared: dict[str, Any], method: str, iterations: int, reduction: str | None, duration: float
) -> dict[str, Any]:
    """A collapse: angle of the top over time [s from the lift], reduction level, wall time, the heap at the end."""
    warm("collapse", SMALL, reduction)
    scene = make_scene("collapse", parameters)
    p, h = parameters_of(scene, CollapseParameters), make_settings(scene.run).step_for(scene)
    times, angles, most = [], [], []
    course, last = TimedRun(scene, prepared, method, iterations, reduction), None

    def look(sim: Any) -> None:
        nonlocal last
        if sim.step_count % EVERY == 0:
            times.append(sim.time - p.lift)
            angles.append(collapse_slope(sim.position, sim.radius, p.width).angle)
        if reduction is None and sim.step_count % EVERY in (0, EVERY - 1):
            now = Snapshot.of(sim)
            if sim.step_count % EVERY == 0:
                most.append(mergeable_level(last, now) if last is not None else np.nan)
            last = now

    course.run(p.lift + duration - prepared["step_count"] * h, look)
    sim = course.sim
    line, whole = (collapse_slope(sim.position, sim.radius, length) for length in (p.width, WHOLE))
    found = course.summary(p.lift)
    return found | {
        "time": found["time"] - p.lift,
        "angle_time": np.array(times),
        "angle": np.array(angles),
        "final_angle": line.angle,
        "whole_angle": whole.angle,
        "final_level": found["level"][-1],
        "least_level": float(found["level"][found["time"] > p.lift].min()),
        "mergeable": np.array(most),
        "kinetic_energy": sim.report.kinetic_energy,
        "final": {
            "x": sim.position[:, 0],
            "z": sim.position[:, 2],
            "radius": np.array(sim.radius),
            "line_x": line.x,
            "line_z": line.z,
            "main": main_heap(sim.position, sim.radius),
        },
    }


def _mean(some: list[dict[str, Any]]) -> dict[str, float]:
    """Over the cubes."""
    names = ("final_angle", "whole_angle", "final_level", "least_level", "seconds_per_step", "level_mean")
    return {name: float(np.mean([one[name] for one in some])) for name in names}


def _rows(runs: dict[str, Any], reference: str, full: str, reduced: list[str]) -> list[Row]:
    paper = {
        "ref-150": "30 degrees, still falling (ref-150)",
        reference: "36 degrees (ref-500)",
        "tr-150-f": "38 degrees",
        "tr-150-fv": "34 degrees",
    }
    rows = [
        Row(
            f"angle of the top at the end, {name}",
            f"{found['final_angle']:.1f} degrees (whole slope {found['whole_angle']:.1f})",
            paper.get(name, "not in the paper"),
            found["final_angle"],
        )
        for name, found in runs.items()
    ]
    right = runs[reference]["final_angle"]
    for name in reduced:
        found = runs[name]
        rows += [
            compared(
                f"angle, {name} against {reference}",
                found["final_angle"] - right,
                "+2 (f), -2 degrees (fv); floor: 3",
                -3.0,
                3.0,
                "{:+.1f} degrees",
            ),
            compared(f"reduction level at rest, {name}", 100 * found["final_level"], "about 100 % (floor: 90)", 90.0, 100.0, "{:.0f} %"),
            Row(f"least reduction level, {name}", f"{100 * found['least_level']:.0f} %", "50 %", 100 * found["least_level"]),
            speed_row(name, found, runs[full], 1.0),
        ]
    return rows
