"""Model reduction as an extension of runs: its policy, and what it adds to steps, files and summaries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from ..checks import InputError
from ..extensions.base import ExtensibleStepper, Extension, Scalar, StepPart
from ..records import Whole
from ..state.columns import Column
from .policy import ContactSplit, Merge, TrialSplit

if TYPE_CHECKING:
    from ..scene.scene import Scene
    from ..state.saved import SavedPart

Split = Literal["contact", "trial", "sensor"]
AGGREGATE = Column(
    "aggregate",
    np.int32,
    (),
    "1",
    "-1: free; below the number of wall bodies: held by that body; else of the aggregate",
    attribute="merged_into",
)


class Reduction(Extension):
    """How a run merges grains that move as one; thresholds are those of MR Table 2 unless given."""

    name: ClassVar[str] = "reduction"
    saved_as: ClassVar[str] = "reduced"
    scalars: ClassVar[tuple[Scalar, ...]] = (
        Scalar("reduction_level", "1", "1 - (free grains and aggregates) / grains", mean=True, progress="level {:.0%}"),
        Scalar("free_grains", "1", "grains that move on their own", whole=True),
        Scalar("aggregates", "1", "rigid bodies of merged grains that no wall holds", whole=True),
    )
    columns: ClassVar[tuple[Column, ...]] = (AGGREGATE,)
    timers: ClassVar[tuple[str, ...]] = ("follow", "split", "merge")
    not_smooth: ClassVar[str] = (
        "model reduction needs the nonsmooth stepper: it leaves contacts inside of rigid aggregates out of the contact problem of a step. "
        "The smooth stepper has no such problem: its forces are the springs of all contacts, so it needs the overlap of every one"
    )
    not_at_rest: ClassVar[str] = (
        "model reduction needs a run in time with the nonsmooth stepper: it leaves contacts inside of rigid aggregates out of the contact "
        "problem of a step. A packing at rest has no such problem: its energy is that of the overlaps of all grains, which all must move "
        "to minimise it"
    )
    """Why packings do not have it."""
    of_contacts: ClassVar[str] = "none inside of aggregates, but for grains that are tried"

    split: tuple[Split, ...] = ("contact", "trial")
    """What makes aggregates come apart, in any combination; sensors stand in the scene."""
    merge: Merge = Merge()
    """When grains merge."""
    contact: ContactSplit = ContactSplit()
    """When what happens at a contact splits."""
    trial: TrialSplit = TrialSplit()
    """When a trial splits."""
    shadow: Whole = Field(default=0, ge=0)
    """Steps of which a full-resolution shadow is kept, to measure the approximation error (MR (20)-(22)); 0: none."""

    @model_validator(mode="after")
    def _sound(self) -> Reduction:
        if not self.split:
            raise ValueError("split must name at least one of contact, trial and sensor: else what has merged never comes apart")
        if len(set(self.split)) < len(self.split):
            raise ValueError(f"split names something twice: {', '.join(self.split)}")
        for kind in ("contact", "trial"):
            if kind not in self.split:
                continue
            rule = getattr(self, kind)
            for name in ("approach", "separation", "tangential", "rolling"):
                limit, merged = getattr(rule, name), getattr(self.merge, name)
                if limit is not None and limit <= merged:
                    unit = "rad/s" if name == "rolling" else "m/s"
                    raise ValueError(
                        f"{kind}.{name} ({limit:g} {unit}) must be above merge.{name} ({merged:g} {unit}): "
                        "else grains come apart and merge again in every step"
                    )
        if "trial" in self.split and all(
            getattr(self.trial, name) is None for name in ("force", "torque", "approach", "separation", "tangential", "rolling")
        ):
            raise ValueError("trial has no limit at all: give force (0.1), or leave trial out of split")
        return self

    # --- what a run asks of it ---

    def check(self, scene: Scene) -> None:
        """Refuse a periodic cell, locked axes, fixed grains, and the split ``sensor`` of a scene that has none."""
        if scene.cell is not None:
            raise InputError(
                "model reduction does not work in a periodic cell: an aggregate could reach around it and touch itself. Leave the "
                "reduction out, or put walls in place of the cell."
            )
        held = [body.name for body in scene.bodies if body.locked]
        if held:
            raise InputError(
                "model reduction does not know of locked axes: an aggregate with such a body in it would move along them "
                f"(body {held[0]!r}). Leave the reduction out, or the locked axes."
            )
        fixed = [block.body for block in scene.grains if block.body is not None]
        if fixed:
            raise InputError(
                "model reduction does not know of grains that are fixed to bodies: it would let them come off "
                f"(body {fixed[0]!r}). Leave the reduction out, or make a mesh of these grains."
            )
        if "sensor" in self.split and not scene.sensors:
            raise InputError(
                "reduction.split has 'sensor', but the scene has no sensor: add one (`sensors` of the scene, --sensor X,Y,Z:X,Y,Z), or "
                f"leave 'sensor' out (got split {', '.join(self.split)})."
            )

    def check_start(self, sim: Any) -> None:
        """Refuse a sensor that no grain can get to; a scene with a world of its own has checked them itself."""
        if "sensor" not in self.split or sim.scene.world is not None:
            return
        low, high = sim.world
        for k, sensor in enumerate(sim.scene.sensors):
            lower, upper = (np.asarray(corner) for corner in sensor.bounds)
            if (upper <= low).any() or (lower >= high).any():
                raise InputError(
                    f"sensors.{k} ({sensor.shape}) must reach into the world, {_box(low, high)}, else no grain gets there "
                    f"(got {_box(lower, upper)}): move it, or give the scene a larger world."
                )

    def extend(self, stepper: ExtensibleStepper) -> StepPart:
        from .reducer import Reducer

        return Reducer(self, stepper)

    def check_saved(self, part: SavedPart, scene: Scene, grains: int, first: int) -> None:
        from .reducer import Reducer

        Reducer.check_saved(part, scene, grains, first)

    def check_shadow(self, part: SavedPart, check: Callable[[Mapping[str, Any]], None]) -> None:
        from .shadow import Shadow

        Shadow.check_saved(part, check)

    def summary(self, sim: Any) -> dict[str, Any]:
        """The approximation error, if it was measured."""
        return {"approximation_error": sim.shadow.summary()} if sim.shadow is not None else {}

    @classmethod
    def rows(cls, summary: Mapping[str, Any]) -> list[tuple[str, str]]:
        """The policy, how far it got, and the error if it was measured."""
        rows = [("reduction", _policy(summary["reduction"]))]
        if summary.get("reduction_level") is not None:
            mean = f" (mean {summary['mean_reduction_level']:.1%})" if "mean_reduction_level" in summary else ""
            bodies = f"{summary['free_grains']} free grains, {summary['aggregates']} aggregates"
            rows.append(("reduction level", f"{summary['reduction_level']:.1%}{mean}: {bodies}"))
        error = summary.get("approximation_error")
        if error is not None:
            windows = f"{error['windows']} windows of {error['steps']} steps"
            mean = error["mean"]
            found = windows
            if mean is not None:
                parts = f"across {mean['perpendicular']:.3g}, along {mean['parallel']:.3g}"
                found = f"{mean['rms']:.3g} d ({parts}), largest {mean['largest']:.3g} d, mean of {windows}"
            rows.append(("approximation error", found))
        return rows


def _box(low: np.ndarray, high: np.ndarray) -> str:
    corners = (f"({', '.join(f'{v:.4g}' for v in corner)})" for corner in (low, high))
    return f"{' to '.join(corners)} m"


def _policy(policy: Mapping[str, Any]) -> str:
    """In a line: what merges, and what splits."""
    merge, contact, trial = policy["merge"], policy["contact"], policy["trial"]
    ways = {
        "contact": f"contact (above {_limit(contact['approach'], 'm/s')}, depth {contact['depth']})",
        "trial": f"trial (force {_limit(trial['force'], '')}, "
        + ("whole aggregates)" if trial["depth"] is None else f"{trial['depth']} layers)"),
        "sensor": "sensor",
    }
    split = ", ".join(ways[kind] for kind in policy["split"])
    return f"merge below {merge['tangential']:g} m/s, {merge['rolling']:g} rad/s; split by {split}"


def _limit(value: float | None, unit: str) -> str:
    return "no limit" if value is None else f"{value:g} {unit}".strip()
