"""Contacts of spheres, in coloured blocks of lanes: a sweep with vector instructions, in physical impulses (physics 4).

For spheres the tangential velocity does not change with the normal impulse, so both parts use velocities loaded once; the rolling part
uses the spins that the friction has just changed. With momentum the sweep starts from the extrapolated impulses
``y = p + beta (p - p_before)``; the velocities are extrapolated alike before the sweep, which keeps both consistent.
"""

from __future__ import annotations

import numpy as np

from ..._jit import device
from ...parallel.prefetch import IN_LINE, fetch
from ..blocks import (
    ARM,
    BODY,
    INV_DN,
    INV_DR,
    INV_DT,
    INV_MASS,
    INV_RADIUS,
    LANES,
    MU,
    MU_R,
    NX,
    NY,
    NZ,
    OX,
    PN,
    PX,
    PY,
    PZ,
    RX,
    RY,
    RZ,
    SOFTNESS,
    TARGET,
    at,
)
from ..projections import into_cone_by_lanes, pushed, stepped
from .contact import normal_at
from .transposed import load_eight, store_eight

U = np.uint64  # unsigned indices need no check for negative ones, which would keep the loops from being vectorised
W, B, L = U(LANES), U(BODY), U(IN_LINE)
QUARTERS = U(4)  # parts in which the next block is fetched
S = tuple(U(f * LANES) for f in range(25))  # scratch: bodies a 0-7 and b 8-15, impulses at the start 16-22, momentum sums 23, 24
SCRATCH = 25 * LANES
AT_NX = U(NX * LANES)
AT_NY = U(NY * LANES)
AT_NZ = U(NZ * LANES)
AT_ARM = U(ARM * LANES)
AT_TARGET = U(TARGET * LANES)
AT_SOFTNESS = U(SOFTNESS * LANES)
AT_INV_DN = U(INV_DN * LANES)
AT_INV_DT = U(INV_DT * LANES)
AT_MU = U(MU * LANES)
AT_PN = U(PN * LANES)
AT_PX = U(PX * LANES)
AT_PY = U(PY * LANES)
AT_PZ = U(PZ * LANES)
AT_INV_DR = U(INV_DR * LANES)
AT_MU_R = U(MU_R * LANES)
AT_RX = U(RX * LANES)
AT_RY = U(RY * LANES)
AT_RZ = U(RZ * LANES)


