"""Motion of walls and lever arms at the contacts, as the rows take them."""

from __future__ import annotations

import numpy as np

from .._jit import device
from .blocks import BODY


@device
def place_walls(low, high, problem, met, bodies, walls, step):
    """Motion of the wall at the contacts low to high: in the contact's own slot, or as lever arms on a dynamic body.

    Lever arms of a collision inside of the step are those of its moment.
    """
    packed, blocks, levers, found = problem
    body, lever, full = packed.body, levers.arm, levers.full
    position, velocity, spin, overlap = bodies.position, bodies.velocity, bodies.spin, met.overlap
    for c in range(low, high):
        wall, i = -1 - met.b[c], met.a[c]
        w, g, r = walls.frame[wall], bodies.first + i, bodies.radius[i]
        nx, ny, nz = met.normal[c, 0], met.normal[c, 1], met.normal[c, 2]
        slot = np.int64(found.slot_b[c])
        # A body that is pushed feels the impulse where the grain does, also over a gap: both lever arms meet in one point.
        reach = r if slot < packed.yielding else r + max(0.0, -overlap[c])
        # from the wall body's centre to the contact point
        dx = position[g, 0] + reach * nx - position[w, 0]
        dy = position[g, 1] + reach * ny - position[w, 1]
        dz = position[g, 2] + reach * nz - position[w, 2]
        if slot < packed.yielding:
            q = np.int64(found.place[c]) - blocks.serial_start
            ux, uy, uz = velocity[g, 0] - velocity[w, 0], velocity[g, 1] - velocity[w, 1], velocity[g, 2] - velocity[w, 2]
            closing = ux * nx + uy * ny + uz * nz
            if overlap[c] < 0.0 and closing > step.impact_velocity and closing * step.h > -overlap[c]:
                later = -overlap[c] / closing
                dx, dy, dz = dx + later * ux, dy + later * uy, dz + later * uz
            full[q, 0], full[q, 1] = -1, slot - packed.first_full
            lever[q, 0], lever[q, 1], lever[q, 2] = r * nx, r * ny, r * nz
            lever[q, 3], lever[q, 4], lever[q, 5] = dx, dy, dz
            continue
        wx, wy, wz = spin[w, 0], spin[w, 1], spin[w, 2]
        sx, sy, sz = walls.surface_velocity[wall, 0], walls.surface_velocity[wall, 1], walls.surface_velocity[wall, 2]
        along = sx * nx + sy * ny + sz * nz
        o = slot * BODY
        # The sweep subtracts (Omega_a + Omega_b) x n; the last terms give the wall's part of it back.
        body[o] = velocity[w, 0] + wy * dz - wz * dy + sx - along * nx + wy * nz - wz * ny
        body[o + 1] = velocity[w, 1] + wz * dx - wx * dz + sy - along * ny + wz * nx - wx * nz
        body[o + 2] = velocity[w, 2] + wx * dy - wy * dx + sz - along * nz + wx * ny - wy * nx
        body[o + 3], body[o + 4], body[o + 5] = wx, wy, wz
        body[o + 6], body[o + 7] = 0.0, 1.0


