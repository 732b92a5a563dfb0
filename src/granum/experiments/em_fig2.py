"""Residual against iteration for one minimisation of an unjammed packing that has grown a little (EM 4.1, Fig. 2).

EM compares four methods. Tuned FIRE and the stiffness of the contacts stand beside them: in an unjammed packing there is no stiffness in
the end, so that this is the case where they are not expected to win.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .._jit import FloatArray
from ..plot.em_experiments import draw_residuals
from .em_packings import LABELS, quenched, relax, warm_up
from .experiment import Outcome, Row, Runner, compared
from .pool import Job

METHODS = ("lbfgs", "lbfgs+adjacency", "fr-cg", "fr-cg+adjacency", "fire", "lbfgs+contacts", "auto")


@dataclass(frozen=True)
class ResidualSize:
    """Sizes of the experiment."""

    count: int = 4096
    phi: float = 0.8389
    """[-] before the grains grow; unjammed."""
    growth: float = 5e-5
    """[-] of the radii."""
    tolerance: float = 1e-12
    """[N] of the largest force component (k = 1 N/m, cell of 1 m)."""
    limit: int = 6000
    """Iterations."""
    seed: int = 1


QUICK = ResidualSize()
FULL = ResidualSize(tolerance=1e-14, limit=30_000)


def measure(size: ResidualSize, run: Runner) -> Outcome:
    """One minimisation with each method, from the same start."""
    warm_up()
    # One after the other: all start from one packing, which is made once, and times are compared.
    found = [run([Job(descend, (size, method), 1.0)])[0] for method in METHODS]
    curves = {
        "methods": {method: {"residual": history, "seconds": seconds} for method, (history, seconds) in zip(METHODS, found, strict=True)},
        "labels": {method: LABELS[method] for method in METHODS}, "tolerance": size.tolerance, "count": size.count, "phi": size.phi,
    }  # fmt: skip
    rows = []
    for method, (history, seconds) in zip(METHODS, found, strict=True):
        end = f"{len(history) - 1} iterations" if history[-1] <= size.tolerance else f"{history[-1]:.0e} N after {len(history) - 1}"
        rows.append(Row(f"{LABELS[method]}: to {size.tolerance:g} N", f"{end}, {seconds:.2g} s"))
    needed = {method: iterations_to(history, size.tolerance) for method, (history, _) in zip(METHODS, found, strict=True)}
    rows.append(compared("iterations, L-BFGS / P-L-BFGS (A = 0)", needed["lbfgs"] / needed["lbfgs+adjacency"],
                         "a factor of two", 1.5, np.inf, "{:.2f}"))  # fmt: skip
    rows.append(compared("iterations, FR-CG / L-BFGS", needed["fr-cg"] / needed["lbfgs"], "L-BFGS is better", 1.0, np.inf, "{:.2f}"))
    rows.append(compared("iterations, FR-CG / P-FR-CG", needed["fr-cg"] / needed["fr-cg+adjacency"], "preconditioned is better", 1.0,
                         np.inf, "{:.2f}"))  # fmt: skip
    return Outcome(rows, curves)


def draw(outcome: Outcome, folder: Path) -> list[Path]:
    """One figure."""
    return [draw_residuals(outcome.curves, folder / "em-fig2.png")]


def descend(size: ResidualSize, method: str) -> tuple[FloatArray, float]:
    """Residuals [N] after each iteration, and time [s]."""
    start = quenched(size.count, size.phi, size.seed, 1e-15)
    report = relax(start.grown(1 + size.growth), method, size.tolerance, size.limit).report
    return report.history, report.seconds


def iterations_to(history: FloatArray, tolerance: float) -> float:
    """The first iteration below the tolerance; those of the whole run, at least, if there is none."""
    below = np.flatnonzero(history <= tolerance)
    return float(below[0]) if len(below) else float(len(history) - 1)
