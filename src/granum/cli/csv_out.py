"""``--csv``, the same for every table: lines of comma-separated values on stdout, names in the first line, units in brackets.

A table comes as it is, a line for each of its rows. A summary comes in one line, so that those of many runs can be put below each other.
Its columns have the names of ``--json``, those of nested parts joined by dots. Lists are in ``--json`` alone, but for parts that have names
(``sinks.outlet.mass``).
"""

from __future__ import annotations

import csv
import inspect
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import typer

from ..checks import InputError
from .console import finite
from .options import OUTPUT, option

HELP = "Comma-separated values on stdout."
CsvFlag = Annotated[bool, typer.Option("--csv", help=HELP)]


def csv_option(help: str = HELP, panel: str | None = OUTPUT) -> inspect.Parameter:
    """``--csv``, for commands whose parameters are made."""
    return option("as_csv", bool, "--csv", help=help, default=False, panel=panel)


def one_format(as_json: bool, as_csv: bool) -> None:
    """Refuse both at once, before anything is computed."""
    if as_json and as_csv:
        raise InputError("--json and --csv exclude each other: give one of them.")


def print_rows(rows: Iterable[Mapping[str, Any]], units: Mapping[str, str] | None = None) -> None:
    """A line for each row; what a row lacks is empty."""
    flat = [flattened(row) for row in rows]
    names = list(dict.fromkeys(name for row in flat for name in row))
    print_columns({name: [row.get(name) for row in flat] for name in names}, units or {})


def print_columns(columns: Mapping[str, Sequence[Any]], units: Mapping[str, str]) -> None:
    """A line for each row of equally long columns; what is no number is empty."""
    lines = csv.writer(sys.stdout, lineterminator="\n")
    lines.writerow([f"{name} [{unit}]" if (unit := units.get(name)) else name for name in columns])
    lines.writerows(zip(*(finite(list(column)) for column in columns.values()), strict=True))
    sys.stdout.flush()


def flattened(content: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The numbers and texts of nested tables, their names joined by dots; lists of tables by the names in these, other lists left out."""
    found: dict[str, Any] = {}
    for name, value in content.items():
        place = f"{prefix}{name}"
        if isinstance(value, Mapping):
            found |= flattened(value, f"{place}.")
        elif isinstance(value, (list, tuple)):
            for part in value:
                if isinstance(part, Mapping) and part.get("name"):
                    found |= flattened({key: v for key, v in part.items() if key != "name"}, f"{place}.{part['name']}.")
        else:
            found[place] = value
    return found
