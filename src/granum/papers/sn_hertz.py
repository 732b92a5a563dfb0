"""A column under its own weight, soft to stiff: every overlap against Hertz's law (SN 5.4)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis import Snapshot
from ..analysis.results import exact_column_overlaps
from ..pool import Job
from .experiment import Outcome, Row, Runner, compared
from .figures.sn import draw_hertz
from .sn_systems import PAPER_REST, Rest, come_to_rest, container

TITLE = "overlaps of a column against Hertz's law, E = 1e5 to 1e13 Pa (SN 5.4)"
PAPER_ERROR = 0.001  # [d]


@dataclass(frozen=True)
class HertzSize:
    """Sizes of the experiment."""

    youngs_moduli: tuple[float, ...]
    """E [Pa]"""
    rest: Rest
    count: int = 20
    iterations: int = 500


QUICK = HertzSize(tuple(10.0**k for k in range(5, 14)), Rest(ramp=10.0, hold=2.0))
FULL = HertzSize(tuple(10.0**k for k in np.arange(5, 13.25, 0.5)), PAPER_REST)


def measure(size: HertzSize, run: Runner) -> Outcome:
    """One column for each stiffness."""
    results = run([Job(overlaps, (size, modulus), 1.0) for modulus in size.youngs_moduli])
    measured, exact = (np.array([found[k] for found in results]) for k in (0, 1))  # (E, contacts) [d], from the floor up
    curves: dict[str, Any] = {
        "young": np.array(size.youngs_moduli),
        "overlap": measured,
        "exact": exact,
        "mean_error": np.abs(measured - exact).mean(axis=1),
    }
    rows = [
        Row(f"mean overlap, E = {modulus:.0e} Pa", f"{found.mean():.2e} d, error {error:.1e} d", f"Hertz: {right.mean():.2e} d")
        for modulus, found, right, error in zip(size.youngs_moduli, measured, exact, curves["mean_error"], strict=True)
    ]
    softest, stiffest = size.youngs_moduli[0], size.youngs_moduli[-1]
    rows.append(
        compared(
            f"largest mean error of the overlap, E = {softest:.0e} to {stiffest:.0e} Pa, {size.iterations} iterations",
            float(curves["mean_error"].max()),
            f"less than {PAPER_ERROR:g} d",
            0.0,
            PAPER_ERROR,
            "{:.2e} d",
        )
    )
    return Outcome(rows, curves)


def draw(outcome: Outcome, folder: Path) -> list[Path]:
    """One figure: overlaps along the column, and their mean error against stiffness."""
    return [draw_hertz(outcome.curves, folder / "sn-hertz.png")]


def overlaps(size: HertzSize, youngs_modulus: float) -> tuple[np.ndarray, np.ndarray]:
    """Overlaps [d] of the contacts from the floor up, and those of Hertz's law; zero where grains have come apart."""
    scene = container(size.count, 1.0, size.rest, youngs_modulus=youngs_modulus)
    snapshot = Snapshot.of(come_to_rest(scene, size.rest, size.iterations)[0])
    found = np.zeros(size.count)
    lower = np.where(snapshot.at_wall, -1, np.minimum(snapshot.a, snapshot.b))  # grains are numbered from the floor up
    found[lower + 1] = snapshot.overlap
    d = scene.size_range[1]
    return found / d, exact_column_overlaps(scene) / d
