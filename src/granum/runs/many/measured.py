"""One run of many: simulated on one thread, recorded in a temporary folder, measured, and forgotten but for its numbers."""

from __future__ import annotations

import json
import math
import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

from ...analysis.metrics import METRICS, measure_recording
from ...checks import InputError, OutputError, RunError, known_name, steps_in
from ...io import Recording
from ...observe import Recorder, seconds
from ...observe.watched import Watched
from ...pool import report
from ...scene.scene import Scene
from ...simulation import Settings, Simulation
from ..run import RecordedRun, check_emitted, describe
from ..summary import of_frames, summarise
from ..summary_rows import RESULT_UNITS, SUMMARY_UNITS

RESULTS, WARNING = "results", "warning"
TELL_EVERY = 0.25  # [s]


class Reporter:
    """An observer that tells how far the run is."""

    def __init__(self) -> None:
        self._next = 0.0

    def start(self, sim: Watched) -> None:
        self._next = monotonic() + TELL_EVERY

    def observe(self, sim: Watched) -> None:
        if monotonic() >= self._next:
            report(sim.step_count / sim.last_step)
            self._next = monotonic() + TELL_EVERY

    def finish(self, sim: Watched) -> None:
        """Nothing is left to tell."""


def measured_run(scene: str, settings: str, metrics: tuple[str, ...]) -> dict[str, Any]:
    """The numbers of a run: ``scene`` and ``settings`` are JSON, so that any process anywhere computes the same bits.

    ``numbers`` has the scalars of its summary by their names, its results as ``results.NAME`` and its metrics as ``METRIC.NAME``. A run
    that had to stop has none, and says why in ``failed``.
    """
    try:
        return simulate_and_measure(scene, settings, metrics)
    except OutputError:
        raise
    except RunError as error:
        if isinstance(error.__cause__, MemoryError):
            raise
        return {"numbers": {}, "units": {}, "notes": {}, "steps": None, "wall_time": None, "state_hash": None, "failed": str(error)}


def simulate_and_measure(scene: str, settings: str, metrics: Sequence[str], steps: int | None = None) -> dict[str, Any]:
    """As :func:`measured_run`, with errors; ``steps``: no more than these, to see what can be measured."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the summary has them
        return _simulate_and_measure(scene, settings, metrics, steps)


def _simulate_and_measure(scene: str, settings: str, metrics: Sequence[str], steps: int | None) -> dict[str, Any]:
    chosen = Settings.read(json.loads(settings), "the settings of a run")
    whole = {name: Settings.model_fields[name].default for name in ("record", "precision", "compress")}  # measured, and then thrown away
    sim = Simulation(Scene.read(json.loads(scene), "the scene of a run"), chosen.model_copy(update=whole))
    last = steps or steps_in(sim.settings.duration, sim.time_step)
    with tempfile.TemporaryDirectory(prefix="granum-run-") as folder:
        path = Path(folder) / "run.vtkhdf"
        about: dict[str, Any] = {"run_id": "", "recording": path.name, "command": "", "seed": None, "picture": False, "chosen": {}}
        recorder = Recorder(
            path,
            seconds(sim.settings.every or sim.settings.duration),
            description=describe(RecordedRun(sim, last, path, about)),
            summary=lambda sim: summarise(sim, path, about),
        )
        sim.observers += [recorder, Reporter()]
        sim.run_until(last)
        if steps is None:
            check_emitted(sim)
        with Recording(path) as recording:
            summary = of_frames(dict(recorder.reported or {}), recording)
            return _numbers(summary, recording, metrics, strict=steps is None)


def _numbers(summary: Mapping[str, Any], recording: Recording, metrics: Iterable[str], strict: bool) -> dict[str, Any]:
    """Flat: all numbers that a table may have, with their units and with words about those that are not there."""
    found: dict[str, float | None] = {name: value for name, value in summary.items() if type(value) in (int, float)}
    units = {name: unit for name, unit in SUMMARY_UNITS.items() if name in found}
    results = {f"{RESULTS}.{name}": value for name, value in summary["results"].items()}
    units |= {name: unit for name in results if (unit := RESULT_UNITS.get(name.removeprefix(f"{RESULTS}.")))}
    found |= results
    notes = {RESULTS: "; ".join(summary["notes"])} if summary.get("notes") else {}
    if summary["warnings"]:
        notes[WARNING] = summary["warnings"][0]
    for name in metrics:
        try:
            measured = measure_recording(recording, name)
        except InputError as error:
            notes[name] = str(error)
            continue
        except Exception as error:
            if strict:
                raise
            notes[name] = f"{type(error).__name__}: {error}"  # a first step need not have what a metric looks at
            continue
        numbers = {key: float(value) for key, value in measured.values.items()}
        found |= {f"{name}.{key}": value for key, value in numbers.items()}
        units |= {f"{name}.{key}": unit for key, unit in (METRICS[name].units | measured.units).items() if key in numbers}
        if measured.note:
            notes[name] = measured.note
    return {
        "numbers": {name: value if value is not None and math.isfinite(value) else None for name, value in found.items()},
        "units": units,
        "notes": notes,
        "steps": summary["steps"],
        "wall_time": summary["wall_seconds"],
        "state_hash": summary["state_hash"],
        "failed": None,
    }


def metrics_of(measures: Iterable[str]) -> tuple[str, ...]:
    """The metrics among what is to be measured; whatever has a dot and is no result must be one."""
    found = []
    for name in measures:
        head, dot, _ = name.partition(".")
        if dot and head != RESULTS:
            known_name("metric", head, METRICS)
        if head in METRICS:
            found.append(head)
    return tuple(dict.fromkeys(found))


def columns_of(measure: str, results: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Columns that a measure stands for, by what they are called in ``numbers``; empty if no run has such a number.

    The name of a metric stands for all of its numbers, that of a result for itself.
    """
    head, dot, _ = measure.partition(".")
    for result in results:
        numbers = result["numbers"]
        if not dot and head in METRICS:
            if own := [name for name in numbers if name.startswith(f"{head}.")]:
                return {name: name for name in own}
        else:
            for name in (measure, f"{RESULTS}.{measure}") if dot else (f"{RESULTS}.{measure}", measure):
                if name in numbers:
                    return {measure: name}
    return {}


def known_measures(results: Iterable[Mapping[str, Any]]) -> list[str]:
    """All names that may be measured, as far as runs have shown them."""
    numbers = {name for result in results for name in result["numbers"]}
    return sorted({*METRICS, *(name.removeprefix(f"{RESULTS}.") for name in numbers)})
