"""Products of small vectors and matrices, term by term in the order of their indices. All take stacks of them: (..., d) and (..., d, d)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array_types import FloatArray


def dot(u: Any, v: Any) -> Any:
    """Sum of u v over the last axis, which is short."""
    terms = np.multiply(u, v)
    found = terms[..., 0]
    for k in range(1, terms.shape[-1]):
        found = found + terms[..., k]
    return found


def length(u: Any) -> Any:
    """Of vectors (..., d)."""
    return np.sqrt(dot(u, u))


def times(matrix: FloatArray, vector: FloatArray) -> FloatArray:
    """(..., d, e) matrices times (..., e) vectors."""
    return np.asarray(dot(matrix, np.asarray(vector)[..., None, :]))


def product(a: Any, b: FloatArray) -> FloatArray:
    """(..., n, d) times (..., d, e), d being small."""
    found = a[..., :, 0, None] * b[..., None, 0, :]
    for k in range(1, a.shape[-1]):
        found = found + a[..., :, k, None] * b[..., None, k, :]
    return np.asarray(found)


def determinant(m: FloatArray) -> Any:
    """Of matrices of 1, 2 or 3 rows."""
    return dot(m[..., 0, :], _cofactors(m)[..., 0, :])


def inverse(m: FloatArray) -> FloatArray:
    """Of matrices of 1, 2 or 3 rows; symmetric where they are."""
    cofactors = _cofactors(m)
    return np.swapaxes(cofactors, -1, -2) / dot(m[..., 0, :], cofactors[..., 0, :])[..., None, None]


def solve(m: FloatArray, v: FloatArray) -> FloatArray:
    """x of m x = v, m (..., d, d) being symmetric and positive definite, v (..., d)."""
    m, v = np.array(m, float), np.array(v, float)
    size = v.shape[-1]
    for k in range(size):
        for i in range(k + 1, size):
            part = m[..., i, k] / m[..., k, k]
            m[..., i, :] -= part[..., None] * m[..., k, :]
            v[..., i] -= part * v[..., k]
    for k in reversed(range(size)):
        for j in range(k + 1, size):
            v[..., k] -= m[..., k, j] * v[..., j]
        v[..., k] /= m[..., k, k]
    return v


def _cofactors(m: FloatArray) -> FloatArray:
    size = m.shape[-1]
    found = np.ones_like(m)
    if size == 2:
        found[..., 0, 0], found[..., 0, 1], found[..., 1, 0], found[..., 1, 1] = m[..., 1, 1], -m[..., 1, 0], -m[..., 0, 1], m[..., 0, 0]
    if size == 3:
        for i in range(3):
            for j in range(3):
                a, b, c, d = (i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3
                found[..., i, j] = m[..., a, c] * m[..., b, d] - m[..., a, d] * m[..., b, c]
    return found
