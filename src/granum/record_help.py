"""What ``help()``, notebooks and editors tell of a record: a signature that can be read, and a line for each field."""

from __future__ import annotations

import inspect
import textwrap
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from numpy import ndarray
from pydantic import BaseModel
from pydantic.fields import FieldInfo

WIDTH = 110  # [columns]


class Words(str):
    """A text that stands in a signature as it is."""

    def __repr__(self) -> str:
        return str(self)


class Signature:
    """Of the class that is asked for it: fields by name, with plain types."""

    def __get__(self, record: Any, kind: type[BaseModel]) -> inspect.Signature:
        if record is not None:
            raise AttributeError("__signature__")
        return inspect.Signature([_parameter(name, field) for name, field in kind.model_fields.items()])


def _parameter(name: str, field: FieldInfo) -> inspect.Parameter:
    default = inspect.Parameter.empty if field.is_required() else Words("..." if field.default_factory else _shown(field.default))
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Words(in_words(field.annotation)))


def in_words(kind: Any) -> str:
    """A type as one would write it, without what checks its values."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return in_words(parts[0])
    if origin in (Union, UnionType):
        return " | ".join(dict.fromkeys(map(in_words, parts)))
    if origin is Literal:
        return " | ".join(map(repr, parts))
    if origin is ndarray or kind is ndarray:
        return "array"
    if origin is not None:
        return f"{getattr(origin, '__name__', origin)}[{', '.join('...' if part is ... else in_words(part) for part in parts)}]"
    return "None" if kind is NoneType else getattr(kind, "__name__", str(kind))


def with_fields(text: str, fields: dict[str, FieldInfo]) -> str:
    """The docstring of a record with its fields below: name, type, default and what is said of them."""
    lines = [text, "", "Fields:"]
    for name, field in fields.items():
        default = "" if field.is_required() or field.default_factory is not None else f" = {_shown(field.default)}"
        lines.append(f"  {name}: {in_words(field.annotation)}{default}")
        if field.description:
            lines += textwrap.wrap(" ".join(field.description.split()), WIDTH, initial_indent="      ", subsequent_indent="      ")
    return "\n".join(lines)


def _shown(default: Any) -> str:
    """A default; of a record only what kind it is."""
    return f"{type(default).__name__}()" if isinstance(default, BaseModel) else repr(default)
