"""The wording of every bad-input message: name, rule, value, way out."""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pydantic import ValidationError

Value = TypeVar("Value")
MOST_LINES = 10  # of what is wrong with one input
MOST_KEYS = 24  # that are shown where one is unknown
MOST_STEPS = 2**53  # beyond, numbers of steps are not exact any more


class InputError(ValueError):
    """Bad input: the command line prints the message and exits with 2."""

    places: tuple[tuple[str, str, Any], ...] = ()
    """Of a record that is not valid: dotted field, rule and value of all that is wrong."""


class RunError(RuntimeError):
    """A run that had to stop; the message names time, place and the last checkpoint. Exit code 1."""


class OutputError(RunError):
    """The disk does not take what a run writes (full, gone, read-only); all written before is whole. Exit code 2."""


def finite_positive(name: str, value: float, unit: str = "") -> float:
    """``value`` if it is a finite number above zero, else a refusal in words."""
    if not (isinstance(value, (int, float)) and math.isfinite(value) and value > 0):
        raise InputError(f"{name} must be a finite number above 0{f' {unit}' if unit else ''} (got {value!r}).")
    return float(value)


def finite_number(name: str, value: float) -> float:
    """``value`` if it is a finite number, else a refusal in words."""
    if not (isinstance(value, (int, float)) and math.isfinite(value)):
        raise InputError(f"{name} must be a finite number (got {value!r}).")
    return float(value)


def expect(name: str, value: Any, *kinds: type) -> None:
    """A refusal in words if ``value`` is of none of these kinds."""
    if not isinstance(value, kinds):
        raise InputError(f"{name} must be a {' or '.join(kind.__name__ for kind in kinds)} (got {_short(value)}).")


def as_path(name: str, value: Any) -> Path:
    """``value`` as the path of a file; a refusal in words if it is none."""
    expect(name, value, str, os.PathLike)
    path = Path(value)
    if not path.name:
        raise InputError(f"{name} must be the name of a file (got {str(value)!r}).")
    return path


def check_seed(seed: Any) -> int:
    """``seed`` if random numbers can start from it, else a refusal in words."""
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise InputError(f"seed must be a whole number, 0 or more (got {_short(seed)}).")
    return int(seed)


def known_name(kind: str, name: Any, known: Iterable[str]) -> str:
    """``name`` if it is one of ``known``, else a refusal that shows the right ones."""
    names = sorted(known)
    if not isinstance(name, str) or name not in names:
        near = difflib.get_close_matches(name, names, n=1) if isinstance(name, str) else []
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise InputError(f"unknown {kind} {_short(name)}; choose one of: {', '.join(map(repr, names))}.{hint}")
    return name


class Named(dict[str, Value]):
    """Things by name; a name that is not there is refused with the right ones."""

    def __init__(self, kind: str, content: Mapping[str, Value]) -> None:
        super().__init__(content)
        self.kind = kind

    def __missing__(self, name: Any) -> Value:
        if not self:
            raise InputError(f"there is no {self.kind} {_short(name)}: the scene has none.")
        known_name(self.kind, name, self)
        raise AssertionError


def table(tree: Mapping[str, Any], *place: str) -> dict[str, Any]:
    """The table at ``place``, keys from the outside in; empty if it is not there, a refusal if something else is."""
    for n, key in enumerate(place):
        found = tree.get(key)
        if found is not None and not isinstance(found, Mapping):
            raise InputError(f"run.{'.'.join(place[: n + 1])} must be a table (got {_short(found)}).")
        tree = found or {}
    return dict(tree)


def steps_in(duration: float, time_step: float) -> int:
    """How many steps [s] a duration [s] has, to the nearest whole one and one at least; a refusal where no computer can count them."""
    steps = finite_positive("duration", duration, "s") / finite_positive("time_step", time_step, "s")
    if not steps <= MOST_STEPS:
        raise InputError(
            f"duration {duration:g} s has {steps:.2g} steps of {time_step:g} s; the most that can be counted is 2^53. "
            "Take a shorter duration or a larger time step."
        )
    return max(1, round(steps))


