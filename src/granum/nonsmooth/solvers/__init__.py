"""Contact solvers: one file per method, one signature, ``solve(problem) -> SolveReport``."""

from typing import Any

from ...checks import known_name
from .pgs import PGS
from .report import SolveReport

Solver = PGS
"""Any solver, by its name."""
SOLVERS: dict[str, type[Solver]] = {"pgs": PGS}


def make_solver(name: str, **settings: Any) -> Solver:
    """A solver by name: ``make_solver("pgs", iterations=200)``."""
    return SOLVERS[known_name("solver", name, SOLVERS)](**settings)


__all__ = ["PGS", "SOLVERS", "SolveReport", "Solver", "make_solver"]
