"""Rows of one contact at a time: the plain sweep for serial blocks, any order, box friction and bodies with full inertia.

It reads and writes the same blocks as the vectorised sweep. A contact of a body with full inertia (a dynamic wall) carries its two
lever arms and takes its rows one by one, each with the newest velocities (physics 4).
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import device
from .blocks import (
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
)


@device
def tangents(nx, ny, nz):
    """Two unit vectors that complete n to a right-handed basis."""
    sign = 1.0 if nz >= 0.0 else -1.0
    f = -1.0 / (sign + nz)
    g = nx * ny * f
    return 1.0 + sign * nx * nx * f, sign * g, -sign * nx, g, sign + ny * ny * f, -ny


@device
def into_cone(x, y, z, bound):
    """The vector scaled back to length ``bound``."""
    square = x * x + y * y + z * z
    if square > bound * bound:
        f = bound / math.sqrt(square)
        return x * f, y * f, z * f
    return x, y, z


@device
def into_box(x, y, z, nx, ny, nz, bound, with_normal):
    """Each component along the two tangents (and the normal) clamped to +-bound."""
    ax, ay, az, bx, by, bz = tangents(nx, ny, nz)
    s = min(max(x * ax + y * ay + z * az, -bound), bound)
    t = min(max(x * bx + y * by + z * bz, -bound), bound)
    u = min(max(x * nx + y * ny + z * nz, -bound), bound) if with_normal else 0.0
    return s * ax + t * bx + u * nx, s * ay + t * by + u * ny, s * az + t * bz + u * nz


@device
def bounded(x, y, z, nx, ny, nz, bound, box, with_normal):
    """A friction (or, with the normal, rolling) impulse brought inside its bound."""
    if box:
        return into_box(x, y, z, nx, ny, nz, bound, with_normal)
    return into_cone(x, y, z, bound)


@device
def push(body, slot, jx, jy, jz, wx, wy, wz, sign):
    """Add an impulse [N s] and r times a spin change to the velocities of a packed body."""
    o = slot * BODY
    m = sign * body[o + INV_MASS]
    body[o] += m * jx
    body[o + 1] += m * jy
    body[o + 2] += m * jz
    body[o + OX] += wx
    body[o + OX + 1] += wy
    body[o + OX + 2] += wz


@device
def twist(body, slot, full, inverse_inertia, tx, ty, tz):
    """Change of the packed spin (r times spin) by an angular impulse [N m s]."""
    if full >= 0:
        m = inverse_inertia[full]
        return (
            m[0, 0] * tx + m[0, 1] * ty + m[0, 2] * tz,
            m[1, 0] * tx + m[1, 1] * ty + m[1, 2] * tz,
            m[2, 0] * tx + m[2, 1] * ty + m[2, 2] * tz,
        )
    o = slot * BODY
    f = 2.5 * body[o + INV_MASS] * body[o + INV_RADIUS]
    return f * tx, f * ty, f * tz


@device
def listed(place, serial_start, full):
    """Number of a contact in the list of lever arms; -1 for spheres."""
    q = np.int64(place) - serial_start
    return q if q >= 0 and (full[q, 0] >= 0 or full[q, 1] >= 0) else np.int64(-1)


@device
def arms(body, a, b, nx, ny, nz, kappa, q, lever):
    """Lever arms of both bodies [m]; those of spheres follow from the normal (q < 0)."""
    if q >= 0:
        return lever[q, 0], lever[q, 1], lever[q, 2], lever[q, 3], lever[q, 4], lever[q, 5]
    ra, rb = body[a * BODY + INV_RADIUS], body[b * BODY + INV_RADIUS]
    fa, fb = kappa / ra, -kappa / rb
    return fa * nx, fa * ny, fa * nz, fb * nx, fb * ny, fb * nz


@device
def relative_velocity(body, a, b, ax, ay, az, bx, by, bz):
    """Velocity of b against a at the contact point [m/s], and b's spin against a's [rad/s]."""
    p, q = a * BODY, b * BODY
    ra, rb = body[p + INV_RADIUS], body[q + INV_RADIUS]
    wax, way, waz = body[p + 3] * ra, body[p + 4] * ra, body[p + 5] * ra
    wbx, wby, wbz = body[q + 3] * rb, body[q + 4] * rb, body[q + 5] * rb
    ux = body[q] + wby * bz - wbz * by - body[p] - (way * az - waz * ay)
    uy = body[q + 1] + wbz * bx - wbx * bz - body[p + 1] - (waz * ax - wax * az)
    uz = body[q + 2] + wbx * by - wby * bx - body[p + 2] - (wax * ay - way * ax)
    return ux, uy, uz, wbx - wax, wby - way, wbz - waz


@device
def strike(body, a, b, fa, fb, inverse_inertia, ax, ay, az, bx, by, bz, jx, jy, jz):
    """Apply the impulse j [N s] on b, -j on a, at the contact point."""
    wx, wy, wz = twist(body, a, fa, inverse_inertia, ay * jz - az * jy, az * jx - ax * jz, ax * jy - ay * jx)
    push(body, a, jx, jy, jz, -wx, -wy, -wz, -1.0)
    wx, wy, wz = twist(body, b, fb, inverse_inertia, by * jz - bz * jy, bz * jx - bx * jz, bx * jy - by * jx)
    push(body, b, jx, jy, jz, wx, wy, wz, 1.0)


@device
def turn_against(body, a, b, fa, fb, inverse_inertia, tx, ty, tz):
    """Apply the angular impulse t [N m s] on b, -t on a."""
    wx, wy, wz = twist(body, a, fa, inverse_inertia, tx, ty, tz)
    push(body, a, 0.0, 0.0, 0.0, -wx, -wy, -wz, -1.0)
    wx, wy, wz = twist(body, b, fb, inverse_inertia, tx, ty, tz)
    push(body, b, 0.0, 0.0, 0.0, wx, wy, wz, 1.0)


@device
def row_weight(body, slot, full, inverse_inertia, dx, dy, dz, tx, ty, tz):
    """t.(M^-1 of a push along t at lever d): one body's part of the diagonal D of a row [1/kg]."""
    o = slot * BODY
    cx, cy, cz = dy * tz - dz * ty, dz * tx - dx * tz, dx * ty - dy * tx
    wx, wy, wz = twist(body, slot, full, inverse_inertia, cx, cy, cz)
    f = body[o + INV_RADIUS]  # from packed spin to spin
    return body[o + INV_MASS] + f * (cx * wx + cy * wy + cz * wz)


