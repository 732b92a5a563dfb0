"""Contacts of bodies with full inertia, dynamic ones of the scene and those made of grains: swept one by one.

Each row is swept with the newest velocities (physics 4). Spheres that found no colour, are visited in another order than by colour, or have
box friction, are swept by the same functions.
"""

from __future__ import annotations

import numpy as np

from ..._jit import device
from ...machines.linked import link_weight, linked
from ..blocks import ARM, BODY, INV_DN, INV_DR, INV_DT, INV_MASS, INV_RADIUS, LANES, MU, MU_R, PN, PX, RX, SOFTNESS, TARGET, at
from ..projections import bounded, pushed, stepped, tangents
from .contact import (
    SOFTEST,
    arms,
    free_weight,
    friction_softness,
    full_bodies,
    listed,
    normal_at,
    relative_velocity,
    rolling_softness,
    strike,
    turn_against,
    twist,
)

HELD = 1e-9  # of the weight that a row would have without joints: what weighs less is held by them


@device
def row_weight(packed, slot, full, arm, t):
    """t.(M^-1 of a push along t at the lever arm): one body's part of the diagonal D of a row [1/kg]."""
    dx, dy, dz = arm
    tx, ty, tz = t
    o = slot * BODY
    cx, cy, cz = dy * tz - dz * ty, dz * tx - dx * tz, dx * ty - dy * tx
    if linked(packed.links, full):
        return link_weight(packed.links, full, full, t, (cx, cy, cz), t, (cx, cy, cz))
    wx, wy, wz = twist(packed, slot, full, cx, cy, cz)
    f = packed.body[o + INV_RADIUS]  # from packed spin to spin
    return packed.body[o + INV_MASS] + f * (cx * wx + cy * wy + cz * wz)


@device
def turn_weight(packed, slot, full, t):
    """The same for a rolling row about the axis t [1/(kg m^2)]."""
    tx, ty, tz = t
    if linked(packed.links, full):
        nothing = (0.0, 0.0, 0.0)
        return link_weight(packed.links, full, full, nothing, t, nothing, t)
    wx, wy, wz = twist(packed, slot, full, tx, ty, tz)
    return packed.body[slot * BODY + INV_RADIUS] * (tx * wx + ty * wy + tz * wz)


@device
def lever_weights(packed, levers, q, a, b, n, kappa):
    """D of the normal row, and of the tangential and rolling rows together, without softness, of a contact with listed lever arms.

    0 where joints leave next to nothing to move: a weight is a difference there, and all of it rounding.
    """
    fa, fb = np.int64(levers.full[q, 0]), np.int64(levers.full[q, 1])
    ax, ay, az, bx, by, bz = arms(packed, levers, a, b, n, kappa, q)
    da, db = (ax, ay, az), (bx, by, bz)
    sx, sy, sz, tx, ty, tz = tangents(n[0], n[1], n[2])
    axes = (sx, sy, sz), (tx, ty, tz), n
    wn, wt, wr = 0.0, 0.0, 0.0
    # Loops, not lines: written out, and repeated wherever this is inlined, they would be most of what a machine takes to compile.
    for side in range(2):
        slot, full, arm = (a, fa, da) if side == 0 else (b, fb, db)
        for k in range(3):
            weight = row_weight(packed, slot, full, arm, axes[k])
            if k == 2:
                wn += weight
            else:
                wt += weight  # the trace bounds the coupled rows from above, so that one number is safe for all of them
    for k in range(3):
        turned = 0.0
        for side in range(2):
            turned += turn_weight(packed, a if side == 0 else b, fa if side == 0 else fb, axes[k])
        wr += turned
    if linked(packed.links, fa) and linked(packed.links, fb):  # of one machine they move each other
        nothing = (0.0, 0.0, 0.0)
        for k in range(3):
            axis = axes[k]
            shared = 2.0 * link_weight(packed.links, fa, fb, axis, crossed(da, axis), axis, crossed(db, axis))
            if k < 2:
                wt -= shared
            else:
                wn -= shared
            wr -= 2.0 * link_weight(packed.links, fa, fb, nothing, axis, nothing, axis)
    if linked(packed.links, fa) or linked(packed.links, fb):
        least = HELD * free_weight(packed, a, b)
        wn, wt, wr = wn if wn > least else 0.0, wt if wt > least else 0.0, max(0.0, wr)
    return wn, wt, wr


@device
def softnesses(packed, soft, a, b, wr, radius_eff):
    """Softness in D of the friction and rolling rows of a contact with listed lever arms; the latter weigh wr, and their bodies have the
    effective radius ``radius_eff`` [m]. What joints hold still has some."""
    least = free_weight(packed, a, b) / (radius_eff * radius_eff)
    return friction_softness(packed, soft, a, b, 0), min(soft, SOFTEST * max(wr, least))


@device
def crossed(d, t):
    return d[1] * t[2] - d[2] * t[1], d[2] * t[0] - d[0] * t[2], d[0] * t[1] - d[1] * t[0]


@device
def weigh_links(packed, blocks, levers, found):
    """1/D of all contacts of links, after their mobilities have changed."""
    data, soft = blocks.data, blocks.soft_t
    for q in range(len(levers.full)):
        place = blocks.serial_start + q
        c = blocks.contact_at[place]
        if c < 0 or not (linked(packed.links, np.int64(levers.full[q, 0])) or linked(packed.links, np.int64(levers.full[q, 1]))):
            continue
        d = at(place, blocks.fields)
        a, b = np.int64(blocks.lane_a[place]), np.int64(blocks.lane_b[place])
        wn, wt, wr = lever_weights(packed, levers, q, a, b, normal_at(data, d), data[d + ARM * LANES])
        found.weight[c] = wn
        data[d + INV_DN * LANES] = 1.0 / (wn + data[d + SOFTNESS * LANES])
        soft_t, soft_r = softnesses(packed, soft, a, b, wr, found.radius_eff[c])
        data[d + INV_DT * LANES] = 1.0 / (wt + soft_t)
        if blocks.fields > RX:
            data[d + INV_DR * LANES] = 1.0 / (wr + soft_r)


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
    and rolling rows of grains.
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
    gives = friction_softness(packed, soft, a, b, q)
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
        zx, zy, zz = stepped(yx, yy, yz, wx, wy, wz, rolling_softness(soft, ir, q), ir)
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
