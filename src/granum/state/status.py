"""What a contact is doing: pressing, rebounding from an impact, or sliding."""

from __future__ import annotations

import numpy as np

from ..arithmetic import length
from ..array_types import FloatArray, IntArray

CONTINUOUS, REBOUNDING, SLIDING = 0, 1, 2
AT_BOUND = 1 - 1e-6  # of the friction bound: a contact that slides


def contact_friction(friction: FloatArray, material: IntArray, wall_material: IntArray, a: IntArray, b: IntArray) -> FloatArray:
    """(C,) mu of each contact, from the pair table's (M, M) ``friction`` and the materials of grains and walls."""
    other = np.empty(len(b), np.int64)
    pair = b >= 0
    other[pair], other[~pair] = material[b[pair]], wall_material[-1 - b[~pair]]
    return friction[material[a], other]


def contact_status(normal: FloatArray, tangential: FloatArray, friction: FloatArray, rebounding: np.ndarray) -> np.ndarray:
    """(C,) 0: continuous, 1: an impact from which the two have not yet come apart, 2: sliding, its friction at the bound.

    ``normal`` (C,) and ``tangential`` (C, 3) are forces or impulses, ``friction`` (C,) is mu.
    """
    bound = friction * normal
    status = np.where((length(tangential) >= AT_BOUND * bound) & (bound > 0), SLIDING, CONTINUOUS)
    status[rebounding] = REBOUNDING
    return status.astype(np.int8)
