"""The minimiser that chooses: FIRE while grains rearrange, the stiffness of the contacts once they only give way a little."""

from __future__ import annotations

from ...arithmetic import mean
from ..course import Course
from ..precondition import ContactStiffness, Identity
from .fire import FIRE
from .lbfgs import LBFGS

NEAR = 0.3  # of the mean contact force: with a larger force left over, grains are still on the move
ENOUGH = 0.9  # of the d N contacts that hold a packing: with fewer it is unjammed
FIRST_FALL, LONGEST_FALL = 400, 3200  # iterations of FIRE before the contacts are tried again; twice as many each time, up to the second
TRIAL = {2: 500, 3: 120}  # iterations that L-BFGS with the contacts gets to show that it works, by dimension
GAIN = 0.1  # of the residual that it must be below by then


class Auto:
    """FIRE and L-BFGS with the contact stiffness, in turns.

    FIRE passes through rearrangements, and needs thousands of iterations in the soft packings near jamming; the contact stiffness needs a
    few there, and gains nothing while the contacts that it knows come and go.
    """

    name = "auto"

    def run(self, course: Course, diameter: float) -> None:
        """Move ``course`` to a minimum; ``diameter`` [m] bounds the steps."""
        fall, dim = FIRST_FALL, course.x.shape[1]
        near = self._near(course)
        while course.going:
            if near:
                before = course.residual
                course.leg(TRIAL[dim])
                LBFGS(ContactStiffness()).run(course, diameter)
                near = course.residual < GAIN * before and not course.stalled
                course.stalled = ""
            else:
                course.leg(fall)
                FIRE(Identity()).run(course, diameter)
                fall = min(2 * fall, LONGEST_FALL)
                near = self._near(course)
            course.leg()

    def _near(self, course: Course) -> bool:
        """Whether all that is left to do is to give way a little."""
        force = course.energy.contact_forces(course.x)
        if force is None:
            return False
        count, dim = course.x.shape
        return len(force) > ENOUGH * dim * count and course.residual < NEAR * mean(force)
