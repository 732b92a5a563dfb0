"""What a recording has of one body, joint, sink or counter, in all its frames."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..array_types import FloatArray, LongArray
from ..checks import InputError
from ..notebook import counted


@dataclass(frozen=True, repr=False)
class BodySeries:
    """A body of the scene in F frames; SI units, world axes. Forces are means over the steps since the last frame; NaN: there was none."""

    name: str
    time: FloatArray  # (F,) [s]
    position: FloatArray  # (F, 3) [m]
    orientation: FloatArray  # (F, 4) unit quaternion, w first
    velocity: FloatArray  # (F, 3) [m/s] in the step that led to the frame
    spin: FloatArray  # (F, 3) [rad/s]
    path: Path
    loads: dict[str, FloatArray]  # force, torque and power; empty: they are not recorded

    def __repr__(self) -> str:
        return f"BodySeries({self.name!r}, {frames_of(self.time)}{'' if self.loads else ', forces not recorded'})"

    @property
    def force(self) -> FloatArray:
        """(F, 3) of all that touches it [N]."""
        return self._load("force")

    @property
    def torque(self) -> FloatArray:
        """(F, 3) the same about its position [N m]."""
        return self._load("torque")

    @property
    def power(self) -> FloatArray:
        """(F,) what grains give it [W]: force . velocity + torque . spin."""
        return self._load("power")

    def _load(self, name: str) -> FloatArray:
        if name not in self.loads:
            raise InputError(
                f"{self.path} holds no forces on bodies: an older version wrote it, or its scene has no body besides the ground. "
                "Run it again, with walls whose forces are asked for as a body."
            )
        return self.loads[name]


@dataclass(frozen=True, repr=False)
class JointSeries:
    """A joint of the scene in F frames; SI units, world axes. Forces are means over the steps since the last frame; NaN: there was none."""

    name: str
    time: FloatArray  # (F,) [s]
    coordinate: FloatArray  # (F,) [m, rad]; NaN: the joint has none
    speed: FloatArray  # (F,) [m/s, rad/s]
    force: FloatArray  # (F, 3) with which the joint holds its second body [N]
    torque: FloatArray  # (F, 3) about the centre of mass of that body [N m]
    motor_force: FloatArray  # (F,) [N, N m] > 0 pushes the second body away
    limit_force: FloatArray  # (F,) [N, N m]

    def __repr__(self) -> str:
        return f"JointSeries({self.name!r}, {frames_of(self.time)})"


@dataclass(frozen=True)
class CounterSeries:
    """What a sink or counter has seen since the start of the run, in F frames; of a counter along its normal, minus what came back."""

    name: str
    time: FloatArray  # (F,) [s]
    count: LongArray  # (F,) grains
    mass: FloatArray  # (F,) [kg]
    count_back: LongArray  # (F,) grains that went against the normal of a counter, which ``count`` is less by
    mass_back: FloatArray  # (F,) [kg]
    waiting: LongArray  # (F,) grains of a sink that are counted and still in the frame

    def __repr__(self) -> str:
        return f"CounterSeries({self.name!r}, {frames_of(self.time)})"


def frames_of(times: FloatArray) -> str:
    """How many frames there are, and from when to when."""
    span = f", t = {times[0]:.4g} to {times[-1]:.4g} s" if len(times) > 1 else f", t = {times[0]:.4g} s" if len(times) else ""
    return counted(len(times), "frame") + span
