"""``granum run``: simulate a scene, record it, and say how it went."""

from __future__ import annotations

import uuid
from collections.abc import Container
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..checks import InputError, known_name, steps_in, table
from .console import in_milliseconds, in_words, talk
from .reduction import (
    MergeAcceleration,
    MergeSpin,
    MergeVelocity,
    Reduce,
    ReductionOptions,
    Sensors,
    Shadow,
    SplitDepth,
    SplitVelocity,
    TrialDepth,
    TrialForce,
    TrialIterations,
)

if TYPE_CHECKING:
    from ..nonsmooth.time_step import TimeStep
    from ..scene.scene import Scene
    from ..simulation import Settings

STEPPER_OPTIONS = {"nonsmooth": ("solver", "friction", "warm_start"), "smooth": ("integrator", "damping")}
SOLVE, RUN, FILES = "How steps are solved", "How long, and with what", "Files and output"


def register(app: typer.Typer) -> None:
    app.command("run")(in_words(run))


def run(
    scene: Annotated[str, typer.Argument(metavar="SCENE", help="Library scene (see `granum scenes`), .toml file or .py file.")],
    stepper: Annotated[str | None, typer.Option(help="nonsmooth, or smooth (springs, small steps).", rich_help_panel=SOLVE)] = None,
    solver: Annotated[str | None, typer.Option(help="Contact solver: pgs, direct or multigrid.", rich_help_panel=SOLVE)] = None,
    iterations: Annotated[
        int | None, typer.Option(help="Sweeps per step; direct: factorisations. Default of pgs: to an accuracy.", rich_help_panel=SOLVE)
    ] = None,
    tolerance: Annotated[float | None, typer.Option(help="Stop below this residual [m/s]; 0: never.", rich_help_panel=SOLVE)] = None,
    warm_start: Annotated[str | None, typer.Option(help="none, history or model.", rich_help_panel=SOLVE)] = None,
    beta: Annotated[float | None, typer.Option(help="Part of the last impulses that history reuses.", rich_help_panel=SOLVE)] = None,
    normals_only: Annotated[bool, typer.Option("--normals-only", help="Warm start normal impulses only.", rich_help_panel=SOLVE)] = False,
    no_velocity_update: Annotated[
        bool, typer.Option("--no-velocity-update", help="Warm start without updating velocities.", rich_help_panel=SOLVE)
    ] = False,
    momentum: Annotated[bool | None, typer.Option("--momentum/--no-momentum", help="Accelerate the sweeps.", rich_help_panel=SOLVE)] = None,
    friction: Annotated[str | None, typer.Option(help="cone or box.", rich_help_panel=SOLVE)] = None,
    order: Annotated[str | None, typer.Option(help="colour, given, symmetric or random.", rich_help_panel=SOLVE)] = None,
    integrator: Annotated[str | None, typer.Option(help="Of the smooth stepper: verlet or euler.", rich_help_panel=SOLVE)] = None,
    damping: Annotated[
        str | None, typer.Option(help="Of the smooth stepper: from restitution or dissipation.", rich_help_panel=SOLVE)
    ] = None,
    reduce: Reduce = None,
    merge_velocity: MergeVelocity = None,
    merge_spin: MergeSpin = None,
    merge_acceleration: MergeAcceleration = None,
    split_velocity: SplitVelocity = None,
    split_depth: SplitDepth = None,
    trial_iterations: TrialIterations = None,
    trial_force: TrialForce = None,
    trial_depth: TrialDepth = None,
    sensor: Sensors = None,
    shadow: Shadow = None,
    time_step: Annotated[
        float | None,
        typer.Option(help="[s]; default: of the scene, or as its speeds and grains ask; smooth: as stable.", rich_help_panel=RUN),
    ] = None,
    duration: Annotated[float | None, typer.Option(help="Simulated time [s].", rich_help_panel=RUN)] = None,
    threads: Annotated[int | None, typer.Option(help="Same bits for any number; default: 1.", rich_help_panel=RUN)] = None,
    seed: Annotated[int | None, typer.Option(help="Of everything random.", rich_help_panel=RUN)] = None,
    values: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Parameter of the scene, or a place in it: materials.0.friction=0.3.", rich_help_panel=RUN
        ),
    ] = None,
    relax: Annotated[bool, typer.Option("--relax", help="Push overlapping initial grains apart.", rich_help_panel=RUN)] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Recording; default: SCENE.h5.", rich_help_panel=FILES)] = None,
    every: Annotated[float | None, typer.Option(help="Simulated time between frames [s].", rich_help_panel=FILES)] = None,
    checkpoint_every: Annotated[float | None, typer.Option(help="Wall time between checkpoints [s].", rich_help_panel=FILES)] = None,
    dump_problem: Annotated[
        list[float] | None,
        typer.Option(metavar="T", help="Keep the problem of the step that reaches T [s], for `granum solve`.", rich_help_panel=FILES),
    ] = None,
    no_picture: Annotated[bool, typer.Option("--no-picture", help="Do not draw the last state.", rich_help_panel=FILES)] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Summary as one JSON object.", rich_help_panel=FILES)] = False,
) -> None:
    """Simulate a scene and record it.

    Examples: granum run column; granum run box --set count=2000 --iterations 100; granum run box --stepper smooth --duration 0.2;
    granum run box --duration 1 --dump-problem 0.5 --dump-problem 1;
    granum run pile --reduce contact,trial --merge-velocity 2.5e-3 --split-velocity 0.15
    """
    method = {
        "name": solver,
        "iterations": iterations,
        "tolerance": tolerance,
        "momentum": momentum,
        "order": order,
        "seed": seed if stepper != "smooth" else None,
    }
    start = {
        "name": warm_start,
        "beta": beta,
        "normals_only": normals_only or None,
        "update_velocity": False if no_velocity_update else None,
    }
    flags = _given(
        {
            "stepper": {
                "name": stepper,
                "solver": method,
                "friction": friction,
                "warm_start": start,
                "integrator": integrator,
                "damping": damping,
            },
            "time_step": time_step,
            "duration": duration,
            "every": every,
            "checkpoint_every": checkpoint_every,
            "relax": relax or None,
            "threads": threads,
        }
    )
    numbers = {
        "merge_velocity": merge_velocity,
        "merge_spin": merge_spin,
        "merge_acceleration": merge_acceleration,
        "split_velocity": split_velocity,
        "split_depth": split_depth,
        "trial_iterations": trial_iterations,
        "trial_force": trial_force,
        "trial_depth": trial_depth,
        "shadow": shadow,
    }
    reduction = ReductionOptions(reduce, numbers, tuple(sensor or ()))
    _start(scene, _pairs(values or []), seed, flags, reduction, output, dump_problem or [], picture=not no_picture, as_json=as_json)


