"""Emission: new grains from the scene's emitters, placed where nothing is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._jit import kernel
from ..array_types import FloatArray, IntArray
from ..detection.images import in_cell, nearest
from ..detection.wall_table import WallTable
from ..detection.walls import find_wall_contacts
from ..parallel import ONE
from ..scene.emitter import Emitter
from ..state.bodies import Bodies, BodyArrays, GrainArrays
from ..state.contacts import Spans, Touching

TRIES = 12  # places tried for one grain in one step; after that it waits for the next step
MOST_AT_ONCE = 4096
STUCK = 100  # steps in which an emitter finds no room for its first grain until that is told
BEHIND = 0.05  # of the grains that were due: an emitter that was further behind its rate than this is told


@kernel
def find_places(
    tried: FloatArray,
    walled: IntArray,
    radius: FloatArray,
    position: FloatArray,
    grain_radius: FloatArray,
    first: int,
    period: FloatArray | None,
    chosen: IntArray,
) -> int:
    """Try places (n, TRIES, 3) for n grains in turn; ``chosen`` (n,) is the first free one, or -1. Returns how many found one.

    ``walled`` (n, TRIES) counts the walls that a place touches.

    Grains are placed in order: the first that finds no room stops the rest, so that small ones do not overtake large ones.
    """
    low, high, reach = tried[0, 0].copy(), tried[0, 0].copy(), 0.0
    for i in range(len(radius)):
        reach = max(reach, radius[i])
        for t in range(tried.shape[1]):
            for f in range(3):
                low[f], high[f] = min(low[f], tried[i, t, f]), max(high[f], tried[i, t, f])
    near = np.empty(len(grain_radius), np.int64)
    count = 0
    for k in range(len(grain_radius)):
        far = reach + grain_radius[k]
        inside = True
        for f in range(3):
            x, repeats = position[first + k, f], False
            if period is not None:
                repeats = period[0, f] > 0.0
            inside = inside and (repeats or low[f] - far < x < high[f] + far)
        if inside:
            near[count] = k
            count += 1
    chosen[:] = -1
    for i in range(len(radius)):
        for t in range(tried.shape[1]):
            free = walled[i, t] == 0
            for m in range(count):
                g = first + near[m]
                gap = radius[i] + grain_radius[near[m]]
                square = 0.0
                for f in range(3):
                    away = tried[i, t, f] - position[g, f]
                    if period is not None:
                        away = nearest(away, period, f)
                    square += away**2
                if square < gap * gap:
                    free = False
                    break
            if not free:
                continue
            for m in range(i):
                gap = radius[i] + radius[m]
                square = 0.0
                for f in range(3):
                    away = tried[i, t, f] - tried[m, chosen[m], f]
                    if period is not None:
                        away = nearest(away, period, f)
                    square += away**2
                if square < gap * gap:
                    free = False
                    break
            if free:
                chosen[i] = t
                break
        if chosen[i] < 0:
            return i
    return len(radius)


def touched_walls(bodies: Bodies, walls: WallTable, place: FloatArray, radius: FloatArray, period: FloatArray | None) -> IntArray:
    """(n,) how many walls a grain of that radius [m] would touch at each place (n, 3) [m]."""
    first, count = bodies.first_grain, len(place)
    spans = Spans(np.zeros(count, np.int32), np.zeros(count, np.int32))
    rows: IntArray = np.arange(count, dtype=np.int32)
    position = in_cell(np.concatenate([bodies.position[:first], place]), first, period)
    orientation, still = np.concatenate([bodies.orientation[:first], np.zeros((count, 4))]), np.zeros((first + count, 3))
    state = BodyArrays(position, orientation, still, still, np.ones(first + count))
    grains = GrainArrays(first, first + rows, radius, rows)
    ONE.run(find_wall_contacts, 0, rows, state, grains, walls, 0, None, Touching.room_for(0), spans)
    return spans.number


class Emission:
    """One emitter at work: its random state, and what it has emitted so far."""

    def __init__(self, emitter: Emitter, density: float, material: int) -> None:
        self.emitter, self.density, self.material = emitter, density, material
        self.rng = np.random.default_rng(emitter.seed)
        self.emitted = 0
        self.waiting = np.zeros(0)  # diameters drawn but not yet placed: a large grain that finds no room is not skipped
        self.tried = self.in_walls = 0  # places tried for the grain that waits for room, and those of them that touch a wall
        self.most_waiting = 0  # grains that were due and had no room, at the worst

    @property
    def finished(self) -> bool:
        return self.emitter.count is not None and self.emitted >= self.emitter.count

    def emit(self, bodies: Bodies, walls: WallTable, time: float, period: FloatArray | None = None) -> int:
        """Append the grains that are due at ``time`` [s] and find room, also next to images in a cell; returns how many."""
        due = min(self.emitter.due(time) - self.emitted, MOST_AT_ONCE)
        if due <= 0:
            return 0
        if len(self.waiting) < due:
            drawn = self.emitter.sizes.sample(self.rng, due - len(self.waiting))
            self.waiting = np.concatenate([self.waiting, drawn])
        radius = self.waiting[:due] / 2
        tried = self.emitter.source.points(self.rng, due * TRIES).reshape(due, TRIES, 3)
        chosen = np.empty(due, np.int32)
        walled = touched_walls(bodies, walls, tried.reshape(-1, 3), np.repeat(radius, TRIES), period).reshape(due, TRIES)
        placed = find_places(tried, walled, radius, bodies.position, bodies.radius, bodies.first_grain, period, chosen)
        self.most_waiting = max(self.most_waiting, due - placed)
        if placed:
            self.tried = self.in_walls = 0
        if placed < due:
            self.tried += TRIES
            self.in_walls += int(np.count_nonzero(walled[placed]))
        if placed == 0:
            return 0
        radius, position = radius[:placed], tried[np.arange(placed), chosen[:placed]]
        bodies.append_grains(
            position,
            radius,
            np.full(placed, self.material, np.int32),
            1 / (self.density * 4 / 3 * math.pi * radius * radius * radius),
            velocity=np.broadcast_to(self.emitter.velocity, (placed, 3)),
        )
        self.waiting = self.waiting[placed:]
        self.emitted += placed
        return placed

    @property
    def stuck(self) -> bool:
        """Whether not even the first grain has found room for a long time."""
        return self.emitted == 0 and self.tried >= STUCK * TRIES

    def shortage(self, time: float) -> str | None:
        """In words, how many grains that were due by ``time`` [s] found no room, and why; none: all did, or nearly as they were due."""
        due, who = self.emitter.due(time), f"the emitter {self.emitter.name!r}"
        missing = due - self.emitted
        if self.emitted == 0 and due > 0:
            return f"{who} emitted 0 of the {due} grains that were due: there is no room, {self._why()}. Move its source, or make room"
        if self.emitter.rate is None:
            return f"{who} emitted {self.emitted} of {due} grains: the others found no room yet, {self._why()}" if missing > 0 else None
        if max(missing, self.most_waiting) <= max(1.0, BEHIND * due):
            return None
        return (
            f"{who} emitted {self.emitted} of the {due} grains that were due: it was up to {self.most_waiting} grains behind its rate "
            "for lack of room. A larger source, faster grains or a lower rate helps"
        )

    def _why(self) -> str:
        if not self.tried:
            return f"with {MOST_AT_ONCE} at most in a step"
        if self.in_walls == self.tried:
            return f"all of the last {self.tried} places tried touch walls"
        return f"the last {self.tried} places tried touch grains" + (f" or walls ({self.in_walls} of them)" if self.in_walls else "")

    def checkpoint(self) -> dict[str, Any]:
        return {
            "emitted": self.emitted,
            "waiting": self.waiting,
            "random": self.rng.bit_generator.state,
            "tried": self.tried,
            "in_walls": self.in_walls,
            "most_waiting": self.most_waiting,
        }

    def restore(self, saved: dict[str, Any]) -> None:
        self.emitted, self.waiting = saved["emitted"], saved["waiting"]
        self.rng.bit_generator.state = saved["random"]
        self.tried, self.in_walls, self.most_waiting = saved["tried"], saved["in_walls"], saved["most_waiting"]
