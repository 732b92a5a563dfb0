"""A column of grains: iterations that a mean overlap needs (SN 5.1, Fig. 5)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis.cost_model import required_iterations
from ..pool import Job
from .experiment import Outcome, Row, Runner, compared
from .figures.sn import draw_column
from .sn_systems import PAPER_REST, Rest, come_to_rest, container, elastic_overlap, exponent, geometric_mean, iterations_for_overlap

TITLE = "iterations for the mean overlap of a column (SN 5.1, Fig. 5)"


@dataclass(frozen=True)
class ColumnSize:
    """Sizes of the experiment."""

    counts: tuple[int, ...]
    """Grains in the columns."""
    rest: Rest
    tolerances: tuple[float, ...] = (0.1, 0.05, 0.025)
    """Of the mean overlap <eps_c>."""
    most: int = 2000
    """Iterations that are tried."""


QUICK = ColumnSize((5, 10, 20, 40, 70, 100), Rest(ramp=10.0, hold=2.0))
FULL = ColumnSize((5, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100), PAPER_REST)


def measure(size: ColumnSize, run: Runner) -> Outcome:
    """All columns at all tolerances."""
    results = run([Job(search, (count, size), count + 10) for count in size.counts])
    labels = [f"{100 * eps:g} %" for eps in size.tolerances]
    curves: dict[str, Any] = {
        "count": np.array(size.counts),
        "tolerance": np.array(size.tolerances),
        "elastic_overlap": np.array([found["elastic"] for found in results]),
        "runs": {str(count): found["runs"] for count, found in zip(size.counts, results, strict=True)},
    }
    for name in ("required", "required_beyond_elastic"):
        curves[name] = {label: np.array([found[name][k] for found in results]) for k, label in enumerate(labels)}
    curves["law"] = {
        label: required_iterations(1.0, np.array(size.counts, float), 0.0, eps) for label, eps in zip(labels, size.tolerances, strict=True)
    }
    return Outcome(_rows(size, curves), curves)


def draw(outcome: Outcome, folder: Path) -> list[Path]:
    """One figure: required iterations against grains, and overlap against iterations."""
    return [draw_column(outcome.curves, folder / "sn-column.png")]


def search(count: int, size: ColumnSize) -> dict[str, Any]:
    """Iterations for each tolerance of <eps_c>, and of its part beyond the elastic overlap; all runs (R, 2)."""
    scene = container(count, 1.0, size.rest)
    elastic = elastic_overlap(scene)
    wanted = [*size.tolerances, *(eps + elastic for eps in size.tolerances)]
    first = required_iterations(1.0, float(count), 0.0, wanted[0])
    found, runs = iterations_for_overlap(lambda n: come_to_rest(scene, size.rest, n)[1], wanted, float(first), size.most)
    half = len(size.tolerances)
    return {"elastic": elastic, "required": found[:half], "required_beyond_elastic": found[half:], "runs": runs}


def _rows(size: ColumnSize, curves: dict[str, Any]) -> list[Row]:
    rows = []
    for label, numbers in curves["required"].items():
        rows.append(Row(f"iterations for <eps_c> = {label}, N_p = {', '.join(map(str, size.counts))}", _list(numbers)))
    slopes = {label: exponent(curves["count"], numbers) for label, numbers in curves["required"].items()}
    each = ", ".join(f"{slope:.2f} at {label}" for label, slope in slopes.items())
    mean = float(np.mean(list(slopes.values())))
    rows.append(compared("N_it ~ N_p^x, mean x", mean, "roughly linear (1)", 0.75, 1.25, f"{{:.2f}}  ({each})"))
    loose, tight = (list(curves["required"].values())[k] for k in (0, -1))
    expected = size.tolerances[0] / size.tolerances[-1]
    rows.append(
        compared(
            f"N_it({100 * size.tolerances[-1]:g} %) / N_it({100 * size.tolerances[0]:g} %)",
            geometric_mean(tight / loose),
            f"eps2 / eps1 ({expected:g})",
            0.75 * expected,
            1.33 * expected,
            "{:.2f}",
        )
    )
    law = geometric_mean(np.concatenate([curves["required"][label] / curves["law"][label] for label in curves["law"]]))
    rows.append(compared("N_it / (c0 c2 l / eps)", law, "1 (SN (41))", 0.7, 1.4, "{:.2f}"))
    rows.append(
        Row(
            f"Hertz's own mean overlap, N_p = {size.counts[-1]}",
            f"{100 * curves['elastic_overlap'][-1]:.2g} %",
            "grains are practically rigid",
            float(curves["elastic_overlap"][-1]),
        )
    )
    beyond = {label: exponent(curves["count"], numbers) for label, numbers in curves["required_beyond_elastic"].items()}
    each = ", ".join(f"{slope:.2f} at {label}" for label, slope in beyond.items())
    rows.append(Row("N_it ~ N_p^x for the overlap beyond that, x", each))
    return rows


def _list(numbers: np.ndarray) -> str:
    return ", ".join("none" if np.isnan(n) else f"{n:.0f}" for n in numbers)
