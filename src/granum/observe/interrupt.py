"""Ctrl-C between two steps, where the state is whole and can be saved."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from .watched import Watched

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(KeyboardInterrupt):
    """Raised after the step in which the signal came."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


class Interrupt:
    """Waits with Ctrl-C (and a polite kill) until the step is done; a second one stops at once.

    Stands last among the observers, so that the others finish their files undisturbed.
    """

    def __init__(self, talk: Callable[[str], Any] | None = None) -> None:
        self.talk = talk
        self._came = 0
        self._kept: dict[int, Any] = {}

    def start(self, sim: Watched) -> None:
        self._came = 0
        if threading.current_thread() is threading.main_thread():
            self._kept = {number: signal.signal(number, self._handle) for number in SIGNALS}

    def observe(self, sim: Watched) -> None:
        if self._came:
            raise Interrupted(self._came)

    def finish(self, sim: Watched) -> None:
        for number, handler in self._kept.items():
            signal.signal(number, handler)
        self._kept = {}

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._came:
            raise KeyboardInterrupt
        self._came = number
        if self.talk is not None:
            self.talk("stopping after this step (once more: at once, without a checkpoint)")
