"""Stiffness matrices of contact networks, kept as what they are: one block K (C, d, d) [N/m] for every contact.

d2E/dx_a dx_a = d2E/dx_b dx_b = K and d2E/dx_a dx_b = -K, summed over contacts; a grain that meets its own image adds nothing.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import kernel
from ..array_types import FloatArray, IntArray


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


@kernel
def eigenpairs(blocks: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues (N, d) and eigenvectors (N, d, d), one a column, of symmetric blocks (N, d, d), by Jacobi's rotations."""
    count, dim = len(blocks), blocks.shape[1]
    values, vectors = np.empty((count, dim)), np.zeros((count, dim, dim))
    for n in range(count):
        m, v = blocks[n].copy(), vectors[n]
        for k in range(dim):
            v[k, k] = 1.0
        for _ in range(50):
            left = 0.0
            for p in range(dim):
                for q in range(p + 1, dim):
                    if abs(m[p, q]) <= 1e-17 * (abs(m[p, p]) + abs(m[q, q])):
                        continue
                    left = 1.0
                    ratio = (m[q, q] - m[p, p]) / (2.0 * m[p, q])
                    t = math.copysign(1.0, ratio) / (abs(ratio) + math.sqrt(ratio * ratio + 1.0))
                    c = 1.0 / math.sqrt(t * t + 1.0)
                    s = t * c
                    for k in range(dim):
                        a, b = m[k, p], m[k, q]
                        m[k, p], m[k, q] = c * a - s * b, s * a + c * b
                    for k in range(dim):
                        a, b = m[p, k], m[q, k]
                        m[p, k], m[q, k] = c * a - s * b, s * a + c * b
                        a, b = v[k, p], v[k, q]
                        v[k, p], v[k, q] = c * a - s * b, s * a + c * b
                    m[p, q] = m[q, p] = 0.0
            if left == 0.0:
                break
        for k in range(dim):
            values[n, k] = m[k, k]
    return values, vectors
