"""Contact solvers: one file per method, one signature, ``solve(problem) -> SolveReport``."""

from typing import Annotated, Any

from pydantic import Field

from ...checks import known_name
from .direct import Direct
from .multigrid import Multigrid
from .pgs import PGS
from .report import SolveReport

Solver = Annotated[PGS | Direct | Multigrid, Field(discriminator="name")]
"""Any solver, by its name."""
SOLVERS: dict[str, type[PGS | Direct | Multigrid]] = {"pgs": PGS, "direct": Direct, "multigrid": Multigrid}


def make_solver(name: str, **settings: Any) -> Solver:
    """A solver by name: ``make_solver("pgs", iterations=200)``."""
    return SOLVERS[known_name("solver", name, SOLVERS)](**settings)


__all__ = ["PGS", "SOLVERS", "Direct", "Multigrid", "SolveReport", "Solver", "make_solver"]
