"""Persistence: which contact of the last step each contact of this step continues.

A contact is known by the ids of its two shapes and the wall's feature. A pair may change its owner when the neighbour list is made anew;
its impulses then change sign with its normal.
"""

from __future__ import annotations

import numpy as np

from .._jit import device
from ..parallel.barrier import add_up, largest_of, share
from .past import COUNT, GRAINS, PAIRS

OPENED = 0.05  # of the fall of a step: contacts whose gap is wider have opened


@device
def find_among(low, high, partner, part, n, old_partner, feature, normal, first):
    """The old contact in low..high with this partner and feature (of a wall: and the nearest normal); -1: none.

    ``normal`` are those of the old contacts from the ``first`` on, which are with walls.
    """
    best, best_dot = -1, -2.0
    for o in range(low, high):
        if old_partner[o] == partner and feature[o] == part:
            if partner >= 0:
                return o
            dot = n[0] * normal[o - first, 0] + n[1] * normal[o - first, 1] + n[2] * normal[o - first, 2]
            if dot > best_dot:
                best, best_dot = o, dot
    return best


@device
def carry_over(crew, id, fall, past, contacts, total):
    """Carry impulses [N s] and rebound speeds [m/s] over; new contacts start from zero, and so do those that have opened: by more than
    ``OPENED`` of what gravity can close in a step (``fall`` [m]), or that now look to another side.

    ``id`` (N,) is that of the grains. Of the first ``total`` of this step's ``contacts`` impulse, rebound and partner are written.

    Returns whether each contact is the one that had its number before, and the last contact (else -1) that has turned to the other side of
    a wall: its grain went through.
    """
    thread, threads, barrier = crew
    a, b, feature, normal, overlap, impulse, rebound, partner = contacts
    old_first, old_count, grains, pairs = past.first, past.number, past.known[GRAINS], past.known[PAIRS]
    changed, through = np.int64(total != past.known[COUNT]), -1
    low, high = share(total, thread, threads)
    for c in range(low, high):
        i, j, part = a[c], b[c], feature[c]
        partner[c] = id[j] if j >= 0 else j
        nx, ny, nz = n = normal[c, 0], normal[c, 1], normal[c, 2]
        o, sign = -1, 1.0
        side = 0 if j >= 0 else 1
        if i < grains:
            first = old_first[side, i]
            o = find_among(first, first + old_count[side, i], partner[c], part, n, past.partner, past.feature, past.normal, pairs)
        if o < 0 and 0 <= j < grains:
            first = old_first[0, j]
            o = find_among(first, first + old_count[0, j], id[i], part, n, past.partner, past.feature, past.normal, pairs)
            sign = -1.0
        changed += o != c or sign < 0.0
        towards = sign
        if o >= 0 and j < 0:
            w = o - pairs
            towards = nx * past.normal[w, 0] + ny * past.normal[w, 1] + nz * past.normal[w, 2]
            if towards < -0.5 and overlap[c] > 0.0 and past.overlap[w] > 0.0:
                through = c
        if o < 0 or overlap[c] < -OPENED * fall or (j < 0 and towards < 0.0):
            rebound[c] = 0.0
            for f in range(7):
                impulse[c, f] = 0.0
            continue
        rebound[c] = past.rebound[o] if overlap[c] > 0.0 else 0.0
        impulse[c, 0] = past.impulse[o, 0]
        for f in range(1, 7):
            impulse[c, f] = sign * past.impulse[o, f]
        # The tangent plane turns with the contact: what now points along the normal is dropped.
        along = impulse[c, 1] * nx + impulse[c, 2] * ny + impulse[c, 3] * nz
        impulse[c, 1] -= along * nx
        impulse[c, 2] -= along * ny
        impulse[c, 3] -= along * nz
    return add_up(barrier, thread, threads, changed)[1] == 0, largest_of(barrier, thread, threads, through)
