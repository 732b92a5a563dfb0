"""The coarse problem of multigrid: by how much to scale the impulses, layer by layer along the load.

After a few sweeps the impulses of a neighbourhood have about the right pattern (who carries, in which direction, how much friction), but
not the right size: what the grains far above weigh is not known yet. The coarse unknowns are the amplitudes alpha at the nodes of a row of
layers across the load, linear in between, and p_c -> p_c (1 + sum_k N_k(s_c) alpha_k). A factor above zero keeps normal impulses
positive and friction inside its cone. The amplitudes minimise 1/2 p A p - p c with A = G M^-1 G^T + Sigma among all such impulses:

    K alpha = r,    K_kl = sum over bodies of m dv_k.dv_l + sum over contacts of N_k N_l p Sigma p,    r_k = sum over contacts of N_k p.res,

where dv_k is the velocity change of a body if the impulses N_k p are added, and res the projected residual, so that nothing is corrected at
the solution. A body touches three nodes at most, so K has five diagonals.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._jit import device
from ..array_types import FloatArray, IntArray, LongArray
from ..kernel_groups import group
from ..parallel.barrier import share, wait
from .blocks import (
    ARM,
    BODY,
    COLOURS,
    INV_DN,
    INV_DR,
    INV_DT,
    INV_MASS,
    MU,
    MU_R,
    NX,
    NY,
    NZ,
    PN,
    PX,
    PY,
    PZ,
    RX,
    RY,
    RZ,
    SOFTNESS,
    TARGET,
)
from .kinds.spheres import S, U, W, load_bodies
from .projections import pushed

SHARE = 26  # numbers that a body gathers: 3 nodes x 6 of impulses, 3 of r, 3 + 2 of the softness in K
R0, D0, O0 = 18, 21, 24
SMALLEST, LARGEST = 0.1, 1e9  # factor of one correction; from the seed on it may have to grow a lot
RIDGE = 1e-12  # of the mean diagonal of K, added to it


@group
class Coarse(NamedTuple):
    """The coarse problem of one solve, and when it is solved; its first arrays are those of ``Layers``."""

    base: IntArray
    layer: IntArray
    part: FloatArray
    share_of: FloatArray
    """(yielding slots * SHARE,) what each body gathers"""
    band: FloatArray
    """(nodes, 3) K: diagonal and two above it"""
    factor: FloatArray
    """(nodes, 3) of K"""
    r: FloatArray
    """(nodes,)"""
    alpha: FloatArray
    """(nodes,) amplitudes"""
    tally: LongArray
    """(2,) corrections so far, and those that were left out"""
    first_correction: int
    """Sweep before which the first correction comes"""
    first_gap: int
    """Sweeps to the second one"""
    last_correction: int
    """Sweep after which there is none"""


@device
def gather_blocks(packed, blocks, coarse, first, last, s):
    """Add the impulses of blocks of one colour, split between the two nodes of their layer, to their bodies; and the parts of r and K."""
    body, lane_a, lane_b, data, fields = packed.body, blocks.lane_a, blocks.lane_b, blocks.data, blocks.fields
    yielding, soft, box = packed.yielding, blocks.soft_t, blocks.box
    base, layer, part, share_of = coarse.base, coarse.layer, coarse.part, coarse.share_of
    rolling = fields > RX
    for k in range(first, last):
        d = U(k * fields) * W
        load_bodies(body, lane_a, lane_b, U(k) * W, s)
        for lane in range(W):
            nx, ny, nz = data[d + U(NX) * W + lane], data[d + U(NY) * W + lane], data[d + U(NZ) * W + lane]
            arm = data[d + U(ARM) * W + lane]
            pn, px, py, pz = (
                data[d + U(PN) * W + lane],
                data[d + U(PX) * W + lane],
                data[d + U(PY) * W + lane],
                data[d + U(PZ) * W + lane],
            )
            ux, uy, uz = s[S[8] + lane] - s[lane], s[S[9] + lane] - s[S[1] + lane], s[S[10] + lane] - s[S[2] + lane]
            un = ux * nx + uy * ny + uz * nz
            softness, inverse = data[d + U(SOFTNESS) * W + lane], data[d + U(INV_DN) * W + lane]
            new = pushed(pn, un, data[d + U(TARGET) * W + lane], softness, inverse)
            gain = pn * (new - pn) / (inverse + 1e-300)
            stored = softness * pn * pn + soft * (px * px + py * py + pz * pz)
            ax, ay, az = (
                arm * (s[S[3] + lane] + s[S[11] + lane]),
                arm * (s[S[4] + lane] + s[S[12] + lane]),
                arm * (s[S[5] + lane] + s[S[13] + lane]),
            )
            tx, ty, tz = ux - un * nx - (ay * nz - az * ny), uy - un * ny - (az * nx - ax * nz), uz - un * nz - (ax * ny - ay * nx)
            it = data[d + U(INV_DT) * W + lane]
            qx, qy, qz = px - (tx + soft * px) * it, py - (ty + soft * py) * it, pz - (tz + soft * pz) * it
            bound = data[d + U(MU) * W + lane] * pn
            ratio = bound * bound / (qx * qx + qy * qy + qz * qz + 1e-300)
            ratio = math.sqrt(ratio if ratio < 1.0 else 1.0)
            along = (px * (qx * ratio - px) + py * (qy * ratio - py) + pz * (qz * ratio - pz)) / (it + 1e-300)
            s[S[16] + lane] = gain + (0.0 if box else along)
            s[S[17] + lane] = stored
            s[S[18] + lane], s[S[19] + lane], s[S[20] + lane] = pn * nx + px, pn * ny + py, pn * nz + pz
            s[S[21] + lane] = -2.5 * arm * (ny * pz - nz * py)
            s[S[22] + lane] = -2.5 * arm * (nz * px - nx * pz)
            s[S[23] + lane] = -2.5 * arm * (nx * py - ny * px)
        for lane in range(W):
            at = U(k) * W + lane
            if layer[at] < 0:
                continue
            upper = part[at]
            lower = 1.0 - upper
            gain, stored = s[S[16] + lane], s[S[17] + lane]
            rx, ry, rz = 0.0, 0.0, 0.0
            ira, irb = s[S[7] + lane], s[S[15] + lane]
            if rolling:
                rx, ry, rz = data[d + U(RX) * W + lane], data[d + U(RY) * W + lane], data[d + U(RZ) * W + lane]
                stored += soft * (rx * rx + ry * ry + rz * rz)
                ir = data[d + U(INV_DR) * W + lane]
                qx = rx - (s[S[11] + lane] * irb - s[S[3] + lane] * ira + soft * rx) * ir
                qy = ry - (s[S[12] + lane] * irb - s[S[4] + lane] * ira + soft * ry) * ir
                qz = rz - (s[S[13] + lane] * irb - s[S[5] + lane] * ira + soft * rz) * ir
                bound = data[d + U(MU_R) * W + lane] * data[d + U(PN) * W + lane]
                ratio = bound * bound / (qx * qx + qy * qy + qz * qz + 1e-300)
                ratio = math.sqrt(ratio if ratio < 1.0 else 1.0)
                if not box:
                    gain += (rx * (qx * ratio - rx) + ry * (qy * ratio - ry) + rz * (qz * ratio - rz)) / (ir + 1e-300)
            a, b = np.int64(lane_a[at]), np.int64(lane_b[at])
            owner, first_node = a, layer[at] - base[a]
            if s[S[6] + lane] > 0.0:
                o = a * SHARE + 6 * first_node
                for f in range(3):
                    j = s[S[18] + U(f) * W + lane]
                    share_of[o + f] -= lower * j
                    share_of[o + 6 + f] -= upper * j
                tx, ty, tz = s[S[21] + lane] - 2.5 * ira * rx, s[S[22] + lane] - 2.5 * ira * ry, s[S[23] + lane] - 2.5 * ira * rz
                share_of[o + 3] += lower * tx
                share_of[o + 4] += lower * ty
                share_of[o + 5] += lower * tz
                share_of[o + 9] += upper * tx
                share_of[o + 10] += upper * ty
                share_of[o + 11] += upper * tz
            if b < yielding and s[S[14] + lane] > 0.0:
                if s[S[6] + lane] == 0.0:
                    owner, first_node = b, layer[at] - base[b]
                o = b * SHARE + 6 * (layer[at] - base[b])
                for f in range(3):
                    j = s[S[18] + U(f) * W + lane]
                    share_of[o + f] += lower * j
                    share_of[o + 6 + f] += upper * j
                tx, ty, tz = s[S[21] + lane] + 2.5 * irb * rx, s[S[22] + lane] + 2.5 * irb * ry, s[S[23] + lane] + 2.5 * irb * rz
                share_of[o + 3] += lower * tx
                share_of[o + 4] += lower * ty
                share_of[o + 5] += lower * tz
                share_of[o + 9] += upper * tx
                share_of[o + 10] += upper * ty
                share_of[o + 11] += upper * tz
            o = owner * SHARE + first_node
            share_of[o + R0] += lower * gain
            share_of[o + R0 + 1] += upper * gain
            share_of[o + D0] += lower * lower * stored
            share_of[o + D0 + 1] += upper * upper * stored
            share_of[o + O0] += lower * upper * stored


@device
def add_body(body, base, share_of, i, band, r):
    """One body's part of the band of K (nodes, 3: diagonal and two above it) and of r."""
    o = i * SHARE
    k = np.int64(base[i])
    m = body[i * BODY + INV_MASS]
    for p in range(3):
        if k + p >= len(r):
            break
        r[k + p] += share_of[o + R0 + p]
        band[k + p, 0] += share_of[o + D0 + p]
        if p < 2:
            band[k + p, 1] += share_of[o + O0 + p]
        for q in range(p, 3):
            x, y = o + 6 * p, o + 6 * q
            linear = share_of[x] * share_of[y] + share_of[x + 1] * share_of[y + 1] + share_of[x + 2] * share_of[y + 2]
            turn = share_of[x + 3] * share_of[y + 3] + share_of[x + 4] * share_of[y + 4] + share_of[x + 5] * share_of[y + 5]
            band[k + p, q - p] += m * (linear + 0.4 * turn)


