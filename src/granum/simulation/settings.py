"""Settings of a run; scene files, command line, recording and docs are made from these fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field, model_validator

from ..checks import table
from ..extensions.base import Extension, chosen
from ..nonsmooth import Nonsmooth
from ..nonsmooth.time_step import TimeStep, automatic_step
from ..scene.run_settings import Guards, RunSettings, merge, named, spelled
from ..scene.scene import Scene
from ..smooth import Smooth

__all__ = ["Guards", "Layer", "Settings", "layer_tree", "make_settings"]


class Settings(RunSettings):
    """How a scene is run: ``Settings(time_step=1e-3, solver="direct")``.

    ``solver=`` stands for the one of the nonsmooth stepper; steppers, solvers and warm starts may be given by their names.
    """

    stepper: Nonsmooth | Smooth = Field(default=Nonsmooth(), discriminator="name")
    """The stepper with its settings."""

    @model_validator(mode="before")
    @classmethod
    def _spelled_out(cls, fields: Any) -> Any:
        fields = spelled(fields)
        if isinstance(fields, dict) and isinstance(fields.get("stepper"), dict):
            return {**fields, "stepper": named(fields["stepper"])}
        return fields

    @property
    def extensions(self) -> tuple[Extension, ...]:
        """What the run has besides its stepper."""
        return chosen(self.stepper)

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


Layer = Mapping[str, Any] | RunSettings
"""Some settings: nested tables, or a record of which only the fields count that were set."""


def layer_tree(layer: Layer) -> dict[str, Any]:
    """What a layer sets, as nested tables with the short spellings written out."""
    tree: dict[str, Any] = spelled(layer.given() if isinstance(layer, RunSettings) else dict(layer))
    return tree


def make_settings(*layers: Layer) -> Settings:
    """Settings from layers, later ones over earlier ones and all over the defaults: ``make_settings(scene.run, {"time_step": 1e-3})``.

    A layer that takes another stepper forgets the time step of the layers before: it was meant for the other one.
    """
    merged: dict[str, Any] = Settings().model_dump()
    for layer in layers:
        tree = layer_tree(layer)
        stepper = tree.get("stepper")
        before = table(merged, "stepper").get("name")
        if isinstance(stepper, dict) and stepper.get("name", before) != before:
            merged["time_step"] = None
        merge(merged, tree)
    return Settings.read(merged, "a setting of the run")
