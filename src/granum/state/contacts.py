"""Contacts: found anew each step, with impulses that persist while the two bodies keep touching.

Contacts of grain pairs come first, contacts of grains with walls after them; within each part they stand in the order of their owner. The
contacts of bodies that touch each other with their walls follow at the end. All that speaks of contacts means those of grains; the solver
alone takes ``every`` contact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..array_types import BoolArray, FloatArray, IntArray, LongArray
from ..kernel_groups import group
from ..notebook import counted
from .bodies import Bodies

_FIELDS: dict[str, tuple[tuple[int, ...], type]] = {
    "a": ((), np.int32),
    "b": ((), np.int32),
    "feature": ((), np.int32),
    "normal": ((3,), np.float64),
    "overlap": ((), np.float64),
    "impulse": ((7,), np.float64),
    "rebound": ((), np.float64),
    "partner": ((), np.int64),
}


@group
class Touching(NamedTuple):
    """What the search for contacts writes; the fields are those of ``Contacts``."""

    a: IntArray
    b: IntArray
    feature: IntArray
    normal: FloatArray
    overlap: FloatArray

    @classmethod
    def room_for(cls, contacts: int) -> Touching:
        """Empty arrays for so many contacts."""
        a, b, feature = (np.zeros(contacts, np.int32) for _ in range(3))
        return cls(a, b, feature, np.zeros((contacts, 3)), np.zeros(contacts))


@group
class ContactArrays(NamedTuple):
    """Contacts, for kernels; the fields are those of ``Contacts``."""

    a: IntArray
    b: IntArray
    feature: IntArray
    normal: FloatArray
    overlap: FloatArray
    impulse: FloatArray
    rebound: FloatArray
    partner: LongArray


@group
class Spans(NamedTuple):
    """Where the contacts that each grain owns stand: the ``first`` (N,), and their ``number`` (N,)."""

    first: IntArray
    number: IntArray


def overlap_in_diameters(overlap: FloatArray, a: IntArray, b: IntArray, radius: FloatArray) -> FloatArray:
    """(C,) overlap over the diameter of the smaller grain of each contact (of the grain, at a wall)."""
    smaller = radius[a]
    pair = b >= 0
    smaller[pair] = np.minimum(smaller[pair], radius[b[pair]])
    return overlap / (2 * smaller)


def still_there(new_row: IntArray, a: IntArray, b: IntArray) -> BoolArray:
    """(C,) contacts whose grains stay; ``new_row`` (N,) is the grains' new place, or -1 for those that leave."""
    return (new_row[a] >= 0) & ((b < 0) | (new_row[np.maximum(b, 0)] >= 0))


def closed_up(first: IntArray, count: IntArray, kept: BoolArray) -> tuple[IntArray, IntArray]:
    """``first`` and ``count`` of groups of contacts, when only the contacts ``kept`` (C,) are left."""
    before = np.concatenate([[0], np.cumsum(kept)]).astype(np.int32)  # of each contact: how many stay
    start = np.minimum(first, len(kept))  # where a group is empty its first may be anywhere
    return before[start], before[np.minimum(start + count, len(kept))] - before[start]


