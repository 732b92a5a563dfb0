"""Runs that go on: a simulation from its checkpoint."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..arithmetic import length
from ..checks import InputError
from ..io import read_checkpoint
from ..scene.bodies import SAME_PLACE
from ..scene.motion import PoseFunction
from ..scene.run_settings import Threads
from ..scene.scene import Scene
from ..state.report import StepReport
from .settings import Settings
from .simulation import Simulation
from .sound import check_saved


@dataclass
class SavedRun:
    """What a checkpoint holds."""

    simulation: Simulation
    last_step: int
    """Where the run was to end."""
    about: dict[str, Any]
    """What the checkpointer was told: recording, command and so on."""
    machine: dict[str, str] = field(default_factory=dict)
    """Versions and CPU that the checkpoint was made with (see ``observe.machine``)."""


def load_run(path: str | Path, threads: Threads | None = None, scene: Scene | None = None) -> SavedRun:
    """The run of a checkpoint, ready to go on as if it had never stopped: ``run.simulation.run_until(run.last_step)``.

    With ``threads`` other than before it goes on with the same bits. Functions that drive its bodies, which no file can hold, come from
    ``scene``.
    """
    saved = read_checkpoint(path)
    try:
        scene = with_functions(Scene.read(saved["scene"], f"the scene of checkpoint {str(path)!r}"), scene)
        settings = Settings.read(saved["settings"], f"the settings of checkpoint {str(path)!r}")
        if threads is not None:
            settings = settings.model_copy(update={"threads": threads})
        check_saved(saved["simulation"], scene, settings)
        sim = Simulation.restore(scene, settings, saved["simulation"])
        check_functions(sim)
        sim.report = StepReport.restored(saved["report"])
        sim.stage_seconds, sim.wall_seconds = saved["stage_seconds"], saved["wall_seconds"]
        sim.last_checkpoint = str(path)
        made = {name: str(value) for name, value in saved["machine"].items()}
        return SavedRun(sim, int(saved["last_step"]), dict(saved["about"]), made)
    except InputError as error:
        raise InputError(f"checkpoint {str(path)!r} cannot be continued: {error} Restart from another one, or run again.") from None
    except (KeyError, TypeError, ValueError, IndexError, OverflowError, AttributeError) as error:
        raise InputError(f"checkpoint {str(path)!r} is not one of this version of granum ({type(error).__name__}: {error}).") from error


def with_functions(scene: Scene, given: Scene | None) -> Scene:
    """The scene of a file, with the functions that drive bodies of the same names in the ``given`` one."""
    if given is None:
        return scene
    functions = {body.name: body.motion for body in given.bodies if isinstance(body.motion, PoseFunction)}
    return scene.changed(
        bodies=tuple(
            body.model_copy(update={"motion": functions[body.name]})
            if isinstance(body.motion, PoseFunction) and body.name in functions
            else body
            for body in scene.bodies
        )
    )


def check_functions(sim: Simulation) -> None:
    """Refuse a function that has other places for its body than where it stands."""
    for w, body in enumerate(sim.scene.all_bodies):
        if not isinstance(body.motion, PoseFunction) or body.path is None or sim.step_count == 0:
            continue
        place, at = body.path.pose(sim.time)[0], sim.bodies.position[w]
        if not float(length(place - at)) <= SAME_PLACE * max(1.0, float(length(at))):
            raise InputError(
                f"the function {body.motion.name!r} of body {body.name!r} is another one than before: at t = {sim.time:g} s it gives "
                f"{tuple(map(float, place))} m, but the body stands at {tuple(map(float, at))} m."
            )
