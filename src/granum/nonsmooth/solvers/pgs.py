"""Projected Gauss-Seidel, plain or with momentum (physics 4; Nesterov's extrapolation around the projected sweep)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from ...records import Fraction, NonNegative, Sweeps, Whole
from ..problem import Problem
from .estimate import LEAST
from .report import SolveReport
from .solver import SolverRecord
from .sweeping import ORDER_NUMBER, Method, sweep

MOST_SWEEPS = 500  # of a solve whose number of sweeps is left to its accuracy
MOST_FOR_ACCURACY = 2000  # ... if that was asked for


def _can_be_told(accuracy: float) -> float:
    if not LEAST <= accuracy <= 1.0:
        raise ValueError(f"must be {LEAST:.1%} to 100%, as smaller errors cannot be told")
    return accuracy


class PGS(SolverRecord):
    """Projected Gauss-Seidel (physics 4)."""

    name: Literal["pgs"] = "pgs"
    iterations: Sweeps | None = None
    """Sweeps per step; with a tolerance the most. None: as many as the accuracy asks for, 500 at most. A column of n grains needs of the
    order of n / error without momentum (physics 9)."""
    tolerance: NonNegative | None = None
    """Stop when the residual is below this [m/s]; 0: never. None: never if iterations are given, else at the accuracy of the step
    (``Problem.accuracy``)."""
    accuracy: Annotated[Fraction, AfterValidator(_can_be_told)] | None = None
    """Sweep until the estimated error of the velocities, root mean square by mass, is below this part of what they change by in a step [-],
    of g h and the speeds at which grains approach and part: at 1 % forces are out of balance by a hundredth of the weight. Iterations then
    are the most, 2000 unless given. None: the tolerance ends a solve."""
    momentum: bool = True
    """Extrapolate each sweep by the last change: several times fewer sweeps for the same error."""
    order: Literal["colour", "given", "symmetric", "random"] = "colour"
    """Of the contacts in a sweep; ``colour`` is the fast one."""
    seed: Whole = Field(default=0, ge=0)
    """Of the random order."""

    def solve(self, problem: Problem, *, step: int = 0, measure: bool = True, history: bool = False) -> SolveReport:
        """Solve in place: impulses and velocities of ``problem`` are the start and become the result."""
        most = MOST_SWEEPS if self.accuracy is None else MOST_FOR_ACCURACY
        iterations = self.iterations if self.iterations is not None else most
        tolerance = self.tolerance
        if tolerance is None:
            tolerance = 0.0 if self.iterations is not None or self.accuracy is not None else problem.accuracy
        method = Method(
            iterations,
            tolerance,
            problem.blocks.soft_t,
            momentum=self.momentum and self.order != "symmetric",  # the two together diverge
            order=ORDER_NUMBER[self.order],
            seed=self.seed + step,
            measure=measure,
            accuracy=self.accuracy or 0.0,
            scale=problem.scale,
        )
        return sweep(problem, method, history=history)[0]

    @property
    def to_accuracy(self) -> bool:
        """Whether sweeps go on to the accuracy of the step."""
        return self.iterations is None or self.accuracy is not None
