"""What contacts of all bodies have in common: lever arms, velocities, impulses on bodies, the residual, work and rows of one contact.

``place`` is the lane of a contact. Spheres have lever arms along the normal; a contact of a body with full inertia (a dynamic
one of the scene, or one made of grains) has its two arms in a list.
"""

from __future__ import annotations

import math

import numpy as np

from ..._jit import device
from ...machines.linked import linked
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
    RX,
    SOFTNESS,
    TARGET,
    at,
)
from ..projections import bounded, pushed, stepped
from .links import push_link

SOFTEST = 1e-6  # of the weight of a friction or rolling row of a body with full inertia: what of it may give way at most


@device
def push(body, slot, j, w, sign):
    """Add an impulse j [N s] and r times a spin change to the velocities of a packed body."""
    o = slot * BODY
    m = sign * body[o + INV_MASS]
    body[o] += m * j[0]
    body[o + 1] += m * j[1]
    body[o + 2] += m * j[2]
    body[o + OX] += w[0]
    body[o + OX + 1] += w[1]
    body[o + OX + 2] += w[2]


@device
def twist(packed, slot, full, tx, ty, tz):
    """Change of the packed spin (r times spin) by an angular impulse [N m s]."""
    if full >= 0:
        m = packed.inverse_inertia[full]
        return (
            m[0, 0] * tx + m[0, 1] * ty + m[0, 2] * tz,
            m[1, 0] * tx + m[1, 1] * ty + m[1, 2] * tz,
            m[2, 0] * tx + m[2, 1] * ty + m[2, 2] * tz,
        )
    o = slot * BODY
    f = 2.5 * packed.body[o + INV_MASS] * packed.body[o + INV_RADIUS]
    return f * tx, f * ty, f * tz


@device
def listed(blocks, levers, place):
    """Number of a contact in the list of lever arms; -1 for spheres."""
    q = np.int64(place) - blocks.serial_start
    return q if q >= 0 and (levers.full[q, 0] >= 0 or levers.full[q, 1] >= 0) else np.int64(-1)


@device
def friction_softness(packed, soft, a, b, q):
    """Softness of the friction rows of two bodies: ``soft``, which suits grains, but ``SOFTEST`` of what a push between the two would weigh
    if no joint held them, where lever arms are listed (q >= 0): under a tonne of load friction would give way by 10 mm/s."""
    return min(soft, SOFTEST * free_weight(packed, a, b)) if q >= 0 else soft


@device
def free_weight(packed, a, b):
    """What a push between two bodies through their centres would weigh if no joint held them [1/kg]."""
    return packed.body[a * BODY + INV_MASS] + packed.body[b * BODY + INV_MASS]


@device
def rolling_softness(soft, inverse, q):
    """The same of rolling rows with 1/D ``inverse``."""
    return min(soft, SOFTEST / inverse) if q >= 0 else soft


@device
def full_bodies(levers, q):
    """Numbers of a and b among the bodies with full inertia; -1 for spheres."""
    if q >= 0:
        return np.int64(levers.full[q, 0]), np.int64(levers.full[q, 1])
    return np.int64(-1), np.int64(-1)


@device
def arms(packed, levers, a, b, n, kappa, q):
    """Lever arms of both bodies [m], six numbers; those of spheres follow from the normal (q < 0)."""
    if q >= 0:
        arm = levers.arm
        return arm[q, 0], arm[q, 1], arm[q, 2], arm[q, 3], arm[q, 4], arm[q, 5]
    ra, rb = packed.body[a * BODY + INV_RADIUS], packed.body[b * BODY + INV_RADIUS]
    fa, fb = kappa / ra, -kappa / rb
    return fa * n[0], fa * n[1], fa * n[2], fb * n[0], fb * n[1], fb * n[2]


@device
def normal_at(data, d):
    """n of the contact whose numbers start at d."""
    return data[d + NX * LANES], data[d + NY * LANES], data[d + NZ * LANES]


@device
def relative_velocity(body, a, b, arm):
    """Velocity of b against a at the contact point [m/s], and b's spin against a's [rad/s]."""
    ax, ay, az, bx, by, bz = arm
    p, q = a * BODY, b * BODY
    ra, rb = body[p + INV_RADIUS], body[q + INV_RADIUS]
    wax, way, waz = body[p + 3] * ra, body[p + 4] * ra, body[p + 5] * ra
    wbx, wby, wbz = body[q + 3] * rb, body[q + 4] * rb, body[q + 5] * rb
    ux = body[q] + wby * bz - wbz * by - body[p] - (way * az - waz * ay)
    uy = body[q + 1] + wbz * bx - wbx * bz - body[p + 1] - (waz * ax - wax * az)
    uz = body[q + 2] + wbx * by - wby * bx - body[p + 2] - (wax * ay - way * ax)
    return ux, uy, uz, wbx - wax, wby - way, wbz - waz