class Contacts:
    """Contacts with room to grow; the views show the used part.

    ``a`` (C,) owning grain; ``b`` (C,) other grain, or ``-1 - wall`` for a wall; ``feature`` (C,) part of the wall touched;
    ``normal`` (C, 3) unit, from a towards b; ``overlap`` (C,) [m] > 0, or minus the gap of a
    contact that the step can close; ``impulse`` (C, 7) on b: normal (>= 0), tangential in world
    axes [N s], rolling and twisting in world axes [N m s]; ``rebound`` (C,) approach speed [m/s] of an impact from which the two have
    not yet come apart (smooth: speed at which they close or open, if it is an impact's), else 0. ``pair_count`` of the
    contacts are between grains.

    Rows of grains change when others leave. A contact is known for life by the grain that owns it, by ``partner`` (C,), the id of the other
    grain or ``-1 - wall``, and by its feature.

    ``body_contact_count`` contacts of bodies follow those of grains in the arrays ``every``: there ``a`` is -1 - wall of a dynamic body,
    ``b`` -1 - wall of another body, ``feature`` the part of a and ``partner`` the part of b that touch (``detection/body_contacts.py``), by
    which a contact is known for life; ``body_points`` (K, 3) is where they touch [m].
    """

    a: IntArray
    b: IntArray
    feature: IntArray
    normal: FloatArray
    overlap: FloatArray
    impulse: FloatArray
    rebound: FloatArray
    partner: LongArray
    arrays: ContactArrays
    every: ContactArrays
    body_points: FloatArray

    def __init__(self, room: int = 64) -> None:
        self.contact_count = 0
        self.pair_count = 0
        self.body_contact_count = 0
        self.time_step = 1.0  # [s] that turns impulses into forces
        self.room = -1
        self._room: dict[str, np.ndarray] = {}
        self._views: dict[str, np.ndarray] | None = None  # the arrays whose parts are shown
        self._bodies: Bodies | None = None
        self._wrap: Callable[[FloatArray], FloatArray] | None = None
        self._points = np.zeros((0, 3))
        self.reserve(room)

    def __repr__(self) -> str:
        walls = self.contact_count - self.pair_count
        return f"Contacts({counted(self.contact_count, 'contact')}: {self.pair_count} between grains, {walls} with walls)"

    def reserve(self, room: int) -> None:
        """Make room for that many contacts; what the arrays held is lost."""
        if room > self.room:
            self.room = room
            self._room = {name: np.zeros((self.room, *shape), dtype) for name, (shape, dtype) in _FIELDS.items()}
            self.whole = ContactArrays(**self._room)  # all their room, for kernels that fill it
        self.resize(0, 0)

    def resize(self, pair_count: int, contact_count: int, body_contact_count: int = 0) -> None:
        """Show that many contacts of grains, and of bodies behind them."""
        shown, now = (self.contact_count, self.body_contact_count), (contact_count, body_contact_count)
        self.pair_count, (self.contact_count, self.body_contact_count) = pair_count, now
        if now == shown and self._views is self._room:
            return
        self._views = self._room
        for name in _FIELDS:
            setattr(self, name, self._room[name][:contact_count])
        self.arrays = self.every = ContactArrays(*(getattr(self, name) for name in ContactArrays._fields))
        self.body_points = self._points[:body_contact_count]
        if body_contact_count:
            end = contact_count + body_contact_count
            self.every = ContactArrays(*(self._room[name][:end] for name in ContactArrays._fields))

    def room_for_bodies(self, contacts: int) -> FloatArray:
        """(R, 3) where the search for contacts between bodies writes their points, at least that many; ``body_points`` are lost if it
        grows."""
        if len(self._points) < contacts:
            self._points = np.zeros((contacts * 17 // 16, 3))
            self._views = None
        return self._points

    @property
    def every_count(self) -> int:
        """Contacts of grains and of bodies."""
        return self.contact_count + self.body_contact_count

    @property
    def of_bodies(self) -> ContactArrays:
        """The contacts between bodies alone."""
        return ContactArrays(*(getattr(self.every, name)[self.contact_count :] for name in ContactArrays._fields))

    def keep(self, kept: BoolArray, new_row: IntArray) -> None:
        """Only the contacts ``kept`` (C,), in order, of grains that have got new rows (see ``still_there``); those of bodies stay."""
        pairs, total, behind = int(np.count_nonzero(kept[: self.pair_count])), int(np.count_nonzero(kept)), self.body_contact_count
        for name, values in self.every._asdict().items():
            others = values[self.contact_count :].copy()
            self._room[name][:total] = getattr(self, name)[kept]
            self._room[name][total : total + behind] = others
        self.resize(pairs, total, behind)
        self.a[:], self.b[:pairs] = new_row[self.a], new_row[self.b[:pairs]]

    def place_among_closed(self, contact: int) -> int:
        """Where a contact that touches stands in ``closed()``; -1 for -1."""
        return int(np.count_nonzero(self._closed()[:contact])) if contact >= 0 else -1

    def _closed(self) -> BoolArray:
        return (self.overlap > 0.0) | (self.impulse[:, 0] > 0.0) | (self.rebound > 0.0)

    def closed(self) -> Contacts:
        """A copy of the contacts that touch, push or have collided in the last step."""
        chosen = self._closed()
        found = Contacts(0)
        found.reserve(max(1, int(np.count_nonzero(chosen))))
        found.resize(int(np.count_nonzero(chosen[: self.pair_count])), int(np.count_nonzero(chosen)))
        found.time_step = self.time_step
        for name in _FIELDS:
            getattr(found, name)[:] = getattr(self, name)[chosen]
        np.maximum(found.overlap, 0.0, out=found.overlap)
        return found

    def look_at(self, bodies: Bodies, wrap: Callable[[FloatArray], FloatArray] | None = None) -> None:
        """Tell the contacts where their grains are: ``point`` asks. ``wrap`` puts points (C, 3) [m] into a periodic cell."""
        self._bodies, self._wrap = bodies, wrap

    @property
    def point(self) -> FloatArray:
        """(C, 3) [m] half an overlap inside of a, where that grain is now; in the cell, if the scene has one."""
        if self._bodies is None:
            raise ValueError("these contacts do not know their grains: ask those of a simulation.")
        b = self._bodies
        found = b.position[b.grains][self.a] + (b.radius[self.a] - self.overlap / 2)[:, None] * self.normal
        return found if self._wrap is None else self._wrap(found)

    @property
    def force(self) -> FloatArray:
        """(C, 3) on b, whole [N]."""
        return self.normal_force[:, None] * self.normal + self.tangential_force

    @property
    def normal_force(self) -> FloatArray:
        """(C,) [N]; less than 0 where a law attracts."""
        return self.impulse[:, 0] / self.time_step

    @property
    def tangential_force(self) -> FloatArray:
        """(C, 3) on b [N]."""
        return self.impulse[:, 1:4] / self.time_step

    @property
    def rolling_torque(self) -> FloatArray:
        """(C, 3) on b [N m]."""
        return self.impulse[:, 4:7] / self.time_step
