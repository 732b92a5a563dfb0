"""What a user reads of a joint after a step, and what a controller writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arithmetic import dot
from ..array_types import FloatArray
from ..checks import InputError, finite_number
from ..scene.joints import Joint
from ..state.bodies import Bodies
from .groups import FORCE, LOWER, POSITION, SPEED, UPPER

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
        """(3,) with which the joint holds b [N], world axes; what motor and limits add is not in it."""
        return self._reaction[:3]

    @property
    def torque(self) -> FloatArray:
        """(3,) about the centre of mass of b [N m], world axes."""
        return self._reaction[3:]

    @property
    def _reaction(self) -> FloatArray:
        rows, first = self._machines.links.rows, self._machines.table.first_row
        k = slice(first[self._number], first[self._number + 1])
        return np.asarray(dot(rows.row[k, 6:].T, rows.impulse[k])) / self._h

    @property
    def motor_force(self) -> float:
        """Of the motor [N, N m]; positive pushes b away from a. 0: there is none."""
        return self._bounded(SPEED, POSITION, FORCE)

    @property
    def limit_force(self) -> float:
        """Of the limits [N, N m], without collisions; positive pushes b away from a."""
        return self._bounded(LOWER) - self._bounded(UPPER)

    def _bounded(self, *kinds: int) -> float:
        drives = self._machines.links.drives
        mine = (drives.joint == self._number) & np.isin(drives.kind, kinds)
        return float(drives.impulse[mine].sum()) / self._h if mine.any() else 0.0

    @property
    def target(self) -> float:
        """The set point of the motor in the last step [m/s, rad/s, m, rad, N, N m]. Write it before a step to take the place of what the
        scene says, from then on."""
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
