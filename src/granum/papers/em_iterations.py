"""Iterations and time of a small strain step against the distance to jamming (EM 4.2, Fig. 7).

A packing at phi - phi_cr is sheared by 0.01 (phi - phi_cr), so that steps are alike on the way to jamming: contacts change by the same
part. All methods stop at 1e-6 of the mean contact force. EM shears by 1e-6 to 1e-5 at all distances and stops at a fixed force; its curves
fall from 1e3-1e4 iterations at 1e-6 to hundreds at 1e-2, for both of its methods. Medians over seeds; times are the best of the repeats,
one run after the other in one process. An iteration of Newton's method holds several of conjugate gradients, so its time says more.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..checks import RunError
from ..pool import Job
from ..quasistatic.packing import Packing
from ..scene.cell import simple_shear
from .em_packings import LABELS, at_rest, best_times, jammed, numbers, relax, slope, warm_up
from .experiment import Outcome, Row, Runner, compared
from .figures.em import draw_iterations

TITLE = "iterations and time of a strain step on the way to jamming (EM 4.2, Fig. 7)"
METHODS = ("lbfgs", "lbfgs+adjacency", "fire", "lbfgs+contacts", "newton+contacts", "auto")
STRAIN = 0.01  # of phi - phi_cr
PART = 1e-6  # of the mean contact force: residual at which all methods stop
START = 1e-8  # the same of the packing before the strain
NEAR = (1e-4, 1e-5)  # where times are compared


@dataclass(frozen=True)
class IterationsSize:
    """Sizes of the experiment."""

    count: int = 1024
    seeds: int = 3
    above: tuple[float, ...] = (1e-2, 1e-3, 1e-4, 1e-5)
    """phi - phi_cr"""
    accuracy: float = 5e-7
    """of phi_cr"""
    repeats: int = 2
    limit: int = 20_000
    """Iterations."""


QUICK = IterationsSize()
FULL = IterationsSize(count=4096, above=(1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6), accuracy=1e-7, repeats=3, limit=60_000)


def measure(size: IterationsSize, run: Runner) -> Outcome:
    """All seeds, distances and methods."""
    warm_up()
    seeds, turns = range(1, size.seeds + 1), range(size.repeats)
    which = [(seed, turn, above, method) for seed in seeds for turn in turns for above in size.above for method in METHODS]
    done = dict(zip(which, run([Job(timed, (size, *one), 1.0, alone=True) for one in which]), strict=True))
    above = np.array(size.above)
    each: dict[str, dict[str, np.ndarray]] = {}
    for method in METHODS:
        best = [[best_times([done[seed, turn, a, method] for turn in turns]) for a in size.above] for seed in seeds]
        each[method] = {what: np.array([[one[what] for one in row] for row in best], float) for what in ("iterations", "seconds")}
    middle = {method: {what: np.median(values, axis=0) for what, values in one.items()} for method, one in each.items()}
    return Outcome(
        _rows(above, middle),
        {
            "above": above,
            "each": each,
            "median": middle,
            "labels": {m: LABELS[m] for m in METHODS},
            "count": size.count,
            "seeds": size.seeds,
        },
    )


def draw(outcome: Outcome, folder: Path) -> list[Path]:
    """One figure: iterations and times."""
    return [draw_iterations(outcome.curves, folder / "em-iterations.png")]


def timed(size: IterationsSize, seed: int, turn: int, above: float, method: str) -> dict[str, Any]:
    """Iterations, time and more of one strain step; the turns differ in their times only."""
    packing, tolerance = approach(size, seed)[above]
    return numbers(relax(packing.deformed(simple_shear(2, STRAIN * above)), method, tolerance, size.limit).report)


@functools.lru_cache(maxsize=1)
def approach(size: IterationsSize, seed: int) -> dict[float, tuple[Packing, float]]:
    """The packing at each distance, and the force [N] that may be left in it after the strain."""
    start = jammed(size.count, seed, size.accuracy)
    packing, found = start.packing, {}
    for above in sorted(size.above):
        packing, seen = at_rest(packing.at(start.phi_cr + above), START)
        tolerance = seen.tolerance(PART)
        if tolerance is None:
            raise RunError(f"seed {seed} is unjammed at phi - phi_cr = {above:g}. Take a smaller accuracy.")
        found[above] = packing, tolerance
    return found


def _rows(above: np.ndarray, median: dict[str, dict[str, np.ndarray]]) -> list[Row]:
    rows = []
    for k, distance in enumerate(above):
        each = ", ".join(f"{LABELS[m]} {median[m]['iterations'][k]:.0f}" for m in METHODS)
        paper = {1e-2: "hundreds", 1e-6: "1e3 - 1e4"}.get(float(distance), "in between")
        rows.append(Row(f"iterations at phi - phi_cr = {distance:.0e}", each, f"L-BFGS, P-L-BFGS: {paper}"))
        each = ", ".join(f"{LABELS[m]} {median[m]['seconds'][k]:.3g}" for m in METHODS)
        rows.append(Row(f"seconds at phi - phi_cr = {distance:.0e}", each))
    for method in ("lbfgs", "lbfgs+adjacency"):
        grows, error = slope(1 / above, median[method]["iterations"])
        ours = f"e = {grows:.2f} +- {error:.2f}"
        rows.append(Row(f"iterations of {LABELS[method]} grow as (phi - phi_cr)^-e", ours, "follow a scaling law", grows))
    asked = above >= 1e-5 * (1 - 1e-9)
    for method in ("lbfgs+contacts", "newton+contacts", "auto"):
        most = float(median[method]["iterations"][asked].max())
        what = f"iterations of {LABELS[method]}, the most down to 1e-5"
        rows.append(compared(what, most, "aim: 60 at most", 0, 60, "{:.0f}"))
    for distance in NEAR:
        k = int(np.argmin(np.abs(np.log(above / distance))))
        seconds = {method: median[method]["seconds"][k] for method in METHODS}
        best = min(seconds, key=lambda m: seconds[m])
        for method, least in (("lbfgs", 4.0), ("fire", 2.5)):
            rows.append(
                compared(
                    f"time at {above[k]:.0e}, {LABELS[method]} / best ({LABELS[best]})",
                    seconds[method] / seconds[best],
                    f"aim: {least:g} at least",
                    least,
                    np.inf,
                    "{:.1f}",
                )
            )
    return rows
