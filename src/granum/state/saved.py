"""A saved run in parts, whose numbers are checked before a kernel trusts them: shapes, types, ranges and references."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..checks import InputError

Shape = tuple[int | None, ...]  # None: any number of rows
CONTACTS: dict[str, tuple[type, Shape]] = {
    "a": (np.int32, ()),
    "b": (np.int32, ()),
    "feature": (np.int32, ()),
    "normal": (np.float64, (3,)),
    "overlap": (np.float64, ()),
    "impulse": (np.float64, (7,)),
    "rebound": (np.float64, ()),
    "partner": (np.int64, ()),
}
"""Type and width of what is saved of contacts."""


class SavedPart:
    """A part of the saved content, with its name for messages."""

    def __init__(self, content: Mapping[str, Any], name: str = "") -> None:
        self.content, self.name = content, name

    def refuse(self, name: str, what: str) -> InputError:
        return InputError(f"{self.name}{name} {what}.")

    def part(self, name: str) -> SavedPart:
        content = self.content[name]
        if not isinstance(content, Mapping):
            raise self.refuse(name, "should have parts")
        return SavedPart(content, f"{self.name}{name}/")

    def whole(self, name: str, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``, both included."""
        value = self.content[name]
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.refuse(name, f"must be a whole number from {low} to {high} (got {value!r})")
        return value

    def number(self, name: str) -> float:
        value = self.content[name]
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
            raise self.refuse(name, f"must be a number (got {value!r})")
        return value

    def array(self, name: str, dtype: type, shape: Shape, *, finite: bool = True) -> np.ndarray:
        found = self.content[name]
        if not isinstance(found, np.ndarray) or found.dtype != dtype:
            raise self.refuse(name, f"must be an array of {np.dtype(dtype)}")
        if found.ndim != len(shape) or any(n is not None and n != have for n, have in zip(shape, found.shape, strict=True)):
            raise self.refuse(name, f"must have the shape {shape} (got {found.shape})")
        if found.dtype.kind == "f" and (not np.isfinite(found).all() if finite else np.isnan(found).any()):
            raise self.refuse(name, "holds numbers that are not finite")
        return found

    def places(self, name: str, shape: Shape, low: int, high: int) -> np.ndarray:
        """Row numbers from ``low`` up to, not including, ``high``."""
        found = self.array(name, np.int32, shape)
        if found.size and not low <= found.min() <= found.max() < high:
            raise self.refuse(name, f"must lie in {low} to {high - 1} (got {found.min()} to {found.max()})")
        return found
