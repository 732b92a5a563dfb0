"""Records of benchmarks: a CSV file with a row for each figure, which grows and is never written anew.

A record that begins is put in its place whole. Rows are added by one write at the end of the file, so that several processes may do so at
once; if the disk does not take all of them, the file gets its old length back.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from ..checks import InputError, OutputError
from ..io.draft import Draft
from .machine import measured_with

COLUMNS = ("date", "version", "commit", "cpu", "cores", "threads", "python", "numpy", "numba", "benchmark", "figure", "value", "unit")
WITH = ("date", "version", "commit", "cpu", "cores", "python", "numpy", "numba")
"""What all rows of one call have in common."""
WAY_OUT = "Mend it, or choose another name."


def check_record(path: Path) -> None:
    """Refuse a file that cannot be a record, before anything is measured."""
    if path.suffix.lower() != ".csv":
        raise InputError(f"record {path} must end in .csv.")
    if not path.parent.is_dir():
        raise InputError(f"record {path} cannot be written: the folder {path.parent} does not exist.")
    if path.is_dir():
        raise InputError(f"record {path} cannot be written: it is a folder.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise InputError(f"record {path} cannot be written: no permission. Choose another place.")
    if path.exists():
        read_record(path)


def read_record(path: Path) -> list[dict[str, str]]:
    """The rows of a record; InputError for a file that is none, or is broken."""
    try:
        text = path.read_bytes().decode()
        lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except FileNotFoundError:
        raise InputError(f"record {path} does not exist.") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} is no record of granum: it is no table of comma-separated values ({error}). {WAY_OUT}") from None
    if not lines or tuple(lines[0]) != COLUMNS:
        raise InputError(f"{path} is no record of granum: its first line must be {','.join(COLUMNS)}. {WAY_OUT}")
    if not text.endswith("\n"):
        raise InputError(f"record {path} is broken: its last line has no end. {WAY_OUT}")
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(COLUMNS):
            raise InputError(f"record {path} is broken: row {number} has {len(line)} values and must have {len(COLUMNS)}. {WAY_OUT}")
        if not is_number(line[COLUMNS.index("value")]):
            raise InputError(f"record {path} is broken: the value of row {number} is no number. {WAY_OUT}")
    return [dict(zip(COLUMNS, line, strict=True)) for line in lines[1:]]


def is_number(text: str) -> bool:
    """As a value of a record must be."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def append_record(path: Path, figures: Iterable[Mapping[str, Any]]) -> int:
    """Add a row for each of these figures (:func:`.figures.figures_of`) to a record, which may be new; returns how many."""
    common = measured_with()
    rows = [{**common, **figure} for figure in figures]
    try:
        if not path.exists():
            try:
                _begin(path, _lines([dict(zip(COLUMNS, COLUMNS, strict=True)), *rows]))
                return len(rows)
            except FileExistsError:  # another process was first
                pass
        read_record(path)
        _append(path, _lines(rows))
    except OSError as error:
        raise OutputError(f"record {path} cannot be written ({error.strerror or error}); what was there is as it was.") from error
    return len(rows)


def _lines(rows: list[dict[str, Any]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([row[name] for name in COLUMNS] for row in rows)
    return text.getvalue().encode()


def _begin(path: Path, content: bytes) -> None:
    draft = Draft(path)
    with open(draft.handle, "wb", closefd=False) as file:
        file.write(content)
    try:
        draft.become_target()
    finally:
        draft.drop()
        os.close(draft.handle)


def _append(path: Path, content: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))
    try:
        length = os.fstat(handle).st_size
        if os.write(handle, content) < len(content):
            os.ftruncate(handle, length)
            raise OSError(None, "the disk is full")
        os.fsync(handle)
    finally:
        os.close(handle)


def record_table(path: Path | str) -> str:
    """A record as Markdown: a table for each call that recorded, the newest first."""
    rows = sorted(read_record(Path(path)), key=lambda row: [row[name] for name in WITH], reverse=True)
    parts = []
    for _, together in groupby(rows, key=lambda row: [row[name] for name in WITH]):
        several = list(together)
        one = several[0]
        cores = "1 core" if one["cores"] == "1" else f"{one['cores']} cores"
        source = f"granum {one['version']}" + (
            f", commit {one['commit'][:10]}{'-dirty' * one['commit'].endswith('-dirty')}" if one["commit"] else ""
        )
        parts += [
            f"{one['date']}: {source}; {one['cpu']}, {cores}; Python {one['python']}, NumPy {one['numpy']}, Numba {one['numba']}",
            "",
            "| benchmark | figure | value | unit | threads |",
            "|---|---|--:|---|--:|",
            *(f"| {r['benchmark']} | {r['figure']} | {float(r['value']):.4g} | {r['unit']} | {r['threads']} |" for r in several),
            "",
        ]
    return "\n".join(parts)
