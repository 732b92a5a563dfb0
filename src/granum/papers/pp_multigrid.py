"""Multigrid against direct and iterative solves: PP's columns (PP 5.3, Table 5.4), and the silo that PP could not do (PP 6.2.1).

Columns: grains of PP Table 4.1 with E = 5e11 Pa that touch without overlap, 10 ms steps, 100 iterations, every solve from a cold start.
PP's iterative column is plain projected Gauss-Seidel.

One solve: the first step after rest, from a cold start and from the history, looked at after several numbers of sweeps. The error is that
of the profile of vertical stress (its largest difference over its largest value): single forces are not unique to a percent. Work is
counted in plain sweeps over all contacts; a coarse correction is counted by the time it takes.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis import Snapshot
from ..analysis.results import exact_column_overlaps
from ..analysis.silo import vertical_pressure
from ..array_types import FloatArray
from ..nonsmooth.solvers import PGS, Direct, Multigrid, SolverRecord
from ..pool import Job
from ..scene.library import make_scene
from ..scene.scene import Scene
from ..simulation import Settings, Simulation, make_settings
from ..state.contacts import Contacts
from .experiment import Outcome, Row, Runner, compared
from .figures.pp_multigrid import draw_columns, draw_silo
from .methods import GUARDS_OFF, sweep_ladder

TITLE = "columns and a silo with direct, iterative and multigrid solves (PP 5.3, Table 5.4)"
ITERATIONS = 100
STIFF = 5e11  # [Pa]
TIME_STEP = 0.01  # [s] PP Table 4.1
DIAMETER = 0.01  # [m]
COLUMNS = ((20, 3, 0.984, 0.937), (40, 6, 0.980, 0.851), (100, 6, 0.96, 0.66))
"""Grains, partitions, and PP's heights of multigrid and iterative over direct."""
COMPARED = ("direct", "pgs", "momentum", "multigrid")
SWEPT = ("pgs", "momentum", "multigrid")
STARTS = ("none", "history")
TOLERANCE = 0.01
SETTLE_ITERATIONS = 100  # with momentum, while a silo is filled
LAYERS = 12  # of the stress profile


@dataclass(frozen=True)
class MultigridSize:
    """Sizes of the experiment."""

    columns: tuple[tuple[int, int, float, float], ...] = COLUMNS
    duration: float = 10.0
    """[s] of the columns."""
    counts: tuple[int, ...] = (25, 50, 100, 200, 400)
    """Grains of the columns whose solve is looked into."""
    width: float = 9.0
    """[d] of the silo."""
    silo_count: int = 500
    most: int = 1500
    """Sweeps of a solve that are tried."""
    reference_sweeps: int = 6000
    run_on: float = 0.5
    """[s] that the silo at rest is run on with each method."""
    run_on_iterations: tuple[int, ...] = (10, 20, 40, 100, 200)


QUICK = MultigridSize()
FULL = MultigridSize(
    duration=20.0,
    counts=(25, 50, 100, 200, 400, 1000),
    width=15.0,
    silo_count=2000,
    most=3000,
    reference_sweeps=12_000,
    run_on=1.0,
    run_on_iterations=(7, 10, 14, 20, 40, 60, 100, 200, 400),
)


def solver(method: str, iterations: int, partitions: int | None = None) -> SolverRecord:
    """The solver of a method."""
    if method == "direct":
        return Direct()
    if method == "multigrid":
        return Multigrid(iterations=iterations, partitions=partitions)
    return PGS(iterations=iterations, momentum=method == "momentum")


def settings(scene: Scene, with_solver: SolverRecord, start: str) -> Settings:
    """Run settings of a scene with a solver and a start, without guards."""
    return make_settings(scene.run, {"stepper": {"solver": with_solver.model_dump(), "warm_start": {"name": start}}, "guards": GUARDS_OFF})


def measure(size: MultigridSize, run: Runner) -> Outcome:
    """The columns in time, their solves by height, and the silo."""
    which = [(count, partitions, method) for count, partitions, _, _ in size.columns for method in COMPARED]
    jobs = [Job(column, (count, partitions, method, size.duration), 2 + count / 10) for count, partitions, method in which]
    jobs += [Job(column_solve, (count, size.most), 5 + count / 20) for count in size.counts]
    jobs += [Job(silo, (size,), size.silo_count / 20)]
    results = run(jobs)
    columns: dict[str, dict[str, Any]] = {str(count): {} for count, _, _, _ in size.columns}
    for (count, _, method), found in zip(which, results, strict=False):
        columns[str(count)][method] = found
    solves = results[len(which) : len(which) + len(size.counts)]
    curves = {
        "columns": columns,
        "partitions": np.array([p for _, p, _, _ in size.columns]),
        "solves": {
            "count": np.array(size.counts),
            **{method: {what: np.array([s[method][what] for s in solves]) for what in ("sweeps", "work")} for method in SWEPT},
        },
        "silo": {**results[-1], "width": size.width, "count": size.silo_count},
    }
    return Outcome(_rows(size, curves), curves)


