"""What is varied, read from a few characters: ranges and lists, the same in Python and on the command line.

``a:b:n`` are n values from a to b, both included; ``a:b`` are the whole numbers from a up to, but not including b, as in Python, so that
``0:200`` are 200 seeds; ``a,b,c`` are the values themselves.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ...checks import InputError

SEED = "seed"
MOST_RUNS = 100_000
DIGITS = 12  # of values between the ends of a range: 0.6 instead of 0.6000000000000001
NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\d\s:,.][^:,]*)?\s*")
RANGES = (
    "LOW:HIGH:N are N values from LOW to HIGH, LOW:HIGH the whole numbers from LOW up to, but not including HIGH, "
    "and 1,2,5 the values themselves"
)


@dataclass(frozen=True)
class Varied:
    """A parameter with its values."""

    name: str
    values: tuple[Any, ...]
    """As a scene takes them."""
    shown: tuple[Any, ...]
    """As tables and figures show them: numbers where they are numbers."""
    unit: str = ""
    """As it was typed; none: that of the scene."""


def read_varied(given: Mapping[str, Any] | Iterable[str], whole: Mapping[str, bool] | None = None, option: str = "--vary") -> list[Varied]:
    """All that is varied: ``{"friction": "0.2:0.8:4"}``, ``{"seed": range(3)}``, or texts such as ``friction=0.2:0.8:4``.

    ``whole`` tells of parameters whether they are whole numbers, as far as that is known.
    """
    pairs = list(given.items()) if isinstance(given, Mapping) else [split_pair(text, option) for text in given]
    found: list[Varied] = []
    for name, values in pairs:
        if name in [one.name for one in found]:
            raise InputError(f"{option} names {name!r} twice: put its values into one list.")
        known = True if name == SEED else (whole or {}).get(name)
        found.append(_read_text(name, values, known, option) if isinstance(values, str) else _listed(name, list(values), option))
    runs = math.prod(len(one.values) for one in found)
    if runs > MOST_RUNS:
        raise InputError(f"{option} asks for {runs} runs; the most is {MOST_RUNS}. Take fewer values.")
    return found


def split_pair(text: str, option: str) -> tuple[str, str]:
    """Name and value of ``name=value``."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise InputError(f"{option} needs NAME=VALUES, such as friction=0.2:0.8:4 (got {text!r}).")
    return name.strip(), value.strip()


