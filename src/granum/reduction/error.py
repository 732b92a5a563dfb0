"""The approximation error: how far grains are from where they would be if none had merged (MR (20)-(22))."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..array_types import FloatArray, IntArray

FREE, HELD = -1, -2  # of a grain in a window; 0 or more: the aggregate that it was part of


@dataclass(frozen=True)
class ApproximationNorms:
    """Norms of E = E_perp + E_par over all grains, in diameters of the grains."""

    rms: float
    """Of E."""
    largest: float
    """Of E, over the grains."""
    perpendicular: float
    """Root mean square of E_perp: what no motion of the rigid aggregates can follow."""
    parallel: float
    """Root mean square of E_par: aggregates and free grains that moved elsewhere."""


def merged_throughout(first: IntArray, last: IntArray, carriers: int) -> IntArray:
    """(N,) what each grain was in the whole window: ``FREE``, ``HELD``, or the number of an aggregate, counted from 0.

    ``first`` and ``last`` (N,) say what the grains had merged into when the window began and ended: -1 nothing, below ``carriers`` a wall
    that moves as it must, else an aggregate. An aggregate counts if it had the same grains both times, whatever its number.
    """
    kind = np.full(len(first), FREE, np.int32)
    kind[(first >= 0) & (first == last) & (first < carriers)] = HELD
    inside = (first >= carriers) & (last >= carriers)
    pairs, group = np.unique(np.stack([first[inside], last[inside]]), axis=1, return_inverse=True)
    count = np.bincount(group.ravel(), minlength=pairs.shape[1])
    size_first, size_last = (np.bincount(side[side >= 0], minlength=1) for side in (first, last))
    same = (count == size_first[pairs[0]]) & (count == size_last[pairs[1]]) if pairs.size else np.zeros(0, bool)
    number = np.where(same, np.cumsum(same) - 1, FREE)
    kind[inside] = number[group.ravel()]
    return kind


def split_error(full: FloatArray, reduced: FloatArray, mass: FloatArray, kind: IntArray) -> tuple[FloatArray, FloatArray]:
    """E_perp and E_par (N, 3) [m], whose sum is ``full`` - ``reduced``: places [m] without and with model reduction.

    ``kind`` (N,) as of :func:`merged_throughout`. For an aggregate E_perp is what the nearest place of the same rigid shape leaves
    (least squares, weighted by ``mass`` (N,) [kg]), and E_par the way to there. A wall that holds grains moves as it must: all is E_perp.
    """
    error = full - reduced
    across = np.where((kind == HELD)[:, None], error, 0.0)
    members = np.flatnonzero(kind >= 0)
    if len(members):
        across[members] = full[members] - nearest_shape(reduced[members], full[members], mass[members], kind[members])
    return across, error - across


def nearest_shape(shape: FloatArray, target: FloatArray, mass: FloatArray, group: IntArray) -> FloatArray:
    """(n, 3) ``shape``, moved and turned group by group (n,) to where its distances from ``target`` are least (squares, by mass)."""
    weight = np.bincount(group, mass)

    def centred(x: FloatArray) -> tuple[FloatArray, FloatArray]:
        centre = np.stack([np.bincount(group, mass * x[:, f]) for f in range(3)], axis=1) / weight[:, None]
        return centre, x - centre[group]

    _, arm = centred(shape)
    centre, wanted = centred(target)
    moment = np.empty((len(weight), 3, 3))
    for i in range(3):
        for j in range(3):
            moment[:, i, j] = np.bincount(group, mass * wanted[:, i] * arm[:, j])
    u, _, v = np.linalg.svd(moment)
    u[:, :, 2] *= np.linalg.det(u @ v)[:, None]  # a rotation, not a reflection
    return centre[group] + np.einsum("nij,nj->ni", (u @ v)[group], arm)


def approximation_error(full: FloatArray, reduced: FloatArray, radius: FloatArray, mass: FloatArray, kind: IntArray) -> ApproximationNorms:
    """Norms of the error of places ``reduced`` against ``full`` (N, 3) [m]; arguments as of :func:`split_error`, ``radius`` (N,) [m]."""
    across, along = split_error(full, reduced, mass, kind)
    squares = [((part / (2 * radius)[:, None]) ** 2).sum(axis=1) for part in (across + along, across, along)]
    whole, perpendicular, parallel = (float(np.sqrt(square.mean())) for square in squares)
    return ApproximationNorms(whole, float(np.sqrt(squares[0].max())), perpendicular, parallel)
