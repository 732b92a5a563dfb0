"""Memory of factors, used again: the system hands out fresh pages slower than we factorise."""

from __future__ import annotations

import numpy as np

from ..array_types import FloatArray

KEPT = 2**25  # numbers, of 8 bytes: larger memory is not kept for the next factor
SPARES = 4  # pieces of memory that are kept

_spare: dict[int, FloatArray] = {}  # memory that was used and is not any more, by its identity


def take(numbers: int) -> FloatArray:
    """Memory for so many numbers at least, used before if there is some."""
    for key in list(_spare):
        room = _spare.pop(key, None)  # at once or not at all, also if another thread looks for memory
        if room is not None and numbers <= len(room) <= 2 * numbers + 4096:
            return room
        if room is not None:
            _spare[key] = room
    return np.empty(numbers + numbers // 8)  # a little more, since the next network will be a little different


def give_back(room: FloatArray) -> None:
    """Keep memory that is used no more for the next who asks."""
    if len(room) <= KEPT:
        _spare[id(room)] = room
        for key in list(_spare)[:-SPARES]:
            _spare.pop(key, None)
