"""A scene as the text of a scene file, with a comment on what stands there; read again it is the same scene."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_origin

import numpy as np

from ..records import Record
from .grains import Grains
from .parameters import Parameters
from .scene import Scene

FIRST = ("name", "view", "world", "results", "law")
"""Keys at the top of a file; a key that came after a table would belong to it."""
TABLES = ("gravity", "cell", "run", "parameters")
LISTS = ("materials", "pairs", "walls", "bodies", "joints", "regulators", "sensors", "sinks", "counters", "emitters", "grains")
LEFT_OUT = "chosen"  # of parameters: what the library made the scene with
WIDE = 100  # [characters] of a value that stands in one line
MANY = 50  # placed grains beside which another way to write them is shown
HEADS = {
    "materials": "Materials, by name.",
    "pairs": "What two materials do to each other, where it is not the mean of both.",
    "gravity": "Gravity.",
    "cell": "Space repeats with these lengths.",
    "run": "How it is run; options of `granum run` go over this.",
    "parameters": "What measures of this kind of scene read: change it together with the scene.",
    "walls": "Walls that stand still.",
    "bodies": "Bodies with walls: static, kinematic (driven) or dynamic (pushed).",
    "joints": "Joints that link bodies to machines.",
    "regulators": "What sets the motors of joints before every step.",
    "sensors": "Where grains stay free in runs that merge grains.",
    "sinks": "Where grains leave the run.",
    "counters": "What counts grains that pass, and their mass.",
    "emitters": "Sources of grains.",
    "grains": "Grains that are there at the start.",
}


def scene_text(scene: Scene, head: str = "") -> str:
    """The scene file; ``head`` stands at its top, as a comment."""
    lines = [f"# {line}".rstrip() for line in head.splitlines()]
    lines += ["", *_fields(scene, FIRST)]
    for name in TABLES:
        value = getattr(scene, name)
        if value is not None and (name != "parameters" or value.measured):
            tree = value.given() if name == "run" else None
            keys = _entries(tree, type(value)) if tree is not None else _fields(value, shown_fields(value))
            lines += ["", f"# {HEADS[name]}", f"[{name}]", *keys]
    for name in LISTS:
        records = getattr(scene, name)
        lines += ["", f"# {HEADS[name]}"] if records else []
        for record in records:
            lines += [*_other_way(record), f"[[{name}]]", *_fields(record, shown_fields(record)), ""]
    return "\n".join(lines).rstrip() + "\n"


def shown_fields(record: Record) -> tuple[str, ...]:
    """Fields that differ from their defaults, and those that say which kind of record it is."""
    fields = type(record).model_fields.items()
    named = isinstance(record, Parameters)  # by the kind of scene
    return tuple(n for n, info in fields if (named and n == "scene") or _is_kind(info) or not _is_default(record, n, info))


def _is_kind(info: Any) -> bool:
    """A field with one possible value, as ``shape = "plane"``."""
    return get_origin(info.annotation) is Literal and isinstance(info.default, str) and len(info.annotation.__args__) == 1


def _is_default(record: Record, name: str, info: Any) -> bool:
    value, default = getattr(record, name), info.get_default(call_default_factory=True)
    if isinstance(value, np.ndarray) or isinstance(default, np.ndarray):
        return not info.is_required() and np.array_equal(value, default)
    return not info.is_required() and bool(value == default)


def _fields(record: Record, names: tuple[str, ...]) -> Iterator[str]:
    tree = {name: _plain(getattr(record, name)) for name in names if name != LEFT_OUT}
    return _entries({key: value for key, value in tree.items() if value is not None and value != []}, type(record))


def _entries(tree: Mapping[str, Any], kind: type[Record]) -> Iterator[str]:
    """``key = value  # what it is``"""
    for key, value in tree.items():
        if value is None:
            continue
        text = _value(value)
        said = _said(kind, key)
        yield f"{key} = {text}" + (f"  # {said}" if said and "\n" not in text else "")


def _said(kind: type[Record], key: str) -> str:
    """The first sentence of what is said of a field."""
    info = kind.model_fields.get(key)
    text = " ".join((info.description or "").split()) if info is not None else ""
    return re.split(r"(?<=[^.]\.)\s", text, maxsplit=1)[0].replace("``", "").rstrip(".")


def _plain(value: Any) -> Any:
    """Records as tables of what is not default, arrays as lists."""
    if isinstance(value, Record):
        tree = {name: _plain(getattr(value, name)) for name in shown_fields(value)}
        return {key: part for key, part in tree.items() if part is not None}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items() if part is not None}
    return value


def _value(value: Any) -> str:
    """As TOML writes it; long arrays have a line for each entry."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_inline(part)}" for key, part in value.items()) + " }"
    if isinstance(value, list) and len(_inline(value)) > WIDE:
        return "[\n" + "".join(f"  {_inline(part)},\n" for part in value) + "]"
    return _inline(value)


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return _value(value)
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value) if isinstance(value, str) else repr(value)


def _other_way(record: Record) -> list[str]:
    """Of many grains that are placed one by one: how a lattice of the same grains is written, which can be edited."""
    if not isinstance(record, Grains) or len(record.position) < MANY or record.held:
        return []
    position, diameter, *_ = record.place()
    low, high = (position - diameter[:, None] / 2).min(axis=0), (position + diameter[:, None] / 2).max(axis=0)
    return [
        f"# These {len(position)} grains stand one by one where the library places them, so that the run has the same bits.",
        "# For grains of your own put a lattice in their place. It must lie inside of the walls, and its box must be large enough:",
        "# [[grains]]",
        f"# material = {json.dumps(record.material)}",
        f"# count = {len(position)}",
        f"# lower = [{', '.join(f'{x:.4g}' for x in low)}]",
        f"# upper = [{', '.join(f'{x:.4g}' for x in high)}]",
        f'# sizes = {{ distribution = "uniform", lower = {0.8 * diameter.max():.4g}, upper = {diameter.max():.4g} }}',
    ]
