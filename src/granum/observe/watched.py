"""What observers may look at: the public face of a simulation, without importing it."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np


class Watched(Protocol):
    """A simulation, as observers see it."""

    scene: Any
    settings: Any
    time_step: float
    step_count: int
    last_step: int
    """Where the run is to end."""
    bodies: Any
    stepper: Any
    report: Any
    shadow: Any
    """Beside a run with model reduction, if asked for; else None."""
    stage_seconds: dict[str, float]
    wall_seconds: float
    last_checkpoint: str | None
    whole: bool
    """The last step was finished and found sound."""
    ended_by: BaseException | None

    @property
    def time(self) -> float: ...
    @property
    def grain_count(self) -> int: ...
    @property
    def position(self) -> np.ndarray: ...
    @property
    def wrapped_position(self) -> np.ndarray: ...
    @property
    def orientation(self) -> np.ndarray: ...
    @property
    def velocity(self) -> np.ndarray: ...
    @property
    def spin(self) -> np.ndarray: ...
    @property
    def radius(self) -> np.ndarray: ...
    @property
    def contacts(self) -> Any: ...
    @property
    def taken_out(self) -> int: ...
    def checkpoint(self) -> dict[str, Any]: ...
    def stop(self, reason: str) -> None: ...
