"""External impulses before the solve, and positions after it (physics 3)."""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from ..array_types import FloatArray, IntArray, LongArray
from ..parallel import Team
from ..parallel.barrier import share, wait
from ..state.bodies import Bodies
from ..state.motion import move_walls
from ..state.rotation import turn
from .blocks import ARM, BODY, INV_MASS, INV_RADIUS, LANES, PN, RX


@kernel
def add_external_impulse(
    thread: int, threads: int, barrier: LongArray, body: FloatArray, grains: int, gx: float, gy: float, gz: float, h: float
) -> None:
    """v += h g for every packed grain that yields."""
    low, high = share(grains, thread, threads)
    for k in range(low, high):
        o = k * BODY
        if body[o + INV_MASS] > 0.0:
            body[o] += h * gx
            body[o + 1] += h * gy
            body[o + 2] += h * gz
    wait(barrier, threads)


@kernel
def move_grains(
    thread: int,
    threads: int,
    barrier: LongArray,
    first: int,
    count: int,
    h: float,
    yielding: FloatArray,
    velocity: FloatArray,
    spin: FloatArray,
    position: FloatArray,
    orientation: FloatArray,
) -> None:
    """x += h v, and the exact turn of a steady spin, for grains that yield."""
    low, high = share(count, thread, threads)
    for k in range(first + low, first + high):
        if yielding[k] > 0.0:
            for f in range(3):
                position[k, f] += h * velocity[k, f]
            turn(orientation, k, spin[k, 0], spin[k, 1], spin[k, 2], h)
    wait(barrier, threads)


def move_bodies(team: Team, bodies: Bodies, h: float) -> None:
    """Positions and orientations of all bodies that move on their own."""
    move_walls(bodies, h)
    team.run(
        move_grains,
        bodies.grain_count,
        bodies.first_grain,
        bodies.grain_count,
        h,
        bodies.yielding,
        bodies.velocity,
        bodies.spin,
        bodies.position,
        bodies.orientation,
    )


@kernel
def wall_work(
    from_contact: int,
    first_wall_slot: int,
    slot_a: IntArray,
    slot_b: IntArray,
    place: IntArray,
    normal: FloatArray,
    fields: int,
    data: FloatArray,
    body: FloatArray,
) -> float:
    """Work [J] that what does not yield (driven walls, belts, grains that they hold) does on bodies that do, through the impulses in the
    blocks."""
    work = 0.0
    for c in range(from_contact, len(place)):
        a, b = np.int64(slot_a[c]) * BODY, np.int64(slot_b[c]) * BODY
        pushed_a = body[a + INV_MASS] > 0.0
        pushed_b = slot_b[c] < first_wall_slot and body[b + INV_MASS] > 0.0
        if pushed_a == pushed_b:
            continue
        d = place[c] // LANES * fields * LANES + place[c] % LANES
        nx, ny, nz = normal[c, 0], normal[c, 1], normal[c, 2]
        o, sign, kappa = (a, 1.0, data[d + ARM * LANES]) if pushed_b else (b, -1.0, -data[d + ARM * LANES])
        wx, wy, wz = body[o + 3], body[o + 4], body[o + 5]
        ux = body[o] + kappa * (wy * nz - wz * ny)
        uy = body[o + 1] + kappa * (wz * nx - wx * nz)
        uz = body[o + 2] + kappa * (wx * ny - wy * nx)
        pn = data[d + PN * LANES]
        part = (pn * nx + data[d + (PN + 1) * LANES]) * ux
        part += (pn * ny + data[d + (PN + 2) * LANES]) * uy
        part += (pn * nz + data[d + (PN + 3) * LANES]) * uz
        if fields > RX:
            f = body[o + INV_RADIUS]
            part += f * (data[d + RX * LANES] * wx + data[d + (RX + 1) * LANES] * wy + data[d + (RX + 2) * LANES] * wz)
        work += sign * part
    return work
