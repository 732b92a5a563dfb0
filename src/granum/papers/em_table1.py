"""Iterations and time of all methods in three cases: growth, shear and a random kick of an over-jammed packing (EM 4.2, Table 1).

All methods start from one packing in balance, far below the tolerance, and stop at the same largest force component, 3e-12 N with
k = 1 N/m in a unit square, which gives plain L-BFGS about EM's number of iterations. Runs follow each other in one process, in turns, and
the best time of each counts.

EM gives no unit of its kick, O(1e-4). In mean diameters it is a part of the mean overlap, and all methods need about EM's iterations; in
lengths of the cell it is ten overlaps, so that the contacts are made anew. Both are run, and both stand beside EM's Case 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..pool import Job
from ..quasistatic.packing import Packing
from ..scene.cell import simple_shear
from .em_packings import LABELS, best_times, numbers, quenched, relax, warm_up
from .experiment import Outcome, Row, Runner, compared
from .figures.em import draw_table

TITLE = "iterations and time of all minimisers: growth, shear, kick (EM 4.2, Table 1)"
CASES = ("growth", "shear", "kick", "strong kick")
METHODS = tuple(LABELS)
PAPER = {  # iterations and seconds
    "growth": {
        "lbfgs": (2003, 24.3),
        "lbfgs+adjacency": (705, 11.8),
        "lbfgs+exponential": (813, 16.2),
        "fr-cg": (4574, 58.9),
        "fr-cg+adjacency": (1101, 18.5),
    },
    "shear": {
        "lbfgs": (2749, 29.2),
        "lbfgs+adjacency": (986, 15.8),
        "lbfgs+exponential": (1351, 27.1),
        "fr-cg": (7306, 90.1),
        "fr-cg+adjacency": (2013, 33.5),
    },
    "kick": {
        "lbfgs": (602, 7.5),
        "lbfgs+adjacency": (380, 6.8),
        "lbfgs+exponential": (432, 9.1),
        "fr-cg": (940, 11.9),
        "fr-cg+adjacency": (528, 9.2),
    },
}
PAPER["strong kick"] = PAPER["kick"]


@dataclass(frozen=True)
class TableSize:
    """Sizes of the experiment."""

    count: int = 4096
    phi: float = 0.8438
    tolerance: float = 3e-12
    """[N] of the largest force component (k = 1 N/m, cell of 1 m)."""
    strain: float = 1e-4
    growth: float = 5e-5
    kick: float = 1e-4
    """Largest component of the random motion of a grain: in mean diameters, and, strong, in lengths of the cell."""
    repeats: int = 2
    limit: int = 5000
    """Iterations."""
    seed: int = 1


QUICK = TableSize()
FULL = TableSize(repeats=5, limit=30_000)


def measure(size: TableSize, run: Runner) -> Outcome:
    """All methods in all cases."""
    warm_up()
    which = [(turn, case, method) for turn in range(size.repeats) for case in CASES for method in METHODS]
    done = dict(zip(which, run([Job(timed, (size, *one), 1.0, alone=True) for one in which]), strict=True))
    found = {case: {method: best_times([done[turn, case, method] for turn in range(size.repeats)]) for method in METHODS} for case in CASES}
    rows = []
    for case in CASES:
        rows += _rows(case, found[case])
    return Outcome(rows, {"cases": found, "labels": LABELS, "paper": PAPER, "count": size.count, "phi": size.phi})


def draw(outcome: Outcome, folder: Path) -> list[Path]:
    """One figure: iterations and times."""
    return [draw_table(outcome.curves, folder / "em-table1.png")]


def timed(size: TableSize, turn: int, case: str, method: str) -> dict[str, Any]:
    """Iterations, time and more of a method in a case; the turns differ in their times only."""
    start = quenched(size.count, size.phi, size.seed, size.tolerance / 1000)
    return numbers(relax(strained(start, size, case), method, size.tolerance, size.limit).report)


def strained(packing: Packing, size: TableSize, case: str) -> Packing:
    """The packing of a case, out of balance."""
    if case == "growth":
        return packing.grown(1 + size.growth)
    if case == "shear":
        return packing.deformed(simple_shear(packing.dim, size.strain))
    rng = np.random.default_rng(size.seed)
    unit = packing.diameter if case == "kick" else 1.0
    return packing.moved(packing.position + unit * size.kick * rng.uniform(-1, 1, packing.position.shape))


def _rows(case: str, found: dict[str, dict[str, Any]]) -> list[Row]:
    plain = found["lbfgs"]
    rows = []
    for method, one in found.items():
        theirs = PAPER[case].get(method)
        text = f"{one['iterations']}, {one['seconds']:.2f} s" + ("" if one["converged"] else f" ({one['reason']})")
        rows.append(
            Row(
                f"{case}: {LABELS[method]}", text, f"{theirs[0]}, {theirs[1]} s" if theirs else "not in the paper", float(one["iterations"])
            )
        )
    fewer = plain["iterations"] / found["lbfgs+adjacency"]["iterations"]
    paper = [PAPER[case]["lbfgs"][k] / PAPER[case]["lbfgs+adjacency"][k] for k in (0, 1)]
    rows.append(
        compared(f"{case}: iterations, L-BFGS / P-L-BFGS (A = 0)", fewer, f"{paper[0]:.1f} (aim: 1.5 at least)", 1.5, np.inf, "{:.2f}")
    )
    done = {method: one["seconds"] for method, one in found.items() if one["converged"]}
    best = min(done, key=lambda method: done[method])
    rows.append(
        compared(
            f"{case}: time, L-BFGS / best ({LABELS[best]})",
            plain["seconds"] / done[best],
            f"{paper[1]:.1f} (aim: 1.5 at least)",
            1.5,
            np.inf,
            "{:.1f}",
        )
    )
    return rows
