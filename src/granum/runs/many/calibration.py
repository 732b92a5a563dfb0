"""What a calibration has found: its tries, the curve through them, and the best value with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ...analysis.repeats import Repeats
from ...array_types import FloatArray
from ...units import read_as
from .csv_file import write_table
from .search import Curve, places

LOGARITHMIC = 100.0  # a range whose ends differ by this factor is searched on a logarithmic scale
DIGITS = 5  # of values that are tried


@dataclass(frozen=True)
class Fit:
    """A parameter that is fitted, with its range."""

    name: str
    low: float
    high: float
    unit: str = ""
    whole: bool = False

    @property
    def logarithmic(self) -> bool:
        return self.low > 0 and self.high / self.low >= LOGARITHMIC

    def value(self, x: float) -> float | int:
        """At ``x`` in [0, 1] of the range, with few digits."""
        value = self.low * (self.high / self.low) ** x if self.logarithmic else self.low + (self.high - self.low) * x
        return round(value) if self.whole else min(self.high, max(self.low, float(f"{value:.{DIGITS}g}")))

    def scaled(self, value: float) -> float:
        """Where in the range, 0 to 1."""
        if self.logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class Target:
    """What is to be met."""

    measure: str
    value: float
    tolerance: float
    unit: str = ""
    written: tuple[str, str] = ("", "")
    """Units that value and tolerance were given in; none: in that of the measure."""

    def in_unit(self, unit: str) -> Target:
        """The same in the unit of the measure, which is known once a run has been measured."""
        name, given = f"--target {self.measure}", zip((self.value, self.tolerance), self.written, strict=True)
        value, tolerance = (read_as(name, f"{number!r} {written}", unit) if written else number for number, written in given)
        return Target(self.measure, value, tolerance, unit)

    @property
    def words(self) -> str:
        return f"{self.measure} = {self.value:g} +- {self.tolerance:g} {self.unit}".rstrip()


@dataclass(repr=False)
class Calibration:
    """The result of :func:`granum.calibrate`."""

    scene: str
    fits: list[Fit]
    target: Target
    tries: list[tuple[tuple[Any, ...], Repeats]]
    """Values of the parameters, and what was measured with them."""
    rows: list[dict[str, Any]]
    """One for each run."""
    columns: tuple[str, ...]
    """Of the rows."""
    curve: Curve | None
    """Through the tries; None: fewer than two have a number."""
    notes: list[str] = field(default_factory=list)
    """Words of the runs about numbers that are missing, and warnings."""
    csv: Path | None = None
    picture: Path | None = None

    def __post_init__(self) -> None:
        self._x = places(len(self.fits))
        nothing = np.full(len(self._x), math.nan)
        self._mean: FloatArray
        self._error: FloatArray
        self._mean, self._error = self.curve.at(self._x) if self.curve is not None else (nothing, nothing)

    @property
    def nearest(self) -> tuple[tuple[Any, ...], Repeats]:
        """The try that comes nearest to the target."""
        return min((one for one in self.tries if one[1].runs), key=lambda one: abs(one[1].mean - self.target.value))

    @property
    def met(self) -> bool:
        """Whether a try is within the tolerance."""
        return any(abs(one.mean - self.target.value) <= self.target.tolerance for _, one in self.tries if one.runs)

    @property
    def done(self) -> bool:
        """... and the curve is known to the tolerance where it meets the target."""
        return self.met and float(self._error[self._best]) <= self.target.tolerance

    @property
    def reached(self) -> tuple[float, float]:
        """Least and largest mean of a try."""
        means = [one.mean for _, one in self.tries if one.runs]
        return (min(means), max(means)) if means else (math.nan, math.nan)

    @property
    def _best(self) -> int:
        return int(np.lexsort((self._error, np.abs(self._mean - self.target.value)))[0])

    @property
    def best(self) -> dict[str, Any] | None:
        """Values with which the curve meets the target; None: no try does."""
        return {one.name: one.value(float(x)) for one, x in zip(self.fits, self._x[self._best], strict=True)} if self.met else None

    @property
    def interval(self) -> dict[str, tuple[Any, Any]] | None:
        """Of every parameter: where the curve is within the tolerance and its own standard error of the target, around the best value."""
        if not self.met:
            return None
        fits = np.abs(self._mean - self.target.value) <= np.hypot(self.target.tolerance, self._error)
        fits[self._best] = True
        if len(self.fits) == 1:  # what hangs together with the best value
            outside = np.flatnonzero(~fits)
            first, last = outside[outside < self._best].max(initial=-1) + 1, outside[outside > self._best].min(initial=len(fits)) - 1
            ends = self._x[[first, last]]
        else:
            ends = np.array([self._x[fits].min(axis=0), self._x[fits].max(axis=0)])
        return {one.name: (one.value(float(ends[0, k])), one.value(float(ends[1, k]))) for k, one in enumerate(self.fits)}

    @property
    def units(self) -> dict[str, str]:
        """Of columns that have one."""
        return {one.name: one.unit for one in self.fits if one.unit} | {self.target.measure: self.target.unit, "wall_time": "s"}

    def table(self) -> dict[str, np.ndarray]:
        """The tries as columns: parameters, runs, mean, standard deviation and standard error of the measure."""
        columns = {one.name: np.array([values[k] for values, _ in self.tries]) for k, one in enumerate(self.fits)}
        return columns | {
            "runs": np.array([one.runs for _, one in self.tries]),
            "mean": np.array([one.mean for _, one in self.tries]),
            "std": np.array([one.std for _, one in self.tries]),
            "standard_error": np.array([one.error for _, one in self.tries]),
        }

    @property
    def summary(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        table = {name: column.tolist() for name, column in self.table().items()}
        target = {"measure": self.target.measure, "value": self.target.value, "tolerance": self.target.tolerance, "unit": self.target.unit}
        at_best = (
            {"mean": float(self._mean[self._best]), "standard_error": float(self._error[self._best])} if self.curve is not None else None
        )
        return {
            "scene": self.scene,
            "target": target,
            "best": self.best,
            "interval": self.interval,
            "expected": at_best,
            "reached": list(self.reached),
            "tries": [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)],
            "runs": self.rows,
            "csv": str(self.csv) if self.csv is not None else None,
            "picture": str(self.picture) if self.picture is not None else None,
        }

    def plot(self, path: str | Path | None = None) -> Any:
        """A matplotlib figure: tries, the curve through them, the target, and the best value with its interval."""
        from ...plot.many import draw_calibration
        from ...plot.style import save

        table, at = self.table(), self._x[self._best]
        curves = []
        for k, one in enumerate(self.fits):
            x = np.tile(at, (200, 1))
            x[:, k] = np.linspace(0, 1, 200)
            mean, error = self.curve.at(x) if self.curve is not None else (np.full(200, math.nan),) * 2
            curve: dict[str, FloatArray] = {"x": np.array([float(one.value(u)) for u in x[:, k]]), "mean": mean, "std": error}
            best, interval = self.best, self.interval
            if best is not None and interval is not None:
                curve |= {name: np.array(v) for name, v in zip(("best", "low", "high"), (best[one.name], *interval[one.name]), strict=True)}
            curves.append(curve)
        tries = {str(k): table[one.name] for k, one in enumerate(self.fits)} | {"mean": table["mean"], "error": table["standard_error"]}
        names = [f"{one.name} [{one.unit}]" if one.unit else one.name for one in self.fits]
        measure = f"{self.target.measure} [{self.target.unit}]" if self.target.unit else self.target.measure
        title = f"{self.scene}: {self.target.words}"
        drawn = draw_calibration(title, tries, curves, (self.target.value, self.target.tolerance), (names, measure))
        if path is not None:
            save(drawn, Path(path), title)
        return drawn

    def write(self, path: Path, picture: bool) -> None:
        """The table of all runs, and the picture beside it."""
        write_table(path, self.columns, self.units, self.rows)
        self.csv = path
        if picture:
            self.picture = path.with_suffix(".png")
            self.plot(self.picture)

    def __repr__(self) -> str:
        best = ", ".join(f"{name} = {value:g}" for name, value in self.best.items()) if self.best is not None else "not met"
        return f"Calibration({self.scene}, {self.target.words}: {best}, {len(self.tries)} tries)"
