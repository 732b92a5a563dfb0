"""Bodies: everything that moves, in one table of plain arrays.

The rows of the table are, in this order:

* the bodies of the scene: row 0 is the ground, the others stand, are driven or are pushed, and walls are fixed to them;
* bodies that a run makes itself: surfaces that run along a wall, and grains that have merged into one (``make_rows``);
* a body for each grain, from row ``first_grain`` on.

Shapes belong to bodies. ``grain_body`` names the row of the body that moves a grain: the grain's own, or that of what it has merged with.
A grain that has merged keeps its own row, which says where it is and how it moves. ``member_of`` says the same of whole bodies: a body that
has become a part of another is moved by that one.

Arrays have spare room at their end, so that grains are appended without copying. The public views show the used part, and are renewed when
it changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..array_types import BoolArray, FloatArray, IntArray, LongArray
from ..kernel_groups import group

if TYPE_CHECKING:
    from .fixed import FixedGrains

STATIC, KINEMATIC, DYNAMIC = 0, 1, 2
UNUSED = -1
"""The kind of a row that waits for a body."""

_BODY_COLUMNS: dict[str, tuple[tuple[int, ...], type]] = {
    "position": ((3,), np.float64),
    "orientation": ((4,), np.float64),
    "velocity": ((3,), np.float64),
    "spin": ((3,), np.float64),
    "inverse_mass": ((), np.float64),
    "struck": ((), np.float64),
}
_GRAIN_COLUMNS: dict[str, tuple[tuple[int, ...], type]] = {
    "radius": ((), np.float64),
    "material": ((), np.int32),
    "grain_body": ((), np.int32),
    "id": ((), np.int64),
}
STATE = ("position", "orientation", "velocity", "spin", "inverse_mass")
"""The columns of all bodies that a checkpoint holds."""


@group
class BodyArrays(NamedTuple):
    """All bodies, for kernels; SI units, world axes."""

    position: FloatArray  # (B, 3) [m]
    orientation: FloatArray  # (B, 4) unit quaternions, w first
    velocity: FloatArray  # (B, 3) [m/s]
    spin: FloatArray  # (B, 3) [rad/s]
    inverse_mass: FloatArray  # (B,) [1/kg], 0: does not yield


@group
class GrainArrays(NamedTuple):
    """All grains, for kernels."""

    first: int  # grain i has the row first + i of the bodies
    body: IntArray  # (N,) row of the body that moves each grain: its own, or that of what it has merged with
    radius: FloatArray  # (N,) [m]
    material: IntArray  # (N,)


class Bodies:
    """State and inertia of all bodies; writable views of the used part, SI units, world axes.

    Of all bodies: ``position`` (B, 3) [m], ``orientation`` (B, 4) unit quaternions (w first), ``velocity`` (B, 3) [m/s], ``spin`` (B, 3)
    [rad/s], ``inverse_mass`` (B,) [1/kg], 0 for what does not yield, ``struck`` (B,) when in the last step a body was hit [s].
    Of grains: ``radius`` (N,) [m], ``material`` (N,), ``grain_body`` (N,) and ``id`` (N,), in the order in which they appeared and kept for
    life; ``next_id`` is that of the next grain.
    Of all other bodies, in the rows before ``first_grain``: ``kind`` (F,), ``member_of`` (F,) the row of the body that moves each, its own
    as a rule, ``moments`` (F, 3) principal moments of inertia in the body's axes [kg m^2], ``inertia`` (F, 3, 3) in world axes [kg m^2] of
    those that a run has made, ``locked`` (F, 6) the translations along and rotations about world axes that a dynamic body of the scene does
    not make, and ``body_id`` (F,), kept for life.
    """

    position: FloatArray
    orientation: FloatArray
    velocity: FloatArray
    spin: FloatArray
    inverse_mass: FloatArray
    struck: FloatArray
    radius: FloatArray
    material: IntArray
    grain_body: IntArray
    id: LongArray

    def __init__(self, kind: IntArray, moments: FloatArray) -> None:
        self.kind = np.ascontiguousarray(kind, np.int32)
        self.moments = np.ascontiguousarray(moments, float).reshape(-1, 3)
        self.wall_body_count = self.first_grain = len(self.kind)
        self.member_of: IntArray = np.arange(self.first_grain, dtype=np.int32)
        self.inertia = np.zeros((self.first_grain, 3, 3))
        self.locked: BoolArray = np.zeros((self.first_grain, 6), bool)
        self.body_id: LongArray = np.arange(self.first_grain)
        self.next_body_id = self.first_grain
        self.dynamic = np.flatnonzero(self.kind == DYNAMIC).astype(np.int32)  # bodies of the scene that are pushed
        self.moving = np.flatnonzero(self.kind != STATIC).astype(np.int32)  # bodies of the scene that are pushed or driven
        self.grain_count = self.next_id = 0
        self.linked: IntArray = np.zeros(0, np.int32)  # links of machines
        self.may_merge = False  # whether bodies can become parts of others in this run
        self.fixed: FixedGrains | None = None  # grains that keep their place on bodies of the scene
        self._room: dict[str, np.ndarray] = {}
        self._reserve(64)
        self._show()
        self.orientation[:, 0] = 1.0

    @property
    def body_count(self) -> int:
        return self.first_grain + self.grain_count

    @property
    def grains(self) -> slice:
        """The grains' part of the body arrays: ``bodies.position[bodies.grains]``."""
        return slice(self.first_grain, self.body_count)

    @property
    def merged(self) -> BoolArray:
        """(N,) whether a grain is moved by another body than its own."""
        return self.grain_body < self.first_grain

    @property
    def merged_into(self) -> IntArray:
        """(N,) id of the body that each grain has merged with, -1: of none. Bodies of the scene have their number as id."""
        return np.append(self.body_id, -1)[np.minimum(self.grain_body, self.first_grain)].astype(np.int32)

    @property
    def mass(self) -> FloatArray:
        """(N,) of the grains [kg]; infinite for static ones."""
        inverse = self.inverse_mass[self.grains]
        return np.divide(1.0, inverse, out=np.full(len(inverse), np.inf), where=inverse > 0)

    @property
    def yielding(self) -> FloatArray:
        """(B,) inverse masses [1/kg] of the bodies that are moved on their own; 0 also for those that are parts of others."""
        if not self.may_merge:
            return self.inverse_mass
        mine = np.concatenate([self.member_of == np.arange(self.first_grain), ~self.merged])
        return np.where(mine, self.inverse_mass, 0.0)

    @property
    def displaceable(self) -> FloatArray:
        """The same of bodies that may be put elsewhere: not of links of machines, whose joints would come apart."""
        if not len(self.linked):
            return self.yielding
        found = self.yielding.copy()
        found[self.member_of[self.linked]] = 0.0
        return found

    @property
    def grains_on_dynamic(self) -> bool:
        """Whether grains are fixed to dynamic bodies of the scene."""
        return self.fixed is not None and bool(self.fixed.on_dynamic(self).any())

    def yielding_rows(self) -> IntArray:
        """Rows of the grains and of the dynamic bodies of the scene that have a mass of their own: none is counted twice."""
        grains = np.flatnonzero(self.inverse_mass[self.grains] > 0)
        return np.concatenate([self.dynamic, self.first_grain + grains]).astype(np.int32)

    def pushed_rows(self) -> IntArray:
        """Rows of the bodies with full inertia that impulses move: dynamic ones of the scene, and those made of merged grains."""
        if not self.may_merge:
            return self.dynamic
        rows = np.flatnonzero((self.kind == DYNAMIC) & (self.member_of == np.arange(self.first_grain)))
        return rows.astype(np.int32)

    def append_grains(
        self,
        position: FloatArray,
        radius: FloatArray,
        material: IntArray,
        inverse_mass: FloatArray,
        velocity: FloatArray | None = None,
        spin: FloatArray | None = None,
    ) -> None:
        """Add grains at rest, or with the given velocity [m/s] and spin [rad/s]."""
        first, count = self.body_count, len(position)
        self._reserve(self.grain_count + count)
        self.grain_count += count
        self._show()
        new = slice(first, first + count)
        self.position[new] = position
        self.orientation[new] = (1.0, 0.0, 0.0, 0.0)
        self.velocity[new] = 0.0 if velocity is None else velocity
        self.spin[new] = 0.0 if spin is None else spin
        self.inverse_mass[new] = inverse_mass
        self.struck[new] = 0.0
        own = slice(first - self.first_grain, self.grain_count)
        self.radius[own] = radius
        self.material[own] = material
        self.grain_body[own] = np.arange(first, first + count)
        self.id[own] = np.arange(self.next_id, self.next_id + count)
        self.next_id += count

    def make_rows(self, count: int) -> IntArray:
        """Make ``count`` unused rows before those of the grains, which move up; returns the new rows."""
        new: IntArray = np.arange(self.first_grain, self.first_grain + count, dtype=np.int32)
        own = self.grain_body >= self.first_grain
        for name in _BODY_COLUMNS:
            old = self._room[name]
            self._room[name] = np.concatenate([old[: self.first_grain], np.zeros((count, *old.shape[1:])), old[self.first_grain :]])
        self.kind = np.concatenate([self.kind, np.full(count, UNUSED, np.int32)])
        self.moments = np.concatenate([self.moments, np.zeros((count, 3))])
        self.member_of = np.concatenate([self.member_of, new])
        self.inertia = np.concatenate([self.inertia, np.zeros((count, 3, 3))])
        self.locked = np.concatenate([self.locked, np.zeros((count, 6), bool)])
        self.body_id = np.concatenate([self.body_id, np.full(count, -1)])
        self.first_grain += count
        self._show()
        self.orientation[new, 0] = 1.0
        self.grain_body[own] += np.int32(count)
        return new

    def name_bodies(self, rows: IntArray, kind: int) -> None:
        """The bodies of these rows begin to live: they get their kind and an id that no body had before."""
        self.kind[rows] = kind
        self.member_of[rows] = rows
        self.body_id[rows] = np.arange(self.next_body_id, self.next_body_id + len(rows))
        self.next_body_id += len(rows)

    def release(self, grains: IntArray) -> None:
        """Let grains be moved by their own bodies again; they keep their motion."""
        self.grain_body[grains] = self.first_grain + grains

    def keep(self, rows: IntArray) -> None:
        """Take out all grains but those in ``rows`` (in order), which close up."""
        first, count = self.first_grain, len(rows)
        own = self.grain_body >= first
        for name in _BODY_COLUMNS:
            self._room[name][first : first + count] = self._room[name][first + rows]
        for name in _GRAIN_COLUMNS:
            self._room[name][:count] = self._room[name][rows]
        self.grain_count = count
        self._show()
        own = own[rows]
        self.grain_body[own] = first + np.flatnonzero(own)

    def _reserve(self, grains: int) -> None:
        have = len(self._room["radius"]) if self._room else -1
        if grains <= have:
            return
        room = max(grains, 2 * have)
        for name, (shape, dtype) in _BODY_COLUMNS.items():
            self._room[name] = self._grown(name, (self.first_grain + room, *shape), dtype)
        for name, (shape, dtype) in _GRAIN_COLUMNS.items():
            self._room[name] = self._grown(name, (room, *shape), dtype)

    def _grown(self, name: str, shape: tuple[int, ...], dtype: type) -> np.ndarray:
        new: np.ndarray = np.zeros(shape, dtype)
        old = self._room.get(name)
        if old is not None:
            new[: len(old)] = old
        return new

    def _show(self) -> None:
        for name in _BODY_COLUMNS:
            setattr(self, name, self._room[name][: self.body_count])
        for name in _GRAIN_COLUMNS:
            setattr(self, name, self._room[name][: self.grain_count])
        self.arrays = BodyArrays(self.position, self.orientation, self.velocity, self.spin, self.inverse_mass)
        self.grain_arrays = GrainArrays(self.first_grain, self.grain_body, self.radius, self.material)
