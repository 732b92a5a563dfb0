"""Direct solver: the contact problem to rounding, by Newton's method with sparse factorisations.

The law is the one that the residual measures. With û = u + Sigma p - b, contact by contact,

    0 <= p_n  perp  û_n >= 0,     û_t + lambda p_t = 0,   0 <= lambda  perp  g - |p_t| >= 0,   g = mu p_n,

and rolling alike with g = mu_r R* p_n; with box friction every component has a bound of its own. Two linearisations take turns:

- *Active set* (Alart and Curnier): contacts are closed or open, stick or slip, as a projected update would have it. Once the sets are
  right it ends to rounding in a step or two: at once in columns, from a good start in flows. Where a load can be carried in many ways
  it cycles.
- *Interior point*: p_n û_n = tau and (g, p_t) o (s, û_t) = (tau, 0) with tau -> 0, in the product o of second-order cones. It gets near
  the solution from far, in some tens of steps whatever the size. As the bound g moves with p_n the problem is not convex, and a step may be
  blocked; then g is held for some steps, which is convex. Should that end nowhere (large friction coefficients, fast grains), problems
  with held bounds are solved one after the other, each to its end, until the bounds no longer change.

Some sweeps of PGS, cheap beside a factorisation, smooth the start and what the interior steps leave in single contacts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import Literal

import numpy as np

from ...array_types import FloatArray
from ...kernel_groups import call
from ...machines.groups import Links
from ...records import NonNegative, Sweeps
from ..links import drives_settled
from ..problem import Problem
from ..system import System
from .elimination import Elimination, WholeElimination
from .linearise import Bounds, Change, Interior, Rows, active_set, central_path, choose_slips, follow_path, products
from .pgs import PGS
from .report import SolveReport
from .solver import SolverRecord

EXCHANGES = 10  # solves at most, each with one set of motors and limits inside of their bounds
FIRM = 1e-9  # of a row's W: softness that an active-set step takes at least, so that hard contacts can be eliminated
PATIENCE = 1  # active-set steps without headway
HEADWAY = 0.3  # what the residual must fall to in a step to count as such
WILD = 10.0  # growth of the residual that ends a try of the active set
RETRY = 1e-3  # fall of the residual between two tries of the active set
NEAR_BOUND = 0.98  # of the way to the bounds that an interior step may go
CENTRED = 1e-3  # of the mean product: the least one that an interior step may leave
INNER = 0.9  # of the bound: friction at the start of interior steps
SPEED = 0.1  # of the velocities that single impulses give: the least slip speed at the start of interior steps
SHORT = 0.02  # part of an interior step that hardly moves
STUCK = 4  # such steps in a row
SMOOTHING = 30  # sweeps after an interior step
LONGEST = 60  # interior steps before another kind is tried
FIRST_SWEEPS, MORE_SWEEPS = 300, 3000  # before interior steps with moving and with held bounds
HOLD = 4  # interior steps with held bounds, at the start and after one that was blocked
BLOCKED = 0.1  # part of an interior step that was
NEARLY = 100.0  # tolerances: a residual that more sweeps may bring down
HELD = 50  # most times that bounds are held
HELD_GAP = 1e-4  # of its start: the mean product at which bounds are set anew, less when they hardly change
ROUNDING = 8 * np.finfo(float).eps  # of the velocities that single impulses give: no residual can be asked to be smaller


class Direct(SolverRecord):
    """Newton's method with sparse factorisations: the solution to rounding, where sweeps only come near it."""

    name: Literal["direct"] = "direct"
    iterations: Sweeps = 300
    """Most factorisations in a step."""
    tolerance: NonNegative = 1e-11
    """Residual [m/s] to stop at; never asked to be smaller than rounding allows."""

    def solve(self, problem: Problem, *, step: int = 0, measure: bool = True, history: bool = False) -> SolveReport:
        """Solve in place: impulses and velocities of ``problem`` are the start and become the result."""
        links = problem.packed.links
        if not isinstance(links, Links):
            return Solution(self, problem, history).find()
        for _ in range(EXCHANGES):  # of motors and limits that come to their bounds, or leave them
            links.changed[1] = 1
            report = Solution(self, problem, history).find()
            links.changed[1] = 0
            if call(drives_settled, problem.packed, problem.blocks, problem.levers, problem.found):
                break
        return report


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
        self.box = problem.box
        self.clock = perf_counter()
        self.system = s = self._view()
        self.best = Progress(s.impulse)

    def _view(self) -> System:
        return System.read(self.problem)

    def _eliminate(self) -> Elimination:
        return WholeElimination(self.system) if isinstance(self.problem.packed.links, Links) else Elimination(self.system)

    def _sweep_seconds(self) -> float:
        return _sweep_seconds(self.problem)

    def find(self) -> SolveReport:
        """Active-set steps from the start, then interior ones with an active-set try whenever they have come nearer."""
        s = self.system
        if 0 in s.jacobian.shape:  # nothing touches, or nothing yields
            return SolveReport(iterations=0, residual=0.0, converged=True)
        sweep = self._sweep_seconds() if self.keep_history else 1.0
        self.clock = perf_counter()
        self.elimination = self._eliminate()
        self._prepare()
        with np.errstate(all="ignore"):
            reason = self._search()
        s.write(self.problem, self.best.impulse)
        b, done = self.best, self._done()
        message = ""
        if not done:
            message = (
                f"the direct solver came to a residual of {b.residual:.2g} m/s, not {self.settings.tolerance:g}, "
                f"in {self.elimination.factorisations} factorisations: {reason}."
            )
        return SolveReport(
            iterations=self.elimination.factorisations,
            residual=b.residual,
            residual_by_kind=b.kinds,
            converged=done,
            message=message,
            history=np.array(b.history).reshape(-1, 4),
            work=np.array(b.seconds) / sweep,
            seconds=np.array(b.seconds),
        )

    def _prepare(self) -> None:
        """What the kernels take: bounds by ball, and softness and step length by row."""
        s, rows = self.system, self.system.rows
        if self.box:
            self.balls = np.array([(i, 1) for i in range(1, rows)], np.int32)
        else:
            self.balls = np.array([(1, 2), (3, 3)][: 1 if rows == 3 else 2], np.int32)
        self.coefficient = np.ascontiguousarray(np.stack([s.friction if i < 3 else s.rolling for i, _ in self.balls], axis=1))
        weight = self.elimination.diagonal + s.softness.reshape(-1, rows)
        for part in (slice(1, 3), slice(3, 6)):
            if weight[:, part].size:
                weight[:, part] = weight[:, part].max(axis=1, keepdims=True)
        self.weight = np.where(weight > 0.0, weight, 1.0).ravel()
        self.rho, self.firm = 1.0 / self.weight, np.maximum(s.softness, FIRM * self.weight)
        self.fixed = Rows(s.target, s.softness, self.firm, self.rho, self.balls)

    def _look(self, p: FloatArray) -> float:
        """Measure an iterate by the one residual, and keep it if it is the best."""
        start = perf_counter()
        if not np.isfinite(p).all():
            return np.inf
        self.system.write(self.problem, p)
        square = np.mean(self.problem.residual() ** 2, axis=0)
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
        return self.elimination.factorisations >= self.settings.iterations

    def _ended(self) -> bool:
        return self._done() or self._spent()

    def _search(self) -> str:
        """Until done; otherwise returns why it ends."""
        p = self.system.impulse
        self._active_set(p)
        for anew, sweeps, go_inside in PLAN:
            if not self._ended():
                p = self._sweep(np.zeros_like(p) if anew else p, sweeps)
                self._active_set(p)
            if not self._ended():
                go_inside(self, p)
        if not self._done():  # a few contacts at their bounds may be all that is wrong, and sweeps find out which
            self._look(self._sweep(self.best.impulse, MORE_SWEEPS))
        if self._done():
            return ""
        if self._spent():
            return "that is all it may make; raise iterations, or take pgs with a tolerance"
        return "it no longer comes nearer; take a smaller time_step, or pgs with a tolerance"

    def _sweep(self, p: FloatArray, sweeps: int) -> FloatArray:
        """Impulses after sweeps of PGS, which cost little beside a factorisation."""
        self.system.write(self.problem, p)
        PGS(iterations=sweeps).solve(self.problem, measure=False)
        swept = self._view().impulse
        return swept if np.isfinite(swept).all() else p

    def _active_set(self, p: FloatArray) -> None:
        """Newton steps on the active set while they make headway."""
        rows = self.system.rows
        law, e = np.empty((self.system.contact_count, rows, rows)), np.empty(len(p))
        lowest, waited = self._look(p), 0
        wild = WILD * lowest
        while not self._ended() and waited <= PATIENCE:
            active_set(p, self.elimination.relative_velocity(p), self.fixed, self.coefficient, law, e)
            try:
                self.elimination.factorise(law)
            except RuntimeError:
                return
            p = p + self.elimination.solve(e)[0]
            residual = self._look(p)
            if not residual < wild:
                return
            waited = 0 if residual < HEADWAY * lowest else waited + 1
            lowest = min(lowest, residual)

    def _inside(self, start: FloatArray, hold: int = 0) -> None:
        """Interior steps until done, spent or stuck; bounds move, but for ``hold`` steps at the start and after one that was blocked."""
        rows, nothing = self.system.rows, np.zeros_like(self.coefficient)
        moving = Bounds(self.coefficient, nothing)
        state = self._push_inside(start, moving)
        retry, still, held = RETRY * self._look(state.p), 0, hold
        for _ in range(LONGEST):
            if self._ended() or still >= STUCK:
                return
            normal = state.p[::rows]
            try:
                state, length = self._step_inside(state, Bounds(nothing, self.coefficient * normal[:, None]) if held else moving)
            except RuntimeError:
                return
            if held:  # now the bound goes where the normal impulse is, and friction with it
                state.p.reshape(-1, rows)[:, 1:] *= (state.p[::rows] / normal)[:, None]
                held -= 1
            elif length < BLOCKED:
                held = hold
            still = still + 1 if length < (SHORT if hold else BLOCKED) else 0
            smooth = self._sweep(state.p, SMOOTHING)
            residual = self._look(smooth)
            if residual < NEARLY * self.settings.tolerance and not self._done():
                self._look(self._sweep(smooth, FIRST_SWEEPS))
            if residual < retry:
                self._active_set(smooth)
                retry = RETRY * residual

    def _inside_held_bounds(self, p: FloatArray) -> None:
        """Interior steps with bounds that are held, and set anew from their end."""
        rows, change = self.system.rows, 1.0
        for _ in range(HELD):
            normal = np.maximum(p[::rows], 0.0)
            held = Bounds(np.zeros_like(self.coefficient), self.coefficient * normal[:, None])
            state = self._push_inside(p, held)
            start = self._mean_product(state, held)
            enough = min(HELD_GAP, max(1e-2 * change**2, 1e-14)) * start
            length = 1.0
            while not self._ended() and length >= SHORT and self._mean_product(state, held) > enough:
                try:
                    state, length = self._step_inside(state, held)
                except RuntimeError:
                    return
            p = self._sweep(state.p, SMOOTHING)
            self._active_set(p)
            change = float(np.abs(p[::rows] - normal).max() / max(float(normal.max()), np.finfo(float).tiny))
            if self._ended():
                return

    def _inside_with_holds(self, start: FloatArray) -> None:
        self._inside(start, HOLD)

    def _mean_product(self, at: Interior, bounds: Bounds) -> float:
        mean: float = products(at, self.balls, bounds)[0]
        return mean

    def _push_inside(self, start: FloatArray, bounds: Bounds) -> Interior:
        """A point in the middle of its products, of the size of the impulses; bounds are the second part plus the first times p_n."""
        s, rows = self.system, self.system.rows
        p = start.copy().reshape(-1, rows)
        slack = (self.elimination.relative_velocity(start) + s.softness * start - s.target)[::rows]
        tiny = np.finfo(float).tiny
        push, weight = np.maximum(p[:, 0], 0.0), self.weight[::rows]
        speed = max(float(np.sqrt(np.mean(slack**2))), SPEED * float(np.mean(push * weight)), tiny)
        impulse = max(float(np.mean(push)), float(np.mean(np.abs(slack) / weight)), tiny)
        tau = speed * impulse
        p[:, 0] = np.maximum(p[:, 0], impulse)
        z, top = np.zeros_like(p), np.zeros_like(self.coefficient)
        z[:, 0] = tau / p[:, 0]
        for k, (first, count) in enumerate(self.balls):
            part, g = p[:, first : first + count], bounds.base[:, k] + bounds.coefficient[:, k] * p[:, 0]
            length = np.sqrt((part**2).sum(axis=1))
            part *= np.minimum(1.0, INNER * g / np.maximum(length, tiny))[:, None]
            left = tau / np.maximum(g * g - (part**2).sum(axis=1), tiny)
            top[:, k] = left * g
            z[:, first : first + count] = -left[:, None] * part
        return Interior(p.ravel(), z.ravel(), top, np.zeros(top.shape, np.bool_))

    def _step_inside(self, at: Interior, bounds: Bounds) -> tuple[Interior, float]:
        """Predictor and corrector with one factorisation; returns the new point and the part of the step that was taken."""
        s, rows = self.system, self.system.rows
        u = self.elimination.relative_velocity(at.p)
        law, e = np.empty((s.contact_count, rows, rows)), np.empty(len(at.p))
        kept = np.empty((*at.top.shape, 5))
        nothing = Change(*(np.zeros_like(x) for x in at[:3]))

        def direction(towards: float, ahead: Change, correct: bool) -> tuple[float, Change]:
            central_path(at, u, self.fixed, bounds, towards, correct, ahead, law, e, kept)
            if towards == 0.0 and not correct:
                self.elimination.factorise(law)
            dp, du = self.elimination.solve(e)
            change = Change(dp, np.empty_like(dp), np.empty_like(at.top))
            return follow_path(at, u, self.fixed, bounds, kept, du, change), change

        def after(length: float, change: Change) -> Interior:
            return Interior(at.p + length * change.p, at.z + length * change.z, at.top + length * change.top, at.slips)

        mean, least = products(at, self.balls, bounds)
        length, predictor = direction(0.0, nothing, False)
        centring = min(1.0, max(products(after(min(1.0, length), predictor), self.balls, bounds)[0] / mean, 0.0) ** 3)
        taken, chosen = 0.0, nothing
        for part, correct in ((centring, True), (max(centring, 0.3), False), (1.0, False)):
            length, change = direction(part * mean, predictor if correct else nothing, correct)
            length = min(1.0, NEAR_BOUND * length)
            for _ in range(6):
                product, lowest = products(after(length, change), self.balls, bounds)
                if lowest >= min(CENTRED * product, 0.5 * least):
                    break
                length *= 0.6
            if length > 2.0 * taken:
                taken, chosen = length, change
            if taken > 0.2:
                break
        new = after(taken, chosen)._replace(slips=at.slips.copy())
        if bounds.coefficient is self.coefficient:
            tau = self._mean_product(new, bounds)
            choose_slips(self.elimination.relative_velocity(new.p), self.fixed, self.coefficient, tau, new)
        return new, taken


PLAN = (
    (False, FIRST_SWEEPS, Solution._inside),
    (True, FIRST_SWEEPS, Solution._inside),
    (False, FIRST_SWEEPS, Solution._inside_with_holds),
    (False, MORE_SWEEPS, Solution._inside_held_bounds),
)
"""From zero impulses or not, how many sweeps, and the interior steps after them, until one of them ends well."""


def _sweep_seconds(problem: Problem) -> float:
    """Wall time of one plain PGS sweep over the problem [s], which is left as it was."""
    body, data = problem.packed.body.copy(), problem.blocks.data.copy()
    count = 10
    sweeps = PGS(iterations=count, momentum=False)
    sweeps.solve(problem, measure=False)
    start = perf_counter()
    sweeps.solve(problem, measure=False)
    seconds = (perf_counter() - start) / count
    problem.packed.body[:], problem.blocks.data[:] = body, data
    return seconds