def _start(
    spec: str,
    values: dict[str, str],
    seed: int | None,
    flags: dict[str, Any],
    reduction: ReductionOptions,
    output: Path | None,
    dumps: list[float],
    *,
    picture: bool,
    as_json: bool,
) -> None:
    from .._jit import cache_is_warm
    from ..observe import Compiling, ProblemDump
    from ..scene.file import load_scene
    from ..simulation import Simulation
    from .console import stderr
    from .execute import Job, check_emitted, check_output, command_line, default_output, execute
    from .summary import show

    cold = not cache_is_warm()  # asked before the time step is found, which may compile a little
    scene = reduction.add_sensors(load_scene(spec, values, seed))
    settings, step = _settings(scene, flags, reduction)
    output = output if output is not None else default_output(scene.name)
    check_output(output, picture)
    dump = ProblemDump(_dump_paths(dumps, output, settings), talk)
    compiling = Compiling(stderr())
    chosen = _chosen(scene, flags)
    if chosen["time_step"] not in ("given", "of the scene"):
        talk(f"time step {in_milliseconds(step.seconds)}: {step.reason}")
    if cold:
        compiling.show()
    try:
        sim = Simulation(scene, settings)
        about = {
            "run_id": uuid.uuid4().hex,
            "recording": output.name,
            "command": command_line(),
            "seed": seed,
            "picture": picture,
            "chosen": chosen,
            "time_step_reason": step.reason if step.reason != "given" else chosen["time_step"],
        }
        last_step = steps_in(settings.duration, sim.time_step)
        summary = execute(Job(sim, last_step, output, about, observers=[compiling, dump] if dumps else [compiling]))
    finally:
        compiling.hide()
    show(summary | {"problems": [str(path) for path in dump.written]} if dumps else summary, as_json)
    check_emitted(sim)


