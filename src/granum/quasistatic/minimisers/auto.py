"""The minimiser that chooses: FIRE while grains rearrange, the stiffness of the contacts once they only give way a little."""

from __future__ import annotations

from dataclasses import dataclass

from ...arithmetic import mean
from ..course import Course
from ..precondition import ContactStiffness, Identity
from .fire import FIRE
from .lbfgs import LBFGS

TRIAL = {2: 500, 3: 60}  # iterations that L-BFGS with the contacts gets to show that it works, by dimension: in 3D those with one factor
FALL = {2: 400, 3: 1600}  # of FIRE before it is tried again: in 3D they take as long as that trial


@dataclass(frozen=True)
class Auto:
    """FIRE and L-BFGS with the contact stiffness, in turns.

    FIRE passes through rearrangements, and needs thousands of iterations in the soft packings near jamming; the contact stiffness needs a
    few there, and gains nothing while the contacts that it knows come and go.
    """

    near: float = 0.3
    """Of the mean contact force: with a larger force left over, grains are still on the move."""
    enough: float = 0.9
    """Of the d N contacts that hold a packing: with fewer it is unjammed."""
    longest_fall: int = 3200
    """Iterations of FIRE before the contacts are tried again, at most: twice as many each time."""
    gain: float = 0.1
    """Of the residual, that L-BFGS must be below after its trial."""
    name: str = "auto"

    def run(self, course: Course, diameter: float) -> None:
        """Move ``course`` to a minimum; ``diameter`` [m] bounds the steps."""
        dim = course.x.shape[1]
        fall = FALL[dim]
        near = self._near(course)
        while course.going:
            if near:
                before = course.residual
                course.leg(TRIAL[dim])
                LBFGS(ContactStiffness()).run(course, diameter)
                near = course.residual < self.gain * before and not course.stalled
                course.stalled = ""
            else:
                course.leg(fall)
                FIRE(Identity()).run(course, diameter)
                fall = min(2 * fall, self.longest_fall)
                near = self._near(course)
            course.leg()

    def _near(self, course: Course) -> bool:
        """Whether all that is left to do is to give way a little."""
        force = course.energy.contact_forces(course.x)
        if force is None:
            return False
        count, dim = course.x.shape
        return len(force) > self.enough * dim * count and course.residual < self.near * mean(force)
