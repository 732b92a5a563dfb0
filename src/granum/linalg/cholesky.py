"""Sparse Cholesky factors of matrices on contact networks: the order once, then a factor for every matrix on the same network.

There are two ways to a factor: the compiled squares (``compiled.py``), and SciPy (``with_scipy.py``) where those cannot be used, as with a
compiler of another version. Their answers are the same to rounding. Which one is taken is decided once in a process, by a small trial, or
by the environment variable ``GRANUM_CHOLESKY``; ``granum doctor`` tells.
"""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from typing import Literal, Protocol, cast, get_args

import numpy as np

from ..array_types import FloatArray, IntArray
from ..checks import known_name
from .fronts import find_fronts

Method = Literal["compiled", "scipy"]
SWITCH = "GRANUM_CHOLESKY"


class Factor(Protocol):
    """A factorised matrix A."""

    entries: int  # numbers in its upper half, as stored

    def solve(self, rhs: FloatArray) -> FloatArray:
        """x of A x = rhs; rhs is (N, m), and for m = 1 also (N, columns)."""

    def single(self) -> Factor:
        """The same factor with its numbers rounded to single precision, if that saves time: for preconditioners.

        U^T U of any U is positive definite, so the rounded one inverts a matrix near A. Sums stay in double precision.
        """


class _Elimination(Protocol):
    """One of the two ways."""

    def factorise(self, diagonal: FloatArray, edge: FloatArray) -> Factor | None: ...


class Plan:
    """Order, fronts and places of the entries: all that does not depend on the numbers in a matrix.

    ``count`` nodes, edges a-b (given twice they add up; a == b is ignored), and points (count, d) by which the nodes are halved.
    ``method`` is for those who want one way whatever was chosen.
    """

    def __init__(self, count: int, a: IntArray, b: IntArray, points: FloatArray, method: Method | None = None) -> None:
        fronts, edges = find_fronts(count, a, b, points)
        self._elimination: _Elimination
        if (method or chosen().method) == "compiled":
            from .compiled import CompiledElimination  # here, since another compiler may refuse it

            self._elimination = CompiledElimination(fronts, edges)
        else:
            from .with_scipy import ScipyElimination

            self._elimination = ScipyElimination(fronts.order, np.asarray(a), np.asarray(b))

    def factorise(self, diagonal: FloatArray, edge: FloatArray) -> Factor | None:
        """Factor of the matrix with these blocks: ``diagonal`` (count, m, m), and A[a, b] = A[b, a]^T in ``edge`` (E, m, m).

        None if it is not positive definite: a pivot is not above zero, or not finite.
        """
        return self._elimination.factorise(diagonal, edge)


@dataclass(frozen=True)
class Choice:
    """Which way is taken, and why."""

    method: Method
    reason: str


@functools.cache
def chosen() -> Choice:
    """The way that is taken in this process: what ``GRANUM_CHOLESKY`` says, else the compiled one if it passes a trial."""
    if wanted := os.environ.get(SWITCH):
        return Choice(cast(Method, known_name(SWITCH, wanted, get_args(Method))), f"asked for by {SWITCH}")
    if trouble := compiled_trouble():
        return Choice("scipy", f"the compiled squares cannot be used: {trouble}")
    return Choice("compiled", "passed its trial")


def compiled_trouble() -> str:
    """What keeps the compiled squares from being used here, found by a small factorisation; empty if nothing does."""
    try:
        nodes = np.arange(40, dtype=np.int32)
        a, b = nodes[:-1], nodes[1:]
        factor = Plan(40, a, b, np.column_stack([nodes, nodes % 7]).astype(float), "compiled").factorise(
            np.tile(4.0 * np.eye(2), (40, 1, 1)), np.tile(-np.eye(2), (39, 1, 1))
        )
        if factor is None:
            return "no factor of a positive definite matrix"
        x = factor.solve(np.ones((40, 2)))
    except Exception as error:  # a compiler may fail in any way
        return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else 'no words'}"
    left = 4.0 * x - 1.0
    left[1:] -= x[:-1]
    left[:-1] -= x[1:]
    return "" if np.abs(left).max() < 1e-12 else "a wrong answer"
