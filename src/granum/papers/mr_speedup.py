"""Speed-up against reduction level: the model of MR section 6, and measured points of beds, belts and drums (MR Fig. 14)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis.reduction import VOLUME, overhead_of, predicted_speed_up
from ..pool import Job
from ..scene.library import make_scene
from ..scene.library.conveyor import ConveyorParameters
from ..scene.parameters import parameters_of
from ..scene.sensor import BoxSensor
from .experiment import Outcome, Row, Runner, compared
from .figures.mr import draw_speed_up
from .mr_runs import BEST, TimedRun, prepare, warm

TITLE = "speed-up against reduction level: model and measured points (MR 6, Fig. 14)"
OVERHEADS = (0.0, 0.01, 0.03, 0.1, 0.3)
LEVELS = np.linspace(0.0, 0.999, 112)
REST = 1.5  # [s] from the fall of a lattice to a bed at rest
DROPPED = 0.3  # [s] of a run before it is timed: what moves as one has merged
SMALL_BED = {"count": 60}


@dataclass(frozen=True)
class SpeedSize:
    """Sizes of the experiment."""

    beds: tuple[int, ...]
    """Grains of beds at rest."""
    parts: tuple[float, ...]
    """Of each bed that a sensor keeps apart, from the top."""
    lengths: tuple[float, ...]
    """Of belts [d]."""
    iterations: int = 150
    fill_iterations: int = 40
    window: float = 0.3
    """Of the measurement [s]."""
    rate: float = 1000.0
    """Of the source [1/s]."""
    speed: float = 0.1
    """Of the belts [m/s]."""


QUICK = SpeedSize(beds=(1000, 4000, 16000), parts=(0.5, 0.3, 0.15, 0.05, 0.0), lengths=(50.0,))
FULL = SpeedSize(
    beds=(1000, 4000, 16000, 64000, 100000), parts=(0.7, 0.5, 0.3, 0.15, 0.05, 0.02, 0.0), lengths=(50.0, 100.0, 300.0, 1000.0), window=1.0
)


def measure(size: SpeedSize, run: Runner) -> Outcome:
    """Wall time of a step with and without reduction, one after the other, from the same states."""
    belts = [{"length": length, "rate": size.rate, "speed": size.speed} for length in size.lengths]
    filled = [parameters_of(make_scene("conveyor", belt), ConveyorParameters).filled + 0.5 for belt in belts]
    states = run(
        [
            *(Job(prepare, ("box", _bed(count), size.fill_iterations, REST), count * REST) for count in size.beds),
            *(
                Job(prepare, ("conveyor", belt, size.fill_iterations, until), until**2 * size.rate)
                for belt, until in zip(belts, filled, strict=True)
            ),
        ]
    )
    beds, belt_states = states[: len(size.beds)], states[len(size.beds) :]
    jobs = [
        Job(bed, (_bed(n), state, size.iterations, part, size.window), n, alone=True)
        for n, state in zip(size.beds, beds, strict=True)
        for part in (None, *size.parts)
    ]
    jobs += [
        Job(belt_pace, (belt, state, size.iterations, reduction, size.window), belt["length"] * 100, alone=True)
        for belt, state in zip(belts, belt_states, strict=True)
        for reduction in (None, "cs", "ctr4-f")
    ]
    found = iter(run(jobs))
    measured: dict[str, Any] = {}
    for n in size.beds:
        full, *reduced = [next(found) for _ in (None, *size.parts)]
        measured[f"bed of {n}"] = _points(full, reduced)
    for length in size.lengths:
        full, *reduced = [next(found) for _ in range(3)]
        measured[f"belt of {length:g} d, {full['grains']} grains (cs, ctr)"] = _points(full, reduced)
    last = measured[f"bed of {size.beds[-1]}"]
    curves: dict[str, Any] = {
        "predicted": _model(VOLUME),
        "predicted_fixed": _model(0.0),
        "measured": measured,
        "reduction_level": last["level"],
        "speed_up": last["speed_up"],
    }
    return Outcome(_rows(size, measured), curves)


def draw(outcome: Outcome, folder: Path) -> list[Path]:
    """One figure: the model and the points."""
    return [draw_speed_up(outcome.curves, folder / "mr-speedup.png")]


def bed(parameters: dict[str, Any], prepared: dict[str, Any], iterations: int, part: float | None, window: float) -> dict[str, Any]:
    """Wall time of a step of a bed at rest, of which a sensor keeps the upper ``part`` apart; none: full resolution."""
    reduction = None if part is None else "cs" if part > 0 else "c"
    warm("box", SMALL_BED, None if part is None else "c")
    scene = make_scene("box", parameters)
    walls = len(scene.all_bodies)
    place = prepared["bodies"]["position"][walls:]
    if part:
        low, high = place.min(axis=0) - 1.0, place.max(axis=0) + 1.0
        low[2] = np.quantile(place[:, 2], 1 - part)
        scene = scene.changed(sensors=(BoxSensor(lower=tuple(map(float, low)), upper=tuple(map(float, high))),))
    return _pace(TimedRun(scene, prepared, BEST, iterations, reduction), window)


def belt_pace(
    parameters: dict[str, Any], prepared: dict[str, Any], iterations: int, reduction: str | None, window: float
) -> dict[str, Any]:
    """Wall time of a step of a full belt."""
    warm("conveyor", {"length": 34.0, "rate": 200.0}, reduction)
    return _pace(TimedRun(make_scene("conveyor", parameters), prepared, BEST, iterations, reduction), window)


def _pace(course: TimedRun, window: float) -> dict[str, Any]:
    course.run(DROPPED)
    since = course.sim.time
    found = course.run(window).summary(since)
    return {name: found[name] for name in ("seconds_per_step", "level_mean", "grains")}


def _bed(count: int) -> dict[str, Any]:
    return {"count": count, "time_step": 0.005}


def _points(full: dict[str, Any], reduced: list[dict[str, Any]]) -> dict[str, Any]:
    level = np.array([one["level_mean"] for one in reduced])
    speed_up = full["seconds_per_step"] / np.array([one["seconds_per_step"] for one in reduced])
    return {
        "level": level,
        "speed_up": speed_up,
        "overhead": overhead_of(level, speed_up, 0.0),
        "grains": full["grains"],
        "seconds_per_step": full["seconds_per_step"],
    }


def _model(gamma: float) -> dict[str, Any]:
    return {"level": LEVELS, "speed_up": {f"{delta:g}": predicted_speed_up(LEVELS, delta, gamma) for delta in OVERHEADS}}


def _rows(size: SpeedSize, measured: dict[str, Any]) -> list[Row]:
    rows = [
        compared("model: speed-up at level 0.7, delta = 0", float(predicted_speed_up(0.7, 0.0)), "a factor 5", 4.5, 5.5, "{:.1f}"),
        compared("model: speed-up at level 0.95, delta = 0.01", float(predicted_speed_up(0.95, 0.01)), "up to 50", 30, 50, "{:.0f}"),
    ]
    for name, points in measured.items():
        each = ", ".join(f"{s:.1f} at {100 * level:.0f} %" for level, s in zip(points["level"], points["speed_up"], strict=True))
        rows.append(Row(f"speed-up, {name}", f"{each}; full: {1e3 * points['seconds_per_step']:.1f} ms a step", "not measured"))
    last = measured[f"bed of {size.beds[-1]}"]
    best = int(np.argmax(last["level"]))
    rows.append(
        compared(
            f"resting bed of {last['grains']} grains, all merged: speed-up",
            float(last["speed_up"][best]),
            "floor 20 with 100 000 grains",
            20.0,
            math.inf,
            "{:.0f}",
        )
    )
    rows.append(Row("overhead delta of that (as many sweeps)", f"{last['overhead'][best]:.4f}", "below 0.1 is asked for"))
    return rows
