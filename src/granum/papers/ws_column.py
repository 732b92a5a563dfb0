"""A column that settles under its own weight: how many iterations its height needs (WS 4.1, Fig. 3 and 4)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis import exact_column_height
from ..pool import Job
from ..scene.library import make_scene
from .experiment import Outcome, Row, Runner, compared
from .figures.ws import draw_column
from .methods import look_into_solve, run_on, start, sweep_ladder

TITLE = "iterations for the height of a column by warm start (WS 4.1, Fig. 3-4)"
COMPARED = ("cold", "history", "history, unguarded", "model", "momentum", "momentum + history")
LOOKED_INTO = ("cold", "history", "momentum", "momentum + history")
LONGEST = 8.0  # [s] of simulated time to come to rest; the guard of the warm start takes seconds to trust it again
WINDOW = 0.5  # [s] at the end over which the column must be at rest, and its height within the tolerance
AT_REST = 0.1  # of the kinetic energy of a free fall of one step: forces in balance to a third of the weight
STILL = 1e-7  # the same: nothing more will happen
PRECISION = 0.05  # of a required number of iterations; never finer than 1


@dataclass(frozen=True)
class ColumnSize:
    """Sizes of the experiment."""

    counts: tuple[int, ...]
    """Grains in the columns."""
    tolerances: tuple[float, ...] = (0.001, 0.01, 0.05)
    """Of the relative height error."""
    most: int = 1024
    """Iterations that are tried."""
    solve_count: int = 25
    """Grains in the column whose solve is looked into."""
    solve_sweeps: int = 500


QUICK = ColumnSize((5, 10, 20, 40, 80))
FULL = ColumnSize((5, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90, 100))


def measure(size: ColumnSize, run: Runner) -> Outcome:
    """All columns with all methods, and the solves."""
    searches = [(method, count) for method in COMPARED for count in size.counts]
    jobs = [Job(required_iterations, (count, method, size.tolerances, size.most), 10 + count) for method, count in searches]
    jobs += [Job(residual_of_solve, (size.solve_count, method, size.solve_sweeps), 2) for method in LOOKED_INTO]
    results = run(jobs)
    found = dict(zip(searches, results, strict=False))
    labels = [f"{100 * eps:g} %" for eps in size.tolerances]
    required = {
        method: {label: np.array([found[method, n]["required"][k] for n in size.counts]) for k, label in enumerate(labels)}
        for method in COMPARED
    }
    curves: dict[str, Any] = {
        "count": np.array(size.counts),
        "tolerance": np.array(size.tolerances),
        "required_iterations": required,
        "runs": {method: {str(n): found[method, n]["runs"] for n in size.counts} for method in COMPARED},
        "solve": {"count": size.solve_count, **dict(zip(LOOKED_INTO, results[len(searches) :], strict=True))},
    }
    return Outcome(_rows(size, required, curves["solve"]), curves)


def draw(outcome: Outcome, folder: Path) -> list[Path]:
    """One figure: required iterations, and a solve."""
    return [draw_column(outcome.curves, folder / "ws-column.png")]


def settle(count: int, method: str, iterations: int) -> tuple[float, bool]:
    """Height error eps_1 (physics 8) of a column that started without overlap, and whether it came to rest.

    The error is signed (> 0: too low) and the largest of the last ``WINDOW``.
    """
    scene = make_scene("column", {"count": count})
    sim = start(scene, method, iterations)
    exact, h = exact_column_height(scene), sim.time_step
    fall = 0.5 * float(sim.bodies.mass.sum()) * (float(np.linalg.norm(scene.gravity.acceleration)) * h) ** 2  # [J]
    window = round(WINDOW / h)
    height, kinetic = [], []
    for _ in range(round(LONGEST / h)):
        sim.step()
        height.append(float((sim.position[:, 2] + sim.radius).max()))
        kinetic.append(sim.report.kinetic_energy / fall)
        thrown_up = height[-1] > 2 * count * 2 * sim.radius[0]
        if thrown_up or (len(kinetic) > window and max(kinetic[-window:]) < STILL):
            break
    error = (exact - np.array(height[-window:])) / exact
    return float(error[np.abs(error).argmax()]), not thrown_up and max(kinetic[-window:]) < AT_REST


def required_iterations(count: int, method: str, tolerances: tuple[float, ...], most: int) -> dict[str, Any]:
    """The fewest iterations for each tolerance, such that all larger numbers tried reach it too (NaN: none up to ``most``).

    Doubles the number until two in a row reach the tightest tolerance, then halves the intervals. ``runs`` (R, 3) holds
    iterations, signed height error and whether the column came to rest: one that keeps bouncing has reached nothing.
    """
    tried: dict[int, tuple[float, bool]] = {}

    def reached(iterations: int, tolerance: float) -> bool:
        if iterations not in tried:
            tried[iterations] = settle(count, method, iterations)
        error, rest = tried[iterations]
        return rest and abs(error) <= tolerance

    number, in_a_row = max(1, count // 16), 0  # fewer were never enough
    while number <= most and in_a_row < 2:
        in_a_row = in_a_row + 1 if reached(number, min(tolerances)) else 0
        number *= 2
    required = [_refine(tried, lambda n, eps=eps: reached(n, eps)) for eps in tolerances]
    return {"required": required, "runs": np.array([(n, *tried[n]) for n in sorted(tried)], float)}


def _refine(tried: dict[int, Any], reached: Any) -> float:
    while True:
        failed = max((n for n in tried if not reached(n)), default=0)
        above = min((n for n in tried if n > failed), default=None)
        if above is None:
            return math.nan
        if above - failed <= max(1, PRECISION * failed):
            return float(above)
        reached(round((failed + above) / 2) if failed < 8 else round(math.sqrt(failed * above)))


def residual_of_solve(count: int, method: str, sweeps: int) -> dict[str, Any]:
    """Mean normal residual [m/s] during a solve of a resting column, after a second with 100 iterations (WS Fig. 4)."""
    prepared = start(make_scene("column", {"count": count}), "cold", 500).run(3.0)
    solve = look_into_solve(run_on(prepared, method, 100, 1.0), method, sweep_ladder(sweeps))
    return {"sweeps": solve.sweeps, "normal_residual": solve.mean_residual[:, 0]}


def _rows(size: ColumnSize, required: dict[str, dict[str, np.ndarray]], solve: dict[str, Any]) -> list[Row]:
    counts = np.array(size.counts, float)
    rows = []
    for label in required["cold"]:
        most = ", ".join(f"{m} {_number(required[m][label][-1])}" for m in COMPARED)
        rows.append(Row(f"iterations for {label}, N_p = {size.counts[-1]}", most))
    for method in ("cold", "history"):
        slopes = [_exponent(counts, numbers) for numbers in required[method].values()]
        rows.append(
            compared(
                f"{method}: N_it ~ N_p^x, mean x",
                _mean(np.array(slopes)),
                "almost linear (1)",
                0.75,
                1.25,
                "{:.2f}  (" + ", ".join(f"{x:.2f} at {label}" for x, label in zip(slopes, required[method], strict=True)) + ")",
            )
        )
    ratio = {m: {label: required["cold"][label] / required[m][label] for label in required[m]} for m in COMPARED}
    each = {m: ", ".join(f"{_mean(r):.2g} at {label}" for label, r in of.items()) for m, of in ratio.items()}

    def lead(method: str) -> float:
        return _mean(np.concatenate(list(ratio[method].values())))

    for method in ("history", "history, unguarded"):
        ours = f"{{:.2g}}  ({each[method]})"
        rows.append(compared(f"cold / {method}", lead(method), "about 3 on average", 2.0, 4.5, ours))
    tight, loose = (f"{100 * eps:g} %" for eps in (min(size.tolerances), max(size.tolerances)))
    better, worse = _mean(ratio["model"][tight]), 1 / _mean(ratio["model"][loose])
    rows.append(compared(f"cold / model at {tight}", better, "model is better (> 1)", 1.0, np.inf))
    rows.append(compared(f"model / cold at {loose}", worse, "model needs twice as many (2)", 1.4, 3.0))
    for method in ("momentum", "momentum + history"):
        rows.append(Row(f"cold / {method}", f"{lead(method):.2g}  ({each[method]})", value=lead(method)))
    start_lead, end_lead = (solve["cold"]["normal_residual"] / solve["history"]["normal_residual"])[[0, -1]]
    rows.append(
        compared(
            f"normal residual, cold / history, N_p = {solve['count']}",
            start_lead,
            "history starts closer, same rate (> 1)",
            1.0,
            np.inf,
            f"{{:.2g}} after 1 sweep, {end_lead:.2g} after {size.solve_sweeps}",
        )
    )
    return rows


def _number(iterations: float) -> str:
    return "none" if math.isnan(iterations) else f"{iterations:.0f}"


def _mean(ratio: np.ndarray) -> float:
    """Geometric mean of those that could be measured."""
    known = ratio[np.isfinite(ratio)]
    return float(np.exp(np.log(known).mean())) if len(known) else math.nan


def _exponent(counts: np.ndarray, numbers: np.ndarray) -> float:
    """Slope of log iterations over log grains; a few iterations are too coarse a number to count."""
    known = np.isfinite(numbers) & (numbers >= 4)
    return float(np.polyfit(np.log(counts[known]), np.log(numbers[known]), 1)[0]) if known.sum() >= 2 else math.nan
