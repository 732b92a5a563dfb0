"""``granum plan``: which method, which time step, how many iterations, and how long it will take (SN 5.3)."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..checks import InputError
from .console import in_milliseconds, in_words, print_json, talk
from .units import read_fraction, read_quantity, read_size

if TYPE_CHECKING:
    from ..analysis.cost_model import Estimate, PlannedSystem
    from ..analysis.scene_size import SceneSize
    from ..analysis.step_plan import PlannedStep
    from ..scene.scene import Scene

SYSTEM, COST, OUTPUT = "The system", "What it runs on", "Output"

FEWER_SWEEPS = {"history": 1.8, "momentum": 2.1, "momentum + history": 4.2}
"""Times fewer sweeps than cold, plain ones for the same error: the smallest measured here, in columns of 10 to 50 grains (height to 1 %:
history 2.8-3.2, momentum 2.1-3.6, both 4.2-6.8) and in boxes of 2000 and 10 000 that have just been tilted (forces to 5 %: 1.8, 7,
11-13). WS has 2 to 5 for history; SN 5.4 found a gain in columns only."""
MOMENTUM_COST = 1.07
"""A sweep with momentum over a plain one, where it is not measured."""
PARALLEL_PART = 0.75
"""Of a nonsmooth step, that runs on all threads: whole steps of 20 000 grains are 1.5 to 1.7 times as fast on two (`bench parallel`).
Smooth steps run on one."""
BENCH_GRAINS = 10_000


def register(app: typer.Typer) -> None:
    app.command("plan")(in_words(plan))


def plan(
    diameter: Annotated[str | None, typer.Option(help="Of a grain: 10mm.", rich_help_panel=SYSTEM)] = None,
    young: Annotated[str | None, typer.Option(help="Young's modulus: 10GPa.", rich_help_panel=SYSTEM)] = None,
    width: Annotated[str | None, typer.Option(help="Across gravity, in diameters (15) or a length (15cm).", rich_help_panel=SYSTEM)] = None,
    height: Annotated[str | None, typer.Option(help="Along gravity, in diameters or as a length.", rich_help_panel=SYSTEM)] = None,
    inertial: Annotated[
        str | None, typer.Option(help="Inertial number: 0 at rest (default), 0.1 in dense flow.", rich_help_panel=SYSTEM)
    ] = None,
    tolerance: Annotated[str | None, typer.Option(help="Mean overlap error, in diameters; default 5%.", rich_help_panel=SYSTEM)] = None,
    density: Annotated[str | None, typer.Option(help="Of a grain; default 2500 kg/m3.", rich_help_panel=SYSTEM)] = None,
    poisson: Annotated[str | None, typer.Option(help="Poisson's ratio; default 0.3.", rich_help_panel=SYSTEM)] = None,
    gravity: Annotated[str | None, typer.Option(help="Default 9.8 m/s2.", rich_help_panel=SYSTEM)] = None,
    speed: Annotated[
        str | None, typer.Option(help="The fastest that moves: 2m/s; default: of the scene, or of a slow flow.", rich_help_panel=SYSTEM)
    ] = None,
    scene: Annotated[
        str | None, typer.Option(metavar="SCENE", help="Read size and material from a scene (name, .toml, .py).", rich_help_panel=SYSTEM)
    ] = None,
    values: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Parameter of the scene.", rich_help_panel=SYSTEM)
    ] = None,
    machine: Annotated[bool, typer.Option("--machine", help="Measure this machine instead of 1 us.", rich_help_panel=COST)] = False,
    contacts: Annotated[
        float | None, typer.Option(help="Contacts per grain; default 1 (as SN), measured with --machine.", rich_help_panel=COST)
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Also estimate for so many threads.", rich_help_panel=COST)] = None,
    table: Annotated[bool, typer.Option("--table", help="SN Table I, computed: 33 systems.", rich_help_panel=OUTPUT)] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, SI units.", rich_help_panel=OUTPUT)] = False,
) -> None:
    """Recommend stepper, time step and iterations for a system, with the time that a simulated second will take.

    Examples: granum plan --diameter 10mm --young 10GPa --width 15 --height 100 --inertial 0.1 --tolerance 5%; granum plan --table
    """
    given = {
        "diameter": diameter,
        "young": young,
        "width": width,
        "height": height,
        "inertial": inertial,
        "tolerance": tolerance,
        "density": density,
        "poisson": poisson,
        "gravity": gravity,
        "speed": speed,
    }
    if table:
        beside = {**given, "scene": scene, "set": values or None, "machine": machine or None, "contacts": contacts, "threads": threads}
        other = [f"--{name}" for name, value in beside.items() if value is not None]
        if other:
            raise InputError(f"--table has SN's own systems and costs: leave {', '.join(other)} out.")
        _show_table(as_json)
        return
    if values and scene is None:
        raise InputError("--set needs --scene.")
    if contacts is not None and not (math.isfinite(contacts) and contacts > 0):
        raise InputError(f"contacts must be a finite number above 0 per grain (got {contacts}).")
    from ..analysis.step_plan import plan_step

    loaded, size, own_step = _load(scene, values or []) if scene is not None else (None, None, None)
    fastest = _speed(given.pop("speed"))
    system, grains, notes = _system(given, size)
    step = plan_step(system, loaded, speed=fastest, own_gravity=gravity is not None, exact=tolerance is not None)
    if own_step is not None:
        notes.append(f"the scene itself sets a time step of {in_milliseconds(own_step)}")
    if loaded is None or any(given[name] is not None for name in ("diameter", "young", "density", "poisson")):
        loaded = _one_material(system)
        notes.append(f"smooth time step: for a Hertz contact and restitution {loaded.materials[0].restitution:g}, the default")
    costs = _measure_machine(system) if machine else _paper_costs()
    if contacts is not None:
        costs["contacts_per_grain"] = contacts
    found = make_plan(system, step, _smooth_step(loaded), grains, costs, threads or 1)
    found["errors"] = step.errors(system.diameter, own_step)
    if as_json:
        print_json({**found, "notes": notes})
        return
    _show_plan(found, notes)


def _system(given: dict[str, str | None], size: SceneSize | None) -> tuple[PlannedSystem, int | None, list[str]]:
    """The system that was described, over the one of the scene; grains of the scene; what was taken from where."""
    from ..analysis.cost_model import PlannedSystem

    notes: list[str] = []
    grains = base = None
    if size is not None:
        base, notes = size.system, list(size.notes)
        if given["width"] is None and given["height"] is None:
            grains = size.grains  # else it is another size of the same
    read: dict[str, float] = {}
    kinds = {"diameter": "length", "young": "pressure", "density": "density", "gravity": "acceleration"}
    for name, text in given.items():
        if text is None or name in ("width", "height"):
            continue
        read[name] = read_quantity(name, text, kinds[name]) if name in kinds else read_fraction(name, text)
    for name, low, high, rule in (
        *((name, 0.0, math.inf, "must be above 0") for name in kinds),
        ("tolerance", 0.0, 1.0, "must lie above 0 and below 1 (5%)"),
    ):
        if name in read and not low < read[name] < high:
            raise InputError(f"{name} {rule} (got {given[name]!r}).")
    if not 0 <= read.get("poisson", 0.0) < 0.5:
        raise InputError(f"poisson must be 0 or more and below 0.5 (got {given['poisson']!r}).")
    if read.get("inertial", 0.0) < 0:
        raise InputError(f"inertial must be 0 or more (got {given['inertial']!r}).")
    missing = [f"--{name}" for name in ("diameter", "young", "width", "height") if given[name] is None]
    if base is None and missing:
        raise InputError(f"what is to be planned? Missing: {', '.join(missing)} (or --scene SCENE, or --table).")
    d = read.get("diameter", base.diameter if base else math.nan)
    for name in ("width", "height"):
        text = given[name]
        if text is not None:
            read[name] = read_size(name, text, d)
            if not read[name] >= 1:
                raise InputError(f"{name} must be 1 diameter or more (got {text!r}, {read[name]:g} d).")
    for name, value in (("inertial", "0, at rest"), ("tolerance", "5 %")):
        if name not in read:
            notes.append(f"{name} {value}: default")
    if size is not None and size.turning and "inertial" not in read:
        notes.append(f"{', '.join(map(repr, size.turning))} turns, so the grains flow: give --inertial (0.1 in dense flow)")
    return PlannedSystem.from_options(read, base), grains, notes


def _speed(text: str | None) -> float | None:
    """[m/s]"""
    if text is None:
        return None
    speed = read_quantity("speed", text, "speed")
    if speed < 0:
        raise InputError(f"speed must be 0 or more (got {text!r}).")
    return speed


def _load(spec: str, values: list[str]) -> tuple[Scene, SceneSize, float | None]:
    """The scene, its size, and the nonsmooth step [s] that it gives for itself."""
    from ..analysis.scene_size import size_of_scene
    from ..scene.file import load_scene
    from ..simulation import make_settings
    from .run import _pairs

    scene = load_scene(spec, _pairs(values))
    settings = make_settings(scene.run)
    size = size_of_scene(scene, settings.duration)
    if size is None:
        raise InputError(f"scene {spec!r} has no grains to plan for; describe the system with --diameter, --young, --width, --height.")
    return scene, size, settings.time_step if settings.stepper.name == "nonsmooth" else None


def _one_material(system: PlannedSystem) -> Scene:
    """A grain of the system, with defaults for what the cost model does not ask."""
    from ..contact import Material
    from ..scene.grains import Grains
    from ..scene.scene import Scene

    material = Material(name="grain", density=system.density, youngs_modulus=system.youngs_modulus, poisson_ratio=system.poisson_ratio)
    return Scene(materials=(material,), grains=(Grains(material="grain", position=[[0, 0, 0]], diameter=system.diameter),))


def _smooth_step(scene: Scene) -> float:
    """The step [s] that the smooth stepper takes by itself: it resolves collisions, and is stable, as SN's h_S is not."""
    from ..smooth.time_step import automatic_step

    return automatic_step(scene, True)


