"""Elimination order of a contact network: nested dissection.

Grains are halved by their coordinates again and again. The separator of two halves is a smallest set of grains that touches every contact
between them (a minimum vertex cover of the cut contacts, from a maximum matching: König's theorem), so that a network on a torus needs no
special care: the cut at the seam is found with the others. A separator is eliminated after its two halves; the ``front`` of a separator
(or of a last, small part) is the dense matrix in which its grains are eliminated, bordered by all later grains that they are coupled to.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from ..arithmetic.elementary import power
from ..array_types import FloatArray, IntArray, LongArray

LEAF = 12  # grains of a part that is not halved further


# Sorting, extremes and copies are written out: what the compiler has ready made for them takes it longer than all the rest here.
@kernel
def extremes(points: FloatArray, x: int) -> tuple[float, float]:
    """Least and largest coordinate ``x``."""
    least = most = points[0, x]
    for k in range(1, len(points)):
        least = min(least, points[k, x])
        most = max(most, points[k, x])
    return least, most


@kernel
def sort_along(key: FloatArray | IntArray, node: IntArray, lo: int, hi: int) -> None:
    """Shell's sort of [lo, hi) by ``key``; ``node`` goes along."""
    gap = 1
    while 9 * gap < hi - lo:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(lo + gap, hi):
            value, carried = key[k], node[k]
            at = k
            while at >= lo + gap and key[at - gap] > value:
                key[at], node[at] = key[at - gap], node[at - gap]
                at -= gap
            key[at], node[at] = value, carried
        gap //= 3


@kernel
def line_up(points: FloatArray) -> IntArray:
    """The nodes cell by cell of a coarse grid: those that are near in space come near each other in memory."""
    count, dimensions = points.shape
    cells = max(1, int(power(count / 4.0, 1.0 / dimensions)))
    number = np.zeros(count, np.int64)
    for x in range(dimensions):
        least, most = extremes(points, x)
        scale = cells / (most - least) if most > least else 0.0
        for k in range(count):
            place = (points[k, x] - least) * scale
            number[k] = number[k] * cells + (min(int(place), cells - 1) if place > 0.0 else 0)
    room = cells * cells if dimensions == 2 else cells * cells * cells
    first = np.zeros(room + 1, np.int64)
    for k in range(count):
        first[number[k] + 1] += 1
    for c in range(1, len(first)):
        first[c] += first[c - 1]
    line = np.empty(count, np.int32)
    for k in range(count):
        line[first[number[k]]] = k
        first[number[k]] += 1
    return line


@kernel
def link_nodes(count: int, a: IntArray, b: IntArray) -> tuple[LongArray, IntArray]:
    """Neighbours of each node: those of node i stand from ``first[i]`` to ``first[i + 1]``."""
    first = np.zeros(count + 2, np.int64)
    for k in range(len(a)):
        if a[k] != b[k]:
            first[a[k] + 2] += 1
            first[b[k] + 2] += 1
    for i in range(2, count + 2):
        first[i] += first[i - 1]
    neighbour = np.empty(first[count + 1], np.int32)
    for k in range(len(a)):
        i, j = a[k], b[k]
        if i != j:
            neighbour[first[i + 1]] = j
            first[i + 1] += 1
            neighbour[first[j + 1]] = i
            first[j + 1] += 1
    return first[: count + 1], neighbour


