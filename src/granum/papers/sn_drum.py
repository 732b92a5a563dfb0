"""A sawtooth drum: force network, flow and iterations against speed and grains (SN 5.2, Fig. 7 to 10)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis.drum import Drum
from ..analysis.snapshot import Snapshot
from ..pool import Job
from ..scene.library import make_scene
from .drum_flow import continue_with, drum_cost, flow, prepare
from .experiment import Outcome, Row, Runner, compared
from .figures.drum import draw_drum_forces, draw_drum_iterations
from .sn_systems import exponent

TITLE = "flow, forces and iterations in a sawtooth drum (SN 5.2, Fig. 7-10)"
TIME_STEP = 0.01  # [s]
TOLERANCE = 0.05  # of the mean overlap
METHOD = "cold"


@dataclass(frozen=True)
class DrumSize:
    """Sizes of the experiment."""

    width: float
    """[d]"""
    counts: tuple[int, ...]
    """Grains; the last is the drum whose flow is shown."""
    speeds: tuple[float, ...]
    """[rad/s]; of the one before the last the flow is shown, the last is the fast one that does not converge."""
    iterations: tuple[int, ...]
    settle: float
    """From the change of iterations to the measurement [s], besides a third of a turn."""
    longest: float
    """Of that time [s]: a third of a slow turn takes long."""
    prepare: float = 2.0
    """[s] at ``prepare_iterations`` with momentum and history."""
    prepare_iterations: int = 150
    window: float = 0.4
    """Of the measurement [s]."""
    length: float = 8.0
    """[d]"""


# Speeds at the Froude numbers of the paper: omega sqrt(width) is the same.
QUICK = DrumSize(
    width=40,
    counts=(200, 400, 800, 1600),
    speeds=tuple(round(w * math.sqrt(2), 3) for w in (0.0, 0.13, 0.34, 0.63, 2.5)),
    iterations=(10, 25, 50, 100, 250),
    settle=1.0,
    longest=2.0,
)
FULL = DrumSize(
    width=80,
    counts=(500, 1000, 2500, 5000, 7500),
    speeds=(0.0, 0.13, 0.34, 0.63, 2.5),
    iterations=(10, 25, 50, 75, 100, 150, 250, 500),
    settle=3.5,
    longest=20.0,
    prepare_iterations=500,
)


def measure(size: DrumSize, run: Runner) -> Outcome:
    """All speeds and numbers of grains with all numbers of sweeps."""
    drums = [(speed, count) for speed in size.speeds for count in size.counts]
    states = run(
        [
            Job(
                prepare,
                (_drum(size, *one), size.prepare_iterations, size.prepare),
                drum_cost(one[1], 3, TIME_STEP, size.prepare_iterations),
            )
            for one in drums
        ]
    )
    prepared = dict(zip(drums, states, strict=True))
    which = [(*one, n) for one in drums for n in size.iterations]
    shown = (size.speeds[-2], size.counts[-1])
    ends = (size.iterations[0], size.iterations[-1])
    results = run(
        [
            *(
                Job(
                    flow,
                    (_drum(size, speed, count), prepared[speed, count], METHOD, n, _settle(size, speed), size.window),
                    drum_cost(count, _settle(size, speed) + size.window, TIME_STEP, n),
                )
                for speed, count, n in which
            ),
            *(
                Job(forces, (_drum(size, *shown), prepared[shown], n, _settle(size, shown[0])), drum_cost(shown[1], 3, TIME_STEP, n))
                for n in ends
            ),
        ]
    )
    found = dict(zip(which, results, strict=False))
    overlap = {w: np.array([[found[w, count, n]["overlap"] for n in size.iterations] for count in size.counts]) for w in size.speeds}
    curves: dict[str, Any] = {
        "counts": np.array(size.counts),
        "speeds": np.array(size.speeds),
        "iterations": np.array(size.iterations),
        "shown": shown,
        "overlap": {f"{w:g}": overlap[w] for w in size.speeds},
        "required": {f"{w:g}": np.array([iterations_at(size.iterations, row) for row in overlap[w]]) for w in size.speeds},
        "impacting": np.array([found[w, size.counts[-1], ends[1]]["impacting"].mean() for w in size.speeds]),
        "contacts": np.array([found[w, size.counts[-1], ends[1]]["contacts"].mean() for w in size.speeds]),
        "height": np.array([found[(*shown, n)]["height"].mean() for n in size.iterations]),
        "profile": {str(n): found[(*shown, n)]["profile"] for n in size.iterations},
        "sections": {f"{n} iterations": found[(*shown, n)]["section"] for n in ends},
        "forces": {f"{n} iterations": chains for n, chains in zip(ends, results[len(which) :], strict=True)},
    }
    return Outcome(_rows(size, curves), curves)


def draw(outcome: Outcome, folder: Path) -> list[Path]:
    """Two figures: forces and flow; iterations."""
    return [
        draw_drum_forces(outcome.curves, folder / "sn-drum-flow.png"),
        draw_drum_iterations(outcome.curves, folder / "sn-drum.png"),
    ]


def _drum(size: DrumSize, speed: float, count: int) -> dict[str, Any]:
    return {
        "kind": "sawtooth",
        "count": count,
        "width": size.width,
        "length": size.length,
        "speed": speed,
        "time_step": TIME_STEP,
    }


def _settle(size: DrumSize, speed: float) -> float:
    """A third of a turn and ``settle`` [s]."""
    return min(size.longest, 2 * math.pi / 3 / speed if speed > 0 else 0.0) + size.settle


def forces(parameters: dict[str, Any], prepared: dict[str, Any], iterations: int, settle: float) -> dict[str, Any]:
    """Contacts between grains of one instant in the drum's plane: ends (C, 2, 2) [R] and normal force over its mean (SN Fig. 7)."""
    sim = continue_with(make_scene("drum", parameters), prepared, METHOD, iterations, settle)
    s = Snapshot.of(sim)
    pair, drum = s.b >= 0, Drum.of(s)
    across, _, up = drum.project(s.position - drum.centre)
    place = np.stack([across, up], axis=1) / drum.radius
    ends = np.stack([place[s.a[pair]], place[s.b[pair]]], axis=1)
    force = s.normal_force[pair]
    return {"ends": ends, "force": force / max(1e-300, float(force.mean()) if len(force) else 1.0)}