@device
def fetch_part(packed, blocks, momentum, k, kept, part):
    """Have a quarter of the numbers and of the bodies of the next block on their way; all at once they would stand in each other's way."""
    following = k + 1
    if following * LANES < len(blocks.lane_a):
        d, o, first = U(following * blocks.fields) * W, U(following * kept) * W, U(following) * W
        lines, more = U(blocks.fields) * W // L, U(kept) * W // L
        for line in range(lines * part // QUARTERS, lines * (part + U(1)) // QUARTERS):
            fetch(blocks.data, d + line * L)
        for line in range(more * part // QUARTERS, more * (part + U(1)) // QUARTERS):
            fetch(momentum.before, o + line * L)
        for lane in range(first + W * part // QUARTERS, first + W * (part + U(1)) // QUARTERS):
            fetch(packed.body, U(blocks.lane_a[lane]) * B)
            fetch(packed.body, U(blocks.lane_b[lane]) * B)


@device
def load_bodies(body, lane_a, lane_b, first, s):
    """Transpose the 2 x 8 numbers of the bodies of one block into scratch: a in fields 0-7, b in fields 8-15."""
    for half in range(U(0), W, B):
        load_eight(body, lane_a, first + half, s, half, W)
        load_eight(body, lane_b, first + half, s, S[8] + half, W)


@device
def store_bodies(body, lane_a, lane_b, first, s):
    """Write the bodies of one block back. Only their velocities have changed, and of bodies that several lanes have, nothing."""
    for half in range(U(0), W, B):
        store_eight(body, lane_a, first + half, s, half, W)
        store_eight(body, lane_b, first + half, s, S[8] + half, W)


@device
def step_sums(data, before, d, o, s):
    """The momentum sums of one block's normal and tangential rows, lane by lane (scratch 23 and 24), weighted by D."""
    for lane in range(W):
        mass = s[S[6] + lane] + s[S[14] + lane]
        arm = data[d + AT_ARM + lane]
        pn, px, py, pz = (
            data[d + AT_PN + lane],
            data[d + AT_PX + lane],
            data[d + AT_PY + lane],
            data[d + AT_PZ + lane],
        )
        sn, sx, sy, sz = pn - before[o + lane], px - before[o + W + lane], py - before[o + S[2] + lane], pz - before[o + S[3] + lane]
        yn, yx, yy, yz = pn - s[S[16] + lane], px - s[S[17] + lane], py - s[S[18] + lane], pz - s[S[19] + lane]
        dn, dt = mass + data[d + AT_SOFTNESS + lane], mass * (1.0 + 2.5 * arm * arm)
        s[S[23] + lane] = dn * sn * yn + dt * (sx * yx + sy * yy + sz * yz)
        s[S[24] + lane] = dn * yn * yn + dt * (yx * yx + yy * yy + yz * yz)


@device
def add_rolling_step_sums(data, before, d, o, s):
    """Those of the rolling rows, added to them."""
    for lane in range(W):
        ira, irb = s[S[7] + lane], s[S[15] + lane]
        dr = 2.5 * (s[S[6] + lane] * ira * ira + s[S[14] + lane] * irb * irb)
        rx, ry, rz = data[d + AT_RX + lane], data[d + AT_RY + lane], data[d + AT_RZ + lane]
        sx, sy, sz = rx - before[o + S[4] + lane], ry - before[o + S[5] + lane], rz - before[o + S[6] + lane]
        yx, yy, yz = rx - s[S[20] + lane], ry - s[S[21] + lane], rz - s[S[22] + lane]
        s[S[23] + lane] += dr * (sx * yx + sy * yy + sz * yz)
        s[S[24] + lane] += dr * (yx * yx + yy * yy + yz * yz)


@device
def fold(s, at):
    """Sum of one field of scratch over the lanes, which it overwrites."""
    width = W
    while width > U(1):
        width >>= U(1)
        for lane in range(width):
            s[at + lane] += s[at + width + lane]
    return s[at]


@device
def sampling(blocks):
    """Mask of the blocks that count in the momentum sums: of many every fourth tells them well enough, in a quarter of the time."""
    return 0 if blocks < 64 else 3


@device
def sweep_blocks(packed, blocks, momentum, first, last, sampled, beta, keeps, soft, s):
    """Sweep blocks of one colour once.

    ``s`` is scratch of ``SCRATCH`` numbers, ``soft`` the softness of the friction and rolling rows. With ``keeps`` impulses are
    extrapolated by ``beta`` and kept, and ``momentum.sums`` receives two numbers of each ``sampled`` block (a mask of block numbers): its
    parts of ``(x - y) D (x - x_before)`` and ``(x - y) D (x - y)``.
    """
    body, lane_a, lane_b, data, fields = packed.body, blocks.lane_a, blocks.lane_b, blocks.data, blocks.fields
    before, sums = momentum.before, momentum.sums
    rolling = fields > RX
    kept = 7 if rolling else 4
    for k in range(first, last):
        d = U(k * fields) * W
        fetch_part(packed, blocks, momentum, k, kept if keeps else 0, U(0))
        load_bodies(body, lane_a, lane_b, U(k) * W, s)
        for lane in range(W):  # the impulses this sweep starts from, in scratch 16-22
            s[S[16] + lane] = data[d + AT_PN + lane]
            s[S[17] + lane] = data[d + AT_PX + lane]
            s[S[18] + lane] = data[d + AT_PY + lane]
            s[S[19] + lane] = data[d + AT_PZ + lane]
        if rolling:
            for lane in range(W):
                s[S[20] + lane] = data[d + AT_RX + lane]
                s[S[21] + lane] = data[d + AT_RY + lane]
                s[S[22] + lane] = data[d + AT_RZ + lane]
        fetch_part(packed, blocks, momentum, k, kept if keeps else 0, U(1))
        if keeps:
            o = U(k * kept) * W
            for lane in range(U(kept) * W):
                p = s[S[16] + lane]
                y = p + beta * (p - before[o + lane])
                before[o + lane] = p
                s[S[16] + lane] = y
        fetch_part(packed, blocks, momentum, k, kept if keeps else 0, U(2))
        for lane in range(W):
            nx, ny, nz = data[d + AT_NX + lane], data[d + AT_NY + lane], data[d + AT_NZ + lane]
            arm = data[d + AT_ARM + lane]
            ima, imb = s[S[6] + lane], s[S[14] + lane]
            px, py, pz = s[S[17] + lane], s[S[18] + lane], s[S[19] + lane]
            pn = s[S[16] + lane]
            ux, uy, uz = s[S[8] + lane] - s[lane], s[S[9] + lane] - s[S[1] + lane], s[S[10] + lane] - s[S[2] + lane]
            un = ux * nx + uy * ny + uz * nz
            # normal row
            new = pushed(pn, un, data[d + AT_TARGET + lane], data[d + AT_SOFTNESS + lane], data[d + AT_INV_DN + lane])
            # tangential velocity at the contact point, u - n (n.u) - kappa (Omega_a + Omega_b) x n
            ax, ay, az = (
                arm * (s[S[3] + lane] + s[S[11] + lane]),
                arm * (s[S[4] + lane] + s[S[12] + lane]),
                arm * (s[S[5] + lane] + s[S[13] + lane]),
            )
            tx = ux - un * nx - (ay * nz - az * ny)
            ty = uy - un * ny - (az * nx - ax * nz)
            tz = uz - un * nz - (ax * ny - ay * nx)
            qx, qy, qz = stepped(px, py, pz, tx, ty, tz, soft, data[d + AT_INV_DT + lane])
            qx, qy, qz = into_cone_by_lanes(qx, qy, qz, data[d + AT_MU + lane] * new)
            data[d + AT_PN + lane] = new
            data[d + AT_PX + lane] = qx
            data[d + AT_PY + lane] = qy
            data[d + AT_PZ + lane] = qz
            # velocities
            cn = new - pn
            cx, cy, cz = qx - px, qy - py, qz - pz
            ix, iy, iz = cn * nx + cx, cn * ny + cy, cn * nz + cz
            s[lane] -= ima * ix
            s[S[1] + lane] -= ima * iy
            s[S[2] + lane] -= ima * iz
            s[S[8] + lane] += imb * ix
            s[S[9] + lane] += imb * iy
            s[S[10] + lane] += imb * iz
            wx, wy, wz = 2.5 * arm * (ny * cz - nz * cy), 2.5 * arm * (nz * cx - nx * cz), 2.5 * arm * (nx * cy - ny * cx)
            s[S[3] + lane] -= ima * wx
            s[S[4] + lane] -= ima * wy
            s[S[5] + lane] -= ima * wz
            s[S[11] + lane] -= imb * wx
            s[S[12] + lane] -= imb * wy
            s[S[13] + lane] -= imb * wz
        fetch_part(packed, blocks, momentum, k, kept if keeps else 0, U(3))
        if rolling:
            for lane in range(W):
                ima, imb, ira, irb = s[S[6] + lane], s[S[14] + lane], s[S[7] + lane], s[S[15] + lane]
                px, py, pz = s[S[20] + lane], s[S[21] + lane], s[S[22] + lane]
                wx = s[S[11] + lane] * irb - s[S[3] + lane] * ira
                wy = s[S[12] + lane] * irb - s[S[4] + lane] * ira
                wz = s[S[13] + lane] * irb - s[S[5] + lane] * ira
                qx, qy, qz = stepped(px, py, pz, wx, wy, wz, soft, data[d + AT_INV_DR + lane])
                qx, qy, qz = into_cone_by_lanes(qx, qy, qz, data[d + AT_MU_R + lane] * data[d + AT_PN + lane])
                data[d + AT_RX + lane] = qx
                data[d + AT_RY + lane] = qy
                data[d + AT_RZ + lane] = qz
                ta, tb = 2.5 * ima * ira, 2.5 * imb * irb
                s[S[3] + lane] -= ta * (qx - px)
                s[S[4] + lane] -= ta * (qy - py)
                s[S[5] + lane] -= ta * (qz - pz)
                s[S[11] + lane] += tb * (qx - px)
                s[S[12] + lane] += tb * (qy - py)
                s[S[13] + lane] += tb * (qz - pz)
        store_bodies(body, lane_a, lane_b, U(k) * W, s)
        if keeps and k & sampled == 0:
            o = U(k * kept) * W
            step_sums(data, before, d, o, s)
            if rolling:
                add_rolling_step_sums(data, before, d, o, s)
            sums[2 * k], sums[2 * k + 1] = fold(s, S[23]), fold(s, S[24])


@device
def add_to_sphere(body, o, sign, j, t, r):
    """Add sign times an impulse j and a rolling impulse r, and the turn t that friction gives both bodies alike."""
    m = body[o + INV_MASS]
    if m == 0.0:
        return
    f, g = sign * m, sign * m * 2.5 * body[o + INV_RADIUS]
    body[o] += f * j[0]
    body[o + 1] += f * j[1]
    body[o + 2] += f * j[2]
    body[o + OX] += m * t[0] + g * r[0]
    body[o + OX + 1] += m * t[1] + g * r[1]
    body[o + OX + 2] += m * t[2] + g * r[2]


@device
def apply(packed, blocks, place):
    """Add the impulses of one contact to the velocities of its bodies."""
    data = blocks.data
    d = at(place, blocks.fields)
    nx, ny, nz = normal_at(data, d)
    pn = data[d + PN * LANES]
    px, py, pz = data[d + PX * LANES], data[d + PY * LANES], data[d + PZ * LANES]
    rx, ry, rz = 0.0, 0.0, 0.0
    if blocks.fields > RX:
        rx, ry, rz = data[d + RX * LANES], data[d + RY * LANES], data[d + RZ * LANES]
    f = -2.5 * data[d + ARM * LANES]
    j = pn * nx + px, pn * ny + py, pn * nz + pz
    t = f * (ny * pz - nz * py), f * (nz * px - nx * pz), f * (nx * py - ny * px)
    add_to_sphere(packed.body, np.int64(blocks.lane_a[place]) * BODY, -1.0, j, t, (rx, ry, rz))
    add_to_sphere(packed.body, np.int64(blocks.lane_b[place]) * BODY, 1.0, j, t, (rx, ry, rz))