def _paper_costs() -> dict[str, Any]:
    from ..analysis.cost_model import PAPER_COST

    return {
        "nonsmooth": PAPER_COST,
        "nonsmooth_momentum": PAPER_COST * MOMENTUM_COST,
        "smooth": PAPER_COST,
        "rest_of_step": 0.0,
        "contacts_per_grain": 1.0,
        "measured": False,
    }


def _measure_machine(system: PlannedSystem) -> dict[str, Any]:
    """K_N, K_S, what a step costs besides its sweeps, and contacts per grain of a packing, on this machine now."""
    from ..analysis.cost_model import ARCHING_WIDTH
    from ..bench import BENCHMARKS

    costs = {**_paper_costs(), "measured": True}
    pgs = BENCHMARKS["pgs"](particles=BENCH_GRAINS, talk=talk)
    step = BENCHMARKS["step"](particles=BENCH_GRAINS, talk=talk)
    costs["nonsmooth"] = pgs["ns_per_contact_iteration"] * 1e-9
    costs["nonsmooth_momentum"] = pgs["ns_per_contact_iteration_momentum"] * 1e-9
    costs["rest_of_step"] = step["milliseconds_per_step"] * 1e-3 * (1 - step["stage_share"]["solve"]) / step["contacts"]
    costs["smooth"] = BENCHMARKS["smooth"](particles=BENCH_GRAINS, talk=talk)["ns_per_grain_step"] * 1e-9
    if system.width >= ARCHING_WIDTH:  # narrower ones are a column
        costs["contacts_per_grain"] = pgs["contacts"] / pgs["grains"]
    return costs


