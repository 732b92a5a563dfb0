"""A pile on a conveyor and its discharge, with and without model reduction (MR section 5, Table 3, Fig. 5 and 8)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis.contact_errors import Spread
from ..analysis.conveyor import Discharge, discharge_points, ridge_angle
from ..pool import Job
from ..scene.library import make_scene
from ..scene.library.conveyor import ConveyorParameters
from ..scene.parameters import parameters_of
from ..simulation import make_settings
from .experiment import Outcome, Row, Runner, compared
from .figures.mr import draw_discharge, draw_ridges
from .mr_runs import BEST, TimedRun, Which, label, level_row, prepare, speed_row, warm

TITLE = "ridge and discharge of a conveyor, reduced and at full resolution (MR 5, Table 3, Fig. 8)"
SECTION = 15.0  # [d] of the ridge: the spread of angles is that of sections so long
LOOKS = 10  # instants in which the ridge is measured
MAIN = "ctr4-f"
REDUCED = ("cs", "ctr4-f")
SMALL = {"length": 34.0, "rate": 200.0}  # a belt to compile with
SHOWN = 15000  # grains of a picture


@dataclass(frozen=True)
class ConveyorSize:
    """Sizes of the experiment."""

    length: float
    """Of the belt [d]. MR's 50 d hold 4400 grains, a quarter of which moves at the ends; MR's 90 000 grains are on 1000 d."""
    iterations: int = 150
    reference_iterations: int = 500
    """Of the converged reference."""
    cold: bool = True
    """Also MR's own reference, without warm start."""
    fill_iterations: int = 40
    """While the belt fills, before anything is compared."""
    settle: float = 4.0
    """From the change of method to the measurement [s]: what is measured lay down meanwhile."""
    window: float = 6.0
    """Of the measurement [s]."""
    rate: float = 1000.0
    """Of the source [1/s]."""
    speed: float = 0.1
    """Of the belt [m/s]."""


QUICK = ConveyorSize(length=100.0, reference_iterations=150, cold=False, settle=4.0, window=2.0)
FULL = ConveyorSize(length=1000.0)


def measure(size: ConveyorSize, run: Runner) -> Outcome:
    """The same full belt, run on at full resolution and reduced; timed one after the other."""
    parameters = {"length": size.length, "rate": size.rate, "speed": size.speed}
    filled = parameters_of(make_scene("conveyor", parameters), ConveyorParameters).filled
    (prepared,) = run([Job(prepare, ("conveyor", parameters, size.fill_iterations, filled + 0.5), 1.0)])
    which: list[Which] = [(BEST, size.reference_iterations, None), (BEST, size.iterations, None)]
    which = list(dict.fromkeys(which)) + ([("cold", size.iterations, None)] if size.cold else [])
    which += [(BEST, size.iterations, reduction) for reduction in REDUCED]
    found = run([Job(belt, (parameters, prepared, *one, size.settle, size.window), 1.0, alone=True) for one in which])
    runs = dict(zip((label(*one) for one in which), found, strict=True))
    reference, full, main = (
        label(BEST, n, r) for n, r in ((size.reference_iterations, None), (size.iterations, None), (size.iterations, MAIN))
    )
    reduced = [label(BEST, size.iterations, reduction) for reduction in REDUCED]
    curves: dict[str, Any] = {
        "angle": runs[main]["angle_mean"],
        "angle_reference": runs[reference]["angle_mean"],
        "reduction_level": runs[main]["level_mean"],
        "speed_up": runs[full]["seconds_per_step"] / runs[main]["seconds_per_step"],
        "discharge_off": float(np.hypot(*(runs[main]["centre"] - runs[reference]["centre"]))),
        "reference": reference,
        "reduced": reduced,
        "runs": runs,
    }
    return Outcome(_rows(runs, reference, full, reduced), curves)


def draw(outcome: Outcome, folder: Path) -> list[Path]:
    """Two figures: where the discharge falls; ridges, belts and the reduction level."""
    return [draw_discharge(outcome.curves, folder / "mr-conveyor.png"), draw_ridges(outcome.curves, folder / "mr-conveyor-ridge.png")]


