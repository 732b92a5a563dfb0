"""Metrics of what passes sinks and counters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...checks import InputError
from ..flow_rate import FlowRate, expected_rate
from ..metric import Metric, MetricResult, Shots

UNITS = {
    "time": "s",
    "mass": "kg",
    "rate": "kg/s",
    "rate_error": "kg/s",
    "scatter": "kg/s",
    "steady_from": "s",
    "steady_to": "s",
    "beverloo": "kg/s",
}


def _flow_rate(shots: Shots, names: Sequence[str] | None = None, window: float | None = None) -> MetricResult:
    recording = shots.recording
    known = recording.scene.counted
    if not known:
        raise InputError(f"{recording.path} is of a scene without sinks and counters: nothing is counted. Add [[sinks]] or [[counters]].")
    values: dict[str, float] = {}
    parts: list[dict[str, Any]] = []
    for name in names or known:
        flow = FlowRate.of(recording, name, window, shots.frames)
        found = {
            "count": int(flow.count[-1] - flow.count[0]),
            "mass": float(flow.mass[-1] - flow.mass[0]),
            "rate": flow.mean.value,
            "rate_error": flow.mean.error,
            "scatter": flow.scatter,
            "steady_from": flow.steady[0],
            "steady_to": flow.steady[1],
        }
        expected = expected_rate(recording, name)
        found |= {} if expected is None else {"beverloo": expected}
        values |= {f"{name}.{key}": value for key, value in found.items()}
        parts.append(
            {
                "name": [name] * len(flow.time),
                "time": flow.time,
                "count": flow.count,
                "mass": flow.mass,
                "rate": np.concatenate([[math.nan], flow.rate]),
                "rate_error": np.concatenate([[math.nan], flow.error]),
            }
        )
    columns = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    units = {key: UNITS[what] for key in (*values, *columns) if (what := key.rpartition(".")[2]) in UNITS}
    return MetricResult(values, columns, _note(columns["time"], columns["name"], window), units)


def _note(time: np.ndarray, name: np.ndarray, window: float | None) -> str | None:
    """Where frames are further apart than the windows that were asked for."""
    longest = float(np.diff(time[name == name[0]]).max())
    if window is None or longest < 1.5 * window:
        return None
    return f"frames are up to {longest:.3g} s apart, so that windows are longer than {window:g} s: record more of them (--every {window:g})"


METRICS: dict[str, Metric] = {
    "flow-rate": Metric(
        _flow_rate,
        "grains and mass that came into a sink or passed a counter since the start of the run, and the rate in windows that end then "
        "(--window TIME, --counter NAME; else all); mean rate without the first and the last tenth of the mass",
        {},
        needs="sinks or counters",
        all_frames=True,
        of="counter",
        windows=True,
    ),
}
