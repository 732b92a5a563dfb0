"""The door of a run that merges grains: what of scene and policy does not go together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..checks import InputError
from ..reduction import refused
from ..scene.scene import Scene
from .guards import default_world
from .settings import Settings

if TYPE_CHECKING:
    from .simulation import Simulation


def check_reduction(scene: Scene, settings: Settings) -> None:
    """Refuse model reduction in a periodic cell with locked axes or fixed grains, and the split ``sensor`` of a scene that has none."""
    policy = settings.reduction
    if policy is None:
        return
    if scene.cell is not None:
        raise InputError(f"{refused.CELL}. Leave the reduction out, or put walls in place of the cell.")
    held = [body.name for body in scene.bodies if body.locked]
    if held:
        raise InputError(f"{refused.LOCKED} (body {held[0]!r}). Leave the reduction out, or the locked axes.")
    fixed = [block.body for block in scene.grains if block.body is not None]
    if fixed:
        raise InputError(f"{refused.FIXED} (body {fixed[0]!r}). Leave the reduction out, or make a mesh of these grains.")
    if "sensor" in policy.split and not scene.sensors:
        raise InputError(
            "reduction.split has 'sensor', but the scene has no sensor: add one (`sensors` of the scene, --sensor X,Y,Z:X,Y,Z), or leave "
            f"'sensor' out (got split {', '.join(policy.split)})."
        )


def check_sensors(sim: Simulation) -> None:
    """Refuse a sensor that no grain can get to; a scene with a world of its own has checked them itself."""
    policy = sim.settings.reduction
    if policy is None or "sensor" not in policy.split or sim.scene.world is not None:
        return
    low, high = default_world(sim)
    for k, sensor in enumerate(sim.scene.sensors):
        lower, upper = (np.asarray(corner) for corner in sensor.bounds)
        if (upper <= low).any() or (lower >= high).any():
            raise InputError(
                f"sensors.{k} ({sensor.shape}) must reach into the world, {_box(low, high)}, else no grain gets there "
                f"(got {_box(lower, upper)}): move it, or give the scene a larger world."
            )


def _box(low: np.ndarray, high: np.ndarray) -> str:
    corners = (f"({', '.join(f'{v:.4g}' for v in corner)})" for corner in (low, high))
    return f"{' to '.join(corners)} m"
