"""A machine of granum as a model of MuJoCo, for tests that hold one program against the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from granum import Ball, Body, Hinge, Scene, Slider

TYPES = {Hinge: "hinge", Slider: "slide", Ball: "ball"}


def text(values: Any) -> str:
    return " ".join(f"{v:.17g}" for v in np.ravel(values))


def to_mjcf(scene: Scene, step: float) -> str:
    """Bodies hang in the first joint that has them as b, with their frames at their centres of mass and along the axes of the world; bodies
    of no joint float; joints that close a loop hold a point. Motors are left out: ``give_forces`` has them."""
    bodies = {body.name: body for body in scene.bodies}
    holds: dict[str, Any] = {}
    for joint in scene.joints:
        holds.setdefault(joint.bodies[1], joint)
    loops = [joint for joint in scene.joints if holds.get(joint.bodies[1]) is not joint]

    def element(body: Body, origin: Any) -> str:
        joint, at = holds.get(body.name), np.asarray(body.position)
        if joint is None:
            made = "<freejoint/>"
        else:
            anchor = at if joint.anchor is None else np.asarray(joint.anchor)
            axis = f'axis="{text(joint.axis)}"' if not isinstance(joint, Ball) else ""
            made = f'<joint name="{joint.name}" type="{TYPES[type(joint)]}" pos="{text(anchor - at)}" {axis}/>'
        inside = "".join(element(bodies[name], at) for name, other in holds.items() if other.bodies[0] == body.name)
        return (
            f'<body name="{body.name}" pos="{text(at - origin)}">{made}<inertial pos="0 0 0" quat="{text(body.orientation)}" '
            f'mass="{body.mass!r}" diaginertia="{text(body.inertia)}"/>{inside}</body>'
        )

    tops = [body for body in scene.bodies if body.name not in holds or holds[body.name].bodies[0] == "ground"]
    closed = "".join(
        f'<connect body1="{joint.bodies[1]}" anchor="{text(np.subtract(joint.anchor, bodies[joint.bodies[1]].position))}" '
        f"{'' if joint.bodies[0] == 'ground' else f'body2={chr(34)}{joint.bodies[0]}{chr(34)}'} "
        'solref="0.0004 1" solimp="0.99999 0.99999 0.001"/>'
        for joint in loops
    )
    return (
        f'<mujoco><option timestep="{step!r}" integrator="RK4" gravity="{text(scene.gravity.acceleration)}"/>'
        f"<worldbody>{''.join(element(body, np.zeros(3)) for body in tops)}</worldbody><equality>{closed}</equality></mujoco>"
    )


def give_forces(scene: Scene, model: Any, data: Any) -> None:
    """Constant forces of motors, and those on bodies."""
    for joint in scene.joints:
        motor = getattr(joint, "motor", None)
        if motor is not None:
            data.qfrc_applied[model.joint(joint.name).dofadr[0]] = motor.target(0.0)
    for body in scene.bodies:
        data.xfrc_applied[model.body(body.name).id, :3] = body.force