def draw(outcome: Outcome, folder: Path) -> list[Path]:
    """Two figures: the columns, and the silo."""
    return [draw_columns(outcome.curves, folder / "pp-multigrid.png"), draw_silo(outcome.curves["silo"], folder / "pp-multigrid-silo.png")]


def column(count: int, partitions: int, method: str, duration: float) -> dict[str, FloatArray]:
    """Height over that without overlap, mean overlap [d] in time, and all overlaps [d] at the end, of a stiff column."""
    scene = make_scene("silo", {"count": count, "width": 1.0, "youngs_modulus": STIFF, "time_step": TIME_STEP, "ramp": 0.0})
    sim = Simulation(scene, settings(scene, solver(method, ITERATIONS, partitions), "none"))
    height, overlap = [], []
    for _ in range(round(duration / TIME_STEP)):
        sim.step()
        height.append(float((sim.position[:, 2] + sim.radius).max()) / (count * DIAMETER))
        overlap.append(float(sim.contacts.overlap.mean()) / DIAMETER)
    time = TIME_STEP * np.arange(1, len(height) + 1)
    return {"time": time, "height": np.array(height), "overlap": np.array(overlap), "overlaps": sim.contacts.overlap / DIAMETER}


def column_solve(count: int, most: int) -> dict[str, Any]:
    """Sweeps and work of each method for 1 % error of the forces in a column at rest (E = 5e6 Pa), from a cold start."""
    scene = make_scene("silo", {"count": count, "width": 1.0, "time_step": TIME_STEP, "ramp": 0.0})
    sim = Simulation(scene, settings(scene, Direct(), "none"))
    sim.position[:, 2] = np.cumsum(DIAMETER - exact_column_overlaps(scene)) - DIAMETER / 2
    exact = _solve(sim, Direct(), "none")[0][:, 0]
    found = {}
    for method in SWEPT:
        errors, work = [], []
        ladder = sweep_ladder(most)
        for n in ladder:
            impulse, spent = _solve(sim, solver(method, int(n)), "none")
            errors.append(np.linalg.norm(impulse[:, 0] - exact) / np.linalg.norm(exact))
            work.append(spent)
            if method == "pgs" and errors[-1] > 0.5 and n > most / 4:
                break  # it will not get there
        at = _first(np.array(errors))
        found[method] = {"sweeps": ladder[at] if at is not None else np.nan, "work": work[at] if at is not None else np.nan}
    return found


def silo(size: MultigridSize) -> dict[str, Any]:
    """A silo at rest: errors of one solve against work, profile and distribution of its forces, and height when it is run on."""
    scene = make_scene("silo", {"count": size.silo_count, "width": size.width})
    sim = Simulation(scene, settings(scene, PGS(iterations=SETTLE_ITERATIONS), "history")).run(scene.run.duration)
    converged = _go_on(sim, PGS(iterations=size.reference_sweeps), "none")
    converged.step()
    contacts, reference = _all_contacts(converged), _all_contacts(converged).impulse.copy()
    heights = sim.bodies.position[sim.bodies.first_grain + contacts.a, 2]
    edges = np.linspace(0.0, float(heights.max()), LAYERS + 1)
    layer = np.clip(np.digitize(heights, edges) - 1, 0, LAYERS - 1)

    def profile(impulse: FloatArray) -> FloatArray:
        up = contacts.normal[:, 2]
        return np.bincount(layer, impulse[:, 0] * up**2 + impulse[:, 3] * up, minlength=LAYERS).astype(float)

    true = profile(reference)
    solves: dict[str, Any] = {}
    for start in STARTS:
        solves[start] = {}
        for method in SWEPT:
            ladder = sweep_ladder(size.most if method == "pgs" else min(size.most, 300))
            rows = []
            for n in ladder:
                impulse, work = _solve(sim, solver(method, int(n)), start)
                single = np.linalg.norm(impulse[:, 0] - reference[:, 0]) / np.linalg.norm(reference[:, 0])
                rows.append((n, work, np.abs(profile(impulse) - true).max() / true.max(), single))
            sweeps, work, error, single = np.array(rows).T
            solves[start][method] = {"sweeps": sweeps, "work": work, "error": error, "force_error": single}
    return {"solves": solves, **_forces(sim, converged), "run_on": _run_on(sim, size)}


def _all_contacts(sim: Simulation) -> Contacts:
    """Contacts of the problem: also those that are about to close, so that two solves of it have the same ones."""
    return sim.nonsmooth.detector.contacts


def _forces(sim: Simulation, converged: Simulation) -> dict[str, Any]:
    """Profile of vertical pressure [Pa], and distribution of normal forces over their mean, converged and of multigrid."""
    found: dict[str, Any] = {"edges": np.linspace(0.0, 6.0, 31)}
    for name, start, n in (("converged", "", 0), ("multigrid", "none", 60), ("multigrid, warm", "history", 20)):
        once = _go_on(sim, Multigrid(iterations=n), start) if n else converged
        if n:
            once.step()
        normal = _all_contacts(once).impulse[:, 0]
        taken = vertical_pressure([Snapshot.of(once)])
        found[name] = {
            "z": taken.z,
            "pressure": taken.pressure,
            "friction": float(_mobilised(once)),
            "density": np.histogram(normal / normal.mean(), found["edges"], density=True)[0],
        }
    return found