@kernel
def halve(key: FloatArray, node: IntArray, lo: int, hi: int, guess: float) -> tuple[int, float]:
    """Bring the nodes with smaller keys to the front of [lo, hi); returns where the others begin, near the middle, and a key between.

    ``guess`` is where the median may lie; if a twentieth more or less than half is below it, the search for the median goes on.
    """
    middle, slack = (lo + hi) // 2, (hi - lo) // 20
    left, right = lo, hi - 1
    pivot = guess
    while left < right:
        i, j = left, right
        while i <= j:
            while i <= right and key[i] < pivot:
                i += 1
            while j >= left and pivot < key[j]:
                j -= 1
            if i <= j:
                key[i], key[j] = key[j], key[i]
                node[i], node[j] = node[j], node[i]
                i += 1
                j -= 1
        if abs(i - middle) <= slack:
            return i, pivot
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            break
        pivot = key[(left + right) // 2]
    return middle, key[middle]


@kernel
def smallest_cover(
    first: IntArray,
    other: IntArray,
    lefts: int,
    rights: int,
    chosen_left: IntArray,
    chosen_right: IntArray,
    room: IntArray,
) -> int:
    """Fewest nodes that touch every edge of a two-sided graph, marked by 1; returns how many.

    Left node i is joined to the right nodes ``other[first[i] : first[i + 1]]``. ``room`` holds 2 lefts + 3 rights numbers.
    """
    mate_left = room[:lefts]
    queue = room[lefts : 2 * lefts]
    mate_right = room[2 * lefts : 2 * lefts + rights]
    seen = room[2 * lefts + rights : 2 * lefts + 2 * rights]  # the search that has last met a right node; -1: one that failed
    reached = room[2 * lefts + 2 * rights : 2 * lefts + 3 * rights]  # the left node from which it was met
    mate_left[:] = -1
    mate_right[:] = -1
    seen[:] = 0
    matched = 0
    for i in range(lefts):
        for k in range(first[i], first[i + 1]):
            if mate_right[other[k]] < 0:
                mate_right[other[k]] = i
                mate_left[i] = other[k]
                matched += 1
                break
    for root in range(lefts):
        if mate_left[root] >= 0:
            continue
        search = root + 1
        queue[0] = root
        head, tail = 0, 1
        end = -1  # a right node without a mate
        while head < tail and end < 0:
            i = queue[head]
            head += 1
            for k in range(first[i], first[i + 1]):
                j = other[k]
                if seen[j] == search or seen[j] < 0:
                    continue
                seen[j] = search
                reached[j] = i
                if mate_right[j] < 0:
                    end = j
                    break
                queue[tail] = mate_right[j]
                tail += 1
        if end < 0:  # what this search has met is of no use to later ones: those right nodes are in the cover
            for q in range(tail):
                i = queue[q]
                for k in range(first[i], first[i + 1]):
                    seen[other[k]] = -1
            continue
        matched += 1
        j = end
        while True:
            i = reached[j]
            following = mate_left[i]
            mate_left[i] = j
            mate_right[j] = i
            if i == root:
                break
            j = following
    for i in range(lefts):
        chosen_left[i] = 0
    for j in range(rights):
        chosen_right[j] = 0
    for i in range(lefts):
        j = mate_left[i]
        if j >= 0:
            if seen[j] < 0:
                chosen_right[j] = 1
            else:
                chosen_left[i] = 1
    return matched


@kernel
def dissect(first: LongArray, neighbour: IntArray, points: FloatArray, leaf: int) -> tuple[IntArray, IntArray, IntArray]:
    """Order of elimination, where the nodes of each front begin in it (and the end of the last), and the front's parent (-1: none).

    Fronts are numbered in the order of elimination, children before parents.
    """
    count, dimensions = points.shape
    order = np.arange(count).astype(np.int32)
    key = np.empty(count, np.float64)
    side = np.zeros(count, np.int32)  # 2 x the part that a node was last in, + 1 if in its second half
    slot = np.empty(count, np.int32)  # number of a node of the second half among those with cut edges
    cut_left = np.empty(count, np.int32)
    cut_right = np.empty(count, np.int32)
    cut_first = np.empty(count + 1, np.int32)
    cut_other = np.empty(len(neighbour), np.int32)
    chosen_left = np.empty(count, np.int32)
    chosen_right = np.empty(count, np.int32)
    room = np.empty(3 * count + 8, np.int32)
    kept = np.empty(count, np.int32)
    front_begin = np.empty(count, np.int32)
    front_parent = np.empty(count, np.int32)
    fronts = 0
    todo = np.empty((128, 3), np.int64)
    box = np.empty((128, dimensions, 2))  # in which the nodes of the parts in ``todo`` lie
    for x in range(dimensions):
        box[0, x, 0], box[0, x, 1] = extremes(points, x)
    todo[0, 0], todo[0, 1], todo[0, 2] = 0, count, -1
    waiting = 1 if count > 0 else 0
    part = 0
    while waiting > 0:
        waiting -= 1
        lo, hi, parent = todo[waiting, 0], todo[waiting, 1], todo[waiting, 2]
        if hi - lo <= leaf:
            front_begin[fronts], front_parent[fronts] = lo, parent
            fronts += 1
            continue
        part += 1
        axis = 0
        for x in range(1, dimensions):
            if box[waiting, x, 1] - box[waiting, x, 0] > box[waiting, axis, 1] - box[waiting, axis, 0]:
                axis = x
        for k in range(lo, hi):
            key[k] = points[order[k], axis]
        middle, cut = halve(key, order, lo, hi, 0.5 * (box[waiting, axis, 0] + box[waiting, axis, 1]))
        for k in range(lo, middle):
            side[order[k]] = 2 * part
        for k in range(middle, hi):
            side[order[k]] = 2 * part + 1
            slot[order[k]] = -1
        lefts, rights, edges = 0, 0, 0
        cut_first[0] = 0
        for k in range(lo, middle):
            i = order[k]
            before = edges
            for e in range(first[i], first[i + 1]):
                j = neighbour[e]
                if side[j] == 2 * part + 1:
                    if slot[j] < 0:
                        slot[j] = rights
                        cut_right[rights] = j
                        rights += 1
                    cut_other[edges] = slot[j]
                    edges += 1
            if edges > before:
                cut_left[lefts] = i
                lefts += 1
                cut_first[lefts] = edges
        separator = smallest_cover(cut_first, cut_other, np.int64(lefts), np.int64(rights), chosen_left, chosen_right, room)
        for k in range(lefts):
            if chosen_left[k] == 1:
                side[cut_left[k]] = 0
        for k in range(rights):
            if chosen_right[k] == 1:
                side[cut_right[k]] = 0
        write = lo
        taken = 0
        split = lo
        for k in range(lo, hi):
            if k == middle:
                split = write
            if side[order[k]] == 0:
                kept[taken] = order[k]
                taken += 1
            else:
                order[write] = order[k]
                write += 1
        across = (axis + 1) % dimensions  # neighbours in a separator should be neighbours in the order
        for k in range(taken):
            key[write + k], order[write + k] = points[kept[k], across], kept[k]
        sort_along(key, order, write, hi)
        mother = parent
        if separator > 0:
            front_begin[fronts], front_parent[fronts] = write, parent
            mother = fronts
            fronts += 1
        for x in range(dimensions):
            box[waiting + 1, x, 0], box[waiting + 1, x, 1] = box[waiting, x, 0], box[waiting, x, 1]
        if split > lo:
            todo[waiting, 0], todo[waiting, 1], todo[waiting, 2] = lo, split, mother
            box[waiting, axis, 1] = cut
            waiting += 1
        if write > split:
            todo[waiting, 0], todo[waiting, 1], todo[waiting, 2] = split, write, mother
            box[waiting, axis, 0] = cut
            waiting += 1
    # so far parents come first, and second halves before first ones: exactly the reverse of the order of elimination
    begin = np.empty(fronts + 1, np.int32)
    up = np.empty(fronts, np.int32)
    for f in range(fronts):
        begin[fronts - 1 - f] = front_begin[f]
        up[fronts - 1 - f] = fronts - 1 - front_parent[f] if front_parent[f] >= 0 else -1
    begin[fronts] = count
    return order, begin, up