@device
def separation_speed(packed, levers, a, b, n, q):
    """n.u of a contact [m/s], > 0 when the two part; q >= 0: its lever arms are listed."""
    body = packed.body
    p, o = a * BODY, b * BODY
    nx, ny, nz = n
    if q < 0:
        return (body[o] - body[p]) * nx + (body[o + 1] - body[p + 1]) * ny + (body[o + 2] - body[p + 2]) * nz
    ux, uy, uz, _, _, _ = relative_velocity(body, a, b, arms(packed, levers, a, b, n, 1.0, q))
    return ux * nx + uy * ny + uz * nz


@device
def strike(packed, a, b, full, arm, j):
    """Apply the impulse j [N s] on b, -j on a, at the contact point."""
    ax, ay, az, bx, by, bz = arm
    jx, jy, jz = j
    if linked(packed.links, full[0]):
        t = -(ay * jz - az * jy), -(az * jx - ax * jz), -(ax * jy - ay * jx)
        push_link(packed.links, packed.body, packed.first_full, full[0], (-jx, -jy, -jz), t)
    else:
        wx, wy, wz = twist(packed, a, full[0], ay * jz - az * jy, az * jx - ax * jz, ax * jy - ay * jx)
        push(packed.body, a, j, (-wx, -wy, -wz), -1.0)
    if linked(packed.links, full[1]):
        t = by * jz - bz * jy, bz * jx - bx * jz, bx * jy - by * jx
        push_link(packed.links, packed.body, packed.first_full, full[1], j, t)
    else:
        w = twist(packed, b, full[1], by * jz - bz * jy, bz * jx - bx * jz, bx * jy - by * jx)
        push(packed.body, b, j, w, 1.0)


@device
def turn_against(packed, a, b, full, t):
    """Apply the angular impulse t [N m s] on b, -t on a."""
    nothing = (0.0, 0.0, 0.0)
    if linked(packed.links, full[0]):
        push_link(packed.links, packed.body, packed.first_full, full[0], nothing, (-t[0], -t[1], -t[2]))
    else:
        wx, wy, wz = twist(packed, a, full[0], t[0], t[1], t[2])
        push(packed.body, a, nothing, (-wx, -wy, -wz), -1.0)
    if linked(packed.links, full[1]):
        push_link(packed.links, packed.body, packed.first_full, full[1], nothing, (t[0], t[1], t[2]))
    else:
        push(packed.body, b, nothing, twist(packed, b, full[1], t[0], t[1], t[2]), 1.0)


@device
def residual(packed, blocks, levers, place):
    """Normal, friction and rolling residual of one contact [m/s, m/s, rad/s]: D times the change that a projected update would make."""
    data, soft = blocks.data, blocks.soft_t
    d = at(place, blocks.fields)
    a, b = np.int64(blocks.lane_a[place]), np.int64(blocks.lane_b[place])
    n = normal_at(data, d)
    nx, ny, nz = n
    q = listed(blocks, levers, place)
    arm = arms(packed, levers, a, b, n, data[d + ARM * LANES], q)
    ux, uy, uz, wx, wy, wz = relative_velocity(packed.body, a, b, arm)
    gap_rate = ux * nx + uy * ny + uz * nz
    x, inverse = data[d + PN * LANES], data[d + INV_DN * LANES]
    moved = pushed(x, gap_rate, data[d + TARGET * LANES], data[d + SOFTNESS * LANES], inverse)
    normal = abs(moved - x) / inverse

    p, inverse = d + PX * LANES, data[d + INV_DT * LANES]
    xx, xy, xz = data[p], data[p + LANES], data[p + 2 * LANES]
    gives = friction_softness(packed, soft, a, b, q)
    zx, zy, zz = stepped(xx, xy, xz, ux - gap_rate * nx, uy - gap_rate * ny, uz - gap_rate * nz, gives, inverse)
    zx, zy, zz = bounded(zx, zy, zz, nx, ny, nz, data[d + MU * LANES] * x, blocks.box, False)
    friction = math.sqrt((zx - xx) ** 2 + (zy - xy) ** 2 + (zz - xz) ** 2) / inverse

    rolling = 0.0
    if blocks.fields > RX:
        p, inverse = d + RX * LANES, data[d + INV_DR * LANES]
        xx, xy, xz = data[p], data[p + LANES], data[p + 2 * LANES]
        zx, zy, zz = stepped(xx, xy, xz, wx, wy, wz, rolling_softness(soft, inverse, q), inverse)
        zx, zy, zz = bounded(zx, zy, zz, nx, ny, nz, data[d + MU_R * LANES] * x, blocks.box, True)
        rolling = math.sqrt((zx - xx) ** 2 + (zy - xy) ** 2 + (zz - xz) ** 2) / inverse
    return normal, friction, rolling


