"""Two runs side by side (PP section 5): the same measures in time, their means, and how far apart these are.

PP (5.1) divides the difference of the two means by the range of both series. That is a measure for runs in a steady state: where the
series still drift the range is that of the drift, and PP takes the relative difference of the means instead. Both are given, with the
drift.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..array_types import FloatArray
from ..checks import InputError
from ..io import Recording
from ..io.packing import is_packing
from .contact_errors import overlap_ratio
from .energy import scaled_kinetic_energy
from .snapshot import Snapshot

HIGHEST = 20  # grains whose mean height is the surface (PP 5.1)
FEWEST_FRAMES = 2


def mean_overlap_in_diameters(snapshot: Snapshot) -> float:
    """Mean overlap of all contacts in diameters; 0 without contacts."""
    found = overlap_ratio(snapshot)
    return float(found.mean()) if len(found) else 0.0


def top_height(snapshot: Snapshot) -> float:
    """Mean height [m] of the 20 highest grains, against gravity; NaN without grains."""
    s, g = snapshot, snapshot.gravity_strength
    up = -s.gravity / g if g > 0 else np.array([0.0, 0.0, 1.0])
    height = np.sort((s.position @ up)[~s.static])
    return float(height[-HIGHEST:].mean()) if len(height) else math.nan


def overlap_sums(snapshot: Snapshot) -> FloatArray:
    """(N,) sum of the overlaps of each grain's contacts, in its diameters (PP Fig. 5.7)."""
    s = snapshot
    pair = s.b >= 0
    total = np.bincount(s.a, s.overlap, s.grain_count) + np.bincount(s.b[pair], s.overlap[pair], s.grain_count)
    return (total / (2 * s.radius))[~s.static]


MEASURES: dict[str, tuple[str, Callable[[Snapshot], float]]] = {  # unit and function
    "overlap": ("d", mean_overlap_in_diameters),
    "kinetic_energy": ("m g d", scaled_kinetic_energy),
    "contacts": ("", lambda s: float(s.contact_count)),
    "surface_height": ("m", top_height),
}


def range_error(a: FloatArray, b: FloatArray) -> float:
    """PP (5.1): |<a> - <b>| over the range of both; 0 for two that are constant and equal."""
    span = max(np.max(a), np.max(b)) - min(np.min(a), np.min(b))
    return abs(float(np.mean(a)) - float(np.mean(b))) / float(span) if span > 0 else 0.0 if span == 0 else math.nan


