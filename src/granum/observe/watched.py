"""What observers may look at: the public face of a simulation, without importing it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from ..array_types import FloatArray
from ..contact import PairTable
from ..detection.wall_table import WallTable
from ..extensions.base import Extension
from ..machines import JointView, Machines
from ..scene.scene import Scene
from ..state.bodies import Bodies
from ..state.contacts import Contacts
from ..state.report import StepReport


class WatchedSettings(Protocol):
    """The settings of a run."""

    @property
    def record(self) -> tuple[str, ...]: ...
    @property
    def precision(self) -> str: ...
    @property
    def compress(self) -> bool: ...
    @property
    def extensions(self) -> tuple[Extension, ...]: ...
    def model_dump(self, *, mode: str) -> dict[str, Any]: ...
    def model_dump_json(self) -> str: ...


class WatchedStepper(Protocol):
    """What every stepper shows."""

    pairs: PairTable
    walls: WallTable
    machines: Machines | None

    def pushes(self, h: float) -> FloatArray: ...


class WatchedShadow(Protocol):
    """A run beside a run."""

    def scalars(self) -> dict[str, float]: ...


class Watched(Protocol):
    """A simulation, as observers see it."""

    scene: Scene
    time_step: float
    step_count: int
    last_step: int
    """Where the run is to end."""
    bodies: Bodies
    report: StepReport
    stage_seconds: dict[str, float]
    wall_seconds: float
    last_checkpoint: str | None
    whole: bool
    """The last step was finished and found sound."""
    ended_by: BaseException | None
    sums: dict[str, dict[str, np.ndarray]]
    """What recorders have summed up since their last frame (see ``means.py``)."""

    @property
    def settings(self) -> WatchedSettings: ...
    @property
    def stepper(self) -> WatchedStepper: ...
    @property
    def shadow(self) -> WatchedShadow | None:
        """If an extension asks for one."""

    @property
    def time(self) -> float: ...
    @property
    def grain_count(self) -> int: ...
    @property
    def position(self) -> FloatArray: ...
    @property
    def wrapped_position(self) -> FloatArray: ...
    @property
    def orientation(self) -> FloatArray: ...
    @property
    def velocity(self) -> FloatArray: ...
    @property
    def spin(self) -> FloatArray: ...
    @property
    def radius(self) -> FloatArray: ...
    @property
    def contacts(self) -> Contacts: ...
    @property
    def taken_out(self) -> int: ...
    @property
    def counters(self) -> Mapping[str, Any]:
        """What sinks and counters have seen, by name."""

    def joint(self, name: str) -> JointView: ...
    def checkpoint(self) -> dict[str, Any]: ...
    def stop(self, reason: str) -> None: ...
