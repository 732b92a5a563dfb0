"""What contacts carried in the last step, put aside while they are looked for anew.

Contacts have one set of arrays, which the search overwrites. What the new ones may continue waits in room that the contact problem uses as
soon as the search is over.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import device
from ..array_types import FloatArray, IntArray, LongArray
from ..kernel_groups import group
from ..parallel.barrier import share, wait
from ..state.rooms import Room

COUNT, PAIRS, GRAINS = range(3)
NEXT = 3
WAITS = 6
KNOWN = 7


@group
class Past(NamedTuple):
    """Contacts of grains of the last step, with room for more; see ``Contacts`` and ``Noted``."""

    known: LongArray
    """(7,) how many contacts there were, how many of them pairs, and of how many grains; from ``NEXT`` on the same of those that are put
    aside next, and whether they are to be now"""
    partner: LongArray
    feature: IntArray
    impulse: FloatArray
    rebound: FloatArray
    normal: FloatArray
    """(W, 3) of those with walls, of which the first follows the last pair"""
    overlap: FloatArray
    """(W,) of those with walls"""
    first: IntArray
    """(2, N) where the pairs and the contacts with walls of each grain stand"""
    number: IntArray
    """(2, N)"""

    @classmethod
    def of(cls, known: LongArray, room: Room, contacts: int, walls: int, grains: int) -> Past:
        """For so many contacts, of them with walls, and grains."""
        sizes = contacts, (contacts + 1) // 2, 7 * contacts, contacts, 3 * walls, walls, grains, grains
        ends = np.cumsum(sizes)
        array = room.for_search(int(ends[-1]))
        partner, feature, impulse, rebound, normal, overlap, first, number = (
            array[end - size : end] for size, end in zip(sizes, ends, strict=True)
        )
        return cls(
            known,
            partner.view(np.int64),
            feature.view(np.int32),
            impulse.reshape(contacts, 7),
            rebound,
            normal.reshape(walls, 3),
            overlap,
            first.view(np.int32).reshape(2, grains),
            number.view(np.int32).reshape(2, grains),
        )


@device
def put_aside(crew, contacts, first, number, past):
    """What the contacts carry, unless that has been done."""
    thread, threads, barrier = crew
    known = past.known
    if known[WAITS] == 0:
        return
    pairs = known[NEXT + PAIRS]
    low, high = share(known[NEXT + COUNT], thread, threads)
    for c in range(low, high):
        past.partner[c], past.feature[c], past.rebound[c] = contacts.partner[c], contacts.feature[c], contacts.rebound[c]
        for f in range(7):
            past.impulse[c, f] = contacts.impulse[c, f]
        if c >= pairs:
            past.overlap[c - pairs] = contacts.overlap[c]
            for f in range(3):
                past.normal[c - pairs, f] = contacts.normal[c, f]
    low, high = share(known[NEXT + GRAINS], thread, threads)
    for i in range(low, high):
        for side in range(2):
            past.first[side, i], past.number[side, i] = first[side, i], number[side, i]
    wait(barrier, threads)
    if thread == 0:
        for k in range(NEXT):
            known[k] = known[NEXT + k]
        known[WAITS] = 0
    wait(barrier, threads)
