"""How far fast grains get: the rest of their way after the solve, until they meet something that the step did not know of.

A step solves the first meeting of every fast grain. What it meets after that, on the way that the collision has given it, waits for the
next step: the grain stops there and keeps its velocity. It loses some time, but no momentum, and passes through nothing. Slower pairs
that nobody could foresee, since one of the two was hit in this step, wait likewise as soon as they are too deep in each other.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._jit import device, kernel
from ..array_types import BoolArray, FloatArray, IntArray
from ..kernel_groups import group
from ..parallel import Team
from ..parallel.barrier import add_up, share, wait
from ..parallel.crew import Crew
from ..state.bodies import Bodies, BodyArrays, GrainArrays
from .images import in_cell, nearest
from .mesh import CANDIDATE_COLUMNS
from .narrow import Candidates
from .neighbours import NeighbourList
from .prediction import TOWARDS, approach
from .reach import BALL, bound_walls, size_of, too_far
from .surfaces import FLAT, MOST_SURFACES, ROW, Surfaces, first_touch, place_surfaces
from .wall_table import WallTable

FAST = 0.5  # of the radius: grains that go further against a wall in a step are followed
SLOWER = 0.99  # of that: a quick look may find one too many, but never one too few
FAST_PAIR = 0.8  # of the sum of two radii: pairs whose way in a step is longer are;
LATE = 0.03  # of the sum of two radii: slower ones are met late, in the next step, but no deeper than this,
GRAZING = 2.0  # if they do not have to go back along their way by more than this times the excess


@device
def box_around(position, first, last):
    """Centre of the box around some bodies, and half of its diagonal [m]."""
    low_x = low_y = low_z = np.inf
    high_x = high_y = high_z = -np.inf
    for i in range(first, last):
        x, y, z = position[i, 0], position[i, 1], position[i, 2]
        low_x, low_y, low_z = min(low_x, x), min(low_y, y), min(low_z, z)
        high_x, high_y, high_z = max(high_x, x), max(high_y, y), max(high_z, z)
    size = 0.5 * size_of(high_x - low_x, high_y - low_y, high_z - low_z)
    return 0.5 * (low_x + high_x), 0.5 * (low_y + high_y), 0.5 * (low_z + high_z), size


@device
def any_fast(thread, threads, bodies, first, radius, wall_bodies, repeats, h):
    """Whether anything in a thread's share could go far enough in a step to be followed: a quick look at all bodies.

    The first ``wall_bodies`` have walls, which are faster at their rim: those that turn are compared with each grain, unless space
    ``repeats``, where grains meet walls at other places than their own.
    """
    velocity, spin, smallest = bodies.velocity, bodies.spin, np.inf
    for i in range(len(radius)):
        smallest = min(smallest, radius[i])
    limit = (LATE * smallest) ** 2
    low, high = share(len(velocity), thread, threads)
    for k in range(low, high):
        square = velocity[k, 0] ** 2 + velocity[k, 1] ** 2 + velocity[k, 2] ** 2
        if square * h * h > limit:
            return True
    low, high = share(len(radius), thread, threads)
    box = box_around(bodies.position, first + low, first + high) if wall_bodies > 0 and not repeats else (0.0, 0.0, 0.0, 0.0)
    fastest = LATE * smallest / h  # of all, as nothing was faster
    for k in range(wall_bodies):
        if spin[k, 0] != 0.0 or spin[k, 1] != 0.0 or spin[k, 2] != 0.0:
            if repeats:
                return True
            at, turn = bodies.position[k], size_of(spin[k, 0], spin[k, 1], spin[k, 2])
            rim = turn * (size_of(box[0] - at[0], box[1] - at[1], box[2] - at[2]) + box[3])
            bound = fastest + size_of(velocity[k, 0], velocity[k, 1], velocity[k, 2]) + rim  # against any grain
            if bound * h < SLOWER * SLOWER * FAST * smallest:
                continue
            for i in range(low, high):
                ux, uy, uz = approach(bodies, k, first + i)
                if (ux * ux + uy * uy + uz * uz) * h * h > (SLOWER * FAST * radius[i]) ** 2:
                    return True
    return False


@kernel
def may_be_fast(crew: Crew, bodies: BodyArrays, grains: GrainArrays, wall_bodies: int, repeats: bool, h: float) -> bool:
    """Whether anything could go far enough in a step to be followed (see ``any_fast``)."""
    thread, threads, barrier = crew
    own = any_fast(thread, threads, bodies, grains.first, grains.radius, wall_bodies, repeats, h)
    return add_up(barrier, thread, threads, np.int64(own))[1] > 0


@group
class Ways(NamedTuple):
    """How long of this step each grain goes before it meets something that the step did not solve."""

    time: FloatArray  # (N,) [s]
    back: FloatArray  # (N, 3) [m/s] the part of its velocity that it loses from then on
    other: IntArray  # (N,) what it waits for, -1: it waits in any case


@group
class Went(NamedTuple):
    """How bodies came to where they are."""

    yielding: FloatArray  # (B,) inverse mass of those that move on their own [1/kg]
    struck: FloatArray  # (B,) when in the step they got their velocity [s]
    began: FloatArray  # (B, 3) where they were as it began [m]


@device
def meeting_of(i, j, bodies, grains, went, period, h):
    """When in the step two grains meet, as ``times_to_pairs`` says, and whether they are fast; not before the end of the step: never."""
    position, velocity, began, first = bodies.position, bodies.velocity, went.began, grains.first
    square = 0.0
    for f in range(3):
        square += (velocity[first + j, f] - velocity[first + i, f]) ** 2
    both = grains.radius[i] + grains.radius[j]
    if not square * h * h > (LATE * both) ** 2 or went.yielding[first + i] + went.yielding[first + j] == 0.0:
        return h, False
    fast = square * h * h > (FAST_PAIR * both) ** 2
    start = max(went.struck[first + i], went.struck[first + j]) if fast else h
    along, apart, apart_before = 0.0, 0.0, 0.0
    for f in range(3):
        u = velocity[first + j, f] - velocity[first + i, f]
        d, before = position[first + j, f] - position[first + i, f] + start * u, began[first + j, f] - began[first + i, f]
        if period is not None:
            d, before = nearest(d, period, f), nearest(before, period, f)
        along += d * u
        apart += d * d
        apart_before += before * before
    if not along < 0.0:
        return h, fast
    if fast:  # on the way from the moment at which both have their velocity
        inside = apart - both * both
        under = along * along - square * inside
        if not (inside > 0.0 and under > 0.0):
            return h, fast
        return start + inside / (math.sqrt(under) - along), fast
    deep = (1.0 - LATE) * both  # where the step leaves them, and back along the way from there
    if not (apart < deep * deep and apart_before > both * both):
        return h, fast
    too_far = (deep * deep - apart) / (math.sqrt(along * along + square * (deep * deep - apart)) - along)
    return h - min(too_far, GRAZING * (deep - math.sqrt(apart)) / math.sqrt(square)), fast


@device
def wait_for_each_other(i, j, meeting, fast, velocity, first, yielding, ways):
    """Lower the times of two grains to their meeting."""
    time, back, other = ways
    for side in range(2):
        own, partner = (i, j) if side == 0 else (j, i)
        if meeting < time[own] and yielding[first + own] > 0.0:
            time[own], other[own] = meeting, partner if not fast and yielding[first + partner] > 0.0 else -1
            part = yielding[first + own] / (yielding[first + i] + yielding[first + j])
            for f in range(3):
                back[own, f] = part * (velocity[first + own, f] - velocity[first + partner, f])


@kernel
def times_to_pairs(
    crew: Crew,
    visit: IntArray | None,
    near: Candidates,
    bodies: BodyArrays,
    grains: GrainArrays,
    went: Went,
    period: FloatArray | None,
    h: float,
    ways: Ways,
    marks: BoolArray,
) -> None:
    """Lower the times of grains to when they meet another fast, or are too deep in one that was not near enough to be a contact.

    ``visit`` (V,) are the ranks that are looked at, none: all. Velocities are taken back by mass, so that the two end where they meet and
    their centre where it should, in any frame. ``marks`` (2, R) is room to work in, all false before: ranks that are quick enough, and
    those that meet somebody. These are few, and one thread goes through them in their order, since the first of two meetings counts.
    """
    thread, threads, barrier = crew
    order, candidate_first, candidate = near.order, near.candidate_first, near.candidate
    velocity, first, radius, quick, meets = bodies.velocity, grains.first, grains.radius, marks[0], marks[1]
    count, some = len(order) if visit is None else len(visit), 0
    low, high = share(count, thread, threads)
    for n in range(low, high):
        k = n if visit is None else np.int64(visit[n])
        i = order[k]
        if i >= 0:
            square = velocity[first + i, 0] ** 2 + velocity[first + i, 1] ** 2 + velocity[first + i, 2] ** 2
            quick[k] = not square * h * h <= (SLOWER * LATE * radius[i]) ** 2  # two that are not, are no pair that is looked at below
            some += quick[k]
    if add_up(barrier, thread, threads, some)[1] == 0:
        return
    for n in range(low, high):
        k = n if visit is None else np.int64(visit[n])
        if order[k] < 0:
            continue
        for c in range(candidate_first[k], candidate_first[k + 1]):
            m = candidate[c]
            if (quick[k] or quick[m]) and order[m] >= 0 and meeting_of(order[k], order[m], bodies, grains, went, period, h)[0] < h:
                meets[k] = True
                break
    wait(barrier, threads)
    for n in range(count if thread == 0 else 0):
        k = n if visit is None else np.int64(visit[n])
        if meets[k]:
            for c in range(candidate_first[k], candidate_first[k + 1]):
                m = candidate[c]
                if (quick[k] or quick[m]) and order[m] >= 0:
                    meeting, fast = meeting_of(order[k], order[m], bodies, grains, went, period, h)
                    wait_for_each_other(order[k], order[m], meeting, fast, velocity, first, went.yielding, ways)


@kernel
def times_to_walls(
    crew: Crew,
    bodies: BodyArrays,
    grains: GrainArrays,
    yielding: FloatArray,
    struck: FloatArray,
    walls: WallTable,
    h: float,
    ways: Ways,
) -> None:
    """The same for walls, fast ones only, with which grains then move on; positions are those in the cell."""
    thread, threads, barrier = crew
    place, first, radius = bodies.position, grains.first, grains.radius
    time, back, other = ways
    most = MOST_SURFACES * walls.kind.shape[0]
    kind, wall_of, part = np.empty(most, np.int32), np.empty(most, np.int32), np.empty(most, np.int32)
    row = np.empty((most, ROW))
    surfaces = Surfaces(kind, wall_of, part, np.empty(most, np.bool_), row)
    count = place_surfaces(walls, bodies, np.empty((1, ROW)), surfaces)
    found = np.empty((max(1, walls.mesh.candidate_room), CANDIDATE_COLUMNS))
    ball, v = np.empty((walls.kind.shape[0], BALL)), bodies.velocity
    bound_walls(walls, bodies, h, np.empty((1, ROW)), ball)
    low, high = share(len(radius), thread, threads)
    for i in range(low, high):
        body = first + i
        if yielding[body] == 0.0:
            continue
        x, y, z, r = place[body, 0], place[body, 1], place[body, 2], radius[i]
        way = r + h * size_of(v[body, 0], v[body, 1], v[body, 2])
        for s in range(count):
            if too_far(ball, wall_of[s], x, y, z, way):
                continue
            ux, uy, uz = approach(bodies, walls.frame[wall_of[s]], body)
            square = ux * ux + uy * uy + uz * uz
            if not square * h * h > (FAST * r) ** 2:
                continue
            met, when = False, time[i]
            if kind[s] == FLAT:
                rate = -(ux * row[s, 0] + uy * row[s, 1] + uz * row[s, 2])
                gap = row[s, 0] * x + row[s, 1] * y + row[s, 2] * z - row[s, 3] - r
                if rate < -TOWARDS * math.sqrt(square) and gap > 0.0 and -gap / rate < time[i]:  # not only along it
                    met, when = True, max(struck[body], -gap / rate)
            else:
                met, when = first_touch(surfaces, s, walls, (x, y, z), r, (ux, uy, uz), struck[body], time[i], found)
            if met:
                time[i], other[i] = when, -1
                back[i, 0], back[i, 1], back[i, 2] = -ux, -uy, -uz
    wait(barrier, threads)


@kernel
def hold_back(ways: Ways, first: int, h: float, position: FloatArray) -> None:
    """Take back the part of the way that grains have not gone: from their time to the end of the step. Slow ones wait for
    each other or not at all, which keeps the place of their centre and their angular momentum."""
    time, back, other = ways
    for i in range(len(time)):
        if time[i] < h and (other[i] < 0 or other[other[i]] == i):
            for f in range(3):
                position[first + i, f] -= (h - time[i]) * back[i, f]


def find_ways(
    team: Team, near: NeighbourList, bodies: Bodies, walls: WallTable, period: FloatArray | None, h: float, began: FloatArray | None
) -> Ways:
    """How far grains go in a step of ``h`` [s] that ``began`` with bodies at these places (B, 3) [m]; none: where they are."""
    b, count, yielding = bodies, bodies.grain_count, bodies.yielding
    ways = Ways(np.full(count, h), np.zeros((count, 3)), np.full(count, -1, np.int32))
    went = Went(yielding, b.struck, b.position if began is None else began)
    visit, marks = None if near.visits is None else near.visits.rank, np.zeros((2, len(near.order)), np.bool_)
    looked_at = len(near.order if visit is None else visit)
    team.run(times_to_pairs, looked_at, visit, near.arrays, b.arrays, b.grain_arrays, went, period, h, ways, marks)
    at = b.arrays if period is None else b.arrays._replace(position=in_cell(b.position, b.first_grain, period))
    team.run(times_to_walls, count, at, b.grain_arrays, yielding, b.struck, walls, h, ways)
    return ways
