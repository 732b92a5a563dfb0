"""Contact solvers: one file per method, one signature, ``solve(problem) -> SolveReport`` (``solver.py``)."""

from .direct import Direct
from .multigrid import Multigrid
from .pgs import PGS
from .report import SolveReport
from .solver import SOLVERS, AnySolver, Solver, SolverRecord, make_solver

__all__ = ["PGS", "SOLVERS", "AnySolver", "Direct", "Multigrid", "SolveReport", "Solver", "SolverRecord", "make_solver"]
