"""``granum.run``: simulate a scene, record it, and say how it went; what ``granum run`` and ``granum restart`` do."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from .._jit import cache_is_warm
from ..checks import InputError, RunError, as_path, steps_in
from ..io import Recording, checkpoint_path
from ..io.problem import is_problem, problem_path
from ..memory import want
from ..nonsmooth.time_step import TimeStep
from ..observe import Checkpointer, Compiling, Interrupt, Interrupted, ProblemDump, Progress, Recorder, seconds
from ..observe.machine import machine
from ..observe.protocol import Observer
from ..parallel import cores
from ..scene.file import as_scene
from ..scene.mesh_look import mesh_lines
from ..scene.run_settings import AUTO, merge, spelled
from ..scene.scene import Scene
from ..simulation import Settings, Simulation, make_settings
from ..simulation.settings import Layer, layer_tree
from ..talk import in_milliseconds, silent, stderr, talk
from .forecast import tell_of_size
from .output import check_output, default_output, kept_apart
from .result import Run, carry
from .summary import of_frames, summarise
from .summary_rows import summary_rows

Talk = Callable[..., None]
PLACES = {
    "time_step": ("time_step",),
    "duration": ("duration",),
    "every": ("every",),
    "iterations": ("stepper", "solver", "iterations"),
    "momentum": ("stepper", "solver", "momentum"),
    "warm_start": ("stepper", "warm_start", "name"),
}
"""Settings of which a summary tells where they come from."""


def run(
    scene: Scene | str | Path,
    settings: Layer | None = None,
    *,
    output: str | Path | None = None,
    seed: int | None = None,
    picture: bool | Literal["later"] = True,
    overwrite: bool = False,
    progress: bool = True,
    dump_problem: Sequence[float] = (),
    observers: Sequence[Observer] = (),
    about: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Run:
    """Simulate a scene as ``granum run`` does: with a recording, checkpoints, progress, a summary and a picture of the end.

    >>> done = run("column", duration=0.05, output="column.vtkhdf", progress=False)
    >>> done
    Run(column, 25 grains, t = 0.05 s, column.vtkhdf)
    >>> figure = done.plot("energy")

    ``scene`` is a scene, the name of a library scene, or a scene file; ``fields`` are those of :class:`granum.Settings`, over ``settings``.
    ``output`` none: ``SCENE.vtkhdf`` in the current folder; checkpoint and picture stand beside it. A recording of that name is kept, and
    the run writes ``SCENE-2.vtkhdf``, unless it may ``overwrite``. A ``picture`` "later" is left to :meth:`Run.draw_picture`. ``seed``
    replaces the seeds of all that is random. Without ``progress`` nothing is said. ``dump_problem`` [s]: times at which contact problems
    are kept, for ``granum solve``. ``about`` goes into the recording's description. Ctrl-C ends the run after the step, with a checkpoint.
    """
    say: Talk = talk if progress else silent
    cold = not cache_is_warm()  # asked before the time step is found, which may compile a little
    scene = as_scene(scene, seed=seed)
    asked: dict[str, Any] = {}
    for layer in (settings or {}, fields):
        merge(asked, layer_tree(layer))
    chosen, step = settle(scene, make_settings({"threads": AUTO}, scene.run, asked), say)
    path = kept_apart(as_path("output", output) if output is not None else default_output(scene.name), overwrite, say)
    check_output(path, bool(picture), say)
    dump = ProblemDump(problem_paths(dump_problem, path, chosen), say)
    origin = origins(scene, asked)
    if origin["time_step"] not in ("given", "of the scene"):
        say(f"time step {in_milliseconds(step.seconds)}: {step.reason}")
    for line in mesh_lines(scene):
        say(line)
    compiling = Compiling(stderr())
    if progress:
        compiling.watch()
        if cold:
            compiling.show()
    try:
        sim = Simulation(scene, chosen)
        tell_of_size(sim, path, say)
        known = {
            "run_id": uuid.uuid4().hex,
            "recording": path.name,
            "command": f"granum.run({scene.name!r})",
            "seed": seed,
            "picture": bool(picture),
            "chosen": origin,
            "time_step_reason": step.reason if step.reason != "given" else origin["time_step"],
        }
        watching = [*observers, compiling, *([dump] if dump_problem else [])]
        going = RecordedRun(
            sim, steps_in(chosen.duration, sim.time_step), path, known | dict(about or {}), observers=watching, progress=progress
        )
        going.draw = picture != "later"
        done = execute(going)
    finally:
        compiling.hide()
    if dump_problem:
        done.summary["problems"] = [str(problem) for problem in dump.written]
    return done


def settle(scene: Scene, settings: Settings, say: Talk) -> tuple[Settings, TimeStep]:
    """The settings with every default that depends on the scene filled in, and why the time step is what it is."""
    threads = settings.threads
    if threads != AUTO and threads > cores():
        say(f"warning: {threads} threads on {cores()} cores wait for each other: --threads {cores()} would be faster")
    step = settings.choose_step(scene)
    steps_in(settings.duration, step.seconds)
    every = settings.every if settings.every is not None else max(settings.duration / 100, step.seconds)
    return settings.model_copy(update={"time_step": step.seconds, "every": every, "threads": threads}), step


def origins(scene: Scene, asked: dict[str, Any]) -> dict[str, str]:
    """Where the main settings come from: given, scene or default."""
    of_scene = spelled(scene.run.given())
    found = {k: "given" if _has(asked, place) else "of the scene" if _has(of_scene, place) else "default" for k, place in PLACES.items()}
    if (asked.get("stepper") or {}).get("name") == "smooth" and found["time_step"] == "of the scene":
        found["time_step"] = "as stable"
    return found


def _has(tree: Any, place: tuple[str, ...]) -> bool:
    for part in place:
        if not isinstance(tree, dict) or part not in tree:
            return False
        tree = tree[part]
    return tree is not None


def problem_paths(times: Sequence[float], output: Path, settings: Settings) -> dict[Path, float]:
    """Where the problems of these times [s] go; refused before anything is simulated if they cannot."""
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


@dataclass
class RecordedRun:
    """A simulation and where it goes."""

    sim: Simulation
    last_step: int
    recording: Path
    about: dict[str, Any]
    """Kept in the checkpoint: run_id, recording, command, chosen, time_step_reason, picture."""
    resume: bool = False
    observers: Sequence[Observer] = field(default_factory=list)
    progress: bool = True
    draw: bool = True
    """The picture, if one is asked for; else the caller draws it later."""


def execute(going: RecordedRun) -> Run:
    """Run to the end (or an interruption); the recording holds the summary, too."""
    sim, say = going.sim, talk if going.progress else silent
    recorder = Recorder(
        going.recording,
        seconds(sim.settings.every or sim.settings.duration),
        description=describe(going),
        resume=going.resume,
        summary=lambda sim: summarise(sim, going.recording, going.about),
    )
    # The order matters: frames before checkpoints, the interrupt last.
    sim.observers += [
        *going.observers,
        recorder,
        Checkpointer(checkpoint_path(going.recording), sim.settings.checkpoint_every, going.about),
        *([Progress(stderr())] if going.progress else []),
        Interrupt(say),
    ]
    try:
        sim.run_until(going.last_step)
    except Interrupted:
        say(f"interrupted at t = {sim.time:.6g} s. {way_on(going)}")
        raise
    except KeyboardInterrupt:
        say(f"stopped at once in step {sim.step_count}. {way_on(going)}")
        raise
    except MemoryError as error:
        raise RunError(f"{want(error)} {way_on(going)}") from error
    except RunError as error:
        words = str(error) if "Last checkpoint" in str(error) else f"{error} {way_on(going)}"
        if recorder.path != going.recording and str(recorder.path) not in words:
            words += f" The frames are kept in {recorder.path}."
        raise type(error)(words) from error
    summary = dict(recorder.reported or {})
    if sim.settings.extensions or sim.scene.results or sim.scene.counted:
        with Recording(going.recording) as recording:
            summary = of_frames(summary, recording)
    run = Run(f"granum: {sim.scene.name}", summary, summary_rows, going.recording, sim)
    if going.about.get("picture"):
        run.drawing = partial(draw, sim, going.recording.with_suffix(".png"), say)
        try:
            if going.draw:
                run.draw_picture()
        except KeyboardInterrupt as error:  # only the picture is missing
            carry(error, run)
            raise
    return run


def check_emitted(sim: Simulation) -> None:
    """Fail, when all is written and shown, a run in which grains were due and not a single one was emitted."""
    short = [what for emission in sim.emissions if (what := emission.shortage(max(0.0, sim.time - sim.time_step))) is not None]
    if short and not any(emission.emitted for emission in sim.emissions):
        raise RunError(f"no grain was emitted in the whole run: {'; '.join(short)}.")


def way_on(going: RecordedRun) -> str:
    """How a run that has stopped is continued; it says so if it cannot be."""
    if going.sim.last_checkpoint is None or not Path(going.sim.last_checkpoint).is_file():
        return "There is no checkpoint to continue from: run it again."
    there = f"Last good checkpoint: {going.sim.last_checkpoint}"
    try:
        with Recording(going.recording) as recording:
            own = recording.description.get("run_id") == going.about.get("run_id")
    except InputError:
        own = not going.recording.exists()  # a restart then begins another one
    if not own:
        return f"{there}; move {going.recording}, which is not of this run, away before you continue with: granum restart {going.recording}"
    return f"{there}; continue with: granum restart {going.recording}"


def describe(going: RecordedRun) -> dict[str, Any]:
    """All that is needed to repeat the run, and what it was made with."""
    return {
        "scene": going.sim.scene.model_dump(mode="json"),
        "settings": going.sim.settings.model_dump(mode="json"),
        "last_step": going.last_step,
        **going.about,
        "versions": machine(),
    }


def draw(sim: Simulation, path: Path, say: Talk) -> str | None:
    """The picture of the last state; a run does not fail because of it."""
    from ..plot import scene_picture

    walls = [(sim.bodies.position[w].copy(), sim.bodies.orientation[w].copy()) for w in range(sim.bodies.wall_body_count)]
    try:
        scene_picture(sim.scene, sim.wrapped_position, sim.radius, sim.velocity, time=sim.time, bodies=walls, path=path)
    except InputError as error:
        say(f"no picture {path}: {error}")
    except Exception as error:
        say(f"warning: no picture {path}: {type(error).__name__}: {error}", style="yellow")
    else:
        return str(path)
    return None
