"""The minimisers: each moves a :class:`~granum.quasistatic.course.Course` to a minimum."""

from .auto import Auto
from .conjugate import ConjugateGradients
from .fire import FIRE
from .lbfgs import LBFGS
from .newton import Newton

__all__ = ["FIRE", "LBFGS", "Auto", "ConjugateGradients", "Newton"]
