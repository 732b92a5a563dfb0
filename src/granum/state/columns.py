"""A column: the rows of one quantity in a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Column:
    """A quantity with one row for each grain, contact or frame."""

    name: str
    dtype: Any
    width: tuple[int, ...] = ()
    unit: str = ""
    meaning: str = ""
    attribute: str = ""
    """Of an extension's column: what of ``Bodies`` it holds, which snapshots have under that name."""
