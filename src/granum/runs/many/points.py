"""The runs of a sweep before they are run: every scene and its settings, checked at the door."""

from __future__ import annotations

import inspect
import json
import typing
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..._jit import cache_is_warm
from ...analysis.results import FRAME_MEASURES
from ...checks import InputError, known_name
from ...observe import Compiling
from ...pool import Job
from ...scene.file import as_scene
from ...scene.library import LIBRARY, parameters
from ...scene.motion import PoseFunction
from ...scene.run_settings import merge
from ...scene.scene import Scene
from ...simulation import make_settings
from ...simulation.settings import Layer, layer_tree
from ...talk import silent, stderr
from ..run import settle
from .measured import METRICS, RESULTS, columns_of, known_measures, measured_run, metrics_of, simulate_and_measure
from .vary import SEED

Maker = Callable[[Mapping[str, Any], int | None], tuple[Scene, Layer]]
"""Scene and settings of a run, from the values of its parameters and its seed (None: as the scene says)."""


def maker_of(scene: Scene | str | Path | Maker, values: Mapping[str, Any] | None, settings: Layer) -> Maker:
    """Of a scene, a name or a file, with ``values`` for all runs; a maker is taken as it is."""
    if callable(scene):
        return scene
    return lambda varied, seed: (as_scene(scene, {**(values or {}), **varied}, seed), settings)


def whole_parameters(scene: Any) -> dict[str, bool]:
    """Of a library scene: which parameters are whole numbers."""
    if not isinstance(scene, str) or scene not in LIBRARY:
        return {}
    hints = typing.get_type_hints(inspect.unwrap(LIBRARY[scene]))
    return {name: "int" in str(hints.get(name)) and "float" not in str(hints.get(name)) for name in parameters(scene)}


def run_texts(make: Maker, point: Mapping[str, Any]) -> tuple[str, str, str]:
    """Name, scene and settings (JSON) of the run at a point; whatever cannot be run is refused here."""
    varied = dict(point)
    seed = varied.pop(SEED, None)
    scene, layer = make(varied, seed)
    if any(isinstance(body.motion, PoseFunction) for body in scene.bodies):
        raise InputError(
            f"scene {scene.name!r} moves a body by a Python function, which cannot be handed to other processes. Give a table of poses."
        )
    asked = layer_tree(layer)
    if seed is not None:
        solver = getattr(make_settings(scene.run, asked).stepper, "solver", None)
        if "seed" in type(solver).model_fields if solver is not None else False:
            merge(asked, {"stepper": {"solver": {"seed": seed}}})
    chosen, _ = settle(scene, make_settings(scene.run, {**asked, "threads": 1}), silent)
    return scene.name, scene.model_dump_json(), chosen.model_dump_json()


def jobs_of(make: Maker, points: Sequence[Mapping[str, Any]], measures: Sequence[str]) -> tuple[str, list[Job]]:
    """Name of the scene, and a job for every point."""
    metrics, jobs, name = metrics_of(measures), [], ""
    for point in points:
        name, scene, settings = run_texts(make, point)
        steps = json.loads(settings)
        jobs.append(Job(measured_run, (scene, settings, metrics), steps["duration"] / steps["time_step"]))
    return name, jobs


def check_measures(job: Job, measures: Sequence[str], progress: bool) -> dict[str, Any]:
    """Refuse measures that the run has not, as far as its first step tells; it also compiles what the first step needs, and returns what
    was measured then."""
    note = Compiling(stderr())
    if progress and not cache_is_warm():
        note.show()
    try:
        scene, settings, metrics = job.args
        probe = simulate_and_measure(scene, settings, metrics, steps=1)
    finally:
        note.hide()
    later = any(result["measure"] in FRAME_MEASURES for result in json.loads(job.args[0]).get("results") or ())
    for measure in measures:
        if later and (measure.partition(".")[0] == RESULTS or measure not in METRICS):
            continue  # only the end of a run tells
        check_measured([measure], [probe])
    return probe


def check_measured(measures: Sequence[str], results: Sequence[Mapping[str, Any] | None]) -> None:
    """Refuse measures of which those runs that are there can tell that there are none; a metric without any number may have some later."""
    found = [result for result in results if result is not None and result["numbers"]]
    for measure in measures if found else ():
        head = measure.partition(".")[0]
        named = head in METRICS and any(name.startswith(f"{head}.") for name in found[0]["numbers"])
        if named or head not in found[0]["notes"]:
            check_measure(measure, found)


def check_measure(measure: str, results: Sequence[Mapping[str, Any]]) -> None:
    """Refuse a measure of which no run knows."""
    if columns_of(measure, results):
        return
    head, dot, key = measure.partition(".")
    if dot and head in METRICS:
        own = {name.partition(".")[2] for result in results for name in result["numbers"] if name.startswith(f"{head}.")}
        known_name(f"number of the metric {head!r}", key, own)
    known_name("measure", measure.removeprefix(f"{RESULTS}."), known_measures(results))
