"""Wall bodies: what owns walls, and how it moves: not at all, as prescribed, or as pushed."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

import numpy as np
from pydantic import field_validator, model_validator

from ..arithmetic import length
from ..array_types import BoolArray, FloatArray
from ..checks import InputError
from ..records import Finite, Positive, Record, Vector
from ..state.rotation import conjugate, quaternion_product, rotation_vectors
from .motion import ZERO, AnyMotion, DrivenPath, Motion, PoseFunction, PoseTable, SegmentPath, as_motion, check_order
from .shapes import Shape

SAME_PLACE = 1e-9  # of coordinates and quaternions: what a body is given twice must be as near as this
Axis = Literal["x", "y", "z", "translation", "rotation x", "rotation y", "rotation z", "rotation"]
A_MOMENT = 1e-6  # [s] over which velocities are asked for


class Frame(Record):
    """A named place of a body that moves with it: the frame of a tool or of a sensor."""

    name: str
    """By which it is found."""
    position: Vector = ZERO
    """[m] in the body's frame."""
    orientation: tuple[Finite, Finite, Finite, Finite] = (1.0, 0.0, 0.0, 0.0)
    """Unit quaternion, w first, from this frame to the body's."""

    @model_validator(mode="after")
    def _turned(self) -> Frame:
        if not length(self.orientation) > 0:
            raise ValueError(f"orientation of frame {self.name!r} must not be zero")
        return self


