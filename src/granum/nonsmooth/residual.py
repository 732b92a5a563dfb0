"""The one residual that measures every solver: what the bounds leave of q - G v - Sigma lambda (physics 4).

For each contact it is D times the change that a projected update would make, in m/s (rolling: times R*), zero at the solution.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import device, kernel
from ..array_types import FloatArray, IntArray
from ..parallel.barrier import share, wait
from .blocks import (
    ARM,
    INV_DN,
    INV_DR,
    INV_DT,
    LANES,
    MU,
    MU_R,
    NX,
    NY,
    NZ,
    PN,
    PX,
    RX,
    SOFTNESS,
    TARGET,
)
from .rows import arms, bounded, listed, relative_velocity

CHUNK = 256  # contacts that are summed up in one go


@device
def contact_residual(
    body,
    lane_a,
    lane_b,
    data,
    fields,
    place,
    serial_start,
    lever,
    full,
    soft_t,
    soft_r,
    box,
):
    """Normal, friction and rolling residual of one contact [m/s, m/s, rad/s]."""
    block, lane = place // LANES, place % LANES
    d = block * fields * LANES + lane
    a, b = np.int64(lane_a[place]), np.int64(lane_b[place])
    nx, ny, nz = data[d + NX * LANES], data[d + NY * LANES], data[d + NZ * LANES]
    q = listed(place, serial_start, full)
    ax, ay, az, bx, by, bz = arms(body, a, b, nx, ny, nz, data[d + ARM * LANES], q, lever)
    ux, uy, uz, wx, wy, wz = relative_velocity(body, a, b, ax, ay, az, bx, by, bz)
    gap_rate = ux * nx + uy * ny + uz * nz
    x, inverse = data[d + PN * LANES], data[d + INV_DN * LANES]
    moved = max(0.0, x + (data[d + TARGET * LANES] - data[d + SOFTNESS * LANES] * x - gap_rate) * inverse)
    normal = abs(moved - x) / inverse

    p, inverse = d + PX * LANES, data[d + INV_DT * LANES]
    xx, xy, xz = data[p], data[p + LANES], data[p + 2 * LANES]
    zx = xx - (ux - gap_rate * nx + soft_t * xx) * inverse
    zy = xy - (uy - gap_rate * ny + soft_t * xy) * inverse
    zz = xz - (uz - gap_rate * nz + soft_t * xz) * inverse
    zx, zy, zz = bounded(zx, zy, zz, nx, ny, nz, data[d + MU * LANES] * x, box, False)
    friction = math.sqrt((zx - xx) ** 2 + (zy - xy) ** 2 + (zz - xz) ** 2) / inverse

    rolling = 0.0
    if fields > RX:
        p, inverse = d + RX * LANES, data[d + INV_DR * LANES]
        xx, xy, xz = data[p], data[p + LANES], data[p + 2 * LANES]
        zx = xx - (wx + soft_r * xx) * inverse
        zy = xy - (wy + soft_r * xy) * inverse
        zz = xz - (wz + soft_r * xz) * inverse
        zx, zy, zz = bounded(zx, zy, zz, nx, ny, nz, data[d + MU_R * LANES] * x, box, True)
        rolling = math.sqrt((zx - xx) ** 2 + (zy - xy) ** 2 + (zz - xz) ** 2) / inverse
    return normal, friction, rolling


@device
def mean_residual(
    thread,
    threads,
    barrier,
    body,
    lane_a,
    lane_b,
    data,
    fields,
    place,
    serial_start,
    lever,
    full,
    soft_t,
    soft_r,
    box,
    radius_eff,
    sums,
    out,
):
    """Root mean square over contacts of the whole residual [m/s]; by row kind in ``out`` (3,), which is each thread's own.

    ``sums`` receives the parts of chunks of contacts, which are added up in order: the result does not depend on the threads.
    """
    wait(barrier, threads)  # sums and velocities may still be in use
    chunks = (len(place) + CHUNK - 1) // CHUNK
    low, high = share(chunks, thread, threads)
    for k in range(low, high):
        sn, st, sr = 0.0, 0.0, 0.0
        for c in range(k * CHUNK, min((k + 1) * CHUNK, len(place))):
            n, t, r = contact_residual(
                body, lane_a, lane_b, data, fields, np.int64(place[c]), serial_start, lever, full, soft_t, soft_r, box
            )
            sn += n * n
            st += t * t
            sr += r * r * radius_eff[c] * radius_eff[c]
        sums[3 * k], sums[3 * k + 1], sums[3 * k + 2] = sn, st, sr
    wait(barrier, threads)
    count = max(1, len(place))
    total = 0.0
    for f in range(3):
        part = 0.0
        for k in range(chunks):
            part += sums[3 * k + f]
        out[f] = math.sqrt(part / count)
        total += part
    wait(barrier, threads)
    return math.sqrt(total / count)


@kernel
def projected_residual(
    body: FloatArray,
    lane_a: IntArray,
    lane_b: IntArray,
    data: FloatArray,
    fields: int,
    place: IntArray,
    serial_start: int,
    lever: FloatArray,
    full: IntArray,
    soft_t: float,
    soft_r: float,
    box: bool,
    radius_eff: FloatArray,
) -> FloatArray:
    """(C, 3) residual of every contact by row kind: normal, friction, rolling (times R*) [m/s]."""
    out = np.empty((len(place), 3))
    for c in range(len(place)):
        n, t, r = contact_residual(body, lane_a, lane_b, data, fields, np.int64(place[c]), serial_start, lever, full, soft_t, soft_r, box)
        out[c, 0], out[c, 1], out[c, 2] = n, t, r * radius_eff[c]
    return out
