"""Settings of a run; scene files, command line, recording and docs are made from these fields."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, ValidationError

from ..checks import explain, table
from ..nonsmooth import Nonsmooth
from ..nonsmooth.time_step import TimeStep, automatic_step
from ..records import NonNegative, Positive, Record, Whole
from ..reduction import Reduction
from ..scene.scene import Scene
from ..smooth import Smooth

Action = Literal["stop", "warn", "off"]


class Guards(Record):
    """What stops a run that went wrong; each may also only warn."""

    overlap: Positive = 0.9
    """Largest overlap, in diameters of the smaller grain (of the grain, at a wall)."""
    on_overlap: Action = "stop"
    on_lost: Action = "stop"
    """A grain or a dynamic body that left the world, or a grain that went through a wall."""
    energy: NonNegative = 0.1
    """Most energy that may come from nothing, as a part of the largest kinetic energy so far plus m g d of all grains."""
    on_energy: Action = "stop"
    on_coarse: Literal["warn", "off"] = "warn"
    """A step in which grains or walls move by 0.2 of the smallest diameter, or grains overlap by 0.05 of theirs, or a loss of 1 % of the
    energy by contacts that should lose none: the run goes on, and tells which step would fit."""


class Settings(Record):
    """How a scene is run."""

    stepper: Nonsmooth | Smooth = Field(default=Nonsmooth(), discriminator="name")
    time_step: Positive | None = None
    """h [s]; none: as the stepper suggests for the scene."""
    duration: Positive = 1.0
    """[s]"""
    every: Positive | None = None
    """Time between recorded frames [s]; none: a hundredth of the duration."""
    checkpoint_every: Positive = 10.0
    """Wall time between checkpoints [s]."""
    relax: bool = False
    """Push overlapping initial grains apart instead of refusing them."""
    threads: Whole = Field(default=1, ge=1)
    guards: Guards = Guards()

    @property
    def reduction(self) -> Reduction | None:
        """When grains merge; none: never."""
        return self.stepper.reduction if isinstance(self.stepper, Nonsmooth) else None

    def step_for(self, scene: Scene) -> float:
        """The time step [s]: as set, or as the stepper suggests."""
        return self.choose_step(scene).seconds

    def choose_step(self, scene: Scene) -> TimeStep:
        """The time step, and why it is taken."""
        if self.time_step is not None:
            return TimeStep(self.time_step, "given")
        if isinstance(self.stepper, Nonsmooth):
            return automatic_step(scene)
        return TimeStep(self.stepper.step_for(scene), "the shortest collision is resolved")


def make_settings(*layers: dict[str, Any]) -> Settings:
    """Settings from nested dictionaries, later ones over earlier ones and all over the defaults.

    A layer that takes another stepper forgets the time step of the layers before: it was meant for the other one.
    """
    merged: dict[str, Any] = Settings().model_dump()
    for layer in layers:
        stepper = layer.get("stepper")
        before = table(merged, "stepper").get("name")
        if isinstance(stepper, dict) and stepper.get("name", before) != before:
            merged["time_step"] = None
        _merge(merged, layer)
    try:
        return Settings.model_validate(merged)
    except ValidationError as error:
        raise explain(error, "run settings", merged) from None


def _merge(base: dict[str, Any], over: dict[str, Any]) -> None:
    for key, value in over.items():
        old = base.get(key)
        # A record that is named anew (another warm start, another solver) replaces the old one with all its fields.
        renamed = isinstance(value, dict) and isinstance(old, dict) and value.get("name", old.get("name")) != old.get("name")
        if isinstance(value, dict) and isinstance(old, dict) and not renamed:
            base[key] = {**old}
            _merge(base[key], value)
        else:
            base[key] = value