class Body(Record):
    """A wall body and its walls.

    In the nonsmooth stepper a dynamic body touches other bodies too: boxes, capsules and meshes rest, slide, tip and bounce on planes and
    on each other (``touches``). Bodies that do not yield, static or driven, pass through each other and through static grains. So do parts
    of one machine, bodies with a joint between them (but for the ground), and walls that are built into each other at the start, as a
    piston in its cylinder may be; of these the run tells.
    """

    name: str
    """By which joints, grains, runs and recordings know it."""
    kind: Literal["static", "kinematic", "dynamic"] = "static"
    """``static`` stands, ``kinematic`` is driven by its motion, ``dynamic`` is pushed."""
    position: Vector = ZERO
    """[m] of the body's frame; the centre of mass of a dynamic body."""
    orientation: tuple[Finite, Finite, Finite, Finite] = (1.0, 0.0, 0.0, 0.0)
    """Unit quaternion, w first, from the body's frame to the world."""
    motion: AnyMotion = Motion()
    """Of a kinematic body: one segment, a list of segments that follow each other, a table of poses (``poses`` or ``file``), or, in
    Python, a function of time. One without a motion keeps the velocity and spin that callbacks give it."""
    mass: Positive | None = None
    """[kg] of a dynamic body."""
    inertia: tuple[Positive, Positive, Positive] | None = None
    """Principal moments [kg m^2] about the axes of the body's frame, of a dynamic body."""
    velocity: Vector = ZERO
    """Initial velocity [m/s] of a dynamic body."""
    spin: Vector = ZERO
    """Initial spin [rad/s] of a dynamic body."""
    force: Vector = ZERO
    """Constant external force [N] on a dynamic body, besides gravity."""
    locked: tuple[Axis, ...] = ()
    """What a dynamic body does not do, whatever pushes it: move along ``x``, ``y``, ``z`` (``translation``: all of them) or turn about an
    axis, ``rotation x`` and so on (``rotation``: about all); axes of the world. A platen: ``["x", "y", "rotation"]``."""
    touches: Literal["all", "grains"] = "all"
    """``grains``: the body passes through all other bodies and touches grains only. Two bodies touch if both touch ``all``."""
    walls: tuple[Shape, ...] = ()
    """Its shapes; they move with it."""
    frames: tuple[Frame, ...] = ()
    """Places that ``sim.body(name).frame(name)`` follows; those of a URDF file's links are among them."""

    _function = field_validator("motion", mode="before")(as_motion)

    @model_validator(mode="after")
    def _complete(self) -> Body:
        if self.kind == "dynamic" and (self.mass is None or self.inertia is None):
            raise ValueError(f"dynamic body {self.name!r} needs mass [kg] and inertia [kg m^2, three moments]")
        if self.kind != "dynamic":
            given = [name for name in ("mass", "inertia", "velocity", "spin", "force") if getattr(self, name) not in (None, ZERO)]
            if given:
                raise ValueError(
                    f"body {self.name!r} is {self.kind}; only a dynamic body has {' and '.join(given)}"
                    + (" (a kinematic one has a motion)" if self.kind == "kinematic" else "")
                )
        elif any(wall.surface_velocity != ZERO for wall in self.walls):
            raise ValueError(f"body {self.name!r} is dynamic; a belt (surface_velocity) needs a static or kinematic body")
        if self.kind != "kinematic" and self.is_driven:
            raise ValueError(f"body {self.name!r} is {self.kind}; only a kinematic body has a motion")
        if not length(self.orientation) > 0:
            raise ValueError(f"orientation of body {self.name!r} must not be zero")
        self._check_locks()
        if isinstance(self.motion, tuple):
            check_order(self.motion)
        if isinstance(self.motion, PoseTable) or (isinstance(self.motion, PoseFunction) and self.motion.known):
            self._start_on_path()
        return self

    def _check_locks(self) -> None:
        if self.locked and self.kind != "dynamic":
            raise ValueError(f"body {self.name!r} is {self.kind}; only a dynamic body has locked axes")
        if self.locked_axes.all():
            raise ValueError(f"body {self.name!r} has all axes locked: make it static, or kinematic with a motion")
        for name, moves, axes in (("velocity", self.velocity, self.locked_axes[:3]), ("spin", self.spin, self.locked_axes[3:])):
            if (np.asarray(moves)[axes] != 0.0).any():
                raise ValueError(f"{name} of body {self.name!r} must be 0 along locked axes ({', '.join(self.locked)}), is {moves}")

    @cached_property
    def locked_axes(self) -> BoolArray:
        """(6,) translations along and rotations about x, y, z that are locked."""
        names = [*(f"{axis}" for axis in "xyz"), *(f"rotation {axis}" for axis in "xyz")]
        return np.array([name in self.locked or ("rotation" if " " in name else "translation") in self.locked for name in names])

    def _start_on_path(self) -> None:
        """A body whose poses are given is where they say at the start, and need not say it again."""
        assert self.path is not None
        position, orientation = self.path.pose(0.0)
        given = np.asarray(self.orientation) / length(self.orientation)
        same = {
            "position": length(position - np.asarray(self.position)) <= SAME_PLACE * max(1.0, float(length(position))),
            "orientation": length(rotation_vectors(quaternion_product(orientation, conjugate(given)))) <= SAME_PLACE,
        }
        for name, first in (("position", position), ("orientation", orientation)):
            if name in self.model_fields_set and not same[name]:
                raise ValueError(
                    f"{name} of body {self.name!r} is {getattr(self, name)}, but at t = 0 its motion has it at "
                    f"{tuple(round(float(v), 9) for v in first)}: leave {name} out, or change the motion"
                )
            if not same[name]:
                object.__setattr__(self, name, tuple(map(float, first)))

    @property
    def is_driven(self) -> bool:
        """Whether a motion decides its velocity."""
        return not (isinstance(self.motion, Motion) and self.motion == Motion())

    @cached_property
    def path(self) -> DrivenPath | None:
        """Where its motion has it at any time; none: one segment gives velocities, not places."""
        position, orientation = np.asarray(self.position, float), np.asarray(self.orientation) / length(self.orientation)
        if isinstance(self.motion, Motion):
            return SegmentPath((self.motion,), position, orientation) if self.motion.about is not None else None
        if isinstance(self.motion, tuple):
            return SegmentPath(self.motion, position, orientation)
        if isinstance(self.motion, PoseFunction) and not self.motion.known:
            raise InputError(
                f"body {self.name!r} is driven by the Python function {self.motion.name!r}, which no file can hold: give the scene again "
                "(granum restart x.vtkhdf --scene scene.py)."
            )
        return self.motion.path(orientation)

    def drive(self, time: float, h: float, position: FloatArray, orientation: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Velocity [m/s] and spin [rad/s] of a step from ``time`` on for ``h`` [s] that starts in this pose: on a path, those that end it
        where the path goes."""
        if isinstance(self.motion, Motion) and self.path is None:
            return self.motion.at(time + h / 2)
        assert self.path is not None
        place, turned = self.path.pose(time + h)
        return (place - position) / h, rotation_vectors(quaternion_product(turned, conjugate(orientation))) / h

    def velocity_at(self, time: float) -> tuple[FloatArray, FloatArray]:
        """Velocity [m/s] and spin [rad/s] of a driven body at ``time`` [s]; NaN if only the name of its function is known."""
        if isinstance(self.motion, PoseFunction) and not self.motion.known:
            return np.full(3, np.nan), np.full(3, np.nan)
        pose = (np.zeros(3), np.zeros(4)) if self.path is None else self.path.pose(time)
        return self.drive(time, A_MOMENT, *pose)

    @property
    def fastest(self) -> tuple[FloatArray, FloatArray]:
        """Of a driven body: speeds (n,) of its position [m/s] and spins (n, 3) [rad/s], among which the largest are."""
        if isinstance(self.motion, PoseFunction) and not self.motion.known:
            return np.zeros(1), np.zeros((1, 3))
        if self.path is not None:
            return self.path.fastest
        assert isinstance(self.motion, Motion)
        return np.array([self.motion.top_speed(np.zeros(3))]), np.array([self.motion.spin], float)