def make_plan(
    system: PlannedSystem, planned: PlannedStep, smooth_step: float, grains: int | None, costs: dict[str, Any], threads: int
) -> dict[str, Any]:
    """Everything that is said about a system: the law's numbers, the ways to run it, and the best one.

    ``planned`` and ``smooth_step`` [s] are the steps that granum takes; the law's own, h_N and h_S, stay with the law's numbers.
    """
    from ..analysis.cost_model import amdahl, estimate

    found = estimate(system, costs["nonsmooth"], costs["smooth"], grains, costs["contacts_per_grain"])
    ways: list[dict[str, Any]] = []
    h = planned.step.seconds
    for name, gain in {"plain": 1.0, **FEWER_SWEEPS}.items():
        sweeps = max(1, math.ceil(found.iterations / gain))
        cost = costs["nonsmooth_momentum" if "momentum" in name else "nonsmooth"]
        seconds = (cost * sweeps + costs["rest_of_step"]) * found.contacts / h
        ways.append(_way("nonsmooth", name, h, sweeps, 1, seconds))
    ways.append(_way("smooth", "", smooth_step, None, 1, costs["smooth"] * found.grains / smooth_step))
    as_run = ways[-2:]  # both steppers with the solver that is the default
    best = min(as_run, key=lambda way: way["effort"])
    if threads > 1:
        faster = amdahl(threads, PARALLEL_PART)
        ways += [{**way, "threads": threads, **_seconds(way["effort"] / faster)} for way in as_run if way["stepper"] == "nonsmooth"]
    return {
        "inputs": system.as_options(),
        **_row(found),
        "contacts": found.contacts,
        "recommended": best,
        "ways": ways,
        "costs": costs,
        "time_step": h,
        "time_step_reason": planned.step.reason,
        "fastest": planned.speed,
        "fewer_sweeps": FEWER_SWEEPS,
        "parallel_part": PARALLEL_PART,
    }


