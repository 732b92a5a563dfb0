"""Mass flow through sinks and counters: what has passed in time, rates in windows with their errors, and Beverloo's law."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..array_types import FloatArray, LongArray
from ..checks import InputError, finite_positive
from ..io import Recording
from ..scene.results import Discharge
from .shear_cell import Mean
from .snapshot import Snapshot

WINDOWS = 50  # of the frames, if no length of a window is given
ENDS = 0.1  # of what has passed: the first and the last part, which a mean rate leaves out
BEVERLOO_C, BEVERLOO_K = 0.58, 1.4
BEVERLOO = "0.58 rho_b sqrt(g) (D - 1.4 d)^2.5"


@dataclass(frozen=True)
class FlowRate:
    """What has come into a sink or passed a counter; windows begin and end with a frame."""

    name: str
    time: FloatArray
    """(W + 1,) [s] ends of the windows,"""
    count: LongArray
    """(W + 1,) grains that had passed by then since the start of the run,"""
    mass: FloatArray
    """(W + 1,) and their mass [kg]."""
    rate: FloatArray
    """(W,) [kg/s] mean of each window,"""
    error: FloatArray
    """(W,) [kg/s] and its standard error if n grains pass independently of each other: the mean grain's mass times sqrt(n), n at least 1,
    over the window's length. Dense flows are more even than that."""
    mean: Mean
    """[kg/s] from when a tenth of the mass has passed until a tenth is left: without start and end of a discharge. Its error is from the
    scatter of block averages."""
    steady: tuple[float, float]
    """[s] these two moments."""
    scatter: float
    """[kg/s] standard deviation of the rates of the windows between them."""

    @classmethod
    def of(cls, recording: Recording, name: str, window: float | None = None, frames: Sequence[int] | None = None) -> FlowRate:
        """Through the sink or counter ``name``, in windows of that length [s], as near as frames come to it; none: 50 in all."""
        seen = recording.counters[name]
        chosen = np.arange(len(recording)) if frames is None else np.asarray(frames)
        if len(chosen) < 2:
            raise InputError(f"{recording.path}: a rate of flow needs two frames or more (got {len(chosen)}). Choose more of them.")
        time, count, mass = seen.time[chosen], seen.count[chosen], seen.mass[chosen]
        passed = (seen.count + 2 * seen.count_back)[chosen]  # both ways
        edges = _edges(time, window)
        long = np.diff(time[edges])
        each = (mass[-1] + 2 * seen.mass_back[-1]) / passed[-1] if passed[-1] else 0.0
        rate = np.diff(mass[edges]) / long
        first, last = _steady(mass)
        inside = (time[edges[:-1]] >= time[first]) & (time[edges[1:]] <= time[last])
        rates = np.diff(mass[first : last + 1]) / np.diff(time[first : last + 1])
        return cls(
            name=name,
            time=time[edges],
            count=count[edges],
            mass=mass[edges],
            rate=rate,
            error=each * np.sqrt(np.maximum(np.diff(passed[edges]), 1)) / long,
            mean=Mean((mass[last] - mass[first]) / (time[last] - time[first]), Mean.of(rates).error),
            steady=(float(time[first]), float(time[last])),
            scatter=float(rate[inside].std(ddof=1)) if np.count_nonzero(inside) > 1 else math.nan,
        )


def _edges(time: FloatArray, window: float | None) -> LongArray:
    """Numbers of the frames at ``time`` (F,) [s] with which windows begin and end; a rest of less than half of one
    belongs to the last."""
    span = float(time[-1] - time[0])
    long = span / WINDOWS if window is None else finite_positive("window", window, "s")
    if long > span * (1 + 1e-9):
        raise InputError(f"window must not be longer than the frames that are looked at, {span:g} s (got {long:g}): take a shorter one.")
    ends = time[0] + long * np.arange(1, int(span / long * (1 + 1e-9)) + 1)
    after = np.clip(np.searchsorted(time, ends), 1, len(time) - 1)
    nearest = np.where(ends - time[after - 1] < time[after] - ends, after - 1, after)
    edges = np.unique(np.concatenate([[0], nearest]))
    if time[-1] - time[edges[-1]] < 0.5 * long and len(edges) > 1:
        edges = edges[:-1]
    return np.unique(np.concatenate([edges, [len(time) - 1]]))


def _steady(mass: FloatArray) -> tuple[int, int]:
    """The frames at which a tenth of ``mass`` (F,) [kg] has passed, and at which a tenth is left; all, if these are one."""
    way = np.abs(mass - mass[0])
    first, last = (int(np.argmax(way >= part * way[-1])) for part in (ENDS, 1 - ENDS))
    return (first, last) if way[-1] > 0 and last > first else (0, len(mass) - 1)


def beverloo_rate(outlet: float, diameter: float, bulk_density: float, gravity: float) -> float:
    """Mass [kg/s] that leaves a deep silo through a round hole by Beverloo's law, C rho_b sqrt(g) (D - k d)^2.5 with C = 0.58 and k = 1.4.

    D is the ``outlet`` and d the ``diameter`` of a grain [m], rho_b the bulk density [kg/m^3] and g ``gravity`` [m/s^2]. A hole narrower
    than k d lets nothing through.
    """
    return BEVERLOO_C * bulk_density * math.sqrt(gravity) * max(0.0, outlet - BEVERLOO_K * diameter) ** 2.5


def expected_rate(recording: Recording, name: str) -> float | None:
    """[kg/s] by Beverloo's law through a sink or counter whose outlet the scene tells (``Discharge``); None: it does not."""
    for wanted in recording.scene.results:
        if isinstance(wanted, Discharge) and wanted.counter == name:
            return _beverloo(wanted, recording)
    return None


def _beverloo(wanted: Discharge, recording: Recording) -> float:
    """With the density and the mean diameter of the grains in the fullest frame, and gravity at the end."""
    s = Snapshot.read(recording, int(np.argmax(recording.grain_counts)))
    if not s.grain_count:
        return math.nan
    density = float(s.mass.sum() / (4 / 3 * np.pi * s.radius**3).sum())
    gravity = float(np.linalg.norm(recording.scene.gravity.acceleration))
    return beverloo_rate(wanted.outlet, 2 * float(s.radius.mean()), wanted.packing_fraction * density, gravity)


def discharge_numbers(wanted: Discharge, recording: Recording) -> dict[str, float]:
    """Mean rate of an outlet [kg/s] with its error, and Beverloo's."""
    flow = FlowRate.of(recording, wanted.counter)
    return {
        "discharge_rate": flow.mean.value,
        "discharge_rate_error": flow.mean.error,
        "beverloo_rate": _beverloo(wanted, recording),
    }
