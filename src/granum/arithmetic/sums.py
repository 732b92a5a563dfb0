"""Long sums in a fixed order."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._jit import device, kernel
from ..array_types import FloatArray


@device
def sum_of(p, count, first, stride):
    """Of ``count`` numbers of an array, the ``first`` and then every ``stride``-th, in eight parts, so that it is fast."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    whole = count // 8 * 8
    for n in range(0, whole, 8):
        i = first + n * stride
        s0 += p[i]
        s1 += p[i + stride]
        s2 += p[i + 2 * stride]
        s3 += p[i + 3 * stride]
        s4 += p[i + 4 * stride]
        s5 += p[i + 5 * stride]
        s6 += p[i + 6 * stride]
        s7 += p[i + 7 * stride]
    for n in range(whole, count):
        s0 += p[first + n * stride]
    return ((s0 + s4) + (s1 + s5)) + ((s2 + s6) + (s3 + s7))


@kernel
def total_of(p: FloatArray) -> float:
    """Of all numbers of an array."""
    return sum_of(p, len(p), 0, 1)


def total(values: Any) -> float:
    """Sum of all numbers of an array."""
    return float(total_of(np.ascontiguousarray(values, np.float64).ravel()))


def totals(rows: FloatArray) -> FloatArray:
    """(d,) sums of the columns of an (n, d) array."""
    return np.array([total(column) for column in rows.T])


def mean(values: Any) -> float:
    """Mean of all numbers of an array; NaN of none."""
    return total(values) / np.size(values) if np.size(values) else np.nan
