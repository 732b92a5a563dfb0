"""Factors by SciPy, where the compiled squares cannot be used: the same answers to rounding, some ten times slower.

SuperLU's A = L U with the pivots on the diagonal, in our own order of elimination. A symmetric matrix is positive definite just
if all these pivots are positive.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array_types import BoolArray, FloatArray, IntArray, LongArray


class ScipyFactor:
    """L and U of A = L U; ``place`` (N,) says where each node stands in the order of elimination."""

    def __init__(self, lu: Any, entries: int, place: LongArray, m: int) -> None:
        self._lu, self._m = lu, m
        self._row = (m * place[:, None] + np.arange(m)).ravel()  # of each number in the order of elimination
        self.entries = entries  # numbers in U

    def solve(self, rhs: FloatArray) -> FloatArray:
        """x of A x = rhs; rhs is (N, m), and for m = 1 also (N, columns)."""
        given = np.asarray(rhs, np.float64)
        columns = given.reshape(len(self._row), -1)
        x = np.empty_like(columns)
        for c in range(columns.shape[1]):  # one by one: an answer does not depend on what else is asked
            ordered = np.empty(len(self._row))
            ordered[self._row] = columns[:, c]
            x[:, c] = self._lu.solve(ordered)[self._row]
        return x.reshape(given.shape)

    def single(self) -> ScipyFactor:
        """As ``Factor.single``: SuperLU's factors stay as they are."""
        return self


class ScipyElimination:
    """Nodes in an order of elimination ``order`` (N,), edges a-b (E,)."""

    def __init__(self, order: IntArray, a: IntArray, b: IntArray) -> None:
        self._place = np.empty(len(order), np.int64)
        self._place[order] = np.arange(len(order))
        self._apart: BoolArray = np.asarray(a != b)
        self._a, self._b = self._place[a[self._apart]], self._place[b[self._apart]]

    def factorise(self, diagonal: FloatArray, edge: FloatArray) -> ScipyFactor | None:
        """As ``Plan.factorise``."""
        from scipy import sparse
        from scipy.sparse.linalg import splu

        count, m = diagonal.shape[:2]
        if count == 0:
            return ScipyFactor(None, 0, self._place, m)
        off = np.asarray(edge, np.float64)[self._apart]
        values = np.concatenate([np.asarray(diagonal, np.float64), off, off.transpose(0, 2, 1)])
        if not np.isfinite(values).all():
            return None
        row = np.concatenate([self._place, self._a, self._b])[:, None, None] * m + np.arange(m)[:, None]
        column = np.concatenate([self._place, self._b, self._a])[:, None, None] * m + np.arange(m)
        row, column = np.broadcast_arrays(row, column)
        whole = sparse.csc_matrix((values.ravel(), (row.ravel(), column.ravel())), shape=(m * count, m * count))
        try:
            lu = splu(whole, permc_spec="NATURAL", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        except RuntimeError:  # a pivot is zero
            return None
        upper = lu.U
        pivot = upper.diagonal()
        if not (np.array_equal(lu.perm_r, lu.perm_c) and (pivot > 0.0).all() and np.isfinite(pivot).all()):
            return None
        return ScipyFactor(lu, upper.nnz, self._place, m)
