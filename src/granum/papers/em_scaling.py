"""Pressure, shear modulus and coordination against the distance to jamming, with Hooke's and Hertz's law (EM 4.2, Fig. 4-6).

Each seed is brought to its own phi_cr from above and then compressed step by step; phi_cr is a matter of geometry, so one search serves
both laws. G is by linear response, the mean of all directions and seeds: averages of G itself, not of its logarithm, because the G of a
single small packing near jamming is noisy and can be negative in one direction (its cell has a shape of its own). That noise grows
towards jamming and falls with the number of grains, so in the fits of all exponents every mean counts by its standard error over the
seeds. z is that without rattlers, z_0 = 4 - 4/N_3 its value with one contact less than it takes to be rigid.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..array_types import FloatArray
from ..checks import InputError
from ..contact.power import POWER_LAWS
from ..pool import Job
from ..quasistatic.moduli import moduli
from .em_packings import at_rest, jammed, slope, warm_up
from .experiment import Outcome, Row, Runner, compared
from .figures.em import draw_scaling

TITLE = "exponents of pressure, shear modulus and coordination near jamming (EM 4.2, Fig. 4-6)"
PAPER = {"hooke": {"pressure": 1.0, "shear": 0.5, "z": 0.5}, "hertz": {"pressure": 1.5, "shear": 1.0, "z": 0.5}}
WITHIN = {"pressure": 0.05, "shear": 0.1, "z": 0.07}
SYMBOLS = {"pressure": "p", "shear": "G", "z": "z - z_0"}


@dataclass(frozen=True)
class ScalingSize:
    """Sizes of the experiment."""

    count: int = 2048
    seeds: int = 6
    above: tuple[float, ...] = (1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2)
    """phi - phi_cr"""
    accuracy: float = 2e-6
    """of phi_cr: a small part of the least phi - phi_cr."""


QUICK = ScalingSize()
FULL = ScalingSize(count=4096, seeds=10, above=(1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2), accuracy=1e-7)


def measure(size: ScalingSize, run: Runner) -> Outcome:
    """Both laws on every seed."""
    warm_up()
    found = run([Job(compress, (size, seed), 1.0) for seed in range(1, size.seeds + 1)])
    above = np.array(size.above)
    laws: dict[str, dict[str, Any]] = {}
    rows = [Row("phi_cr", f"{np.mean([f['phi_cr'] for f in found]):.4f} +- {np.std([f['phi_cr'] for f in found]):.4f}", "0.842")]
    for law in POWER_LAWS:
        laws[law] = {}
        for what, paper in PAPER[law].items():
            each = np.array([f[law][what] for f in found])
            mean, spread = averages(each)
            exponent, error = slope(above, mean, spread)
            laws[law][what] = {"each": each, "mean": mean, "exponent": exponent, "error": error}
            rows.append(
                compared(
                    f"exponent of {SYMBOLS[what]}, {law}",
                    exponent,
                    f"{paper:g} (within {WITHIN[what]:g})",
                    paper - WITHIN[what],
                    paper + WITHIN[what],
                    f"{{:.3f}} +- {error:.3f}",
                )
            )
        missing = int(np.isnan([f[law]["shear"] for f in found]).sum())
        if missing:
            rows.append(Row(f"states without linear response, {law}", f"{missing} of {len(above) * len(found)}: left out of G"))
    return Outcome(rows, {"above": above, "laws": laws, "paper": PAPER, "count": size.count, "seeds": size.seeds})


def averages(each: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean over the seeds (S, K) and its standard error, of what is there; of a single one the error is taken as large as the value."""
    count = np.isfinite(each).sum(axis=0)
    mean = np.where(count > 0, np.nansum(each, axis=0) / np.maximum(count, 1), np.nan)
    square = np.nansum((each - mean) ** 2, axis=0) / np.maximum(count - 1, 1) / np.maximum(count, 1)
    return mean, np.where(count > 1, np.sqrt(square), np.abs(mean))


def draw(outcome: Outcome, folder: Path) -> list[Path]:
    """One figure with three panels."""
    return [draw_scaling(outcome.curves, folder / "em-scaling.png")]


def compress(size: ScalingSize, seed: int) -> dict[str, Any]:
    """p, G [N/m] and z - z_0 of a seed with each law, at each phi - phi_cr."""
    start = jammed(size.count, seed, size.accuracy)
    found: dict[str, Any] = {"phi_cr": start.phi_cr}
    for name, law in POWER_LAWS.items():
        packing = replace(start.packing, law=law)
        table: dict[str, list[float]] = {what: [] for what in SYMBOLS}
        for above in size.above:
            packing, seen = at_rest(packing.at(start.phi_cr + above))
            held = packing.count - seen.rattler_count
            table["pressure"].append(seen.pressure if seen.jammed else np.nan)
            table["z"].append(seen.coordination - (4 - 4 / max(held, 1)) if seen.jammed else np.nan)
            try:
                table["shear"].append(moduli(packing).shear)
            except InputError:  # unjammed by a rearrangement, or marginal
                table["shear"].append(np.nan)
        found[name] = {what: np.array(values) for what, values in table.items()}
    return found
