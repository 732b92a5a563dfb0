"""Scene files: written from scenes, and checked before they are run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis.run_plan import make_plan, paper_costs
from ..analysis.scene_size import size_of_scene
from ..analysis.step_plan import plan_step
from ..array_types import FloatArray
from ..checks import InputError, steps_in
from ..io.whole import replace_file
from ..memory import GRAIN, IN_BED
from ..scene.emitter import Emitter
from ..scene.file import as_scene
from ..scene.floors import Frame, fall_to_floor
from ..scene.mesh_look import mesh_lines
from ..scene.placed import Placed
from ..scene.scene import Scene
from ..scene.speeds import expected_speeds
from ..scene.written import scene_text
from ..simulation import make_settings
from ..simulation.meshes import check_meshes, size_remarks
from ..simulation.settings import Layer
from ..smooth.time_step import automatic_step
from .forecast import recording_size
from .output import check_folder

SHOWN = 100  # grains of an emitter that a picture of the start shows, at most
FREE = 20.0  # [diameters] of the way that is shown below a source with nothing under it


def write_scene(scene: Scene | str | Path, file: str | Path, *, overwrite: bool = False, command: str = "") -> Path:
    """Write a scene as a commented scene file (.toml); read again it is the same scene. ``command`` is named at its top."""
    path, scene = Path(file), as_scene(scene)
    if path.suffix != ".toml":
        raise InputError(f"output {path} must end in .toml.")
    check_folder(path)
    if path.exists() and not overwrite:
        raise InputError(f"output {path} exists. Choose another name with -o, or replace it with --overwrite.")
    made = f", made with: {command}" if command else ""
    head = f"Scene {scene.name!r} of granum{made}\nRun it with: granum run {path.name}. All numbers are in SI units."
    text = scene_text(scene, f"{head}\nLook at it first with: granum check {path.name}")
    replace_file(path, text.encode(), "scene file")
    return path


def check_scene(
    scene: Scene | str | Path, settings: Layer | None = None, *, values: Mapping[str, Any] | None = None, picture: str | Path | None = None
) -> dict[str, Any]:
    """What a run of a scene will be, without running it: grains, sizes, meshes, speeds, time step, memory, disk and time.

    With ``picture`` the start is drawn there (.png); emitters then show some of their grains. Times are those of the cost model of
    ``granum plan``, good to a factor of a few.
    """
    scene = as_scene(scene, values)
    check_meshes(scene)
    chosen = make_settings(scene.run, settings or {})
    step = chosen.choose_step(scene)
    steps = steps_in(chosen.duration, step.seconds)
    every = chosen.every if chosen.every is not None else max(chosen.duration / 100, step.seconds)
    frames = 1 + math.floor(chosen.duration / every)
    speeds = expected_speeds(scene)
    size = size_of_scene(scene, chosen.duration)
    grains, at_start = size.grains if size is not None else 0, len(Placed.of(scene).position)
    found: dict[str, Any] = {
        "scene": scene.name,
        "grains": grains,
        "grains_at_start": at_start,
        "diameter_smallest": scene.size_range[0] if grains else None,
        "diameter_largest": scene.size_range[1] if grains else None,
        "bodies": len(scene.bodies),
        "walls": len(scene.all_walls),
        "meshes": mesh_lines(scene),
        "warnings": [what for _, what in size_remarks(scene)],
        "fastest": max((one.value for one in speeds), default=0.0),
        "fastest_is": max(speeds, key=lambda one: one.value).reason if speeds else "nothing moves at first",
        "stepper": chosen.stepper.name,
        "time_step": step.seconds,
        "time_step_reason": "of the scene" if step.reason == "given" else step.reason,
        "duration": chosen.duration,
        "steps": steps,
        "frames": frames,
        "memory_bytes": grains * IN_BED,
        "memory_at_start_bytes": grains * GRAIN,
        "recording_bytes": recording_size(scene, chosen, step.seconds, at_start),
        "wall_seconds": _seconds(scene, chosen.stepper.name, step.seconds, chosen.duration),
        "picture": None,
    }
    if picture is not None:
        found["picture"] = draw_start(scene, picture)
    return found


def _seconds(scene: Scene, stepper: str, step: float, duration: float) -> float | None:
    """About how long [s] a run takes on one thread, by the cost model; none: there are no grains."""
    size = size_of_scene(scene, duration)
    if size is None:
        return None
    planned = plan_step(size.system, scene, speed=None, own_gravity=False, exact=False)
    found = make_plan(size.system, planned, automatic_step(scene, True), size.grains, paper_costs(), 1)
    way = next(way for way in reversed(found["ways"]) if way["stepper"] == stepper)
    return float(way["effort"] * way["time_step"] / step * duration)


def draw_start(scene: Scene, path: str | Path) -> str | None:
    """A picture of the scene before its first step, with some grains on their way down from emitters; none: there is no grain to show."""
    from ..plot import scene_picture

    placed, rng = Placed.of(scene), np.random.default_rng(0)
    position, radius, velocity = [placed.position], [placed.radius], [placed.velocity]
    for emitter in scene.emitters:
        place, size = _on_their_way(scene, emitter, rng)
        position.append(place)
        radius.append(size)
        velocity.append(np.broadcast_to(emitter.velocity, place.shape))
    if not sum(map(len, radius)):
        return None
    shown = (np.concatenate(position), np.concatenate(radius), np.concatenate(velocity))
    scene_picture(scene, *shown, colour="height", path=Path(path))
    return str(path)


def _on_their_way(scene: Scene, emitter: Emitter, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Places (n, 3) and radii (n,) [m] of grains between a source and the walls below it, none on another."""
    count, frame = min(SHOWN, emitter.count or SHOWN), Frame.of(scene)
    place, radius = emitter.source.points(rng, count), emitter.sizes.sample(rng, count) / 2
    if frame is not None:
        fall = fall_to_floor(scene, frame, place, radius)
        way = np.where(np.isfinite(fall), fall, FREE * scene.size_range[1]) * rng.random(count)
        place = place + way[:, None] * frame.down
    kept: list[int] = []
    for k in range(count):
        if all(np.linalg.norm(place[k] - place[j]) >= radius[k] + radius[j] for j in kept):
            kept.append(k)
    return place[kept], radius[kept]
