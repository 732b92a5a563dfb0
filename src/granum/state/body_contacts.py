"""Contacts between bodies as a user sees them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arithmetic import totals
from ..array_types import FloatArray, IntArray
from ..checks import known_name
from .contacts import Contacts


@dataclass(frozen=True, repr=False)
class BodyContacts:
    """K contacts in which two bodies touch with their walls; SI units, world axes. ``a`` is a dynamic body."""

    names: tuple[str, ...]
    """Of all bodies of the scene, by row; the first is the ground."""
    a: IntArray
    """(K,) row of the body that owns the contact."""
    b: IntArray
    """(K,) row of the other body."""
    wall_a: IntArray
    """(K,) number of the wall of a, through all bodies."""
    wall_b: IntArray
    """(K,) number of the wall of b."""
    point: FloatArray
    """(K, 3) where they touch [m]."""
    normal: FloatArray
    """(K, 3) unit vectors from a towards b."""
    overlap: FloatArray
    """(K,) [m]"""
    normal_force: FloatArray
    """(K,) [N], >= 0."""
    tangential_force: FloatArray
    """(K, 3) of friction on b [N]."""
    radius_eff: FloatArray
    """(K,) R* [m] that the contact law takes."""

    def __repr__(self) -> str:
        pairs = sorted({(self.names[a], self.names[b]) for a, b in zip(self.a, self.b, strict=True)})
        return f"BodyContacts({len(self.a)} contacts{': ' if pairs else ''}{', '.join(f'{a} on {b}' for a, b in pairs)})"

    @classmethod
    def of(cls, contacts: Contacts, frame: IntArray, inverse_radius: FloatArray, names: tuple[str, ...]) -> BodyContacts:
        """Those of the last step that touch, push or have collided; ``frame`` (W,) is the row of the body of each wall, ``inverse_radius``
        (W,) that of the ball as which it touches [1/m]."""
        c = contacts.of_bodies
        closed = (c.overlap > 0.0) | (c.impulse[:, 0] > 0.0) | (c.rebound > 0.0)
        wall_a, wall_b, impulse = -1 - c.a[closed], -1 - c.b[closed], c.impulse[closed]
        return cls(
            names=names,
            a=frame[wall_a],
            b=frame[wall_b],
            wall_a=wall_a,
            wall_b=wall_b,
            point=contacts.body_points[closed],
            normal=c.normal[closed],
            overlap=np.maximum(c.overlap[closed], 0.0),
            normal_force=impulse[:, 0] / contacts.time_step,
            tangential_force=impulse[:, 1:4] / contacts.time_step,
            radius_eff=1.0 / (inverse_radius[wall_a] + inverse_radius[wall_b]),
        )

    def add_loads(self, position: FloatArray, out: FloatArray) -> None:
        """Add forces [N] and torques [N m] about ``position`` (W, 3) [m] to those of the bodies, ``out`` (W, 6)."""
        for row, sign in ((self.a, -1.0), (self.b, 1.0)):
            np.add.at(out[:, :3], row, sign * self.force)
            np.add.at(out[:, 3:], row, sign * np.cross(self.point - position[row], self.force))

    def __len__(self) -> int:
        return len(self.a)

    @property
    def force(self) -> FloatArray:
        """(K, 3) on b [N]; on a its opposite."""
        return self.normal_force[:, None] * self.normal + self.tangential_force

    def force_on(self, name: str) -> FloatArray:
        """(3,) of all these contacts on the body of that name [N]."""
        row = self.names.index(known_name("body", name, self.names))
        return totals(self.force[self.b == row]) - totals(self.force[self.a == row])


NO_BODY_CONTACTS = BodyContacts.of(Contacts(0), np.zeros(0, np.int32), np.zeros(0), ())
"""Nothing touches."""
