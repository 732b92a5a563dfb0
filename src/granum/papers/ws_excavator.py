"""An excavator digs in a trench: what cold and warm starting do to its cylinder forces and to the bed (WS 5, Fig. 18 and 19)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from ..analysis.dig import bed_height, displaced_volume, in_bucket
from ..pool import Job
from ..scene.library import make_scene
from ..scene.library.excavator import ExcavatorParameters
from ..scene.parameters import parameters_of
from ..scene.scene import Scene
from ..simulation import Simulation
from .experiment import Outcome, Row, Runner, compared
from .figures.excavator import draw_beds, draw_forces
from .methods import start

TITLE = "an excavator in a trench: cylinder forces and bed by warm start (WS 5, Fig. 18-19)"
PAPER_COUNT = 100_000
ACCURATE = "to accuracy"
COMPARED = ("cold", "history")
EVERY = 4  # steps between two looks at the forces
MOVED = 3.0  # [mean diameters]: grains that went further are displaced
UNTOUCHED = (0.0, 0.12)  # part of the trench, along x, that the bucket does not come to: its height is the undisturbed one
CYLINDERS = ("boom", "stick", "bucket")


@dataclass(frozen=True)
class ExcavatorSize:
    """Sizes of the experiment."""

    count: int
    iterations: int = 25
    duration: float = 13.0
    """[s]: until the bucket is lifted, or longer."""
    accurate: bool = True
    """Whether solves to the default accuracy stand beside them."""


QUICK = ExcavatorSize(count=3000)
FULL = ExcavatorSize(count=PAPER_COUNT, duration=21.0)


def measure(size: ExcavatorSize, run: Runner) -> Outcome:
    """The same lattice of stones settles and is dug in with each method by itself, since the height of the bed depends on it."""
    which = [*((method, size.iterations) for method in COMPARED), *([(ACCURATE, 0)] if size.accurate else [])]
    cost = {"cold": 1.0, "history": 1.0, ACCURATE: 3.0}
    found = run([Job(dig, (size.count, method, iterations, size.duration), cost[method]) for method, iterations in which])
    curves: dict[str, Any] = {"runs": {method: one for (method, _), one in zip(which, found, strict=True)}}
    return Outcome(_rows(size, curves["runs"]), curves)


def draw(outcome: Outcome, folder: Path) -> list[Path]:
    """Two figures: the force of the stick's cylinder over time; sections of the bed after the drag."""
    return [draw_forces(outcome.curves, folder / "ws-excavator.png"), draw_beds(outcome.curves, folder / "ws-excavator-bed.png")]


def begin(count: int, method: str, iterations: int) -> Simulation:
    """The excavator at its start, with a method of WS or solved to the default accuracy."""
    if method == ACCURATE:
        return Simulation(make_scene("excavator", count=count, iterations=0), guards={"on_coarse": "off"})
    return start(make_scene("excavator", count=count, iterations=iterations), method, iterations)


def dig(count: int, method: str, iterations: int, duration: float) -> dict[str, Any]:
    """One cycle: forces over time [N], the bed before and after, what the bucket holds [kg], energies [J], and what it cost."""
    sim = begin(count, method, iterations)
    p = parameters_of(sim.scene, ExcavatorParameters)
    forces, times, load, load_time = [], [], [], []
    before = dragged = lifted = sim.position.copy()
    height, in_lifted = np.nan, np.nan
    began, worked = perf_counter(), process_time()
    for step in range(1, round(duration / sim.time_step) + 1):
        sim.step()
        if step % EVERY == 0:
            times.append(sim.time)
            forces.append([sim.joint(f"{name} cylinder").motor_force for name in CYLINDERS])
        if step % (10 * EVERY) == 0:
            load_time.append(sim.time)
            load.append(bucket_load(sim, p))
        if step == round(p.rest / sim.time_step):
            before = sim.position.copy()
        if step == round(p.drag[0] / sim.time_step):  # until then the bucket has only been let down
            height = bed_height(sim.position, sim.radius, *p.trench, along=UNTOUCHED)
        if step == round(p.drag[1] / sim.time_step):
            dragged = sim.position.copy()
        if step == round(p.lifted / sim.time_step):
            lifted, in_lifted = sim.position.copy(), bucket_load(sim, p)
    report = sim.report
    balance = sim.ledger.balance(
        report.kinetic_energy,
        report.energy - report.kinetic_energy,
        report.elastic_energy,
        sim.guard.began if sim.guard.began is not None else np.nan,
    )
    return {
        "time": np.array(times),
        "force": {name: np.array(forces)[:, k] for k, name in enumerate(CYLINDERS)},
        "load_time": np.array(load_time),
        "load": np.array(load),
        "drag": np.array(p.drag),
        "height": height,
        "settled_height": bed_height(before, sim.radius, *p.trench),
        "displaced": displaced_volume(before, lifted, sim.radius, MOVED * 2 * float(sim.radius.mean())),
        "lifted_load": in_lifted,
        "energy": balance,
        "drift": sim.joint_drift,
        "wall_seconds": (perf_counter() - began) / duration,
        "cpu_seconds": (process_time() - worked) / duration,
        "bed": {"x": dragged[:, 0], "y": dragged[:, 1], "z": dragged[:, 2], "radius": np.array(sim.radius)},
        "trench": np.array(p.trench),
    }


