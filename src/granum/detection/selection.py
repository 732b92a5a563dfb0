"""What the search for contacts asks of somebody who knows that most grains need no look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ..array_types import FloatArray, IntArray

if TYPE_CHECKING:
    from .neighbours import NeighbourList


class Selection(Protocol):
    """Grains that are looked at, and the frame in which the neighbour list is kept."""

    rank: IntArray
    """(V,) ranks whose candidates are looked at."""
    at_walls: IntArray
    """Grains that may touch a wall."""
    who: IntArray
    """(S,) grains with a slot in the contact problem."""
    slot: IntArray
    """(N,) slot of each grain, -1: none."""
    stale: bool
    """Whether the selection must be made anew."""
    resting: int
    """Row of the body in whose frame the neighbour list is kept."""

    @property
    def many_rest(self) -> bool:
        """Whether so many grains rest in that frame that single ones are better appended to the list."""

    def settle(self) -> None:
        """Take the frame for a new neighbour list."""

    def since_listed(self) -> tuple[FloatArray, FloatArray]:
        """Rotation (3, 3) and shift (3,) [m] of the frame since the neighbour list was made."""

    def note(self, grains: IntArray) -> None:
        """These grains are new or listed anew."""

    def update(self, near: NeighbourList) -> None:
        """Look anew who is looked at."""

    def number(self, order: IntArray) -> None:
        """Give slots to the grains that are looked at."""

    def add(self, a: IntArray, first: int) -> None:
        """Give slots to the grains whose wall contacts begin at ``first`` of the owners ``a`` (C,)."""
