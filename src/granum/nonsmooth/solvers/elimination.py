"""Impulses eliminated: what is left of a Newton step, one sparse matrix of 6 x 6 blocks for the bodies.

With dp = e - D du in every contact and du = G M^-1 G^T dp, velocities y scaled by the root of the mass obey (I + G^T D G) y = G^T e.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import SuperLU, splu

from ..._jit import kernel
from ...array_types import FloatArray, IntArray
from ..system import System


@kernel
def split_rows(values: FloatArray, columns: IntArray, start: IntArray, rows: int, contacts: int) -> tuple[IntArray, FloatArray]:
    """Bodies (C, 2) of every contact, -1 for none, and their dense parts (C, 2, rows, 6) of a sparse G."""
    pair = np.full((contacts, 2), -1, np.int32)
    blocks = np.zeros((contacts, 2, rows, 6))
    for c in range(contacts):
        for i in range(rows):
            for k in range(start[c * rows + i], start[c * rows + i + 1]):
                body = columns[k] // 6
                side = 0
                if pair[c, 0] < 0:
                    pair[c, 0] = body
                elif pair[c, 0] != body:
                    pair[c, 1] = body
                    side = 1
                blocks[c, side, i, columns[k] % 6] = values[k]
    return pair, blocks


@kernel
def place_blocks(pair: IntArray, rank: IntArray, start: IntArray, row: IntArray) -> IntArray:
    """(C, 4) where in the sparse matrix of bodies (by columns, sorted) the parts aa, ba, ab, bb of every contact stand; -1: nowhere."""
    place = np.full((len(pair), 4), -1, np.int32)
    for c in range(len(pair)):
        for right in range(2):
            for left in range(2):
                if pair[c, right] >= 0 and pair[c, left] >= 0:
                    j, i = rank[pair[c, right]], rank[pair[c, left]]
                    place[c, 2 * right + left] = start[j] + np.searchsorted(row[start[j] : start[j + 1]], i)
    return place


@kernel
def spread(start: IntArray, row: IntArray) -> tuple[IntArray, IntArray]:
    """Start of the columns and rows of a matrix of 6 x 6 blocks, from those of its blocks."""
    starts = np.empty(6 * (len(start) - 1) + 1, np.int32)
    rows = np.empty(36 * len(row), np.int32)
    k = 0
    for j in range(len(start) - 1):
        for f in range(6):
            starts[6 * j + f] = k
            for i in range(start[j], start[j + 1]):
                for g in range(6):
                    rows[k] = 6 * row[i] + g
                    k += 1
    starts[-1] = k
    return starts, rows


@kernel
def add_blocks(
    pair: IntArray, blocks: FloatArray, place: IntArray, rank: IntArray, start: IntArray, row: IntArray, law: FloatArray, values: FloatArray
) -> None:
    """I + G^T D G into the values of a matrix by columns, 6 for each body; ``law`` (C, rows, rows) is D."""
    rows = law.shape[1]
    values[:] = 0.0
    for j in range(len(start) - 1):
        count = start[j + 1] - start[j]
        diagonal = np.searchsorted(row[start[j] : start[j + 1]], j)
        for f in range(6):
            values[36 * start[j] + f * 6 * count + 6 * diagonal + f] = 1.0
    product = np.empty((rows, 6))
    for c in range(len(pair)):
        for right in range(2):
            if pair[c, right] < 0:
                continue
            product[:] = 0.0
            for i in range(rows):
                for k in range(rows):
                    if law[c, i, k] != 0.0:
                        for f in range(6):
                            product[i, f] += law[c, i, k] * blocks[c, right, k, f]
            j = rank[pair[c, right]]
            count = start[j + 1] - start[j]
            for left in range(2):
                if pair[c, left] < 0:
                    continue
                at = place[c, 2 * right + left] - start[j]
                for f in range(6):
                    o = 36 * start[j] + f * 6 * count + 6 * at
                    for i in range(rows):
                        for g in range(6):
                            values[o + g] += blocks[c, left, i, g] * product[i, f]


class Elimination:
    """(I + G^T D G) of a system, factorised anew for each D in one order of the bodies that keeps the factors sparse."""

    def __init__(self, system: System) -> None:
        s, n = system, system.body_count
        self.scaled = (s.jacobian @ _root(s.inverse_mass)).tocsr()
        self.transposed = self.scaled.T.tocsr()
        self.free = s.relative_velocity(s.free_velocity)
        self.pair, self.blocks = split_rows(self.scaled.data, self.scaled.indices, self.scaled.indptr, s.rows, s.contact_count)
        self.diagonal = (self.blocks**2).sum(axis=(1, 3))  # (C, rows) of G M^-1 G^T
        both = self.pair[(self.pair >= 0).all(axis=1)]
        left, right = np.concatenate([both[:, 0], both[:, 1], np.arange(n)]), np.concatenate([both[:, 1], both[:, 0], np.arange(n)])
        weight = np.concatenate([np.full(2 * len(both), -1.0), np.full(n, 2.0 * len(both) + 1.0)])
        graph = sparse.csc_array((weight, (left, right)), shape=(n, n))
        self.rank = _factors(graph, "MMD_AT_PLUS_A").perm_c.astype(np.int32)
        ordered = sparse.csc_array((np.ones(len(left)), (self.rank[left], self.rank[right])), shape=(n, n))
        ordered.sort_indices()
        self.start, self.row = ordered.indptr, ordered.indices
        self.place = place_blocks(self.pair, self.rank, self.start, self.row)
        starts, rows = spread(self.start, self.row)
        self.matrix = sparse.csc_array((np.zeros(len(rows)), rows, starts), shape=(6 * n, 6 * n))
        self.to_ordered = (6 * np.argsort(self.rank)[:, None] + np.arange(6)).ravel()
        self.factorisations = 0

    def relative_velocity(self, p: FloatArray) -> FloatArray:
        """(R,) u that impulses lead to."""
        return self.free + self.scaled @ (self.transposed @ p)

    def factorise(self, law: FloatArray) -> None:
        """For dp = e - D du; raises RuntimeError if it is singular."""
        add_blocks(self.pair, self.blocks, self.place, self.rank, self.start, self.row, law, self.matrix.data)
        self.law = law.copy()
        self.factors = _factors(self.matrix, "NATURAL")
        self.factorisations += 1

    def solve(self, e: FloatArray) -> tuple[FloatArray, FloatArray]:
        """dp and du of dp = e - D du, du = G M^-1 G^T dp."""
        y = np.empty(len(self.to_ordered))
        y[self.to_ordered] = self.factors.solve((self.transposed @ e)[self.to_ordered])
        rows = self.law.shape[1]
        dp = e - (self.law @ (self.scaled @ y).reshape(-1, rows, 1)).ravel()
        return dp, self.scaled @ (self.transposed @ dp)


class WholeElimination(Elimination):
    """The same by impulses: dp = e - D W dp with the whole of W = G M^-1 G^T, where bodies do not move one by one."""

    def __init__(self, system: System) -> None:
        self.matrix = sparse.csr_array(system.jacobian @ system.inverse_mass @ system.jacobian.T)
        self.free = system.relative_velocity(system.free_velocity)
        self.diagonal = self.matrix.diagonal().reshape(-1, system.rows)
        self.factorisations = 0

    def relative_velocity(self, p: FloatArray) -> FloatArray:
        return self.free + self.matrix @ p

    def factorise(self, law: FloatArray) -> None:
        count = len(law)
        d = sparse.bsr_array((law.copy(), np.arange(count), np.arange(count + 1)), shape=self.matrix.shape).tocsr()
        self.factors = splu(sparse.csc_array(sparse.eye_array(self.matrix.shape[0]) + d @ self.matrix))
        self.factorisations += 1

    def solve(self, e: FloatArray) -> tuple[FloatArray, FloatArray]:
        dp = self.factors.solve(e)
        return dp, self.matrix @ dp


def _root(matrix: sparse.csr_array) -> sparse.csr_array:
    """A factor R R^T of a matrix of 6 x 6 blocks on the diagonal: Cholesky's, or of blocks with locked axes another."""
    n = matrix.shape[0] // 6
    if matrix.nnz == 6 * n and (matrix.indices == np.arange(6 * n)).all():  # spheres only
        return sparse.csr_array((np.sqrt(matrix.data), matrix.indices, matrix.indptr), shape=matrix.shape)
    blocks = matrix.tobsr((6, 6)).data
    locked = ~(np.diagonal(blocks, axis1=1, axis2=2) > 0.0).all(axis=1)
    value, vector = np.linalg.eigh(blocks[locked])
    blocks[~locked] = np.linalg.cholesky(blocks[~locked])
    blocks[locked] = vector * np.sqrt(np.maximum(value, 0.0))[:, None, :]
    return sparse.bsr_array((blocks, np.arange(n), np.arange(n + 1)), shape=matrix.shape).tocsr()


def _factors(matrix: sparse.csc_array, order: str) -> SuperLU:
    """LU factors without pivoting: the matrix is positive definite, or nearly so."""
    return splu(matrix, permc_spec=order, diag_pivot_thresh=0.0, relax=6, panel_size=12, options={"SymmetricMode": True})
