"""What the stages of a nonsmooth step tell each other."""

from __future__ import annotations

from dataclasses import dataclass

from ..array_types import FloatArray, IntArray
from ..detection.ways import Ways
from ..state.stages import StepContext


@dataclass
class NonsmoothStep(StepContext):
    """The context of one nonsmooth step."""

    impacts: int = 0
    """Contacts that collide in this step."""
    found_overlap: FloatArray | None = None
    """(C,) [m] before collisions moved the start of the step."""
    began: FloatArray | None = None
    """(B, 3) where bodies were before that [m]; none: they are there."""
    owed: tuple[IntArray, FloatArray] | None = None
    """Contacts, and the angular momentum [N m s] that each is to be given after the solve."""
    hits: FloatArray | None = None
    """(K, 9) of these contacts: the impulse of the collision on b [N s], and lever arms to it from the centres of a and b [m]; of contacts
    between bodies."""
    gained: FloatArray | None = None
    """(F,) [J] that bodies which are no grains have won with that angular momentum."""
    turned: FloatArray | None = None
    """(F, 3) [rad] by which bodies that are no grains end the step turned besides, since they collided inside of it; empty: none does."""
    fast: bool = False
    """Whether anything could go far enough to be followed."""
    moved: bool = False
    """Grains have their new positions already."""
    rebounding: int = 0
    """Contacts that have not parted yet since they collided."""
    ways: Ways | None = None
    """How far grains go before they meet something that the step did not solve; none: nothing is fast."""
