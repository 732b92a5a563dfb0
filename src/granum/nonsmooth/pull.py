"""Contacts that attract: an impulse that is known before the solve, as gravity's is.

The solver then finds the push alone, and bounds friction by it: of two grains that hang together at rest the push is the attraction less
what is hung on them.
"""

from __future__ import annotations

import numpy as np

from .._jit import device, kernel
from ..array_types import FloatArray, IntArray
from ..contact.law import Parameters, pull_off
from .blocks import BODY, INV_MASS
from .kinds.contact import arms, full_bodies, listed, strike


@device
def pull_together(problem, met, law, h):
    """h times the law's attraction on both bodies of every contact of a grain that is closed, along its normal; bodies do not attract."""
    packed, blocks, levers, found = problem
    body, normal = packed.body, met.normal
    for c in range(met.grain_contacts):
        if met.overlap[c] <= 0.0:
            continue
        pull = -h * pull_off(law, found.radius_eff[c])
        jx, jy, jz = pull * normal[c, 0], pull * normal[c, 1], pull * normal[c, 2]
        a, b = np.int64(found.slot_a[c]), np.int64(found.slot_b[c])
        q = listed(blocks, levers, found.place[c])
        if q >= 0:
            n = normal[c, 0], normal[c, 1], normal[c, 2]
            strike(packed, a, b, full_bodies(levers, q), arms(packed, levers, a, b, n, 1.0, q), (jx, jy, jz))
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
