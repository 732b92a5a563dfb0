"""Time of one quasi-static strain step near jamming, by method and number of grains."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import InputError
from ..quasistatic.jam import ABOVE, Jammed, jam_packing
from ..quasistatic.minimise import minimise
from ..quasistatic.packing import Packing, random_packing
from ..scene.cell import simple_shear
from .timing import Talk

DISTANCE = 1e-4     # phi - phi_cr
STRAIN = 0.01       # of it
PART = 1e-6         # of the mean contact force: residual at which all methods stop
START = 1e-8        # the same before the strain
LADDER = 4          # times more grains from one size to the next
SIZES = 2
REPEATS = 3
LONG = 20.0         # [s] after which a method is not repeated
METHODS = ("auto", "lbfgs+contacts", "fire", "lbfgs")


def measure_minimise(particles: int = 4096, dim: int = 2, sizes: int = SIZES, talk: Talk = print) -> dict[str, Any]:
    """Seconds, iterations and factorisations of a strain step of 0.01 (phi - phi_cr) at a phi - phi_cr of about 1e-4, the best of three.

    ``sizes`` packings, of ``particles`` grains and of 4, 16 ... times as many; the growth is the exponent of time against grains.
    """
    if particles < 64:
        raise InputError(f"particles must be at least 64 (got {particles}).")
    if dim not in ABOVE:
        raise InputError(f"dim must be 2 or 3 (got {dim}).")
    if not 1 <= sizes <= 4:
        raise InputError(f"sizes must be from 1 to 4 (got {sizes}).")
    counts = [particles * LADDER**k for k in range(sizes)]
    found = {str(count): measure_size(count, dim, talk) for count in counts}
    growth = {}
    for method in METHODS if sizes > 1 else ():
        seconds = [found[str(count)][method]["seconds"] for count in counts]
        growth[method] = float(np.polyfit(np.log(counts), np.log(seconds), 1)[0])
    return {
        "benchmark": "minimise", "dim": dim, "strain_over_distance": STRAIN, "tolerance_over_mean_force": PART, "packings": found,
        "growth_of_time": growth, "threads": 1, "dtype": "float64",
    }  # fmt: skip


def measure_size(count: int, dim: int, talk: Talk) -> dict[str, Any]:
    """All methods on one packing, in turns."""
    talk(f"a packing of {count} grains near jamming ...")
    jammed, packing = near_jamming(count, dim)
    above, tolerance = packing.phi - jammed.phi_cr, jammed.measured.tolerance(PART)
    talk(f"  phi - phi_cr = {above:.2g}, made in {jammed.seconds:.0f} s")
    strained = packing.deformed(simple_shear(dim, STRAIN * above))
    found: dict[str, Any] = {}
    for turn in range(REPEATS):
        for method in METHODS:
            if turn and found[method]["seconds"] > LONG:
                continue
            name, _, preconditioner = method.partition("+")
            report = minimise(strained, name, preconditioner or None, tolerance=tolerance).report
            seconds = min(report.seconds, found[method]["seconds"]) if turn else report.seconds
            found[method] = {
                "seconds": seconds, "iterations": report.iterations, "evaluations": report.evaluations,
                "factorisations": report.factorisations, "converged": report.converged,
            }  # fmt: skip
    for method in METHODS:
        talk(f"  {method}: {found[method]['seconds']:.3g} s, {found[method]['iterations']} iterations")
    return {"above_jamming": above, "pressure": jammed.pressure, **found}


def near_jamming(count: int, dim: int) -> tuple[Jammed, Packing]:
    """A coarse search for phi_cr, whose last step aims at phi_cr + 1e-4, and its packing in balance."""
    found = jam_packing(random_packing(count, ABOVE[dim], dim=dim), accuracy=2 * DISTANCE)
    return found, minimise(found.packing, tolerance=found.measured.tolerance(START)).packing
