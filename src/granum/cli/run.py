"""``granum run``: a thin door to :func:`granum.run`."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING, Any

import typer

from ..checks import InputError, known_name, table
from . import extensions
from .console import command_line, in_words, pairs
from .csv_out import csv_option
from .options import OUTPUT, Opt, argument, json_option, no_picture, option, output_option, overwrite_option, settings_of, with_parameters
from .quantities import quantity, threads
from .show import show_run

if TYPE_CHECKING:
    from ..scene.scene import Scene

RUN, SOLVE = "How long, and with what", "How steps are solved"
SETTINGS, STEPPER, SMOOTH = "scene.run_settings:RunSettings", "nonsmooth:Nonsmooth", "smooth:Smooth"
PGS, HISTORY = "nonsmooth:PGS", "nonsmooth:HistoryStart"
SOLVER, START = ("stepper", "solver"), ("stepper", "warm_start")

OPTIONS = (
    Opt("duration", f"{SETTINGS}.duration", panel=RUN, says="Simulated time [s]. Default: as the scene asks, or 1"),
    Opt(
        "time_step",
        f"{SETTINGS}.time_step",
        panel=RUN,
        says="Time step [s]. Default: as the scene asks, or as the stepper finds best for it",
    ),
    Opt(
        "threads",
        f"{SETTINGS}.threads",
        panel=RUN,
        reads=threads(),
        says="Threads, with the same bits for any number. Default: auto, as many as there is work for on the cores that there are",
    ),
    Opt("relax", f"{SETTINGS}.relax", panel=RUN, flag="--relax"),
    Opt("every", f"{SETTINGS}.every", panel=OUTPUT, says="Simulated time between frames [s]. Default: a hundredth of the duration"),
    Opt("checkpoint_every", f"{SETTINGS}.checkpoint_every", panel=OUTPUT),
    Opt(
        "record",
        f"{SETTINGS}.record",
        panel=OUTPUT,
        metavar="NAMES",
        says="What frames hold besides positions, sizes, ids and materials: some of velocity,spin,orientation,contacts. Default: all",
    ),
    Opt("precision", f"{SETTINGS}.precision", panel=OUTPUT, says="Of numbers in the recording; the run itself is always double"),
    Opt("compress", f"{SETTINGS}.compress", panel=OUTPUT, flag="--compress", says="Compress the recording"),
    Opt("stepper", f"{STEPPER}.name", ("stepper", "name"), SOLVE, says="nonsmooth, or smooth (springs, small steps)"),
    Opt("solver", f"{PGS}.name", (*SOLVER, "name"), SOLVE, says="Contact solver: pgs, direct or multigrid"),
    Opt(
        "iterations",
        f"{PGS}.iterations",
        (*SOLVER, "iterations"),
        SOLVE,
        says="Sweeps per step (direct: factorisations). Default of pgs: to an accuracy",
    ),
    Opt(
        "accuracy",
        f"{PGS}.accuracy",
        (*SOLVER, "accuracy"),
        SOLVE,
        says="Sweep until the estimated error of the velocities is below this part of what they change by in a step, such as 1%",
    ),
    Opt("tolerance", f"{PGS}.tolerance", (*SOLVER, "tolerance"), SOLVE),
    Opt("momentum", f"{PGS}.momentum", (*SOLVER, "momentum"), SOLVE, "--momentum/--no-momentum"),
    Opt("friction", f"{STEPPER}.friction", ("stepper", "friction"), SOLVE),
    Opt("order", f"{PGS}.order", (*SOLVER, "order"), SOLVE, says="Order of the contacts in a sweep"),
    Opt("warm_start", f"{HISTORY}.name", (*START, "name"), SOLVE, says="What a solve begins with: none, history or model"),
    Opt(
        "beta",
        f"{HISTORY}.beta",
        (*START, "beta"),
        SOLVE,
        says="Part of the last impulses that history reuses. Default: all, or 0.85 of a fixed number of sweeps",
    ),
    Opt(
        "normals_only", f"{HISTORY}.normals_only", (*START, "normals_only"), SOLVE, "--normals-only", says="Warm start normal impulses only"
    ),
    Opt(
        "no_velocity_update",
        f"{HISTORY}.update_velocity",
        (*START, "update_velocity"),
        SOLVE,
        "--no-velocity-update",
        sets=False,
        says="Warm start without updating velocities",
    ),
    Opt("integrator", f"{SMOOTH}.integrator", ("stepper", "integrator"), SOLVE, says="Of the smooth stepper"),
    Opt("damping", f"{SMOOTH}.damping", ("stepper", "damping"), SOLVE, says="Of the smooth stepper, from"),
)

STEPPER_OPTIONS = {"nonsmooth": ("solver", "friction", "warm_start"), "smooth": ("integrator", "damping")}


def register(app: typer.Typer) -> None:
    app.command("run")(in_words(run))


@with_parameters(
    argument("scene", str, "Library scene (see `granum scenes`), .toml file or .py file."),
    *OPTIONS[:4],
    option("seed", int | None, "--seed", help="Seed of everything random.", panel=RUN),
    option(
        "values",
        list[str] | None,
        "--set",
        metavar="KEY=VALUE",
        help="Parameter of the scene, or a place in it: materials.0.friction=0.3.",
        panel=RUN,
    ),
    output_option("Recording. Default: SCENE.vtkhdf."),
    *OPTIONS[4:9],
    option(
        "dump_problem",
        list[float] | None,
        "--dump-problem",
        **quantity("s") | {"metavar": "T"},
        help="Keep the problem of the step that reaches T [s], for `granum solve`.",
        panel=OUTPUT,
    ),
    overwrite_option("SCENE-2.vtkhdf"),
    no_picture("Do not draw the last state."),
    json_option("Summary as one JSON object."),
    csv_option("Summary as one line of comma-separated values, below their names."),
    *OPTIONS[9:],
    *extensions.PARAMETERS,
    examples=extensions.examples("run"),
)
def run(**given: Any) -> None:
    """Simulate a scene and record it.

    \b
    granum run column
    granum run box --set count=2000 --iterations 100
    granum run box --stepper smooth --duration 0.2
    granum run box --duration 1 --dump-problem 0.5 --dump-problem 1
    granum run box --record position,velocity --precision single --compress
    """
    from ..runs.run import check_emitted
    from ..runs.run import run as run_scene
    from ..scene.file import load_scene

    seed = given["seed"]
    asked = extensions.asked(given)
    scene = load_scene(given["scene"], pairs(given["values"] or []), seed)
    for one in asked:
        scene = one.add_to(scene)
    done = show_run(
        lambda: run_scene(
            scene,
            run_settings(scene, settings_of(OPTIONS, given), seed, asked),
            output=given["output"],
            dump_problem=given["dump_problem"] or (),
            picture=False if given["no_picture"] else "later",
            overwrite=given["overwrite"],
            about={"command": command_line(), "seed": seed},
        ),
        given["as_json"],
        given["as_csv"],
    )
    check_emitted(done.found)


def run_settings(scene: Scene, flags: dict[str, Any], seed: int | None, more: list[Any]) -> dict[str, Any]:
    """What the options ask for, ``more`` those of extensions; refused where it does not go together."""
    from ..nonsmooth.solvers import SOLVERS
    from ..nonsmooth.warm_start import WARM_STARTS

    asked = scene.run.given()
    stepper = flags.get("stepper", {})
    name = known_name("stepper", stepper.get("name", table(asked, "stepper").get("name", "nonsmooth")), STEPPER_OPTIONS)
    for part in stepper:
        if part != "name" and part not in STEPPER_OPTIONS[name]:
            other = next(n for n, parts in STEPPER_OPTIONS.items() if part in parts)
            raise InputError(
                f"options of the {part.replace('_', ' ')} belong to the {other} stepper, and this run is {name}: leave them out."
            )
    solver = stepper.get("solver", {})
    method = known_name("solver", solver.get("name", table(asked, "stepper", "solver").get("name", "pgs")), SOLVERS)
    _fit(solver, method, SOLVERS[method].model_fields)
    if name == "nonsmooth" and seed is not None and "seed" in SOLVERS[method].model_fields:  # others draw nothing
        flags.setdefault("stepper", {}).setdefault("solver", {})["seed"] = seed
    known_name("warm start", stepper.get("warm_start", {}).get("name", "none"), WARM_STARTS)
    for one in more:
        one.set_in(flags, scene, name)
    return flags


def _fit(solver: dict[str, Any], method: str, known: Container[str]) -> None:
    """Refuse options that the solver does not have."""
    for part in solver:
        if part not in known:
            name = f"--{part}" if solver[part] is not False else f"--no-{part}"
            raise InputError(f"{name} is not an option of the solver '{method}': leave it out, or choose another solver.")
