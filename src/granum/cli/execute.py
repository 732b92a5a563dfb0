"""What ``run`` and ``restart`` share: a simulation with its observers, its files and its end."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..checks import InputError, RunError
from ..io import Recording, checkpoint_path
from ..memory import want
from .console import stderr, talk
from .summary import mean_level, summarise

LONGEST_OUTPUT = 200  # bytes of a name, to which those of the files beside it add theirs
PICTURE_MARK = b"granum"  # stands in the first bytes of our pictures


@dataclass
class Job:
    """A run and where it goes."""

    sim: Any
    last_step: int
    recording: Path
    about: dict[str, Any]
    """Kept in the checkpoint: run_id, recording, command, chosen, time_step_reason, picture."""
    resume: bool = False
    observers: list[Any] = field(default_factory=list)


def execute(job: Job) -> dict[str, Any]:
    """Run to the end (or an interruption); returns the summary, which the recording holds too."""
    from ..observe import Checkpointer, Interrupt, Interrupted, Progress, Recorder, seconds

    sim = job.sim
    recorder = Recorder(
        job.recording,
        seconds(sim.settings.every),
        description=describe(job),
        resume=job.resume,
        summary=lambda sim: summarise(sim, job.recording, job.about),
    )
    # The order matters: frames before checkpoints, the interrupt last.
    sim.observers += [
        *job.observers,
        recorder,
        Checkpointer(checkpoint_path(job.recording), sim.settings.checkpoint_every, job.about),
        Progress(stderr()),
        Interrupt(talk),
    ]
    try:
        sim.run_until(job.last_step)
    except Interrupted:
        talk(f"interrupted at t = {sim.time:.6g} s. {way_on(job)}")
        raise
    except KeyboardInterrupt:
        talk(f"stopped at once in step {sim.step_count}. {way_on(job)}")
        raise
    except MemoryError as error:
        raise RunError(f"{want(error)} {way_on(job)}") from error
    except RunError as error:
        words = str(error) if "Last checkpoint" in str(error) else f"{error} {way_on(job)}"
        if recorder.path != job.recording and str(recorder.path) not in words:
            words += f" The frames are kept in {recorder.path}."
        raise type(error)(words) from error
    summary = recorder.reported or {}
    if sim.settings.reduction is not None:
        with Recording(job.recording) as recording:
            summary = summary | mean_level(recording)
    if job.about.get("picture"):
        summary = summary | {"picture": draw(sim, job.recording.with_suffix(".png"))}
    return summary


def check_emitted(sim: Any) -> None:
    """Fail, when all is written and shown, a run in which grains were due and not a single one was emitted."""
    short = [what for emission in sim.emissions if (what := emission.shortage(max(0.0, sim.time - sim.time_step))) is not None]
    if short and not any(emission.emitted for emission in sim.emissions):
        raise RunError(f"no grain was emitted in the whole run: {'; '.join(short)}.")


def way_on(job: Job) -> str:
    """How a run that has stopped is continued; it says so if it cannot be."""
    if job.sim.last_checkpoint is None or not Path(job.sim.last_checkpoint).is_file():
        return "There is no checkpoint to continue from: run it again."
    there = f"Last good checkpoint: {job.sim.last_checkpoint}"
    try:
        with Recording(job.recording) as recording:
            own = recording.description.get("run_id") == job.about.get("run_id")
    except InputError:
        own = not job.recording.exists()  # a restart then begins another one
    if not own:
        return f"{there}; move {job.recording}, which is not of this run, away before you continue with: granum restart {job.recording}"
    return f"{there}; continue with: granum restart {job.recording}"


def describe(job: Job) -> dict[str, Any]:
    """All that is needed to repeat the run, and what it was made with."""
    from ..observe.machine import machine

    return {
        "scene": job.sim.scene.model_dump(mode="json"),
        "settings": job.sim.settings.model_dump(mode="json"),
        "last_step": job.last_step,
        **job.about,
        "versions": machine(),
    }


def draw(sim: Any, path: Path) -> str | None:
    """The picture of the last state; a run does not fail because of it."""
    from ..plot import scene_picture

    try:
        scene_picture(sim.scene, sim.wrapped_position, sim.radius, sim.velocity, time=sim.time, bodies=wall_frames(sim), path=path)
    except Exception as error:
        talk(f"warning: no picture {path}: {type(error).__name__}: {error}", style="yellow")
        return None
    return str(path)


def wall_frames(sim: Any) -> list[tuple[Any, Any]]:
    """Position and orientation of every wall body now."""
    return [(sim.bodies.position[w].copy(), sim.bodies.orientation[w].copy()) for w in range(sim.bodies.wall_body_count)]


def command_line() -> str:
    """As typed."""
    return " ".join(["granum", *sys.argv[1:]])


def default_output(scene_name: str) -> Path:
    """``<scene>.h5`` in the current folder."""
    return Path((re.sub(r"[^\w.-]+", "-", scene_name).strip("-.") or "scene") + ".h5")


def check_output(path: Path, picture: bool) -> None:
    """Refuse, before anything is simulated, a place that cannot be written or holds files that are not ours."""
    if path.suffix == ".png" or ".checkpoint" in path.suffixes:
        raise InputError(f"output {path} must be the name of a recording, such as {path.stem.removesuffix('.checkpoint')}.h5.")
    if len(os.fsencode(path.name)) > LONGEST_OUTPUT:
        raise InputError(f"output {path} must have a name of at most {LONGEST_OUTPUT} bytes. Choose a shorter one with -o.")
    folder = path.parent
    if not folder.is_dir():
        raise InputError(f"output {path} cannot be written: the folder {folder} does not exist.")
    if path.is_dir():
        raise InputError(f"output {path} cannot be written: it is a folder.")
    if not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise InputError(f"output {path} cannot be written: no permission. Choose another place with -o.")
    if path.exists():
        try:
            Recording(path).close()
        except InputError as error:
            raise InputError(f"output {path} exists and would be lost: {error} Move it away or choose another name with -o.") from None
        talk(f"replacing the recording {path} of an earlier run")
    for other, ours in ((checkpoint_path(path), _is_checkpoint), (path.with_suffix(".png"), _is_picture)):
        if (picture or ours is _is_checkpoint) and other.exists() and not ours(other):
            hint = " or leave the picture out with --no-picture" if ours is _is_picture else ""
            raise InputError(f"{other} exists and is not a file of granum. Move it away, choose another name with -o{hint}.")


def _is_checkpoint(path: Path) -> bool:
    from ..io.layout import CHECKPOINT_FORMAT
    from ..io.read import has_format

    return has_format(path, lambda file: bool(file.attrs.get("format") == CHECKPOINT_FORMAT))


def _is_picture(path: Path) -> bool:
    with open(path, "rb") as file:
        return PICTURE_MARK in file.read(1000)
