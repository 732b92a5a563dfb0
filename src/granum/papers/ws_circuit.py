"""A balling circuit of drum, belt and roller sieve: iterations for 5 % in each, and what that costs by warm start (WS 5, Fig. 17)."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from ..analysis.circuit import STAGES, Passes, circuit_flow, circuit_numbers, drum_bed_angle, heap_angle
from ..analysis.snapshot import Snapshot
from ..nonsmooth.warm_start import StabilityGuard
from ..pool import Job
from ..scene.library import make_scene
from ..scene.library.circuit import CircuitParameters
from ..scene.parameters import parameters_of
from ..simulation import Simulation
from .experiment import Outcome, Row, Runner, compared
from .figures.circuit import draw_circuit_needs
from .methods import iterations_within, settings_for, start

TITLE = "a balling circuit: iterations for 5 % in drum, belt and sieve, and cost by warm start (WS 5, Fig. 17)"
COMPARED = ("cold", "history", "momentum + history")
BEST = "momentum + history"
TIME_STEP = 0.005  # [s], as WS has it for pellets
LOOK_EVERY = 8  # [steps]: frames 0.04 s apart see every pellet below the sieve
ACCURATE = 0.05  # WS: the required accuracy of angles of repose
MEASURED = {"drum": "angle of the bed", "belt": "angle of the heap", "sieve": "place where pellets leave it"}
UNTIMED = 3  # first steps of a run, which load kernels


@dataclass(frozen=True)
class CircuitSize:
    """Sizes of the experiment. The paper tells none of its circuit."""

    iterations: tuple[int, ...]
    prepare: float
    """For so long [s] the circuit runs before anything is compared."""
    prepare_iterations: int
    settle: float
    """From the change of method to the measurement [s]: the belt has carried away what lay on it."""
    window: float
    """Of the measurement [s]."""
    scene: dict[str, float] = field(default_factory=dict)
    """Parameters of the scene ``circuit`` that differ from its own."""


QUICK = CircuitSize(
    iterations=(5, 10, 25, 50, 100, 200),
    prepare=7.0,
    prepare_iterations=50,
    settle=2.4,
    window=2.0,
    scene={
        "drum_width": 24.0,
        "drum_length": 16.0,
        "speed": 0.7,
        "incline": 3.0,
        "rate": 150.0,
        "belt_length": 12.0,
        "belt_speed": 0.06,
        "rollers": 7,
        "largest_gap": 1.15,
    },
)
FULL = CircuitSize(
    iterations=(5, 10, 25, 50, 75, 100, 150, 250, 500),
    prepare=30.0,
    prepare_iterations=150,
    settle=12.0,
    window=6.0,
    scene={"drum_width": 40.0, "drum_length": 40.0, "speed": 0.5, "rate": 300.0, "belt_length": 60.0, "rollers": 16},
)


def measure(size: CircuitSize, run: Runner) -> Outcome:
    """The same circuit, run on with all methods and numbers of sweeps."""
    (prepared,) = run([Job(prepare, (size,), size.prepare * (20.0 + size.prepare_iterations))])
    which = [(method, n) for method in COMPARED for n in size.iterations]
    results = run([Job(run_circuit, (size, prepared, m, n), (size.settle + size.window) * (20.0 + n)) for m, n in which])
    found = dict(zip(which, results, strict=True))
    curves: dict[str, Any] = {"iterations": np.array(size.iterations)}
    for name in (*STAGES, *(f"{stage}_scatter" for stage in ("drum", "belt")), "cpu"):
        curves[name] = {method: np.array([found[method, n][name] for n in size.iterations]) for method in COMPARED}
    curves["right"] = {stage: _right(curves[stage]) for stage in STAGES}
    curves["need"] = {stage: {m: _required(curves, stage, m) for m in COMPARED} for stage in STAGES}
    curves["cost"] = {method: _cost(curves, method) for method in COMPARED}
    few = min(size.iterations, key=lambda n: abs(n - 10))
    curves["gaps"] = {f"{m}, {n}": found[m, n]["gaps"] for m, n in ((BEST, size.iterations[-1]), ("cold", few), ("history", few))}
    curves["numbers"] = found[BEST, size.iterations[-1]]["numbers"]
    return Outcome(_rows(size, curves), curves)


def draw(outcome: Outcome, folder: Path) -> list[Path]:
    """One figure: errors of drum, belt and sieve against iterations, what falls through the gaps, and cost."""
    return [draw_circuit_needs(outcome.curves, folder / "ws-circuit.png")]


def prepare(size: CircuitSize) -> dict[str, Any]:
    """A checkpoint of a circuit that has run full."""
    scene = make_scene("circuit", {**size.scene, "time_step": TIME_STEP})
    return start(scene, BEST, size.prepare_iterations).run(size.prepare).checkpoint()


def run_circuit(size: CircuitSize, prepared: dict[str, Any], method: str, iterations: int) -> dict[str, Any]:
    """The circuit, run on with a method.

    Means over the window: angles [degrees] of the bed in the drum and of the heap on the belt with their scatter in time, the place along
    the sieve [m] at which mass leaves it; flows, masses and sizes; the mass through each gap [kg/s]; CPU time of a step [s].
    """
    scene = make_scene("circuit", {**size.scene, "time_step": TIME_STEP})
    sim = Simulation.restore(scene, settings_for(scene, method, iterations), copy.deepcopy(prepared))
    sim.nonsmooth.stability = StabilityGuard()  # it knows nothing of what was before
    passes, begins = Passes(parameters_of(scene, CircuitParameters)), sim.time + size.settle
    angles, spent = [], 0.0
    passes.look(Snapshot.of(sim))
    steps = round((size.settle + size.window) / sim.time_step)
    for step in range(1, steps + 1):
        began = process_time()
        sim.step()
        spent += process_time() - began if step > UNTIMED else 0.0
        if step % LOOK_EVERY == 0:
            seen = Snapshot.of(sim)
            passes.look(seen)
            if seen.time > begins:
                angles.append((drum_bed_angle(seen), heap_angle(seen)))
    flow = circuit_flow(passes, (begins, sim.time))
    drum, belt = np.array(angles).T
    return {
        "drum": float(np.nanmean(drum)),
        "belt": float(np.nanmean(belt)),
        "sieve": flow.mean_place,
        "drum_scatter": float(np.nanstd(drum)),
        "belt_scatter": float(np.nanstd(belt)),
        "numbers": circuit_numbers(flow),
        "gaps": {"gap": flow.gap, "flow": flow.gap_flow},
        "cpu": spent / max(1, steps - UNTIMED),
    }


def _right(values: dict[str, np.ndarray]) -> float:
    """What all methods tend to: their mean at the two largest numbers of sweeps, as drum and heap pulse by some per cent."""
    return float(np.mean([found[-2:] for found in values.values()]))


def _required(curves: dict[str, Any], stage: str, method: str) -> float:
    """Iterations from which on no value falls short by more than 5 %: errors have a sign, as in WS (12) and (14). With few sweeps beds melt
    and pellets slip, so all three values are too small."""
    right = curves["right"][stage]
    return iterations_within(curves["iterations"], np.minimum(curves[stage][method], right), right, ACCURATE)


def _cost(curves: dict[str, Any], method: str) -> float:
    """CPU time [s] of a step with as many sweeps as the most demanding part needs, from a line through those run; NaN: they do not do."""
    need = max(curves["need"][stage][method] for stage in STAGES) if _reached(curves, method) else np.nan
    slope, fixed = np.polyfit(curves["iterations"], curves["cpu"][method], 1, w=1 / curves["cpu"][method])
    return float(fixed + slope * need)


def _reached(curves: dict[str, Any], method: str) -> bool:
    return all(np.isfinite(curves["need"][stage][method]) for stage in STAGES)


def _rows(size: CircuitSize, curves: dict[str, Any]) -> list[Row]:
    numbers, need, most = curves["numbers"], curves["need"], size.iterations[-1]
    each = {
        what: ", ".join(f"{stage} {scale * numbers[f'{stage}_{what}']:.3g}" for stage in STAGES)
        for what, scale in (("flow", 1), ("d50", 1e3))
    }
    rows = [
        Row(f"mass flow [kg/s], {BEST}, {most} iterations", each["flow"]),
        Row("median size by mass [mm]", each["d50"]),
        Row("evenness of the throughput", f"along the sieve {numbers['evenness_along']:.2f}, across {numbers['evenness_across']:.2f}"),
    ]
    for stage, what in MEASURED.items():
        numbers_of = (f"{method} {n:.0f}" if np.isfinite(n) else f"{method} none" for method, n in need[stage].items())
        rows.append(Row(f"{stage}: iterations for 5 % of the {what}", ", ".join(numbers_of)))
    scatter = (np.std([found[-2:] for found in curves[stage].values()]) / curves["right"][stage] for stage in STAGES)
    each_of = ", ".join(f"{stage} {100 * part:.0f} %" for stage, part in zip(STAGES, scatter, strict=True))
    rows.append(Row("scatter between runs with most iterations", each_of))
    for stage, paper, low, high in (("drum", "roughly 3", 1.5, 6.0), ("belt", "2", 1.3, 3.0)):
        rows.append(compared(f"{stage}: cold / history", need[stage]["cold"] / need[stage]["history"], paper, low, high))
    sieve = max(need["sieve"][method] for method in ("cold", "history"))
    rows.append(compared("sieve: iterations, cold or history", sieve, "fewer than 25", 0.0, 25.0, "{:.0f}"))
    cost = curves["cost"]
    whole = {method: max(need[stage][method] for stage in STAGES) if _reached(curves, method) else np.nan for method in COMPARED}
    rows += [
        compared("whole circuit: iterations, cold / history", whole["cold"] / whole["history"], "a factor 2 (estimated)", 1.4, 3.0),
        Row(f"whole circuit: iterations, cold / {BEST}", _ratio(whole["cold"] / whole[BEST])),
        compared("whole circuit: CPU time, cold / history", cost["cold"] / cost["history"], "a factor 2 (estimated)", 1.4, 3.0),
        Row(f"whole circuit: CPU time, cold / {BEST}", _ratio(cost["cold"] / cost[BEST])),
        Row("CPU time of a step at 5 % [ms]", ", ".join(f"{method} {_ratio(1e3 * one)}" for method, one in cost.items())),
    ]
    return rows


def _ratio(value: float) -> str:
    return f"{value:.2g}" if np.isfinite(value) else "not reached"
