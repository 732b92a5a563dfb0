"""Lever arms of all contacts of bodies with full inertia: dynamic walls and aggregates."""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from ..array_types import FloatArray, IntArray, LongArray
from ..parallel.barrier import share, wait


@kernel
def place_levers(
    thread: int,
    threads: int,
    barrier: LongArray,
    contact_at: IntArray,
    serial_start: int,
    a: IntArray,
    b: IntArray,
    normal: FloatArray,
    overlap: FloatArray,
    slot_a: IntArray,
    slot_b: IntArray,
    first_full: int,
    first_wall_slot: int,
    centre: FloatArray,
    position: FloatArray,
    radius: FloatArray,
    first: int,
    lever: FloatArray,
    full: IntArray,
) -> None:
    """Fill ``full`` (Q, 2) and ``lever`` (Q, 6) [m] of the contacts that are swept one by one; ``centre`` (F, 3) [m] of the full bodies."""
    low, high = share(len(lever), thread, threads)
    for q in range(low, high):
        c = contact_at[serial_start + q]
        full[q, 0] = full[q, 1] = -1
        if c < 0:
            continue
        sa, sb = np.int64(slot_a[c]), np.int64(slot_b[c])
        i, r = first + a[c], radius[a[c]]
        reach, other = r, 1.0
        if b[c] >= 0:
            s = radius[b[c]]
            kappa = 1.0 - overlap[c] / (r + s)
            reach, other = kappa * r, kappa * s
        for f in range(3):
            point = position[i, f] + reach * normal[c, f]
            lever[q, f] = reach * normal[c, f]
            lever[q, 3 + f] = -other * normal[c, f]
            if first_full <= sa < first_wall_slot:
                lever[q, f] = point - centre[sa - first_full, f]
            if first_full <= sb < first_wall_slot:
                lever[q, 3 + f] = point - centre[sb - first_full, f]
        if first_full <= sa < first_wall_slot:
            full[q, 0] = sa - first_full
        if first_full <= sb < first_wall_slot:
            full[q, 1] = sb - first_full
    wait(barrier, threads)
