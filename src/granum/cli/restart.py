"""``granum restart``: go on where a run stopped, as if it never had."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..checks import InputError, finite_positive, steps_in
from .console import in_words, talk

if TYPE_CHECKING:
    from .execute import Job


def register(app: typer.Typer) -> None:
    app.command("restart")(in_words(restart))


def restart(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Recording (x.h5) or its checkpoint (x.checkpoint.h5).")],
    duration: Annotated[float | None, typer.Option(help="Go on for this simulated time [s]; default: to the end first asked for.")] = None,
    threads: Annotated[int | None, typer.Option(help="Same bits for any number; default: those of the run.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Summary as one JSON object.")] = False,
) -> None:
    """Continue a run that was stopped, killed, or should last longer.

    Examples: granum restart box.h5; granum restart box.h5 --duration 2 --threads 4
    """
    from .execute import check_emitted, execute
    from .summary import show

    if duration is not None:
        finite_positive("duration", duration, "s")
    job = find_job(file, threads)
    sim = job.sim
    if duration is not None:
        job.last_step = sim.step_count + steps_in(duration, sim.time_step)
    if sim.step_count >= job.last_step:
        talk(f"the run is at its end, t = {sim.time:g} s; --duration S makes it longer")
    else:
        talk(f"continuing {job.recording} at t = {sim.time:.6g} s (step {sim.step_count} of {job.last_step})")
    show(execute(job), as_json)
    check_emitted(sim)


def recording_of(file: Path) -> Path:
    """``x.checkpoint.h5`` -> ``x.h5``; a recording is itself."""
    return file.with_name(file.name.replace(".checkpoint", "", 1)) if ".checkpoint" in file.suffixes else file


def find_job(file: Path, threads: int | None = None) -> Job:
    """The run of a recording or checkpoint, ready to go on, perhaps with other threads than before."""
    from ..io import checkpoint_path
    from ..observe.machine import bits_promised, machine
    from ..simulation.saved import load_run
    from .execute import Job

    recording = recording_of(file)
    checkpoint = checkpoint_path(recording)
    if not checkpoint.exists() and file == checkpoint:
        raise InputError(f"checkpoint {checkpoint} does not exist.")
    description = _description(recording)
    if not checkpoint.exists():
        return _from_the_start(recording, description, f"there is no checkpoint {checkpoint}", threads)
    run = load_run(checkpoint, threads)
    promise = bits_promised(run.machine, machine())
    if promise is not None:
        talk(promise)
    run.about = {"run_id": "", "chosen": {}, "recording": recording.name, "command": "", **run.about}  # a run from Python may tell less
    sim = run.simulation
    if sim.settings.every is None:
        sim.settings = sim.settings.model_copy(update={"every": max(sim.settings.duration / 100, sim.time_step)})
    if description is None:
        talk(f"there is no recording {recording}: it begins anew at the checkpoint")
    elif description.get("run_id", "") != run.about["run_id"]:
        return _from_the_start(recording, description, f"{checkpoint} belongs to another run", threads)
    return Job(sim, run.last_step, recording, run.about, resume=description is not None)


def _description(recording: Path) -> dict[str, Any] | None:
    """Of the recording, with its number of frames; None if there is no recording."""
    from ..io import Recording

    if not recording.exists():
        if not recording.with_name(f"{recording.stem}.checkpoint{recording.suffix}").exists():
            raise InputError(f"recording {recording} does not exist, nor a checkpoint of it.")
        return None
    with Recording(recording) as opened:
        return {**opened.description, "frames": len(opened)}


def _from_the_start(recording: Path, description: dict[str, Any] | None, why: str, threads: int | None) -> Job:
    """A run that was killed before its first checkpoint starts again from what its recording says."""
    from ..scene.scene import Scene
    from ..simulation import Settings, Simulation
    from .execute import Job

    keys = ("run_id", "recording", "command", "seed", "picture", "chosen")
    if description is None or description["frames"] > 1 or not set(keys) <= set(description):
        raise InputError(f"cannot restart {recording}: {why}. Run it again from the start.")
    talk(f"{why}; the run had only begun and starts again")
    settings = Settings.model_validate(description["settings"])
    if threads is not None:
        settings = settings.model_copy(update={"threads": threads})
    sim = Simulation(Scene.model_validate(description["scene"]), settings)
    about = {key: description[key] for key in (*keys, "time_step_reason") if key in description}
    return Job(sim, description["last_step"], recording, about)
