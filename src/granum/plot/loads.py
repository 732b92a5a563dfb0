"""What bodies and joints carry in time."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..analysis.recorded_loads import bodies_of, joints_of, turns
from ..array_types import FloatArray
from ..checks import InputError
from ..io import Recording
from . import style
from .look import Look
from .series import about_frames

AXES = {"x": style.BLUE, "y": style.ORANGE, "z": style.GREEN}
DASHES = ("-", "--", ":")
Panel = tuple[str, str, dict[str, FloatArray]]
"""Name and unit of the axis, and curves (F,) by their names in the legend."""


def draw_body_force(recording: Recording, look: Look) -> Any:
    """Force and torque on one body along x, y and z, or their sizes on several; means of the steps between two frames."""
    _check_curve(recording)
    names = bodies_of(recording, [look.body] if look.body else None)
    found = [recording.body(name) for name in names]
    if len(found) == 1:
        panels = [("force", "N", _along(found[0].force)), ("torque", "N m", _along(found[0].torque))]
        return _draw(f"Force of grains on {names[0]}", recording, panels)
    forces, torques = ({name: _size(getattr(one, load)) for name, one in zip(names, found, strict=True)} for load in ("force", "torque"))
    return _draw("Forces of grains on bodies", recording, [("force", "N", forces), ("torque", "N m", torques)])


def draw_joint_force(recording: Recording, look: Look) -> Any:
    """What one joint carries, or the forces of several motors; means of the steps between two frames."""
    _check_curve(recording)
    names = joints_of(recording, [look.joint] if look.joint else None)
    if len(names) == 1:
        return _draw(f"Forces of joint {names[0]}", recording, _of_joint(recording, names[0]))
    found = {name: recording.joint(name) for name in names}
    kinds = {joint.name: joint for joint in recording.scene.joints}
    if all(getattr(kinds[name], "motor", None) is None for name in names):
        sizes = [{name: _size(getattr(one, load)) for name, one in found.items()} for load in ("force", "torque")]
        return _draw("Forces of joints", recording, [("force", "N", sizes[0]), ("torque", "N m", sizes[1])])
    pushes = {name: one.motor_force for name, one in found.items() if not turns(recording, name)}
    twists = {name: one.motor_force for name, one in found.items() if turns(recording, name)}
    panels = [("motor force", "N", pushes), ("motor torque", "N m", twists)]
    return _draw("Forces of motors", recording, [panel for panel in panels if panel[2]])


def _of_joint(recording: Recording, name: str) -> list[Panel]:
    """Of one joint: what it holds, what drives and stops it, and where it is."""
    found = recording.joint(name)
    (joint,) = (joint for joint in recording.scene.joints if joint.name == name)
    angle = turns(recording, name)
    panels: list[Panel] = [("force", "N", _along(found.force)), ("torque", "N m", _along(found.torque))]
    panels = [
        panel for panel in panels if any(np.nan_to_num(rows).any() for rows in panel[2].values())
    ]  # a hydraulic cylinder holds nothing
    ends = {"motor": found.motor_force, "limits": found.limit_force}
    has = {end: rows for end, rows in ends.items() if getattr(joint, end, None) is not None}
    if has:
        panels.append((" and ".join(has), "N m" if angle else "N", has))
    if joint.has_coordinate:
        panels.append(("angle" if angle else "length", "rad" if angle else "m", {"coordinate": found.coordinate}))
    return panels or [("force", "N", _along(found.force))]


def _draw(title: str, recording: Recording, panels: list[Panel]) -> Any:
    time = recording.times
    figure, axes = style.chart(title, f"{about_frames(recording)}; means between frames", panels=len(panels))
    for one, (name, unit, curves) in zip(axes, panels, strict=True):
        values, shown = style.scaled(np.array(list(curves.values())), unit)
        for k, (label, rows) in enumerate(zip(curves, values, strict=True)):
            colour = AXES.get(label, style.LINES[k % len(style.LINES)])
            one.plot(time, rows, color=colour, ls=DASHES[k // len(style.LINES) % len(DASHES)], lw=1.4, label=label)
        one.axhline(0.0, color=style.GREY, lw=0.6, zorder=1)
        one.set(ylabel=f"{name} [{shown}]", xlim=(time[0], time[-1]))
        if len(curves) > 1 or "coordinate" not in curves:
            one.legend(frameon=False, fontsize=8.5, ncols=min(3, len(curves)), loc="best")
    axes[-1].set_xlabel("time [s]")
    return figure


def _along(rows: FloatArray) -> dict[str, FloatArray]:
    return {axis: rows[:, k] for k, axis in enumerate("xyz")}


def _size(rows: FloatArray) -> FloatArray:
    return np.linalg.norm(rows, axis=1)


def _check_curve(recording: Recording) -> None:
    if len(recording) < 2:
        raise InputError(f"{recording.path} holds {len(recording)} frame: a curve in time needs two or more.")
