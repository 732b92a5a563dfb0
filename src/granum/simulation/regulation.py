"""The regulators of a run at work: before every step they set motors of joints from what the last step gave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..machines import JointView
from ..scene.joints import Motor
from ..scene.regulators import Regulator
from ..scene.scene import Scene

Joints = Callable[[str], JointView]


class Regulation:
    """The regulators of a scene and what they remember: of each that has begun, its integral part, in the unit of the motor's target."""

    def __init__(self, scene: Scene) -> None:
        motors: dict[str, Motor | None] = {joint.name: getattr(joint, "motor", None) for joint in scene.joints}
        self._motors = {name: motor for name, motor in motors.items() if motor is not None}
        self._regulators = scene.regulators
        self._integral: dict[str, float] = {}

    def set_motors(self, joint: Joints, time: float, h: float) -> None:
        """Targets of the motors for a step of ``h`` [s] that begins at ``time`` [s]."""
        for regulator in self._regulators:
            if regulator.works_at(time):
                motor, view = self._motors[regulator.joint], joint(regulator.joint)
                wanted = regulator.set_point(time + h)
                area = area_of(regulator, joint)
                if regulator.is_direct(motor):
                    view.target = wanted * area
                else:
                    view.target = self._regulated(regulator, view, wanted, area, h)

    def _regulated(self, regulator: Regulator, view: JointView, wanted: float, area: float, h: float) -> float:
        """A PI regulator's output; its integral starts from what the motor does now, so that the output does not jump."""
        stress = regulator.quantity == "stress"
        measured = view.motor_force / area if stress else view.speed
        error = wanted - measured
        if regulator.name not in self._integral:
            now = view.speed if stress else view.motor_force
            self._integral[regulator.name] = now - regulator.proportional * error
        self._integral[regulator.name] += regulator.integral * error * h
        return regulator.proportional * error + self._integral[regulator.name]

    def checkpoint(self) -> dict[str, float]:
        """What the next step depends on."""
        return dict(self._integral)

    def restore(self, saved: dict[str, Any]) -> None:
        self._integral = {name: float(value) for name, value in saved.items()}


def area_of(regulator: Regulator, joint: Joints) -> float:
    """[m^2] that its stress acts on now; 1 of a regulator of a speed."""
    area = regulator.area if regulator.area is not None else 1.0
    for span in regulator.spans:
        ways = 0.0
        for name in span.joints:
            ways += joint(name).coordinate
        area *= max(0.0, 1.0 - ways / span.length)
    return area
