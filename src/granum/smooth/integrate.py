"""Velocities and positions of grains: kick, drift and pack into the rows of their ranks; kick from the rows and look.

The loops go through the grains in the order of the bodies and pick the rows: a row fills its cache line, a body's numbers do not.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import as_written, kernel
from ..arithmetic.sums import sum_of
from ..array_types import FloatArray, IntArray
from ..parallel.barrier import add_up, share, wait
from ..parallel.crew import Crew
from ..state.bodies import BodyArrays
from ..state.motion import power, spin_with
from ..state.rotation import axes_of, turn
from .groups import Listed, Movers, Rows
from .lanes import U

CHUNK = 1024  # grains whose energies are summed up in one go, whatever thread does it


@kernel
def kick_and_drift(
    crew: Crew,
    rows: Rows,
    listed: Listed,
    bodies: Movers,
    gravity: FloatArray,
    kick: float,
    drift: float,
) -> int:
    """v += kick a, x += drift v for every grain that yields, and its rows; returns how many left their skin."""
    thread, threads, barrier = crew
    rank, sphere, _, grain, force = rows
    first, radius, material, inverse_mass, position, orientation, velocity, spin = bodies
    reference, skin = listed.reference, listed.skin
    gone = 0
    gx, gy, gz = gravity[0], gravity[1], gravity[2]
    low, high = share(len(rank), thread, threads)
    for i in range(U(low), U(high)):
        k, o, r = U(rank[i]), U(first) + i, radius[i]
        inverse = inverse_mass[o]
        x, y, z = position[o, 0], position[o, 1], position[o, 2]
        vx, vy, vz = velocity[o, 0], velocity[o, 1], velocity[o, 2]
        wx, wy, wz = spin[o, 0], spin[o, 1], spin[o, 2]
        if inverse > 0.0 and drift > 0.0:
            f, t = kick * inverse, kick * inverse * 2.5 / (r * r)
            vx += kick * gx + f * force[k, 0]
            vy += kick * gy + f * force[k, 1]
            vz += kick * gz + f * force[k, 2]
            wx += t * force[k, 3]
            wy += t * force[k, 4]
            wz += t * force[k, 5]
            x, y, z = x + drift * vx, y + drift * vy, z + drift * vz
            position[o, 0], position[o, 1], position[o, 2] = x, y, z
            turn(orientation, o, wx, wy, wz, drift)
        dx, dy, dz = x - reference[i, 0], y - reference[i, 1], z - reference[i, 2]
        gone += not dx * dx + dy * dy + dz * dz <= skin[i] * skin[i]  # a NaN is not inside
        sphere[k, 0], sphere[k, 1], sphere[k, 2], sphere[k, 3] = x, y, z, r
        grain[k, 0], grain[k, 1], grain[k, 2], grain[k, 3] = vx, vy, vz, inverse
        grain[k, 4], grain[k, 5], grain[k, 6], grain[k, 7] = wx, wy, wz, material[i]
    return int(add_up(barrier, thread, threads, gone)[1])


@kernel
def kick_and_look(
    crew: Crew,
    rows: Rows,
    bodies: Movers,
    gravity: FloatArray,
    parts: FloatArray,
    box: FloatArray,
    kick: float,
) -> tuple[float, float, float, float]:
    """v += kick a from the rows; returns kinetic energy [J], energy in the field of gravity [J], largest speed [m/s] and largest v/r [1/s].

    ``box`` (2, 3) receives the lowest and highest coordinates of the centres [m]; ``parts`` (chunks, 10) is room to work in, for what is
    found in each chunk of grains.
    """
    thread, threads, barrier = crew
    rank, sphere, _, grain, force = rows
    first, velocity, spin = bodies.first, bodies.velocity, bodies.spin
    gx, gy, gz = gravity[0], gravity[1], gravity[2]
    low, high = share(len(parts), thread, threads)
    for chunk in range(low, high):
        kinetic, potential, fastest, swiftest = 0.0, 0.0, 0.0, 0.0
        x0, y0, z0, x1, y1, z1 = np.inf, np.inf, np.inf, -np.inf, -np.inf, -np.inf
        for i in range(U(chunk * CHUNK), U(min((chunk + 1) * CHUNK, len(rank)))):
            k, o = U(rank[i]), U(first) + i
            x, y, z, r, inverse = sphere[k, 0], sphere[k, 1], sphere[k, 2], sphere[k, 3], grain[k, 3]
            x0, y0, z0, x1, y1, z1 = min(x0, x), min(y0, y), min(z0, z), max(x1, x), max(y1, y), max(z1, z)
            if inverse > 0.0:
                mass, turning = 1.0 / inverse, 0.4 * r * r
                f, t = kick * inverse, kick * inverse / turning
                vx = grain[k, 0] + kick * gx + f * force[k, 0]
                vy = grain[k, 1] + kick * gy + f * force[k, 1]
                vz = grain[k, 2] + kick * gz + f * force[k, 2]
                wx, wy, wz = grain[k, 4] + t * force[k, 3], grain[k, 5] + t * force[k, 4], grain[k, 6] + t * force[k, 5]
                velocity[o, 0], velocity[o, 1], velocity[o, 2] = vx, vy, vz
                spin[o, 0], spin[o, 1], spin[o, 2] = wx, wy, wz
                square = vx * vx + vy * vy + vz * vz
                kinetic += 0.5 * mass * (square + turning * (wx * wx + wy * wy + wz * wz))
                potential -= mass * (gx * x + gy * y + gz * z)
                fastest, swiftest = max(fastest, square), max(swiftest, square / (r * r))
        p = parts[chunk]
        p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9] = kinetic, potential, fastest, swiftest, x0, y0, z0, x1, y1, z1
    wait(barrier, threads)
    kinetic, potential, fastest, swiftest = 0.0, 0.0, 0.0, 0.0
    if thread == 0:
        box[0], box[1] = np.inf, -np.inf
        for chunk in range(len(parts)):
            p = parts[chunk]
            kinetic, potential, fastest, swiftest = kinetic + p[0], potential + p[1], max(fastest, p[2]), max(swiftest, p[3])
            for f in range(3):
                box[0, f], box[1, f] = min(box[0, f], p[4 + f]), max(box[1, f], p[7 + f])
    wait(barrier, threads)
    return kinetic, potential, math.sqrt(fastest), math.sqrt(swiftest)


@as_written
def kick_wall(bodies, k, moments, applied, push, gravity, kick):
    """v += kick a of a body of the scene: gravity, the force ``applied`` (W, 3) [N], and force and torque of the contacts (W, 6)."""
    for f in range(3):
        bodies.velocity[k, f] += kick * (gravity[f] + bodies.inverse_mass[k] * (applied[k, f] + push[k, f]))
    turned = spin_with(axes_of(bodies.orientation, k), moments, k, (push[k, 3], push[k, 4], push[k, 5]))
    for f in range(3):
        bodies.spin[k, f] += kick * turned[f]


@kernel
def kick_walls(
    bodies: BodyArrays, rows: IntArray, moments: FloatArray, applied: FloatArray, push: FloatArray, gravity: FloatArray, kick: float
) -> float:
    """Of the bodies in these rows; returns the power [W] of the forces that are applied, after it."""
    parts = np.empty(len(rows))
    for n in range(len(rows)):
        kick_wall(bodies, rows[n], moments, applied, push, gravity, kick)
        parts[n] = power(applied, bodies.velocity, rows[n])
    return sum_of(parts, len(rows), 0, 1)
