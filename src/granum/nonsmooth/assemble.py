"""Assembly: materials, overlaps and velocities into the numbers of the contact problem (physics 2-3).

In physical impulses (p_n = s lambda_n) the factor s of the law disappears from all rows but for the softness C_n = Sigma_n / s^2:
the target is b = (4/h) Ups delta / e_H + Ups n.u, and a contact at rest carries p_n = h k delta^(2 e_H - 1), whatever h is.
"""

from __future__ import annotations

import numpy as np

from .._jit import device, kernel
from ..arithmetic import total as sum_up
from ..array_types import FloatArray, IntArray, LongArray
from ..contact.law import Parameters, contact_stiffness, overlap_under, pull_off, response
from ..parallel import LIGHT, Team
from ..parallel.barrier import add_up, share, wait
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
    PN,
    RX,
    SOFTNESS,
    TARGET,
)
from .residual import CHUNK
from .rows import arms, listed, relative_velocity, row_weight, tangents, turn_weight

TOUCH = 1e-5  # of R*: the overlap at which a contact counts as closed
SETTLED = 0.001  # of the speed of an impact: the stabilisation's push that its restitution can bear


@device
def separation_speed(body, a, b, normal, c, q, lever):
    """n.u of contact c [m/s], > 0 when the two part; q >= 0: its lever arms are listed."""
    nx, ny, nz = normal[c, 0], normal[c, 1], normal[c, 2]
    p, o = a * BODY, b * BODY
    if q < 0:
        return (body[o] - body[p]) * nx + (body[o + 1] - body[p + 1]) * ny + (body[o + 2] - body[p + 2]) * nz
    ax, ay, az, bx, by, bz = arms(body, a, b, nx, ny, nz, 1.0, q, lever)
    ux, uy, uz, _, _, _ = relative_velocity(body, a, b, ax, ay, az, bx, by, bz)
    return ux * nx + uy * ny + uz * nz


@device
def collides(gap_rate, overlap, impulse, c, impact_velocity, left_over, h):
    """Whether contact c approaches faster than v_imp and closes in this step; one that carried a load in the last step must be faster by
    ``left_over`` [m/s], what the last solve did not finish."""
    threshold = impact_velocity + left_over if impulse[c, 0] > 0.0 else impact_velocity
    return gap_rate[c] < -threshold and overlap[c] - gap_rate[c] * h > 0.0


@kernel
def place_walls(
    thread: int,
    threads: int,
    barrier: LongArray,
    # contacts with walls, and what they touch
    a: IntArray,
    b: IntArray,
    normal: FloatArray,
    overlap: FloatArray,
    pairs: int,
    place: IntArray,
    slot_b: IntArray,
    serial_start: int,
    first_full: int,
    first_wall_slot: int,
    wall_body: IntArray,
    surface_velocity: FloatArray,
    # state
    position: FloatArray,
    velocity: FloatArray,
    spin: FloatArray,
    radius: FloatArray,
    first: int,
    impact_velocity: float,
    h: float,
    # out
    body: FloatArray,
    lever: FloatArray,
    full: IntArray,
) -> None:
    """Motion of the wall at every wall contact: in the contact's own slot, or as lever arms on a dynamic body.

    Lever arms of a collision inside of the step are those of its moment.
    ``surface_velocity`` (W, 3) [m/s] in world axes; only its part along the surface counts.
    """
    low, high = share(len(a) - pairs, thread, threads)
    for c in range(pairs + low, pairs + high):
        wall, i = -1 - b[c], a[c]
        w, g, r = wall_body[wall], first + i, radius[i]
        nx, ny, nz = normal[c, 0], normal[c, 1], normal[c, 2]
        slot = np.int64(slot_b[c])
        # A body that is pushed feels the impulse where the grain does, also over a gap: both lever arms meet in one point.
        reach = r if slot < first_wall_slot else r + max(0.0, -overlap[c])
        # from the wall body's centre to the contact point
        dx = position[g, 0] + reach * nx - position[w, 0]
        dy = position[g, 1] + reach * ny - position[w, 1]
        dz = position[g, 2] + reach * nz - position[w, 2]
        if slot < first_wall_slot:
            q = np.int64(place[c]) - serial_start
            ux, uy, uz = velocity[g, 0] - velocity[w, 0], velocity[g, 1] - velocity[w, 1], velocity[g, 2] - velocity[w, 2]
            closing = ux * nx + uy * ny + uz * nz
            if overlap[c] < 0.0 and closing > impact_velocity and closing * h > -overlap[c]:
                later = -overlap[c] / closing
                dx, dy, dz = dx + later * ux, dy + later * uy, dz + later * uz
            full[q, 0], full[q, 1] = -1, slot - first_full
            lever[q, 0], lever[q, 1], lever[q, 2] = r * nx, r * ny, r * nz
            lever[q, 3], lever[q, 4], lever[q, 5] = dx, dy, dz
            continue
        wx, wy, wz = spin[w, 0], spin[w, 1], spin[w, 2]
        sx, sy, sz = surface_velocity[wall, 0], surface_velocity[wall, 1], surface_velocity[wall, 2]
        along = sx * nx + sy * ny + sz * nz
        o = slot * BODY
        # The sweep subtracts (Omega_a + Omega_b) x n; the last terms give the wall's part of it back.
        body[o] = velocity[w, 0] + wy * dz - wz * dy + sx - along * nx + wy * nz - wz * ny
        body[o + 1] = velocity[w, 1] + wz * dx - wx * dz + sy - along * ny + wz * nx - wx * nz
        body[o + 2] = velocity[w, 2] + wx * dy - wy * dx + sz - along * nz + wx * ny - wy * nx
        body[o + 3], body[o + 4], body[o + 5] = wx, wy, wz
        body[o + 6], body[o + 7] = 0.0, 1.0
    wait(barrier, threads)


