"""The nonsmooth discrete element method: SPOOK steps with projected Gauss-Seidel."""

from .solvers import PGS, SolveReport, make_solver
from .stepper import Nonsmooth, NonsmoothStepper
from .warm_start import ColdStart, HistoryStart, ModelStart

__all__ = [
    "PGS", "ColdStart", "HistoryStart", "ModelStart", "Nonsmooth", "NonsmoothStepper", "SolveReport", "make_solver",
]  # fmt: skip
