"""``granum plan``: which method, which time step, how many iterations, and how long it will take (SN 5.3)."""

from __future__ import annotations

import math
import shlex
from typing import TYPE_CHECKING, Any

import typer

from ..checks import InputError
from ..talk import in_milliseconds, talk
from ..units import read_quantity, read_size
from .console import in_words, pairs, print_json
from .csv_out import csv_option, one_format, print_rows
from .options import json_option, option, with_parameters
from .plan_tables import show_plan, show_table
from .quantities import threads

if TYPE_CHECKING:
    from ..analysis.cost_model import PlannedSystem
    from ..analysis.scene_size import SceneSize
    from ..scene.run_settings import Threads
    from ..scene.scene import Scene

SYSTEM, COST, OUTPUT = "The system", "What it runs on", "Output"
BENCH_GRAINS = 10_000
QUANTITIES = {
    "diameter": "Of a grain: 10mm.",
    "young": "Young's modulus: 10GPa.",
    "width": "Across gravity, in diameters (15) or a length (15cm).",
    "height": "Along gravity, in diameters or as a length.",
    "inertial": "Inertial number: 0 at rest (default), 0.1 in dense flow.",
    "tolerance": "Mean overlap error, in diameters. Default: 5%.",
    "density": "Of a grain. Default: 2500 kg/m3.",
    "poisson": "Poisson's ratio. Default: 0.3.",
    "gravity": "Default: 9.8 m/s2.",
    "speed": "The fastest that moves: 2m/s. Default: of the scene, or of a slow flow.",
}
"""What describes a system, with units."""


def register(app: typer.Typer) -> None:
    app.command("plan")(in_words(plan))


@with_parameters(
    *(option(name, str | None, f"--{name}", help=text, panel=SYSTEM) for name, text in QUANTITIES.items()),
    option("scene", str | None, "--scene", metavar="SCENE", help="Read size and material from a scene (name, .toml, .py).", panel=SYSTEM),
    option("values", list[str] | None, "--set", metavar="KEY=VALUE", help="Parameter of the scene.", panel=SYSTEM),
    option("machine", bool, "--machine", help="Measure this machine instead of 1 us per contact and sweep.", default=False, panel=COST),
    option("contacts", float | None, "--contacts", help="Contacts per grain. Default: 1, measured with --machine.", panel=COST),
    option(
        "threads", str | None, "--threads", help="Also estimate for so many threads; auto: as many as a run takes.", panel=COST, **threads()
    ),
    option(
        "table",
        bool,
        "--table",
        help="The table of 33 systems of Servin et al. (granum references), computed.",
        default=False,
        panel=OUTPUT,
    ),
    json_option("One JSON object, SI units.", OUTPUT),
    csv_option("The estimates (of --table its rows) as comma-separated values, SI units.", OUTPUT),
)
def plan(**options: Any) -> None:
    """Recommend stepper, time step and iterations for a system, with the time that a simulated second will take.

    \b
    granum plan --diameter 10mm --young 10GPa --width 15 --height 100
    granum plan --scene drum --machine
    granum plan --table
    """
    given = {name: options[name] for name in QUANTITIES}
    values, contacts = options["values"], options["contacts"]
    one_format(options["as_json"], options["as_csv"])
    if options["table"]:
        beside = {**given, "scene": options["scene"], "set": values or None, "machine": options["machine"] or None}
        beside |= {"contacts": contacts, "threads": options["threads"]}
        other = [f"--{name}" for name, value in beside.items() if value is not None]
        if other:
            raise InputError(f"--table has the systems and costs of the paper (granum references): leave {', '.join(other)} out.")
        show_table(options["as_json"], options["as_csv"])
        return
    if values and options["scene"] is None:
        raise InputError("--set needs --scene.")
    if contacts is not None and not (math.isfinite(contacts) and contacts > 0):
        raise InputError(f"contacts must be a finite number above 0 per grain (got {contacts}).")
    found, notes = _plan(given, options["scene"], values or [], options["machine"], contacts, options["threads"])
    if options["as_json"]:
        print_json({**found, "notes": notes})
    elif options["as_csv"]:
        print_rows(found["ways"])
    else:
        show_plan(found, notes)


