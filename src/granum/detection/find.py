"""The contacts of a step in one call: who has left the neighbour list, who touches whom, and what contacts carried before.

Where few grains make a step, calls of kernels cost more than the kernels do; where there are many, threads share every part.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import kernel
from ..array_types import FloatArray, IntArray, LongArray
from ..kernel_groups import group
from ..parallel.barrier import add_up, share, wait
from ..parallel.crew import Crew
from ..state.bodies import BodyArrays, GrainArrays
from ..state.contacts import ContactArrays, Spans
from .images import move_rows
from .mesh import CANDIDATE_COLUMNS
from .narrow import Candidates, find_pairs, gather
from .past import COUNT, GRAINS, NEXT, PAIRS, Past, put_aside
from .persistence import carry_over
from .prediction import Ahead, keep_first_meetings, time_meetings
from .reach import BALL, bound_walls
from .surfaces import MOST_SURFACES, ROW, Surfaces, place_surfaces
from .wall_table import WallTable
from .walls import Surroundings, find_at_walls, time_of


@group
class Noted(NamedTuple):
    """Contacts of a step, and where those of each grain stand."""

    contacts: ContactArrays  # with all their room
    first: IntArray  # (2, N) pairs and walls
    number: IntArray  # (2, N)


@group
class Looks(NamedTuple):
    """Who is looked at, and room to work in."""

    near: Candidates
    reference: FloatArray  # (N, 3) where each grain was when it was listed [m]
    skin: FloatArray  # (N,) how far it may be from there [m]
    at_walls: IntArray  # grains that may touch a wall
    id: LongArray  # (N,) of the grains
    hit: IntArray  # room for all candidates
    left: IntArray  # room for the names of grains that leave their skin; none: whoever does, contacts are looked for


@group
class Cell(NamedTuple):
    """Space that repeats."""

    period: FloatArray  # (2, 3), see ``images``
    place: FloatArray  # (B, 3) receives the positions in the cell [m]


@kernel
def find_contacts(
    crew: Crew,
    # in
    bodies: BodyArrays,
    grains: GrainArrays,
    walls: WallTable,
    visit: IntArray | None,  # ranks that are looked at, with spheres that are there; none: all
    ahead: Ahead,  # of no time: contacts exist only while grains overlap
    # room
    past: Past,
    looks: Looks,
    cell: Cell | None,
    # in and out
    noted: Noted,
) -> tuple[int, int, int, bool, int]:
    """Contacts of the bodies where they are now instead of those ``noted`` in the last step, whose impulses and rebounds they go on with.

    Returns how many grains leave their skin before the step ends, how many contacts are pairs, how many there are in all, whether each is
    the one that had its number in the step before, and a contact whose grain went through its wall, or -1. With grains that have left, or
    with more contacts than there is room for, it ends there: list them, or make room, and call again.
    """
    thread, threads, barrier = crew
    near, contacts, first, number = looks.near, noted.contacts, noted.first, noted.number
    put_aside(crew, contacts, first, number, past)
    if visit is not None:  # grains that are not visited have none
        low, high = share(number.shape[1], thread, threads)
        number[:, low:high] = 0
        wait(barrier, threads)
    if visit is None:
        own = np.empty(len(looks.left), np.int32)
        time = max(ahead.step, ahead.time)
        left = gather(crew, near, bodies, grains, looks.reference, looks.skin, time, ahead.fall, own, looks.left)
        if left > 0 and len(looks.left) > 0:
            return left, 0, 0, False, -1
    at, period = bodies, None
    if cell is not None:
        low, high = share(len(bodies.position), thread, threads)
        move_rows(low, high, bodies.position, grains.first, cell.period, cell.place)
        wait(barrier, threads)
        at, period = BodyArrays(cell.place, bodies.orientation, bodies.velocity, bodies.spin, bodies.inverse_mass), cell.period
    pairs = find_pairs(crew, near, bodies, grains, visit, period, ahead, looks.hit, contacts, Spans(first[0], number[0]))
    most = MOST_SURFACES * walls.kind.shape[0]
    kind, wall_of, part = np.empty(most, np.int32), np.empty(most, np.int32), np.empty(most, np.int32)
    surfaces = Surfaces(kind, wall_of, part, np.empty(most, np.bool_), np.empty((most, ROW)))
    placed = place_surfaces(walls, at, np.empty((1, ROW)), surfaces)
    touched = np.empty((max(1, walls.mesh.candidate_room), CANDIDATE_COLUMNS))
    ball = np.empty((walls.kind.shape[0], BALL))
    bound_walls(walls, at, time_of(ahead), np.empty((1, ROW)), ball)
    around = Surroundings(surfaces, placed, ball, touched, np.empty(most, np.int32))
    spans = Spans(first[1], number[1])
    total = find_at_walls(crew, looks.at_walls, at, grains, walls, pairs, ahead, around, contacts, spans)
    if total > len(contacts.a):
        return 0, pairs, total, False, -1
    if ahead.step > 0.0:
        low, high = share(total, thread, threads)
        fast = add_up(barrier, thread, threads, time_meetings(low, high, contacts, at, grains, walls.frame, ahead))[1]
        if fast > 1:
            if thread == 0:
                keep_first_meetings(total, contacts, grains.radius, np.full(len(grains.radius), np.inf))
            wait(barrier, threads)
    same, through = carry_over(crew, looks.id, ahead.fall, past, contacts, total)
    if thread == 0:
        past.known[NEXT + COUNT], past.known[NEXT + PAIRS], past.known[NEXT + GRAINS] = total, pairs, first.shape[1]
    return 0, pairs, total, same, through