def _settings(scene: Scene, flags: dict[str, Any], reduction: ReductionOptions) -> tuple[Settings, TimeStep]:
    """Of the scene and the command line, with every default that depends on the scene filled in; and why the time step is what it is."""
    from ..nonsmooth.solvers import SOLVERS
    from ..nonsmooth.warm_start import WARM_STARTS
    from ..simulation import make_settings

    stepper = flags.get("stepper", {})
    name = known_name("stepper", stepper.get("name", table(scene.run, "stepper").get("name", "nonsmooth")), STEPPER_OPTIONS)
    for option in stepper:
        if option != "name" and option not in STEPPER_OPTIONS[name]:
            other = next(n for n, options in STEPPER_OPTIONS.items() if option in options)
            raise InputError(
                f"options of the {option.replace('_', ' ')} belong to the {other} stepper, and this run is {name}: leave them out."
            )
    solver = stepper.get("solver", {})
    of_scene = table(scene.run, "stepper", "solver").get("name", "pgs")
    method = known_name("solver", solver.get("name", of_scene), SOLVERS)
    _fit(solver, method, SOLVERS[method].model_fields)
    known_name("warm start", stepper.get("warm_start", {}).get("name", "none"), WARM_STARTS)
    policy = reduction.over(scene, name)
    settings = make_settings(scene.run, flags, {"stepper": {"reduction": policy}} if name == "nonsmooth" else {})
    threads = _useful_threads(settings)
    step = settings.choose_step(scene)
    steps_in(settings.duration, step.seconds)
    every = settings.every if settings.every is not None else max(settings.duration / 100, step.seconds)
    return settings.model_copy(update={"time_step": step.seconds, "every": every, "threads": threads}), step


def _fit(solver: dict[str, Any], method: str, known: Container[str]) -> None:
    """Refuse options that the solver does not have; the seed is of everything random, so one that draws nothing does without."""
    if "seed" in solver and "seed" not in known:
        del solver["seed"]
    for option in solver:
        if option not in known:
            name = f"--{option}" if solver[option] is not False else f"--no-{option}"
            raise InputError(f"{name} is not an option of the solver '{method}': leave it out, or choose another solver.")


def _useful_threads(settings: Settings) -> int:
    """As asked; tells of threads that this machine, or this stepper, has no use for: the result is the same, only later."""
    from ..parallel import cores

    if settings.threads > cores():
        talk(f"warning: {settings.threads} threads on {cores()} cores wait for each other: --threads {cores()} would be faster")
    if settings.threads > 1 and settings.stepper.name == "smooth":
        talk("the smooth stepper runs on one thread: using 1")
        return 1
    return settings.threads


def _dump_paths(times: list[float], output: Path, settings: Settings) -> dict[Path, float]:
    """Where the problems of these times [s] go; refused before anything is simulated if they cannot."""
    from ..io.problem import is_problem, problem_path

    if times and settings.stepper.name != "nonsmooth":
        raise InputError("--dump-problem needs the nonsmooth stepper: the smooth one has no contact problem to solve.")
    for time in times:
        if not 0 <= time <= settings.duration:
            raise InputError(f"--dump-problem must lie between 0 and the duration, {settings.duration:g} s (got {time:g}).")
    paths = {problem_path(output, time): time for time in times}
    for path in paths:
        if path.exists() and not is_problem(path):
            raise InputError(f"{path} exists and is not a problem of granum. Move it away or choose another name with -o.")
    return paths


def _chosen(scene: Scene, flags: dict[str, Any]) -> dict[str, str]:
    """Where the main settings come from: given, scene or default."""
    places = {
        "time_step": ("time_step",),
        "duration": ("duration",),
        "every": ("every",),
        "iterations": ("stepper", "solver", "iterations"),
        "momentum": ("stepper", "solver", "momentum"),
        "warm_start": ("stepper", "warm_start", "name"),
    }
    chosen = {
        name: "given" if _has(flags, place) else "of the scene" if _has(scene.run, place) else "default" for name, place in places.items()
    }
    if flags.get("stepper", {}).get("name", "nonsmooth") == "smooth" and chosen["time_step"] == "of the scene":
        chosen["time_step"] = "as stable"
    return chosen


def _has(tree: Any, place: tuple[str, ...]) -> bool:
    for part in place:
        if not isinstance(tree, dict) or part not in tree:
            return False
        tree = tree[part]
    return tree is not None


def _given(tree: dict[str, Any]) -> dict[str, Any]:
    """Without what was not given."""
    cleaned = {key: _given(value) if isinstance(value, dict) else value for key, value in tree.items()}
    return {key: value for key, value in cleaned.items() if value is not None and value != {}}


def _pairs(texts: list[str]) -> dict[str, str]:
    values = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise InputError(f"--set needs key=value (got {text!r}).")
        values[key.strip()] = value.strip()
    return values
