"""Contacts that attract: an impulse that is known before the solve, as gravity's is.

The solver then finds the push alone, and bounds friction by it: of two grains that hang together at rest the push is the attraction less
what is hung on them.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from ..array_types import FloatArray, IntArray
from ..contact.law import Parameters, pull_off
from .blocks import BODY, INV_MASS
from .rows import listed, strike


@kernel
def pull_together(
    overlap: FloatArray,
    normal: FloatArray,
    radius_eff: FloatArray,
    slot_a: IntArray,
    slot_b: IntArray,
    place: IntArray,
    serial_start: int,
    lever: FloatArray,
    full: IntArray,
    inverse_inertia: FloatArray,
    law: Parameters,
    h: float,
    body: FloatArray,
) -> None:
    """h times the law's attraction on both bodies of every contact that is closed, along its normal."""
    for c in range(len(overlap)):
        if overlap[c] <= 0.0:
            continue
        pull = -h * pull_off(law, radius_eff[c])
        jx, jy, jz = pull * normal[c, 0], pull * normal[c, 1], pull * normal[c, 2]
        a, b = np.int64(slot_a[c]), np.int64(slot_b[c])
        q = listed(place[c], serial_start, full)
        if q >= 0:
            fa, fb = np.int64(full[q, 0]), np.int64(full[q, 1])
            ax, ay, az, bx, by, bz = lever[q, 0], lever[q, 1], lever[q, 2], lever[q, 3], lever[q, 4], lever[q, 5]
            strike(body, a, b, fa, fb, inverse_inertia, ax, ay, az, bx, by, bz, jx, jy, jz)
            continue
        for o, sign in ((a * BODY, -1.0), (b * BODY, 1.0)):  # along the line of centres: nothing turns
            m = sign * body[o + INV_MASS]
            body[o] += m * jx
            body[o + 1] += m * jy
            body[o + 2] += m * jz


@kernel
def net_impulses(a: IntArray, b: IntArray, overlap: FloatArray, radius: FloatArray, law: Parameters, h: float, impulse: FloatArray) -> None:
    """Take the attraction of closed contacts from the normal impulses (C, 7) [N s] of their pushes."""
    for c in range(len(overlap)):
        if overlap[c] > 0.0:
            radius_eff = 1.0 / (1.0 / radius[a[c]] + 1.0 / radius[b[c]]) if b[c] >= 0 else radius[a[c]]
            impulse[c, 0] -= h * pull_off(law, radius_eff)