@device
def assemble_share(
    low,
    high,
    a,
    b,
    normal,
    overlap,
    slot_a,
    slot_b,
    place,
    radius,
    material,
    wall_material,
    pair_stiffness,
    friction,
    rolling_friction,
    law,
    fields,
    serial_start,
    lever,
    full,
    inverse_inertia,
    soft,
    impulse,
    impact_velocity,
    left_over,
    h,
    body,
    data,
    stiffness,
    radius_eff,
    weight,
    gap_rate,
):
    """The rows of some contacts; returns how many impact. By itself, as next to barriers it is compiled to code of half the speed."""
    impacts = 0
    rolling = fields > RX
    for c in range(low, high):
        p, o = np.int64(slot_a[c]), np.int64(slot_b[c])
        d = place[c] // LANES * fields * LANES + place[c] % LANES
        nx, ny, nz = normal[c, 0], normal[c, 1], normal[c, 2]
        ima, imb = body[p * BODY + INV_MASS], body[o * BODY + INV_MASS]
        ira, irb = body[p * BODY + INV_RADIUS], body[o * BODY + INV_RADIUS]
        kind_a = material[a[c]]
        q = listed(place[c], serial_start, full)
        if q >= 0:  # slots of aggregates know nothing of the grain that is touched
            ira = 1.0 / radius[a[c]]
            irb = 1.0 / radius[b[c]] if b[c] >= 0 else 1.0
        gap_rate[c] = separation_speed(body, p, o, normal, c, q, lever)
        hits = collides(gap_rate, overlap, impulse, c, impact_velocity, left_over, h)
        if b[c] >= 0:
            kind_b = material[b[c]]
            reduced = 1.0 / (ira + irb)
            # Both lever arms meet in one point, over a gap too; who collides will touch by then.
            kappa = 1.0 if hits and overlap[c] < 0.0 else min(2.0, 1.0 - overlap[c] * ira * irb * reduced)
        else:
            kind_b = wall_material[-1 - b[c]]
            reduced, kappa = 1.0 / ira, 1.0
        k = contact_stiffness(law, pair_stiffness[kind_a, kind_b], reduced)
        wn = ima + imb
        wt, wr = wn * (1.0 + 2.5 * kappa * kappa), 2.5 * (ima * ira * ira + imb * irb * irb)
        if q >= 0:
            fa, fb = np.int64(full[q, 0]), np.int64(full[q, 1])
            ax, ay, az, bx, by, bz = arms(body, p, o, nx, ny, nz, kappa, q, lever)
            sx, sy, sz, tx, ty, tz = tangents(nx, ny, nz)
            wn = row_weight(body, p, fa, inverse_inertia, ax, ay, az, nx, ny, nz)
            wn += row_weight(body, o, fb, inverse_inertia, bx, by, bz, nx, ny, nz)
            # The trace bounds the coupled rows from above, so that one number is safe for all of them.
            wt = row_weight(body, p, fa, inverse_inertia, ax, ay, az, sx, sy, sz)
            wt += row_weight(body, p, fa, inverse_inertia, ax, ay, az, tx, ty, tz)
            wt += row_weight(body, o, fb, inverse_inertia, bx, by, bz, sx, sy, sz)
            wt += row_weight(body, o, fb, inverse_inertia, bx, by, bz, tx, ty, tz)
            wr = turn_weight(body, p, fa, inverse_inertia, sx, sy, sz) + turn_weight(body, o, fb, inverse_inertia, sx, sy, sz)
            wr += turn_weight(body, p, fa, inverse_inertia, tx, ty, tz) + turn_weight(body, o, fb, inverse_inertia, tx, ty, tz)
            wr += turn_weight(body, p, fa, inverse_inertia, nx, ny, nz) + turn_weight(body, o, fb, inverse_inertia, nx, ny, nz)
        data[d + NX * LANES], data[d + (NX + 1) * LANES], data[d + (NX + 2) * LANES] = nx, ny, nz
        data[d + ARM * LANES] = kappa
        data[d + INV_DT * LANES] = 1.0 / (wt + soft)
        data[d + MU * LANES] = friction[kind_a, kind_b]
        if rolling:
            data[d + INV_DR * LANES] = 1.0 / (wr + soft)
            data[d + MU_R * LANES] = rolling_friction[kind_a, kind_b] * reduced
        stiffness[c], radius_eff[c], weight[c] = k, reduced, wn
        impacts += hits
    return impacts


