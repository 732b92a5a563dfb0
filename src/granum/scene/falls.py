"""How far the grains of a scene fall before they come to rest on each other or on a floor.

Every grain is let down along gravity onto the final places of those below it: in a bed that stands nothing moves, and gaps close. The
grains of a lattice also slip into the gaps beside them: they end packed to ``PACKED``.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import kernel
from ..arithmetic import dot
from ..array_types import FloatArray, LongArray
from ..state.rotation import matrix
from .bodies import Body
from .emitter import Emitter
from .extent import furthest
from .floors import Frame, fall_to_floor
from .grains import Lattice
from .placed import Placed, source_points
from .scene import Scene

PACKED = 0.6  # solid fraction of settled grains
FILES = 1024  # most cells along an axis in which grains are looked for


def falls_of_grains(scene: Scene, frame: Frame, placed: Placed) -> FloatArray:
    """(n,) [m] that each grain comes down; one that finds nothing below it, as far as there is anything of the scene to meet."""
    x, radius = frame.of_points(placed.position), placed.radius
    if not len(x):
        return np.zeros(0)
    floor = np.where(placed.static, 0.0, fall_to_floor(scene, frame, placed.position, radius))
    fall = x[:, 2] - heights_at_end(frame, x, radius, floor)
    for k, block in enumerate(scene.grains):
        if isinstance(block, Lattice):
            own = placed.block == k
            fall[own] = np.minimum(_packed(x[own], radius[own], fall[own]), floor[own])
    return _ended(fall, x[:, 2] - radius, _lowest(scene, frame, x[:, 2] - radius))


def fall_of_emitter(scene: Scene, frame: Frame, placed: Placed, emitter: Emitter) -> float:
    """[m] from the source to the walls below it, where they are furthest; as far as there is anything of the scene, where there is none."""
    points = source_points(emitter)
    radius = np.full(len(points), emitter.sizes.range[0] / 2)
    level = frame.of_points(points)[:, 2] - radius
    lowest = _lowest(scene, frame, np.concatenate([level, frame.of_points(placed.position)[:, 2] - placed.radius]))
    return float(_ended(fall_to_floor(scene, frame, points, radius), level, lowest).max())


def fall_of_body(scene: Scene, frame: Frame, placed: Placed, body: Body) -> float:
    """[m] that a dynamic body falls until one of 25 places of its lower side meets a grain or a wall."""
    position, turn = np.asarray(body.position), matrix(np.asarray(body.orientation))
    box = np.zeros((2, 3))  # around it, as seen from its position
    for k, axis in enumerate((*frame.across, -frame.down)):
        own = np.array([float(dot(turn[:, j], axis)) for j in range(3)])
        for side, sign in enumerate((-1.0, 1.0)):
            found = max((furthest(wall, sign * own) for wall in body.walls), default=0.0)
            box[side, k] = sign * found if math.isfinite(found) else 0.0
    step = np.linspace(0.0, 1.0, 5)
    u, v = (axis.ravel() for axis in np.meshgrid(*(box[0, k] + step * (box[1, k] - box[0, k]) for k in range(2))))
    points = position + u[:, None] * frame.across[0] + v[:, None] * frame.across[1] - box[0, 2] * frame.down
    touch = fall_to_floor(scene, frame, points, np.zeros(len(points)), without=body)
    x = frame.of_points(np.concatenate([placed.position, points]))
    radius = np.concatenate([placed.radius, np.zeros(len(points))])
    level = x[:, 2] - heights_at_end(frame, x, radius, np.concatenate([np.zeros(len(placed.radius)), touch]))
    lowest = _lowest(scene, frame, x[:, 2] - radius)
    return float(_ended(level[len(placed.radius) :], x[len(placed.radius) :, 2], lowest).min())


def heights_at_end(frame: Frame, x: FloatArray, radius: FloatArray, floor: FloatArray) -> FloatArray:
    """(n,) heights [m] of the centres at the end; ``floor`` (n,) is how far each may fall if no grain is in its way."""
    smallest = float(radius[radius > 0].min(initial=np.inf))
    if not math.isfinite(smallest):  # points alone meet no other
        return x[:, 2] - floor
    order = np.argsort(x[:, 2], kind="stable")
    levels, reach = np.zeros(len(radius), np.int64), [smallest]
    while reach[-1] < radius.max():  # sizes by powers of two, so that few large grains do not make many small ones look far
        levels[radius > reach[-1]] += 1
        reach.append(2 * reach[-1])
    low, high = x[:, :2].min(axis=0), x[:, :2].max(axis=0)
    room = np.where(frame.period > 0, frame.period, np.maximum(high - low, 2 * reach[-1]))
    most = min(FILES, 2 * math.isqrt(len(x)) + 1)
    cells = np.array([[max(1, min(most, math.floor(side / (2 * r)))) for side in room] for r in reach], np.int64)
    return let_down(x, radius, floor, order, levels, np.array(reach), low, room / cells, cells, frame.period)


@kernel
def let_down(
    x: FloatArray,
    radius: FloatArray,
    floor: FloatArray,
    order: LongArray,
    level: LongArray,
    reach: FloatArray,
    low: FloatArray,
    width: FloatArray,
    cells: LongArray,
    period: FloatArray,
) -> FloatArray:
    """(n,) heights [m] of grains (n, 3) that come down one after the other, in ``order`` from the lowest, onto floors and each other.

    Grains of a ``level`` have radii up to ``reach`` [m] and are filed in ``cells`` of ``width`` [m] of their own, the highest first.
    """
    end = np.empty(len(x))
    levels = len(reach)
    first = np.zeros(levels + 1, np.int64)
    for k in range(levels):
        first[k + 1] = first[k] + cells[k, 0] * cells[k, 1]
    head, below = np.full(first[-1], -1, np.int64), np.full(len(x), -1, np.int64)
    at = np.empty(2, np.int64)
    span = np.empty((2, 2), np.int64)
    for i in order:
        best = x[i, 2] - floor[i]
        for k in range(levels):
            most = radius[i] + reach[k]
            for f in range(2):
                span[f, 0] = math.floor((x[i, f] - most - low[f]) / width[k, f])
                span[f, 1] = math.floor((x[i, f] + most - low[f]) / width[k, f])
                if period[f] == 0.0:
                    span[f, 0], span[f, 1] = max(span[f, 0], 0), min(span[f, 1], cells[k, f] - 1)
                elif span[f, 1] - span[f, 0] >= cells[k, f]:
                    span[f, 0], span[f, 1] = 0, cells[k, f] - 1
            for cx in range(span[0, 0], span[0, 1] + 1):
                for cy in range(span[1, 0], span[1, 1] + 1):
                    j = head[first[k] + cx % cells[k, 0] * cells[k, 1] + cy % cells[k, 1]]
                    while j >= 0 and x[j, 2] + most > best:
                        dx, dy = x[i, 0] - x[j, 0], x[i, 1] - x[j, 1]
                        if period[0] > 0.0:
                            dx -= period[0] * np.rint(dx / period[0])
                        if period[1] > 0.0:
                            dy -= period[1] * np.rint(dy / period[1])
                        both = radius[i] + radius[j]
                        room = both * both - dx * dx - dy * dy
                        if room > 0.0:
                            best = max(best, end[j] + math.sqrt(room))
                        j = below[j]
        end[i] = min(x[i, 2], best)
        k = level[i]
        for f in range(2):
            at[f] = math.floor((x[i, f] - low[f]) / width[k, f])
            at[f] = at[f] % cells[k, f] if period[f] > 0.0 else min(max(at[f], 0), cells[k, f] - 1)
        cell = first[k] + at[0] * cells[k, 1] + at[1]
        below[i], head[cell] = head[cell], i
    return end


def _packed(x: FloatArray, radius: FloatArray, fall: FloatArray) -> FloatArray:
    """(n,) falls [m] of a lattice whose grains end packed; at least what they were."""
    if not len(x):
        return fall
    order = np.argsort(x[:, 2], kind="stable")
    lowest = order[0]
    area = float(np.prod((x[:, :2] + radius[:, None]).max(axis=0) - (x[:, :2] - radius[:, None]).min(axis=0)))
    solid = np.zeros(len(x))
    solid[order[1:]] = np.cumsum((4 / 3 * math.pi * radius * radius * radius)[order])[:-1]  # of what is below each
    return np.maximum(fall, fall[lowest] + x[:, 2] - x[lowest, 2] - solid / (PACKED * area))


def _ended(fall: FloatArray, level: FloatArray, lowest: float) -> FloatArray:
    """Falls [m] without end reach down to the lowest thing of the scene; ``level`` (n,) [m] are the lower sides of what falls."""
    return np.where(np.isfinite(fall), fall, np.maximum(level - lowest, 0.0))


def _lowest(scene: Scene, frame: Frame, level: FloatArray) -> float:
    """Height [m] of the lowest end of a wall, or of the grains whose lower sides are given."""
    lowest = float(level.min(initial=np.inf))
    for body in scene.all_bodies:
        turn = matrix(np.asarray(body.orientation))
        own = np.array([float(dot(turn[:, k], frame.down)) for k in range(3)])
        depth = [furthest(wall, own) for wall in body.walls]
        below = max((d for d in depth if math.isfinite(d)), default=-math.inf)
        lowest = min(lowest, -float(dot(np.asarray(body.position), frame.down)) - below)
    return lowest
