"""Contact solvers: one file per method, one signature, ``solve(problem) -> SolveReport``."""

from typing import Annotated, Any

from pydantic import Field

from ...checks import known_name
from .direct import Direct
from .pgs import PGS
from .report import SolveReport

Solver = Annotated[PGS | Direct, Field(discriminator="name")]
"""Any solver, by its name."""
SOLVERS: dict[str, type[PGS | Direct]] = {"pgs": PGS, "direct": Direct}


def make_solver(name: str, **settings: Any) -> Solver:
    """A solver by name: ``make_solver("pgs", iterations=200)``."""
    return SOLVERS[known_name("solver", name, SOLVERS)](**settings)


__all__ = ["PGS", "SOLVERS", "Direct", "SolveReport", "Solver", "make_solver"]
