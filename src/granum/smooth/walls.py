"""Forces between grains and walls."""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from ..array_types import FloatArray, IntArray
from ..detection.persistence import find_among
from . import lanes as of
from .groups import Laws, Movers, Rows, Surfaces, WallRows
from .lanes import SCRATCH, U, W, blank, clear_sums, push, sums

NX, NY, NZ, OVERLAP, ROUND, INERTIA, ARM_A = of.NX, of.NY, of.NZ, of.OVERLAP, of.ROUND, of.INERTIA, of.ARM_A
UX, UY, UZ, WX, WY, WZ, FX, FY, FZ = of.UX, of.UY, of.UZ, of.WX, of.WY, of.WZ, of.FX, of.FY, of.FZ
STIFFNESS, SPRINGS, PX, CX, TX = of.STIFFNESS, of.SPRINGS, of.PX, of.CX, of.TX


@kernel
def carry_wall_springs(new: WallRows, old: WallRows, count: int) -> int:
    """Springs of the ``count`` contacts that go on, zeros for new ones; returns one that is now on the other side of its wall, or -1."""
    a, b, feature, normal, spring = new.a, new.b, new.feature, new.normal, new.spring
    old_normal, old_spring, old_first = old.normal, old.spring, old.first
    through, kept = -1, spring.shape[1]
    for c in range(count):
        i, was = a[c], -1
        if i < len(old_first):
            nx, ny, nz = normal[c, 0], normal[c, 1], normal[c, 2]
            low = old_first[i]
            was = find_among(low, low + old.number[i], b[c], feature[c], (nx, ny, nz), old.b, old.feature, old_normal, 0)
        if was < 0:
            for f in range(kept):
                spring[c, f] = 0.0
            continue
        for f in range(kept):
            spring[c, f] = old_spring[was, f]
        if normal[c, 0] * old_normal[was, 0] + normal[c, 1] * old_normal[was, 1] + normal[c, 2] * old_normal[was, 2] < -0.5:
            through = c
    return through