@device
def turn_weight(body, slot, full, inverse_inertia, tx, ty, tz):
    """The same for a rolling row about the axis t [1/(kg m^2)]."""
    wx, wy, wz = twist(body, slot, full, inverse_inertia, tx, ty, tz)
    return body[slot * BODY + INV_RADIUS] * (tx * wx + ty * wy + tz * wz)


@device
def sweep_contact(
    body,
    lane_a,
    lane_b,
    data,
    before,
    fields,
    place,
    serial_start,
    lever,
    full,
    inverse_inertia,
    beta,
    momentum,
    soft_t,
    soft_r,
    box,
):
    """Update one contact (normal, friction, rolling); returns its parts of the two momentum sums."""
    block, lane = place // LANES, place % LANES
    d = block * fields * LANES + lane
    rolling = fields > RX
    a, b = np.int64(lane_a[place]), np.int64(lane_b[place])
    nx, ny, nz = data[d + NX * LANES], data[d + NY * LANES], data[d + NZ * LANES]
    q = listed(place, serial_start, full)
    fa, fb = np.int64(-1), np.int64(-1)
    if q >= 0:
        fa, fb = np.int64(full[q, 0]), np.int64(full[q, 1])
    ax, ay, az, bx, by, bz = arms(body, a, b, nx, ny, nz, data[d + ARM * LANES], q, lever)
    ahead, square = 0.0, 0.0
    kept = 7 if rolling else 4
    o = block * kept * LANES + lane

    # normal row
    x = data[d + PN * LANES]
    y = x
    if momentum:
        y = x + beta * (x - before[o])
        before[o] = x
    ux, uy, uz, wx, wy, wz = relative_velocity(body, a, b, ax, ay, az, bx, by, bz)
    gap_rate = ux * nx + uy * ny + uz * nz
    pn = max(0.0, y + (data[d + TARGET * LANES] - data[d + SOFTNESS * LANES] * y - gap_rate) * data[d + INV_DN * LANES])
    data[d + PN * LANES] = pn
    strike(body, a, b, fa, fb, inverse_inertia, ax, ay, az, bx, by, bz, (pn - y) * nx, (pn - y) * ny, (pn - y) * nz)
    ahead += (pn - x) * (pn - y) / data[d + INV_DN * LANES]
    square += (pn - y) * (pn - y) / data[d + INV_DN * LANES]

    # friction: both tangential rows at once; a sphere's two have the same D, a full body's the larger one
    p = d + PX * LANES
    xx, xy, xz = data[p], data[p + LANES], data[p + 2 * LANES]
    yx, yy, yz = xx, xy, xz
    if momentum:
        yx = xx + beta * (xx - before[o + LANES])
        yy = xy + beta * (xy - before[o + 2 * LANES])
        yz = xz + beta * (xz - before[o + 3 * LANES])
        before[o + LANES], before[o + 2 * LANES], before[o + 3 * LANES] = xx, xy, xz
    ux, uy, uz, wx, wy, wz = relative_velocity(body, a, b, ax, ay, az, bx, by, bz)
    gap_rate = ux * nx + uy * ny + uz * nz
    it = data[d + INV_DT * LANES]
    zx = yx - (ux - gap_rate * nx + soft_t * yx) * it
    zy = yy - (uy - gap_rate * ny + soft_t * yy) * it
    zz = yz - (uz - gap_rate * nz + soft_t * yz) * it
    zx, zy, zz = bounded(zx, zy, zz, nx, ny, nz, data[d + MU * LANES] * pn, box, False)
    data[p], data[p + LANES], data[p + 2 * LANES] = zx, zy, zz
    strike(body, a, b, fa, fb, inverse_inertia, ax, ay, az, bx, by, bz, zx - yx, zy - yy, zz - yz)
    ahead += ((zx - xx) * (zx - yx) + (zy - xy) * (zy - yy) + (zz - xz) * (zz - yz)) / it
    square += ((zx - yx) ** 2 + (zy - yy) ** 2 + (zz - yz) ** 2) / it

    if rolling:
        p = d + RX * LANES
        xx, xy, xz = data[p], data[p + LANES], data[p + 2 * LANES]
        yx, yy, yz = xx, xy, xz
        if momentum:
            yx = xx + beta * (xx - before[o + 4 * LANES])
            yy = xy + beta * (xy - before[o + 5 * LANES])
            yz = xz + beta * (xz - before[o + 6 * LANES])
            before[o + 4 * LANES], before[o + 5 * LANES], before[o + 6 * LANES] = xx, xy, xz
        ux, uy, uz, wx, wy, wz = relative_velocity(body, a, b, ax, ay, az, bx, by, bz)
        ir = data[d + INV_DR * LANES]
        zx, zy, zz = yx - (wx + soft_r * yx) * ir, yy - (wy + soft_r * yy) * ir, yz - (wz + soft_r * yz) * ir
        zx, zy, zz = bounded(zx, zy, zz, nx, ny, nz, data[d + MU_R * LANES] * pn, box, True)
        data[p], data[p + LANES], data[p + 2 * LANES] = zx, zy, zz
        turn_against(body, a, b, fa, fb, inverse_inertia, zx - yx, zy - yy, zz - yz)
        ahead += ((zx - xx) * (zx - yx) + (zy - xy) * (zy - yy) + (zz - xz) * (zz - yz)) / ir
        square += ((zx - yx) ** 2 + (zy - yy) ** 2 + (zz - yz) ** 2) / ir
    return ahead, square
