"""Room to work in that the stages of a step use one after the other.

Arrays that one stage has done with before another begins need not both have memory of their own. Whoever works in a room finds what the one
before has left in it, and relies on nothing.
"""

from __future__ import annotations

import numpy as np

from ..array_types import FloatArray


def with_spare(count: int) -> int:
    """Room for so many things, and for as many more as they may become in some steps."""
    return count + count // 32 + 16


class Room:
    """One array that grows when somebody needs more; then what it held is lost."""

    def __init__(self) -> None:
        self.array: FloatArray = np.zeros(0)

    def at_least(self, numbers: int, made: int = 0) -> FloatArray:
        """The array, with room for so many numbers; if there is none, it is ``made`` for more."""
        if len(self.array) < numbers:
            self.array = np.zeros(max(numbers, made))
        return self.array


class Rooms:
    """Rooms that the search for contacts shares with the contact problem, which begins when the search is over.

    ``bodies``: the grains as the search reads them, then the bodies of the problem. ``before``: candidates that touch, then the velocities
    of the iterate before. ``lanes``: what contacts carried in the last step, then the numbers of the rows, and impulses.
    """

    def __init__(self) -> None:
        self.bodies, self.before, self.lanes = Room(), Room(), Room()
