"""Contacts of bodies with full inertia, dynamic ones of the scene and those made of grains: swept one by one.

Each row is swept with the newest velocities (physics 4). Spheres that found no colour, are visited in another order than by colour, or have
box friction, are swept by the same functions.
"""

from __future__ import annotations

import numpy as np

from ..._jit import device
from ..blocks import ARM, BODY, INV_DN, INV_DR, INV_DT, INV_MASS, INV_RADIUS, LANES, MU, MU_R, PN, PX, RX, SOFTNESS, TARGET, at
from ..projections import bounded, pushed, stepped
from .contact import arms, full_bodies, listed, normal_at, relative_velocity, row_softness, strike, turn_against, twist


@device
def row_weight(packed, slot, full, arm, t):
    """t.(M^-1 of a push along t at the lever arm): one body's part of the diagonal D of a row [1/kg]."""
    dx, dy, dz = arm
    tx, ty, tz = t
    o = slot * BODY
    cx, cy, cz = dy * tz - dz * ty, dz * tx - dx * tz, dx * ty - dy * tx
    wx, wy, wz = twist(packed, slot, full, cx, cy, cz)
    f = packed.body[o + INV_RADIUS]  # from packed spin to spin
    return packed.body[o + INV_MASS] + f * (cx * wx + cy * wy + cz * wz)


@device
def turn_weight(packed, slot, full, t):
    """The same for a rolling row about the axis t [1/(kg m^2)]."""
    tx, ty, tz = t
    wx, wy, wz = twist(packed, slot, full, tx, ty, tz)
    return packed.body[slot * BODY + INV_RADIUS] * (tx * wx + ty * wy + tz * wz)


@device
def ahead_of(before, o, k, x, beta, keeps):
    """Impulse x ahead of the last two iterates by beta; the newest is kept, as number k of the contact at o."""
    if not keeps:
        return x
    y = x + beta * (x - before[o + k * LANES])
    before[o + k * LANES] = x
    return y


@device
def sweep_contact(packed, blocks, levers, before, place, beta, keeps, soft):
    """Update one contact (normal, friction, rolling); returns its parts of the two momentum sums.

    ``keeps``: impulses are extrapolated by ``beta``, and those of this iterate kept in ``before``. ``soft`` is the softness of the friction
    and rolling rows (``row_softness``).
    """
    body, data = packed.body, blocks.data
    d = at(place, blocks.fields)
    rolling = blocks.fields > RX
    o = at(place, 7 if rolling else 4)
    a, b = np.int64(blocks.lane_a[place]), np.int64(blocks.lane_b[place])
    n = normal_at(data, d)
    nx, ny, nz = n
    q = listed(blocks, levers, place)
    full = full_bodies(levers, q)
    arm = arms(packed, levers, a, b, n, data[d + ARM * LANES], q)
    ahead, square = 0.0, 0.0

    # normal row
    x = data[d + PN * LANES]
    y = ahead_of(before, o, 0, x, beta, keeps)
    ux, uy, uz, wx, wy, wz = relative_velocity(body, a, b, arm)
    gap_rate = ux * nx + uy * ny + uz * nz
    pn = pushed(y, gap_rate, data[d + TARGET * LANES], data[d + SOFTNESS * LANES], data[d + INV_DN * LANES])
    data[d + PN * LANES] = pn
    strike(packed, a, b, full, arm, ((pn - y) * nx, (pn - y) * ny, (pn - y) * nz))
    ahead += (pn - x) * (pn - y) / data[d + INV_DN * LANES]
    square += (pn - y) * (pn - y) / data[d + INV_DN * LANES]

    # friction: both tangential rows at once; a sphere's two have the same D, a full body's the larger one
    p = d + PX * LANES
    xx, xy, xz = data[p], data[p + LANES], data[p + 2 * LANES]
    yx, yy, yz = (
        ahead_of(before, o, 1, xx, beta, keeps),
        ahead_of(before, o, 2, xy, beta, keeps),
        ahead_of(before, o, 3, xz, beta, keeps),
    )
    ux, uy, uz, wx, wy, wz = relative_velocity(body, a, b, arm)
    gap_rate = ux * nx + uy * ny + uz * nz
    it = data[d + INV_DT * LANES]
    gives = row_softness(soft, it, q)
    zx, zy, zz = stepped(yx, yy, yz, ux - gap_rate * nx, uy - gap_rate * ny, uz - gap_rate * nz, gives, it)
    zx, zy, zz = bounded(zx, zy, zz, nx, ny, nz, data[d + MU * LANES] * pn, blocks.box, False)
    data[p], data[p + LANES], data[p + 2 * LANES] = zx, zy, zz
    strike(packed, a, b, full, arm, (zx - yx, zy - yy, zz - yz))
    ahead += ((zx - xx) * (zx - yx) + (zy - xy) * (zy - yy) + (zz - xz) * (zz - yz)) / it
    square += ((zx - yx) ** 2 + (zy - yy) ** 2 + (zz - yz) ** 2) / it

    if rolling:
        p = d + RX * LANES
        xx, xy, xz = data[p], data[p + LANES], data[p + 2 * LANES]
        yx, yy, yz = (
            ahead_of(before, o, 4, xx, beta, keeps),
            ahead_of(before, o, 5, xy, beta, keeps),
            ahead_of(before, o, 6, xz, beta, keeps),
        )
        ux, uy, uz, wx, wy, wz = relative_velocity(body, a, b, arm)
        ir = data[d + INV_DR * LANES]
        zx, zy, zz = stepped(yx, yy, yz, wx, wy, wz, row_softness(soft, ir, q), ir)
        zx, zy, zz = bounded(zx, zy, zz, nx, ny, nz, data[d + MU_R * LANES] * pn, blocks.box, True)
        data[p], data[p + LANES], data[p + 2 * LANES] = zx, zy, zz
        turn_against(packed, a, b, full, (zx - yx, zy - yy, zz - yz))
        ahead += ((zx - xx) * (zx - yx) + (zy - xy) * (zy - yy) + (zz - xz) * (zz - yz)) / ir
        square += ((zx - yx) ** 2 + (zy - yy) ** 2 + (zz - yz) ** 2) / ir
    return ahead, square


@device
def apply(packed, blocks, levers, place):
    """Add the impulses of one contact to the velocities of its bodies."""
    data = blocks.data
    d = at(place, blocks.fields)
    a, b = np.int64(blocks.lane_a[place]), np.int64(blocks.lane_b[place])
    n = normal_at(data, d)
    q = listed(blocks, levers, place)
    full = full_bodies(levers, q)
    pn = data[d + PN * LANES]
    px, py, pz = data[d + PX * LANES], data[d + (PX + 1) * LANES], data[d + (PX + 2) * LANES]
    arm = arms(packed, levers, a, b, n, data[d + ARM * LANES], q)
    strike(packed, a, b, full, arm, (pn * n[0] + px, pn * n[1] + py, pn * n[2] + pz))
    if blocks.fields > RX:
        turn_against(packed, a, b, full, (data[d + RX * LANES], data[d + (RX + 1) * LANES], data[d + (RX + 2) * LANES]))
