"""Warm starting: where a solve begins (WS section 3, physics 5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import Field

from .._jit import device
from ..contact.law import response
from ..kernel_groups import group
from ..parallel.barrier import share, wait
from ..records import Fraction, Record
from .blocks import ARM, INV_DR, LANES, MU, MU_R, PN, RX, at, fetch_next
from .kinds.contact import arms, friction_softness, listed, normal_at, relative_velocity, rolling_softness
from .kinds.every import apply_all
from .projections import into_cone
from .solvers.solver import Solver

REUSED_BY_FEW = 0.85  # of the last impulses, where the number of sweeps is fixed (WS)


class ColdStart(Record):
    """Every solve begins with zero impulses."""

    name: Literal["none"] = "none"


class HistoryStart(Record):
    """A part of the last step's impulses, for contacts that persist (WS (7))."""

    name: Literal["history"] = "history"
    beta: Fraction | None = None
    """The part that is reused. None: all where sweeps go on to an accuracy, so that a bed at rest has nothing left to solve; 0.85 where
    their number is fixed: with few of them more is unstable."""
    guard: bool = True
    """With a fixed number of sweeps: take a smaller part while the warm start feeds energy into the grains."""
    normals_only: bool = False
    """Start friction and rolling from zero (a variant of WS section 4.2)."""
    update_velocity: bool = True
    """Apply the starting impulses to the velocities, as (8) asks; without it the result is worse than a cold start."""

    def part_for(self, solver: Solver, stable: float) -> float:
        """The part that is reused with this solver; ``stable`` is what the guard allows where sweeps are few."""
        to_accuracy = solver.to_accuracy
        part = self.beta
        if part is None:
            part = 1.0 if to_accuracy else REUSED_BY_FEW
        return part if to_accuracy or not self.guard else part * stable


class ModelStart(Record):
    """Normal impulses from the overlaps and the contact law, friction and rolling from the velocities (WS (9)-(11))."""

    name: Literal["model"] = "model"
    normals_only: bool = False
    """Start friction and rolling from zero."""
    update_velocity: bool = True
    """Apply the starting impulses to the velocities."""


WarmStart = Annotated[ColdStart | HistoryStart | ModelStart, Field(discriminator="name")]
WARM_STARTS = {"none": ColdStart, "history": HistoryStart, "model": ModelStart}


SMALLEST, SHRINK, RECOVER = 0.6, 0.8, 0.005  # of the reused part, in a step that creates energy and in one that does not
RELENT = 2e-5  # per step: how fast the limit that was found too high is tried again
NOTICED = 0.01  # of the kinetic energy: a smaller rise in a step is not one


