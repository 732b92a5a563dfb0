"""Pure shear of an over-jammed packing in increments of several sizes: stress and fabric against strain (EM 4.3, Fig. 8).

EM's curves for increments of 4e-4, 2e-4 and 1e-4 lie on top of each other at small strain, and stay alike after the packing has begun to
rearrange: from the first rearrangement on, the path depends on the increment.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._jit import FloatArray
from ..plot.em_experiments import draw_shear
from ..quasistatic.measure import measure as observe
from ..quasistatic.minimise import minimise
from ..quasistatic.packing import random_packing
from ..quasistatic.shear import shear
from .em_packings import warm_up
from .experiment import Outcome, Row, Runner, compared
from .pool import Job

PARTS = ("stress_iso", "stress_dev", "fabric_iso", "fabric_dev")
WORDS = {"stress_iso": "isotropic stress", "stress_dev": "deviatoric stress", "fabric_iso": "isotropic fabric",
         "fabric_dev": "deviatoric fabric"}  # fmt: skip


@dataclass(frozen=True)
class ShearSize:
    """Sizes of the experiment."""

    count: int = 1024
    phi: float = 0.86
    """[-], over-jammed."""
    strain: float = 0.02
    increments: tuple[float, ...] = (4e-4, 2e-4, 1e-4)
    small: float = 2e-3
    """Strain up to which the curves are compared as equal."""
    seed: int = 1


QUICK = ShearSize()
FULL = ShearSize(count=4096)


def measure(size: ShearSize, run: Runner) -> Outcome:
    """One run with each increment."""
    warm_up()
    found = run([Job(strain_run, (size, step), 1 / step) for step in size.increments])
    runs = {f"{step:g}": one for step, one in zip(size.increments, found, strict=True)}
    finest = found[int(np.argmin(size.increments))]
    rows = []
    for what in PARTS:
        scale = np.ptp(finest[what]) if what.endswith("dev") else finest[what].max()
        for step, one in runs.items():
            if one is finest:
                continue
            small, all_ = (float(np.abs(apart(one, finest, what, end)).max()) / scale for end in (size.small, size.strain))
            rows.append(compared(
                f"{WORDS[what]}, {step} against {min(size.increments):g}, strain to {size.small:g}", small, "quantitatively similar",
                0, 0.05, f"{{:.1e}} of the largest apart (to {size.strain:g}: {all_:.1e})",
            ))  # fmt: skip
    grown = finest["stress_dev"].max() / finest["stress_iso"][0]
    rows.append(Row("largest deviatoric over first isotropic stress", f"{grown:.3f}", "only drawn", float(grown)))
    each = ", ".join(f"{step}: {np.median(one['iterations'][1:]):.0f}" for step, one in runs.items())
    rows.append(Row("iterations of a step, median", each))
    return Outcome(rows, {"runs": runs, "count": size.count, "phi": size.phi})


def draw(outcome: Outcome, folder: Path) -> list[Path]:
    """One figure with four panels."""
    return [draw_shear(outcome.curves, folder / "em-shear.png")]


def strain_run(size: ShearSize, step: float) -> dict[str, Any]:
    """Strains, and the parts of stress [N/m] and fabric [-] there; the first is the packing before the shear."""
    rest = minimise(random_packing(size.count, size.phi, seed=size.seed)).packing
    first = observe(rest)
    strain, iterations, table = [0.0], [0], [(*first.stress_parts, *first.fabric_parts)]
    for at in shear(rest, size.strain, step, "pure"):
        strain.append(at.strain)
        iterations.append(at.report.iterations)
        table.append((*at.measured.stress_parts, *at.measured.fabric_parts))
    return {"strain": np.array(strain), "iterations": np.array(iterations), **dict(zip(PARTS, np.array(table).T, strict=True))}


def apart(one: dict[str, FloatArray], other: dict[str, FloatArray], what: str, end: float) -> FloatArray:
    """Differences at the strains of the coarser run, up to ``end``."""
    at = one["strain"][one["strain"] <= end * (1 + 1e-9)]
    return one[what][: len(at)] - np.interp(at, other["strain"], other[what])
