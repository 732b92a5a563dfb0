"""Stiffness matrices of contact networks, kept as what they are: one block K (C, d, d) [N/m] for every contact.

d2E/dx_a dx_a = d2E/dx_b dx_b = K and d2E/dx_a dx_b = -K, summed over contacts; a grain that meets its own image adds nothing.
"""

from __future__ import annotations

import numpy as np

from .._jit import FloatArray, IntArray, kernel


@kernel
def diagonal_blocks(count: int, a: IntArray, b: IntArray, blocks: FloatArray) -> FloatArray:
    """(N, d, d) blocks on the diagonal."""
    dim = blocks.shape[1]
    diagonal = np.zeros((count, dim, dim))
    for c in range(len(a)):
        if a[c] != b[c]:
            for k in range(dim):
                for m in range(dim):
                    diagonal[a[c], k, m] += blocks[c, k, m]
                    diagonal[b[c], k, m] += blocks[c, k, m]
    return diagonal


@kernel
def multiply(a: IntArray, b: IntArray, blocks: FloatArray, v: FloatArray) -> FloatArray:
    """The matrix times v (N, d)."""
    out = np.zeros_like(v)
    dim = v.shape[1]
    for c in range(len(a)):
        i, j = a[c], b[c]
        for k in range(dim):
            push = 0.0
            for m in range(dim):
                push += blocks[c, k, m] * (v[i, m] - v[j, m])
            out[i, k] += push
            out[j, k] -= push
    return out
