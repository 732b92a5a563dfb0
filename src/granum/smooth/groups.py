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
    force: FloatArray  # (R, 8) force [N] and torque [N m], and two numbers that fill the line


@group
class Listed(NamedTuple):
    """The neighbour list: candidates of rank k are ``candidate[first[k] : first[k + 1]]``, as ranks."""

    first: IntArray  # (R + 1,)
    owner: IntArray  # (places,) the rank that a candidate is listed under
    candidate: IntArray  # with room for more
    reference: FloatArray  # (N, 3) where each grain was listed [m]
    skin: FloatArray  # (N,) how far it may go from there [m]


@group
class Pairs(NamedTuple):
    """Pairs of grains: by their places in the list, and those that touch in a row for each chunk of ranks, with room for a block more."""

    touched: np.ndarray  # by place: whether the pair touches
    kept: FloatArray  # (places, 8 or 16) HELD, S, force on b [N]; with rolling: torque on b [N m], Q, see ``lanes``
    turn: FloatArray  # (places * 8,) of pairs of marked grains: force, n x force [N], and the two lever arms [m]
    a: IntArray  # rank
    b: IntArray  # rank
    place: IntArray
    found: IntArray  # (chunks,) how many touch; -1: it is not known
    parts: FloatArray  # (chunks, 4) energy [J], largest overlap [m], impacts and pairs of each chunk


@group
class Seam(NamedTuple):
    """How chunks of ranks are shared out, and the grains on which several shares push, see ``seam.py``."""

    bound: IntArray  # (shares + 1,) chunks
    mark: np.ndarray  # (R,) 1: of these grains
    grain: IntArray  # (G,) their ranks
    first: IntArray  # (G + 1,) their pairs: ``entry[first[g] : first[g + 1]]``
    entry: IntArray  # 2 place, and 1 more where the grain is b


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
    table: FloatArray  # (M * M, 6) stiffness, damping, friction, rolling friction, k_t / K and eta_t / eta, see ``lanes``
    materials: int
