"""Direct solver: the contact problem to rounding, by Newton's method with sparse factorisations.

The law is the one that the residual measures. With û = u + Sigma p - b, contact by contact,

    0 <= p_n  perp  û_n >= 0,     û_t + lambda p_t = 0,   0 <= lambda  perp  g - |p_t| >= 0,   g = mu p_n,

and rolling alike with g = mu_r R* p_n; with box friction every component has a bound of its own. Each Newton step writes the rows of a contact as
dp = e - D du and eliminates the impulses: (I + G D G^T) y = G e, one 6 x 6 block for each body and contact, in velocities scaled by the root of
the mass. Two linearisations of the law take turns:

- *active set* (Alart and Curnier): normals are closed or open, friction sticks or slips, as a projected update would have it. It ends exactly
  once the sets are right, which needs one or a few steps in columns, in flow and from a good start; in packings with many ways to
  carry a load it cycles.
- *interior point*: p_n û_n = tau and lambda (g^2 - |p_t|^2) / 2 = tau with tau -> 0, predictor and corrector, where the bound g moves with p_n.
  It comes near the solution from any start that we have met. A bound that has become too tight for the rounding of g - |p_t| slips from then on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import Literal

import numpy as np
from pydantic import Field
from scipy import sparse
from scipy.sparse.linalg import SuperLU, splu

from ..._jit import BoolArray, FloatArray, IntArray, kernel
from ...contact.model import NonNegative, Record
from ..problem import Problem
from ..system import System
from .pgs import PGS
from .report import SolveReport

FIRM = 1e-9          # of a row's W: softness that a Newton step takes at least, so that hard contacts can be eliminated
NEAR_BOUND = 0.9     # of the way to the bounds that an interior step may go
CENTRED = 1e-3       # of the mean product p û: the least one that a step may leave
TIGHT = 1e-9         # of g^2: below it g^2 - |p_t|^2 drowns in rounding
PATIENCE = 2         # active-set steps without headway
HEADWAY = 0.3        # what the residual must fall by to count as one
RETRY = 1e-2         # fall of the residual between two tries of the active set
STUCK = 6            # interior steps in a row that hardly move
ROUNDING = 8 * np.finfo(float).eps  # of the velocities that single impulses give: no residual can be asked to be smaller


@kernel
def split_rows(values: FloatArray, columns: IntArray, start: IntArray, rows: int, contacts: int) -> tuple[IntArray, FloatArray]:
    """Bodies (C, 2) of every contact, -1 for none, and their dense parts (C, 2, rows, 6) of a sparse G."""
    pair = np.full((contacts, 2), -1, np.int32)
    blocks = np.zeros((contacts, 2, rows, 6))
    for c in range(contacts):
        for i in range(rows):
            for k in range(start[c * rows + i], start[c * rows + i + 1]):
                body = columns[k] // 6
                side = 0
                if pair[c, 0] < 0:
                    pair[c, 0] = body
                elif pair[c, 0] != body:
                    pair[c, 1] = body
                    side = 1
                blocks[c, side, i, columns[k] % 6] = values[k]
    return pair, blocks


@kernel
def place_blocks(pair: IntArray, rank: IntArray, start: IntArray, row: IntArray) -> IntArray:
    """(C, 4) where in the sparse matrix of bodies (by columns, sorted) the parts aa, ba, ab, bb of every contact stand; -1: nowhere."""
    place = np.full((len(pair), 4), -1, np.int32)
    for c in range(len(pair)):
        for right in range(2):
            for left in range(2):
                if pair[c, right] >= 0 and pair[c, left] >= 0:
                    j, i = rank[pair[c, right]], rank[pair[c, left]]
                    place[c, 2 * right + left] = start[j] + np.searchsorted(row[start[j] : start[j + 1]], i)
    return place


@kernel
def add_blocks(
    pair: IntArray, blocks: FloatArray, place: IntArray, rank: IntArray, start: IntArray, row: IntArray, law: FloatArray, values: FloatArray
) -> None:
    """I + G^T D G into the values of a matrix by columns, 6 for each body; ``law`` (C, rows, rows) is D."""
    rows = law.shape[1]
    values[:] = 0.0
    for j in range(len(start) - 1):
        count = start[j + 1] - start[j]
        k = np.searchsorted(row[start[j] : start[j + 1]], j)
        for f in range(6):
            values[36 * start[j] + f * 6 * count + 6 * k + f] = 1.0
    product = np.empty((rows, 6))
    for c in range(len(pair)):
        for right in range(2):
            if pair[c, right] < 0:
                continue
            product[:] = 0.0
            for i in range(rows):
                for k in range(rows):
                    if law[c, i, k] != 0.0:
                        for f in range(6):
                            product[i, f] += law[c, i, k] * blocks[c, right, k, f]
            j = rank[pair[c, right]]
            count = start[j + 1] - start[j]
            for left in range(2):
                if pair[c, left] < 0:
                    continue
                at = place[c, 2 * right + left] - start[j]
                for f in range(6):
                    o = 36 * start[j] + f * 6 * count + 6 * at
                    for i in range(rows):
                        for g in range(6):
                            values[o + g] += blocks[c, left, i, g] * product[i, f]


@kernel
def let_slip(
    p: FloatArray, u: FloatArray, soft: FloatArray, firm: FloatArray, rho: FloatArray, c: int, rows: int, first: int, size: int,
    coefficient: float, law: FloatArray, e: FloatArray,
) -> None:  # fmt: skip
    """Rows of an impulse that slips: p = g z / |z| with z = p - rho û; the bound g follows the normal impulse."""
    o = c * rows
    g, r = coefficient * max(p[o], 0.0), rho[o + first]
    square = 0.0
    for i in range(o + first, o + first + size):
        square += (p[i] - r * (u[i] + soft[i] * p[i])) ** 2
    length = np.sqrt(square)
    if length == 0.0:
        for i in range(o + first, o + first + size):
            e[i] = -p[i]
        return
    part = g / length
    across = 1.0 / (1.0 - part * (1.0 - r * firm[o + first]))
    for a in range(first, first + size):
        za = (p[o + a] - r * (u[o + a] + soft[o + a] * p[o + a])) / length
        e[o + a] = coefficient * za * e[o]
        law[c, a, 0] = coefficient * za * law[c, 0, 0]
        for b in range(first, first + size):
            zb = (p[o + b] - r * (u[o + b] + soft[o + b] * p[o + b])) / length
            other = (1.0 if a == b else 0.0) - za * zb
            law[c, a, b] = part * r * across * other
            e[o + a] -= (za * zb + across * other) * (p[o + b] - g * zb)


@kernel
def active_set(
    p: FloatArray, u: FloatArray, target: FloatArray, soft: FloatArray, firm: FloatArray, rho: FloatArray, balls: IntArray,
    coefficient: FloatArray, law: FloatArray, e: FloatArray,
) -> None:  # fmt: skip
    """dp = e - D du of every contact, closed or open, sticking or slipping as a projected update of p would have it."""
    contacts, rows = len(coefficient), law.shape[1]
    law[:] = 0.0
    for c in range(contacts):
        o = c * rows
        û = u[o] + soft[o] * p[o] - target[o]
        if p[o] - rho[o] * û <= 0.0:
            for i in range(o, o + rows):
                e[i] = -p[i]
            continue
        law[c, 0, 0] = 1.0 / firm[o]
        e[o] = -û / firm[o]
        for k in range(len(balls)):
            first, size = balls[k]
            g, square = coefficient[c, k] * max(p[o], 0.0), 0.0
            for i in range(o + first, o + first + size):
                square += (p[i] - rho[i] * (u[i] + soft[i] * p[i])) ** 2
            if square <= g * g:
                for i in range(first, first + size):
                    law[c, i, i] = 1.0 / firm[o + i]
                    e[o + i] = -(u[o + i] + soft[o + i] * p[o + i]) / firm[o + i]
            else:
                let_slip(p, u, soft, firm, rho, c, rows, first, size, coefficient[c, k], law, e)


@kernel
def central_path(
    # state
    p: FloatArray, slack: FloatArray, lam: FloatArray, phi: FloatArray, slips: BoolArray,
    # the problem
    u: FloatArray, target: FloatArray, soft: FloatArray, firm: FloatArray, rho: FloatArray, balls: IntArray, coefficient: FloatArray,
    # the point of the path, and the predictor whose products are to be corrected
    tau: float, correct: bool, dp: FloatArray, dslack: FloatArray, dlam: FloatArray, dphi: FloatArray,
    # out
    law: FloatArray, e: FloatArray,
) -> None:  # fmt: skip
    """dp = e - D du of every contact towards p_n û_n = tau, lambda phi = tau with phi = (g^2 - |p_t|^2) / 2."""
    contacts, rows = len(coefficient), law.shape[1]
    law[:] = 0.0
    for c in range(contacts):
        o = c * rows
        x, s = p[o], slack[c]
        weight = s + soft[o] * x
        law[c, 0, 0] = x / weight
        e[o] = (tau - x * (u[o] + soft[o] * x - target[o])) / weight
        if correct:
            e[o] -= dp[o] * dslack[c] / weight
        for k in range(len(balls)):
            first, size = balls[k]
            m = coefficient[c, k]
            if m == 0.0:
                for i in range(o + first, o + first + size):
                    e[i] = -p[i]
                continue
            if slips[c, k]:
                let_slip(p, u, soft, firm, rho, c, rows, first, size, m, law, e)
                continue
            g, l, f = m * x, lam[c, k], phi[c, k]
            square, ahead = 0.0, 0.0
            for i in range(o + first, o + first + size):
                square += p[i] * p[i]
                ahead += dp[i] * dp[i]
            left = tau - l * f
            if correct:
                left -= dlam[c, k] * dphi[c, k] + 0.5 * l * (m * m * dp[o] * dp[o] - ahead)
            stiff = soft[o + first] + l
            back = l / (stiff * f + l * square)  # the inverse of stiff + (l / f) p p^T is (1 - back p p^T) / stiff
            along = 0.0
            for i in range(o + first, o + first + size):
                e[i] = -(u[i] + stiff * p[i]) - p[i] * left / f
                if correct:
                    e[i] -= dlam[c, k] * dp[i]
                along += p[i] * e[i]
            follow = l * g * m / f * (1.0 - back * square) / stiff
            for a in range(first, first + size):
                pa = p[o + a]
                e[o + a] = (e[o + a] - back * along * pa) / stiff + follow * pa * e[o]
                law[c, a, 0] = follow * pa * law[c, 0, 0]
                for b in range(first, first + size):
                    law[c, a, b] = ((1.0 if a == b else 0.0) - back * pa * p[o + b]) / stiff


@kernel
def follow_path(
    p: FloatArray, slack: FloatArray, lam: FloatArray, phi: FloatArray, slips: BoolArray, u: FloatArray, target: FloatArray,
    soft: FloatArray, balls: IntArray, coefficient: FloatArray, tau: float, near: float, correct: bool, dp1: FloatArray,
    dlam1: FloatArray, dphi1: FloatArray, dp: FloatArray, du: FloatArray, dslack: FloatArray, dlam: FloatArray, dphi: FloatArray,
) -> float:  # fmt: skip
    """The changes of slack, lambda and phi that go with dp, and the part of the step, 1 at most, that stays inside ``near`` of the bounds."""
    rows = len(p) // len(slack)
    step = 1.0
    for c in range(len(slack)):
        o = c * rows
        x = p[o]
        dslack[c] = du[o] + soft[o] * dp[o] + u[o] + soft[o] * x - target[o] - slack[c]
        if dp[o] < 0.0:
            step = min(step, -near * x / dp[o])
        if dslack[c] < 0.0:
            step = min(step, -near * slack[c] / dslack[c])
        for k in range(len(balls)):
            first, size = balls[k]
            m = coefficient[c, k]
            dlam[c, k] = dphi[c, k] = 0.0
            if m == 0.0 or slips[c, k]:
                continue
            along, square, ahead = 0.0, 0.0, 0.0
            for i in range(o + first, o + first + size):
                along += p[i] * dp[i]
                square += dp[i] * dp[i]
                ahead += dp1[i] * dp1[i]
            l, f = lam[c, k], phi[c, k]
            slope = m * m * x * dp[o] - along
            bend = 0.5 * (m * m * dp[o] * dp[o] - square)
            left = tau - l * f - l * slope
            if correct:
                left -= dlam1[c, k] * dphi1[c, k] + 0.5 * l * (m * m * dp1[o] * dp1[o] - ahead)
            dphi[c, k] = slope
            dlam[c, k] = left / f
            if dlam[c, k] < 0.0:
                step = min(step, -near * l / dlam[c, k])
            # the first positive root of phi + slope s + bend s^2 = (1 - near) phi
            inside = slope * slope - 4.0 * bend * near * f
            if inside >= 0.0:
                root = np.sqrt(inside)
                if slope <= 0.0 and root > slope:
                    step = min(step, 2.0 * near * f / (root - slope))
                elif bend < 0.0:
                    step = min(step, (slope + root) / (-2.0 * bend))
    return step


@kernel
def move(
    p: FloatArray, slack: FloatArray, lam: FloatArray, phi: FloatArray, slips: BoolArray, balls: IntArray, coefficient: FloatArray,
    step: float, dp: FloatArray, dslack: FloatArray, dlam: FloatArray, to_p: FloatArray, to_slack: FloatArray, to_lam: FloatArray,
    to_phi: FloatArray,
) -> tuple[float, float]:  # fmt: skip
    """The state after a part of a step; returns the mean and the least product."""
    rows = len(p) // len(slack)
    total, count, least = 0.0, 0, np.inf
    for i in range(len(p)):
        to_p[i] = p[i] + step * dp[i]
    for c in range(len(slack)):
        o = c * rows
        to_slack[c] = slack[c] + step * dslack[c]
        product = to_p[o] * to_slack[c]
        total, count, least = total + product, count + 1, min(least, product)
        for k in range(len(balls)):
            first, size = balls[k]
            to_lam[c, k] = lam[c, k] + step * dlam[c, k]
            g, square = coefficient[c, k] * to_p[o], 0.0
            for i in range(o + first, o + first + size):
                square += to_p[i] * to_p[i]
            to_phi[c, k] = 0.5 * (g * g - square)
            if g > 0.0 and not slips[c, k]:
                product = to_lam[c, k] * to_phi[c, k]
                total, count, least = total + product, count + 1, min(least, product)
    return total / max(1, count), least


@kernel
def choose_slips(
    u: FloatArray, soft: FloatArray, rho: FloatArray, balls: IntArray, coefficient: FloatArray, tau: float, p: FloatArray, lam: FloatArray,
    phi: FloatArray, slips: BoolArray,
) -> None:  # fmt: skip
    """Impulses so near their bound that rounding hides the distance slip from now on, until a projected update takes them off it."""
    rows = len(p) // len(slips)
    for c in range(len(slips)):
        o = c * rows
        for k in range(len(balls)):
            first, size = balls[k]
            g, square, reach = coefficient[c, k] * p[o], 0.0, 0.0
            for i in range(o + first, o + first + size):
                square += p[i] * p[i]
                reach += (p[i] - rho[i] * (u[i] + soft[i] * p[i])) ** 2
            if g <= 0.0:
                continue
            if not slips[c, k]:
                slips[c, k] = phi[c, k] < TIGHT * g * g and reach > g * g
            elif reach <= g * g:
                slips[c, k] = False
                part = min(1.0, (1.0 - 1e3 * TIGHT) * g / np.sqrt(max(square, 1e-300)))
                for i in range(o + first, o + first + size):
                    p[i] *= part
                phi[c, k] = 0.5 * (g * g - part * part * square)
                lam[c, k] = tau / phi[c, k]


class Elimination:
    """(I + G^T D G) of a system, factorised anew for each D in one order of the bodies that keeps the factors sparse."""

    def __init__(self, system: System) -> None:
        s, n = system, system.body_count
        root = np.linalg.cholesky(s.inverse_mass.tobsr((6, 6)).data) if n else np.zeros((0, 6, 6))
        self.mass_root = sparse.bsr_array((root, np.arange(n), np.arange(n + 1)), shape=(6 * n, 6 * n)).tocsr()
        self.scaled = (s.jacobian @ self.mass_root).tocsr()
        self.transposed = self.scaled.T.tocsr()
        self.free = s.relative_velocity(s.free_velocity)
        self.pair, self.blocks = split_rows(self.scaled.data, self.scaled.indices, self.scaled.indptr, s.rows, s.contact_count)
        self.diagonal = (self.blocks**2).sum(axis=(1, 3))  # (C, rows) of G M^-1 G^T
        both = self.pair[(self.pair >= 0).all(axis=1)]
        left, right = np.concatenate([both[:, 0], both[:, 1], np.arange(n)]), np.concatenate([both[:, 1], both[:, 0], np.arange(n)])
        weight = np.concatenate([np.full(2 * len(both), -1.0), np.full(n, 2.0 * len(both) + 1.0)])
        graph = sparse.csc_array((weight, (left, right)), shape=(n, n))
        self.rank = _factors(graph, "MMD_AT_PLUS_A").perm_c.astype(np.int32)
        ordered = sparse.csc_array((np.ones(len(left)), (self.rank[left], self.rank[right])), shape=(n, n))
        ordered.sort_indices()
        self.start, self.row = ordered.indptr, ordered.indices
        self.place = place_blocks(self.pair, self.rank, self.start, self.row)
        matrix = sparse.kron(ordered, np.ones((6, 6)), format="csc")
        matrix.sort_indices()
        self.matrix = sparse.csc_array((np.zeros(matrix.nnz), matrix.indices, matrix.indptr), shape=(6 * n, 6 * n))
        self.to_ordered = (6 * np.argsort(self.rank)[:, None] + np.arange(6)).ravel()
        self.factorisations = 0

    def relative_velocity(self, p: FloatArray) -> FloatArray:
        """(R,) u that impulses lead to."""
        return self.free + self.scaled @ (self.transposed @ p)

    def factorise(self, law: FloatArray) -> None:
        """For dp = e - D du; raises RuntimeError if it is singular."""
        add_blocks(self.pair, self.blocks, self.place, self.rank, self.start, self.row, law, self.matrix.data)
        self.law = law.copy()
        self.factors = _factors(self.matrix, "NATURAL")
        self.factorisations += 1

    def solve(self, e: FloatArray) -> tuple[FloatArray, FloatArray]:
        """dp and du of dp = e - D du, du = G M^-1 G^T dp."""
        y = np.empty(len(self.to_ordered))
        y[self.to_ordered] = self.factors.solve((self.transposed @ e)[self.to_ordered])
        rows = self.law.shape[1]
        dp = e - (self.law @ (self.scaled @ y).reshape(-1, rows, 1)).ravel()
        return dp, self.scaled @ (self.transposed @ dp)


def _factors(matrix: sparse.csc_array, order: str) -> SuperLU:
    """LU factors without pivoting: the matrix is positive definite, or nearly so."""
    return splu(matrix, permc_spec=order, diag_pivot_thresh=0.0, options={"SymmetricMode": True})


class Direct(Record):
    """Newton's method with sparse factorisations: the solution to rounding, where sweeps only come near it."""

    name: Literal["direct"] = "direct"
    iterations: int = Field(default=150, ge=1)
    """Most factorisations in a step."""
    tolerance: NonNegative = 1e-12
    """Residual [m/s] to stop at; never asked to be smaller than rounding allows."""
    friction: Literal["cone", "box"] = "cone"
    """``cone`` bounds the length of the tangential impulse; ``box`` bounds each component (SN 2.3.2)."""

    def solve(self, problem: Problem, *, step: int = 0, measure: bool = True, history: bool = False) -> SolveReport:
        """Solve in place: impulses and velocities of ``problem`` are the start and become the result."""
        return Solution(self, problem, history).find()


