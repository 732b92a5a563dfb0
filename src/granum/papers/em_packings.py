"""What the experiments of EM share: methods by name, packings at rest to start from, and timed minimisations."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..contact.power import HOOKE
from ..quasistatic.course import MinimiseReport
from ..quasistatic.jam import Jammed, jam
from ..quasistatic.measure import Measured, measure
from ..quasistatic.minimise import Relaxed, minimise
from ..quasistatic.packing import Packing, random_packing

LIMIT = 30_000  # iterations of a method that gets nowhere
DENSE = 0.85  # packing fraction, well above jamming
ROUGHLY = 1e-6  # of the mean contact force: residual of a packing that is measured
LABELS = {
    "lbfgs": "L-BFGS",
    "lbfgs+adjacency": "P-L-BFGS (A = 0)",
    "lbfgs+exponential": "P-L-BFGS (A = 3)",
    "fr-cg": "FR-CG",
    "fr-cg+adjacency": "P-FR-CG",
    "cg": "PR-CG",
    "fire": "FIRE, tuned",
    "lbfgs+contacts": "L-BFGS + contacts",
    "newton+contacts": "Newton + contacts",
    "auto": "auto",
}
"""Names of methods, ``method+preconditioner``, and what the figures call them: EM's are in EM's words."""


def relax(packing: Packing, method: str, tolerance: float, limit: int = LIMIT) -> Relaxed:
    """Minimise with a method of ``LABELS``."""
    name, _, preconditioner = method.partition("+")
    return minimise(packing, name, preconditioner or None, tolerance=tolerance, limit=limit)


def best_times(turns: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Of equal minimisations: what they did, and the best time [s]."""
    return turns[0] | {"seconds": min(turn["seconds"] for turn in turns)}


def numbers(report: MinimiseReport) -> dict[str, Any]:
    """What is kept of a minimisation."""
    return {
        "iterations": report.iterations,
        "evaluations": report.evaluations,
        "factorisations": report.factorisations,
        "seconds": report.seconds,
        "residual": report.residual,
        "converged": report.converged,
        "reason": report.reason,
    }


@functools.cache
def warm_up(dim: int = 2) -> None:
    """Compile (or load) the kernels of all methods, so that no clock runs meanwhile."""
    packing = random_packing(32, 0.86 if dim == 2 else 0.68, dim=dim)
    rest = minimise(packing).packing
    for method in LABELS:
        relax(rest.grown(1 + 1e-6), method, 1e-9, 50)
    measure(rest)


@functools.lru_cache(maxsize=4)
def quenched(count: int, phi: float, seed: int, residual: float) -> Packing:
    """Random grains that have come to rest at ``phi``, with forces below ``residual`` [N] left (k = 1, unit square).

    They first come to rest where they are well jammed, which takes fewer iterations, and are then decompressed.
    """
    dense = minimise(random_packing(count, max(phi, DENSE), seed=seed), tolerance=1e-9).packing
    return minimise(dense.at(phi), tolerance=residual).packing


@functools.lru_cache(maxsize=4)
def jammed(count: int, seed: int, accuracy: float) -> Jammed:
    """phi_cr of random grains with Hooke's law, from above."""
    return jam(count, seed=seed, accuracy=accuracy, law=HOOKE)


def at_rest(packing: Packing, part: float = ROUGHLY) -> tuple[Packing, Measured]:
    """The packing in balance to ``part`` of its mean contact force, and what it measures.

    The mean force is not known before, so the tolerance follows it down. An unjammed packing is returned as it is.
    """
    tolerance = 1e-3 * force_guess(packing)
    while True:
        packing, report = minimise(packing, tolerance=tolerance)
        found = measure(packing)
        goal = found.tolerance(part)
        if goal is None or report.residual <= goal or not report.converged:
            return packing, found
        tolerance = goal


def force_guess(packing: Packing) -> float:
    """[N] Mean contact force before balance; of grains that do not touch, what an overlap of 1e-6 would give."""
    found = measure(packing)
    return found.mean_force or packing.force_scale * 1e-6 ** (packing.law.alpha - 1)


def slope(x: np.ndarray, y: np.ndarray, error: np.ndarray | None = None) -> tuple[float, float]:
    """Exponent of y = c x^e by least squares on logarithms, and its standard error; points that are not positive are left out.

    With the standard ``error`` of each y, points count by it, and that of the exponent is the larger one of what follows from it and from
    the distances to the line.
    """
    good = (x > 0) & (y > 0)
    if good.sum() < 3:
        return np.nan, np.nan
    u, v = np.log(x[good]), np.log(y[good])
    weight = np.ones(len(u)) if error is None else (y[good] / np.maximum(error[good], 1e-3 * y[good])) ** 2
    u, v = u - np.average(u, weights=weight), v - np.average(v, weights=weight)
    square = float((weight * u * u).sum())
    value = float((weight * u * v).sum()) / square
    scatter = float(np.sqrt((weight * (v - value * u) ** 2).sum() / (len(u) - 2) / square))
    return value, scatter if error is None else max(scatter, square**-0.5)
