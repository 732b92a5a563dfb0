"""Metrics of what bodies and joints carry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...array_types import FloatArray
from ..metric import Metric, MetricResult, Shots
from ..recorded_loads import bodies_of, joints_of, mean_of, steps_before

FORCES = {f"{name}_{axis}": unit for name, unit in (("force", "N"), ("torque", "N m")) for axis in "xyz"}
OF_BODY = {**FORCES, "power": "W"}
OF_JOINT = {"coordinate": "m, rad", "speed": "m/s, rad/s", **FORCES, "motor_force": "N, N m", "limit_force": "N, N m"}
LARGEST = {"largest_force": "N", "largest_torque": "N m", "largest_motor_force": "N, N m"}


def _components(force: FloatArray, torque: FloatArray) -> dict[str, FloatArray]:
    return {f"{name}_{axis}": rows[:, k] for name, rows in (("force", force), ("torque", torque)) for k, axis in enumerate("xyz")}


def _largest(rows: FloatArray) -> float:
    """The largest length of a row."""
    size = np.linalg.norm(rows.reshape(len(rows), -1), axis=1)
    return float(np.nanmax(size)) if np.isfinite(size).any() else float("nan")


class _Table:
    """Columns of several bodies or joints below each other, and means of each."""

    def __init__(self, shots: Shots, what: str, units: dict[str, str]) -> None:
        self._frames, self._what, self._units = list(shots.frames), what, units
        self._time, self._steps = shots.recording.times[self._frames], steps_before(shots.recording)[self._frames]
        self._parts: list[dict[str, Any]] = []
        self.values: dict[str, float] = {}

    def add(self, name: str, columns: dict[str, FloatArray], largest: dict[str, FloatArray], means: Sequence[str]) -> None:
        part = {key: rows[self._frames] for key, rows in columns.items()}
        self._parts.append({"time": self._time, self._what: [name] * len(self._frames), **part})
        self.values |= {f"{name}.{key}": float(mean_of(part[key], self._steps)) for key in means}
        self.values |= {f"{name}.{key}": _largest(rows[self._frames]) for key, rows in largest.items()}

    @property
    def result(self) -> MetricResult:
        columns = {key: np.concatenate([part[key] for part in self._parts]) for key in self._parts[0]}
        known = self._units | LARGEST
        units = {key: known[key.rpartition(".")[2]] for key in self.values}
        missing = "no step was done before the chosen frames" if np.isnan(list(self.values.values())).all() else None
        return MetricResult(self.values, columns, missing, units)


def _body_force(shots: Shots, names: Sequence[str] | None = None) -> MetricResult:
    table = _Table(shots, "body", OF_BODY)
    for name in bodies_of(shots.recording, names):
        found = shots.recording.body(name)
        columns = {**_components(found.force, found.torque), "power": found.power}
        table.add(name, columns, {"largest_force": found.force, "largest_torque": found.torque}, tuple(columns))
    return table.result


def _joint_force(shots: Shots, names: Sequence[str] | None = None) -> MetricResult:
    table = _Table(shots, "joint", OF_JOINT)
    for name in joints_of(shots.recording, names):
        found = shots.recording.joint(name)
        forces = {**_components(found.force, found.torque), "motor_force": found.motor_force, "limit_force": found.limit_force}
        largest = {"largest_force": found.force, "largest_motor_force": found.motor_force}
        table.add(name, {"coordinate": found.coordinate, "speed": found.speed, **forces}, largest, tuple(forces))
    return table.result


METRICS: dict[str, Metric] = {
    "body-force": Metric(
        _body_force,
        "force, torque about its position and power of all that touches a body, means between frames (--body NAME; else all that move)",
        {"time": "s", **OF_BODY},
        needs="bodies besides the ground",
        all_frames=True,
        of="body",
    ),
    "joint-force": Metric(
        _joint_force,
        "what joints, their motors and limits carry, means between frames; coordinates at the frames (--joint NAME; else all with motors)",
        {"time": "s", **OF_JOINT},
        needs="joints",
        all_frames=True,
        of="joint",
    ),
}
