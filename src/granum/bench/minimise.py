"""Time of a quasi-static strain step near jamming, by method and number of grains."""

from __future__ import annotations

import contextlib
import os
import zipfile
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from .._jit import source_digest
from ..checks import InputError, RunError
from ..quasistatic.course import Course
from ..quasistatic.jam import ABOVE, JamStep, jam_packing
from ..quasistatic.measure import measure
from ..quasistatic.minimise import minimise
from ..quasistatic.packing import Packing, random_packing
from ..scene.cell import Cell, simple_shear
from .settled import LINE_EVERY, bench_folder
from .timing import Talk

DISTANCE = 1e-4  # phi - phi_cr that is aimed at
STRAIN = 0.01  # of it, in a step
PART = 1e-6  # of the mean contact force: residual at which all methods stop
START = 1e-8  # the same before the strain
LADDER = 4  # times more grains from one size to the next
STEPS = 3  # one after the other
METHODS = ("auto", "lbfgs+contacts", "fire", "lbfgs")


def measure_minimise(count: int = 4096, dim: int = 2, sizes: int = 2, talk: Talk = print) -> dict[str, Any]:
    """Seconds, iterations and factorisations of a strain step of 0.01 (phi - phi_cr) at a phi - phi_cr of about 1e-4.

    ``sizes`` packings, of ``count`` grains and of 4, 16 ... times as many, made once and kept. Medians of three steps: in some of
    them grains rearrange, and more often so the more grains there are. The growth is the exponent against grains.
    """
    if count < 64:
        raise InputError(f"grains must be at least 64 (got {count}).")
    if dim not in ABOVE:
        raise InputError(f"dim must be 2 or 3 (got {dim}).")
    if not 1 <= sizes <= 4:
        raise InputError(f"sizes must be from 1 to 4 (got {sizes}).")
    measure_size(64, dim, lambda text: None)  # compiles
    counts = [count * LADDER**k for k in range(sizes)]
    found = {str(count): measure_size(count, dim, talk) for count in counts}
    growth: dict[str, dict[str, float]] = {"seconds": {}, "iterations": {}}
    for method in METHODS if sizes > 1 else ():
        for what, by_method in growth.items():
            values = [found[str(count)][method][what] for count in counts]
            by_method[method] = float(np.polyfit(np.log(counts), np.log(values), 1)[0])
    return {
        "benchmark": "minimise",
        "dim": dim,
        "strain_over_distance": STRAIN,
        "tolerance_over_mean_force": PART,
        "packings": found,
        "growth": growth,
        "threads": 1,
        "dtype": "float64",
    }


def measure_size(count: int, dim: int, talk: Talk) -> dict[str, Any]:
    """All methods on the same steps."""
    packing, above = near_jamming(count, dim, talk)
    seen: dict[str, list[dict[str, Any]]] = {method: [] for method in METHODS}
    for _ in range(STEPS):
        known = measure(packing)
        tolerance, exactly = known.tolerance(PART), known.tolerance(START)
        strained = packing.deformed(simple_shear(dim, STRAIN * above))
        for method in METHODS:
            name, _, preconditioner = method.partition("+")
            report = minimise(strained, name, preconditioner or None, tolerance=tolerance).report
            seen[method].append(
                {
                    "seconds": report.seconds,
                    "iterations": report.iterations,
                    "evaluations": report.evaluations,
                    "factorisations": report.factorisations,
                    "converged": report.converged,
                }
            )
        packing = minimise(strained, tolerance=exactly).packing
    found: dict[str, Any] = {"above_jamming": above, "pressure": known.pressure}
    for method, steps in seen.items():
        found[method] = {what: float(np.median([step[what] for step in steps])) for what in steps[0] if what != "converged"}
        found[method]["converged"] = all(step["converged"] for step in steps)
        each = ", ".join(f"{step['seconds']:.3g}" for step in steps)
        talk(f"  {method}: {found[method]['seconds']:.3g} s ({each}), {found[method]['iterations']:.0f} iterations")
    return found


def near_jamming(count: int, dim: int, talk: Talk) -> tuple[Packing, float]:
    """Random grains in balance, and how far above phi_cr they are: about 1e-4. From the cache if they are there."""
    folder = bench_folder()
    path = folder / f"packing-{dim}d-{count}-{source_digest()}.npz" if folder is not None else None
    if path is not None:
        with contextlib.suppress(OSError, KeyError, ValueError, zipfile.BadZipFile), np.load(path) as kept:
            return Packing(Cell(vectors=kept["cell"]), kept["position"], kept["radius"]), float(kept["above"])
    talk(f"making a packing of {count} grains near jamming" + (f", once (kept in {folder})" if folder is not None else ""))
    said = monotonic()

    def look(course: Course, steps: list[JamStep]) -> None:
        nonlocal said
        if monotonic() - said > LINE_EVERY:
            said = monotonic()
            above = f"phi - phi_cr = {steps[-1].phi - steps[-1].phi_cr:.1e}" if steps and steps[-1].phi_cr > 0 else "coming to rest"
            talk(f"  {above}, iteration {course.iterations}")

    # The last step of the search aims at half of its accuracy.
    found = jam_packing(random_packing(count, ABOVE[dim], dim=dim), accuracy=2 * DISTANCE, watch=look)
    if not found.measured.jammed:
        raise RunError(f"{count} grains came out unjammed. Take another number.")
    packing = minimise(found.packing, tolerance=found.measured.tolerance(START)).packing
    above = packing.phi - found.phi_cr
    talk(f"  phi - phi_cr = {above:.2g}, {found.seconds:.0f} s")
    if path is not None:
        _keep(path, packing, above)
    return packing, above


def _keep(path: Path, packing: Packing, above: float) -> None:
    """Written under another name and renamed: a file that is there is whole."""
    part = path.with_suffix(f".{os.getpid()}.npz")
    with contextlib.suppress(OSError):  # it is only a cache
        np.savez(part, cell=packing.cell.vectors, position=packing.position, radius=packing.radius, above=above)
        os.replace(part, path)
