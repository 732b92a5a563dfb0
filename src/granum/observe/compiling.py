"""The line that explains the wait of a first run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import event

from .watched import Watched

NOTE = "compiling kernels, once (under a minute; later runs start at once)"
COMPILE = "numba:compile"  # what Numba calls it when it compiles; what it loads from disk it does not announce


class Compiling:
    """Says that kernels are being compiled, from :meth:`show` until the first step is done.

    After :meth:`watch` it is shown on a terminal as soon as one is compiled: a cache that has some kernels need not have all.
    """

    def __init__(self, console: Any) -> None:
        self.console = console
        self._status: Any = None
        self._listener: Any = None

    def watch(self) -> None:
        if self.console.is_terminal:
            self._listener = _Listener(self.show)
            event.register(COMPILE, self._listener)

    def show(self) -> None:
        if self.console.is_terminal and self._status is None:
            self._status = self.console.status(NOTE)
            self._status.start()
        elif not self.console.is_terminal:
            self.console.print(NOTE + " ...")

    def start(self, sim: Watched) -> None:
        """Shown before: building the simulation compiles as well."""

    def observe(self, sim: Watched) -> None:
        self.hide()

    def finish(self, sim: Watched) -> None:
        self.hide()

    def hide(self) -> None:
        if self._listener is not None:
            event.unregister(COMPILE, self._listener)
            self._listener = None
        if self._status is not None:
            self._status.stop()
            self._status = None


class _Listener(event.Listener):
    """Calls a function whenever a kernel begins to be compiled."""

    def __init__(self, heard: Callable[[], None]) -> None:
        self._heard = heard

    def on_start(self, event: Any) -> None:
        self._heard()

    def on_end(self, event: Any) -> None:
        """Nothing: the next one follows."""
