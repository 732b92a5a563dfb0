"""Grains that are fixed to bodies of the scene: they keep their place on them, and move with them.

They have no inverse mass of their own. On a body that stands or is driven a grain is, for all others, one that does not yield and moves as
its body does; on a dynamic one it is a shape of that body (``Bodies.grain_body``), so that what pushes the grain pushes the body.
"""

from __future__ import annotations

import numpy as np

from ..arithmetic import length, times
from ..array_types import BoolArray, FloatArray, IntArray, LongArray
from .bodies import DYNAMIC, Bodies
from .rotation import conjugate, matrices, quaternion_product


class FixedGrains:
    """The fixed grains of a run, known by their ids (n,), which grow; ``body`` (n,) is the row of the body of each."""

    def __init__(self, ids: LongArray, body: IntArray, place: FloatArray, turn: FloatArray) -> None:
        """``place`` (n, 3) [m] and ``turn`` (n, 4) are where the grains are in the frames of their bodies."""
        self._ids, self.body, self._place, self._turn = ids, body, place, turn

    @classmethod
    def at(cls, ids: LongArray, body: IntArray, position: FloatArray, frames: tuple[FloatArray, FloatArray]) -> FixedGrains:
        """Grains at ``position`` (n, 3) [m] in the world, when their bodies have the positions (W, 3) [m] and orientations (W, 4) given."""
        back = conjugate(frames[1] / length(frames[1])[:, None])[body]
        return cls(ids, body, times(matrices(back), position - frames[0][body]), back)

    def rows(self, bodies: Bodies) -> IntArray:
        """(n,) rows of the grains; others may have left, but ids grow with the rows."""
        return np.searchsorted(bodies.id, self._ids).astype(np.int32)

    def attach(self, bodies: Bodies) -> None:
        """Make those on dynamic bodies shapes of these, and put all where their bodies are."""
        on_dynamic = self.on_dynamic(bodies)
        bodies.grain_body[self.rows(bodies)[on_dynamic]] = self.body[on_dynamic]
        bodies.fixed = self
        self.follow(bodies)

    def on_dynamic(self, bodies: Bodies) -> BoolArray:
        """(n,) whether a grain is fixed to a dynamic body."""
        return bodies.kind[self.body] == DYNAMIC

    def follow(self, bodies: Bodies) -> None:
        """Put the grains where their bodies are now, with their motion."""
        rows = bodies.first_grain + self.rows(bodies)
        arm = self._arms(bodies)
        bodies.position[rows] = bodies.position[self.body] + arm
        bodies.orientation[rows] = quaternion_product(bodies.orientation[self.body], self._turn)
        self._move(bodies, rows, arm)

    def take_motion(self, bodies: Bodies) -> None:
        """Give the grains the motion that their bodies have now."""
        self._move(bodies, bodies.first_grain + self.rows(bodies), self._arms(bodies))

    def _arms(self, bodies: Bodies) -> FloatArray:
        return times(matrices(bodies.orientation[: bodies.wall_body_count])[self.body], self._place)

    def _move(self, bodies: Bodies, rows: IntArray, arm: FloatArray) -> None:
        spin = bodies.spin[self.body]
        bodies.velocity[rows], bodies.spin[rows] = bodies.velocity[self.body] + np.cross(spin, arm), spin
