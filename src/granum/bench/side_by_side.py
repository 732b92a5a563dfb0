"""One contact problem, several solvers, side by side: what each reaches, and what it costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from ..array_types import FloatArray
from ..checks import InputError, known_name
from ..io.fclib import FclibProblem, is_fclib, read_fclib
from ..io.problem import SavedProblem, read_problem
from ..nonsmooth.local import LocalProblem, local_form, natural_map_error
from ..nonsmooth.problem import Problem
from ..nonsmooth.rebuild import put_together
from ..nonsmooth.solvers import SOLVERS, SolveReport
from ..nonsmooth.solvers.local import LocalBlocks
from ..nonsmooth.solvers.local_direct import LOCAL_SOLVERS
from ..nonsmooth.system import System

VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {"pgs-plain": ("pgs", {"momentum": False})}
"""Solvers with settings of their own, by name."""
OFFLINE: dict[str, Any] = {"iterations": 500, "tolerance": 1e-10}
"""Settings with which convergence is seen, for solvers whose own are those of a step: without a tolerance."""


@dataclass(frozen=True)
class State:
    """Where a problem stands."""

    residual_by_kind: FloatArray
    """(3,) root mean square over the contacts: normal, friction, rolling [m/s]."""
    velocity: FloatArray
    """Of the bodies (radius times spin included), or of the contacts if there are no bodies [m/s]."""
    change: FloatArray
    """The part of it that the impulses have made."""
    impulse: FloatArray
    """(R,) of the rows: normal, tangents, and rolling if there are such [N s]."""
    rows: int
    """Per contact."""
    natural_map: float | None
    """FCLIB's error; None for problems with rolling friction, which it does not know."""

    @property
    def residual(self) -> float:
        """Of all rows [m/s]."""
        return float(np.linalg.norm(self.residual_by_kind))

    @property
    def normal_impulse(self) -> FloatArray:
        """(C,) [N s]"""
        return self.impulse[:: self.rows]


@dataclass(frozen=True)
class Curve:
    """The residual on the way, row by row."""

    sweeps: FloatArray
    work: FloatArray
    """In sweeps of plain PGS over all contacts."""
    seconds: FloatArray
    residual: FloatArray
    """[m/s]"""


@dataclass(frozen=True)
class Trial:
    """What one solver did."""

    name: str
    settings: dict[str, Any]
    sweeps: int
    work: float
    """In sweeps of plain PGS over all contacts."""
    seconds: float
    """Wall time of a solve that keeps no history."""
    converged: bool
    message: str
    end: State
    curve: Curve


class WithBodies:
    """A problem of granum that can be solved again and again from the same start; ``cold``: without the impulses it was to start from."""

    solvers: Mapping[str, type[Any]] = SOLVERS
    given: FloatArray | None = None

    def __init__(self, saved: SavedProblem, cold: bool = False) -> None:
        self.saved, self.cold = saved, cold
        self.contact_count = saved.contact_count
        self.title = f"granum: {saved.scene}, t = {saved.time:g} s"
        self.description = (
            f"{saved.scene}, step {saved.step}, t = {saved.time:g} s, h = {saved.time_step:g} s, {saved.body_count} bodies, "
            f"{saved.contact_count} contacts with {6 if saved.parts.rolling else 3} rows"
        )

    def fresh(self) -> Problem:
        """A copy that a solver may change."""
        problem = put_together(self.saved.parts)
        if self.cold:
            system = System.read(problem)
            system.write(problem, np.zeros_like(system.impulse))
        return problem

    def look(self, problem: Problem) -> State:
        """Where ``problem`` stands."""
        system = System.read(problem)
        moved = system.relative_velocity(system.velocity) - system.target + system.softness * system.impulse
        return State(
            residual_by_kind=_root_mean_square(problem.residual()),
            velocity=system.velocity,
            change=system.velocity - system.free_velocity,
            impulse=system.impulse,
            rows=system.rows,
            natural_map=natural_map_error(moved, system.impulse, system.friction, system.offset()) if system.rows == 3 else None,
        )

    def local(self) -> LocalProblem:
        """W, q and mu, with the impulses of the start."""
        if self.saved.parts.box:
            raise InputError(
                "a problem with box friction has no local form (FCLIB knows the cone alone). Dump it from a run with --friction cone."
            )
        return local_form(System.read(self.fresh()))

    def about(self) -> dict[str, Any]:
        """What it is, and where it comes from."""
        saved = self.saved
        return {
            "kind": "granum",
            **saved.about,
            "contacts": saved.contact_count,
            "bodies": saved.body_count,
            "rows": 6 if saved.parts.rolling else 3,
        }