def combinations(varied: Sequence[Varied]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Every combination: the values for the scene, and as they are shown. The last parameter changes fastest."""
    names = [one.name for one in varied]
    values, shown = (product(*(getattr(one, part) for one in varied)) for part in ("values", "shown"))
    return [(dict(zip(names, v, strict=True)), dict(zip(names, s, strict=True))) for v, s in zip(values, shown, strict=True)]


def read_seeds(seeds: str | int | Iterable[int], option: str = "--seeds") -> list[int]:
    """Seeds as they are, or as they are typed: ``0:200`` are 200 of them, ``1,5,9`` three."""
    text = isinstance(seeds, str)
    values: tuple[Any, ...] = tuple(seeds) if isinstance(seeds, Iterable) and not text else (seeds,)
    if isinstance(seeds, str):
        values = tuple(_read_text(SEED, seeds, True, option).shown)
    found = []
    for value in values:
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
            raise InputError(f"{option} must be whole numbers, 0 or more, such as 0:5 or 1,2,7 (got {seeds if text else value!r}).")
        found.append(int(value))
    if not found or len(set(found)) < len(found):
        raise InputError(f"{option} must be one seed or more, each of them once (got {seeds!r}).")
    return found


def read_range(name: str, text: Any, option: str = "--fit") -> tuple[float, float, str]:
    """Ends of a range ``a:b``, and their unit."""
    parts = text.split(":") if isinstance(text, str) else list(text)
    if len(parts) != 2:
        raise InputError(f"{option} {name} needs a range LOW:HIGH, such as 0.1:1 (got {text!r}).")
    (low, unit), (high, _) = _ends(name, [str(part) for part in parts], str(text), option)
    return low, high, unit


def _read_text(name: str, text: str, whole: bool | None, option: str) -> Varied:
    items = _split_list(text)
    parts = text.split(":")
    if len(items) > 1 or len(parts) == 1 or NUMBER.fullmatch(parts[0]) is None:
        return _listed(name, items, option)
    if len(parts) > 3:
        raise InputError(f"{option} {name}={text} cannot be read: {RANGES}.")
    (low, unit), (high, _) = _ends(name, parts[:2], text, option)
    if len(parts) == 3:
        return _spaced(name, (low, high, unit), parts[2], text, whole, option)
    if whole is False or not (low.is_integer() and high.is_integer()) or unit:
        raise InputError(f"{option} {name}={text} needs the number of values, such as {name}={text}:5, since {RANGES}.")
    if whole is None and high - low < 2:
        raise InputError(f"{option} {name}={text} is a single value, as the end is not included: {RANGES}.")
    _few(high - low, name, text, option)
    numbers = tuple(range(int(low), int(high)))
    return Varied(name, numbers, numbers)


def _spaced(name: str, ends: tuple[float, float, str], count: str, text: str, whole: bool | None, option: str) -> Varied:
    """Values of a range with a number of them."""
    low, high, unit = ends
    if not count.strip().isdigit() or int(count) < 2:
        raise InputError(f"{option} {name}={text}: the number of values must be 2 or more (got {count!r}).")
    _few(int(count), name, text, option)
    numbers: list[Any] = [float(f"{x:.{DIGITS}g}") for x in np.linspace(low, high, int(count))]
    if whole:
        if broken := [x for x in numbers if not x.is_integer()]:
            raise InputError(f"{option} {name}={text} gives {broken[0]:g}, and {name} is a whole number. Take another count, or a list.")
        numbers = [int(x) for x in numbers]
    return Varied(name, tuple(f"{x!r}{unit}" for x in numbers) if unit else tuple(numbers), tuple(numbers), unit)


def _ends(name: str, parts: Sequence[str], text: str, option: str) -> list[tuple[float, str]]:
    found = []
    for part in parts:
        match = NUMBER.fullmatch(part)
        if match is None or not math.isfinite(float(match[1])):
            raise InputError(f"{option} {name}={text}: {part!r} is not a number. {RANGES}.")
        found.append((float(match[1]), (match[2] or "").strip()))
    (low, unit), (high, other) = found
    if unit != other:
        raise InputError(f"{option} {name}={text}: write both ends with the same unit (got {unit or 'none'!r} and {other or 'none'!r}).")
    if not low < high:
        raise InputError(f"{option} {name}={text} must have its lower end first: {name}={parts[1]}:{parts[0]}.")
    return found


def _few(count: float, name: str, text: str, option: str) -> None:
    if count > MOST_RUNS:
        raise InputError(f"{option} {name}={text} has {count:.6g} values; the most is {MOST_RUNS}.")


def _listed(name: str, items: list[Any], option: str) -> Varied:
    """Values that are given one by one; texts stay as they are, for the scene to read."""
    if not items or any(isinstance(item, str) and not item for item in items):
        raise InputError(f"{option} {name} has an empty value. {RANGES}.")
    shown: list[Any] = [_plain(item) for item in items]
    units = {unit for _, unit in shown}
    one_unit = units.pop() if len(units) == 1 and all(isinstance(number, (int, float)) for number, _ in shown) else ""
    told = tuple(number if one_unit or not unit else item for item, (number, unit) in zip(items, shown, strict=True))
    if len(set(map(repr, told))) < len(told):
        raise InputError(f"{option} {name} has a value twice (got {', '.join(map(str, items))}).")
    values = tuple(item if unit else number for item, (number, unit) in zip(items, shown, strict=True))
    return Varied(name, values, told, one_unit)


def _plain(item: Any) -> tuple[Any, str]:
    """Number and unit of an item, if it is one; else the item."""
    if isinstance(item, np.generic):
        return item.item(), ""
    match = NUMBER.fullmatch(item) if isinstance(item, str) else None
    if match is None:
        return item, ""
    number = float(match[1])
    return (int(match[1]) if re.fullmatch(r"[-+]?\d+", match[1]) else number), (match[2] or "").strip()


def _split_list(text: str) -> list[str]:
    """At commas that stand outside of brackets and quotes."""
    items, depth, quoted = [""], 0, ""
    for letter in text:
        if quoted:
            quoted = "" if letter == quoted else quoted
        elif letter in "\"'":
            quoted = letter
        else:
            depth += (letter in "[{(") - (letter in "]})")
        if letter == "," and not depth and not quoted:
            items.append("")
        else:
            items[-1] += letter
    return [item.strip() for item in items]
