"""The contact law of smooth DEM, for a block of contacts at a time (physics 6).

A block holds ``LANES`` contacts field by field: number f of lane l is ``s[f * LANES + l]``. Pairs and walls fill in how the contact moves
(``N`` to ``FRAME``), ``push`` adds the law and leaves the force on b, its torque and the new springs. The loops have no branches, so
that they are compiled to vector instructions.

With K the secant stiffness of the contact law (``contact/``), f_n its push with the dashpot's, and the law's attraction A,

    f_n = max(0, K delta - eta n.u)         eta = alpha sqrt(m* K) + c K,   the normal force is f_n - A
    f_t = -k_t s - eta_t u_t,   |f_t| <= mu f_n          k_t = shear K,   eta_t = sqrt(2/7 shear) eta
    T   = -k_r q - eta_r w,     |T| <= mu_r R* f_n       k_r = k_t R*^2,  eta_r = eta_t R*^2

with u the velocity of b against a at the contact, w the spin of b against that of a, s and q their integrals since the contact began,
turned with the contact and scaled back with the force at its bound.

While K grows, s and q shrink as 1 / K: the forces of springs grow by what the contact moves, df = -k_t u dt. While K falls, s and q stay,
and the forces fall with K. The energy in a spring, f^2 / 2 k_t = k_t s^2 / 2, falls by that either way, so that no path gains energy: a
step's work is what the spring stores and a loss, f^2 / 2 k_t^2 dk_t as K grows, -s^2 / 2 dk_t as it falls. Springs that kept their length
while K grows would give back more than they took, and so would forces that stayed while it falls (Elata and Berryman 1996; Thornton,
Cummins and Cleary 2013). It is Mindlin's solution without slip for contacts that are pressed, sheared and released one after the other.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import device
from ..contact.law import pull_off, response
from .rows import LANES

U = np.uint64  # unsigned indices need no check for negative ones, which would keep the loops from being vectorised
W = U(LANES)


def _fields(first: int, count: int) -> tuple[np.uint64, ...]:
    return tuple(U(f * LANES) for f in range(first, first + count))


# how the contact moves
NX, NY, NZ = _fields(0, 3)  # unit normal from a towards b
OVERLAP, ROUND, INERTIA = _fields(3, 3)  # delta [m], R* [m], m* [kg]
UX, UY, UZ = _fields(6, 3)  # velocity of b against a at the contact [m/s]
WX, WY, WZ = _fields(9, 3)  # spin of b against a [rad/s]
FX, FY, FZ = _fields(12, 3)  # spin of the contact's frame [rad/s]
# its material
STIFFNESS, DAMPING, MU, MU_R, SHEAR, SHEAR_LOSS = _fields(15, 6)  # k, alpha, mu, mu_r, k_t / K, eta_t / eta
# its springs, before and after; pairs move eight fields at a time, from HELD, PX and TX on
(HELD,) = _fields(21, 1)  # K [N/m] when they were last looked at; 0: the contact is new
SX, SY, SZ = _fields(22, 3)  # [m]
# what comes out
PX, PY, PZ = _fields(25, 3)  # force on b [N]
CX, CY, CZ = _fields(28, 3)  # n x force [N]: the torque on either body is -arm times this
ARM_A, ARM_B = _fields(31, 2)  # from the centres to the contact point [m], which come in
TX, TY, TZ = _fields(33, 3)  # rolling torque on b [N m]
QX, QY, QZ = _fields(36, 3)  # springs of rolling [rad]
SHEARED, PUSH, LOSS, SHRINK = _fields(39, 4)  # k_t [N/m], f_n [N], eta_t [N s/m], what is left of springs as K grows
ENERGY, DEEPEST, HITS = _fields(43, 3)  # over all blocks: elastic energy [J], largest overlap [m], number of impacts
# of pairs: the 2 x 12 numbers of the two grains
ROW_A = _fields(46, 12)
ROW_B = _fields(58, 12)
FIELDS = 70
SCRATCH = FIELDS * LANES
LAW = 6  # numbers per pair of materials: STIFFNESS to SHEAR_LOSS
SPRING = 4  # numbers of a contact's springs, HELD to SZ; with rolling three more, QX to QZ
ROLLING = 7
SPRINGS = (HELD, SX, SY, SZ, QX, QY, QZ)
IMPACT = 0.05  # [m/s]: new contacts that close faster are impacts, as in the nonsmooth stepper


@device
def blank(s, first):
    """Empty lanes from ``first`` on: contacts of nothing with nothing, without force."""
    for f in range(FIELDS):
        for lane in range(first, LANES):
            if U(f) * W != ENERGY and U(f) * W != DEEPEST and U(f) * W != HITS:
                s[U(f) * W + U(lane)] = 0.0


@device
def clear_sums(s):
    """Before the first block."""
    for lane in range(W):
        s[ENERGY + lane] = 0.0
        s[DEEPEST + lane] = 0.0
        s[HITS + lane] = 0.0


@device
def push(s, h, law, rolling):
    """Forces of one block; springs move on by ``h`` [s] (0: they stay)."""
    for lane in range(W):
        nx, ny, nz, delta = s[NX + lane], s[NY + lane], s[NZ + lane], s[OVERLAP + lane]
        inertia = s[INERTIA + lane]
        _, stiff, _, elastic = response(law, s[STIFFNESS + lane], s[ROUND + lane], delta)
        pull = pull_off(law, s[ROUND + lane]) if delta > 0.0 else 0.0
        eta = s[DAMPING + lane] * math.sqrt(inertia * stiff) + law.dissipation * stiff
        ux, uy, uz = s[UX + lane], s[UY + lane], s[UZ + lane]
        rate = nx * ux + ny * uy + nz * uz
        f = stiff * delta - eta * rate
        f = f if f > 0.0 else 0.0
        held = s[HELD + lane]
        shrink = held / stiff if held < stiff else 1.0
        fast = 1.0 if rate < -IMPACT else 0.0
        s[HITS + lane] += fast if shrink == 0.0 else 0.0
        ux, uy, uz = ux - rate * nx, uy - rate * ny, uz - rate * nz
        # the spring turns with the contact, stays in its plane and keeps its length but for a growing K; then it moves on
        sx, sy, sz = s[SX + lane], s[SY + lane], s[SZ + lane]
        fx, fy, fz = h * s[FX + lane], h * s[FY + lane], h * s[FZ + lane]
        length = sx * sx + sy * sy + sz * sz
        tx, ty, tz = sx + fy * sz - fz * sy, sy + fz * sx - fx * sz, sz + fx * sy - fy * sx
        along = tx * nx + ty * ny + tz * nz
        tx, ty, tz = tx - along * nx, ty - along * ny, tz - along * nz
        turned = tx * tx + ty * ty + tz * tz
        keep = shrink * math.sqrt(length / (turned if turned > 0.0 else 1.0))
        sx, sy, sz = keep * tx + h * ux, keep * ty + h * uy, keep * tz + h * uz
        k_t, eta_t = s[SHEAR + lane] * stiff, s[SHEAR_LOSS + lane] * eta
        px, py, pz = -k_t * sx - eta_t * ux, -k_t * sy - eta_t * uy, -k_t * sz - eta_t * uz
        square, bound = px * px + py * py + pz * pz, s[MU + lane] * f
        part = bound / math.sqrt(square) if square > bound * bound else 1.0
        px, py, pz = part * px, part * py, part * pz
        sx, sy, sz = part * sx, part * sy, part * sz
        s[HELD + lane], s[SX + lane], s[SY + lane], s[SZ + lane] = stiff, sx, sy, sz
        s[CX + lane], s[CY + lane], s[CZ + lane] = ny * pz - nz * py, nz * px - nx * pz, nx * py - ny * px
        net = f - pull
        s[PX + lane], s[PY + lane], s[PZ + lane] = px + net * nx, py + net * ny, pz + net * nz
        s[SHEARED + lane], s[PUSH + lane], s[LOSS + lane], s[SHRINK + lane] = k_t, f, eta_t, shrink
        s[ENERGY + lane] += elastic - pull * delta + 0.5 * k_t * (sx * sx + sy * sy + sz * sz)
        deepest = s[DEEPEST + lane]
        s[DEEPEST + lane] = delta if delta > deepest else deepest
    if rolling:
        resist_rolling(s, h)


@device
def resist_rolling(s, h):
    """Rolling and twisting torques of one block, after its forces."""
    for lane in range(W):
        qx, qy, qz = s[QX + lane], s[QY + lane], s[QZ + lane]
        fx, fy, fz = h * s[FX + lane], h * s[FY + lane], h * s[FZ + lane]
        wx, wy, wz = s[WX + lane], s[WY + lane], s[WZ + lane]
        length = qx * qx + qy * qy + qz * qz
        tx, ty, tz = qx + fy * qz - fz * qy, qy + fz * qx - fx * qz, qz + fx * qy - fy * qx
        turned = tx * tx + ty * ty + tz * tz
        keep = s[SHRINK + lane] * math.sqrt(length / (turned if turned > 0.0 else 1.0))
        qx, qy, qz = keep * tx + h * wx, keep * ty + h * wy, keep * tz + h * wz
        r = s[ROUND + lane]
        k_r, eta_r = s[SHEARED + lane] * r * r, s[LOSS + lane] * r * r
        tx, ty, tz = -k_r * qx - eta_r * wx, -k_r * qy - eta_r * wy, -k_r * qz - eta_r * wz
        square, bound = tx * tx + ty * ty + tz * tz, s[MU_R + lane] * r * s[PUSH + lane]
        part = bound / math.sqrt(square) if square > bound * bound else 1.0
        s[TX + lane], s[TY + lane], s[TZ + lane] = part * tx, part * ty, part * tz
        qx, qy, qz = part * qx, part * qy, part * qz
        s[QX + lane], s[QY + lane], s[QZ + lane] = qx, qy, qz
        s[ENERGY + lane] += 0.5 * k_r * (qx * qx + qy * qy + qz * qz)


@device
def sums(s):
    """Elastic energy [J], largest overlap [m] and number of impacts of all blocks."""
    energy, deepest, hits = 0.0, 0.0, 0.0
    for lane in range(LANES):
        energy += s[ENERGY + U(lane)]
        deepest = max(deepest, s[DEEPEST + U(lane)])
        hits += s[HITS + U(lane)]
    return energy, deepest, int(hits)