def _mobilised(sim: Simulation) -> float:
    """Mean of |p_t| / p_n, weighted by p_n."""
    impulse = _all_contacts(sim).impulse
    return float(np.linalg.norm(impulse[:, 1:4], axis=1).sum() / impulse[:, 0].sum())


def _run_on(sim: Simulation, size: MultigridSize) -> dict[str, Any]:
    """Mean height of the grains against a run with many sweeps, after the silo has been run on with few."""

    def height(how: SolverRecord, start: str) -> float:
        once = _go_on(sim, how, start).run(size.run_on)
        return float(once.position[:, 2].mean())

    true = height(PGS(iterations=400), "history")
    found: dict[str, Any] = {"iterations": np.array(size.run_on_iterations)}
    for start in STARTS:
        found[start] = {m: np.array([1 - height(solver(m, n), start) / true for n in size.run_on_iterations]) for m in SWEPT}
    return found


def _go_on(sim: Simulation, how: SolverRecord, start: str) -> Simulation:
    return Simulation.restore(sim.scene, settings(sim.scene, how, start), copy.deepcopy(sim.checkpoint()))


def _solve(sim: Simulation, how: SolverRecord, start: str) -> tuple[FloatArray, float]:
    """Impulses (C, 7) of the next step, and the work that they took."""
    once = _go_on(sim, how, start)
    once.nonsmooth.history = True
    once.step()
    work = once.nonsmooth.solve_report.work
    return _all_contacts(once).impulse.copy(), float(work[-1]) if len(work) else np.nan


def _first(errors: FloatArray) -> int | None:
    """Where the error comes below the tolerance for good."""
    above = np.flatnonzero(errors > TOLERANCE)
    at = int(above[-1]) + 1 if len(above) else 0
    return at if at < len(errors) else None


def work_needed(curve: dict[str, FloatArray]) -> float:
    """Plain sweeps that a solve takes until its error stays below the tolerance."""
    at = _first(curve["error"])
    return float(curve["work"][at]) if at is not None else np.nan


def _rows(size: MultigridSize, curves: dict[str, Any]) -> list[Row]:
    rows, behind = [], []
    for count, partitions, multigrid, iterative in size.columns:
        found = curves["columns"][str(count)]
        last = {method: float(found[method]["height"][-1]) for method in COMPARED}
        rows.append(
            compared(
                f"{count} grains, {partitions} partitions: height, multigrid / direct",
                last["multigrid"] / last["direct"],
                f"{multigrid:g}",
                multigrid,
                1.01,
                "{:.5f}",
            )
        )
        rows.append(
            Row(
                f"{count} grains: height, iterative / direct",
                f"{last['pgs'] / last['direct']:.3f}  (with momentum {last['momentum'] / last['direct']:.3f})",
                f"{iterative:g}",
                last["pgs"] / last["direct"],
            )
        )
        behind.append(last["pgs"] / last["direct"])
    rows.append(
        compared(
            "iterative falls behind with the height",
            behind[-1] - behind[0],
            f"{size.columns[-1][3]:g} - {size.columns[0][3]:g} < 0",
            -1.0,
            0.0,
            "{:.3f}",
        )
    )
    solves = curves["solves"]
    for method in ("momentum", "multigrid"):
        numbers = ", ".join(f"{n}: {w:.0f}" for n, w in zip(solves["count"], solves[method]["work"], strict=True))
        rows.append(Row(f"column, work for 1 %, cold, {method}", numbers, value=float(solves[method]["work"][-1])))
    for start in STARTS:
        work = {method: work_needed(curves["silo"]["solves"][start][method]) for method in SWEPT}
        rows.append(
            Row(
                f"silo {size.width:g} d, {size.silo_count} grains, work for 1 % of the profile, start {start}",
                ", ".join(f"{method} {w:.0f}" for method, w in work.items()) + f": pgs / multigrid {work['pgs'] / work['multigrid']:.1f}",
                value=work["pgs"] / work["multigrid"],
            )
        )
        run = curves["silo"]["run_on"]
        enough = {method: _first(np.abs(run[start][method])) for method in SWEPT}
        rows.append(
            Row(
                f"silo run on for {size.run_on:g} s, sweeps for 1 % of the height, start {start}",
                ", ".join(f"{method} {run['iterations'][at] if at is not None else 'more'}" for method, at in enough.items()),
            )
        )
    taken = curves["silo"]
    for name, what in (("multigrid", "60 sweeps, cold"), ("multigrid, warm", "20 sweeps, history")):
        ratio = taken[name]["friction"] / taken["converged"]["friction"]
        rows.append(Row(f"silo, friction |p_t| / p_n, multigrid ({what}) / converged", f"{ratio:.3f}", value=ratio))
    return rows