@kernel
def push_walls(
    laws: Laws, rows: Rows, bodies: Movers, walls: Surfaces, contacts: WallRows, count: int, h: float
) -> tuple[float, float, int, float]:
    """Forces on walls by the first ``count`` contacts, added to those on grains.

    Returns elastic energy [J], largest overlap [m], number of impacts, and the power [W] that driven walls and belts put in.
    """
    s = np.zeros(SCRATCH)
    law, table, materials = laws
    rank, _, sphere, grain, force = rows
    _, _, _, inverse_mass, position, _, velocity, spin = bodies
    wall_body, wall_material, surface_velocity, wall_force = walls
    a, b, _, normal, overlap, spring, contact_force, _, _ = contacts
    rolling, kept = spring.shape[1] == of.ROLLING, U(spring.shape[1])
    moves = np.empty((of.LANES, 6))  # velocity of the wall at the contact [m/s] and its spin [rad/s]
    power = 0.0
    wall_force[:] = 0.0
    clear_sums(s)
    for first in range(0, count, of.LANES):
        full = U(min(of.LANES, count - first))
        for lane in range(full):
            c = U(first) + lane
            g, wall = U(rank[U(a[c])]), U(-1 - b[c])
            body = U(wall_body[wall])
            r = sphere[g, 3]
            nx, ny, nz = normal[c, 0], normal[c, 1], normal[c, 2]
            wx, wy, wz = spin[body, 0], spin[body, 1], spin[body, 2]
            s[NX + lane], s[NY + lane], s[NZ + lane] = nx, ny, nz
            s[WX + lane], s[WY + lane], s[WZ + lane] = wx - grain[g, 4], wy - grain[g, 5], wz - grain[g, 6]
            s[FX + lane], s[FY + lane], s[FZ + lane] = wx, wy, wz
            dx, dy = sphere[g, 0] + r * nx - position[body, 0], sphere[g, 1] + r * ny - position[body, 1]
            dz = sphere[g, 2] + r * nz - position[body, 2]
            sx, sy, sz = surface_velocity[wall, 0], surface_velocity[wall, 1], surface_velocity[wall, 2]
            along = sx * nx + sy * ny + sz * nz  # a belt only drags
            moves[lane, 0] = velocity[body, 0] + sx - along * nx + wy * dz - wz * dy
            moves[lane, 1] = velocity[body, 1] + sy - along * ny + wz * dx - wx * dz
            moves[lane, 2] = velocity[body, 2] + sz - along * nz + wx * dy - wy * dx
            moves[lane, 3], moves[lane, 4], moves[lane, 5] = wx, wy, wz
            ox, oy, oz = r * grain[g, 4], r * grain[g, 5], r * grain[g, 6]
            s[UX + lane] = moves[lane, 0] - grain[g, 0] - (oy * nz - oz * ny)
            s[UY + lane] = moves[lane, 1] - grain[g, 1] - (oz * nx - ox * nz)
            s[UZ + lane] = moves[lane, 2] - grain[g, 2] - (ox * ny - oy * nx)
            s[OVERLAP + lane], s[ROUND + lane], s[ARM_A + lane] = overlap[c], r, r
            s[INERTIA + lane] = 1.0 / (grain[g, 3] + inverse_mass[body])
            m = U(grain[g, 7]) * U(materials) + U(wall_material[wall])
            for f in range(U(of.LAW)):
                s[STIFFNESS + f * W + lane] = table[m, f]
            for f in range(kept):
                s[SPRINGS[f] + lane] = spring[c, f]
        if full < W:
            blank(s, full)
        push(s, h, law, rolling)
        for lane in range(full):
            c = U(first) + lane
            g, body = U(rank[U(a[c])]), U(wall_body[U(-1 - b[c])])
            r = s[ARM_A + lane]
            yields = inverse_mass[body] > 0.0  # then its own energy changes
            for f in range(U(3)):
                p, t = s[PX + f * W + lane], r * s[CX + f * W + lane]
                force[g, f] -= p
                force[g, U(3) + f] -= t
                wall_force[body, f] += p
                contact_force[c, f] = p
                power -= 0.0 if yields else p * moves[lane, f]
            px, py, pz = contact_force[c, 0], contact_force[c, 1], contact_force[c, 2]
            dx, dy = sphere[g, 0] + r * normal[c, 0] - position[body, 0], sphere[g, 1] + r * normal[c, 1] - position[body, 1]
            dz = sphere[g, 2] + r * normal[c, 2] - position[body, 2]
            wall_force[body, 3] += dy * pz - dz * py
            wall_force[body, 4] += dz * px - dx * pz
            wall_force[body, 5] += dx * py - dy * px
            for f in range(kept):
                spring[c, f] = s[SPRINGS[f] + lane]
            if rolling:
                for f in range(U(3)):
                    t = s[TX + f * W + lane]
                    force[g, U(3) + f] -= t
                    wall_force[body, U(3) + f] += t
                    contact_force[c, U(3) + f] = t
                    power -= 0.0 if yields else t * moves[lane, U(3) + f]
    energy, deepest, hits = sums(s)
    return energy, deepest, hits, power


@kernel
def push_carriers(grains: IntArray, carrier: IntArray, rows: Rows, position: FloatArray, first: int, out: FloatArray) -> None:
    """Add what pushes the fixed ``grains`` (n,) to ``out`` (W, 6) of the bodies that carry them; grain i is body ``first`` + i."""
    for k in range(len(grains)):
        i, w, g = first + grains[k], carrier[k], rows.rank[grains[k]]
        px, py, pz = rows.force[g, 0], rows.force[g, 1], rows.force[g, 2]
        x, y, z = position[i, 0] - position[w, 0], position[i, 1] - position[w, 1], position[i, 2] - position[w, 2]
        out[w, 0] += px
        out[w, 1] += py
        out[w, 2] += pz
        out[w, 3] += rows.force[g, 3] + y * pz - z * py
        out[w, 4] += rows.force[g, 4] + z * px - x * pz
        out[w, 5] += rows.force[g, 5] + x * py - y * px
