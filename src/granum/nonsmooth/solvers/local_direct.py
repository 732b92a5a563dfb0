"""The direct solver on the local form, for problems without bodies: the Newton steps of ``direct``, with (I + D W) factorised whole."""

from __future__ import annotations

from time import perf_counter
from typing import Any, Literal, cast

import numpy as np
from scipy import sparse

from ...array_types import FloatArray
from ...records import NonNegative, Record, Sweeps
from ..local import LocalProblem
from ..problem import Problem
from ..system import System
from .direct import Direct, Solution
from .elimination import Elimination, WholeElimination
from .local import LocalBlocks, LocalPGS
from .report import SolveReport


class LocalSystem(System):
    """A local form as a system whose freedoms are the contacts themselves: G = 1, M^-1 = W, and q is their drift."""

    @classmethod
    def of(cls, problem: LocalProblem) -> LocalSystem:
        """Of a problem in space."""
        rows, count = len(problem.offset), problem.contact_count
        matrix = sparse.csr_array(problem.matrix)
        return cls(
            rows=3,
            slot=np.zeros(0, np.int32),
            basis=np.zeros((count, 3, 3)),
            jacobian=sparse.csr_array(sparse.eye_array(rows)),
            inverse_mass=matrix,
            velocity=matrix @ problem.impulse,
            drift=problem.offset,
            target=np.zeros(rows),
            softness=np.zeros(rows),
            friction=problem.friction,
            rolling=np.zeros(count),
            impulse=problem.impulse.copy(),
        )

    def write(self, problem: Any, impulse: FloatArray) -> None:
        """Impulses into the blocks that measure them."""
        problem.impulse[:] = impulse


class LocalElimination(WholeElimination):
    """dp = e - D W dp of a local form."""

    def __init__(self, system: System, diagonal: FloatArray) -> None:
        self.matrix, self.free, self.diagonal = system.inverse_mass, system.drift, diagonal
        self.factorisations = 0


class LocalSolution(Solution):
    """One solve of a local form under way."""

    def __init__(self, settings: Direct, problem: LocalProblem, history: bool) -> None:
        self.local = problem.in_space()
        self.blocks = LocalBlocks(self.local)
        super().__init__(settings, cast(Problem, self.blocks), history)  # all it asks of a problem is the residual

    def _view(self) -> System:
        return LocalSystem.of(self.local)

    def _eliminate(self) -> Elimination:
        return LocalElimination(self.system, self.blocks.diagonal[:, [0, 1, 1]])

    def _sweep(self, p: FloatArray, sweeps: int) -> FloatArray:
        swept = self.local.start_at(p)
        LocalPGS(iterations=sweeps).solve(swept)
        return swept.impulse if np.isfinite(swept.impulse).all() else p

    def _sweep_seconds(self) -> float:
        sweeps = LocalPGS(iterations=10, momentum=False)
        start = perf_counter()
        sweeps.solve(self.local.start_at(self.local.impulse))
        return (perf_counter() - start) / sweeps.iterations


class LocalDirect(Record):
    """Newton's method on W: the solution to rounding."""

    name: Literal["direct"] = "direct"
    iterations: Sweeps = 150
    """Most factorisations."""
    tolerance: NonNegative = 1e-12
    """Residual [m/s] to stop at; never asked to be smaller than rounding allows."""

    def solve(self, problem: LocalProblem, *, history: bool = False) -> SolveReport:
        """Solve in place: the impulses of ``problem`` are the start and become the result."""
        found = LocalSolution(Direct(iterations=self.iterations, tolerance=self.tolerance), problem, history)
        report = found.find()
        problem.impulse[:] = _inside(found.blocks.impulse, problem.friction)[:, : problem.dimension].ravel()
        return report


def _inside(impulse: FloatArray, friction: FloatArray) -> FloatArray:
    """(C, 3) brought back inside their bounds, which Newton's method keeps to rounding only."""
    normal, tangential = np.maximum(impulse[::3], 0.0), np.hypot(impulse[1::3], impulse[2::3])
    kept = np.minimum(1.0, np.divide(friction * normal, tangential, out=np.ones_like(normal), where=tangential > 0))
    return np.column_stack([normal, kept * impulse[1::3], kept * impulse[2::3]])


LOCAL_SOLVERS: dict[str, type[LocalPGS | LocalDirect]] = {"pgs": LocalPGS, "direct": LocalDirect}
"""By name, for problems that know no bodies."""