class StabilityGuard:
    """Takes less history while it feeds energy into the grains.

    With few sweeps the reused impulses act like a delayed force: a column bounces for ever, higher each time. The energy of a step with a
    sound warm start does not rise but for what walls and emitters bring, so a rise is the sign to reuse less.
    """

    def __init__(self) -> None:
        self.part = 1.0  # of beta that is reused now
        self.limit = 1.0  # where it recovers to: below what was too much
        self.energy = np.inf  # after the last step, less what was brought in [J]

    def look(self, energy: float, kinetic: float, fall: float) -> None:
        """After a step: kinetic and gravitational energy less what was brought in, kinetic energy, and that of a fall of one step [J].

        Grains slower than a fall of one step only creep to their place, and may rise in doing so.
        """
        if kinetic > fall and energy - self.energy > NOTICED * kinetic:
            if self.part > 0.95 * self.limit:  # once a burst: in the first settling alone it fires several times
                self.limit = max(SMALLEST, 0.9 * self.limit)
            self.part = max(SMALLEST, SHRINK * self.part)
        else:
            self.limit += RELENT * (1.0 - self.limit)
            self.part += RECOVER * (self.limit - self.part)
        self.energy = energy

    def checkpoint(self) -> dict[str, float]:
        """What the next step depends on."""
        return {"reused_part": self.part, "reused_limit": self.limit, "last_energy": float(self.energy)}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Continue from a checkpoint, which may hold more."""
        self.part, self.limit, self.energy = saved["reused_part"], saved["reused_limit"], saved["last_energy"]


@group
class Start(NamedTuple):
    """Where a solve begins, for kernels."""

    from_law: bool
    """Impulses are those of the contact law, not of the last step."""
    part: float
    """Of them that is taken; 0: a solve begins cold."""
    normals_only: bool
    update_velocity: bool


COLD = Start(False, 0.0, False, False)


def start_with(settings: ColdStart | HistoryStart | ModelStart, solver: Solver, stable: float) -> Start:
    """``stable``: the part of the last impulses that the guard allows where sweeps are few."""
    if isinstance(settings, HistoryStart):
        return Start(False, settings.part_for(solver, stable), settings.normals_only, settings.update_velocity)
    if isinstance(settings, ModelStart):
        return Start(True, 1.0, settings.normals_only, settings.update_velocity)
    return COLD


@device
def model_impulses(low, high, problem, met, pairs, h):
    """Impulses of the contact law: p_n = h f(delta), p_t = -u_t / Sigma_t inside the cone, rolling alike."""
    packed, blocks, levers, found = problem
    data, soft, impulse = blocks.data, blocks.soft_t, met.impulse
    for c in range(low, high):
        d = at(found.place[c], blocks.fields)
        pn = h * found.stiffness[c] * response(pairs.law, 1.0, 1.0, max(0.0, met.overlap[c])).push
        impulse[c, 0] = pn
        a, b = np.int64(found.slot_a[c]), np.int64(found.slot_b[c])
        n = normal_at(data, d)
        nx, ny, nz = n
        q = listed(blocks, levers, found.place[c])
        arm = arms(packed, levers, a, b, n, data[d + ARM * LANES], q)
        ux, uy, uz, wx, wy, wz = relative_velocity(packed.body, a, b, arm)
        gap_rate = ux * nx + uy * ny + uz * nz
        bound, gives = data[d + MU * LANES] * pn, friction_softness(packed, soft, a, b, q)
        impulse[c, 1], impulse[c, 2], impulse[c, 3] = into_cone(
            -(ux - gap_rate * nx) / gives, -(uy - gap_rate * ny) / gives, -(uz - gap_rate * nz) / gives, bound
        )
        impulse[c, 4], impulse[c, 5], impulse[c, 6] = 0.0, 0.0, 0.0
        if blocks.fields > RX:
            bound, gives = data[d + MU_R * LANES] * pn, rolling_softness(soft, data[d + INV_DR * LANES], q)
            impulse[c, 4], impulse[c, 5], impulse[c, 6] = into_cone(-wx / gives, -wy / gives, -wz / gives, bound)


@device
def write_impulses(low, high, blocks, found, met, start):
    """A part of the impulses (C, 7) of the contacts low to high into the blocks."""
    data, impulse, part = blocks.data, met.impulse, start.part
    rest = 0.0 if start.normals_only else part
    for c in range(low, high):
        d = at(found.place[c], blocks.fields)
        fetch_next(blocks, found.place[c], PN, blocks.fields)
        data[d + PN * LANES] = part * impulse[c, 0] if part > 0.0 else 0.0
        for f in range(1, 4):
            data[d + (PN + f) * LANES] = rest * impulse[c, f] if rest > 0.0 else 0.0
        if blocks.fields > RX:
            for f in range(3):
                data[d + (RX + f) * LANES] = rest * impulse[c, 4 + f] if rest > 0.0 else 0.0


@device
def warm_start(crew, problem, met, pairs, h, start):
    """Write the impulses that the solve begins with into the blocks, and apply them to the velocities (WS (8))."""
    thread, threads, barrier = crew
    packed, blocks, levers, found = problem
    low, high = share(len(found.place), thread, threads)
    if start.from_law:
        model_impulses(low, high, problem, met, pairs, h)
    write_impulses(low, high, blocks, found, met, start)
    wait(barrier, threads)
    if start.update_velocity:
        apply_all(crew, packed, blocks, levers)
