"""Random against sequential order of the sweeps: iterations for a mean overlap of 5 % (SN 5.4)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis.cost_model import required_iterations
from ..pool import Job
from .experiment import Outcome, Row, Runner, compared
from .figures.sn import draw_order
from .sn_systems import Rest, come_to_rest, container, geometric_mean, iterations_for_overlap

TITLE = "random against sequential order of the sweeps (SN 5.4)"
ORDERS = ("given", "random", "symmetric", "colour")
"""``given`` is the paper's sequential order, ``colour`` granum's own."""
TOLERANCE = 0.05


@dataclass(frozen=True)
class OrderSize:
    """Sizes of the experiment."""

    systems: tuple[tuple[float, int], ...]
    """Width [d] and grains of the containers; width 1 is a column."""
    rest: Rest
    most: int = 2000
    """Iterations that are tried."""


QUICK = OrderSize(((1, 20), (1, 50), (6, 300), (6, 800), (9, 800)), Rest(ramp=5.0, hold=2.0))
FULL = OrderSize(((1, 20), (1, 50), (1, 100), (6, 800), (6, 1600), (9, 1500), (9, 7500), (15, 7500)), Rest(ramp=60.0, hold=5.0))


def measure(size: OrderSize, run: Runner) -> Outcome:
    """All systems in all orders."""
    which = [(width, count, order) for width, count in size.systems for order in ORDERS]
    # Sweeps in colours are vectorised; the others cost about twice as much.
    results = run([Job(search, (*one, size), one[1] * (1 if one[2] == "colour" else 2) + 20) for one in which])
    numbers = np.array([found[0] for found in results]).reshape(len(size.systems), len(ORDERS))
    systems = [f"{width:g} d, {count}" for width, count in size.systems]
    curves: dict[str, Any] = {
        "systems": systems,
        "required": {order: numbers[:, k] for k, order in enumerate(ORDERS)},
        "runs": {f"{width:g} d, {count}, {order}": found[1] for (width, count, order), found in zip(which, results, strict=True)},
    }
    rows = []
    for system, row in zip(systems, numbers, strict=True):
        each = ", ".join(f"{order} {_whole(n)}" for order, n in zip(ORDERS, row, strict=True))
        rows.append(Row(f"iterations for <eps_c> = {100 * TOLERANCE:g} %, {system} grains", each))
    ratio = {order: numbers[:, k] / numbers[:, 0] for k, order in enumerate(ORDERS)}
    column = np.array([width == 1 for width, _ in size.systems])
    for what, part in (("containers", ~column), ("columns", column)):
        if part.any():
            each = ", ".join(f"{x:.2f}" for x in ratio["random"][part])
            rows.append(
                compared(
                    f"random / sequential, {what}",
                    geometric_mean(ratio["random"][part]),
                    "no significant effect (1)",
                    0.8,
                    1.25,
                    f"{{:.2f}}  ({each})",
                )
            )
    for order in ("symmetric", "colour"):
        rows.append(Row(f"{order} / sequential", f"{geometric_mean(ratio[order]):.2f}", value=geometric_mean(ratio[order])))
    return Outcome(rows, curves)


def draw(outcome: Outcome, folder: Path) -> list[Path]:
    """One figure: iterations by order."""
    return [draw_order(outcome.curves, folder / "sn-order.png")]


def search(width: float, count: int, order: str, size: OrderSize) -> tuple[float, np.ndarray]:
    """Iterations for the tolerance, and all runs (R, 2)."""
    scene = container(count, width, size.rest)
    first = required_iterations(width, count / max(1.0, np.pi / 4 * width**2), 0.0, TOLERANCE)
    found, runs = iterations_for_overlap(lambda n: come_to_rest(scene, size.rest, n, order)[1], [TOLERANCE], float(first), size.most)
    return found[0], runs


def _whole(number: float) -> str:
    return "none" if np.isnan(number) else f"{number:.0f}"
