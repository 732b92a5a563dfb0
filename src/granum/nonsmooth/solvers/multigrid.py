"""Multigrid: projected Gauss-Seidel with momentum; between the sweeps a coarse problem (``coarse.py``) tells the size of the impulses."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from pydantic import Field

from ...checks import InputError
from ...records import NonNegative, Sweeps, Whole
from ..blocks import BODY, INV_MASS
from ..coarse import SHARE, Coarse
from ..layers import Layers, layers_along_load
from ..problem import Problem
from .report import SolveReport
from .solver import SolverRecord
from .sweeping import CHECK_EVERY, Method, sweep

SETUP_WORK = 1.0  # of laying the layers, by the time it takes, in sweeps
CORRECTION_WORK = 1.7  # of a coarse correction, likewise


class Multigrid(SolverRecord):
    """Projected Gauss-Seidel with momentum and coarse corrections: the iterations hardly grow with the height of a column or silo."""

    name: Literal["multigrid"] = "multigrid"
    iterations: Sweeps = 20
    """Sweeps per step. In the first half of them (from a cold start: three quarters) coarse corrections come in between: at first after
    every second one (cold: every one), later after every eighth."""
    tolerance: NonNegative = 0.0
    """Stop before that when the residual is below this [m/s]; 0: never."""
    partitions: Whole | None = Field(default=None, ge=1)
    """Layers across the load in which impulses are scaled; none: one for every three grain diameters. None is thinner than a grain."""
    momentum: bool = True
    """Extrapolate each sweep by the last change."""

    def solve(self, problem: Problem, *, step: int = 0, measure: bool = True, history: bool = False) -> SolveReport:
        """Solve in place: impulses and velocities of ``problem`` are the start and become the result."""
        grains = int(np.count_nonzero(problem.packed.body[INV_MASS : problem.packed.first_full * BODY : BODY]))
        if self.partitions is not None and self.partitions > max(1, grains):
            raise InputError(
                f"partitions of solver 'multigrid' must be at most the number of grains (got {self.partitions} for {grains} grains); "
                "leave it out to have one layer for every three grain diameters."
            )
        p, lanes, yielding = problem, problem.blocks.serial_start, problem.packed.yielding
        laid = Layers(np.zeros(yielding, np.int32), np.empty(max(lanes, 1), np.int32), np.zeros(max(lanes, 1)))
        layers, warm, carries = layers_along_load(p.packed, p.blocks, p.found, self.partitions or 0, np.zeros(yielding), laid)
        coarse = Coarse(
            *laid,
            share_of=np.empty(yielding * SHARE),
            band=np.zeros((layers + 1, 3)),
            factor=np.zeros((layers + 1, 3)),
            r=np.zeros(layers + 1),
            alpha=np.zeros(layers + 1),
            tally=np.zeros(2, np.int64),
            first_correction=0 if carries else 1,
            first_gap=2 if warm else 1,
            # The last sweeps smooth what a correction leaves between the grains; without them a warm start feeds it back, step after step.
            last_correction=self.iterations // 2 if warm else 3 * self.iterations // 4,
        )
        method = Method(
            self.iterations,
            self.tolerance,
            p.blocks.soft_t,
            momentum=self.momentum,
            measure=measure,
            first_look=CHECK_EVERY,
            looks=self.iterations + 1,  # at equal distances
        )
        report, corrections = sweep(problem, method, coarse=coarse, history=history)
        message = ""
        tried, refused = coarse.tally
        if refused:
            message = f"{refused} of {tried} coarse corrections were left out: their problem is singular (no contact carries yet)."
        return replace(report, work=SETUP_WORK + report.work + CORRECTION_WORK * corrections, message=message)