@device
def solve_band(band, r, factor, alpha):
    """Solve K alpha = r for the symmetric band K; False if it is singular. ``factor`` is work of K's shape."""
    nodes = len(r)
    mean = 0.0
    for k in range(nodes):
        mean += band[k, 0] / nodes
    if not (mean > 0.0 and mean < np.inf):
        return False
    for k in range(nodes):  # LDL^T, D in factor[:, 0]
        first = factor[k - 1, 1] if k > 0 else 0.0
        second = factor[k - 2, 2] if k > 1 else 0.0
        pivot = band[k, 0] + RIDGE * mean
        if k > 0:
            pivot -= first * first * factor[k - 1, 0]
        if k > 1:
            pivot -= second * second * factor[k - 2, 0]
        if not pivot > 0.0:
            return False
        factor[k, 0] = pivot
        factor[k, 1] = (band[k, 1] - (first * factor[k - 1, 0] * factor[k - 1, 2] if k > 0 else 0.0)) / pivot
        factor[k, 2] = band[k, 2] / pivot
        alpha[k] = r[k] - (first * alpha[k - 1] if k > 0 else 0.0) - (second * alpha[k - 2] if k > 1 else 0.0)
    for k in range(nodes - 1, -1, -1):
        alpha[k] /= factor[k, 0]
        if k + 1 < nodes:
            alpha[k] -= factor[k, 1] * alpha[k + 1]
        if k + 2 < nodes:
            alpha[k] -= factor[k, 2] * alpha[k + 2]
    return True