def belt(
    parameters: dict[str, Any], prepared: dict[str, Any], method: str, iterations: int, reduction: str | None, settle: float, window: float
) -> dict[str, Any]:
    """What a full belt is like: angle of its ridge, discharge [d from the edge], reduction level and wall time, over ``window`` [s]."""
    warm("conveyor", SMALL, reduction)
    scene = make_scene("conveyor", parameters)
    p = parameters_of(scene, ConveyorParameters)
    d, h, gravity = p.diameter, make_settings(scene.run).step_for(scene), -scene.gravity.acceleration[2]
    course = TimedRun(scene, prepared, method, iterations, reduction)
    changed, low = course.sim.time, p.middle[0]
    began, points, ridges = course.run(settle).sim.time, [], []
    every = max(1, round(window / h / LOOKS))

    def laid_down(sim: Any) -> float:
        """How far [m] along the belt everything was emitted since the change of method; a section at least."""
        return float(min(p.middle[1], max(p.source[0] + p.speed * (sim.time - changed), low + SECTION * d)))

    def look(sim: Any) -> None:
        points.append(discharge_points(sim.position, sim.velocity, p.counted, gravity, h, h))
        if len(points) % every == 0:
            ridges.append(ridge_angle(sim.position, sim.radius, (low, laid_down(sim))))

    course.run(window, look)
    sim = course.sim
    along = (low, laid_down(sim))
    sections = np.linspace(*along, 1 + max(1, round((along[1] - low) / (SECTION * d))))
    angles = Spread.of([ridge_angle(sim.position, sim.radius, part).mean for part in pairwise(sections)])
    discharge = Discharge((np.concatenate(points) - np.array([p.length, 0.0])) / d)
    x, y, part = discharge.distribution(1.0)
    speed = np.linalg.norm(sim.velocity - np.array([p.speed, 0, 0]) * (sim.position[:, 2:] > 0), axis=1)
    some = np.random.default_rng(0).permutation(sim.grain_count)[:SHOWN]
    section = (sim.position[:, 0] > along[0]) & (sim.position[:, 0] < along[1])
    return course.summary(began) | {
        "angle": np.array([one.mean for one in ridges]),
        "angle_mean": Spread.of([one.mean for one in ridges]).mean,
        "angle_spread": angles.std,
        "sections": angles.count,
        "height": float(np.mean([one.height for one in ridges])) / d,
        "centre": discharge.centre,
        "spread": discharge.spread,
        "discharged": len(discharge.points),
        "through": window,
        "distribution": {"x": x, "y": y, "part": part},
        "ridge": {"y": sim.position[section, 1] / d, "z": sim.position[section, 2] / d},
        "side": {
            "x": sim.position[some, 0] / d,
            "y": sim.position[some, 1] / d,
            "z": sim.position[some, 2] / d,
            "speed": speed[some],
            "length": p.length / d,
        },
    }


def _rows(runs: dict[str, Any], reference: str, full: str, reduced: list[str]) -> list[Row]:
    paper = {"full": "41.5 +- 0.7 degrees (ref-500)", "ref": "40.6 +- 0.5 degrees (ref-150)", "cs": "40.3 +- 0.8 degrees (cs-150)"}
    rows = []
    for name, found in runs.items():
        text = f"{{:.1f}} +- {found['angle_spread']:.1f} degrees"
        rows.append(
            compared(
                f"angle of the ridge, {name}", found["angle_mean"], paper.get(name.split("-")[0], "not in the paper"), 38.5, 43.5, text
            )
        )
    right, centre = runs[reference]["angle_mean"], runs[reference]["centre"]
    for name in reduced:
        found = runs[name]
        off = found["centre"] - centre
        rows += [
            compared(
                f"angle, {name} against {reference}", found["angle_mean"] - right, "-1.2 degrees (floor: 1.5)", -1.5, 1.5, "{:+.1f} degrees"
            ),
            compared(
                f"centre of the discharge, {name} against {reference}",
                math.hypot(*off),
                "very similar (floor: 1 d)",
                0.0,
                1.0,
                f"{{:.2f}} d ({off[0]:+.2f} along, {off[1]:+.2f} across)",
            ),
            level_row(name, found, "85 % (floor: 85)", 85.0),
            speed_row(name, found, runs[full], 5.0),
        ]
    rows.append(Row(f"centre of the discharge, {reference}", f"{centre[0]:.1f} d beyond the edge, {centre[1]:+.1f} d across"))
    rows.append(Row("grains on the belt and below", f"{runs[full]['grains']}", "90 000"))
    rows.append(Row(f"wall time of a step, {full}", f"{1e3 * runs[full]['seconds_per_step']:.1f} ms"))
    return rows
