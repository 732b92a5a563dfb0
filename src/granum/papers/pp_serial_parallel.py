"""Serial against parallel sweeps: does the order in which contacts are visited change the physics (PP 5.2, Tables 5.1 to 5.3)?

Serial: contacts in the order in which they were found, walls last. Parallel: colour by colour, whose result does not depend on the number
of threads; that is checked here too. Both cold and without momentum, from the same start, so that nothing but the order differs. What
another start does to a serial run stands beside it.

Grains, walls, damping and time step are those of PP Table 4.1, which are SN's; friction, which PP does not give, is 0.7 as in SN. The
column starts without gaps (PP: one diameter), silo and drum start from a lattice (PP: an emitter).
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis.compare import MEASURES, HistogramComparison, SeriesComparison, compare_sums, overlap_sums
from ..analysis.results import state_hash
from ..analysis.snapshot import Snapshot
from ..parallel import team
from ..pool import Job
from ..scene.library import make_scene
from ..scene.scene import Scene
from ..simulation import Settings, Simulation, make_settings
from .experiment import Outcome, Row, Runner, compared
from .figures.pp import draw_histograms, draw_series
from .methods import GUARDS_OFF

TITLE = "the order of a serial and of a parallel sweep: column, silo, drums (PP 5.2, Tables 5.1-5.3)"
TIME_STEP = 0.01  # [s] PP Table 4.1; grains, damping and restitution are those of the scenes
DIAMETER = 0.01  # [m]
EVERY = 10  # steps between two looks, as in PP
ORDERS = {"serial": "given", "parallel": "colour"}
OTHER_START = "serial, other start"
THREADS = (1, 2, 4, 8)
AT_REST = 1e-4  # of N m g d: the energy of a system that still creeps; what it is then tells nothing
WORDS = {"overlap": "overlap", "kinetic_energy": "kinetic energy", "contacts": "contacts", "surface_height": "surface height"}


@dataclass(frozen=True)
class Case:
    """One system."""

    scene: str
    """Library scene: `silo` (1 d wide it is a column) or `drum`."""
    parameters: dict[str, Any]
    iterations: tuple[int, int]
    """Few and many sweeps: 100 and 500 in PP."""
    since: float
    """[s] From here on it is compared."""
    duration: float
    """[s]"""
    starts: int = 2
    """2: a serial run from another start is compared too; 1: the start has nothing random."""


@dataclass(frozen=True)
class SolverSize:
    """Sizes of the experiment."""

    cases: dict[str, Case]
    """``column``, ``silo``, ``drum`` (10 d long) and ``long drum`` (30 d)."""
    checked_steps: int
    """Steps that are repeated with every number of threads."""


def _drum(count: int, width: float, length: float, speed: float) -> dict[str, Any]:
    return {"kind": "sawtooth", "count": count, "width": width, "length": length, "speed": speed, "time_step": TIME_STEP}


COLUMN = Case("silo", {"count": 100, "width": 1.0, "ramp": 1.0, "time_step": TIME_STEP}, (100, 500), since=5.0, duration=20.0, starts=1)
# Drums of the paper's Froude number and filling, four times narrower; fewer sweeps, as smaller systems need fewer.
QUICK = SolverSize(
    {
        "column": COLUMN,
        "silo": Case("silo", {"count": 500, "width": 9.0, "ramp": 4.0, "time_step": TIME_STEP}, (20, 100), since=5.0, duration=8.0),
        "drum": Case("drum", _drum(470, 20.0, 10.0, 1.26), (20, 100), since=4.0, duration=9.0),
        "long drum": Case("drum", _drum(1560, 20.0, 30.0, 1.26), (20, 100), since=4.0, duration=6.0),
    },
    checked_steps=20,
)
FULL = SolverSize(
    {
        "column": COLUMN,
        "silo": Case("silo", {"count": 7500, "width": 9.0, "ramp": 20.0, "time_step": TIME_STEP}, (100, 500), since=25.0, duration=35.0),
        "drum": Case("drum", _drum(7500, 80.0, 10.0, 0.63), (100, 500), since=10.0, duration=17.0),
        "long drum": Case("drum", _drum(25_000, 80.0, 30.0, 0.63), (100, 500), since=10.0, duration=17.0),
    },
    checked_steps=50,
)

# Case, few (0) or many (1) sweeps, measure, error of PP [%], how PP measures it
PAPER = (
    ("column", 0, "overlap", 6.5, "range"),
    ("column", 0, "kinetic_energy", 9.8, "range"),
    ("column", 1, "kinetic_energy", 2.0, "range"),
    ("silo", 0, "contacts", 0.8, "mean"),
    ("silo", 1, "overlap", 1.3, "mean"),
    ("silo", 1, "overlap_sum", 2.0, "mean"),
    ("long drum", 1, "contacts", 1.0, "range"),
    ("drum", 0, "kinetic_energy", 3.2, "range"),
    ("drum", 1, "overlap", 1.8, "range"),
    ("drum", 0, "surface_height", 7.3, "range"),
    ("long drum", 0, "overlap_sum", 1.5, "mean"),
)


def measure(size: SolverSize, run: Runner) -> Outcome:
    """All systems with few and many sweeps in both orders, and the serial ones from another start."""
    which = [
        (name, n, kind)
        for name, case in size.cases.items()
        for n in case.iterations
        for kind in (*ORDERS, *([OTHER_START] if case.starts > 1 else []))
    ]
    results = run([_job(size, *one) for one in which])
    found = dict(zip(which, results, strict=True))
    curves: dict[str, Any] = {"systems": {}}
    seen: dict[tuple[str, int], Compared] = {}
    for name, case in size.cases.items():
        per = curves["systems"][name] = {"grains": case.parameters["count"], "since": case.since, "runs": {}, "histograms": {}}
        for few_or_many, n in enumerate(case.iterations):
            runs = {kind: found[name, n, kind] for kind in (*ORDERS, OTHER_START) if (name, n, kind) in found}
            per["runs"][str(n)] = {kind: {"time": one["time"], **one["series"]} for kind, one in runs.items()}
            seen[name, few_or_many] = both = _compare(case.since, runs)
            sums = both.sums["parallel"]
            per["histograms"][str(n)] = {
                "edges": sums.edges,
                "serial": sums.density_a,
                "parallel": sums.density_b,
                "mean": sums.mean,
                "median": sums.median,
                "std": sums.std,
            }
    bits = {name: found[name, case.iterations[0], "parallel"]["bits"] for name, case in size.cases.items()}
    curves["bits"] = {name: {str(threads): digest for threads, digest in one.items()} for name, one in bits.items()}
    return Outcome(_rows(size, seen, bits), curves)


def draw(outcome: Outcome, folder: Path) -> list[Path]:
    """Two figures: all measures in time, and the histograms."""
    return [
        draw_series(outcome.curves, folder / "pp-serial-parallel.png"),
        draw_histograms(outcome.curves, folder / "pp-serial-parallel-histograms.png"),
    ]


def _job(size: SolverSize, name: str, iterations: int, kind: str) -> Job:
    case = size.cases[name]
    order = ORDERS.get(kind, ORDERS["serial"])
    checked = size.checked_steps if kind == "parallel" and iterations == case.iterations[0] else 0
    slow = 6.0 if order == "given" else 1.0  # contacts one by one instead of 16 at a time
    steps = case.duration / TIME_STEP + len(THREADS) * checked
    cost = steps * case.parameters["count"] * (20 + slow * iterations)
    return Job(watch, (case, iterations, order, 1 if kind == OTHER_START else 0, checked), cost)


def watch(case: Case, iterations: int, order: str, seed: int, checked: int) -> dict[str, Any]:
    """Measures of every tenth step, overlap sums from ``since`` on, and what ``checked`` more steps give with each number of threads."""
    scene = make_scene(case.scene, {**case.parameters, **({"seed": seed} if case.starts > 1 else {})})
    sim = Simulation(scene, _settings(scene, iterations, order))
    time, rows, sums = [], [], []
    for step in range(1, round(case.duration / sim.time_step) + 1):
        sim.step()
        if step % EVERY == 0:
            now = Snapshot.of(sim)
            time.append(now.time)
            rows.append([of(now) for _, of in MEASURES.values()])
            if now.time >= case.since:
                sums.append(overlap_sums(now))
    return {
        "time": np.array(time),
        "series": dict(zip(MEASURES, np.array(rows).T, strict=True)),
        "sums": np.concatenate(sums),
        "bits": {threads: _digest_after(sim, iterations, order, threads, checked) for threads in THREADS} if checked else {},
    }


def _settings(scene: Scene, iterations: int, order: str, threads: int = 1) -> Settings:
    stepper = {"warm_start": {"name": "none"}, "solver": {"iterations": iterations, "momentum": False, "order": order}}
    return make_settings(scene.run, {"stepper": stepper, "guards": GUARDS_OFF, "threads": threads})


def _digest_after(sim: Simulation, iterations: int, order: str, threads: int, steps: int) -> str:
    """Of the state that a copy reaches with that number of threads."""
    other = Simulation.restore(sim.scene, _settings(sim.scene, iterations, order, threads), copy.deepcopy(sim.checkpoint()))
    with _all_awake():
        for _ in range(steps):
            other.step()
    return state_hash(other.position, other.orientation, other.velocity, other.spin)


@contextlib.contextmanager
def _all_awake() -> Iterator[None]:
    """Every thread of a team works, however little there is to do: a small system would be left to one."""
    kept, team.LEAST = team.LEAST, 1
    try:
        yield
    finally:
        team.LEAST = kept


@dataclass(frozen=True)
class Compared:
    """Runs against the serial one, by kind of run."""

    series: dict[str, dict[str, SeriesComparison]]
    sums: dict[str, HistogramComparison]

    def error(self, kind: str, measured: str, how: str) -> float:
        """[%] PP (5.1), or difference of the means."""
        if measured == "overlap_sum":
            return 100 * self.sums[kind].mean_difference
        one = self.series[kind][measured]
        return 100 * (one.error if how == "range" else one.mean_difference)


def _compare(since: float, runs: dict[str, dict[str, Any]]) -> Compared:
    serial = runs["serial"]
    late = serial["time"] >= since
    time = serial["time"][late]
    series = {
        kind: {
            name: SeriesComparison(name, unit, time, serial["series"][name][late], time, one["series"][name][late])
            for name, (unit, _) in MEASURES.items()
        }
        for kind, one in runs.items()
    }
    return Compared(series, {kind: compare_sums(serial["sums"], one["sums"]) for kind, one in runs.items()})


def _rows(size: SolverSize, seen: dict[tuple[str, int], Compared], bits: dict[str, dict[int, str]]) -> list[Row]:
    rows = [_beside_paper(_called(one[0], size.cases[one[0]], one[1]), seen[one[0], one[1]], *one[2:]) for one in PAPER]
    for (name, few_or_many), both in seen.items():
        case = size.cases[name]
        for kind in [kind for kind in both.series if kind != "serial"]:
            each = [f"{WORDS[one]} {both.error(kind, one, 'mean'):.2g} %" for one in ("overlap", "contacts")]
            energy = both.series[kind]["kinetic_energy"]
            at_rest = max(energy.mean_a, energy.mean_b) < AT_REST
            each.append("both at rest" if at_rest else f"{WORDS['kinetic_energy']} {100 * energy.mean_difference:.2g} %")
            top, sums = both.series[kind]["surface_height"], both.sums[kind]
            each.append(f"surface {abs(top.mean_a - top.mean_b) / DIAMETER:.2g} d")
            each.append(f"spread of overlaps {100 * abs(sums.std[1] / max(sums.std[0], 1e-300) - 1):.2g} %")
            against = "parallel" if kind == "parallel" else "other start"
            rows.append(Row(f"{_called(name, case, few_or_many)}: {against} differs from serial by", ", ".join(each)))
    same = {name: len(set(one.values())) == 1 for name, one in bits.items()}
    rows.append(
        compared(
            f"systems with the same bits after {size.checked_steps} steps with {', '.join(map(str, THREADS))} threads",
            float(sum(same.values())),
            "depends on the threads; ours must not",
            len(same),
            len(same),
            f"{{:.0f}} of {len(same)}",
        )
    )
    return rows


def _beside_paper(called: str, both: Compared, measured: str, paper: float, how: str) -> Row:
    """A line of PP's tables; ours agrees if it differs no more than PP's does."""
    mean: tuple[float, float] = both.sums["parallel"].mean
    also = ""
    if measured in WORDS:
        one = both.series["parallel"][measured]
        mean = one.mean_a, one.mean_b
        if measured == "kinetic_energy" and max(mean) < AT_REST:
            also = ", both at rest"
        elif how == "range" and measured != "surface_height":  # whose zero is arbitrary
            also = f", {100 * one.mean_difference:.2g} % of the mean"
    text = f"{{:.2g}} % of the {how}{also} (serial {mean[0]:.4g}, parallel {mean[1]:.4g})"
    if OTHER_START in both.series:
        text += f"; other start {both.error(OTHER_START, measured, how):.2g} %"
    what = f"{called}: {WORDS.get(measured, 'overlaps of a grain')}"
    return compared(what, both.error("parallel", measured, how), f"{paper:g} % of the {how}", 0.0, paper, text)


def _called(name: str, case: Case, few_or_many: int) -> str:
    return f"{name} of {case.parameters['count']}, {case.iterations[few_or_many]} iterations"
