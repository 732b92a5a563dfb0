"""An excavator digs in a bed of which only the stones around its bucket are free, beside full resolution (MR Fig. 1)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from ..analysis.dig import displaced_volume
from ..pool import Job
from ..scene.library import make_scene
from ..scene.library.excavator import ExcavatorParameters
from ..scene.parameters import parameters_of
from ..simulation import Simulation
from .experiment import Outcome, Row, Runner, compared
from .figures.mr import draw_dig, draw_dug_beds
from .mr_runs import BEST, TimedRun, Which, label, level_row, prepare, warm
from .ws_excavator import CYLINDERS, MOVED, PAPER_COUNT, body_row, bucket_load, in_drag

TITLE = "an excavator in a bed that is free around its bucket only, beside full resolution (MR Fig. 1)"
MAIN = "ctr4-fl"
EVERY = 4  # steps between two looks at the forces
SMOOTHED = 0.1  # [s] over which a peak is averaged: single steps scatter with every collision
SMALL = {"count": 1000}  # an excavator to compile with
FREE = -1  # of ``Bodies.merged_into``


@dataclass(frozen=True)
class ReducedDig:
    """Sizes of the experiment."""

    count: int
    iterations: int = 25
    duration: float = 10.0
    """[s] from the bed at rest: until the bucket is lifted, or longer."""
    reduced: tuple[str, ...] = (MAIN,)
    """Of ``REDUCTIONS``."""


QUICK = ReducedDig(count=2000)
FULL = ReducedDig(count=PAPER_COUNT, duration=18.0)


def measure(size: ReducedDig, run: Runner) -> Outcome:
    """From one bed at rest, dug at full resolution and reduced; timed one after the other."""
    parameters = {"count": size.count, "iterations": size.iterations}
    rest = parameters_of(make_scene("excavator", parameters), ExcavatorParameters).rest
    (prepared,) = run([Job(prepare, ("excavator", parameters, size.iterations, rest), 0.3)])
    which: list[Which] = [(BEST, size.iterations, reduction) for reduction in (None, *size.reduced)]
    found = run([Job(dig, (parameters, prepared, *one, size.duration), 1.0, alone=True) for one in which])
    runs = dict(zip((label(*one) for one in which), found, strict=True))
    full, *reduced = runs
    main = runs[reduced[0]]
    curves: dict[str, Any] = {
        "reduction_level": main["level_mean"],
        "speed_up": runs[full]["cpu_seconds"] / main["cpu_seconds"],
        "full": full,
        "reduced": reduced,
        "runs": runs,
    }
    return Outcome(_rows(runs, full, reduced), curves)


def draw(outcome: Outcome, folder: Path) -> list[Path]:
    """Two figures: forces, load and level over time; the bed in the drag, coloured by who is free."""
    return [draw_dig(outcome.curves, folder / "mr-excavator.png"), draw_dug_beds(outcome.curves, folder / "mr-excavator-bed.png")]


def dig(
    parameters: dict[str, Any], prepared: dict[str, Any], method: str, iterations: int, reduction: str | None, duration: float
) -> dict[str, Any]:
    """A dig from a bed at rest: forces of the cylinders [N] and load of the bucket [kg] over time, the reduction level, what was displaced
    [m^3], how deep the bucket went into stones [m], CPU time, and the bed in the middle of the drag."""
    warm("excavator", SMALL, reduction)
    scene = make_scene("excavator", parameters)
    course = TimedRun(scene, prepared, method, iterations, reduction)
    sim, p = course.sim, parameters_of(scene, ExcavatorParameters)
    before, steel = sim.position.copy(), -1 - np.flatnonzero(sim.nonsmooth.walls.frame == body_row(scene, "bucket"))
    times, forces, load, deepest = [], [], [], []
    cpu, bed = [process_time()], {}

    def look(sim: Simulation) -> None:
        cpu.append(process_time())
        if sim.step_count % EVERY == 0:
            times.append(sim.time)
            forces.append([sim.joint(f"{name} cylinder").motor_force for name in CYLINDERS])
            load.append(bucket_load(sim, p))
            c = sim.contacts
            deepest.append(float(c.overlap[np.isin(c.b, steel)].max(initial=0.0)))
        if sim.step_count == round(sum(p.drag) / 2 / sim.time_step):
            bed.update(_bed(sim))
        spent.append(process_time() - cpu.pop())

    spent: list[float] = []  # on looking, which does not count
    began = process_time()
    course.run(duration, look)
    worked = process_time() - began - sum(spent)
    force = np.array(forces)
    return course.summary() | {
        "time": np.array(times),
        "level_time": np.array(course.time),
        "force": {name: force[:, k] for k, name in enumerate(CYLINDERS)},
        "load": np.array(load),
        "deepest": np.array(deepest),
        "drag": np.array(p.drag),
        "displaced": displaced_volume(before, sim.position, sim.radius, MOVED * 2 * float(sim.radius.mean())),
        "lifted_load": float(np.interp(p.lifted, times, load)),
        "cpu_seconds": worked / duration,
        "bed": bed or _bed(sim),
        "trench": np.array(p.trench),
        "drift": sim.joint_drift,
    }


def _bed(sim: Simulation) -> dict[str, Any]:
    x, y, z = sim.position.T
    merged = sim.bodies.merged_into
    on_machine = (merged >= 0) & (merged >= len(sim.scene.all_bodies))
    state = np.where(merged == FREE, 0, np.where(on_machine, 2, 1))
    return {"x": x.copy(), "y": y.copy(), "z": z.copy(), "radius": np.array(sim.radius), "state": state}


def peak(one: dict[str, Any], cylinder: str) -> float:
    """The largest force [N] of a cylinder while the bucket is dragged, without its sign, smoothed over ``SMOOTHED``."""
    width = max(1, round(SMOOTHED / (one["time"][1] - one["time"][0])))
    force = np.abs(np.convolve(one["force"][cylinder], np.ones(width) / width, mode="same"))
    during = (one["time"] >= one["drag"][0]) & (one["time"] <= one["drag"][1])
    return float(force[during].max())


def _rows(runs: dict[str, Any], full: str, reduced: list[str]) -> list[Row]:
    right, rows = runs[full], []
    for name in reduced:
        one = runs[name]
        rows.append(level_row(name, one, "most of the bed is at rest; floor: none", 0.0))
        speed_up = right["cpu_seconds"] / one["cpu_seconds"]
        what, floor = f"speed-up of {one['grains']} stones, {name}", f"floor 5 with {PAPER_COUNT} stones"
        if one["grains"] == PAPER_COUNT:
            rows.append(compared(what, speed_up, floor, 5.0, np.inf, "{:.1f}"))
        else:
            rows.append(Row(what, f"{speed_up:.2f}", floor, speed_up))
        for cylinder in CYLINDERS:
            off = 100 * (peak(one, cylinder) / peak(right, cylinder) - 1)
            text = f"{{:+.1f}} % of {peak(right, cylinder) / 1e3:.0f} kN"
            rows.append(compared(f"peak force of the {cylinder} cylinder, {name} against {full}", off, "within 10 %", -10.0, 10.0, text))
        off = 100 * (in_drag(one) / in_drag(right) - 1)
        rows.append(Row(f"mean stick cylinder force in the drag, {name} against {full}", f"{off:+.1f} %"))
    for what, value, unit in (
        ("stones in the lifted bucket [kg]", "lifted_load", ".0f"),
        ("displaced volume [m^3]", "displaced", ".4f"),
        ("CPU time for a second [s]", "cpu_seconds", ".3g"),
    ):
        rows.append(Row(what, ", ".join(f"{name} {one[value]:{unit}}" for name, one in runs.items())))
    deepest = ", ".join(f"{name} {1e3 * float(one['deepest'].max()):.2f}" for name, one in runs.items())
    rows.append(Row("deepest overlap of the bucket and a stone [mm]", deepest))
    return rows
