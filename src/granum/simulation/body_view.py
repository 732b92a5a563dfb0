"""What a user reads of a body of the scene after a step."""

from __future__ import annotations

import numpy as np

from ..arithmetic import dot, length, times
from ..array_types import FloatArray
from ..checks import InputError, known_name
from ..scene.bodies import Body
from ..state.bodies import Bodies
from ..state.rotation import matrix, quaternion_product
from .stepper import Stepper


class BodyView:
    """One body of a run: where it is, how it moves, and what grains did to it in the last step.

    Forces are means over the step, collisions included; they are those on its walls and on grains that are fixed to it. Grains that have
    merged with it are a part of it: what pushes them counts, their own weight does not. SI units, world axes.
    """

    def __init__(self, body: Body, row: int, bodies: Bodies, stepper: Stepper, h: float) -> None:
        self.body, self._row, self._bodies, self._stepper, self._h = body, row, bodies, stepper, h

    @property
    def position(self) -> FloatArray:
        """(3,) [m] of its frame; of a dynamic body its centre of mass."""
        return self._bodies.position[self._row].copy()

    @property
    def orientation(self) -> FloatArray:
        """(4,) unit quaternion, w first, from its frame to the world."""
        return self._bodies.orientation[self._row].copy()

    def frame(self, name: str) -> tuple[FloatArray, FloatArray]:
        """Where a frame of the body is now, such as that of a tool: position (3,) [m] and orientation (4,), a unit quaternion, w first."""
        names = [frame.name for frame in self.body.frames]
        if not names:
            raise InputError(f"body {self.body.name!r} has no frame {name!r}: the scene gives it none (Body.frames).")
        found = self.body.frames[names.index(known_name(f"frame of body {self.body.name!r}", name, names))]
        turned, own = self.orientation, np.asarray(found.orientation) / length(found.orientation)
        return self.position + times(matrix(turned), np.asarray(found.position)), quaternion_product(turned, own)

    @property
    def velocity(self) -> FloatArray:
        """(3,) [m/s]"""
        return self._bodies.velocity[self._row].copy()

    @property
    def spin(self) -> FloatArray:
        """(3,) [rad/s]"""
        return self._bodies.spin[self._row].copy()

    @property
    def force(self) -> FloatArray:
        """(3,) of all that touches it [N]."""
        return self._push[:3]

    @property
    def torque(self) -> FloatArray:
        """(3,) of all that touches it, about its position [N m]."""
        return self._push[3:]

    @property
    def power(self) -> float:
        """What grains give it [W], force . velocity + torque . spin; less than 0: it drives them. A belt that runs along a wall is no
        motion of the body."""
        push = self._push
        return float(dot(push[:3], self.velocity) + dot(push[3:], self.spin))

    @property
    def _push(self) -> FloatArray:
        return self._stepper.pushes(self._h)[self._row]

    def __repr__(self) -> str:
        return f"BodyView({self.body.kind} {self.body.name!r}, force={self.force.tolist()}, torque={self.torque.tolist()})"
