"""The scenes that are known by name; a scene's module puts its function in."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..scene import Scene

LIBRARY: dict[str, Callable[..., Scene]] = {}
Maker = TypeVar("Maker", bound=Callable[..., Scene])


def library_scene(make: Maker) -> Maker:
    """A function of typed parameters with defaults that returns a scene of its own name, with dashes."""
    LIBRARY[make.__name__.replace("_", "-")] = make
    return make
