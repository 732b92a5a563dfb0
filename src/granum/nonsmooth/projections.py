"""The update of a row, which sweeps and residuals share: a Gauss-Seidel step, brought back inside its bound (physics 4)."""

from __future__ import annotations

import math

from .._jit import device


@device
def pushed(p, speed, target, softness, inverse):
    """Normal impulse after its update: p + (b - C p - n.u) / D, never pulling."""
    new = p + (target - softness * p - speed) * inverse
    return new if new > 0.0 else 0.0


@device
def stepped(x, y, z, ux, uy, uz, soft, inverse):
    """Friction (or rolling) impulse after its update, p - (u + Sigma p) / D, before its bound is looked at."""
    return x - (ux + soft * x) * inverse, y - (uy + soft * y) * inverse, z - (uz + soft * z) * inverse


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
def into_cone_by_lanes(x, y, z, bound):
    """The same without a branch, for loops over lanes; the last bits may differ."""
    length = x * x + y * y + z * z
    part = bound * bound / (length + 1e-300)
    part = math.sqrt(part if part < 1.0 else 1.0)
    return x * part, y * part, z * part


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
