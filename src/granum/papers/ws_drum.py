"""Dense flow in a slowly turning smooth drum: plug zone and angle of repose against iterations (WS 4.3, Fig. 10 to 13)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..pool import Job
from .drum_flow import drum_cost, flow, prepare
from .experiment import Outcome, Row, Runner, compared
from .figures.drum import draw_drum_flow, draw_drum_sections
from .methods import iterations_within

TITLE = "plug zone and angle of repose in a slow drum by warm start (WS 4.3, Fig. 10-13)"
COMPARED = ("cold", "history", "momentum + history")
TIME_STEP = 0.005  # [s]
BEST = "momentum + history"
FEW = 10  # sweeps of the flow that is shown beside the best


@dataclass(frozen=True)
class DrumSize:
    """Sizes of the experiment."""

    iterations: tuple[int, ...]
    prepare: float
    """For so long [s] the drum turns before anything is compared."""
    prepare_iterations: int
    settle: float
    """From the change of method to the measurement [s]."""
    window: float = 2.0
    """Of the measurement [s]."""
    count: int = 4864
    width: float = 40.0
    length: float = 7.0
    speed: float = 0.25


QUICK = DrumSize(iterations=(5, 10, 25, 50, 100, 250), prepare=6.0, prepare_iterations=50, settle=2.0, window=1.5)
FULL = DrumSize(iterations=(5, 10, 25, 50, 75, 100, 150, 250, 500), prepare=12.0, prepare_iterations=150, settle=8.0)


def measure(size: DrumSize, run: Runner) -> Outcome:
    """The same flow, run on with all methods and numbers of sweeps."""
    parameters = {
        "kind": "smooth",
        "count": size.count,
        "width": size.width,
        "length": size.length,
        "speed": size.speed,
        "time_step": TIME_STEP,
    }
    cost = drum_cost(size.count, size.prepare, TIME_STEP, size.prepare_iterations)
    (prepared,) = run([Job(prepare, (parameters, size.prepare_iterations, size.prepare), cost)])
    which = [(method, iterations) for method in COMPARED for iterations in size.iterations]
    results = run(
        [
            Job(
                flow,
                (parameters, prepared, method, n, size.settle, size.window),
                drum_cost(size.count, size.settle + size.window, TIME_STEP, n),
            )
            for method, n in which
        ]
    )
    found = dict(zip(which, results, strict=True))
    curves: dict[str, Any] = {"iterations": np.array(size.iterations), "window": size.window}
    for name in ("plug", "angle", "surface_angle", "height", "sliding"):
        curves[name] = {method: np.array([np.nanmean(found[method, n][name]) for n in size.iterations]) for method in COMPARED}
    curves["plug_scatter"] = {method: np.array([np.nanstd(found[method, n]["plug"]) for n in size.iterations]) for method in COMPARED}
    curves["overlap"] = {method: np.array([found[method, n]["overlap"] for n in size.iterations]) for method in COMPARED}
    few, most = min(size.iterations, key=lambda n: abs(n - FEW)), size.iterations[-1]
    curves["sections"] = {f"{m}, {n} iterations": found[m, n]["section"] for m, n in (("cold", few), ("cold", most), ("history", few))}
    return Outcome(_rows(size, curves), curves)


def draw(outcome: Outcome, folder: Path) -> list[Path]:
    """Two figures: plug zone and angle against iterations; cross-sections and ways of grains."""
    return [
        draw_drum_flow(outcome.curves, folder / "ws-drum.png"),
        draw_drum_sections(outcome.curves, folder / "ws-drum-flow.png"),
    ]


def _rows(size: DrumSize, curves: dict[str, Any]) -> list[Row]:
    plug, angle, most = curves["plug"], curves["angle"], size.iterations[-1]
    rows = [
        compared(
            f"plug zone, {BEST}, {most} iterations",
            100 * plug[BEST][-1],
            "58 % +- 5 % (cold, 500 iterations)",
            53,
            63,
            f"{{:.0f}} % +- {100 * curves['plug_scatter'][BEST][-1]:.0f} % in time",
        ),
        *(
            compared(f"angle of the centre of mass, {method}, {most} iterations", angle[method][-1], paper, low, low + 4, "{:.1f} degrees")
            for method, paper, low in (("cold", "48 degrees (500 iterations)", 46), ("history", "50 degrees (500 iterations)", 48))
        ),
    ]
    few = int(np.argmin(np.abs(curves["iterations"] - FEW)))
    n = size.iterations[few]
    rows.append(
        compared(
            f"plug zone at {n} iterations, history / cold",
            plug["history"][few] / max(1e-9, plug["cold"][few]),
            "more with warm start (above 1)",
            1.0,
            np.inf,
        )
    )
    for name, text in (("angle", "angle"), ("plug", "plug zone")):
        need = {method: iterations_within(curves["iterations"], curves[name][method], _right(curves[name])) for method in COMPARED}
        each = ", ".join(f"{method} {number:.0f}" if np.isfinite(number) else f"{method} none" for method, number in need.items())
        rows.append(Row(f"iterations for 5 % of the {text}", each))
        if name == "angle":
            rows.append(compared("cold / history for 5 % of the angle", need["cold"] / need["history"], "about 3", 1.5, 6.0))
    return rows


def _right(values: dict[str, np.ndarray]) -> float:
    """What the methods tend to: the mean of the best at its two largest numbers of sweeps, as the flow pulses."""
    return float(values[BEST][-2:].mean())
