"""The nonsmooth discrete element method: SPOOK steps and contact solvers."""

from .settings import Nonsmooth
from .solvers import PGS, Direct, Multigrid, SolveReport, make_solver
from .stepper import NonsmoothStepper
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
