"""The groups of arrays that the kernels of a smooth step work on, each made and owned in one place."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..array_types import FloatArray, IntArray
from ..contact.law import Parameters
from ..kernel_groups import group, group_with
from ..state.bodies import Bodies


@group
class Movers(NamedTuple):
    """The bodies; grain i is body ``first + i``."""

    first: int
    radius: FloatArray  # (N,) of the grains [m]
    material: IntArray  # (N,)
    inverse_mass: FloatArray  # (B,) [1/kg], 0: does not yield
    position: FloatArray  # (B, 3) [m]
    orientation: FloatArray  # (B, 4)
    velocity: FloatArray  # (B, 3) [m/s]
    spin: FloatArray  # (B, 3) [rad/s]

    @classmethod
    def of(cls, b: Bodies) -> Movers:
        return cls(b.first_grain, b.radius, b.material, b.inverse_mass, b.position, b.orientation, b.velocity, b.spin)


@group
class Rows(NamedTuple):
    """Grains by their rank in the neighbour list: a row fills its cache line, a body's numbers do not."""

    rank: IntArray  # (N,) of each grain
    sphere: FloatArray  # (R, 4) centre and radius [m]
    placed: FloatArray  # (R, 4) the same moved into the cell; the same array where nothing repeats
    grain: FloatArray  # (R, 8) velocity, inverse mass, spin, material
    force: FloatArray  # (R, 6) force [N] and torque [N m]


@group
class Listed(NamedTuple):
    """The neighbour list: candidates of rank k are ``candidate[first[k] : first[k + 1]]``, as ranks."""

    first: IntArray  # (R + 1,)
    candidate: IntArray
    reference: FloatArray  # (N, 3) where each grain was listed [m]
    skin: FloatArray  # (N,) how far it may go from there [m]


@group
class Pairs(NamedTuple):
    """Pairs of grains that touch, and the springs of all candidates."""

    a: IntArray  # rank; room for all candidates and one more
    b: IntArray  # rank
    place: IntArray  # in the neighbour list
    force: FloatArray  # (room, 3 or 6) force [N] and rolling torque [N m] on b
    touched: np.ndarray  # by place: whether the pair touched
    spring: FloatArray  # (places, 4 or 7) by place: stiffness and springs, see ``lanes``
    turn: FloatArray  # (room, 5) n x force [N] and the two lever arms [m], where several threads work
    parts: FloatArray  # (chunks, 3) energy [J], largest overlap [m] and impacts of each chunk of pairs


@group
class WallRows(NamedTuple):
    """Contacts of grains with walls, with room for more."""

    a: IntArray  # grain
    b: IntArray  # -1 - wall
    feature: IntArray  # of the wall
    normal: FloatArray  # (room, 3) from the grain towards the wall
    overlap: FloatArray  # [m]
    spring: FloatArray  # (room, 4 or 7)
    force: FloatArray  # (room, 3 or 6) on the wall [N], [N m]
    first: IntArray  # (N,) first contact of each grain
    number: IntArray  # (N,) of its contacts


@group
class Surfaces(NamedTuple):
    """Walls as contacts see them."""

    body: IntArray  # (K,)
    material: IntArray  # (K,)
    velocity: FloatArray  # (K, 3) of belts, in world axes [m/s]
    force: FloatArray  # (W, 6) on the wall bodies: force [N], and torque about their positions [N m]


@group_with("law")
class Laws(NamedTuple):
    """The contact law and what it needs of every pair of materials."""

    law: Parameters
    table: FloatArray  # (M * M, 5) stiffness, damping, friction, rolling friction and k_t / K, see ``lanes``
    materials: int
