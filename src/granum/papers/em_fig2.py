"""Residual against iteration for one minimisation of an unjammed packing that has grown a little (EM 4.1, Fig. 2).

The packing comes from below, as in EM Algorithm 1: it has grown in steps from a loose one and come to rest after each, so that grains just
touch. EM compares four methods; tuned FIRE and the stiffness of the contacts stand beside them.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..array_types import FloatArray
from ..pool import Job
from ..quasistatic.minimise import minimise
from ..quasistatic.packing import Packing, random_packing
from .em_packings import LABELS, relax, warm_up
from .experiment import Outcome, Row, Runner, compared
from .figures.em import draw_residuals

TITLE = "residual against iteration of one minimisation, unjammed (EM 4.1, Fig. 2)"
METHODS = ("lbfgs", "lbfgs+adjacency", "fr-cg", "fr-cg+adjacency", "fire", "lbfgs+contacts", "auto")


@dataclass(frozen=True)
class ResidualSize:
    """Sizes of the experiment."""

    count: int = 4096
    phi: float = 0.8389
    """[-] before the grains grow; unjammed."""
    growth: float = 5e-5
    """[-] of the radii."""
    tolerance: float = 1e-13
    """[N] of the largest force component (k = 1 N/m, cell of 1 m)."""
    limit: int = 6000
    """Iterations."""
    path: tuple[float, ...] = (0.82, 0.83, 0.835)
    """Packing fractions on the way up."""
    seed: int = 1


QUICK = ResidualSize()
FULL = ResidualSize(tolerance=1e-14, limit=30_000)


def measure(size: ResidualSize, run: Runner) -> Outcome:
    """One minimisation with each method, from the same start."""
    warm_up()
    found = run([Job(descend, (size, method), 1.0, alone=True) for method in METHODS])
    curves = {
        "methods": {method: {"residual": history, "seconds": seconds} for method, (history, seconds) in zip(METHODS, found, strict=True)},
        "labels": {method: LABELS[method] for method in METHODS},
        "tolerance": size.tolerance,
        "count": size.count,
        "phi": size.phi,
    }
    rows = []
    for method, (history, seconds) in zip(METHODS, found, strict=True):
        end = f"{len(history) - 1} iterations" if history[-1] <= size.tolerance else f"{history[-1]:.0e} N after {len(history) - 1}"
        rows.append(Row(f"{LABELS[method]}: to {size.tolerance:g} N", f"{end}, {seconds:.2g} s", "only drawn"))
    histories = {method: history for method, (history, _) in zip(METHODS, found, strict=True)}
    for above, below, paper, least in (
        ("lbfgs", "lbfgs+adjacency", "a factor of two", 1.5),
        ("fr-cg", "lbfgs", "L-BFGS is better", 1.0),
        ("fr-cg", "fr-cg+adjacency", "preconditioned is better", 1.0),
    ):
        ratio = ratio_of_iterations(histories[above], histories[below], size.tolerance)
        rows.append(compared(f"iterations, {LABELS[above]} / {LABELS[below]}", ratio, paper, least, np.inf, "{:.2f}"))
    return Outcome(rows, curves)


def draw(outcome: Outcome, folder: Path) -> list[Path]:
    """One figure."""
    return [draw_residuals(outcome.curves, folder / "em-fig2.png")]


def descend(size: ResidualSize, method: str) -> tuple[FloatArray, float]:
    """Residuals [N] after each iteration, and time [s]."""
    report = relax(from_below(size).grown(1 + size.growth), method, size.tolerance, size.limit).report
    return report.history, report.seconds


@functools.lru_cache(maxsize=1)
def from_below(size: ResidualSize) -> Packing:
    """The packing before it grows, with no more force than the tolerance."""
    packing = random_packing(size.count, size.path[0], seed=size.seed)
    for phi in (*size.path, size.phi):
        packing = minimise(packing.at(phi), tolerance=size.tolerance).packing
    return packing


def ratio_of_iterations(more: FloatArray, fewer: FloatArray, tolerance: float) -> float:
    """Of two histories; of a method that was stopped before the tolerance, at least. NaN if that is the second one."""
    return (len(more) - 1) / (len(fewer) - 1) if fewer[-1] <= tolerance else np.nan