def iterations_at(iterations: tuple[int, ...], overlap: np.ndarray) -> float:
    """Where the mean overlap falls below the tolerance for good, on logarithmic axes; 0: fewer than were run, NaN: more."""
    above = np.flatnonzero(overlap > TOLERANCE)
    if not len(above):
        return 0.0
    k = int(above[-1])
    if k == len(iterations) - 1:
        return math.nan
    part = math.log(overlap[k] / TOLERANCE) / math.log(overlap[k] / overlap[k + 1])
    return float(iterations[k] * (iterations[k + 1] / iterations[k]) ** part)


def _rows(size: DrumSize, curves: dict[str, Any]) -> list[Row]:
    counts, rows = curves["counts"], []
    for w in size.speeds:
        need = curves["required"][f"{w:g}"]
        each = ", ".join("more" if np.isnan(n) else f"{n:.0f}" if n > 0 else f"below {size.iterations[0]}" for n in need)
        rows.append(Row(f"iterations for <eps_c> = 5 % at {w:g} rad/s, {', '.join(map(str, counts))} grains", each))
    slopes = [exponent(counts, curves["required"][f"{w:g}"]) for w in size.speeds[:-1]]
    rows.append(
        compared(
            "exponent of iterations over grains, mean of the speeds",
            _mean(slopes),
            "linear (1)",
            0.7,
            1.3,
            "{:.2f}",
        )
    )
    slow, fast = (curves["required"][f"{w:g}"] for w in (size.speeds[1], size.speeds[-2]))
    slow, fast = (np.where(need > 0, need, np.nan) for need in (slow, fast))
    rows.append(
        compared(
            f"iterations at {size.speeds[-2]:g} / at {size.speeds[1]:g} rad/s",
            _mean(fast / slow),
            "more when faster (above 1)",
            1.0,
            10,
            "{:.2f}",
        )
    )
    last = curves["overlap"][f"{size.speeds[-1]:g}"][-1, -1]
    rows.append(
        compared(
            f"<eps_c> at {size.speeds[-1]:g} rad/s, {size.iterations[-1]} iterations",
            float(last),
            "never below 0.05",
            TOLERANCE,
            1.0,
            "{:.3f}",
        )
    )
    for k, (paper, low, high) in {1: ("10 %", 0.02, 0.2), len(size.speeds) - 1: ("almost 50 %", 0.35, 0.6)}.items():
        part = curves["impacting"][k]
        rows.append(
            compared(
                f"impacting contacts at {size.speeds[k]:g} rad/s",
                100 * part,
                paper,
                100 * low,
                100 * high,
                "{:.0f} %",
            )
        )
    spread = curves["contacts"][:-1]
    rows.append(
        compared(
            "most / fewest contacts, but for the fastest drum",
            float(spread.max() / spread.min()),
            "nearly independent of speed (1)",
            1.0,
            1.25,
            "{:.2f}",
        )
    )
    few = [k for k, n in enumerate(size.iterations) if n <= 25]
    sunk = [1 - curves["height"][k] / curves["height"][-1] for k in few]
    rows.append(
        compared(
            f"height of the centre of mass lost at {size.iterations[few[0]]} iterations",
            100 * sunk[0],
            "more than 10 % (of the height)",
            10,
            100,
            "{:.0f} %",
        )
    )
    thickness = curves["profile"][str(size.iterations[-1])]["plug_thickness"]
    rows.append(
        compared(
            f"thickness of the plug flow at {size.speeds[-2]:g} rad/s, {size.iterations[-1]} iterations",
            float(thickness),
            "about 0.3 R",
            0.15,
            0.45,
            "{:.2f} R",
        )
    )
    return rows


def _mean(values: Any) -> float:
    """Of those that could be measured."""
    known = np.asarray(values, float)
    known = known[np.isfinite(known)]
    return float(known.mean()) if len(known) else math.nan
