"""A slowly turning drum, with and without model reduction (MR section 5, Table 3, Fig. 7, 12 and 13)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis.contact_errors import Spread
from ..analysis.drum import Drum, drum_angles, plug_fraction, relative_speed, towers
from ..analysis.reduction import mergeable_level
from ..analysis.snapshot import Snapshot
from ..pool import Job
from ..scene.library import make_scene
from ..scene.library.drum import DrumParameters
from ..scene.parameters import parameters_of
from .experiment import Outcome, Row, Runner, compared
from .figures.mr import draw_drum_states, draw_drum_time
from .mr_runs import BEST, TimedRun, Which, label, level_row, prepare, speed_row, warm

TITLE = "flow in a slow drum, reduced and at full resolution (MR 5, Table 3, Fig. 7, 12 and 13)"
MAIN = "cs"
EVERY = 10  # steps between two looks at the flow
SMALL = {"count": 60, "width": 10.0, "length": 3.0, "speed": 0.5, "stiffness": 3e3}  # a drum to compile with
HIGHER, STEEPER, MORE = 0.05, 5.0, 0.005
"""Towers, against full resolution: lifted by so much of R more, so many degrees steeper, such a part of the grains above the surface."""


@dataclass(frozen=True)
class DrumSize:
    """Sizes of the experiment."""

    prepare: float
    """For so long [s] the drum turns before anything is compared."""
    window: float
    """Of the measurement [s]."""
    settle: float = 1.0
    """From the change of method to the measurement [s]."""
    prepare_iterations: int = 150
    iterations: int = 150
    reference_iterations: int = 500
    count: int = 4864
    width: float = 40.0
    """[d]"""
    length: float = 7.0
    """[d]"""
    speed: float = 0.5
    """[rad/s]"""
    reduced: tuple[str, ...] = ("cs", "ctr4-f")
    """Of ``REDUCTIONS``."""


QUICK = DrumSize(prepare=3.0, window=3.0, settle=0.5, prepare_iterations=50, reference_iterations=150)
FULL = DrumSize(prepare=13.0, window=13.0, reduced=("cs", "ctr4-f", "tr-f", "tr-fv"))


def measure(size: DrumSize, run: Runner) -> Outcome:
    """The same flow, run on at full resolution and reduced; timed one after the other."""
    parameters = {
        "kind": "smooth",
        "count": size.count,
        "width": size.width,
        "length": size.length,
        "speed": size.speed,
        "stiffness": 3e3,
    }
    until = parameters_of(make_scene("drum", parameters), DrumParameters).starts + size.prepare
    (prepared,) = run([Job(prepare, ("drum", parameters, size.prepare_iterations, until), 1.0)])
    which: list[Which] = [(BEST, size.reference_iterations, None), (BEST, size.iterations, None), ("cold", size.iterations, None)]
    which = list(dict.fromkeys(which)) + [(BEST, size.iterations, reduction) for reduction in size.reduced]
    found = run([Job(turn, (parameters, prepared, *one, size.settle, size.window), 1.0, alone=True) for one in which])
    runs = dict(zip((label(*one) for one in which), found, strict=True))
    reference, full, main = (
        label(BEST, n, r)
        for n, r in (
            (size.reference_iterations, None),
            (size.iterations, None),
            (size.iterations, MAIN),
        )
    )
    reduced = [label(BEST, size.iterations, reduction) for reduction in size.reduced]
    curves: dict[str, Any] = {
        "angle": runs[main]["angle_mean"],
        "angle_reference": runs[reference]["angle_mean"],
        "reduction_level": runs[main]["level_mean"],
        "speed_up": runs[full]["seconds_per_step"] / runs[main]["seconds_per_step"],
        "reference": reference,
        "reduced": reduced,
        "runs": runs,
    }
    return Outcome(_rows(runs, reference, full, reduced), curves)


def draw(outcome: Outcome, folder: Path) -> list[Path]:
    """Two figures: the flows; angle and reduction level over time."""
    return [draw_drum_states(outcome.curves, folder / "mr-drum.png"), draw_drum_time(outcome.curves, folder / "mr-drum-time.png")]


def turn(
    parameters: dict[str, Any], prepared: dict[str, Any], method: str, iterations: int, reduction: str | None, settle: float, window: float
) -> dict[str, Any]:
    """A flow: angles and reduction level over time [s from the change of method], towers, wall time, and a picture of the end."""
    warm("drum", SMALL, reduction)
    scene = make_scene("drum", parameters)
    course = TimedRun(scene, prepared, method, iterations, reduction)
    began = course.sim.time
    times, angles, risen, plugs, most = [], [], [], [], []
    last: Snapshot | None = None

    def look(sim: Any) -> None:
        nonlocal last
        if sim.step_count % EVERY == 0:
            now = Snapshot.of(sim)
            drum = Drum.of(now)
            times.append(sim.time - began)
            angles.append(drum_angles(now, drum))
            risen.append(towers(now, drum))
            plugs.append(plug_fraction(now, drum))
            most.append(mergeable_level(last, now) if last is not None else np.nan)
        elif reduction is None and sim.step_count % EVERY == EVERY - 1:
            last = Snapshot.of(sim)

    course.run(settle + window, look)
    end, time = Snapshot.of(course.sim), np.array(times)
    drum, late = Drum.of(end), time > settle
    surface = np.array([a.surface for a in angles])
    angle, found = Spread.of(surface[late]), course.summary(began + settle)
    across, _, up = drum.project(end.position - drum.centre)
    high = {name: Spread.of(np.array([getattr(t, name) for t in risen])[late]) for name in ("lift", "above", "standing", "steepest")}
    return found | {
        "time": found["time"] - began,
        "angle_time": time,
        "angle": surface,
        "angle_mean": angle.mean,
        "angle_spread": angle.std,
        "centre_of_mass_angle": Spread.of(np.array([a.centre_of_mass for a in angles])[late]).mean,
        "plug": Spread.of(np.array(plugs)[late]).mean,
        "mergeable": np.array(most),
        "towers": {name: spread.mean for name, spread in high.items()} | {f"most_{name}": spread.largest for name, spread in high.items()},
        "section": {
            "across": across / drum.radius,
            "up": up / drum.radius,
            "radius": end.radius / drum.radius,
            "speed": relative_speed(end, drum),
            "line_x": angles[-1].line.x / drum.radius,
            "line_z": angles[-1].line.z / drum.radius,
        },
    }


def _rows(runs: dict[str, Any], reference: str, full: str, reduced: list[str]) -> list[Row]:
    paper = {"full": ("44 +- 3 degrees (ref-500)", 41.0, 47.0), "ref": ("43 +- 2 degrees (ref-150)", 41.0, 45.0)}
    rows = []
    for name, found in runs.items():
        text = f"{{:.1f}} +- {found['angle_spread']:.1f} degrees"
        if name in reduced:
            rows.append(Row(f"angle, {name}", text.format(found["angle_mean"]), value=found["angle_mean"]))
        else:
            rows.append(compared(f"angle, {name}", found["angle_mean"], *paper[name.split("-")[0]], text))
    right, usual = runs[reference]["angle_mean"], runs[reference]["towers"]
    for name in reduced:
        found = runs[name]
        high = found["towers"]
        mr, low, most = ("70 +- 10 % (cs)", 40.0, 80.0) if name.startswith("cs") else ("40 +- 10 % (trial)", 40.0, 70.0)
        rows += [
            compared(
                f"angle, {name} against {reference}",
                found["angle_mean"] - right,
                "+5 (cs), 0, +1 (trial); floor: 3",
                -3.0,
                3.0,
                "{:+.1f} degrees",
            ),
            level_row(name, found, f"{mr}; floor: 40 to 70", low, most),
            compared(
                f"highest lift of the bed, {name} against {reference}",
                high["most_lift"] - usual["most_lift"],
                "cs: high lifting; floor: none",
                -1.0,
                HIGHER,
                "{:+.2f} R",
            ),
            compared(
                f"steepest piece of the surface, {name} against {reference}",
                high["steepest"] - usual["steepest"],
                "cs: much steeper; floor: none",
                -90.0,
                STEEPER,
                "{:+.1f} degrees",
            ),
            compared(
                f"grains that stand out of the flow, {name} against {reference}",
                100 * (high["standing"] - usual["standing"]),
                "cs: notable; floor: none",
                -100.0,
                100 * MORE,
                "{:+.2f} %",
            ),
            speed_row(name, found, runs[full], 1.0),
        ]
    return rows
