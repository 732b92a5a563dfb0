"""The wording of every bad-input message: name, rule, value, way out."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import ValidationError


class InputError(ValueError):
    """Bad input: the command line prints the message and exits with 2."""


class RunError(RuntimeError):
    """A run that had to stop; the message names time, place and the last checkpoint. Exit code 1."""


class OutputError(RunError):
    """The disk does not take what a run writes (full, gone, read-only); all written before is whole. Exit code 2."""


def finite_positive(name: str, value: float, unit: str = "") -> float:
    """``value`` if it is a finite number above zero, else a refusal in words."""
    if not (isinstance(value, (int, float)) and math.isfinite(value) and value > 0):
        raise InputError(f"{name} must be a finite number above 0{f' {unit}' if unit else ''} (got {value!r}).")
    return float(value)


def known_name(kind: str, name: str, known: Iterable[str]) -> str:
    """``name`` if it is one of ``known``, else a refusal that shows the right ones."""
    names = sorted(known)
    if name not in names:
        near = difflib.get_close_matches(name, names, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise InputError(f"unknown {kind} {name!r}; choose one of: {', '.join(map(repr, names))}.{hint}")
    return name


def explain(error: ValidationError, where: str, given: Any = None) -> InputError:
    """A pydantic error as one message: field, rule and value of everything that is wrong.

    ``given`` is what was checked: names that pydantic adds for its own kinds of records are then left out of the fields.
    """
    lines = []
    items = error.errors(include_url=False)
    for item in items:
        if any(len(other["loc"]) > len(item["loc"]) and other["loc"][: len(item["loc"])] == item["loc"] for other in items):
            continue  # a list is only said to be too short because its one entry is wrong
        field = ".".join(str(part) for part in _written(item["loc"], given)) or where
        rule, value = item["msg"].removeprefix("Value error, "), item.get("input")
        if item["type"] == "extra_forbidden":
            rule = "is not a known key"
        elif item["type"] == "union_tag_invalid":  # a kind of record that there is not
            kinds = item["ctx"]
            key = kinds["discriminator"].strip("'")
            field, rule, value = f"{field}.{key}", f"must be one of {kinds['expected_tags']}", kinds["tag"]
        lines.append(f"  {field}: {rule} (got {_short(value)})")
    return InputError(f"{where} is not valid:\n" + "\n".join(lines))


def _written(place: tuple[int | str, ...], given: Any) -> list[int | str]:
    """``place`` without the parts that are not in ``given``, but for the last: a key may be missing or unknown."""
    if given is None:
        return list(place)
    parts: list[int | str] = []
    for n, part in enumerate(place):
        there = part in given if isinstance(given, dict) else isinstance(given, (list, tuple)) and isinstance(part, int)
        if there or n == len(place) - 1:
            parts.append(part)
            given = given[part] if there else None
    return parts


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
