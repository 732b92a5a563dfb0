"""Persistence: which contact of the last step each contact of this step continues.

A contact is known by its two bodies (and the wall's feature). A pair may change its owner when the neighbour list is made anew; its
impulses then change sign with its normal.
"""

from __future__ import annotations

from .._jit import device, kernel
from ..array_types import FloatArray, IntArray, LongArray
from ..parallel.barrier import add_up, largest_of, share

OPENED = 0.05  # of the fall of a step: contacts whose gap is wider have opened


@device
def find_among(low, high, partner, part, nx, ny, nz, b, feature, normal):
    """The old contact in low..high with this partner and feature (of a wall: and the nearest normal); -1: none."""
    best, best_dot = -1, -2.0
    for o in range(low, high):
        if b[o] == partner and feature[o] == part:
            if partner >= 0:
                return o
            dot = nx * normal[o, 0] + ny * normal[o, 1] + nz * normal[o, 2]
            if dot > best_dot:
                best, best_dot = o, dot
    return best


@kernel
def carry_over(
    thread: int,
    threads: int,
    barrier: LongArray,
    # this step's contacts
    a: IntArray,
    b: IntArray,
    feature: IntArray,
    normal: FloatArray,
    overlap: FloatArray,
    fall: float,
    # the last step's, with where those of each grain stand: pairs (column 0) and walls (column 1)
    old_b: IntArray,
    old_feature: IntArray,
    old_normal: FloatArray,
    old_overlap: FloatArray,
    old_impulse: FloatArray,
    old_rebound: FloatArray,
    old_first: IntArray,
    old_count: IntArray,
    # out
    impulse: FloatArray,
    rebound: FloatArray,
) -> tuple[bool, int]:
    """Carry impulses [N s] and rebound speeds [m/s] over; new contacts start from zero, and so do those that have opened: by more than
    ``OPENED`` of what gravity can close in a step (``fall`` [m]), or that now look to another side.

    Returns whether the contacts are the same as before, in the same order, and the last contact (else -1) that has turned to the
    other side of a wall: its grain went through.
    """
    known, changed, through = old_first.shape[1], int(len(a) != len(old_b)), -1
    low, high = share(len(a), thread, threads)
    for c in range(low, high):
        i, j, part = a[c], b[c], feature[c]
        nx, ny, nz = normal[c, 0], normal[c, 1], normal[c, 2]
        old, sign = -1, 1.0
        side = 0 if j >= 0 else 1
        if i < known:
            low = old_first[side, i]
            old = find_among(low, low + old_count[side, i], j, part, nx, ny, nz, old_b, old_feature, old_normal)
        if old < 0 and 0 <= j < known:
            low = old_first[0, j]
            old = find_among(low, low + old_count[0, j], i, part, -nx, -ny, -nz, old_b, old_feature, old_normal)
            sign = -1.0
        changed += old != c or sign < 0.0
        towards = sign
        if old >= 0 and j < 0:
            towards = nx * old_normal[old, 0] + ny * old_normal[old, 1] + nz * old_normal[old, 2]
            if towards < -0.5 and overlap[c] > 0.0 and old_overlap[old] > 0.0:
                through = c
        if old < 0 or overlap[c] < -OPENED * fall or (j < 0 and towards < 0.0):
            rebound[c] = 0.0
            for f in range(7):
                impulse[c, f] = 0.0
            continue
        rebound[c] = old_rebound[old] if overlap[c] > 0.0 else 0.0
        impulse[c, 0] = old_impulse[old, 0]
        for f in range(1, 7):
            impulse[c, f] = sign * old_impulse[old, f]
        # The tangent plane turns with the contact: what now points along the normal is dropped.
        along = impulse[c, 1] * nx + impulse[c, 2] * ny + impulse[c, 3] * nz
        impulse[c, 1] -= along * nx
        impulse[c, 2] -= along * ny
        impulse[c, 3] -= along * nz
    return add_up(barrier, thread, threads, changed)[1] == 0, largest_of(barrier, thread, threads, through)
