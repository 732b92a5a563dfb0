"""Tables of runs as CSV files: a row for each run, units in the first line."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...checks import InputError, OutputError
from ..output import check_folder, is_picture


def check_table(path: Path, picture: bool, parameters: Sequence[str], points: Iterable[Mapping[str, Any]] | None = None) -> None:
    """Refuse a place that cannot be written, or a file that is no table of these runs: its rows would be lost.

    ``points`` none: they are not known in advance, and any table with these parameters will do.
    """
    if path.suffix.lower() != ".csv":
        raise InputError(f"output {path} must end in .csv: it becomes a table, with the picture beside it.")
    check_folder(path)
    if path.exists():
        asked = {tuple(_cell(point[name]) for name in parameters) for point in points} if points is not None else None
        if not _is_of(path, parameters, asked):
            raise InputError(
                f"{path} exists and has rows that are not of these runs: they would be lost. Move it away, or choose another name."
            )
    drawn = path.with_suffix(".png")
    if picture and drawn.exists() and not is_picture(drawn):
        raise InputError(f"{drawn} exists and is not a file of granum. Move it away, choose another name, or leave the picture out.")


def _is_of(path: Path, parameters: Sequence[str], asked: set[tuple[str, ...]] | None) -> bool:
    try:
        with open(path, newline="", encoding="utf-8") as file:
            head, *rows = csv.reader(file)
    except (ValueError, csv.Error):  # empty, or no text
        return path.stat().st_size == 0
    names = [name.partition(" [")[0] for name in head]
    if not set(parameters) <= set(names):
        return False
    places = [names.index(name) for name in parameters]
    return asked is None or all(len(row) == len(head) and tuple(row[k] for k in places) in asked for row in rows)


def heading(name: str, units: Mapping[str, str]) -> str:
    """``repose.angle [degrees]``"""
    return f"{name} [{unit}]" if (unit := units.get(name)) else name


def write_table(path: Path, names: Sequence[str], units: Mapping[str, str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Whole or not at all; what is not there is left empty."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow([heading(name, units) for name in names])
    lines.writerows([_cell(row.get(name)) for name in names] for row in rows)
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        draft.write_text(text.getvalue(), encoding="utf-8")
        os.replace(draft, path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise OutputError(
            f"output {path} cannot be written ({error.strerror or error}). Finished runs are kept: choose another place."
        ) from error


def _cell(value: Any) -> str:
    if value is None or value != value:
        return ""
    return repr(value) if isinstance(value, float) else str(value)