@dataclass(frozen=True)
class SeriesComparison:
    """One measure of two runs in time."""

    name: str
    unit: str
    time_a: FloatArray  # (n,) [s]
    a: FloatArray  # (n,)
    time_b: FloatArray  # (m,) [s]
    b: FloatArray  # (m,)

    @property
    def mean_a(self) -> float:
        return float(self.a.mean())

    @property
    def mean_b(self) -> float:
        return float(self.b.mean())

    @property
    def error(self) -> float:
        """PP (5.1)."""
        return range_error(self.a, self.b)

    @property
    def mean_difference(self) -> float:
        """|<a> - <b>| / |<a>| (PP Table 5.2)."""
        return relative(self.mean_a, self.mean_b)

    @property
    def drift(self) -> float:
        """How much the mean of the second half differs from that of the first, over the range; the larger of both runs. Steady: small."""
        return max(range_error(k[: len(k) // 2], k[len(k) // 2 :]) for k in (self.a, self.b))


@dataclass(frozen=True)
class HistogramComparison:
    """Of a number that every grain has, over all frames: the bins are common to both runs."""

    name: str
    unit: str
    edges: FloatArray  # (n + 1,)
    density_a: FloatArray  # (n,)
    density_b: FloatArray  # (n,)
    mean: tuple[float, float]
    median: tuple[float, float]
    std: tuple[float, float]

    @property
    def mean_difference(self) -> float:
        """|<a> - <b>| / |<a>|."""
        return relative(*self.mean)


@dataclass(frozen=True)
class Comparison:
    """Two runs between ``since`` and ``until`` [s]."""

    names: tuple[str, str]
    since: float
    until: float
    series: tuple[SeriesComparison, ...]
    overlap_sums: HistogramComparison

    def __getitem__(self, name: str) -> SeriesComparison:
        return next(found for found in self.series if found.name == name)

    def table(self) -> list[dict[str, float | str]]:
        """A row for each measure."""
        return [
            {
                "measure": k.name,
                "unit": k.unit,
                "mean_a": k.mean_a,
                "mean_b": k.mean_b,
                "error": k.error,
                "mean_difference": k.mean_difference,
                "drift": k.drift,
            }
            for k in self.series
        ]


def compare(
    a: Recording | str | Path, b: Recording | str | Path, *, since: float | None = None, until: float | None = None, bins: int = 40
) -> Comparison:
    """Two recordings between ``since`` and ``until`` [s]; none: the second half of the time that both cover."""
    if since is not None and until is not None and not since < until:
        raise InputError(f"since must lie before until (got since {since:g} s, until {until:g} s). Exchange them.")
    runs = [run if isinstance(run, Recording) else Recording(run) for run in (a, b)]
    try:
        for run in runs:
            if is_packing(run):
                raise InputError(f"{run.path} holds packings, which have no time: runs alone are compared. Measure them with `analyse`.")
            if len(run) < FEWEST_FRAMES:
                raise InputError(f"{run.path} holds {len(run)} frames; a comparison needs {FEWEST_FRAMES} or more.")
        end = min(float(run.times[-1]) for run in runs) if until is None else until
        start = max(*(float(run.times[0]) for run in runs), end / 2) if since is None else since
        found = [_measure(run, start, end) for run in runs]
    finally:
        for run, given in zip(runs, (a, b), strict=True):
            if run is not given:
                run.close()
    (time_a, series_a, sums_a), (time_b, series_b, sums_b) = found
    series = tuple(SeriesComparison(name, unit, time_a, series_a[name], time_b, series_b[name]) for name, (unit, _) in MEASURES.items())
    return Comparison((str(runs[0].path), str(runs[1].path)), start, end, series, compare_sums(sums_a, sums_b, bins))


def _measure(run: Recording, since: float, until: float) -> tuple[FloatArray, dict[str, FloatArray], FloatArray]:
    slack = 1e-9 * max(abs(since), abs(until))
    chosen = np.flatnonzero((run.times >= since - slack) & (run.times <= until + slack))
    if len(chosen) < FEWEST_FRAMES:
        raise InputError(
            f"{run.path} has {len(chosen)} frames from {since:g} to {until:g} s; a comparison needs {FEWEST_FRAMES} or more. "
            f"Its frames go from {run.times[0]:g} to {run.times[-1]:g} s: choose another time."
        )
    rows, sums = [], []
    for index in chosen:
        s = Snapshot.read(run, int(index))
        rows.append([measure(s) for _, measure in MEASURES.values()])
        sums.append(overlap_sums(s))
    return run.times[chosen], dict(zip(MEASURES, np.array(rows).T, strict=True)), np.concatenate(sums)


def compare_sums(a: FloatArray, b: FloatArray, bins: int = 40) -> HistogramComparison:
    """Overlap sums of two runs in common bins."""
    top = max(float(a.max(initial=0.0)), float(b.max(initial=0.0)))
    edges = np.linspace(0.0, top if top > 0 else 1.0, bins + 1)
    density = [np.histogram(x, edges)[0] / (max(len(x), 1) * np.diff(edges)) for x in (a, b)]
    mean, median, std = ([float(of(x)) if len(x) else math.nan for x in (a, b)] for of in (np.mean, np.median, np.std))
    return HistogramComparison(
        "overlap_sum", "d", edges, density[0], density[1], mean=(mean[0], mean[1]), median=(median[0], median[1]), std=(std[0], std[1])
    )


def relative(a: float, b: float) -> float:
    """|a - b| / |a|."""
    return abs(a - b) / abs(a) if a != 0 else 0.0 if b == 0 else math.inf
