"""What a user reads of a joint after a step, and what a controller writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..array_types import FloatArray
from ..checks import InputError, finite_number
from ..scene.joints import Joint
from ..state.bodies import Bodies

if TYPE_CHECKING:
    from .machines import Machines


class JointView:
    """One joint of a run: its coordinate, and the forces of the last step."""

    def __init__(self, machines: Machines, number: int, bodies: Bodies, h: float) -> None:
        self._machines, self._number, self._bodies, self._h = machines, number, bodies, h

    @property
    def joint(self) -> Joint:
        """The joint of the scene."""
        return self._machines.joints[self._number]

    @property
    def coordinate(self) -> float:
        """Angle [rad] of a hinge, way [m] of a slider or a cylindrical joint, length [m] of a distance; NaN: the joint has none."""
        return self._machines.coordinate(self._number, self._bodies)

    @property
    def speed(self) -> float:
        """Rate of the coordinate [rad/s, m/s]; NaN: the joint has none."""
        return self._machines.speed(self._number, self._bodies)

    @property
    def force(self) -> FloatArray:
        """(3,) with which the joint holds b [N], world axes; what motor and limits add is not in it. Collisions of the step are."""
        return self._carried[:3]

    @property
    def torque(self) -> FloatArray:
        """(3,) about the centre of mass of b [N m], world axes."""
        return self._carried[3:6]

    @property
    def motor_force(self) -> float:
        """Of the motor [N, N m]; positive pushes b away from a. 0: there is none."""
        return float(self._carried[6])

    @property
    def limit_force(self) -> float:
        """Of the limits [N, N m]; positive pushes b away from a."""
        return float(self._carried[7])

    @property
    def _carried(self) -> FloatArray:
        return self._machines.carried[self._number] / self._h

    @property
    def target(self) -> float:
        """The set point of the motor in the last step [m/s, rad/s, m, rad, N, N m]; of a pressure, its force. Write it before a
        step to take the place of what the scene says, from then on."""
        drives = self._machines.links.drives
        return float(drives.set_point[self._motor(), 1])

    @target.setter
    def target(self, value: float) -> None:
        self._motor()
        self._machines.given[self.joint.name] = finite_number(f"target of the motor of joint {self.joint.name!r}", value)

    def _motor(self) -> int:
        for k, _ in self._machines.motors:
            if self._machines.links.drives.joint[k] == self._number:
                return k
        raise InputError(f"joint {self.joint.name!r} has no motor: give it one in the scene.")

    def __repr__(self) -> str:
        c = f", coordinate={self.coordinate:.6g}" if self.joint.has_coordinate else ""
        return f"JointView({self.joint.kind} {self.joint.name!r}{c}, force={self.force.tolist()}, motor_force={self.motor_force:.6g})"