class WithoutBodies:
    """A problem of a FCLIB file; ``cold``: without its guess."""

    solvers: Mapping[str, type[Any]] = LOCAL_SOLVERS

    def __init__(self, content: FclibProblem, cold: bool = False) -> None:
        self.content = content
        self.contact_count = content.problem.contact_count
        self.given = content.solution
        """(R,) impulses that the file gives as solution."""
        self.title = content.title or "FCLIB problem"
        self.description = f"{self.title}, {self.contact_count} contacts in {content.problem.dimension} dimensions"
        self._start = np.zeros_like(content.problem.impulse) if cold else content.problem.impulse

    def fresh(self) -> LocalProblem:
        """A copy that a solver may change."""
        return self.content.problem.start_at(self._start)

    def look(self, problem: LocalProblem) -> State:
        """Where ``problem`` stands."""
        return State(
            residual_by_kind=_root_mean_square(LocalBlocks(problem).residual()),
            velocity=problem.velocity,
            change=problem.matrix @ problem.impulse,
            impulse=problem.impulse.copy(),
            rows=problem.dimension,
            natural_map=problem.natural_map_error(),
        )

    def local(self) -> LocalProblem:
        """The problem itself."""
        return self.fresh()

    def about(self) -> dict[str, Any]:
        """What it is."""
        problem = self.content.problem
        return {"kind": "fclib", "title": self.content.title, "contacts": problem.contact_count, "rows": problem.dimension}


Subject = WithBodies | WithoutBodies


def open_subject(path: Path, cold: bool = False) -> Subject:
    """The problem of a file, of granum or FCLIB."""
    return WithoutBodies(read_fclib(path), cold) if is_fclib(path) else WithBodies(read_problem(path), cold)


def choose_solvers(subject: Subject, names: Sequence[str], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Solvers by name, or all that can solve the problem; ``settings`` other than None go to those that have them."""
    variants = {name: of for name, of in VARIANTS.items() if of[0] in subject.solvers}
    for name in names:
        if name in SOLVERS and name not in subject.solvers:
            raise InputError(f"solver {name!r} needs bodies, and this file has only W, q and mu; choose from {sorted(subject.solvers)}.")
        known_name("solver", name, [*subject.solvers, *variants])
    chosen = {}
    for name in dict.fromkeys(names or [*subject.solvers, *variants]):
        of, own = variants.get(name, (name, {}))
        kind = subject.solvers[of]
        given = {key: value for key, value in settings.items() if key in kind.model_fields and value is not None}
        tolerance = kind.model_fields.get("tolerance")
        sweeps = tolerance is None or tolerance.default in (0, None)
        offline = {key: value for key, value in OFFLINE.items() if sweeps and key in kind.model_fields}
        chosen[name] = kind(**offline | given | own)
    return chosen


def try_solver(subject: Subject, name: str, solver: Any) -> Trial:
    """Solve three times: to compile what is not yet, with the residual of every sweep, and for the time it takes without."""
    solver.solve(subject.fresh())
    watched: SolveReport = solver.solve(subject.fresh(), history=True)
    problem: Any = subject.fresh()
    began = perf_counter()
    report: SolveReport = solver.solve(problem)
    seconds = perf_counter() - began
    history = watched.history[:, 0]
    sweeps = np.arange(1.0, len(history) + 1)
    work = watched.work if len(watched.work) else sweeps
    passed = watched.seconds if len(watched.seconds) else np.asarray(sweeps * seconds / max(1, report.iterations))
    return Trial(
        name=name,
        settings=solver.model_dump(mode="json"),
        sweeps=report.iterations,
        work=float(work[-1]) * report.iterations / max(1, watched.iterations) if len(work) else 0.0,  # watched it may stop earlier
        seconds=seconds,
        converged=report.converged,
        message=report.message,
        end=subject.look(problem),
        curve=Curve(sweeps, work, passed, history),
    )


def compare_solvers(subject: Subject, solvers: Mapping[str, Any], tell: Callable[[str], Any] = lambda line: None) -> list[Trial]:
    """One after the other, each from the same start; one of several that refuses the problem is told of and left out."""
    trials = []
    for number, (name, solver) in enumerate(solvers.items(), 1):
        tell(f"{name} ({number} of {len(solvers)}) ...")
        try:
            trials.append(try_solver(subject, name, solver))
        except InputError as error:
            if number == len(solvers) and not trials:
                raise
            tell(f"{name} is left out: {error}")
    return trials


def best_of(trials: Sequence[Trial]) -> Trial:
    """The one with the smallest residual."""
    return min(trials, key=lambda trial: trial.end.residual if np.isfinite(trial.end.residual) else np.inf)


def distances(state: State, best: State) -> tuple[float, float]:
    """Differences from the best solution: of velocities, over what its impulses changed, and of normal impulses, over its own."""
    return (
        _part(state.velocity - best.velocity, best.change),
        _part(state.normal_impulse - best.normal_impulse, best.normal_impulse),
    )


def _part(difference: FloatArray, whole: FloatArray) -> float:
    size, unit = float(np.linalg.norm(difference)), float(np.linalg.norm(whole))
    return size / unit if unit > 0 else (0.0 if size == 0 else np.inf)


def _root_mean_square(residual: FloatArray) -> FloatArray:
    return np.sqrt(np.sum(residual * residual, axis=0) / max(1, len(residual)))