RULES = {
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float"), "must be a whole number"),
    **dict.fromkeys(("float_parsing", "float_type"), "must be a number"),
    **dict.fromkeys(("bool_parsing", "bool_type"), "must be true or false"),
    **dict.fromkeys(("model_type", "model_attributes_type", "dict_type"), "must be a table"),
    **dict.fromkeys(("tuple_type", "list_type"), "must be a list"),
    "string_type": "must be a text",
}
"""By what pydantic calls it: what is asked for."""

Place = tuple[int | str, ...]
"""Keys and numbers from the outside in."""


def explain(error: ValidationError, where: str, given: Any = None, known: Callable[[Place], list[str]] | None = None) -> InputError:
    """A pydantic error as one message: field, rule and value of what is wrong, ten at most.

    ``given`` is what was checked: names that pydantic adds for its own kinds of records are then left out of the fields. ``known`` gives
    the keys that there are beside one that is unknown.
    """
    items = error.errors(include_url=False)
    inner = {item["loc"][:n] for item in items for n in range(len(item["loc"]))}
    items = [item for item in items if item["loc"] not in inner]  # a list is only said to be too short because its one entry is wrong
    lines = [_line(item, given) + _right_key(item, known) for item in items[:MOST_LINES]]
    if len(items) > MOST_LINES:
        lines.append(f"  and {len(items) - MOST_LINES} more")
    told = InputError(f"{where} is not valid:\n" + "\n".join(lines))
    told.places = tuple((".".join(map(str, item["loc"])), _rule(item), item.get("input")) for item in items)
    return told


def _rule(item: Any) -> str:
    """What pydantic asks for, in granum's words."""
    kind, about = item["type"], item.get("ctx", {})
    if kind in RULES:
        return RULES[kind]
    if kind == "too_short":
        return f"needs {about['min_length']} entries or more, has {about['actual_length']}"
    if kind == "too_long":
        return f"must have {about['max_length']} entries at most, has {about['actual_length']}"
    return str(item["msg"]).removeprefix("Value error, ").replace("Input should be", "must be", 1)


def _right_key(item: Any, known: Callable[[Place], list[str]] | None) -> str:
    """After a key that is unknown: the one that was meant, or all that there are."""
    if known is None or item["type"] != "extra_forbidden":
        return ""
    names = known(item["loc"])
    near = difflib.get_close_matches(str(item["loc"][-1]), names, n=1)
    if near:
        return f". Did you mean {near[0]!r}?"
    return f"; choose one of: {', '.join(map(repr, names))}." if 0 < len(names) <= MOST_KEYS else ""


def _line(item: Any, given: Any) -> str:
    field = ".".join(_cut(str(part)) for part in _written(item["loc"], given, item["type"] == "missing"))
    rule, value = _rule(item), item.get("input")
    if item["type"] == "value_error" and isinstance(value, Mapping):  # of fields together: the rule names their values
        return f"  {field}: {rule}" if field else f"  {rule}"
    if item["type"] == "extra_forbidden":
        rule = "is not a known key"
    elif item["type"] == "union_tag_invalid":  # a kind of record that there is not
        kinds = item["ctx"]
        key = kinds["discriminator"].strip("'")
        field, rule, value = f"{field}.{key}", f"must be one of {kinds['expected_tags']}", kinds["tag"]
    elif item["type"] == "union_tag_not_found":
        rule = f"needs a {item['ctx']['discriminator'].strip(chr(39))}, which says what it is"
    elif item["type"] == "missing":
        return f"  {field}: is missing"
    return f"  {field}: {rule} (got {_short(value)})" if field else f"  {rule} (got {_short(value)})"


def _written(place: Place, given: Any, lacks: bool) -> list[int | str]:
    """``place`` without the parts that are not in ``given``, but for the last of what ``lacks``: a missing key."""
    if given is None:
        return list(place)
    parts: list[int | str] = []
    for n, part in enumerate(place):
        if isinstance(given, dict):
            there = part in given
        else:  # a missing entry has a number, too
            there = isinstance(given, (list, tuple)) and isinstance(part, int) and part < len(given)
        if there or (lacks and n == len(place) - 1):
            parts.append(part)
            given = given[part] if there else None
    return parts


def _short(value: Any) -> str:
    try:
        return _cut(repr(value))
    except (RecursionError, ValueError):  # nested too deeply, or a number of too many digits
        return f"a very long {type(value).__name__}"


def _cut(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."
