"""The force of a contact as a power of its overlap, for kernels: f = k delta^(2 e_H - 1), and delta from f.

Both laws need roots only, so that no power is taken: e_H is 5/4 for Hertz and 1 for a linear spring.
"""

from __future__ import annotations

import math

from .._jit import device
from ..arithmetic.elementary import cube_root


@device
def push_of(overlap, exponent):
    """delta^(2 e_H - 1) of an ``overlap`` >= 0; ``exponent`` is e_H."""
    return overlap * math.sqrt(overlap) if exponent > 1.0 else overlap


@device
def overlap_of(push, exponent):
    """The overlap whose ``push_of`` is ``push`` >= 0."""
    if exponent > 1.0:
        root = cube_root(push)
        return root * root
    return push