@kernel
def assemble_rows(
    thread: int,
    threads: int,
    barrier: LongArray,
    a: IntArray,
    b: IntArray,
    normal: FloatArray,
    overlap: FloatArray,
    slot_a: IntArray,
    slot_b: IntArray,
    place: IntArray,
    radius: FloatArray,
    material: IntArray,
    wall_material: IntArray,
    pair_stiffness: FloatArray,
    friction: FloatArray,
    rolling_friction: FloatArray,
    law: Parameters,
    fields: int,
    serial_start: int,
    lever: FloatArray,
    full: IntArray,
    inverse_inertia: FloatArray,
    soft: float,
    impulse: FloatArray,
    impact_velocity: float,
    left_over: float,
    h: float,
    body: FloatArray,
    # out
    data: FloatArray,
    stiffness: FloatArray,
    radius_eff: FloatArray,
    weight: FloatArray,
    gap_rate: FloatArray,
) -> int:
    """Everything of the rows that velocities do not change; returns how many contacts impact.

    Per contact: ``stiffness`` k [N m^(1 - 2 e_H)], ``radius_eff`` R* [m], ``weight``
    G M^-1 G^T of the normal row [1/kg] and ``gap_rate``, the separation speed [m/s].
    """
    low, high = share(len(a), thread, threads)
    impacts = assemble_share(
        low,
        high,
        a,
        b,
        normal,
        overlap,
        slot_a,
        slot_b,
        place,
        radius,
        material,
        wall_material,
        pair_stiffness,
        friction,
        rolling_friction,
        law,
        fields,
        serial_start,
        lever,
        full,
        inverse_inertia,
        soft,
        impulse,
        impact_velocity,
        left_over,
        h,
        body,
        data,
        stiffness,
        radius_eff,
        weight,
        gap_rate,
    )
    return add_up(barrier, thread, threads, impacts)[1]


