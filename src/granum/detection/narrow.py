"""Narrow phase of grain pairs: overlap and normal of those candidates that touch."""

from __future__ import annotations

import math

import numpy as np

from .._jit import FloatArray, IntArray, kernel

ROUNDING = 1e-12  # grains that touch but for rounding are in contact


@kernel
def gather_sorted(
    position: FloatArray, first: int, radius: FloatArray, order: IntArray, reference: FloatArray, skin: FloatArray,
    sphere: FloatArray, left: IntArray,
) -> int:  # fmt: skip
    """Fill ``sphere`` (R, 4) with centre and radius [m] by rank; returns how many grains have left their skin, named in ``left``.

    It counts no further than there is room in ``left``. An empty rank is put out of everybody's reach.
    """
    gone = 0
    for k in range(len(order)):
        i = order[k]
        if i < 0:
            sphere[k, 0], sphere[k, 1], sphere[k, 2], sphere[k, 3] = np.inf, np.inf, np.inf, 0.0
            continue
        x, y, z = position[first + i, 0], position[first + i, 1], position[first + i, 2]
        dx, dy, dz = x - reference[i, 0], y - reference[i, 1], z - reference[i, 2]
        if not dx * dx + dy * dy + dz * dz <= skin[i] * skin[i] and gone < len(left):  # a NaN is not inside
            left[gone] = i
            gone += 1
        sphere[k, 0], sphere[k, 1], sphere[k, 2], sphere[k, 3] = x, y, z, radius[i]
    return gone


@kernel
def find_pair_contacts(
    sphere: FloatArray, order: IntArray, candidate_first: IntArray, candidate: IntArray, movable: FloatArray, first: int,
    a: IntArray, b: IntArray, feature: IntArray, normal: FloatArray, overlap: FloatArray, first_of: IntArray,
    count_of: IntArray,
) -> int:  # fmt: skip
    """Contacts of grain pairs, in Morton order of their owner a; returns how many, written only as far as there is room.

    ``movable`` is the inverse mass of the bodies: two grains that never move do not push.
    """
    found, room = 0, len(a)
    for k in range(len(order)):
        i = order[k]
        if i < 0:
            continue
        xk, yk, zk, rk = sphere[k, 0], sphere[k, 1], sphere[k, 2], sphere[k, 3]
        first_of[i] = found
        for c in range(candidate_first[k], candidate_first[k + 1]):
            m = candidate[c]
            dx, dy, dz = sphere[m, 0] - xk, sphere[m, 1] - yk, sphere[m, 2] - zk
            near = rk + sphere[m, 3]
            square = dx * dx + dy * dy + dz * dz
            if square < near * near * (1.0 + ROUNDING):
                j = order[m]
                if movable[first + i] + movable[first + j] > 0.0:
                    if found < room:
                        distance = math.sqrt(square)
                        a[found], b[found], feature[found] = i, j, 0
                        overlap[found] = max(0.0, near - distance)
                        if distance > 0.0:
                            f = 1.0 / distance
                            normal[found, 0], normal[found, 1], normal[found, 2] = dx * f, dy * f, dz * f
                        else:  # concentric: any direction will do, but always the same
                            normal[found, 0], normal[found, 1], normal[found, 2] = 0.0, 0.0, 1.0
                    found += 1
        count_of[i] = found - first_of[i]
    return found
