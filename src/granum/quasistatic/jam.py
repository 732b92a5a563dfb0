"""The search for the packing fraction at which a packing jams, phi_cr, by two routes.

From above: a jammed packing is decompressed in ever smaller steps. p^(1/(alpha - 1)) is linear in phi near jamming, so every step tells
how far is left to go, and the last ones meet phi_cr to a small part of their length. From below: EM Algorithm 1, radii grow until the
packing jams, then bisection; its upper bound, which the paper never tests again, is confirmed at the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ..arithmetic import normal, power
from ..checks import InputError, RunError, finite_positive, known_name
from ..contact.power import HOOKE, PowerLaw
from ..notebook import Pictured
from ..scene.sizes import Sizes
from .course import Course
from .measure import Measured, measure
from .minimise import minimise
from .packing import BIDISPERSE, Packing, random_packing
from .spellings import read_count

COUNT = 1024  # grains, where nobody says how many
Route = Literal["decompress", "compress"]
ROUTES = ("decompress", "compress")
FINEST, COARSEST = 1e-11, 0.1  # accuracies that can be asked for: overlaps near the first are a few hundred roundings
ABOVE = {2: 0.85, 3: 0.66}  # packing fractions where the search from above begins,
STEP_UP = 0.02  # and its step up if that is unjammed
BELOW = {2: 0.80, 3: 0.58}  # where the search from below begins,
SMALLER = 0.97  # times the radii if that is jammed,
INCREMENT = 4e-3  # and its first step
BALANCE = 1e-4  # of the mean contact force: residual of the packings on the way,
LAST_BALANCE = 1e-6  # and of the last one
SHRINK = (0.1, 0.4)  # least and largest part of the distance to phi_cr that a step from above leaves
UNJAMMED = 1e-3  # of the forces of a packing that is jammed by the accuracy: what is left in an unjammed one
FALL = 0.03  # by how much the tolerance falls while it is open whether the packing is jammed
ASIDE = 1e-2  # mean diameters by which grains leave a saddle
MOST_STEPS = 200


@dataclass(frozen=True)
class JamStep:
    """One packing of the search."""

    phi: float
    pressure: float  # [N/m^(d-1)]
    energy: float  # [J]
    z: float
    jammed: bool
    phi_cr: float  # as known by then; NaN before
    iterations: int


@dataclass(frozen=True, repr=False)
class Jammed(Pictured):
    """What the search has found: a packing in balance, jammed, at most ``accuracy`` above phi_cr."""

    packing: Packing
    phi_cr: float
    accuracy: float
    measured: Measured
    steps: tuple[JamStep, ...]
    seconds: float

    def __repr__(self) -> str:
        digits = 1 - int(f"{self.accuracy:e}".partition("e")[2])  # one more than are known
        found = f"phi_cr = {self.phi_cr:.{digits}f} to {self.accuracy:.1g}, z = {self.z:.4g}, {self.rattlers} rattlers"
        return f"Jammed({self.packing.count} grains in {self.packing.dim} dimensions, {found})"

    @property
    def iterations(self) -> int:
        """Of all minimisations."""
        return sum(step.iterations for step in self.steps)

    @property
    def z(self) -> float:
        """Coordination without rattlers."""
        return self.measured.coordination

    @property
    def rattlers(self) -> int:
        return self.measured.rattler_count

    @property
    def pressure(self) -> float:
        """[N/m^(d-1)]"""
        return self.measured.pressure

    @property
    def energy(self) -> float:
        """[J]"""
        return self.measured.energy


Watch = Callable[[Course, "list[JamStep]"], None]


def jam(
    count: int | None = None,
    *,
    particles: int | None = None,
    dim: int = 2,
    sizes: Sizes | str | float | Sequence[float] = BIDISPERSE,
    law: PowerLaw | str = HOOKE,
    seed: int = 0,
    accuracy: float = 1e-6,
    route: Route = "decompress",
    method: str = "auto",
    watch: Watch | None = None,
) -> Jammed:
    """Find phi_cr of ``count`` (or ``particles``; none: 1024) random grains, to ``accuracy``.

    >>> jam(30, law="hertz", sizes="lognormal:0.2").packing.law.alpha
    2.5

    ``sizes`` and ``law`` are written as on the command line (``"1:0.7,2:0.3"``, ``"uniform:0.8,1.2"``; ``"hooke"``, ``"hertz"``), ``sizes``
    also as a list of diameters, ``[1, 1.4]``, and both as records, ``Uniform(...)`` and ``PowerLaw(...)``.
    Every seed has a phi_cr of its own, and every route finds another one: they spread by some 1e-3 for a thousand grains.
    """
    check_accuracy(accuracy)
    known_name("route", route, ROUTES)
    start = random_packing(
        read_count(count, particles, COUNT),
        (ABOVE if route == "decompress" else BELOW)[3 if dim == 3 else 2],
        dim=dim,
        sizes=sizes,
        law=law,
        seed=seed,
    )
    search = _Search(accuracy, method, watch)
    return search.from_above(start) if route == "decompress" else search.from_below(start)


def jam_packing(packing: Packing, accuracy: float = 1e-6, *, method: str = "auto", watch: Watch | None = None) -> Jammed:
    """phi_cr of a packing that is there already: it is compressed until it is jammed, and then decompressed."""
    check_accuracy(accuracy)
    return _Search(accuracy, method, watch).from_above(packing)


def check_accuracy(accuracy: float) -> float:
    """``accuracy`` if phi_cr can be found with it."""
    if not FINEST <= finite_positive("accuracy", accuracy) <= COARSEST:
        raise InputError(
            f"accuracy must be from {FINEST:g} to {COARSEST:g} (got {accuracy:g}): "
            + ("it is below rounding, overlaps that small are not known." if accuracy < FINEST else "phi_cr is a number near 0.84 or 0.64.")
        )
    return accuracy


class _Search:
    """The packings seen so far."""

    def __init__(self, accuracy: float, method: str, watch: Watch | None) -> None:
        self.accuracy, self.method, self._watch = accuracy, method, watch
        self.steps: list[JamStep] = []
        self._clock = time.perf_counter()

    def from_above(self, packing: Packing) -> Jammed:
        """Decompress."""
        packing, found = self._relax(packing)
        while not found.jammed:
            packing, found = self._relax(packing.at(packing.phi + STEP_UP))
        critical, shrink = packing.phi - _distance(packing, found), SHRINK[1]
        while packing.phi - critical > self.accuracy:
            above = packing.phi - critical
            part = max(shrink, 0.5 * self.accuracy / above)
            lower, seen = self._relax(packing.at(critical + part * above), hope=found.mean_force * power(part, packing.law.alpha - 1))
            if not seen.jammed:  # phi_cr lies between the two
                critical, shrink = lower.phi, min(1.5 * shrink, 0.8)
                continue
            before, critical = critical, _zero(packing, found, lower, seen)
            packing, found = lower, seen
            # The better phi_cr was foretold, the bolder the next step.
            shrink = float(np.clip(3 * abs(critical - before) / (packing.phi - critical), *SHRINK))
            self.steps[-1] = replace(self.steps[-1], phi_cr=critical)
        packing, found = self._relax(packing, LAST_BALANCE)
        if not found.jammed:  # a saddle, where the forces of a few grains in line are in balance: away from it, and on from there
            rng = np.random.default_rng(0)
            return self.from_below(packing.moved(packing.position + ASIDE * packing.diameter * normal(rng, packing.position.shape)))
        return self._result(packing, critical, found)

    def from_below(self, packing: Packing) -> Jammed:
        """EM Algorithm 1."""
        free, found = self._relax(packing)
        while found.jammed:  # a few grains may jam anywhere
            packing = packing.grown(SMALLER)
            free, found = self._relax(packing)
        step, high = INCREMENT, np.inf
        while True:
            trial, found = self._relax(free.at(free.phi + step))
            if not found.jammed:
                free = trial
                step = min(2 * step, INCREMENT) if high == np.inf else (high - free.phi) / 2
            else:
                high = trial.phi
                step = (high - free.phi) / 2
            if high - free.phi <= self.accuracy:
                # The upper bound was found from another start: does it hold from the last unjammed packing too?
                trial, found = self._relax(free.at(high), LAST_BALANCE)
                if found.jammed:
                    return self._result(trial, (free.phi + high) / 2, found)
                free, high, step = trial, np.inf, self.accuracy

    def _relax(self, packing: Packing, balance: float = BALANCE, hope: float | None = None) -> tuple[Packing, Measured]:
        """In balance: what is left is below ``balance`` of the mean force or, of an unjammed packing, far below what is looked for.

        Which of the two it is shows on the way: from that part of the mean force that is hoped for, the tolerance falls until one holds.
        """
        if len(self.steps) > MOST_STEPS:
            raise RunError(f"phi_cr was not found in {MOST_STEPS} steps. Take another seed, or a larger accuracy.")
        least = UNJAMMED * power(self.accuracy, packing.law.alpha - 1) * packing.force_scale
        tolerance, iterations = max(least, balance * (hope or packing.force_scale)), 0
        while True:
            packing, report = minimise(packing, self.method, tolerance=tolerance, watch=self._look)
            iterations += report.iterations
            found = measure(packing)
            goal = (found.tolerance(balance) if found.contacts else None) or least
            if report.residual <= goal or not report.converged:
                break
            tolerance = max(goal, FALL * tolerance)
        self.steps.append(JamStep(packing.phi, found.pressure, found.energy, found.coordination, found.jammed, np.nan, iterations))
        return packing, found

    def _look(self, course: Course) -> None:
        if self._watch is not None:
            self._watch(course, self.steps)

    def _result(self, packing: Packing, critical: float, found: Measured) -> Jammed:
        return Jammed(packing, critical, self.accuracy, found, tuple(self.steps), time.perf_counter() - self._clock)


def _distance(packing: Packing, found: Measured) -> float:
    """phi - phi_cr, roughly: how far radii must shrink to undo the mean overlap."""
    return packing.phi * min(
        packing.dim * found.mean_overlap_in_diameters, 0.5
    )  # grains of many sizes may overlap by more than the mean diameter


def _zero(far: Packing, farther: Measured, near: Packing, nearer: Measured) -> float:
    """phi at which the pressure of two packings vanishes: p^(1/(alpha - 1)) is linear in phi."""
    high, low = (power(found.pressure, 1 / (far.law.alpha - 1)) for found in (farther, nearer))
    slope = (high - low) / (far.phi - near.phi)
    return near.phi - low / slope if slope > 0 else near.phi - _distance(near, nearer)
