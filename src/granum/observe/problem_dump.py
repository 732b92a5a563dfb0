"""Contact problems of chosen steps into files, as their solver meets them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..array_types import FloatArray
from ..checks import InputError
from ..io.problem import SavedProblem, write_problem
from ..nonsmooth import NonsmoothStepper
from ..nonsmooth.problem import Problem
from ..nonsmooth.rebuild import take_apart
from ..nonsmooth.solvers.pgs import MOST_SWEEPS, PGS
from .watched import Watched


class ProblemDump:
    """Writes the problem of the first step that ends at or after each time [s] of ``paths``, just before it is solved.

    A time in the half step by which a run to the nearest whole step falls short of its duration belongs to the last step.
    ``written`` are the files so far; ``talk`` is told of each.
    """

    def __init__(self, paths: Mapping[Path, float], talk: Callable[[str], Any] = lambda line: None) -> None:
        self.paths, self.talk = dict(paths), talk
        self.written: list[Path] = []

    def start(self, sim: Watched) -> None:
        if nonsmooth(sim).machines is not None:
            raise InputError("a contact problem with joints or locked axes cannot be saved: files of problems know single bodies only.")
        step = {path: _step_that_reaches(time / sim.time_step, sim.last_step) for path, time in self.paths.items()}

        def look(problem: Problem) -> None:
            for path, due in step.items():
                if due == sim.step_count + 1:
                    self._write(path, sim, problem)

        nonsmooth(sim).before_solve = look

    def observe(self, sim: Watched) -> None:
        """Too late: the problem has been solved."""

    def finish(self, sim: Watched) -> None:
        nonsmooth(sim).before_solve = None
        for path in self.paths.keys() - set(self.written):
            self.talk(f"no problem {path}: the run ended at t = {sim.time:g} s")

    def _write(self, path: Path, sim: Watched, problem: Problem) -> None:
        number = sim.step_count + 1
        saved = SavedProblem(
            parts=take_apart(problem),
            position=slot_positions(sim, problem),
            scene=sim.scene.name,
            step=number,
            time=number * sim.time_step,
            time_step=sim.time_step,
            solver=as_solved(nonsmooth(sim).settings.solver, problem),
        )
        write_problem(path, saved)
        self.written.append(path)
        self.talk(f"problem of step {number}, t = {saved.time:g} s, {saved.contact_count} contacts: {path}")


def nonsmooth(sim: Watched) -> NonsmoothStepper:
    """The stepper of a run that has contact problems."""
    if not isinstance(sim.stepper, NonsmoothStepper):
        raise InputError("contact problems are those of the nonsmooth stepper: the smooth one has none to solve.")
    return sim.stepper


def _step_that_reaches(steps: float, last_step: int) -> int:
    """Number of the step in which a time, counted in steps, is reached."""
    if last_step < steps <= last_step + 0.5 + 1e-9:
        return last_step
    return max(1, math.ceil(steps - 1e-9))  # a time that should be a whole number of steps comes out a little above it


def as_solved(solver: Any, problem: Problem) -> dict[str, Any]:
    """Settings of the solver with which the problem alone is solved as in its step."""
    if isinstance(solver, PGS) and solver.iterations is None:
        tolerance = solver.tolerance if solver.tolerance is not None else problem.accuracy
        solver = solver.model_copy(update={"iterations": MOST_SWEEPS, "tolerance": tolerance})
    return dict(solver.model_dump(mode="json"))


def slot_positions(sim: Watched, problem: Problem) -> FloatArray:
    """(S, 3) [m] of the body slots: centres, and of walls where they are touched."""
    detector, bodies = nonsmooth(sim).detector, sim.bodies
    order, c = detector.order, detector.contacts
    grains = np.where(order[:, None] >= 0, sim.wrapped_position[order], 0.0)  # an empty rank is nowhere
    wall = slice(c.pair_count, c.contact_count)
    touched = sim.wrapped_position[c.a[wall]] + sim.radius[c.a[wall], None] * c.normal[wall]
    return np.concatenate([grains, bodies.position[bodies.dynamic], touched, c.body_points])