@device
def bound_amplitudes(band, r, alpha):
    """Keep every factor 1 + alpha in its range, then go as far along alpha as the energy falls."""
    nodes = len(r)
    for k in range(nodes):
        alpha[k] = min(max(alpha[k], SMALLEST - 1.0), LARGEST - 1.0)
    work, energy = 0.0, 0.0
    for k in range(nodes):
        work += r[k] * alpha[k]
        energy += band[k, 0] * alpha[k] * alpha[k]
        for q in range(1, 3):
            if k + q < nodes:
                energy += 2.0 * band[k, q] * alpha[k] * alpha[k + q]
    part = min(max(work / energy, 0.0), 1.0) if energy > 0.0 else 0.0
    for k in range(nodes):
        alpha[k] *= part


@device
def scale_bodies(body, body_before, base, share_of, alpha, first, last):
    """Velocity change of the scaled impulses; the iterate before is moved along, so that the momentum stays."""
    for i in range(first, last):
        m = body[i * BODY + INV_MASS]
        if m == 0.0:
            continue
        o, k = i * SHARE, np.int64(base[i])
        for f in range(6):
            change = 0.0
            for p in range(3):
                if k + p < len(alpha):
                    change += alpha[k + p] * share_of[o + 6 * p + f]
            body[i * BODY + f] += m * change
            body_before[i * 6 + f] += m * change


