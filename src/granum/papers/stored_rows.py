"""Sweeps with stored Jacobian rows, for comparison: PP Fig. 2.9 draws the speed-up with rows that are cached and computed anew.

A row of a contact is 12 numbers of J and 12 of M^-1 J^T (physics 1), for the packed velocities of its two bodies. The update is that of
``nonsmooth/kinds/spheres.py``, over the same colours and blocks, and gives the same result but for rounding. Only this benchmark uses it:
reading the rows costs more than computing them from the normal.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import kernel
from ..array_types import FloatArray
from ..nonsmooth.blocks import (
    ARM,
    BODY,
    COLOURS,
    INV_DN,
    INV_DR,
    INV_DT,
    INV_MASS,
    INV_RADIUS,
    LANES,
    MU,
    MU_R,
    NX,
    PN,
    PX,
    RX,
    SOFTNESS,
    TARGET,
    at,
)
from ..nonsmooth.groups import ContactBlocks
from ..nonsmooth.kinds.every import FEW_BLOCKS
from ..nonsmooth.kinds.spheres import load_bodies, store_bodies
from ..nonsmooth.problem import Problem
from ..nonsmooth.projections import tangents
from ..parallel.barrier import share, wait
from ..parallel.crew import Crew

ROW = 24  # numbers of a stored row: J of a and b, M^-1 J^T of a and b


@kernel
def store_rows(body: FloatArray, blocks: ContactBlocks, row: FloatArray, impulse: FloatArray) -> None:
    """Rows of all coloured contacts, and their impulses along the rows.

    Number k of row r of lane l of block q is at ``((q * rows + r) * 24 + k) * LANES + l``; impulses alike, with one number for each row.
    """
    lane_a, lane_b, data, fields = blocks.lane_a, blocks.lane_b, blocks.data, blocks.fields
    rows = 6 if fields > RX else 3
    axis = np.empty((3, 3))
    for p in range(blocks.serial_start):
        block, lane = p // LANES, p % LANES
        d = at(p, fields)
        a, b = lane_a[p] * BODY, lane_b[p] * BODY
        nx, ny, nz = data[d + NX * LANES], data[d + (NX + 1) * LANES], data[d + (NX + 2) * LANES]
        arm = data[d + ARM * LANES]
        sx, sy, sz, tx, ty, tz = tangents(nx, ny, nz)
        axis[0, 0], axis[0, 1], axis[0, 2] = nx, ny, nz
        axis[1, 0], axis[1, 1], axis[1, 2] = sx, sy, sz
        axis[2, 0], axis[2, 1], axis[2, 2] = tx, ty, tz
        for r in range(rows):
            e = axis[r % 3]
            # n x e: what the spins of both bodies are asked for in a row of friction
            cx, cy, cz = ny * e[2] - nz * e[1], nz * e[0] - nx * e[2], nx * e[1] - ny * e[0]
            turn = (-arm * cx, -arm * cy, -arm * cz)
            for side in range(2):
                o, sign = (a, -1.0) if side == 0 else (b, 1.0)
                m, w = body[o + INV_MASS], body[o + INV_RADIUS]
                first = (block * rows + r) * ROW * LANES + 6 * side * LANES + lane
                for k in range(3):
                    along = sign * e[k] if r < 3 else 0.0
                    about = turn[k] if r < 3 else sign * w * e[k]
                    row[first + k * LANES] = along
                    row[first + (3 + k) * LANES] = about
                    row[first + (12 + k) * LANES] = m * along
                    row[first + (15 + k) * LANES] = 2.5 * m * about
        i = block * rows * LANES + lane
        impulse[i] = data[d + PN * LANES]
        for r in range(1, 3):
            x, y, z = data[d + PX * LANES], data[d + (PX + 1) * LANES], data[d + (PX + 2) * LANES]
            impulse[i + r * LANES] = x * axis[r, 0] + y * axis[r, 1] + z * axis[r, 2]
        for r in range(3, rows):
            x, y, z = data[d + RX * LANES], data[d + (RX + 1) * LANES], data[d + (RX + 2) * LANES]
            impulse[i + r * LANES] = x * axis[r - 3, 0] + y * axis[r - 3, 1] + z * axis[r - 3, 2]


@kernel
def sweep_stored(
    crew: Crew,
    blocks: ContactBlocks,
    row: FloatArray,
    iterations: int,
    body: FloatArray,
    impulse: FloatArray,
) -> None:
    """Plain sweeps over all colours, as ``sweep_all`` of ``nonsmooth/kinds/every.py`` shares them out."""
    thread, threads, barrier = crew
    lane_a, lane_b, data, fields, colour_block = blocks.lane_a, blocks.lane_b, blocks.data, blocks.fields, blocks.colour_block
    soft = blocks.soft_t
    w = np.uint64(LANES)
    rows = np.uint64(6 if fields > RX else 3)
    s = np.empty(25 * LANES)  # bodies a in fields 0-7, b in 8-15
    asked = np.empty(3 * LANES)  # J v of up to three rows
    change = np.empty(3 * LANES)
    last = colour_block[COLOURS]
    for _ in range(iterations):
        for c in range(COLOURS):
            begin, end = np.int64(colour_block[c]), np.int64(colour_block[c + 1])
            if begin == last:
                break
            alone = end - begin < FEW_BLOCKS
            low, high = share(end - begin, thread, threads)
            if alone:
                low, high = np.int64(0), end - begin if thread == 0 else np.int64(0)
            for q in range(begin + low, begin + high):
                block = np.uint64(q)
                d = block * np.uint64(fields) * w
                load_bodies(body, lane_a, lane_b, block * w, s)
                for group in range(np.uint64(1) + rows // np.uint64(3)):  # normal; friction; rolling
                    r0 = np.uint64(0) if group == 0 else np.uint64(1) if group == 1 else np.uint64(3)
                    r1 = np.uint64(1) if group == 0 else np.uint64(3) if group == 1 else np.uint64(6)
                    for r in range(r0, r1):
                        o, at = (block * rows + r) * np.uint64(ROW) * w, (r - r0) * w
                        for lane in range(w):
                            asked[at + lane] = 0.0
                        for k in range(np.uint64(6)):
                            for lane in range(w):
                                asked[at + lane] += row[o + k * w + lane] * s[k * w + lane]
                        for k in range(np.uint64(6)):
                            for lane in range(w):
                                asked[at + lane] += row[o + (np.uint64(6) + k) * w + lane] * s[(np.uint64(8) + k) * w + lane]
                    i = (block * rows + r0) * w
                    if group == 0:
                        for lane in range(w):
                            p = impulse[i + lane]
                            force = data[d + np.uint64(TARGET) * w + lane] - data[d + np.uint64(SOFTNESS) * w + lane] * p - asked[lane]
                            new = p + force * data[d + np.uint64(INV_DN) * w + lane]
                            new = new if new > 0.0 else 0.0
                            impulse[i + lane] = new
                            change[lane] = new - p
                    else:
                        inverse = d + np.uint64(INV_DT if group == 1 else INV_DR) * w
                        limit = d + np.uint64(MU if group == 1 else MU_R) * w
                        for lane in range(w):
                            x, y = impulse[i + lane], impulse[i + w + lane]
                            z = impulse[i + w + w + lane] if group == 2 else 0.0
                            f = data[inverse + lane]
                            qx, qy = x - (asked[lane] + soft * x) * f, y - (asked[w + lane] + soft * y) * f
                            qz = z - (asked[w + w + lane] + soft * z) * f if group == 2 else 0.0
                            bound = data[limit + lane] * impulse[block * rows * w + lane]
                            part = bound * bound / (qx * qx + qy * qy + qz * qz + 1e-300)
                            part = math.sqrt(part if part < 1.0 else 1.0)
                            qx, qy, qz = qx * part, qy * part, qz * part
                            impulse[i + lane], impulse[i + w + lane] = qx, qy
                            change[lane], change[w + lane] = qx - x, qy - y
                            if group == 2:
                                impulse[i + w + w + lane] = qz
                                change[w + w + lane] = qz - z
                    for r in range(r0, r1):
                        o, at = ((block * rows + r) * np.uint64(ROW) + np.uint64(12)) * w, (r - r0) * w
                        for k in range(np.uint64(6)):
                            for lane in range(w):
                                s[k * w + lane] += row[o + k * w + lane] * change[at + lane]
                        for k in range(np.uint64(6)):
                            for lane in range(w):
                                s[(np.uint64(8) + k) * w + lane] += row[o + (np.uint64(6) + k) * w + lane] * change[at + lane]
                store_bodies(body, lane_a, lane_b, block * w, s)
            if not alone or colour_block[min(c + 2, COLOURS)] - end >= FEW_BLOCKS or end == last:
                wait(barrier, threads)


class StoredRows:
    """The rows of a problem, computed once, and plain sweeps with them; contacts outside the coloured blocks are left out."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        lanes = problem.colour_blocks * LANES
        self.row = np.zeros(lanes * problem.rows * ROW)
        self.impulse = np.zeros(lanes * problem.rows)
        self.restart()

    def restart(self) -> None:
        """Impulses and rows from the problem as it is now."""
        p = self.problem
        store_rows(p.packed.body, p.blocks, self.row, self.impulse)

    def sweep(self, iterations: int) -> None:
        """Velocities of the problem, and the impulses here, after that many sweeps."""
        p = self.problem
        p.team.run(sweep_stored, p.contact_count, p.blocks, self.row, iterations, p.packed.body, self.impulse)

    @property
    def normal_impulse(self) -> FloatArray:
        """(C,) [N s] in the order of the contacts."""
        place = self.problem.found.place
        return self.impulse[place // LANES * self.problem.rows * LANES + place % LANES]
