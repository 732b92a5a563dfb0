"""Contact solvers: one file per method, one signature, ``solve(problem) -> SolveReport`` (``solver.py``)."""

from importlib import import_module
from pkgutil import iter_modules

from .direct import Direct
from .multigrid import Multigrid
from .pgs import PGS
from .report import SolveReport
from .solver import SOLVERS, AnySolver, Solver, SolverRecord, make_solver

for _module in iter_modules(__path__):  # a solver is known when its file has been read
    import_module(f"{__name__}.{_module.name}")

__all__ = ["PGS", "SOLVERS", "AnySolver", "Direct", "Multigrid", "SolveReport", "Solver", "SolverRecord", "make_solver"]
