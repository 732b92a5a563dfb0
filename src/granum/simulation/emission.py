"""Emission: new grains from the scene's emitters, placed where nothing is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._jit import FloatArray, IntArray, kernel
from ..detection.images import in_cell, nearest
from ..detection.walls import WallTable, find_wall_contacts
from ..parallel import ONE
from ..scene.emitter import Emitter
from ..state.bodies import Bodies

TRIES = 12  # places tried for one grain in one step; after that it waits for the next step
MOST_AT_ONCE = 4096


@kernel
def find_places(
    tried: FloatArray, walled: IntArray, radius: FloatArray, position: FloatArray, grain_radius: FloatArray, first: int,
    period: FloatArray | None, chosen: IntArray,
) -> int:  # fmt: skip
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
    first, count = bodies.wall_body_count, len(place)
    counted = np.zeros(count, np.int32)
    nowhere = np.empty(0, np.int32)
    position = in_cell(np.concatenate([bodies.position[:first], place]), first, period)
    ONE.run(
        find_wall_contacts, 0, np.arange(count, dtype=np.int32), position,
        np.concatenate([bodies.orientation[:first], np.zeros((count, 4))]), radius, np.ones(first + count), first, None, None, walls, 0,
        nowhere, nowhere, nowhere, np.empty((0, 3)), np.empty(0), np.zeros(count, np.int32), counted,
    )  # fmt: skip
    return counted


class Emission:
    """One emitter at work: its random state, and what it has emitted so far."""

    def __init__(self, emitter: Emitter, density: float, material: int) -> None:
        self.emitter, self.density, self.material = emitter, density, material
        self.rng = np.random.default_rng(emitter.seed)
        self.emitted = 0
        self.waiting = np.zeros(0)  # diameters drawn but not yet placed: a large grain that finds no room is not skipped

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
        placed = find_places(tried, walled, radius, bodies.position, bodies.radius, bodies.wall_body_count, period, chosen)
        if placed == 0:
            return 0
        radius, position = radius[:placed], tried[np.arange(placed), chosen[:placed]]
        bodies.append_grains(
            position, radius, np.full(placed, self.material, np.int32), 1 / (self.density * 4 / 3 * math.pi * radius * radius * radius),
            velocity=np.broadcast_to(self.emitter.velocity, (placed, 3)),
        )  # fmt: skip
        self.waiting = self.waiting[placed:]
        self.emitted += placed
        return placed

    def checkpoint(self) -> dict[str, Any]:
        return {"emitted": self.emitted, "waiting": self.waiting, "random": self.rng.bit_generator.state}

    def restore(self, saved: dict[str, Any]) -> None:
        self.emitted, self.waiting = saved["emitted"], saved["waiting"]
        self.rng.bit_generator.state = saved["random"]
