"""What notebooks show of an object: its one line, and a small picture above it where one can be drawn."""

from __future__ import annotations

import base64
import html
import importlib
from typing import Any


def drawn_by(module: str) -> Any:
    """A module of :mod:`granum.plot`, which lies in a layer far above: found by its name, when somebody asks an object for its picture."""
    return importlib.import_module(f"granum.plot.{module}")


class Pictured:
    """An object whose picture :mod:`granum.plot.thumbnail` can draw."""

    def _repr_html_(self) -> str:
        return with_picture(self)


def counted(count: int, name: str) -> str:
    """``1 grain``, ``2 grains``, ``2 moving bodies``."""
    many = f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
    return f"{count} {name if count == 1 else many}"


def with_picture(shown: Any, words: str | None = None) -> str:
    """HTML of a picture of ``shown`` and of ``words`` (HTML, too; none: its text). What cannot be drawn has only words."""
    words = f"<code>{html.escape(repr(shown))}</code>" if words is None else words
    try:
        drawn: bytes = drawn_by("thumbnail").thumbnail(shown)
    except Exception:  # whatever it is, it must not hide the object
        return f"<div>{words}</div>"
    return f'<div><img src="data:image/png;base64,{base64.b64encode(drawn).decode()}" alt="a picture of it"/><br/>{words}</div>'
