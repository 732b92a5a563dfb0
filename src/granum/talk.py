"""Lines on stderr: what a run says besides its results."""

from __future__ import annotations

import functools
from typing import Any


@functools.cache
def stderr() -> Any:
    """The console that talks."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)


def talk(message: str, style: str | None = None) -> None:
    """A line on stderr; bytes of a name that are no text are shown as numbers."""
    stderr().print(message.encode(errors="backslashreplace").decode(), style=style, markup=False)


def silent(message: str, style: str | None = None) -> None:
    """In place of :func:`talk`, for callers who want nothing said."""


def in_milliseconds(seconds: float) -> str:
    """A time step: "4.5 ms", or "12 us" if it is short."""
    return f"{1e3 * seconds:.2g} ms" if seconds >= 1e-4 else f"{1e6 * seconds:.2g} us"


def in_time(seconds: float) -> str:
    """A time in words that can be grasped: "2.3 h"."""
    for unit, size in (("years", 365.25 * 86400), ("days", 86400), ("h", 3600), ("min", 60), ("s", 1), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size * (1.5 if unit in ("years", "days", "h", "min") else 1):
            break
    return f"{short_number(seconds / size)} {unit}"


def short_number(value: float) -> str:
    """Two or three digits of it."""
    return f"{value:.2g}" if abs(value) < 100 else f"{value:.0f}" if abs(value) < 1e4 else f"{value:.1e}"