def bucket_load(sim: Simulation, p: ExcavatorParameters) -> float:
    """Mass [kg] of the stones in the bucket."""
    w = body_row(sim.scene, "bucket")
    inside = in_bucket(sim.position, (sim.bodies.position[w], sim.bodies.orientation[w]), p)
    return float((1 / sim.bodies.inverse_mass[sim.bodies.grains][inside]).sum())


def body_row(scene: Scene, name: str) -> int:
    """Row of a body of the scene."""
    return [body.name for body in scene.all_bodies].index(name)


def in_drag(one: dict[str, Any], cylinder: str = "stick") -> float:
    """Mean force [N] of a cylinder while the bucket is dragged, without its sign."""
    during = (one["time"] >= one["drag"][0]) & (one["time"] <= one["drag"][1])
    return float(np.abs(one["force"][cylinder][during]).mean())


def _rows(size: ExcavatorSize, runs: dict[str, Any]) -> list[Row]:
    def each(value: Any, unit: str) -> str:
        return ", ".join(f"{method} {value(one):{unit}}" for method, one in runs.items())

    cold, warm = runs["cold"], runs["history"]
    full = size.count == PAPER_COUNT
    rows = [
        Row("undisturbed height [m]", each(lambda one: one["height"], ".3f")),
        compared("undisturbed height, history / cold - 1", 100 * (warm["height"] / cold["height"] - 1), "10 %", 5.0, 15.0, "{:.1f} %"),
        Row("displaced volume [m^3]", each(lambda one: one["displaced"], ".4f")),
        compared(
            "displaced volume, history / cold - 1",
            100 * (warm["displaced"] / cold["displaced"] - 1),
            "at least 30 % apart",
            30.0,
            np.inf,
            "{:.0f} %",
        ),
        Row("mean stick cylinder force, 8 to 10 s [kN]", each(lambda one: in_drag(one) / 1e3, ".0f")),
        compared("stick cylinder force in the drag, history / cold", in_drag(warm) / in_drag(cold), "almost 1.5", 1.25, 1.6, "{:.2f}"),
        Row("stones in the lifted bucket [kg]", each(lambda one: one["lifted_load"], ".0f")),
    ]
    if ACCURATE in runs:
        right = runs[ACCURATE]
        for method in COMPARED:
            one = runs[method]
            off = {
                "height": one["height"] / right["height"] - 1,
                "displaced": one["displaced"] / right["displaced"] - 1,
                "stick force": in_drag(one) / in_drag(right) - 1,
                "bucket": one["lifted_load"] / right["lifted_load"] - 1,
            }
            rows.append(
                Row(f"{method} against solves to accuracy", ", ".join(f"{name} {100 * value:+.0f} %" for name, value in off.items()))
            )
    rows += [
        Row("work of the motors [kJ]", each(lambda one: one["energy"]["motors"] / 1e3, ".1f")),
        Row("energy that nothing explains [kJ]", each(lambda one: one["energy"]["left_over"] / 1e3, ".2f")),
        Row(
            f"wall time for a second, {size.count} stones, 1 thread",
            each(lambda one: one["wall_seconds"], ".3g") + " s",
            "roughly 100 s (1e5 stones)" if full else "not in the paper",
        ),
        Row("CPU time for a second", each(lambda one: one["cpu_seconds"], ".3g") + " s"),
    ]
    return rows
