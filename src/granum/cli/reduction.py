"""The options of model reduction: from the command line to the policy of a run, with refusals in the words of the options."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..checks import InputError, known_name, table
from .options import Opt, option

if TYPE_CHECKING:
    from ..scene.scene import Scene
    from ..scene.sensor import BoxSensor

PANEL = "Model reduction: grains that move as one are solved as one"
OFF = "off"
KINDS = ("contact", "trial", "sensor")

POLICY = "reduction"
OPTIONS = (
    Opt("merge_velocity", f"{POLICY}:Merge.tangential", panel=PANEL, says="Merge below this contact velocity [m/s]"),
    Opt("merge_spin", f"{POLICY}:Merge.rolling", panel=PANEL, says="... and this relative spin [rad/s]"),
    Opt("merge_acceleration", f"{POLICY}:Merge.normal_acceleration", panel=PANEL, says="... and this acceleration [m/s^2]; 0: no limit"),
    Opt("merge_steps", f"{POLICY}:Merge.steps", panel=PANEL, says="... in so many steps in a row"),
    Opt("split_velocity", f"{POLICY}:ContactSplit.approach", panel=PANEL, says="contact: split above this contact velocity [m/s]"),
    Opt("split_depth", f"{POLICY}:ContactSplit.depth", panel=PANEL, says="contact: grains that come off, 1 touched, 2 and neighbours"),
    Opt("trial_force", f"{POLICY}:TrialSplit.force", panel=PANEL, says="trial: split above this part of unbalanced force"),
    Opt("trial_load", f"{POLICY}:TrialSplit.load", panel=PANEL, says="trial: and this part of all contact forces on a grain; 0: none"),
    Opt("trial_depth", f"{POLICY}:TrialSplit.depth", panel=PANEL, says="trial: layers of merged grains that are tried; 0: all"),
    Opt(
        "shadow",
        f"{POLICY}:Reduction.shadow",
        panel=PANEL,
        metavar="K",
        says="Measure the error over windows of K steps, solved in full beside. Default: not",
    ),
)
PARAMETERS = (
    option(
        "reduce",
        str | None,
        "--reduce",
        metavar="SPLITS",
        panel=PANEL,
        help="Merge grains; split by contact, trial, sensor (comma list), or off. Default: off.",
    ),
    *OPTIONS,
    option(
        "sensor",
        list[str] | None,
        "--sensor",
        metavar="X,Y,Z:X,Y,Z",
        panel=PANEL,
        help="sensor: box [m] where no grain merges; repeatable.",
    ),
)
REFUSED = (option("reduce", str | None, "--reduce", help="", hidden=True),)
EXAMPLES = {
    "run": ("granum run pile --reduce contact,trial --split-velocity 0.15",),
    "plot": ("granum plot heap.vtkhdf aggregates --time 2.5 --slab 4", "granum plot heap.vtkhdf reduction -o level.pdf"),
    "bench": ("granum bench reduction --particles 100000",),
}

PLACES: dict[str, tuple[str, tuple[str, ...]]] = {
    "merge_velocity": ("merge", ("approach", "separation", "tangential")),
    "merge_spin": ("merge", ("rolling",)),
    "merge_acceleration": ("merge", ("normal_acceleration", "tangential_acceleration")),
    "merge_steps": ("merge", ("steps",)),
    "split_velocity": ("contact", ("approach", "tangential")),
    "split_depth": ("contact", ("depth",)),
    "trial_force": ("trial", ("force",)),
    "trial_load": ("trial", ("load",)),
    "trial_depth": ("trial", ("depth",)),
    "shadow": ("", ("shadow",)),
}
"""Where in the policy an option goes: a part of it, and the fields of that part."""
ZERO_IS_NONE = ("merge_acceleration", "trial_load", "trial_depth")


@dataclass(frozen=True)
class ReductionOptions:
    """What was asked for."""

    reduce: str | None
    numbers: Mapping[str, float | None]
    """By the names in ``PLACES``."""
    sensors: tuple[str, ...] = ()

    @property
    def given(self) -> list[str]:
        """The options besides --reduce, as typed."""
        return [_option(name) for name, value in self.numbers.items() if value is not None] + (["--sensor"] if self.sensors else [])

    def add_to(self, scene: Scene) -> Scene:
        """The scene with the boxes of --sensor besides its own sensors."""
        if not self.sensors:
            return scene
        boxes = [_box(text) for text in self.sensors]
        return scene.changed(sensors=(*scene.sensors, *boxes))

    def set_in(self, settings: dict[str, Any], scene: Scene, stepper: str) -> None:
        """Put the policy into the settings of a run with that stepper, if it is another than that of the scene."""
        policy = self.over(scene, stepper)
        if stepper == "nonsmooth" and policy != table(scene.run.given(), "stepper").get("reduction"):
            settings.setdefault("stepper", {})["reduction"] = policy

    def over(self, scene: Scene, stepper: str) -> dict[str, Any] | None:
        """The policy: that of the scene with what was asked for over it; None: no reduction.

        ``stepper`` is the name of the stepper of this run.
        """
        from ..reduction import Reduction

        of_scene = table(scene.run.given(), "stepper").get("reduction") if stepper == "nonsmooth" else None
        if self.reduce == OFF:
            if self.given:
                raise InputError(f"{self.given[0]} needs --reduce {','.join(KINDS[:2])} or the like (got --reduce {OFF}).")
            return None
        if self.reduce is None and not self.given:
            return of_scene
        if stepper != "nonsmooth":
            out = "--reduce" if self.reduce else self.given[0]
            raise InputError(f"{Reduction.not_smooth}. Leave {out} out, or take --stepper nonsmooth.")
        if self.reduce is None and of_scene is None:
            raise InputError(f"{self.given[0]} needs --reduce: say what splits aggregates, such as --reduce contact,trial.")
        policy: dict[str, Any] = {key: dict(part) if isinstance(part, dict) else part for key, part in (of_scene or {}).items()}
        if self.reduce is not None:
            policy["split"] = [known_name("split", kind.strip(), KINDS) for kind in self.reduce.split(",")]
        kinds = policy.get("split", Reduction().split)
        for name, value in self.numbers.items():
            if value is None:
                continue
            part, fields = PLACES[name]
            if part in KINDS:
                _needs(_option(name), part, kinds)
            place = policy.setdefault(part, {}) if part else policy
            place.update(dict.fromkeys(fields, None if value == 0 and name in ZERO_IS_NONE else value))
        if self.sensors:
            _needs("--sensor", "sensor", kinds)
        try:
            Reduction.model_validate(policy)
        except InputError as error:
            raise InputError(_in_options(error)) from None
        return policy


def asked(given: Mapping[str, Any]) -> ReductionOptions:
    """What ``granum run`` was asked for."""
    return ReductionOptions(given["reduce"], {name: given[name] for name in PLACES}, tuple(given["sensor"] or ()))


def refuse(given: Mapping[str, Any]) -> None:
    """For commands without time."""
    from ..reduction import Reduction

    if given["reduce"] is not None:
        raise InputError(f"{Reduction.not_at_rest}. Leave --reduce out, or simulate with granum run --reduce {given['reduce']}.")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _needs(option: str, kind: str, kinds: Any) -> None:
    if kind not in kinds:
        raise InputError(f"{option} belongs to the split {kind!r}, which this run does not have: --reduce {','.join((*kinds, kind))}.")


def _box(text: str) -> BoxSensor:
    from ..scene.sensor import BoxSensor

    try:
        lower, upper = ([float(x) for x in corner.split(",")] for corner in text.split(":"))
        if len(lower) != 3 or len(upper) != 3 or not all(map(math.isfinite, (*lower, *upper))):
            raise ValueError
    except ValueError:
        raise InputError(f"--sensor must be two corners in m, such as 0,0,0:0.1,0.1,0.05 (got {text!r}).") from None
    return BoxSensor.read({"lower": lower, "upper": upper}, "--sensor")


def _in_options(error: InputError) -> str:
    """A refusal of the policy, with the names of options for those of fields."""
    names = {f"{part}.{field}" if part else field: _option(option) for option, (part, fields) in PLACES.items() for field in fields}
    lines: list[str] = []
    for field, text, value in error.places:
        if field in names:
            text = f"{names[field]}: {text} (got {value!r})"
        for place, name in names.items():
            text = text.replace(place, name)
        if text not in lines:  # one option sets several fields
            lines.append(text)
    return "; ".join(lines) + "."
