"""What every minimiser works on and reports: the course of one minimisation."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .._jit import kernel
from ..array_types import FloatArray
from ..checks import InputError, RunError

WATCH_EVERY = 0.2  # [s] between two looks of a watcher
PATIENCE = 3000  # iterations without a smaller residual, after which energies that differ by rounding only end it


class EnergyFunction(Protocol):
    """What can be minimised: an energy of the places of N grains in d dimensions."""

    evaluations: int
    lists: int
    noise: float
    """[J] that the last energy may be wrong by, for rounding."""

    @property
    def start(self) -> FloatArray: ...

    def evaluate(self, x: FloatArray, gradient: FloatArray) -> float: ...

    def contact_forces(self, x: FloatArray) -> FloatArray | None:
        """(C,) [N] of the contacts at x, if the energy knows their stiffness too; else None."""


@dataclass(frozen=True, repr=False)
class MinimiseReport:
    """What a minimisation did and why it stopped."""

    method: str
    iterations: int
    evaluations: int  # of energy and gradient
    factorisations: int
    lists: int  # pair lists made
    energy: float  # [J]
    residual: float  # largest force on a grain, by component [N]
    tolerance: float  # [N]
    converged: bool
    reason: str
    seconds: float  # of wall time
    history: FloatArray  # (iterations + 1,) residual [N]

    def __repr__(self) -> str:
        return f"MinimiseReport({self})"

    def __str__(self) -> str:
        return (
            f"{self.method}: {self.reason} after {self.iterations} iterations ({self.evaluations} evaluations, "
            f"{self.factorisations} factorisations, {self.seconds:.3g} s); residual {self.residual:.2e} N, energy {self.energy:.3e} J"
        )


class Course:
    """Where a minimisation is: x (N, d) [m], E [J], g (N, d) [N]. A minimiser moves it and asks :attr:`going` before every iteration."""

    def __init__(
        self, energy: EnergyFunction, method: str, tolerance: float, limit: int, watch: Callable[[Course], None] | None = None
    ) -> None:
        if not tolerance > 0:
            raise InputError(f"tolerance must be above 0 N (got {tolerance!r}).")
        self.energy, self.method, self.tolerance, self.limit = energy, method, tolerance, limit
        self._watch, self._clock = watch, time.perf_counter()
        self._looked = self._clock
        self._before = energy.evaluations, energy.lists
        self.x = energy.start
        self.g = np.empty_like(self.x)
        self.E = energy.evaluate(self.x, self.g)
        self.iterations = self.factorisations = 0
        self._leg_end = math.inf
        self.stalled = ""  # why it cannot go on, once it cannot
        self._history = [self._measure()]
        self._best = self._history[0], self.E, 0  # residual, energy and iteration of the best place

    @property
    def residual(self) -> float:
        """Largest force component [N]."""
        return self._history[-1]

    @property
    def first_residual(self) -> float:
        """Largest force component [N] where it began."""
        return self._history[0]

    @property
    def going(self) -> bool:
        """Whether there is more to do."""
        return self.residual > self.tolerance and self.iterations < min(self.limit, self._leg_end) and not self.stalled

    def leg(self, iterations: float = math.inf) -> None:
        """Let :attr:`going` end after so many more iterations; without a number it is the whole course again."""
        self._leg_end = self.iterations + iterations

    def move(self, x: FloatArray, E: float, g: FloatArray) -> None:
        """One iteration has led to x, with E and g there."""
        self.x, self.E, self.g = x, E, g
        self.iterations += 1
        self._history.append(self._measure())
        if self.residual < self._best[0]:
            self._best = self.residual, E, self.iterations
        elif self.iterations - self._best[2] >= PATIENCE and abs(E - self._best[1]) <= self.energy.noise:
            self.stalled = f"nothing has changed beyond rounding in {PATIENCE} iterations"
        if self._watch is not None and (now := time.perf_counter()) - self._looked > WATCH_EVERY:
            self._looked = now
            self._watch(self)

    def _measure(self) -> float:
        residual = largest(self.g)
        if not np.isfinite(self.E) or not np.isfinite(residual):
            raise RunError(
                f"{self.method}: the energy is not a number after {self.iterations} iterations. "
                "Check radii and positions; a smaller step or another method may help."
            )
        return residual

    def report(self) -> MinimiseReport:
        """The end of it."""
        converged = self.residual <= self.tolerance
        reason = "converged" if converged else self.stalled or f"limit of {self.limit} iterations"
        return MinimiseReport(
            self.method,
            self.iterations,
            self.energy.evaluations - self._before[0],
            self.factorisations,
            self.energy.lists - self._before[1],
            self.E,
            self.residual,
            self.tolerance,
            converged,
            reason,
            time.perf_counter() - self._clock,
            np.array(self._history),
        )


@kernel
def dot(u: FloatArray, v: FloatArray) -> float:
    """Sum of the products of two (N, d) arrays: in eight parts, so that it is fast and has the same bits everywhere."""
    p, q = u.reshape(-1), v.reshape(-1)
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    whole = len(p) // 8 * 8
    for i in range(0, whole, 8):
        s0 += p[i] * q[i]
        s1 += p[i + 1] * q[i + 1]
        s2 += p[i + 2] * q[i + 2]
        s3 += p[i + 3] * q[i + 3]
        s4 += p[i + 4] * q[i + 4]
        s5 += p[i + 5] * q[i + 5]
        s6 += p[i + 6] * q[i + 6]
        s7 += p[i + 7] * q[i + 7]
    for i in range(whole, len(p)):
        s0 += p[i] * q[i]
    return ((s0 + s4) + (s1 + s5)) + ((s2 + s6) + (s3 + s7))


@kernel
def largest(u: FloatArray) -> float:
    """Largest absolute number of an (N, d) array; NaN if there is one."""
    p = u.reshape(-1)
    most = 0.0
    for i in range(len(p)):
        size = abs(p[i])
        if size > most:
            most = size
        elif size != size:
            return size
    return most
