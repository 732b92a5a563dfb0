"""Settings of the smooth stepper."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import model_validator

from ..extensions import extensions
from ..records import Record
from ..scene.scene import Scene
from .damping import least_used
from .time_step import automatic_step, too_soft


class Smooth(Record):
    """Settings of the smooth stepper."""

    name: Literal["smooth"] = "smooth"
    integrator: Literal["verlet", "euler"] = "verlet"
    """Velocity Verlet, or symplectic Euler."""
    damping: Literal["restitution", "dissipation"] = "restitution"
    """Dashpots from the materials' restitution, or from the contact law's dissipation c."""

    @model_validator(mode="before")
    @classmethod
    def _whole(cls, given: Any) -> Any:
        for extension in extensions() if isinstance(given, dict) else ():
            if extension.not_smooth and given.get(extension.name) is not None:
                raise ValueError(f"{extension.not_smooth}. Leave {extension.name} out, or take the stepper nonsmooth")
        return given

    def step_for(self, scene: Scene, speed: float = 0.0) -> float:
        """A stable time step [s], also for grains that move at ``speed`` [m/s]."""
        return automatic_step(scene, self.damping == "restitution", speed)

    def remarks(self, scene: Scene) -> list[tuple[str, str]]:
        """What a run does otherwise than its materials say, or what they do not bear: a kind and a sentence each."""
        found = {"restitution": least_used(scene) if self.damping == "restitution" else None, "soft": too_soft(scene)}
        return [(kind, what) for kind, what in found.items() if what is not None]
