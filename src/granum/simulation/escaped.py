"""Grains that have fallen out of a scene: below all of its walls and sinks, with nothing under them that could hold them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..arithmetic import dot
from ..array_types import FloatArray
from ..scene.extent import endless, furthest
from ..scene.floors import Frame, fall_to_floor
from ..state.rotation import matrix

if TYPE_CHECKING:
    from .simulation import Simulation

MANY = 100  # grains that fell out are told from here on; the summary tells of any
EVERY = 50  # steps between two looks


@dataclass(frozen=True)
class Escaped:
    """How many grains fell out of a scene, and where."""

    grains: int
    lower: tuple[float, float, float]
    """[m], corner of the box around them now,"""
    upper: tuple[float, float, float]
    """and the opposite one."""

    @property
    def words(self) -> str:
        low, high = (f"({', '.join(f'{x:.3g}' for x in corner)})" for corner in (self.lower, self.upper))
        return f"{self.grains} grains, now between {low} and {high} m"


def may_have_escaped(sim: Simulation) -> bool:
    """A quick look: whether any grain is below all walls that end somewhere; False in a scene that has no walls or no weight."""
    frame = Frame.of(sim.scene)
    if frame is None or not sim.grain_count or not any(body.walls for body in sim.scene.all_bodies):
        return False
    low, high = sim.stepper.extent
    deepest = float(dot(np.where(frame.down > 0, high, low), frame.down))
    return deepest > _depth_of_all(sim, frame)


def escaped(sim: Simulation) -> Escaped | None:
    """The grains that are below everything, as bodies stand now, and that no wall or sink will meet; None if there are none."""
    if not may_have_escaped(sim):
        return None
    frame = Frame.of(sim.scene)
    assert frame is not None
    position = sim.wrapped_position
    rows = np.flatnonzero(dot(position, frame.down) - sim.radius > _depth_of_all(sim, frame))
    if not len(rows):
        return None
    there = sim.bodies
    bodies = tuple(
        body.model_copy(update={"position": tuple(there.position[w].tolist()), "orientation": tuple(there.orientation[w].tolist())})
        for w, body in enumerate(sim.scene.all_bodies[1:], start=1)
    )
    now = sim.scene.model_copy(update={"bodies": bodies})
    lost = rows[~np.isfinite(fall_to_floor(now, frame, position[rows], sim.radius[rows]))]
    return _box(position[lost]) if len(lost) else None


def _depth_of_all(sim: Simulation, frame: Frame) -> float:
    """How deep [m along gravity] the lowest end of a wall or sink is; walls without end count with the place of their body."""
    ends = [float(dot(np.asarray(corner), frame.down)) for sink in sim.scene.sinks for corner in sink.region.bounds]
    for w, body in enumerate(sim.scene.all_bodies):
        turn = matrix(sim.bodies.orientation[w])
        own = np.array([float(dot(turn[:, k], frame.down)) for k in range(3)])
        origin = float(dot(sim.bodies.position[w], frame.down))
        ends += [origin + (0.0 if endless(wall) else furthest(wall, own)) for wall in body.walls]
    return max(ends, default=np.inf)


def _box(position: FloatArray) -> Escaped:
    (x0, y0, z0), (x1, y1, z1) = position.min(axis=0).tolist(), position.max(axis=0).tolist()
    return Escaped(len(position), (x0, y0, z0), (x1, y1, z1))