@device
def scale_blocks(blocks, before, coarse, first, last):
    """Scale the impulses of blocks, and move those before along."""
    data, fields, layer, part, alpha = blocks.data, blocks.fields, coarse.layer, coarse.part, coarse.alpha
    kept = 7 if fields > RX else 4
    for k in range(first, last):
        for lane in range(W):
            at = U(k) * W + lane
            if layer[at] < 0:
                continue
            f = (1.0 - part[at]) * alpha[layer[at]] + part[at] * alpha[layer[at] + 1]
            d, o = U(k * fields) * W + lane, U(k * kept) * W + lane
            for q in range(U(4)):
                change = f * data[d + (U(PN) + q) * W]
                data[d + (U(PN) + q) * W] += change
                before[o + q * W] += change
            if kept == 7:
                for q in range(U(3)):
                    change = f * data[d + (U(RX) + q) * W]
                    data[d + (U(RX) + q) * W] += change
                    before[o + (U(4) + q) * W] += change


@device
def correct(crew, packed, blocks, work, coarse, scratch):
    """One coarse correction by all threads; a singular coarse problem prevents it, which ``coarse.tally`` counts."""
    thread, threads, barrier = crew
    body, colour_block = packed.body, blocks.colour_block
    base, share_of, band, r, alpha = coarse.base, coarse.share_of, coarse.band, coarse.r, coarse.alpha
    low, high = share(np.int64(packed.yielding), thread, threads)
    for q in range(low * SHARE, high * SHARE):
        share_of[q] = 0.0
    wait(barrier, threads)
    for c in range(COLOURS):
        first, last = np.int64(colour_block[c]), np.int64(colour_block[c + 1])
        if first == last:
            continue
        begin, end = share(last - first, thread, threads)
        gather_blocks(packed, blocks, coarse, first + begin, first + end, scratch)
        wait(barrier, threads)
    if thread == 0:
        band[:] = 0.0
        r[:] = 0.0
        for i in range(packed.yielding):
            if body[i * BODY + INV_MASS] > 0.0:
                add_body(body, base, share_of, i, band, r)
        if solve_band(band, r, coarse.factor, alpha):
            bound_amplitudes(band, r, alpha)
        else:
            alpha[:] = 0.0
            coarse.tally[1] += 1
        coarse.tally[0] += 1
    wait(barrier, threads)
    scale_bodies(body, work.body_before, base, share_of, alpha, low, high)
    begin, end = share(np.int64(colour_block[COLOURS]), thread, threads)
    scale_blocks(blocks, work.before, coarse, begin, end)
    wait(barrier, threads)