@kernel
def aim_at_rest(
    thread: int,
    threads: int,
    barrier: LongArray,
    overlap: FloatArray,
    normal: FloatArray,
    impulse: FloatArray,
    slot_a: IntArray,
    slot_b: IntArray,
    place: IntArray,
    stiffness: FloatArray,
    radius_eff: FloatArray,
    weight: FloatArray,
    gap_rate: FloatArray,
    remeasure: bool,
    body: FloatArray,
    lever: FloatArray,
    full: IntArray,
    serial_start: int,
    fields: int,
    law: Parameters,
    damping_steps: float,
    h: float,
    impact_velocity: float,
    rebound: FloatArray,
    data: FloatArray,
) -> None:
    """Targets of the continuous stage: the SPOOK constraint with the contact law's own softness.

    The softness is that of an overlap of ``TOUCH`` R* at least, as some laws have no stiffness at zero overlap, and the target such that
    the force at rest is the law's all the same. A contact that still rebounds from an impact presses as at the overlap of its last force:
    the stabilisation would push its excess overlap out with a speed that spoils the restitution. So does one that carried nothing in the
    last step and is deeper than ``impact_velocity`` [m/s] (infinite: none is) goes in one: it was met late. A contact with a gap may close
    it in this step and no more: nothing pushes while it stays open.
    """
    exponent = law.exponent
    tau = max(damping_steps * h, law.dissipation / exponent)
    upsilon = 1.0 / (1.0 + 4.0 * tau / h)
    low, high = share(len(place), thread, threads)
    for c in range(low, high):
        if remeasure:
            q = listed(place[c], serial_start, full)
            gap_rate[c] = separation_speed(body, np.int64(slot_a[c]), np.int64(slot_b[c]), normal, c, q, lever)
        delta = max(0.0, overlap[c])
        if impulse[c, 0] == 0.0 and rebound[c] == 0.0 and delta > impact_velocity * h:
            rebound[c] = impact_velocity
        if rebound[c] > 0.0 and delta > 0.0:
            at_rest = overlap_under(law, h * stiffness[c], impulse[c, 0])
            delta = min(delta, at_rest + SETTLED * rebound[c] * h * exponent / (4.0 * upsilon))
        at_rest = response(law, h * stiffness[c], 1.0, delta).push  # the law's impulse
        closed = response(law, stiffness[c], 1.0, max(delta, TOUCH * radius_eff[c])).secant
        softness = 4.0 * upsilon / (h * h * exponent * closed)
        d = place[c] // LANES * fields * LANES + place[c] % LANES
        data[d + TARGET * LANES] = softness * at_rest + upsilon * gap_rate[c] if overlap[c] >= 0.0 else overlap[c] / h
        data[d + SOFTNESS * LANES] = softness
        data[d + INV_DN * LANES] = 1.0 / (weight[c] + softness)
    wait(barrier, threads)


@kernel
def clear_impulses(thread: int, threads: int, barrier: LongArray, place: IntArray, fields: int, data: FloatArray) -> None:
    """All impulses of the blocks to zero."""
    low, high = share(len(place), thread, threads)
    for c in range(low, high):
        d = place[c] // LANES * fields * LANES + place[c] % LANES
        for f in range(4):
            data[d + (PN + f) * LANES] = 0.0
        if fields > RX:
            for f in range(3):
                data[d + (RX + f) * LANES] = 0.0
    wait(barrier, threads)


@kernel
def mean_square(values: FloatArray) -> float:
    """Mean of the squares, in a fixed order."""
    total = 0.0
    for k in range(len(values)):
        total += values[k] * values[k]
    return total / max(1, len(values))


@kernel
def elastic_energies(
    thread: int,
    threads: int,
    barrier: LongArray,
    overlap: FloatArray,
    stiffness: FloatArray,
    radius_eff: FloatArray,
    law: Parameters,
    parts: FloatArray,
) -> None:
    """Energy [J] that the contact law stores in the overlaps of each chunk of contacts; less than 0 where it attracts."""
    low, high = share(len(parts), thread, threads)
    for k in range(low, high):
        total = 0.0
        for c in range(k * CHUNK, min((k + 1) * CHUNK, len(overlap))):
            delta = max(0.0, overlap[c])
            total += response(law, stiffness[c], 1.0, delta).energy - pull_off(law, radius_eff[c]) * delta
        parts[k] = total
    wait(barrier, threads)


def elastic_energy(team: Team, overlap: FloatArray, stiffness: FloatArray, radius_eff: FloatArray, law: Parameters) -> float:
    """Energy [J] that the contact law stores in all overlaps."""
    parts = np.empty((len(overlap) + CHUNK - 1) // CHUNK)
    team.run(elastic_energies, len(overlap) // LIGHT, overlap, stiffness, radius_eff, law, parts)
    return sum_up(parts)
