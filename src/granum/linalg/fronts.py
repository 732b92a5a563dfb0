"""The fronts of an elimination order: who meets whom when it is followed, and where the entries of a matrix go."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import kernel
from ..array_types import FloatArray, IntArray, LongArray
from .ordering import LEAF, dissect, line_up, link_nodes, sort_along


class Fronts(NamedTuple):
    """F fronts in the order of elimination, children before their parents, of N nodes; B nodes stand in all borders together."""

    order: IntArray  # (N,) the nodes, as they are eliminated
    begin: IntArray  # (F + 1,) where the nodes of each front begin in ``order``
    parent: IntArray  # (F,) -1: none
    border_first: LongArray  # (F + 1,) where the border of each front begins
    border: IntArray  # (B,) places in ``order``, sorted in each front
    within: IntArray  # (B,) where they stand in the parent, whose own nodes are numbered first, then those of its border


class EdgePlaces(NamedTuple):
    """The E edges of a network (without loops), by the front that eliminates their first node."""

    first: LongArray  # (F + 1,) where those of a front begin
    edge: IntArray  # (E,) number of the edge; -1 - number if its node b comes first
    row: IntArray  # (E,) in the front
    column: IntArray  # (E,) in the front


def find_fronts(count: int, a: IntArray, b: IntArray, points: FloatArray) -> tuple[Fronts, EdgePlaces]:
    """Of ``count`` nodes with edges a-b, halved by their points (count, d)."""
    points = np.ascontiguousarray(points, np.float64)
    line = line_up(points)
    rank = np.empty(count, np.int32)
    rank[line] = np.arange(count, dtype=np.int32)
    a, b = rank[a], rank[b]
    first, neighbour = link_nodes(count, a, b)
    order, begin, parent = dissect(first, neighbour, points[line], LEAF)
    place, border_first, border, within = border_fronts(first, neighbour, order, begin, parent)
    edges = EdgePlaces(*place_edges(a, b, place, begin, border_first, border))
    return Fronts(line[order], begin, parent, border_first, border, within), edges


@kernel
def border_fronts(
    first: LongArray,
    neighbour: IntArray,
    order: IntArray,
    begin: IntArray,
    parent: IntArray,
) -> tuple[IntArray, LongArray, IntArray, IntArray]:
    """The place of each node in the order; where the border of each front begins, its places, and where those stand in the parent.

    A border is sorted. In a front its own nodes are numbered first, then those of its border.
    """
    count, fronts = len(order), len(parent)
    place = np.empty(count, np.int32)
    for k in range(count):
        place[order[k]] = k
    child = np.full(fronts, -1, np.int32)
    sibling = np.full(fronts, -1, np.int32)
    met = np.full(count, -1, np.int32)
    border_first = np.zeros(fronts + 1, np.int64)
    border = np.empty(16 * count + 16, np.int32)
    used = 0
    for f in range(fronts):
        end = begin[f + 1]
        if used + count > len(border):
            longer = np.empty(2 * len(border), np.int32)
            for k in range(used):
                longer[k] = border[k]
            border = longer
        own = used
        for k in range(begin[f], end):
            i = order[k]
            for e in range(first[i], first[i + 1]):
                j = place[neighbour[e]]
                if j >= end and met[j] != f:
                    met[j] = f
                    border[used] = j
                    used += 1
        c = child[f]
        while c >= 0:
            for k in range(border_first[c], border_first[c + 1]):
                j = border[k]
                if j >= end and met[j] != f:
                    met[j] = f
                    border[used] = j
                    used += 1
            c = sibling[c]
        sort_along(border, border, np.int64(own), np.int64(used))
        border_first[f + 1] = used
        if parent[f] >= 0:
            sibling[f] = child[parent[f]]
            child[parent[f]] = f
    within = np.empty(used, np.int32)
    for f in range(fronts):
        p = parent[f]
        if p < 0:
            continue
        own = begin[p + 1] - begin[p]
        at = border_first[p]
        for k in range(border_first[f], border_first[f + 1]):
            j = border[k]
            if j < begin[p + 1]:
                within[k] = j - begin[p]
            else:
                while border[at] < j:
                    at += 1
                within[k] = own + at - border_first[p]
    return place, border_first, border[:used].copy(), within


@kernel
def place_edges(
    a: IntArray,
    b: IntArray,
    place: IntArray,
    begin: IntArray,
    border_first: LongArray,
    border: IntArray,
) -> tuple[LongArray, IntArray, IntArray, IntArray]:
    """Edges by the front that eliminates their first node: where those of a front begin, edge (-1 - edge if b comes first), row, column."""
    fronts = len(begin) - 1
    front = np.empty(len(place), np.int32)
    for f in range(fronts):
        front[begin[f] : begin[f + 1]] = f
    start = np.zeros(fronts + 2, np.int64)
    for k in range(len(a)):
        if a[k] != b[k]:
            start[front[min(place[a[k]], place[b[k]])] + 2] += 1
    for f in range(2, fronts + 2):
        start[f] += start[f - 1]
    edge = np.empty(start[fronts + 1], np.int32)
    row = np.empty(len(edge), np.int32)
    column = np.empty(len(edge), np.int32)
    for k in range(len(a)):
        if a[k] == b[k]:
            continue
        i, j = place[a[k]], place[b[k]]
        low, high = min(i, j), max(i, j)
        f = front[low]
        at = start[f + 1]
        start[f + 1] += 1
        edge[at] = k if i < j else -1 - k
        row[at] = low - begin[f]
        if high < begin[f + 1]:
            column[at] = high - begin[f]
        else:
            left, right = border_first[f], border_first[f + 1]
            while right - left > 1:
                middle = (left + right) // 2
                if border[middle] <= high:
                    left = middle
                else:
                    right = middle
            column[at] = begin[f + 1] - begin[f] + left - border_first[f]
    return start[: fronts + 1], edge, row, column
