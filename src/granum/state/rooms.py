"""Room to work in that the search for contacts and the contact problem use one after the other.

Arrays that one of them has done with before the other begins need not both have memory of their own. Whoever works in a room finds what the
other has left in it, and relies on nothing. Where there is little to hold, each has its own: that costs nothing, and no time.
"""

from __future__ import annotations

import numpy as np

from ..array_types import FloatArray

SHARED = 1 << 15  # numbers: rooms of so many are shared


def with_spare(count: int) -> int:
    """Room for so many things, and for as many more as they may become in some steps."""
    return count + count // 32 + 16


class Room:
    """One array that two use in turn, ``search`` and ``problem``, or two small ones; they grow when somebody needs more, and what was in
    them is lost."""

    def __init__(self) -> None:
        self.search: FloatArray = np.zeros(0)
        self.problem: FloatArray = np.zeros(0)

    @property
    def shared(self) -> bool:
        """Whether the two have one array."""
        return self.search is self.problem

    def for_search(self, numbers: int, made: int = 0) -> FloatArray:
        """Room for so many numbers; if there is none, it is ``made`` for more."""
        if len(self.search) < numbers:
            self.search = np.zeros(max(numbers, made))
            if len(self.search) >= SHARED:
                self.problem = self.search
        return self.search

    def for_problem(self, numbers: int, made: int = 0) -> FloatArray:
        """The same for the problem."""
        if len(self.problem) < numbers:
            self.problem = np.zeros(max(numbers, made))
            if len(self.problem) >= SHARED:
                self.search = self.problem
        return self.problem


class Rooms:
    """``bodies``: the grains as the search reads them, then the bodies of the problem. ``before``: candidates that touch, then the
    velocities of the iterate before. ``lanes``: what contacts carried in the last step, then the numbers of the rows, and impulses.
    """

    def __init__(self) -> None:
        self.bodies, self.before, self.lanes = Room(), Room(), Room()
