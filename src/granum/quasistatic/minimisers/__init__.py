"""The minimisers: each moves a :class:`~granum.quasistatic.course.Course` to a minimum."""

from .conjugate import ConjugateGradients
from .fire import FIRE
from .lbfgs import LBFGS

__all__ = ["FIRE", "LBFGS", "ConjugateGradients"]