@dataclass
class Interior:
    """A point inside the bounds."""

    p: FloatArray
    """(R,) impulses."""
    slack: FloatArray
    """(C,) û_n > 0."""
    lam: FloatArray
    """(C, balls) lambda > 0."""
    phi: FloatArray
    """(C, balls) (g^2 - |p|^2) / 2 > 0."""
    slips: BoolArray
    """(C, balls) on its bound for good."""


@dataclass
class Progress:
    """Best iterate so far, and what was seen on the way."""

    impulse: FloatArray
    residual: float = np.inf
    kinds: tuple[float, ...] = (0.0, 0.0, 0.0)
    history: list[tuple[float, ...]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


class Solution:
    """One solve under way."""

    def __init__(self, settings: Direct, problem: Problem, history: bool) -> None:
        self.settings, self.problem, self.keep_history = settings, problem, history
        self.box = settings.friction == "box"
        self.clock = perf_counter()
        self.system = s = self._view()
        self.best = Progress(s.impulse)

    def _view(self) -> System:
        return System.read(self.problem)

    def _eliminate(self) -> Elimination:
        return Elimination(self.system)

    def _sweep_seconds(self) -> float:
        return _sweep_seconds(self.problem)

    def find(self) -> SolveReport:
        """Active-set steps from the start, then interior ones with an active-set try whenever they have come nearer."""
        s = self.system
        if s.contact_count == 0:
            return SolveReport(iterations=0, residual=0.0, converged=True)
        sweep = self._sweep_seconds() if self.keep_history else 1.0
        self.clock = perf_counter()
        self.reduce = self._eliminate()
        self._take_apart()
        with np.errstate(all="ignore"):
            self._look(s.impulse)
            reason = self._search()
        s.write(self.problem, self.best.impulse)
        b, done = self.best, self._done()
        message = ""
        if not done:
            message = (
                f"the direct solver came to a residual of {b.residual:.2g} m/s, not {self.settings.tolerance:g}, "
                f"in {self.reduce.factorisations} factorisations: {reason}."
            )
        return SolveReport(
            iterations=self.reduce.factorisations, residual=b.residual, residual_by_kind=b.kinds, converged=done, message=message,
            history=np.array(b.history).reshape(-1, 4), work=np.array(b.seconds) / sweep, seconds=np.array(b.seconds),
        )  # fmt: skip

    def _take_apart(self) -> None:
        """What the kernels take: bounds by ball, and softness and step length by row."""
        s, rows = self.system, self.system.rows
        if self.box:
            self.balls = np.array([(i, 1) for i in range(1, rows)], np.int32)
        else:
            self.balls = np.array([(1, 2), (3, 3)][: 1 if rows == 3 else 2], np.int32)
        self.coefficient = np.ascontiguousarray(np.stack([s.friction if i < 3 else s.rolling for i, _ in self.balls], axis=1))
        weight = self.reduce.diagonal + s.softness.reshape(-1, rows)
        for part in (slice(1, 3), slice(3, 6)):
            if weight[:, part].size:
                weight[:, part] = weight[:, part].max(axis=1, keepdims=True)
        self.weight = np.maximum(weight.ravel(), np.finfo(float).tiny)
        self.rho, self.firm = 1.0 / self.weight, np.maximum(s.softness, FIRM * self.weight)
        self.fixed = (s.target, s.softness, self.firm, self.rho, self.balls, self.coefficient)

    def _look(self, p: FloatArray) -> float:
        """Measure an iterate by the one residual, and keep it if it is the best."""
        start = perf_counter()
        if not np.isfinite(p).all():
            return np.inf
        self.system.write(self.problem, p)
        square = np.mean(self.problem.residual(self.box) ** 2, axis=0)
        kinds = tuple(float(x) for x in np.sqrt(square))
        residual = float(np.sqrt(square.sum()))
        b = self.best
        if residual < b.residual:
            b.impulse, b.residual, b.kinds = p.copy(), residual, kinds
        if self.keep_history:
            self.clock += perf_counter() - start  # looking is not solving
            b.history.append((b.residual, *b.kinds))
            b.seconds.append(perf_counter() - self.clock)
        return residual

    def _done(self) -> bool:
        normal = slice(0, None, self.system.rows)
        size = float(np.sqrt(np.mean((self.best.impulse[normal] * self.weight[normal]) ** 2)))
        return self.best.residual <= max(self.settings.tolerance, ROUNDING * size)

    def _spent(self) -> bool:
        return self.reduce.factorisations >= self.settings.iterations

    def _search(self) -> str:
        """Until done; otherwise returns why it ends."""
        start = self.system.impulse
        self._active_set(start, PATIENCE)
        size = 1.0
        while not self._done():
            if self._spent():
                return "that is all it may make; raise iterations, or take pgs with a tolerance"
            if size > 1e3:
                return "it no longer comes nearer; start it from another point (warm_start), or take pgs with a tolerance"
            self._inside(start, size)
            size *= 10.0
        return ""

    def _active_set(self, p: FloatArray, patience: int) -> None:
        """Newton steps on the active set while they make headway."""
        rows = self.system.rows
        law, e = np.empty((self.system.contact_count, rows, rows)), np.empty(len(p))
        lowest, waited = np.inf, 0
        while not (self._done() or self._spent()) and waited <= patience:
            active_set(p, self.reduce.relative_velocity(p), *self.fixed, law, e)
            try:
                self.reduce.factorise(law)
            except RuntimeError:
                return
            p = p + self.reduce.solve(e)[0]
            residual = self._look(p)
            waited = 0 if residual < HEADWAY * lowest else waited + 1
            lowest = min(lowest, residual)

    def _inside(self, start: FloatArray, size: float) -> None:
        """Interior steps from a start pushed inside its bounds until done, spent or stuck."""
        state, tau = self._push_inside(start, size)
        retry, still = RETRY * self._look(state.p), 0
        while not (self._done() or self._spent()) and still < STUCK:
            try:
                state, tau, length = self._step_inside(state, tau)
            except RuntimeError:
                return
            residual = self._look(state.p)
            still = still + 1 if length < 0.02 else 0
            if residual < retry:
                self._active_set(state.p, 0 if self.best.residual < residual else 1)
                retry = RETRY * residual

    def _push_inside(self, start: FloatArray, size: float) -> tuple[Interior, float]:
        """A well-centred point of the size of the impulses, and its tau [J]."""
        s, rows = self.system, self.system.rows
        p = start.copy().reshape(-1, rows)
        u = self.reduce.relative_velocity(start)
        slack = (u + s.softness * start - s.target)[::rows]
        speed = size * max(float(np.sqrt(np.mean(slack**2))), np.finfo(float).tiny)
        impulse = size * max(float(np.mean(np.maximum(p[:, 0], 0.0))), float(np.mean(np.abs(slack) * self.rho[::rows])))
        tau = speed * impulse
        p[:, 0] = np.maximum(p[:, 0], impulse)
        phi = np.zeros_like(self.coefficient)
        for k, (first, count) in enumerate(self.balls):
            part, g = p[:, first : first + count], self.coefficient[:, k] * p[:, 0]
            length = np.sqrt((part**2).sum(axis=1))
            part *= np.minimum(1.0, 0.9 * g / np.maximum(length, np.finfo(float).tiny))[:, None]
            phi[:, k] = 0.5 * (g * g - (part**2).sum(axis=1))
        lam = np.where(phi > 0.0, tau / np.where(phi > 0.0, phi, 1.0), 0.0)
        return Interior(p.ravel(), tau / p[:, 0], lam, phi, np.zeros(phi.shape, np.bool_)), tau

    def _step_inside(self, at: Interior, tau: float) -> tuple[Interior, float, float]:
        """Predictor and corrector with one factorisation; returns the new point, its mean product and the length of the step."""
        s, rows = self.system, self.system.rows
        state = (at.p, at.slack, at.lam, at.phi, at.slips)
        new = Interior(*(np.empty_like(x) for x in state[:4]), at.slips.copy())  # type: ignore[arg-type]
        u = self.reduce.relative_velocity(at.p)
        law, e = np.empty((s.contact_count, rows, rows)), np.empty(len(at.p))
        zeros = [np.zeros_like(x) for x in state[:4]]
        mean, least = move(*state, self.balls, self.coefficient, 0.0, *zeros[:3], new.p, new.slack, new.lam, new.phi)
        bounds = (u, s.target, s.softness, self.balls, self.coefficient)

        def direction(towards: float, near: float, ahead: list[FloatArray], correct: bool) -> tuple[float, list[FloatArray]]:
            central_path(*state, u, *self.fixed, towards, correct, *ahead, law, e)
            if not correct and towards == 0.0:
                self.reduce.factorise(law)
            dp, du = self.reduce.solve(e)
            change = [dp, *(np.empty_like(x) for x in state[1:4])]
            length = follow_path(
                *state, *bounds, towards, near, correct, ahead[0], ahead[2], ahead[3], dp, du, *change[1:]
            )
            return length, change

        def go(length: float, change: list[FloatArray]) -> tuple[float, float]:
            result: tuple[float, float] = move(
                *state, self.balls, self.coefficient, length, *change[:3], new.p, new.slack, new.lam, new.phi
            )
            return result

        length, predictor = direction(0.0, 1.0, zeros, False)
        centring = min(1.0, max(go(length, predictor)[0] / mean, 0.0) ** 3)
        taken, chosen = -1.0, predictor
        for part, correct in ((centring, True), (max(centring, 0.3), False), (1.0, False)):
            length, change = direction(part * mean, NEAR_BOUND, predictor if correct else zeros, correct)
            for _ in range(6):
                after, lowest = go(length, change)
                if lowest >= min(CENTRED * after, 0.5 * least):
                    break
                length *= 0.6
            if length > 2.0 * taken:
                taken, chosen = length, change
            if taken > 0.2:
                break
        mean = go(taken, chosen)[0]
        choose_slips(
            self.reduce.relative_velocity(new.p), s.softness, self.rho, self.balls, self.coefficient, mean, new.p, new.lam, new.phi, new.slips
        )
        return new, mean, taken


def _sweep_seconds(problem: Problem) -> float:
    """Wall time of one plain PGS sweep over the problem [s], which is left as it was."""
    body, data = problem.body.copy(), problem.data.copy()
    sweeps = PGS(iterations=10, momentum=False)
    sweeps.solve(problem, measure=False)
    start = perf_counter()
    sweeps.solve(problem, measure=False)
    seconds = (perf_counter() - start) / sweeps.iterations
    problem.body[:], problem.data[:] = body, data
    return seconds