def _way(stepper: str, solver: str, step: float, sweeps: int | None, threads: int, seconds: float) -> dict[str, Any]:
    return {"stepper": stepper, "solver": solver, "time_step": step, "iterations": sweeps, "threads": threads, **_seconds(seconds)}


def _seconds(effort: float) -> dict[str, Any]:
    return {"effort": effort, "words": f"{in_time(effort)} per simulated second"}


def _row(found: Estimate) -> dict[str, float]:
    return {
        "iterations": found.iterations,
        "time_step_nonsmooth": found.time_step_nonsmooth,
        "time_step_smooth": found.time_step_smooth,
        "grains": found.grains,
        "normal_velocity": found.normal_velocity,
        "effort_nonsmooth": found.effort_nonsmooth,
        "effort_smooth": found.effort_smooth,
        "ratio": found.ratio,
    }


def table_rows() -> list[dict[str, float]]:
    """SN Table I, computed: results beside inputs, SI units."""
    from ..analysis.cost_model import SN_TABLE, estimate

    return [{"row": k, **_row(estimate(system)), **system.as_options()} for k, system in enumerate(SN_TABLE, start=1)]


def in_time(seconds: float) -> str:
    """A time in words that can be grasped: "2.3 h"."""
    for unit, size in (("years", 365.25 * 86400), ("days", 86400), ("h", 3600), ("min", 60), ("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size * (1.5 if unit in ("years", "days", "h", "min") else 1):
            break
    return f"{_short(seconds / size)} {unit}"


def _short(value: float) -> str:
    return f"{value:.2g}" if abs(value) < 100 else f"{value:.0f}" if abs(value) < 1e4 else f"{value:.1e}"


def _show_table(as_json: bool) -> None:
    rows = table_rows()
    if as_json:
        print_json({"table": "SN Table I, computed", "rows": rows})
        return
    from rich.table import Table

    shown = Table(title="SN Table I, computed (K_N = K_S = 1e-6 s; nonsmooth: cold, plain sweeps; N_c = N_p)", title_justify="left")
    for name in (
        "",
        "tN/tS",
        "tN/t",
        "tS/t",
        "h_N/ms",
        "h_S/ms",
        "N_it",
        "eps",
        "w/d",
        "l/d",
        "N_p",
        "I",
        "v_n/(mm/s)",
        "E/GPa",
        "d/mm",
    ):
        shown.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        numbers = (
            row["ratio"],
            row["effort_nonsmooth"],
            row["effort_smooth"],
            1e3 * row["time_step_nonsmooth"],
            1e3 * row["time_step_smooth"],
        )
        shown.add_row(
            str(row["row"]),
            *map(_short, numbers),
            f"{row['iterations']:.0f}",
            f"{row['tolerance']:g}",
            f"{row['width']:g}",
            f"{row['height']:g}",
            _short(row["grains"]),
            f"{row['inertial']:g}",
            _short(1e3 * row["normal_velocity"]),
            f"{row['young'] / 1e9:g}",
            f"{1e3 * row['diameter']:g}",
        )
    _console().print(shown)


def _show_plan(found: dict[str, Any], notes: list[str]) -> None:
    from rich.table import Table

    from ..nonsmooth.time_step import as_typed

    console, best, inputs, costs = _console(), found["recommended"], found["inputs"], found["costs"]
    console.print(
        f"system: {found['grains']:.4g} grains of {1e3 * inputs['diameter']:g} mm, {inputs['width']:.3g} d wide, {inputs['height']:.3g} d "
        f"high, E = {inputs['young']:.3g} Pa, I = {inputs['inertial']:g}, error {100 * inputs['tolerance']:g} %"
    )
    for note in notes:
        console.print(f"  {note}")
    each = costs["contacts_per_grain"]
    hint = " (SN's count; a settled packing has about 2: --contacts 2)" if each == 1 and inputs["width"] >= 5 else ""
    console.print(f"contacts: {found['contacts']:.4g}, {each:.2g} per grain{hint}")
    if best["stepper"] == "nonsmooth":
        flags = f"--stepper nonsmooth --time-step {as_typed(best['time_step'])} --iterations {best['iterations']}"
        step = in_milliseconds(best["time_step"])
        console.print(f"recommended: nonsmooth, h = {step}, {best['iterations']} iterations with momentum and history")
    else:
        flags = "--stepper smooth"
        console.print(f"recommended: smooth, h = {in_milliseconds(best['time_step'])} (a stable step is found by itself)")
    console.print(f"  {best['words']} on one thread; granum run SCENE {flags}")
    table = Table(title="estimates", title_justify="left")
    for name in ("stepper", "sweeps", "iterations", "h", "threads", "time per simulated second"):
        table.add_column(name, justify="left" if name in ("stepper", "sweeps") else "right")
    for way in found["ways"]:
        sweeps, number = way["solver"] or "-", "-" if way["iterations"] is None else str(way["iterations"])
        table.add_row(way["stepper"], sweeps, number, in_milliseconds(way["time_step"]), str(way["threads"]), in_time(way["effort"]))
    console.print(table)
    console.print(_error_table(found))
    console.print(
        f"nonsmooth h: the step that granum takes ({found['time_step_reason']}); SN counts with "
        f"{in_milliseconds(found['time_step_nonsmooth'])} for an error of {100 * inputs['tolerance']:g} %"
    )
    source = "measured on this machine, with the rest of a step" if costs["measured"] else "as in SN Table I; --machine measures"
    console.print(f"K_N = {costs['nonsmooth']:.2g} s per contact and iteration, K_S = {costs['smooth']:.2g} s per grain and step: {source}")
    console.print(f"smooth h: the step that granum takes; SN counts with sqrt(m/k) = {in_milliseconds(found['time_step_smooth'])}")
    gains = ", ".join(f"{name} {gain:g}" for name, gain in FEWER_SWEEPS.items())
    console.print(f"fewer sweeps than plain, cold ones, the least that was measured in columns and boxes: {gains}")
    if any(way["threads"] > 1 for way in found["ways"]):
        console.print(f"threads: Amdahl's law with {PARALLEL_PART:.0%} of the work on all of them (nonsmooth; smooth runs on one)")


def _error_table(found: dict[str, Any]) -> Any:
    from rich.table import Table

    title = f"error of a step, in diameters (the fastest moves at {found['fastest']:.3g} m/s)"
    table = Table(title=title, title_justify="left")
    for name in ("h", "way of the fastest", "fall from rest", "error", ""):
        table.add_column(name, justify="right" if name else "left")
    for row in found["errors"]:
        table.add_row(in_milliseconds(row["time_step"]), *(f"{row[name]:.2g}" for name in ("way", "fall", "error")), row["which"])
    return table


def _console() -> Any:
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 140)