def _plan(
    given: dict[str, str | None], spec: str | None, values: list[str], machine: bool, contacts: float | None, asked: Threads | None
) -> tuple[dict[str, Any], list[str]]:
    from ..analysis.run_plan import make_plan, paper_costs
    from ..analysis.step_plan import plan_step

    loaded, size, own_step = _load(spec, values) if spec is not None else (None, None, None)
    fastest = _speed(given.pop("speed"))
    system, grains, notes = _system(given, size)
    step = plan_step(system, loaded, speed=fastest, own_gravity=given["gravity"] is not None, exact=given["tolerance"] is not None)
    if own_step is not None:
        notes.append(f"the scene itself sets a time step of {in_milliseconds(own_step)}")
    if loaded is None or any(given[name] is not None for name in ("diameter", "young", "density", "poisson")):
        loaded = _one_material(system)
        notes.append(f"smooth time step: for a Hertz contact and restitution {loaded.materials[0].restitution:g}, the default")
    costs = _measure_machine(system) if machine else paper_costs()
    if contacts is not None:
        costs["contacts_per_grain"] = contacts
    found = make_plan(system, step, _smooth_step(loaded), grains, costs, _threads(asked, grains))
    found["errors"] = step.errors(system.diameter, own_step)
    found["scene"] = shlex.join([spec, *(part for value in values for part in ("--set", value))]) if spec is not None else "SCENE"
    return found, notes


def _threads(asked: Threads | None, grains: int | None) -> int:
    """One, or what was asked for; ``auto`` is what a run of so many grains takes, and of a large number if that is not known."""
    from ..parallel import cores
    from ..scene.run_settings import AUTO
    from ..simulation.threads import check_threads, threads_for

    if asked is None:
        return 1
    check_threads(asked)
    return (threads_for(grains) if grains is not None else cores()) if asked == AUTO else int(asked)


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
    units = {"diameter": "m", "young": "Pa", "density": "kg/m3", "gravity": "m/s2"}
    for name, text in given.items():
        if text is None or name in ("width", "height"):
            continue
        read[name] = read_quantity(name, text, units.get(name, "%"))
    for name, low, high, rule in (
        *((name, 0.0, math.inf, "must be above 0") for name in units),
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
    speed = read_quantity("speed", text, "m/s")
    if speed < 0:
        raise InputError(f"speed must be 0 or more (got {text!r}).")
    return speed


def _load(spec: str, values: list[str]) -> tuple[Scene, SceneSize, float | None]:
    """The scene, its size, and the nonsmooth step [s] that it gives for itself."""
    from ..analysis.scene_size import size_of_scene
    from ..scene.file import load_scene
    from ..simulation import make_settings

    scene = load_scene(spec, pairs(values))
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


def _measure_machine(system: PlannedSystem) -> dict[str, Any]:
    """K_N, K_S, what a step costs besides its sweeps, and contacts per grain of a packing, on this machine now."""
    from ..analysis.cost_model import ARCHING_WIDTH
    from ..analysis.run_plan import paper_costs
    from ..bench import BENCHMARKS

    costs = {**paper_costs(), "measured": True}
    pgs = BENCHMARKS["pgs"](count=BENCH_GRAINS, talk=talk)
    step = BENCHMARKS["step"](count=BENCH_GRAINS, talk=talk)
    costs["nonsmooth"] = pgs["ns_per_contact_iteration"] * 1e-9
    costs["nonsmooth_momentum"] = pgs["ns_per_contact_iteration_momentum"] * 1e-9
    costs["rest_of_step"] = step["milliseconds_per_step"] * 1e-3 * (1 - step["stage_share"]["solve"]) / step["contacts"]
    costs["smooth"] = BENCHMARKS["smooth"](count=BENCH_GRAINS, talk=talk)["ns_per_grain_step"] * 1e-9
    if system.width >= ARCHING_WIDTH:  # narrower ones are a column
        costs["contacts_per_grain"] = pgs["contacts"] / pgs["grains"]
    return costs
