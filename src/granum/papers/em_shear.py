"""Pure shear of an over-jammed packing in increments of several sizes: stress and fabric against strain (EM 4.3, Fig. 8).

EM's curves for increments of 4e-4, 2e-4 and 1e-4 lie on top of each other at small strain, and stay alike after the packing has begun to
rearrange: from the first larger rearrangement on, the path depends on the increment. EM does not give phi. As in EM the packing is
compressed from jamming: one that comes from random places at once rearranges in its first step already.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..array_types import FloatArray
from ..pool import Job
from ..quasistatic.measure import measure as observe
from ..quasistatic.minimise import minimise
from ..quasistatic.packing import Packing, random_packing
from ..quasistatic.shear import shear
from .em_packings import DENSE, warm_up
from .experiment import Outcome, Row, Runner, compared
from .figures.em import draw_shear

TITLE = "stress and fabric in pure shear, by the size of the increments (EM 4.3, Fig. 8)"
NEAR_JAMMING = 0.845  # packing fraction, and the steps from there
COMPRESSION = 2e-3
PARTS = ("stress_iso", "stress_dev", "fabric_iso", "fabric_dev")
WORDS = {
    "stress_iso": "isotropic stress",
    "stress_dev": "deviatoric stress",
    "fabric_iso": "isotropic fabric",
    "fabric_dev": "deviatoric fabric",
}


@dataclass(frozen=True)
class ShearSize:
    """Sizes of the experiment."""

    count: int = 1024
    phi: float = 0.88
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
            rows.append(
                compared(
                    f"{WORDS[what]}, {step} against {min(size.increments):g}, strain to {size.small:g}",
                    small,
                    "quantitatively similar",
                    0,
                    0.05,
                    f"{{:.1e}} of the largest apart (to {size.strain:g}: {all_:.1e})",
                )
            )
    grown = finest["stress_dev"].max() / finest["stress_iso"][0]
    rows.append(Row("largest deviatoric over first isotropic stress", f"{grown:.3f}", "only drawn", float(grown)))
    each = ", ".join(f"{step}: {np.median(one['iterations'][1:]):.0f}" for step, one in runs.items())
    rows.append(Row("iterations of a step, median", each))
    return Outcome(rows, {"runs": runs, "count": size.count, "phi": size.phi})


def draw(outcome: Outcome, folder: Path) -> list[Path]:
    """One figure with four panels."""
    return [draw_shear(outcome.curves, folder / "em-shear.png")]


def strain_run(size: ShearSize, step: float) -> dict[str, Any]:
    """Strains, and the parts of stress [N/m] and fabric [-] there; the first is the packing before the shear.

    ``stress_along`` is (sigma_yy - sigma_xx)/2: the deviatoric part that belongs to the strain, with its sign.
    """
    rest = compressed(size)
    first = observe(rest)
    strain, iterations, seen = [0.0], [0], [first]
    for at in shear(rest, size.strain, step, "pure"):
        strain.append(at.strain)
        iterations.append(at.report.iterations)
        seen.append(at.measured)
    table = np.array([(*one.stress_parts, *one.fabric_parts) for one in seen]).T
    along = np.array([one.stress[1, 1] - one.stress[0, 0] for one in seen]) / 2
    return {"strain": np.array(strain), "iterations": np.array(iterations), "stress_along": along, **dict(zip(PARTS, table, strict=True))}


@functools.lru_cache(maxsize=1)
def compressed(size: ShearSize) -> Packing:
    """The packing before the shear: near jamming, and from there to ``phi`` in small steps."""
    packing = minimise(random_packing(size.count, DENSE, seed=size.seed)).packing.at(NEAR_JAMMING)
    while packing.phi < size.phi * (1 - 1e-9):
        packing = minimise(packing.at(min(size.phi, packing.phi + COMPRESSION))).packing
    return packing


def apart(one: dict[str, FloatArray], other: dict[str, FloatArray], what: str, end: float) -> FloatArray:
    """Differences at the strains of the coarser run, up to ``end``."""
    at = one["strain"][one["strain"] <= end * (1 + 1e-9)]
    return one[what][: len(at)] - np.interp(at, other["strain"], other[what])