@device
def friction_work(packed, blocks, levers, place):
    """Work [J] of friction and rolling resistance on the two bodies, with their velocities after the solve."""
    data, d = blocks.data, at(place, blocks.fields)
    a, b, n = np.int64(blocks.lane_a[place]), np.int64(blocks.lane_b[place]), normal_at(data, d)
    arm = arms(packed, levers, a, b, n, data[d + ARM * LANES], listed(blocks, levers, place))
    ux, uy, uz, wx, wy, wz = relative_velocity(packed.body, a, b, arm)
    p = d + PX * LANES
    work = data[p] * ux + data[p + LANES] * uy + data[p + 2 * LANES] * uz
    if blocks.fields > RX:
        p = d + RX * LANES
        work += data[p] * wx + data[p + LANES] * wy + data[p + 2 * LANES] * wz
    return work


@device
def work(packed, blocks, place):
    """Work [J] that what does not yield (driven walls, belts, grains that they hold) does on a body that does, through one contact."""
    body, data = packed.body, blocks.data
    b_slot = blocks.lane_b[place]
    a, b = np.int64(blocks.lane_a[place]) * BODY, np.int64(b_slot) * BODY
    pushed_a = body[a + INV_MASS] > 0.0
    pushed_b = b_slot < packed.yielding and body[b + INV_MASS] > 0.0
    if pushed_a == pushed_b:
        return 0.0
    d = at(place, blocks.fields)
    nx, ny, nz = normal_at(data, d)
    o, sign, kappa = (a, 1.0, data[d + ARM * LANES]) if pushed_b else (b, -1.0, -data[d + ARM * LANES])
    wx, wy, wz = body[o + 3], body[o + 4], body[o + 5]
    ux = body[o] + kappa * (wy * nz - wz * ny)
    uy = body[o + 1] + kappa * (wz * nx - wx * nz)
    uz = body[o + 2] + kappa * (wx * ny - wy * nx)
    pn = data[d + PN * LANES]
    part = (pn * nx + data[d + PX * LANES]) * ux
    part += (pn * ny + data[d + (PX + 1) * LANES]) * uy
    part += (pn * nz + data[d + (PX + 2) * LANES]) * uz
    if blocks.fields > RX:
        f = body[o + INV_RADIUS]
        part += f * (data[d + RX * LANES] * wx + data[d + (RX + 1) * LANES] * wy + data[d + (RX + 2) * LANES] * wz)
    return sign * part


@device
def write_rows(packed, blocks, levers, place, basis, column, still, k, out, start):
    """Rows of G of one contact from entry k on; returns the first entry after them.

    ``out`` are the values, the columns and the drift of the contact's rows, ``start`` where its rows end; ``basis`` (3, 3) are n and two
    tangents, ``column`` (slots,) the number of a body that yields, else -1, ``still`` the packed bodies with those that yield at rest.
    """
    values, columns, drift = out
    rows = 6 if blocks.fields > RX else 3
    a, b = np.int64(blocks.lane_a[place]), np.int64(blocks.lane_b[place])
    q = listed(blocks, levers, place)
    kappa = blocks.data[at(place, blocks.fields) + ARM * LANES]
    arm = arms(packed, levers, a, b, (basis[0, 0], basis[0, 1], basis[0, 2]), kappa, q)
    ax, ay, az, bx, by, bz = arm
    ux, uy, uz, wx, wy, wz = relative_velocity(still, a, b, arm)
    for row in range(rows):
        t = basis[row] if row < 3 else basis[(row - 2) % 3]
        drift[row] = t[0] * ux + t[1] * uy + t[2] * uz if row < 3 else t[0] * wx + t[1] * wy + t[2] * wz
        for side in range(2):
            slot = a if side == 0 else b
            sign = -1.0 if side == 0 else 1.0
            first = np.int64(column[slot]) * 6
            if first < 0:
                continue
            turn = sign * packed.body[slot * BODY + INV_RADIUS]  # from packed spin to spin
            if row < 3:
                for f in range(3):
                    values[k], columns[k] = sign * t[f], first + f
                    k += 1
                if row == 0 and q < 0:  # the normal of spheres has no lever arm
                    continue
                x, y, z = (ax, ay, az) if side == 0 else (bx, by, bz)
                values[k], columns[k] = turn * (y * t[2] - z * t[1]), first + 3
                values[k + 1], columns[k + 1] = turn * (z * t[0] - x * t[2]), first + 4
                values[k + 2], columns[k + 2] = turn * (x * t[1] - y * t[0]), first + 5
                k += 3
            else:
                for f in range(3):
                    values[k], columns[k] = turn * t[f], first + 3 + f
                    k += 1
        start[row] = k
    return k
