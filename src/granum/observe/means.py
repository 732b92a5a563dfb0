"""What bodies and joints carry, summed up step by step: recordings have the means since the last frame."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._jit import kernel
from ..array_types import FloatArray
from .watched import Watched


@kernel
def add_loads(push: FloatArray, velocity: FloatArray, spin: FloatArray, sums: FloatArray) -> None:
    """Add forces and torques (W, 6) [N, N m], and the power [W] that they have at the bodies' velocities and spins, to ``sums`` (W, 7)."""
    for w in range(len(push)):
        power = 0.0
        for f in range(6):
            sums[w, f] += push[w, f]
            power += push[w, f] * (velocity[w, f] if f < 3 else spin[w, f - 3])
        sums[w, 6] += power


class Means:
    """Sums since the last frame that was due; they are kept in the checkpoints of the run (``sim.sums``), so that a restart goes on with
    them.

    ``key`` tells those of several recorders apart: sums that begin at the same steps are the same.
    """

    def __init__(self, sim: Watched, key: str) -> None:
        joints = len(sim.scene.joints)
        before = sim.sums.get(key, {})
        self.bodies = np.array(before.get("bodies", np.zeros((len(sim.scene.all_bodies), 7))))  # force, torque and power
        self.joints = np.array(before.get("joints", np.zeros((joints, 8))))  # impulses, see ``Machines.carried``
        self.steps = np.array(before.get("steps", np.zeros(1, np.int64)))
        sim.sums[key] = {"bodies": self.bodies, "joints": self.joints, "steps": self.steps}

    def add(self, sim: Watched) -> None:
        """Of the step that was just done."""
        add_loads(sim.stepper.pushes(sim.time_step), sim.bodies.velocity, sim.bodies.spin, self.bodies)
        if sim.stepper.machines is not None:
            self.joints += sim.stepper.machines.carried
        self.steps += 1

    def restart(self) -> None:
        """A frame was due: what comes belongs to the next one."""
        for sums in (self.bodies, self.joints, self.steps):
            sums[:] = 0

    def of_bodies(self) -> dict[str, Any]:
        """Means, in the columns of a frame."""
        mean = self._mean(self.bodies)
        return {"force": mean[:, :3], "torque": mean[:, 3:6], "power": mean[:, 6]}

    def of_joints(self, sim: Watched) -> dict[str, Any]:
        """Means and coordinates of now, in the columns of a frame."""
        machines, views = sim.stepper.machines, [sim.joint(joint.name) for joint in sim.scene.joints]
        assert machines is not None
        mean = self._mean(self.joints / sim.time_step)[[machines.number(joint.name) for joint in sim.scene.joints]]
        return {
            "coordinate": [view.coordinate for view in views],
            "speed": [view.speed for view in views],
            "force": mean[:, :3],
            "torque": mean[:, 3:6],
            "motor_force": mean[:, 6],
            "limit_force": mean[:, 7],
        }

    def _mean(self, sums: np.ndarray) -> np.ndarray:
        steps = int(self.steps[0])
        return sums / steps if steps else np.full_like(sums, np.nan)
