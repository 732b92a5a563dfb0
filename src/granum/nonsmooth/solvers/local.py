"""Projected Gauss-Seidel on the local form, for problems that know no bodies: the same projections as ``pgs``, on blocks of W."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from scipy import sparse

from ..._jit import device, kernel
from ...array_types import FloatArray, IntArray, LongArray
from ...checks import InputError
from ...records import NonNegative, Record, Sweeps
from ..local import LocalProblem
from ..projections import into_cone
from .momentum import STATE, begin, judge_step, next_momentum
from .report import SolveReport
from .sweeping import CHECK_EVERY


class LocalRows(NamedTuple):
    """W in blocks of 3 x 3, contact by contact, and what an update divides by."""

    start: IntArray
    """(C + 1,) first block of each contact's row"""
    column: IntArray
    """contact of each block"""
    block: FloatArray
    """(blocks, 3, 3) [1/kg]"""
    own: LongArray
    """(C,) the block on the diagonal"""
    offset: FloatArray
    """(R,) q [m/s]"""
    friction: FloatArray
    """(C,) mu"""
    diagonal: FloatArray
    """(C, 2) of the normal and the friction rows [1/kg]"""


@device
def contact_velocity(rows, c, r):
    """u of contact c: its row of blocks of W times the impulses, and q."""
    start, column, block, offset = rows.start, rows.column, rows.block, rows.offset
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
def local_residual(rows: LocalRows, r: FloatArray) -> FloatArray:
    """(C, 3) residual of every contact by row kind, as of a problem with bodies: D times the change by a projected update [m/s]."""
    friction, diagonal = rows.friction, rows.diagonal
    out = np.zeros((len(friction), 3))
    for c in range(len(friction)):
        un, us, ut = contact_velocity(rows, c, r)
        dn, dt = diagonal[c, 0], diagonal[c, 1]
        rn, rs, rt = r[3 * c], r[3 * c + 1], r[3 * c + 2]
        out[c, 0] = abs(max(0.0, rn - un / dn) - rn) * dn
        ns, nt, _ = into_cone(rs - us / dt, rt - ut / dt, 0.0, friction[c] * rn)
        out[c, 1] = math.sqrt((ns - rs) ** 2 + (nt - rt) ** 2) * dt
    return out


@device
def sweep_local(rows, r, at):
    """Update every contact in turn, normal first; ``at`` (R,) are the impulses that the momentum sums are taken from.

    Returns the sums (r - y) D (r - at) and (r - y) D (r - y), y being the impulses before the sweep.
    """
    block, own, friction, diagonal = rows.block, rows.own, rows.friction, rows.diagonal
    ahead, square = 0.0, 0.0
    for c in range(len(friction)):
        un, us, ut = contact_velocity(rows, c, r)
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
    rows: LocalRows,
    iterations: int,
    tolerance: float,
    momentum: bool,
    r: FloatArray,
    history: FloatArray,
    kinds: FloatArray,
) -> tuple[int, float]:
    """Sweep until ``iterations`` or the residual is below ``tolerance`` [m/s]; returns sweeps done and residual. As ``sweep_until``."""
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
        ahead, square = sweep_local(rows, r, at)
        done = sweep + 1
        if momentum:
            judge_step(state, sweep, ahead, square)
        if len(history) > 0 or done % CHECK_EVERY == 0 or done == iterations:
            found = local_residual(rows, r)
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
    """A local problem as sweeps take it, and as ``direct`` looks at it."""

    def __init__(self, problem: LocalProblem) -> None:
        space = problem.in_space()
        count = space.contact_count
        missing = sparse.diags_array(np.zeros(3 * count), format="csr")  # every contact has a block of its own, if only of zeros
        blocks = sparse.bsr_array(sparse.csr_array(space.matrix) + missing, blocksize=(3, 3))
        blocks.sort_indices()
        start, column, block = blocks.indptr, blocks.indices, np.ascontiguousarray(blocks.data)
        row = np.repeat(np.arange(count), np.diff(start))
        own = np.flatnonzero(row == column)
        diagonal_block = np.zeros(count, np.int64)
        diagonal_block[row[own]] = own
        w = np.zeros((count, 3, 3))
        w[row[own]] = block[own]
        s, t, cross = w[:, 1, 1], w[:, 2, 2], 0.5 * (w[:, 1, 2] + w[:, 2, 1])
        largest = 0.5 * (s + t) + np.hypot(0.5 * (s - t), cross)  # eigenvalue of the friction rows: one number that is safe for both
        self.diagonal = np.column_stack([w[:, 0, 0], largest])
        self.impulse = space.impulse.copy()
        self.rows = LocalRows(start, column, block, diagonal_block, space.offset, space.friction, self.diagonal)
        stuck = np.flatnonzero((self.diagonal <= 0).any(axis=1))
        if len(stuck):
            raise InputError(
                f"contact {stuck[0]} must have a positive diagonal in W (got {w[stuck[0]].diagonal()}): nothing that it touches yields. "
                "Leave it out."
            )

    box = False  # the law of the local form is the cone

    def residual(self) -> FloatArray:
        """(C, 3) of the present impulses, by row kind [m/s]."""
        out: FloatArray = local_residual(self.rows, self.impulse)
        return out


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
        done, residual = iterate_local(b.rows, self.iterations, self.tolerance, self.momentum, b.impulse, rows, kinds)
        problem.impulse[:] = b.impulse.reshape(-1, 3)[:, : problem.dimension].ravel()
        return SolveReport(
            iterations=done,
            residual=residual,
            residual_by_kind=tuple(kinds),
            history=rows[:done],
            converged=self.tolerance > 0 and residual <= self.tolerance,
        )
