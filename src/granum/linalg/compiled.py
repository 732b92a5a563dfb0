"""Factors by the compiled squares: each takes some milliseconds, and has the same bits on every x86-64 processor with AVX2 and FMA."""

from __future__ import annotations

import weakref

import numpy as np

from ..array_types import FloatArray, LongArray
from .elimination import Layout, factorise_fronts, place_fronts
from .fronts import EdgePlaces, Fronts
from .memory import give_back, take
from .substitution import solve_fronts


class CompiledFactor:
    """U of A = U^T U."""

    def __init__(self, fronts: Fronts, m: int, start: LongArray, room: FloatArray, single: bool = False) -> None:
        self._fronts, self._m, self._start, self._room = fronts, m, start, room
        self._values = room.view(np.float32) if single else room
        self.entries = int(start[-1])  # numbers in U, as stored
        weakref.finalize(self, give_back, room).atexit = False

    def single(self) -> CompiledFactor:
        """As ``Factor.single``."""
        short = CompiledFactor(self._fronts, self._m, self._start, take((self.entries + 1) // 2), True)
        short._values[: self.entries] = self._values[: self.entries]
        return short

    def solve(self, rhs: FloatArray) -> FloatArray:
        """x of A x = rhs; rhs is (N, m), and for m = 1 also (N, columns)."""
        x = np.array(rhs, np.float64, order="C")
        flat = x if self._m == 1 else x.reshape(-1, 1)
        f = self._fronts
        solve_fronts(f.order, f.begin, f.border_first, f.border, self._start, self._m, self._values, flat)
        return x


class CompiledElimination:
    """Eliminates front by front; where the numbers stand is found once for each size of blocks."""

    def __init__(self, fronts: Fronts, edges: EdgePlaces) -> None:
        self._fronts, self._edges = fronts, edges
        self._layout: dict[int, Layout] = {}

    def factorise(self, diagonal: FloatArray, edge: FloatArray) -> CompiledFactor | None:
        """As ``Plan.factorise``."""
        m = diagonal.shape[1]
        if m not in self._layout:
            self._layout[m] = Layout(*place_fronts(self._fronts.begin, self._fronts.parent, self._fronts.border_first, m))
        layout = self._layout[m]
        values, stacks = take(int(layout.start[-1])), take(int(layout.room.sum()))
        good = factorise_fronts(
            self._fronts,
            self._edges,
            layout,
            np.ascontiguousarray(diagonal, np.float64),
            np.ascontiguousarray(edge, np.float64),
            stacks[: layout.room[0]],
            stacks[layout.room[0] :],
            values,
        )
        give_back(stacks)
        if not good:
            give_back(values)
            return None
        return CompiledFactor(self._fronts, m, layout.start, values)
