"""The line that explains the wait of a first run."""

from __future__ import annotations

from typing import Any

from .watched import Watched

NOTE = "compiling kernels, once (under a minute; later runs start at once)"


class Compiling:
    """Says that kernels are being compiled, from :meth:`show` until the first step is done."""

    def __init__(self, console: Any) -> None:
        self.console = console
        self._status: Any = None

    def show(self) -> None:
        if self.console.is_terminal:
            self._status = self.console.status(NOTE)
            self._status.start()
        else:
            self.console.print(NOTE + " ...")

    def start(self, sim: Watched) -> None:
        """Shown before: building the simulation compiles as well."""

    def observe(self, sim: Watched) -> None:
        self.hide()

    def finish(self, sim: Watched) -> None:
        self.hide()

    def hide(self) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None
