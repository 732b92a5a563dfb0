"""Projected Gauss-Seidel on the local form, for problems that know no bodies: the same projections as ``pgs``, on blocks of W."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from scipy import sparse

from ..._jit import device, kernel
from ...array_types import FloatArray, IntArray
from ...checks import InputError
from ...records import NonNegative, Record, Sweeps
from ..local import LocalProblem
from ..projections import into_cone
from .momentum import STATE, begin, judge_step, next_momentum
from .report import SolveReport
from .sweeping import CHECK_EVERY


@device
def contact_velocity(start, column, block, offset, c, r):
    """u of contact c: its row of blocks of W times the impulses, and q."""
    un, us, ut = offset[3 * c], offset[3 * c + 1], offset[3 * c + 2]
    for k in range(start[c], start[c + 1]):
        o = 3 * column[k]
        w = block[k]
        x, y, z = r[o], r[o + 1], r[o + 2]
        un += w[0, 0] * x + w[0, 1] * y + w[0, 2] * z
        us += w[1, 0] * x + w[1, 1] * y + w[1, 2] * z
        ut += w[2, 0] * x + w[2, 1] * y + w[2, 2] * z
    return un, us, ut


@kernel
def local_residual(
    start: IntArray,
    column: IntArray,
    block: FloatArray,
    offset: FloatArray,
    friction: FloatArray,
    diagonal: FloatArray,
    r: FloatArray,
) -> FloatArray:
    """(C, 3) residual of every contact by row kind, as of a problem with bodies: D times the change by a projected update [m/s]."""
    out = np.zeros((len(friction), 3))
    for c in range(len(friction)):
        un, us, ut = contact_velocity(start, column, block, offset, c, r)
        dn, dt = diagonal[c, 0], diagonal[c, 1]
        rn, rs, rt = r[3 * c], r[3 * c + 1], r[3 * c + 2]
        out[c, 0] = abs(max(0.0, rn - un / dn) - rn) * dn
        ns, nt, _ = into_cone(rs - us / dt, rt - ut / dt, 0.0, friction[c] * rn)
        out[c, 1] = math.sqrt((ns - rs) ** 2 + (nt - rt) ** 2) * dt
    return out


@device
def sweep_local(start, column, block, own, offset, friction, diagonal, r, at):
    """Update every contact in turn, normal first; ``at`` (R,) are the impulses that the momentum sums are taken from.

    Returns the sums (r - y) D (r - at) and (r - y) D (r - y), y being the impulses before the sweep.
    """
    ahead, square = 0.0, 0.0
    for c in range(len(friction)):
        un, us, ut = contact_velocity(start, column, block, offset, c, r)
        dn, dt = diagonal[c, 0], diagonal[c, 1]
        o = 3 * c
        yn, ys, yt = r[o], r[o + 1], r[o + 2]
        rn = max(0.0, yn - un / dn)
        w = block[own[c]]
        us += w[1, 0] * (rn - yn)
        ut += w[2, 0] * (rn - yn)
        rs, rt, _ = into_cone(ys - us / dt, yt - ut / dt, 0.0, friction[c] * rn)
        r[o], r[o + 1], r[o + 2] = rn, rs, rt
        ahead += dn * (rn - yn) * (rn - at[o]) + dt * ((rs - ys) * (rs - at[o + 1]) + (rt - yt) * (rt - at[o + 2]))
        square += dn * (rn - yn) ** 2 + dt * ((rs - ys) ** 2 + (rt - yt) ** 2)
    return ahead, square


@kernel
def iterate_local(
    start: IntArray,
    column: IntArray,
    block: FloatArray,
    own: IntArray,
    offset: FloatArray,
    friction: FloatArray,
    diagonal: FloatArray,
    iterations: int,
    tolerance: float,
    momentum: bool,
    r: FloatArray,
    history: FloatArray,
    kinds: FloatArray,
) -> tuple[int, float]:
    """Sweep until ``iterations`` or the residual is below ``tolerance`` [m/s]; returns sweeps done and residual. As ``iterate`` of pgs."""
    before = r.copy()
    at = r.copy()
    state = np.empty(STATE)
    begin(state)
    residual, done = -1.0, 0
    for sweep in range(iterations):
        at[:] = r
        if momentum:
            beta = next_momentum(state, sweep)
            for k in range(len(r)):
                r[k] += beta * (r[k] - before[k])
            before[:] = at
        ahead, square = sweep_local(start, column, block, own, offset, friction, diagonal, r, at)
        done = sweep + 1
        if momentum:
            judge_step(state, sweep, ahead, square)
        if len(history) > 0 or done % CHECK_EVERY == 0 or done == iterations:
            found = local_residual(start, column, block, offset, friction, diagonal, r)
            residual = 0.0
            for k in range(3):
                kinds[k] = math.sqrt(np.sum(found[:, k] ** 2) / max(1, len(found)))
                residual += kinds[k] ** 2
            residual = math.sqrt(residual)
            if len(history) > 0:
                history[sweep, 0] = residual
                history[sweep, 1:] = kinds
            if residual <= tolerance:
                break
    return done, residual


class LocalBlocks:
    """W in blocks of 3 x 3, and what an update divides by."""

    def __init__(self, problem: LocalProblem) -> None:
        space = problem.in_space()
        count = space.contact_count
        missing = sparse.diags_array(np.zeros(3 * count), format="csr")  # every contact has a block of its own, if only of zeros
        blocks = sparse.bsr_array(sparse.csr_array(space.matrix) + missing, blocksize=(3, 3))
        blocks.sort_indices()
        self.start, self.column, self.block = blocks.indptr, blocks.indices, np.ascontiguousarray(blocks.data)
        row = np.repeat(np.arange(count), np.diff(self.start))
        own = np.flatnonzero(row == self.column)
        self.own = np.zeros(count, np.int64)
        self.own[row[own]] = own
        w = np.zeros((count, 3, 3))
        w[row[own]] = self.block[own]
        s, t, cross = w[:, 1, 1], w[:, 2, 2], 0.5 * (w[:, 1, 2] + w[:, 2, 1])
        largest = 0.5 * (s + t) + np.hypot(0.5 * (s - t), cross)  # eigenvalue of the friction rows: one number that is safe for both
        self.diagonal = np.column_stack([w[:, 0, 0], largest])
        self.offset, self.friction, self.impulse = space.offset, space.friction, space.impulse.copy()
        stuck = np.flatnonzero((self.diagonal <= 0).any(axis=1))
        if len(stuck):
            raise InputError(
                f"contact {stuck[0]} must have a positive diagonal in W (got {w[stuck[0]].diagonal()}): nothing that it touches yields. "
                "Leave it out."
            )

    box = False  # the law of the local form is the cone

    def residual(self) -> FloatArray:
        """(C, 3) of the present impulses, by row kind [m/s]."""
        return local_residual(self.start, self.column, self.block, self.offset, self.friction, self.diagonal, self.impulse)


class LocalPGS(Record):
    """Projected Gauss-Seidel on W."""

    name: Literal["pgs"] = "pgs"
    iterations: Sweeps = 50
    tolerance: NonNegative = 0.0
    """Stop before that when the residual is below this [m/s]; 0: never."""
    momentum: bool = True

    def solve(self, problem: LocalProblem, *, history: bool = False) -> SolveReport:
        """Solve in place: the impulses of ``problem`` are the start and become the result."""
        b, rows, kinds = LocalBlocks(problem), np.zeros((self.iterations if history else 0, 4)), np.zeros(3)
        done, residual = iterate_local(
            b.start,
            b.column,
            b.block,
            b.own,
            b.offset,
            b.friction,
            b.diagonal,
            self.iterations,
            self.tolerance,
            self.momentum,
            b.impulse,
            rows,
            kinds,
        )
        problem.impulse[:] = b.impulse.reshape(-1, 3)[:, : problem.dimension].ravel()
        return SolveReport(
            iterations=done,
            residual=residual,
            residual_by_kind=tuple(kinds),
            history=rows[:done],
            converged=self.tolerance > 0 and residual <= self.tolerance,
        )
