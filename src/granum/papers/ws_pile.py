"""A pile under a source: how many iterations its height needs, and how its solves converge (WS 4.2, Fig. 6 to 9)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis import PileShape, mean_and_largest_overlap
from ..pool import Job
from ..scene.emitter import Disc
from ..scene.library import make_scene
from ..scene.scene import Scene
from ..simulation import Simulation
from .experiment import Outcome, Row, Runner, compared
from .figures.ws import draw_pile_heights, draw_pile_solves
from .methods import look_into_solve, run_on, start, sweep_ladder

TITLE = "iterations for the height of a pile by warm start, and its solves (WS 4.2, Fig. 6-9)"
COMPARED = (
    "cold",
    "history",
    "model",
    "history, normals only",
    "history, no velocity update",
    "momentum",
    "momentum + history",
)
LOOKED_INTO = ("cold", "history", "momentum", "momentum + history")
KINDS = ("normal", "friction", "rolling")
TIME_STEP = 0.005  # [s]
PAPER_COUNT = 3363  # grains under a source 15 d high
HIGHEST = 10  # grains whose mean top is the height: a single one scatters by half a diameter
EDGES = np.logspace(-9, 0, 46)  # [m/s] of the residual histograms


@dataclass(frozen=True)
class PileSize:
    """Sizes of the experiment."""

    count: int
    """Grains."""
    rate: float
    """Of the source [1/s]."""
    rest: float
    """From the last grain to the measurement [s]."""
    seeds: int
    """Piles for each number: heights scatter, so their mean counts."""
    iterations: tuple[int, ...]
    references: int
    """Reference piles, whose mean height is the right one."""
    reference_step: float
    """Their time step [s]."""
    reference_iterations: int
    tolerances: tuple[float, ...] = (0.05, 0.1, 0.2, 0.3)
    """Of the relative height error; gains are taken over those above twice the scatter of heights."""
    prepare_iterations: int = 500
    """Of the pile whose solves are looked into, and sweeps of those solves."""
    run_on: float = 1.0
    """For so long [s] that pile is run on with each method, at ``run_on_iterations``."""
    run_on_iterations: int = 100


QUICK = PileSize(
    count=400,
    rate=125,
    rest=2.0,
    seeds=3,
    iterations=(5, 10, 20, 40, 80, 160),
    references=6,
    reference_step=0.001,
    reference_iterations=100,
)
FULL = PileSize(
    count=PAPER_COUNT,
    rate=150,
    rest=10.0,
    seeds=1,
    iterations=(5, 10, 25, 50, 100, 200, 500),
    references=1,
    reference_step=0.0002,
    reference_iterations=500,
)


def measure(size: PileSize, run: Runner) -> Outcome:
    """All piles with all methods, and the solves of one."""
    seeds = range(size.seeds)
    grown = [(method, iterations, seed) for method in COMPARED for iterations in size.iterations for seed in seeds]
    jobs = [_growth(size, *which, TIME_STEP) for which in grown]
    best = ("momentum + history", size.reference_iterations)
    jobs += [_growth(size, *best, seed, size.reference_step) for seed in range(size.references)]
    jobs.append(Job(solves, (size,), 2 * _cost(size, size.prepare_iterations, TIME_STEP)))
    results = run(jobs)
    shapes = np.array(results[: len(grown)]).reshape(len(COMPARED), len(size.iterations), size.seeds, 3)
    reference = np.array(results[len(grown) : -1])  # (references, 3)
    iterations, right = np.array(size.iterations), reference[:, 0].mean()
    error = {method: 1 - shape[:, :, 0].mean(axis=1) / right for method, shape in zip(COMPARED, shapes, strict=True)}
    measured = {
        name: {method: shape[:, :, k] for method, shape in zip(COMPARED, shapes, strict=True)} | {"reference": reference[:, k]}
        for k, name in enumerate(("height_in_d", "angle", "overlap_in_d"))
    }
    curves = {
        "iterations": iterations,
        "tolerance": np.array(size.tolerances),
        "height_error": error,
        **measured,
        "required_iterations": {
            method: np.array([iterations_for(iterations, error[method], eps) for eps in size.tolerances]) for method in COMPARED
        },
        **results[-1],
    }
    return Outcome(_rows(size, curves), curves)


def draw(outcome: Outcome, folder: Path) -> list[Path]:
    """Two figures: heights, and solves."""
    return [
        draw_pile_heights(outcome.curves, folder / "ws-pile-height.png"),
        draw_pile_solves(outcome.curves, folder / "ws-pile-solve.png"),
    ]


def _growth(size: PileSize, method: str, iterations: int, seed: int, time_step: float) -> Job:
    return Job(grow, (size, method, iterations, seed, time_step), _cost(size, iterations, time_step))


def _cost(size: PileSize, iterations: int, time_step: float) -> float:
    """Steps times sweeps; the rest of a step costs about as much as 20 sweeps."""
    return (size.count / size.rate + size.rest) / time_step * (20 + iterations)


def pile_scene(size: PileSize, seed: int, time_step: float) -> Scene:
    """The library's pile; a smaller one has its source lower in proportion: the paper's just about reaches its own."""
    scene = make_scene("pile", {"count": size.count, "rate": size.rate, "seed": seed, "time_step": time_step})
    emitter, d = scene.emitters[0], scene.size_range[1]
    lower = Disc(centre=(0, 0, 15 * d * (size.count / PAPER_COUNT) ** (1 / 3)), diameter=3 * d)
    return scene.model_copy(update={"emitters": (emitter.model_copy(update={"source": lower}),)})


def rested(size: PileSize, method: str, iterations: int, seed: int, time_step: float) -> Simulation:
    """A pile, ``rest`` seconds after the last grain left the source."""
    sim = start(pile_scene(size, seed, time_step), method, iterations)
    while not sim.emissions[0].finished:
        sim.step()
    return sim.run(size.rest)


def grow(size: PileSize, method: str, iterations: int, seed: int, time_step: float) -> tuple[float, float, float]:
    """Height [d] of a pile, the mean top of its highest grains at rest, its angle [degrees] and its mean overlap [d]."""
    sim = rested(size, method, iterations, seed, time_step)
    gravity = float(np.linalg.norm(sim.scene.gravity.acceleration))
    resting = (sim.velocity**2).sum(axis=1) < gravity * sim.radius  # not on their way down or thrown up
    position, radius = sim.position[resting], sim.radius[resting]
    top = np.sort(position[:, 2] + radius)[-HIGHEST:]
    angle = PileShape().compute(position, radius).angle
    overlap, _ = mean_and_largest_overlap(sim.contacts.overlap, sim.contacts.a, sim.contacts.b, sim.radius)
    return float(top.mean() / (2 * radius.mean())), angle, overlap


def iterations_for(iterations: np.ndarray, error: np.ndarray, tolerance: float) -> float:
    """Fewest iterations from which on the height error stays below ``tolerance``, between those tried; NaN: it never does.

    The smallest number tried if that is good enough already.
    """
    worst = np.maximum.accumulate(error[::-1])[::-1]  # of this and all larger numbers
    good = np.flatnonzero(worst <= tolerance)
    if not len(good):
        return math.nan
    k = good[0]
    if k == 0:
        return float(iterations[0])
    part = (worst[k - 1] - tolerance) / (worst[k - 1] - worst[k])
    return float(iterations[k - 1] * (iterations[k] / iterations[k - 1]) ** part)


def solves(size: PileSize) -> dict[str, Any]:
    """A resting pile is run on with each method; then one solve is looked into (WS Fig. 7 to 9)."""
    prepared = rested(size, "cold", size.prepare_iterations, 0, TIME_STEP)
    sweeps = sweep_ladder(size.prepare_iterations, also=size.run_on_iterations)
    weight = float(np.linalg.norm(prepared.scene.gravity.acceleration)) * float(prepared.bodies.mass.mean())
    curves: dict[str, Any] = {}
    histogram: dict[str, Any] = {"edges": EDGES}
    for method in LOOKED_INTO:
        sim = run_on(prepared, method, size.run_on_iterations, size.run_on)
        solve = look_into_solve(sim, method, sweeps)
        kinds = solve.mean_residual
        curves[method] = {
            "sweeps": sweeps,
            "multiplier_error": solve.multiplier_error(0.01 * weight * TIME_STEP),
            "residual": np.linalg.norm(solve.residual, axis=2).mean(axis=1),
            **{kind: kinds[:, k] for k, kind in enumerate(KINDS)},
        }
        stopped = solve.residual[sweeps == size.run_on_iterations][0]  # (C, 3)
        histogram[method] = {kind: np.histogram(stopped[:, k], EDGES)[0] / len(stopped) for k, kind in enumerate(KINDS)}
        histogram[method] |= {f"{kind}_median": float(np.median(stopped[:, k])) for k, kind in enumerate(KINDS)}
    return {"solve": curves, "histogram": histogram}


def _rows(size: PileSize, curves: dict[str, Any]) -> list[Row]:
    required, scatter = curves["required_iterations"], _scatter(curves["height_in_d"])
    height, angle = curves["height_in_d"]["reference"].mean(), curves["angle"]["reference"].mean()
    rows = [
        Row(
            f"reference height, {size.count} grains, h = {1000 * size.reference_step:g} ms",
            f"{height:.2f} d"
            + (f" at {angle:.0f} degrees" if math.isfinite(angle) else ", too low for an angle")
            + (f"; piles scatter by {scatter:.1%}" if size.seeds > 1 else ""),
            f"about 15 d ({PAPER_COUNT} grains)",
            float(height),
            bool(13 <= height <= 17) if size.count == PAPER_COUNT else None,
        )
    ]
    at = " / ".join(f"{100 * eps:g}" for eps in size.tolerances) + " %"
    for method in COMPARED:
        numbers = " / ".join("none" if math.isnan(n) else f"{n:.0f}" for n in required[method])
        rows.append(Row(f"iterations for {at} height error, {method}", numbers))
    statements = {
        "history": ("half the iterations (2)", 1.5, 3.5),
        "history, no velocity update": ("worse than cold (< 1)", 0.0, 0.95),
        "history, normals only": ("no significant gain (1)", 0.75, 1.4),
        "model": ("marginally better, 20 % (1.2)", 0.9, 1.5),
    }
    resolved = [eps for eps in size.tolerances if not eps < 2 * scatter]
    over = ", ".join(f"{100 * eps:g}" for eps in resolved) + " %"
    for method in COMPARED[1:]:
        gain, uncertain = _gain(curves, method, resolved)
        what, ours = f"iterations, cold / {method} ({over})", "{:.2g}" + (f" ± {uncertain:.1g}" if size.seeds > 1 else "")
        rows.append(compared(what, gain, *statements[method], ours) if method in statements else Row(what, ours.format(gain), value=gain))
    softer, cold = (curves["overlap_in_d"][method][-1].mean() for method in ("history, no velocity update", "cold"))
    rows.append(
        compared(
            f"mean overlap at {size.iterations[-1]} iterations, history, no velocity update / cold",
            softer / cold,
            "worse than cold (> 1)",
            1.2,
            np.inf,
        )
    )
    return rows + _solve_rows(size, curves["solve"], curves["histogram"])


def _solve_rows(size: PileSize, solve: dict[str, Any], histogram: dict[str, Any]) -> list[Row]:
    sweeps, stop = solve["cold"]["sweeps"], size.run_on_iterations

    def lead(what: str, method: str, where: np.ndarray) -> float:
        return float(np.exp(np.mean(np.log(solve["cold"][what][where] / solve[method][what][where]))))

    rows = []
    for what, said in (("multiplier_error", "about 5"), ("residual", "about 5 throughout")):
        label = what.replace("_", " ")
        for method in LOOKED_INTO[1:]:
            mean, first, last = (lead(what, method, part) for part in (sweeps <= stop, sweeps == 1, sweeps == stop))
            ours = f"{{:.2g}}  ({first:.2g} after 1, {last:.2g} after {stop})"
            name = f"{label} in {stop} sweeps, cold / {method}"
            rows.append(compared(name, mean, said, 2.5, 10, ours) if method == "history" else Row(name, ours.format(mean), value=mean))
    median = {kind: histogram["cold"][f"{kind}_median"] / histogram["history"][f"{kind}_median"] for kind in KINDS}
    rows.append(
        Row(
            f"median residual after {stop} sweeps, cold / history",
            ", ".join(f"{kind} {x:.2g}" for kind, x in median.items()),
            "friction and rolling improve most",
            agrees=bool(1.2 * median["normal"] < min(median["friction"], median["rolling"])),
        )
    )
    return rows


def _scatter(heights: dict[str, np.ndarray]) -> float:
    """Mean relative standard deviation of heights between seeds."""
    spread = [h.std(axis=-1, ddof=1) / h.mean(axis=-1) for h in heights.values() if h.shape[-1] > 1]
    return float(np.mean(np.concatenate([np.atleast_1d(s) for s in spread]))) if spread else math.nan


def _gain(curves: dict[str, Any], method: str, tolerances: list[float]) -> tuple[float, float]:
    """Required iterations of cold over those of a method, mean over tolerances, and its standard error from the seeds."""
    iterations, heights = curves["iterations"], curves["height_in_d"]
    right, seeds = heights["reference"].mean(), heights["cold"].shape[1]

    def required(method: str, seed: slice) -> np.ndarray:
        error = 1 - heights[method][:, seed].mean(axis=1) / right
        return np.array([iterations_for(iterations, error, eps) for eps in tolerances])

    def ratio(seed: slice) -> float:
        cold, other = required("cold", seed), required(method, seed)
        known = np.isfinite(cold / other) & (cold > iterations[0])
        return float(np.exp(np.log(cold / other)[known].mean())) if known.any() else math.nan

    each = [ratio(slice(s, s + 1)) for s in range(seeds)]
    return ratio(slice(None)), float(np.std(each) / math.sqrt(max(1, seeds - 1)))
