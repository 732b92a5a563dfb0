"""The recorder: frames of a run into its recording."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..checks import InputError, OutputError, RunError, as_path
from ..io import RecordingWriter
from ..io.layout import COUNTERS
from ..io.storage import Storage
from ..state import status
from ..state.report import STAGES, timers
from .machine import machine
from .means import Means
from .trigger import Trigger
from .watched import Watched, WatchedSettings

REPORTED = ("kinetic_energy", "energy", "elastic_energy", "contacts", "impacts", "iterations", "residual", "velocity_error", "max_overlap")
"""Scalars that the report of a step has under the same name."""
SCALARS = (
    *REPORTED,
    "mean_overlap",
    *(f"{stage}_seconds" for stage in STAGES),
)


class Recorder:
    """Writes a frame at the start, whenever ``every`` says so, and of the last state.

    ``description`` goes into the file as it is; ``summary``, called at the end, gives what the run reports and is kept in ``reported``.
    Of bodies besides the ground, and of joints, frames have the mean forces of all steps since the last one.
    With ``resume`` the file is continued from the state of the simulation: later frames are dropped. In a scene with a cell positions and
    contact points are recorded inside it.
    """

    def __init__(
        self,
        path: str | Path,
        every: Trigger,
        *,
        description: Mapping[str, Any] | None = None,
        summary: Callable[[Any], dict[str, Any]] | None = None,
        resume: bool = False,
    ) -> None:
        if not hasattr(every, "due"):
            raise InputError(f"every must be a trigger, such as seconds(0.1) or steps(10) (got {every!r}).")
        self.path, self.every, self.resume = as_path("recording", path), every, resume
        self.description, self.summary = description, summary
        self.reported: dict[str, Any] | None = None
        self._writer: RecordingWriter | None = None
        self._means: Means | None = None  # of a scene without bodies there are none
        self._last = -1  # step of the last frame

    def start(self, sim: Watched) -> None:
        self._means = Means(sim, repr(self.every).replace("/", " ")) if sim.scene.bodies else None
        if self.resume:
            due = self.every.last(sim.step_count, sim.time_step)
            self._writer = RecordingWriter.resume(self.path, keep_until=due * sim.time_step)
            self._check_columns(sim, self._writer)
            self._last = self._writer.last_step
        else:
            expected = sim.grain_count + sum(e.count or 0 for e in sim.scene.emitters)
            self._writer = RecordingWriter(
                self.path,
                self.description or describe(sim),
                tuple(frame_scalars(sim)),
                expected_points=max(expected, 1),
                units={scalar.name: scalar.unit for extension in sim.settings.extensions for scalar in extension.scalars},
                columns=tuple(more_columns(sim)),
                loads=self._means is not None,
                joints=bool(sim.scene.joints),
                counters=sim.scene.counted,
                storage=storage_of(sim.settings),
            )
            self.resume = True  # a simulation that is run again continues its file
            self._last = -1
        self._look(sim)

    def _check_columns(self, sim: Watched, writer: RecordingWriter) -> None:
        known = set(writer.scalar_names) | {"velocity_error"}  # which older versions did not record
        if known != set(frame_scalars(sim)) or set(writer.columns) != set(more_columns(sim)):
            writer.close()
            raise InputError(
                f"recording {self.path} cannot be continued: its frames have other columns than this run records. It is damaged or of "
                "another version of granum: restart with that one, or run again under another name."
            )

    def observe(self, sim: Watched) -> None:
        if self._means is not None:
            self._means.add(sim)
        self._look(sim)

    def _look(self, sim: Watched) -> None:
        if sim.step_count != self._last and self.every.due(sim.step_count, sim.time_step):
            self._record(sim)
            if self._means is not None:
                self._means.restart()

    def finish(self, sim: Watched) -> None:
        if self._writer is None:
            return
        try:
            # A step that a guard refused is recorded too: it shows what went wrong.
            if sim.step_count != self._last and (sim.whole or isinstance(sim.ended_by, RunError)):
                self._record(sim)
            if self.summary is not None:
                self.reported = self.summary(sim)
                self._writer.set_summary(self.reported)
        finally:
            try:
                self._writer.close()
            finally:
                self.path = self._writer.path  # elsewhere, if the file was taken from its place
                self._writer = None

    def _record(self, sim: Watched) -> None:
        assert self._writer is not None
        loads, joints = {}, None
        if self._means is not None:  # files of older versions have no room for them
            loads = self._means.of_bodies() if self._writer.has_loads else {}
            joints = self._means.of_joints(sim) if self._writer.has_joints else None
        try:
            self._writer.append(
                step=sim.step_count,
                time=sim.time,
                grains=frame_grains(sim),
                contacts=frame_contacts(sim) if self._writer.has_contacts else {},
                walls=frame_walls(sim) | loads,
                joints=joints,
                counters=frame_counters(sim) if self._writer.has_counters else None,
                scalars={name: value for name, value in frame_scalars(sim).items() if name in self._writer.scalar_names},
            )
        except OutputError:
            self._last = self._writer.last_step  # a file that was taken from its place has the frame
            raise
        self._last = sim.step_count


def storage_of(settings: WatchedSettings) -> Storage:
    """What a run records of its grains, and how."""
    return Storage(settings.record, settings.precision, settings.compress)


def describe(sim: Watched) -> dict[str, Any]:
    """The least a recording should know of its run."""
    return {"scene": sim.scene.model_dump(mode="json"), "settings": sim.settings.model_dump(mode="json"), "versions": machine()}


def frame_scalars(sim: Watched) -> dict[str, float]:
    """One number for each of ``SCALARS``, SI units; with sinks the grains ``taken_out``; then those of extensions and of a shadow.

    Stage seconds are since the start of the run.
    """
    report, overlap, extensions = sim.report, sim.contacts.overlap, sim.settings.extensions
    values = {name: float(getattr(report, name)) for name in REPORTED}
    values["mean_overlap"] = float(overlap.mean()) if len(overlap) else 0.0
    values |= {f"{stage}_seconds": sim.stage_seconds.get(stage, 0.0) for stage in timers(t for f in extensions for t in f.timers)}
    if sim.scene.sinks:
        values["taken_out"] = float(sim.taken_out)
    values |= {scalar.name: float(report.more[scalar.name]) for extension in extensions for scalar in extension.scalars}
    if sim.shadow is not None:
        values |= sim.shadow.scalars()
    return values


def frame_grains(sim: Watched) -> dict[str, Any]:
    """Grains now, in the columns of a frame."""
    return {
        "position": sim.wrapped_position,
        "orientation": sim.orientation,
        "velocity": sim.velocity,
        "spin": sim.spin,
        "radius": sim.radius,
        "id": sim.bodies.id,
        "material": sim.bodies.material,
        **more_columns(sim),
    }


def more_columns(sim: Watched) -> dict[str, Any]:
    """What of the grains extensions record."""
    columns = [column for extension in sim.settings.extensions for column in extension.columns]
    return {column.name: getattr(sim.bodies, column.attribute) for column in columns}


def frame_contacts(sim: Watched) -> dict[str, Any]:
    """Contacts of the last step with point [m], force on b [N] and status, in the columns of a frame."""
    c, ids = sim.contacts, sim.bodies.id
    return {
        "a": ids[c.a],
        "b": np.where(c.b >= 0, ids[np.maximum(c.b, 0)], c.b),
        "feature": c.feature,
        "normal": c.normal,
        "overlap": c.overlap,
        "normal_force": c.normal_force,
        "point": c.point,
        "force": c.force,
        "status": contact_status(sim),
    }


def contact_status(sim: Watched) -> np.ndarray:
    """(C,) what each contact is doing (see ``state.status``)."""
    c, stepper = sim.contacts, sim.stepper
    friction = status.contact_friction(stepper.pairs.friction, sim.bodies.material, stepper.walls.material, c.a, c.b)
    return status.contact_status(c.impulse[:, 0], c.impulse[:, 1:4], friction, c.rebound > 0)


def frame_counters(sim: Watched) -> dict[str, Any]:
    """What sinks and then counters have seen up to now, in the columns of a frame."""
    seen = list(sim.counters.values())
    return {column.name: [getattr(one, column.name) for one in seen] for column in COUNTERS}


def frame_walls(sim: Watched) -> dict[str, Any]:
    """Wall bodies now, in the columns of a frame."""
    bodies = sim.bodies
    return {name: getattr(bodies, name)[: bodies.wall_body_count] for name in ("position", "orientation", "velocity", "spin")}
