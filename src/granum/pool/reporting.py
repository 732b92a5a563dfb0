"""How far a run is, told by the run itself to whoever waits for it, wherever it is computed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

Listener = Callable[[float], None]
_listeners: list[Listener] = []


def report(part: float) -> None:
    """A run calls this now and then with the part of it that is done, 0 to 1; nothing happens where nobody listens."""
    if _listeners:
        _listeners[-1](part)


@contextlib.contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """``listener`` hears of runs that are computed inside this block."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.pop()
