"""The nonsmooth discrete element method: SPOOK steps and contact solvers."""

from .solvers import PGS, Direct, Multigrid, SolveReport, make_solver
from .stepper import Nonsmooth, NonsmoothStepper
from .warm_start import ColdStart, HistoryStart, ModelStart

__all__ = [
    "PGS",
    "ColdStart",
    "Direct",
    "HistoryStart",
    "ModelStart",
    "Multigrid",
    "Nonsmooth",
    "NonsmoothStepper",
    "SolveReport",
    "make_solver",
]
