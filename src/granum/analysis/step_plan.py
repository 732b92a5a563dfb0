"""The nonsmooth step of a system that is only planned: the one that a run takes by itself, and its error against other steps (SN (37))."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..nonsmooth.time_step import TimeStep, largest_step, step_by_gravity, step_by_speed, step_error
from ..scene.scene import Scene
from ..scene.speeds import Speed, expected_speeds
from .cost_model import PlannedSystem, normal_velocity, shape_factor

FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)


@dataclass(frozen=True)
class PlannedStep:
    """The step, and what its error follows from."""

    step: TimeStep
    speed: float
    """Of the fastest [m/s]."""
    gravity: float
    """[m/s^2]"""

    def errors(self, diameter: float, scene_step: float | None = None) -> list[dict[str, Any]]:
        """Error [d] of this step, of shorter and longer ones, and of the one that a scene gives for itself [s]."""
        steps = {self.step.seconds * factor: "planned" if factor == 1 else "" for factor in FACTORS}
        if scene_step is not None:
            steps[scene_step] = "of the scene"
        return [
            {
                "time_step": h,
                "way": step_error(h, diameter, 0.0, self.speed),
                "fall": step_error(h, diameter, self.gravity, 0.0),
                "error": step_error(h, diameter, self.gravity, self.speed),
                "which": which,
            }
            for h, which in sorted(steps.items())
        ]


def plan_step(system: PlannedSystem, scene: Scene | None, *, speed: float | None, own_gravity: bool, exact: bool) -> PlannedStep:
    """The automatic step for a system, with the speeds and the gravity of its scene if there is one.

    ``speed`` [m/s] is taken instead of the scene's, and with ``own_gravity`` the system's gravity. A flow counts with its inertial number.
    ``exact``: the tolerance was asked for, so neither the flow nor gravity may make an error above it.
    """
    d, gravity = system.diameter, system.gravity
    flow = float(normal_velocity(system.inertial, d, shape_factor(system.width, system.height), gravity))
    speeds = [Speed(flow, f"a flow of I = {system.inertial:g} at {flow:.2g} m/s")] if flow > 0 else []
    if speed is not None:
        speeds += [Speed(speed, f"a speed of {speed:.3g} m/s")] if speed > 0 else []
    elif scene is not None:
        speeds += expected_speeds(scene)
    if scene is not None and not own_gravity:
        gravity = math.sqrt(sum(x * x for x in scene.gravity.acceleration))
    fastest = max(speeds, key=lambda one: one.value, default=None)
    step = largest_step(d, gravity, fastest)
    if step is None:  # nothing moves: as it would be with the gravity that the cost model counts with
        gravity = system.gravity
        step = largest_step(d, gravity, None)
    assert step is not None
    if exact:
        smaller = min(float(step_by_gravity(d, gravity, system.tolerance)), float(step_by_speed(d, flow, system.tolerance)))
        if smaller < step.seconds:
            step = TimeStep(smaller, f"a mean overlap error of {100 * system.tolerance:g} %")
    return PlannedStep(step, fastest.value if fastest is not None else 0.0, gravity)
