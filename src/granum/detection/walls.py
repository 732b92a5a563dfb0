"""Grains against walls: planes, boxes, cylinders and meshes, at every step for every grain, as walls may move.

The surfaces of the walls are put into world axes once for each call; the loop over the grains then only reads short rows.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._jit import device, kernel
from ..array_types import FloatArray, IntArray
from ..parallel.barrier import add_up, share, wait
from ..parallel.crew import Crew
from ..state.bodies import BodyArrays, GrainArrays
from ..state.contacts import Spans, Touching
from .mesh import CANDIDATE_COLUMNS
from .prediction import LEAST, Ahead, approach
from .reach import BALL, GROUP, bound_walls, find_near, size_of, too_far
from .surfaces import FLAT, MOST_LOOK, MOST_SURFACES, ROW, Surfaces, first_touch, place_surfaces, touch_surface
from .wall_table import WallTable


@device
def may_push(bodies, grains, walls, i, wall, wall_yields):
    """Whether grain i and a wall can push each other: they are not parts of one body, and one of them yields or has merged."""
    body = grains.body[i]
    if body < grains.first:
        return walls.body[wall] != body
    return bodies.inverse_mass[body] != 0.0 or wall_yields


@kernel
def find_wall_contacts(
    crew: Crew,
    # in
    order: IntArray,  # (n,) grains in the order of visiting
    bodies: BodyArrays,
    grains: GrainArrays,
    walls: WallTable,
    pair_count: int,  # contacts of grain pairs, which come first
    ahead: Ahead | None,  # contacts that the next step can close count too
    # out
    out: Touching,
    spans: Spans,  # of the wall contacts of each grain
) -> int:
    """Append the contacts of grains with walls, grain by grain and wall by wall; returns the count of all contacts.

    If that is more than the arrays have room for, the rest was counted but not written: grow them and call again.
    """
    most = MOST_SURFACES * walls.kind.shape[0]
    kind, wall_of, part = np.empty(most, np.int32), np.empty(most, np.int32), np.empty(most, np.int32)
    surfaces = Surfaces(kind, wall_of, part, np.empty(most, np.bool_), np.empty((most, ROW)))
    count = place_surfaces(walls, bodies, np.empty((1, ROW)), surfaces)
    found = np.empty((max(1, walls.mesh.candidate_room), CANDIDATE_COLUMNS))
    ball = np.empty((walls.kind.shape[0], BALL))
    bound_walls(walls, bodies, time_of(ahead), np.empty((1, ROW)), ball)
    around = Surroundings(surfaces, count, ball, found, np.empty(most, np.int32))
    return find_at_walls(crew, order, bodies, grains, walls, pair_count, ahead, around, out, spans)


@device
def time_of(ahead):
    """[s] that contacts are looked for ahead."""
    return 0.0 if ahead is None else max(ahead.step, ahead.time)


class Surroundings(NamedTuple):
    """Walls where they are now."""

    surfaces: Surfaces
    placed: int  # how many of them there are
    ball: FloatArray  # (K, BALL) around the walls, see ``reach.py``
    found: FloatArray  # room for what a grain touches of a surface
    near: IntArray  # room for the surfaces that some grains may meet


@device
def find_at_walls(crew, order, bodies, grains, walls, pair_count, ahead, around, out, spans):
    """The same, with the walls where they are now."""
    thread, threads, barrier = crew
    position, radius, room = bodies.position, grains.radius, out.a.shape[0]
    surfaces, count, ball, found, near = around
    first_of, count_of = spans
    time_ahead = time_of(ahead)
    least = LEAST if time_ahead > 0.0 else 0.0
    counted, everywhere, looked_at = 0, 0, 0
    fall = 0.0 if ahead is None else ahead.fall
    low, high = share(order.shape[0], thread, threads)
    # Several threads count first, and then write where theirs belong: only the few grains at a wall are looked at twice.
    for again in range(min(threads, 2)):
        writing, total = again or threads == 1, pair_count
        if again:
            before, everywhere = add_up(barrier, thread, threads, counted)
            total, looked_at = pair_count + before, count
            for n in range(count):
                near[n] = n
        for visit in range(low, high):
            i = order[visit]
            if writing:
                first_of[i] = total
            if again:
                if count_of[i] == 0:
                    continue
            elif (visit - low) % GROUP == 0:
                looked_at = find_near(order, visit, min(visit + GROUP, high), bodies, grains, walls, around, time_ahead, fall, least)
            if looked_at == 0:
                count_of[i] = 0
                continue
            body = grains.first + i
            at, r = (position[body, 0], position[body, 1], position[body, 2]), radius[i]
            known, way = total, r
            if ahead is not None:
                v = bodies.velocity
                way += size_of(v[body, 0], v[body, 1], v[body, 2]) * time_ahead + max(ahead.fall, least * r)
            for n in range(looked_at):
                s = near[n]
                wall = surfaces.wall[s]
                if too_far(ball, wall, at[0], at[1], at[2], way):
                    continue
                if not may_push(bodies, grains, walls, i, wall, surfaces.yields[s]):
                    continue
                ux, uy, uz, look = 0.0, 0.0, 0.0, 0.0
                if ahead is not None:  # of the wall against the grain
                    ux, uy, uz = approach(bodies, walls.frame[wall], body)
                    look = math.sqrt(ux * ux + uy * uy + uz * uz) * time_ahead + max(ahead.fall, least * r)
                fast = surfaces.kind[s] != FLAT and look > MOST_LOOK * r
                if fast:
                    look = MOST_LOOK * r
                touching = touch_surface(surfaces, s, walls, at, r + look, found)
                for k in range(touching):
                    depth = found[k, 3] - look
                    if ahead is not None and not depth > 0.0:
                        rate = ux * found[k, 0] + uy * found[k, 1] + uz * found[k, 2]
                        time = ahead.step if -rate > ahead.impact else ahead.time
                        if not -depth < max(ahead.fall, least * r) - min(0.0, rate) * time:
                            continue
                    if writing and total < room:
                        write(out, total, i, wall, found, k, depth)
                    total += 1
                if ahead is not None and fast:
                    met, time = first_touch(surfaces, s, walls, at, r, (ux, uy, uz), 0.0, ahead.step, found)
                    if met and time > 0.0:
                        if writing and total < room:
                            gap_rate = ux * found[0, 0] + uy * found[0, 1] + uz * found[0, 2]
                            write(out, total, i, wall, found, 0, gap_rate * time)
                        total += 1
            count_of[i] = total - known
        counted = total - pair_count
    wait(barrier, threads)
    return pair_count + (everywhere if threads > 1 else counted)


@device
def write(out, c, grain, wall, found, n, overlap):
    """Contact c: row n of what was found."""
    out.a[c], out.b[c], out.feature[c] = grain, -1 - wall, np.int32(found[n, 4])
    out.normal[c, 0], out.normal[c, 1], out.normal[c, 2] = found[n, 0], found[n, 1], found[n, 2]
    out.overlap[c] = overlap
