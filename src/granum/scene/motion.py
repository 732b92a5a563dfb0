"""Prescribed motions of driven bodies: segments one after the other, tables of poses, and Python functions of time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Protocol

import numpy as np
from pydantic import Discriminator, Field, PlainSerializer, PlainValidator, Tag, field_serializer, model_validator

from ..arithmetic import cos, length, sin, times
from ..array_types import FloatArray
from ..checks import InputError
from ..records import Finite, NonNegative, Positive, Record, Vector
from ..state.rotation import matrix, quaternion_product, quaternions
from .arrays import read_array
from .pose_path import PosePath, read_poses, spins_between

ZERO: Vector = (0.0, 0.0, 0.0)
LOOKS = 1000  # at a function of time, for its fastest speed


class DrivenPath(Protocol):
    """Where a driven body is at any time, and how fast it gets."""

    def pose(self, time: float) -> tuple[FloatArray, FloatArray]:
        """Position [m] and orientation (unit quaternion, w first) at ``time`` [s]."""
        ...

    @property
    def fastest(self) -> tuple[FloatArray, FloatArray]:
        """Speeds (n,) of the body's position [m/s], and spins (n, 3) [rad/s], among which the largest are."""
        ...


class Motion(Record):
    """A prescribed motion: steady, oscillating, or both, between ``start`` and ``stop`` [s]."""

    velocity: Vector = ZERO
    """[m/s]"""
    spin: Vector = ZERO
    """[rad/s] about the body's position, or about the point ``about``; world axes."""
    about: Vector | None = None
    """[m] in the world: the point about which the body turns, as a door about its hinge. It goes along with ``velocity`` and
    ``amplitude`` from ``start`` on. None: the body's position."""
    amplitude: Vector = ZERO
    """[m] of an oscillation x = amplitude sin(2 pi frequency t)."""
    frequency: NonNegative = 0.0
    """[Hz]"""
    start: Finite = 0.0
    """[s]"""
    stop: Finite | None = None
    """[s]; none: for ever."""

    @model_validator(mode="after")
    def _ordered(self) -> Motion:
        if self.stop is not None and self.stop < self.start:
            raise ValueError(f"stop must not be before start, has {self.start:g} and {self.stop:g} s")
        return self

    def at(self, time: float) -> tuple[FloatArray, FloatArray]:
        """Velocity [m/s] and spin [rad/s] at ``time`` [s], of a body that turns about its position."""
        if time < self.start or (self.stop is not None and time >= self.stop):
            return np.zeros(3), np.zeros(3)
        velocity, spin = np.asarray(self.velocity, float), np.asarray(self.spin, float)
        if self.frequency > 0 and any(self.amplitude):
            turns = self.frequency * (time - self.start)
            swing = 2 * np.pi * self.frequency * cos(2 * np.pi * (turns - math.floor(turns)))
            velocity = velocity + swing * np.asarray(self.amplitude)
        return velocity, spin

    def carried(self, time: float, position: FloatArray, orientation: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The pose at ``time`` [s] of a body that has the given one at ``start``."""
        last = time if self.stop is None else min(time, self.stop)
        if last <= self.start:
            return position, orientation
        for_time = last - self.start
        turns = self.frequency * for_time
        swing = sin(2 * np.pi * (turns - math.floor(turns)))
        shift = for_time * np.asarray(self.velocity, float) + swing * np.asarray(self.amplitude, float)
        if not any(self.spin):
            return position + shift, orientation
        turn = quaternions(for_time * np.asarray(self.spin, float))
        hinge = position if self.about is None else np.asarray(self.about, float)
        return hinge + shift + times(matrix(turn), position - hinge), quaternion_product(turn, orientation)

    def top_speed(self, position: FloatArray) -> float:
        """Largest speed [m/s] of the position of a body that is there at ``start``."""
        arm = np.zeros(3) if self.about is None else position - np.asarray(self.about)
        swing = 2 * math.pi * self.frequency * float(length(self.amplitude))
        return float(length(self.velocity)) + swing + float(length(np.cross(np.asarray(self.spin, float), arm)))


class SegmentPath:
    """Motions one after the other; in between the body stands."""

    def __init__(self, segments: tuple[Motion, ...], position: FloatArray, orientation: FloatArray) -> None:
        self._segments, self._starts = segments, [(position, orientation)]
        for segment in segments[:-1]:
            assert segment.stop is not None
            self._starts.append(segment.carried(segment.stop, *self._starts[-1]))

    def pose(self, time: float) -> tuple[FloatArray, FloatArray]:
        at = max([k for k, segment in enumerate(self._segments) if segment.start <= time], default=0)
        return self._segments[at].carried(time, *self._starts[at])

    @cached_property
    def fastest(self) -> tuple[FloatArray, FloatArray]:
        lasting = [
            (segment, start)
            for segment, start in zip(self._segments, self._starts, strict=True)
            if segment.stop is None or segment.stop > 0
        ]
        speeds = [segment.top_speed(position) for segment, (position, _) in lasting]
        return np.array([0.0, *speeds]), np.array([ZERO, *(segment.spin for segment, _ in lasting)], float)


Rows = Annotated[FloatArray, PlainValidator(lambda value: read_array(value)), PlainSerializer(lambda a: a.tolist())]


class PoseTable(Record):
    """Poses of a body, from row to row along a smooth path: positions and velocities, orientations and spins go on without a jump. Before
    the first row and after the last it stands; between two rows of equal poses, too. From row to row it turns by less than half a turn."""

    poses: Rows = Field(default_factory=lambda: np.zeros((0, 4)))
    """Rows (t, x, y, z) or (t, x, y, z, qw, qx, qy, qz): time [s], position of the body in the world [m], and its orientation, as a
    quaternion of any length. Without orientations it does not turn."""
    file: str | None = None
    """Of a table with the same columns, in text with commas (CSV), named relative to the scene file; a first line of names may give them in
    any order."""

    @model_validator(mode="before")
    @classmethod
    def _read_file(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and isinstance(data.get("file"), str) and "poses" not in data:
            return {**data, "poses": read_poses(Path(data["file"]))}
        return data

    @model_validator(mode="after")
    def _sound(self) -> PoseTable:
        rows, name = self.poses, "poses" if self.file is None else f"motion file {self.file!r}"
        if rows.ndim != 2 or rows.shape[1] not in (4, 8):
            columns = rows.shape[1] if rows.ndim == 2 else "no"
            raise ValueError(f"{name} must have 4 or 8 columns, t, x, y, z and perhaps qw, qx, qy, qz, has {columns}")
        if len(rows) < 2:
            raise ValueError(f"{name} must have two rows at least, has {len(rows)}: a body that stands needs no motion")
        back = np.flatnonzero(~(np.diff(rows[:, 0]) > 0))
        if len(back):
            k = int(back[0])
            raise ValueError(
                f"{name}: times must grow from row to row, has {rows[k, 0]:g} and then {rows[k + 1, 0]:g} s (rows {k} and {k + 1})"
            )
        if rows.shape[1] == 8 and not (length(rows[:, 4:]) > 0).all():
            raise ValueError(f"{name}: a quaternion must not be zero, has one in row {int(np.flatnonzero(~(length(rows[:, 4:]) > 0))[0])}")
        return self

    def path(self, orientation: FloatArray) -> PosePath:
        """The smooth path; ``orientation`` is that of a body whose table has none."""
        rows = self.poses
        turned = rows[:, 4:] if rows.shape[1] == 8 else np.tile(orientation, (len(rows), 1))
        return PosePath(rows[:, 0], rows[:, 1:4], turned)


class PoseFunction(Record):
    """Poses from a Python function of time: ``motion=lambda t: (position, quaternion)``, for scenes that are made in Python.

    ``function(t)`` gives the position of the body in the world [m], or a tuple of it and of its orientation (a quaternion, w first); it
    must give the same bits for the same time, and have no jumps. No file can hold it: recordings keep its name and the places it has led
    the body to. A run goes on from a checkpoint if the scene is given again: ``granum restart x.vtkhdf --scene scene.py``.
    """

    function: Any
    """A function of the time [s]; of a scene that was read from a file, its name."""
    until: Positive = 10.0
    """[s]: how long the function is looked at, a thousand times, for the fastest speed, which the automatic time step fits."""

    @model_validator(mode="after")
    def _is_one(self) -> PoseFunction:
        if not callable(self.function) and not isinstance(self.function, str):
            raise ValueError(f"function must be a Python function of the time, has {self.function!r}")
        return self

    @field_serializer("function", when_used="json")
    def _name(self, function: Any) -> str:
        return self.name

    @property
    def name(self) -> str:
        """Of the function."""
        return (
            self.function if isinstance(self.function, str) else str(getattr(self.function, "__qualname__", type(self.function).__name__))
        )

    @property
    def known(self) -> bool:
        """Whether the function itself is here, not only its name."""
        return callable(self.function)

    def path(self, orientation: FloatArray) -> FunctionPath:
        """Where it leads; ``orientation`` is that of a body whose function gives positions only."""
        return FunctionPath(self, orientation)


class FunctionPath:
    """A path that a function gives, time by time."""

    def __init__(self, motion: PoseFunction, orientation: FloatArray) -> None:
        self._motion, self._orientation = motion, orientation

    def pose(self, time: float) -> tuple[FloatArray, FloatArray]:
        function: Callable[[float], Any] = self._motion.function
        found = function(time)
        position, turned = found if isinstance(found, tuple) and len(found) == 2 else (found, self._orientation)
        try:
            position, turned = read_array(position), read_array(turned)
            if position.shape != (3,) or turned.shape != (4,) or not length(turned) > 0:
                raise ValueError("must be three numbers, or three and four of which not all are 0")
        except ValueError as error:
            raise InputError(
                f"the function {self._motion.name!r} of a motion must give a position (x, y, z), or a tuple of it and a quaternion "
                f"(w, x, y, z): at t = {time:g} s {error} (got {found!r})."
            ) from None
        return position, turned / length(turned)

    @cached_property
    def fastest(self) -> tuple[FloatArray, FloatArray]:
        step = self._motion.until / LOOKS
        poses = [self.pose(k * step) for k in range(LOOKS + 1)]
        position, turned = np.array([p for p, _ in poses]), np.array([q for _, q in poses])
        return length(np.diff(position, axis=0)) / step, spins_between(turned) / step


def _kind(value: Any) -> str:
    """Which kind of motion something is meant to be."""
    if isinstance(value, (list, tuple)):
        return "segments"
    if isinstance(value, PoseFunction) or (isinstance(value, Mapping) and "function" in value):
        return "function"
    if isinstance(value, PoseTable) or (isinstance(value, Mapping) and ("poses" in value or "file" in value)):
        return "table"
    return "segment"


AnyMotion = Annotated[
    Annotated[Motion, Tag("segment")]
    | Annotated[tuple[Motion, ...], Tag("segments")]
    | Annotated[PoseTable, Tag("table")]
    | Annotated[PoseFunction, Tag("function")],
    Discriminator(_kind),
]


def in_words(motion: Motion | tuple[Motion, ...] | PoseTable | PoseFunction) -> str:
    """What a motion is, shortly."""
    if isinstance(motion, PoseTable):
        return f"{len(motion.poses)} poses" + (f" of {motion.file}" if motion.file else "")
    if isinstance(motion, PoseFunction):
        return f"the Python function {motion.name}"
    return "a steady or oscillating motion" if isinstance(motion, Motion) else f"{len(motion)} motions, one after the other"


def as_motion(value: Any) -> Any:
    """A function as the record of it; anything else as it is."""
    return PoseFunction(function=value) if callable(value) and not isinstance(value, Record) else value


def check_order(segments: tuple[Motion, ...]) -> None:
    """Refuse a list of segments that overlap, or go on for ever before another begins."""
    if not segments:
        raise ValueError("motion must have one segment at least: leave it out for a body that stands")
    for k in range(len(segments) - 1):
        stop, start = segments[k].stop, segments[k + 1].start
        if stop is None or stop > start:
            lasts = "goes on for ever" if stop is None else f"stops at {stop:g} s"
            raise ValueError(f"segments of a motion must follow each other: number {k} {lasts}, number {k + 1} starts at {start:g} s")
