"""Grains and contacts as plain arrays, from which a snapshot is built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..array_types import FloatArray, IndexArray
from ..state.rotation import matrix

if TYPE_CHECKING:
    from ..scene.scene import Scene


@dataclass(frozen=True, kw_only=True)
class GrainRows:
    """Grains for a snapshot, as plain arrays; a number, or one vector, stands for all rows. What is left out: at rest, of one material."""

    position: Any  # (N, 3) [m]
    radius: Any  # (N,) [m]
    velocity: Any = 0.0  # (N, 3) [m/s]
    spin: Any = 0.0  # (N, 3) [rad/s]
    material: Any = None  # (N,) place in scene.materials; none: the first
    id: Any = None  # (N,) none: counted from 0
    static: Any = False  # (N,)
    more: Mapping[str, Any] = field(default_factory=dict)  # (N, ...) see ``Snapshot``

    def filled(self) -> GrainRows:
        """With an array in every place."""
        n = len(self.position)
        return GrainRows(
            position=rows_of(self.position, n, 3),
            radius=rows_of(self.radius, n),
            velocity=rows_of(self.velocity, n, 3),
            spin=rows_of(self.spin, n, 3),
            material=np.zeros(n, np.int32) if self.material is None else np.asarray(self.material),
            id=np.arange(n) if self.id is None else np.asarray(self.id),
            static=np.broadcast_to(np.asarray(self.static, bool), n),
            more={name: np.asarray(rows) for name, rows in self.more.items()},
        )


@dataclass(frozen=True, kw_only=True)
class ContactRows:
    """Contacts for a snapshot, as plain arrays; a number, or one vector, stands for all rows.

    What is left out: contact points half an overlap inside of a; status from the forces and from who is ``rebounding``.
    """

    a: Any = ()  # (C,) row of the owning grain
    b: Any = ()  # (C,) row of the other grain, or -1 - wall
    normal: Any = 0.0  # (C, 3) unit, from a towards b
    overlap: Any = 0.0  # (C,) [m]
    normal_force: Any = 0.0  # (C,) [N]
    tangential_force: Any = 0.0  # (C, 3) on b [N]
    point: Any = None  # (C, 3) [m]
    status: Any = None  # (C,)
    rebounding: Any = False  # (C,)

    def filled(self) -> ContactRows:
        """With an array in every place, but for ``point``, ``status`` and ``rebounding``."""
        c = len(self.a)
        return replace(
            self,
            a=np.asarray(self.a, np.int64),
            b=np.asarray(self.b, np.int64),
            normal=rows_of(self.normal, c, 3),
            overlap=rows_of(self.overlap, c),
            normal_force=rows_of(self.normal_force, c),
            tangential_force=rows_of(self.tangential_force, c, 3),
        )


def rows_of(value: Any, count: int, *width: int) -> FloatArray:
    """An array (count, *width) of a value, which may stand for all rows."""
    array = np.asarray(value, float)
    return array if array.shape == (count, *width) else np.broadcast_to(array, (count, *width)).copy()


def slip(scene: Scene, grains: GrainRows, contacts: ContactRows, wall_body: IndexArray, walls: Mapping[str, Any]) -> FloatArray:
    """(C, 3) tangential velocity [m/s] of b against a, in one point of both."""
    position, velocity, spin, radius = grains.position, grains.velocity, grains.spin, grains.radius
    a, b, normal, overlap = contacts.a, contacts.b, contacts.normal, contacts.overlap
    pair = b >= 0
    grain, other = a[pair], b[pair]
    part = 1 - overlap[pair] / (radius[grain] + radius[other])  # of both radii: the lever arms meet
    arm = np.array(radius[a])
    arm[pair] *= part
    u = -velocity[a] - np.cross(spin[a], arm[:, None] * normal)
    u[pair] += velocity[other] - np.cross(spin[other], (part * radius[other])[:, None] * normal[pair])
    if not pair.all():
        wall = -1 - b[~pair]
        body, n = wall_body[wall], normal[~pair]
        touched = position[a[~pair]] + radius[a[~pair], None] * n - walls["position"][body]
        belt = np.array([matrix(walls["orientation"][w]) @ v.surface_velocity for w, v in zip(wall_body, scene.all_walls, strict=True)])
        u[~pair] += walls["velocity"][body] + np.cross(walls["spin"][body], touched) + belt[wall]
    return u - np.einsum("ij,ij->i", u, normal)[:, None] * normal
