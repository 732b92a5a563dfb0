"""What bodies and joints of a recording carry: which of them are looked at, and means over frames."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..array_types import FloatArray
from ..checks import InputError
from ..io import Recording


def bodies_of(recording: Recording, names: Sequence[str] | None = None) -> list[str]:
    """The bodies that are asked for; none: those that are driven or pushed and have something to touch, or else all besides the ground."""
    if names:
        return list(names)
    scene = recording.scene
    touched = {block.body for block in scene.grains} | {body.name for body in scene.bodies if body.walls}
    found = [body.name for body in scene.bodies if body.kind != "static" and body.name in touched]
    found = found or [body.name for body in scene.bodies]
    if not found:
        raise InputError(f"{recording.path} is of a scene without bodies besides the ground: there are no forces on them to look at.")
    return found


def joints_of(recording: Recording, names: Sequence[str] | None = None) -> list[str]:
    """The joints that are asked for; none: those that have a motor, or else all."""
    if names:
        return list(names)
    joints = recording.scene.joints
    if not joints:
        raise InputError(f"{recording.path} is of a scene without joints.")
    return [joint.name for joint in joints if getattr(joint, "motor", None) is not None] or [joint.name for joint in joints]


def turns(recording: Recording, name: str) -> bool:
    """Whether the coordinate of a joint is an angle."""
    return any(joint.name == name and joint.kind == "hinge" for joint in recording.scene.joints)


def steps_before(recording: Recording) -> FloatArray:
    """(F,) how many steps the means of each frame are over."""
    return np.diff(recording.steps, prepend=0).astype(float)


def mean_of(values: FloatArray, steps: FloatArray) -> FloatArray:
    """Mean of rows (F, ...) that are themselves means over so many ``steps`` (F,), without those that have no value. NaN: none has."""
    there = np.isfinite(values).reshape(len(values), -1).all(axis=1) & (steps > 0)
    if not there.any():
        return np.full(values.shape[1:], np.nan)
    return np.asarray(np.tensordot(steps[there] / steps[there].sum(), values[there], 1))
