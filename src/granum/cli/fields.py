"""Fields of settings as their source has them: default, kind of value and text, without importing what stands around them.

The compiler need not be loaded for a help page: the class of a record is read as text. ``tests/unit/test_cli_options.py`` compares what
is read here with the records themselves.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]
KINDS: dict[str, type] = {
    "Positive": float,
    "NonNegative": float,
    "Fraction": float,
    "Finite": float,
    "Limit": float,
    "float": float,
    "Whole": int,
    "Sweeps": int,
    "int": int,
    "bool": bool,
}
"""What is typed for a field, by the first of these words in its annotation; else a text."""


@dataclass(frozen=True)
class FieldText:
    """A field, for a help page."""

    name: str
    kind: type
    default: Any
    """As Python has it; None also where the source computes it."""
    choices: tuple[str, ...]
    """Of a Literal of texts."""
    text: str
    """Its docstring, in one line."""


@cache
def record_fields(place: str) -> dict[str, FieldText]:
    """Fields of the record ``where:Class`` with those that it inherits; ``where`` is a module or a folder of the package."""
    where, _, name = place.partition(":")
    record = _class(where, name)
    if record is None:
        raise LookupError(f"there is no class {name} in {where}")
    fields: dict[str, FieldText] = {}
    for base in record.bases:
        if isinstance(base, ast.Name) and _class(where, base.id) is not None:
            fields |= record_fields(f"{where}:{base.id}")
    for k, line in enumerate(record.body):
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
            after = record.body[k + 1] if k + 1 < len(record.body) else None
            text = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else ""
            fields[line.target.id] = _field(line.target.id, line.annotation, line.value, " ".join(str(text).split()))
    return fields


@cache
def _sources(where: str) -> tuple[str, ...]:
    path = PACKAGE / where.replace(".", "/")
    return tuple(file.read_text(encoding="utf-8") for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path.with_suffix(".py")]))


def _class(where: str, name: str) -> ast.ClassDef | None:
    """Its definition, which is parsed alone: whole files take long."""
    for source in _sources(where):
        found = re.search(rf"^class {name}\b.*?(?=^\S|\Z)", source, re.M | re.S)
        if found is not None:
            return next(node for node in ast.parse(found[0]).body if isinstance(node, ast.ClassDef))
    return None


def field_text(place: str) -> FieldText:
    """Of one field, ``module:Class.field``."""
    record, _, name = place.rpartition(".")
    return record_fields(record)[name]


def _field(name: str, annotation: ast.expr, value: ast.expr | None, text: str) -> FieldText:
    words = re.findall(r"\w+", ast.unparse(annotation))
    literal = next((n for n in ast.walk(annotation) if isinstance(n, ast.Subscript) and getattr(n.value, "id", "") == "Literal"), None)
    choices: tuple[Any, ...] = ()
    if literal is not None:
        choices = tuple(n.value for n in ast.walk(literal.slice) if isinstance(n, ast.Constant))
    kind = type(choices[0]) if choices else next((KINDS[word] for word in words if word in KINDS), str)
    if kind is not bool and "str" in words:
        kind = str
    return FieldText(name, kind, _default(value), choices if kind is str else (), text)


def _default(value: ast.expr | None) -> Any:
    if isinstance(value, ast.Call) and getattr(value.func, "id", "") == "Field":
        value = next((keyword.value for keyword in value.keywords if keyword.arg == "default"), None)
    try:
        return ast.literal_eval(value) if value is not None else None
    except ValueError:
        return None
