"""Long sums in a fixed order."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._jit import kernel
from ..array_types import FloatArray


@kernel
def total_of(p: FloatArray) -> float:
    """In eight parts, so that it is fast."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    whole = len(p) // 8 * 8
    for i in range(0, whole, 8):
        s0 += p[i]
        s1 += p[i + 1]
        s2 += p[i + 2]
        s3 += p[i + 3]
        s4 += p[i + 4]
        s5 += p[i + 5]
        s6 += p[i + 6]
        s7 += p[i + 7]
    for i in range(whole, len(p)):
        s0 += p[i]
    return ((s0 + s4) + (s1 + s5)) + ((s2 + s6) + (s3 + s7))


def total(values: Any) -> float:
    """Sum of all numbers of an array."""
    return float(total_of(np.ascontiguousarray(values, np.float64).ravel()))


def totals(rows: FloatArray) -> FloatArray:
    """(d,) sums of the columns of an (n, d) array."""
    return np.array([total(column) for column in rows.T])


def mean(values: Any) -> float:
    """Mean of all numbers of an array; NaN of none."""
    return total(values) / np.size(values) if np.size(values) else np.nan
