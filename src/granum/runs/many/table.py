"""What many runs gave: a row for each, their means over the seeds, and a picture."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ...analysis.repeats import Repeats, group_by
from .csv_file import heading, write_table
from .measured import RESULTS, WARNING
from .vary import SEED

LAST = ("steps", "wall_time", "state_hash", "failed")
"""Columns behind the measures: steps, wall time [s], hash of the last state, and why a run failed."""


@dataclass(repr=False)
class RunTable:
    """The result of :func:`granum.sweep` and :func:`granum.jam_many`."""

    title: str
    parameters: tuple[str, ...]
    """Columns of what was varied."""
    measures: tuple[str, ...]
    """Columns of what was measured."""
    units: dict[str, str]
    """Of columns that have one."""
    rows: list[dict[str, Any]] = field(repr=False)
    """One for each run, in the order of the combinations; None: there is no such number."""
    notes: list[str] = field(default_factory=list)
    """Words about numbers that are missing."""
    csv: Path | None = None
    picture: Path | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Names in the order of the table."""
        return (*self.parameters, *self.measures, *LAST)

    @property
    def all_units(self) -> dict[str, str]:
        """Of all columns that have one, the wall time among them."""
        return self.units | {"wall_time": "s"}

    def table(self) -> dict[str, np.ndarray]:
        """Columns of equal length by their names, as pandas takes them; a number that is not there is NaN."""
        found = {}
        for name in self.columns:
            values = [row.get(name) for row in self.rows]
            numeric = name in self.measures or name in LAST[:2] or all(isinstance(value, (int, float)) for value in values)
            if name in self.parameters and all(isinstance(value, int) for value in values):
                found[name] = np.array(values, int)
            else:
                found[name] = np.array([math.nan if v is None else v for v in values], float) if numeric else np.array(values, object)
        return found

    @property
    def grouped(self) -> tuple[str, ...]:
        """Parameters besides the seed."""
        return tuple(name for name in self.parameters if name != SEED)

    def means(self) -> list[dict[str, Any]]:
        """Mean, standard deviation and standard error over the seeds, for every combination of the other parameters and every measure."""
        columns = {name: [row.get(name) for row in self.rows] for name in self.columns}
        found: list[dict[str, Any]] = []
        for group in group_by(columns, self.grouped):
            for name in self.measures:
                one = Repeats.of(columns[name][k] for k in group.rows)
                numbers = {"runs": one.runs, "mean": one.mean, "std": one.std, "standard_error": one.error}
                found.append(
                    dict(zip(self.grouped, group.point, strict=True)) | {"measure": name, "unit": self.units.get(name, "")} | numbers
                )
        return found

    @property
    def failed(self) -> int:
        """Runs that had to stop."""
        return sum(row.get("failed") is not None for row in self.rows)

    @property
    def summary(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        return {
            "title": self.title,
            "parameters": list(self.parameters),
            "measures": list(self.measures),
            "units": self.all_units,
            "runs": self.rows,
            "means": self.means(),
            "failed": self.failed,
            "notes": self.notes,
            "csv": str(self.csv) if self.csv is not None else None,
            "picture": str(self.picture) if self.picture is not None else None,
        }

    def plot(self, path: str | Path | None = None) -> Any:
        """A matplotlib figure: measures over the first parameter with error bars, or histograms where only the seed differs."""
        from ...plot.many import draw_histograms, draw_sweep
        from ...plot.style import save

        columns, headings = self.table(), {name: heading(name, self.units) for name in self.columns}
        if self.grouped:
            drawn = draw_sweep(self.title, columns, self.grouped, self.measures, headings)
        else:
            drawn = draw_histograms(self.title, columns, self.measures, headings)
        if path is not None:
            save(drawn, Path(path), self.title)
        return drawn

    def write_csv(self, path: str | Path) -> None:
        """A row for each run, with units in the first line."""
        write_table(Path(path), self.columns, self.all_units, self.rows)

    def __repr__(self) -> str:
        return f"RunTable({self.title}, {len(self.rows)} runs, {', '.join(self.measures)})"

    def _repr_html_(self) -> str:
        names = (*self.grouped, "measure", "unit", "runs", "mean", "std", "standard_error")
        head = "".join(f"<th>{html.escape(heading(name, self.units))}</th>" for name in names)
        rows = "".join(f"<tr>{''.join(f'<td>{html.escape(shown(row[name]))}</td>' for name in names)}</tr>" for row in self.means())
        return f"<table><caption>{html.escape(self.title)}</caption><tr>{head}</tr>{rows}</table>"


def shown(value: Any) -> str:
    """A cell of a table for people."""
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.6g}"
    return "-" if value is None else str(value)


def row_of(point: dict[str, Any], result: dict[str, Any], columns: dict[str, str]) -> dict[str, Any]:
    """A row of a table: ``columns`` are names in the table and in the numbers of the result."""
    return point | {name: result["numbers"].get(key) for name, key in columns.items()} | {name: result[name] for name in LAST}


def missing(measures: Sequence[str], results: Sequence[dict[str, Any]]) -> list[str]:
    """Words of the runs about numbers that they do not have, and warnings: of each kind the first."""
    heads = {name.partition(".")[0] for name in measures}
    told: dict[str, list[str]] = {}
    for result in results:
        for name, note in result["notes"].items():
            if name in heads or name in (RESULTS, WARNING):
                told.setdefault(name, []).append(note)
    return [f"{name}, {len(notes)} of {len(results)} runs: {notes[0]}" for name, notes in told.items()]
