"""Warm starting: where a solve begins (WS section 3, physics 5)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from .._jit import device, kernel
from ..array_types import FloatArray, IntArray, LongArray
from ..contact.law import Parameters, response
from ..parallel.barrier import share, wait
from ..records import Fraction, Record
from .blocks import (
    ARM,
    BODY,
    COLOURS,
    INV_MASS,
    INV_RADIUS,
    LANES,
    LEFT_OVER,
    MU,
    MU_R,
    NX,
    OX,
    PN,
    RX,
    lanes_of,
    own_lanes,
)
from .rows import arms, into_cone, listed, relative_velocity, strike, turn_against

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

    def part_for(self, solver: Any, stable: float) -> float:
        """The part that is reused with this solver; ``stable`` is what the guard allows where sweeps are few."""
        to_accuracy = getattr(solver, "iterations", 0) is None
        part = self.beta
        if part is None:
            part = 1.0 if to_accuracy else REUSED_BY_FEW
        return part if to_accuracy or not self.guard else part * stable


class ModelStart(Record):
    """Normal impulses from the overlaps and the contact law, friction and rolling from the velocities (WS (9)-(11))."""

    name: Literal["model"] = "model"
    normals_only: bool = False
    update_velocity: bool = True


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


@kernel
def model_impulses(
    thread: int,
    threads: int,
    barrier: LongArray,
    overlap: FloatArray,
    stiffness: FloatArray,
    slot_a: IntArray,
    slot_b: IntArray,
    place: IntArray,
    fields: int,
    serial_start: int,
    lever: FloatArray,
    full: IntArray,
    body: FloatArray,
    data: FloatArray,
    law: Parameters,
    soft: float,
    h: float,
    impulse: FloatArray,
) -> None:
    """Impulses (C, 7) that the contact law gives: p_n = h f(delta), p_t = -u_t / Sigma_t inside the cone, rolling alike."""
    low, high = share(len(place), thread, threads)
    for c in range(low, high):
        d = place[c] // LANES * fields * LANES + place[c] % LANES
        pn = h * stiffness[c] * response(law, 1.0, 1.0, max(0.0, overlap[c])).push
        impulse[c, 0] = pn
        a, b = np.int64(slot_a[c]), np.int64(slot_b[c])
        nx, ny, nz = data[d + NX * LANES], data[d + (NX + 1) * LANES], data[d + (NX + 2) * LANES]
        q = listed(place[c], serial_start, full)
        ax, ay, az, bx, by, bz = arms(body, a, b, nx, ny, nz, data[d + ARM * LANES], q, lever)
        ux, uy, uz, wx, wy, wz = relative_velocity(body, a, b, ax, ay, az, bx, by, bz)
        gap_rate = ux * nx + uy * ny + uz * nz
        bound = data[d + MU * LANES] * pn
        impulse[c, 1], impulse[c, 2], impulse[c, 3] = into_cone(
            -(ux - gap_rate * nx) / soft, -(uy - gap_rate * ny) / soft, -(uz - gap_rate * nz) / soft, bound
        )
        impulse[c, 4], impulse[c, 5], impulse[c, 6] = 0.0, 0.0, 0.0
        if fields > RX:
            bound = data[d + MU_R * LANES] * pn
            impulse[c, 4], impulse[c, 5], impulse[c, 6] = into_cone(-wx / soft, -wy / soft, -wz / soft, bound)
    wait(barrier, threads)


@device
def add_to_sphere(body, o, sign, jx, jy, jz, tx, ty, tz, rx, ry, rz):
    """Add sign times an impulse j and a rolling impulse r, and the turn t that friction gives both bodies alike."""
    m = body[o + INV_MASS]
    if m == 0.0:
        return
    f, g = sign * m, sign * m * 2.5 * body[o + INV_RADIUS]
    body[o] += f * jx
    body[o + 1] += f * jy
    body[o + 2] += f * jz
    body[o + OX] += m * tx + g * rx
    body[o + OX + 1] += m * ty + g * ry
    body[o + OX + 2] += m * tz + g * rz


@kernel
def start_from(
    thread: int,
    threads: int,
    barrier: LongArray,
    impulse: FloatArray,
    part: float,
    normals_only: bool,
    lane_a: IntArray,
    lane_b: IntArray,
    contact_at: IntArray,
    fields: int,
    colour_block: IntArray,
    full_first: IntArray,
    lever: FloatArray,
    full: IntArray,
    inverse_inertia: FloatArray,
    update_velocity: bool,
    body: FloatArray,
    data: FloatArray,
) -> None:
    """Write a part of the impulses (C, 7) into the blocks as the start, and apply it to the velocities (WS (8)), colour by colour."""
    rolling = fields > RX
    serial_start = np.int64(colour_block[COLOURS]) * LANES
    for k in range(LEFT_OVER + 1):
        first, last = lanes_of(colour_block, full_first, k)
        if first == last:
            continue
        low, high = own_lanes(first, last, k, thread, threads)
        for p in range(low, high):
            c = contact_at[p]
            if c < 0:
                continue
            d = p // LANES * fields * LANES + p % LANES
            rest = 0.0 if normals_only else part
            pn = part * impulse[c, 0]
            px, py, pz = rest * impulse[c, 1], rest * impulse[c, 2], rest * impulse[c, 3]
            rx, ry, rz = rest * impulse[c, 4], rest * impulse[c, 5], rest * impulse[c, 6]
            o = d + PN * LANES
            data[o], data[o + LANES], data[o + 2 * LANES], data[o + 3 * LANES] = pn, px, py, pz
            if rolling:
                o = d + RX * LANES
                data[o], data[o + LANES], data[o + 2 * LANES] = rx, ry, rz
            if not update_velocity or pn == 0.0:
                continue
            a, b = np.int64(lane_a[p]), np.int64(lane_b[p])
            nx, ny, nz = data[d + NX * LANES], data[d + (NX + 1) * LANES], data[d + (NX + 2) * LANES]
            q = listed(p, serial_start, full)
            jx, jy, jz = pn * nx + px, pn * ny + py, pn * nz + pz
            if q >= 0:
                fa, fb = np.int64(full[q, 0]), np.int64(full[q, 1])
                ax, ay, az, bx, by, bz = arms(body, a, b, nx, ny, nz, data[d + ARM * LANES], q, lever)
                strike(body, a, b, fa, fb, inverse_inertia, ax, ay, az, bx, by, bz, jx, jy, jz)
                if rolling:
                    turn_against(body, a, b, fa, fb, inverse_inertia, rx, ry, rz)
                continue
            f = -2.5 * data[d + ARM * LANES]
            tx, ty, tz = f * (ny * pz - nz * py), f * (nz * px - nx * pz), f * (nx * py - ny * px)
            add_to_sphere(body, a * BODY, -1.0, jx, jy, jz, tx, ty, tz, rx, ry, rz)
            add_to_sphere(body, b * BODY, 1.0, jx, jy, jz, tx, ty, tz, rx, ry, rz)
        wait(barrier, threads)