@device
def place_bodies(low, high, problem, met, bodies, walls, step):
    """Lever arms of the contacts low to high, between bodies, and the motion of those that do not yield, in the contact's own slot.

    Both arms meet in the point where the two touch; of a collision inside of the step, where they are at its moment.
    """
    packed, blocks, levers, found = problem
    body, lever, full = packed.body, levers.arm, levers.full
    position, velocity, spin = bodies.position, bodies.velocity, bodies.spin
    for c in range(low, high):
        wall, point = -1 - met.b[c], met.point[c - met.grain_contacts]
        i, j = np.int64(walls.frame[-1 - met.a[c]]), np.int64(walls.frame[wall])
        n = met.normal[c, 0], met.normal[c, 1], met.normal[c, 2]
        slots = np.int64(found.slot_a[c]), np.int64(found.slot_b[c])
        q = np.int64(found.place[c]) - blocks.serial_start
        v, w = velocity_at(bodies, i, point), velocity_at(bodies, j, point)
        closing = (v[0] - w[0]) * n[0] + (v[1] - w[1]) * n[1] + (v[2] - w[2]) * n[2]
        later = 0.0
        if met.overlap[c] < 0.0 and closing > step.impact_velocity and closing * step.h > -met.overlap[c]:
            later = -met.overlap[c] / closing
        for side in range(2):
            slot, row = slots[side], i if side == 0 else j
            yields = packed.first_full <= slot < packed.yielding
            full[q, side] = slot - packed.first_full if yields else -1
            for f in range(3):
                centre = position[row, f] + later * velocity[row, f]
                if yields and len(levers.centre) > 0:
                    centre = levers.centre[slot - packed.first_full, f] + later * body[slot * BODY + f]
                lever[q, 3 * side + f] = point[f] - centre if yields else -n[f]
        if slots[1] < packed.yielding:
            continue
        s = walls.surface_velocity[wall]
        along = s[0] * n[0] + s[1] * n[1] + s[2] * n[2]
        o = slots[1] * BODY
        # The arm of a slot that does not yield is -n: the last terms give its part back.
        body[o] = w[0] + s[0] - along * n[0] + spin[j, 1] * n[2] - spin[j, 2] * n[1]
        body[o + 1] = w[1] + s[1] - along * n[1] + spin[j, 2] * n[0] - spin[j, 0] * n[2]
        body[o + 2] = w[2] + s[2] - along * n[2] + spin[j, 0] * n[1] - spin[j, 1] * n[0]
        body[o + 3], body[o + 4], body[o + 5] = spin[j, 0], spin[j, 1], spin[j, 2]
        body[o + 6], body[o + 7] = 0.0, 1.0


@device
def velocity_at(bodies, row, point):
    """Velocity [m/s] of a body where the point is."""
    v, w = bodies.velocity[row], bodies.spin[row]
    x, y, z = point[0] - bodies.position[row, 0], point[1] - bodies.position[row, 1], point[2] - bodies.position[row, 2]
    return v[0] + w[1] * z - w[2] * y, v[1] + w[2] * x - w[0] * z, v[2] + w[0] * y - w[1] * x


@device
def place_levers(low, high, problem, met, bodies):
    """Lever arms of the contacts low to high of those that are swept one by one, where bodies made of grains are among theirs."""
    packed, blocks, levers, found = problem
    lever, full, centre = levers.arm, levers.full, levers.centre
    first_full, yielding, radius = packed.first_full, packed.yielding, bodies.radius
    for q in range(low, high):
        c = blocks.contact_at[blocks.serial_start + q]
        if c >= met.grain_contacts:  # placed already
            continue
        full[q, 0] = full[q, 1] = -1
        if c < 0:
            continue
        sa, sb = np.int64(found.slot_a[c]), np.int64(found.slot_b[c])
        a, b = met.a[c], met.b[c]
        i, r = bodies.first + a, radius[a]
        reach, other = r, 1.0
        if b >= 0:
            s = radius[b]
            kappa = 1.0 - met.overlap[c] / (r + s)
            reach, other = kappa * r, kappa * s
        for f in range(3):
            point = bodies.position[i, f] + reach * met.normal[c, f]
            lever[q, f] = reach * met.normal[c, f]
            lever[q, 3 + f] = -other * met.normal[c, f]
            if first_full <= sa < yielding:
                lever[q, f] = point - centre[sa - first_full, f]
            if first_full <= sb < yielding:
                lever[q, 3 + f] = point - centre[sb - first_full, f]
        if first_full <= sa < yielding:
            full[q, 0] = sa - first_full
        if first_full <= sb < yielding:
            full[q, 1] = sb - first_full
