"""How bodies move against each other at their contacts, and whether that is slow enough to be one body (MR (24)-(34))."""

from __future__ import annotations

import math

import numpy as np

from .._jit import kernel
from ..array_types import BoolArray, FloatArray, IntArray
from ..state.bodies import BodyArrays, GrainArrays
from ..state.contacts import ContactArrays


def limits(*values: float | None) -> FloatArray:
    """Thresholds for the kernels; none: no limit."""
    return np.array([math.inf if v is None else v for v in values])


@kernel
def relative_motion(
    contacts: ContactArrays,
    bodies: BodyArrays,
    grains: GrainArrays,
    frame: IntArray,
    surface_velocity: FloatArray,
    out: FloatArray,
) -> None:
    """(C, 6) of b against a at every contact: velocity [m/s] and spin [rad/s], in world axes.

    ``frame`` (K,) is the body that each wall is fixed to, ``surface_velocity`` (K, 3) [m/s] how its surface runs along it.
    """
    a, b, normal, radius, first = contacts.a, contacts.b, contacts.normal, grains.radius, grains.first
    position, velocity, spin = bodies.position, bodies.velocity, bodies.spin
    for c in range(len(a)):
        i, r = first + a[c], radius[a[c]]
        nx, ny, nz = normal[c, 0], normal[c, 1], normal[c, 2]
        wx, wy, wz = spin[i, 0], spin[i, 1], spin[i, 2]
        ux = velocity[i, 0] + r * (wy * nz - wz * ny)
        uy = velocity[i, 1] + r * (wz * nx - wx * nz)
        uz = velocity[i, 2] + r * (wx * ny - wy * nx)
        if b[c] >= 0:
            j = first + b[c]
            dx, dy, dz = -radius[b[c]] * nx, -radius[b[c]] * ny, -radius[b[c]] * nz
            sx, sy, sz = 0.0, 0.0, 0.0
        else:
            wall = -1 - b[c]
            j = np.int64(frame[wall])
            dx = position[i, 0] + r * nx - position[j, 0]
            dy = position[i, 1] + r * ny - position[j, 1]
            dz = position[i, 2] + r * nz - position[j, 2]
            sx, sy, sz = surface_velocity[wall, 0], surface_velocity[wall, 1], surface_velocity[wall, 2]
            along = sx * nx + sy * ny + sz * nz
            sx, sy, sz = sx - along * nx, sy - along * ny, sz - along * nz
        vx, vy, vz = spin[j, 0], spin[j, 1], spin[j, 2]
        out[c, 0] = velocity[j, 0] + vy * dz - vz * dy + sx - ux
        out[c, 1] = velocity[j, 1] + vz * dx - vx * dz + sy - uy
        out[c, 2] = velocity[j, 2] + vx * dy - vy * dx + sz - uz
        out[c, 3], out[c, 4], out[c, 5] = vx - wx, vy - wy, vz - wz


@kernel
def within(normal: FloatArray, motion: FloatArray, limit: FloatArray, inside: BoolArray) -> None:
    """Whether (C,) each motion is inside the limits (4,): approach, separation, tangential [m/s] and rolling [rad/s]."""
    for c in range(len(normal)):
        u = motion[c]
        along = u[0] * normal[c, 0] + u[1] * normal[c, 1] + u[2] * normal[c, 2]
        across = u[0] ** 2 + u[1] ** 2 + u[2] ** 2 - along * along
        rolling = u[3] ** 2 + u[4] ** 2 + u[5] ** 2
        inside[c] = -limit[0] <= along <= limit[1] and across <= limit[2] ** 2 and rolling <= limit[3] ** 2
