"""``granum.restart``: go on where a run stopped, as if it never had."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from ..checks import InputError, as_path, finite_positive, steps_in
from ..io import Recording, checkpoint_path
from ..io.checkpoint import recording_path
from ..observe.machine import bits_promised, machine
from ..scene.file import as_scene
from ..scene.run_settings import Threads
from ..scene.scene import Scene
from ..simulation import Settings, Simulation
from ..simulation.saved import load_run, with_functions
from ..simulation.threads import check_threads
from ..talk import silent, talk
from ..units import read_quantity
from .result import Run
from .run import RecordedRun, Talk, execute


def restart(
    file: str | Path,
    *,
    duration: float | str | None = None,
    threads: Threads | None = None,
    scene: Scene | str | Path | None = None,
    progress: bool = True,
    picture: bool | Literal["later"] = True,
) -> Run:
    """Continue the run of a recording, or of its checkpoint: to the end that was first asked for, or for ``duration`` [s] more.

    With ``threads`` other than before it goes on with the same bits. Python functions that drive bodies are in no file: ``scene``, as it
    was given to the run, gives them again. A ``picture`` "later" is left to :meth:`Run.draw_picture`.
    """
    say: Talk = talk if progress else silent
    if isinstance(duration, str):
        duration = read_quantity("duration", duration, "s")
    if duration is not None:
        finite_positive("duration", duration, "s")
    if threads is not None:
        check_threads(threads)
    going = find_run(as_path("file", file), threads, say, None if scene is None else as_scene(scene))
    going.progress, going.draw, sim = progress, picture != "later", going.sim
    if duration is not None:
        going.last_step = sim.step_count + steps_in(duration, sim.time_step)
    if sim.step_count >= going.last_step:
        say(f"the run is at its end, t = {sim.time:g} s; --duration S makes it longer")
    else:
        say(f"continuing {going.recording} at t = {sim.time:.6g} s (step {sim.step_count} of {going.last_step})")
    return execute(going)


def recording_of(file: Path) -> Path:
    """``x.checkpoint.hdf5`` -> ``x.vtkhdf``; a recording is itself."""
    return recording_path(file)


def find_run(file: Path, threads: Threads | None = None, say: Talk = talk, scene: Scene | None = None) -> RecordedRun:
    """The run of a recording or checkpoint, ready to go on, perhaps with other threads than before; ``scene`` gives functions anew."""
    recording = recording_of(file)
    checkpoint = checkpoint_path(recording)
    if not checkpoint.exists() and file == checkpoint:
        raise InputError(f"checkpoint {checkpoint} does not exist.")
    description = _description(recording)
    if not checkpoint.exists():
        return _from_the_start(recording, description, f"there is no checkpoint {checkpoint}", threads, say, scene)
    run = load_run(checkpoint, threads, scene)
    promise = bits_promised(run.machine, machine())
    if promise is not None:
        say(promise)
    run.about = {"run_id": "", "chosen": {}, "recording": recording.name, "command": "", **run.about}  # a run from Python may tell less
    sim = run.simulation
    if sim.settings.every is None:
        sim.settings = sim.settings.model_copy(update={"every": max(sim.settings.duration / 100, sim.time_step)})
    if description is None:
        say(f"there is no recording {recording}: it begins anew at the checkpoint")
    elif description.get("run_id", "") != run.about["run_id"]:
        return _from_the_start(recording, description, f"{checkpoint} belongs to another run", threads, say, scene)
    return RecordedRun(sim, run.last_step, recording, run.about, resume=description is not None)


def _description(recording: Path) -> dict[str, Any] | None:
    """Of the recording, with its number of frames; None if there is no recording."""
    if not recording.exists():
        if not checkpoint_path(recording).exists():
            raise InputError(f"recording {recording} does not exist, nor a checkpoint of it.")
        return None
    with Recording(recording) as opened:
        return {**opened.description, "frames": len(opened)}


def _from_the_start(
    recording: Path, description: dict[str, Any] | None, why: str, threads: Threads | None, say: Talk, scene: Scene | None
) -> RecordedRun:
    """A run that was killed before its first checkpoint starts again from what its recording says."""
    keys = ("run_id", "recording", "command", "seed", "picture", "chosen")
    if description is None or description["frames"] > 1 or not set(keys) <= set(description):
        raise InputError(f"cannot restart {recording}: {why}. Run it again from the start.")
    say(f"{why}; the run had only begun and starts again")
    settings = Settings.read(description["settings"], f"the settings of recording {recording}")
    if threads is not None:
        settings = settings.model_copy(update={"threads": threads})
    sim = Simulation(with_functions(Scene.read(description["scene"], f"the scene of recording {recording}"), scene), settings)
    about = {key: description[key] for key in (*keys, "time_step_reason") if key in description}
    return RecordedRun(sim, description["last_step"], recording, about)
