"""The contact network inside bodies of merged grains: who touches whom, how far a split reaches, and what still hangs together.

It is read off the neighbour list, whose candidates are linked both ways; grains of one body do not move against each other, but for what
they shift in trials, so what touched when they merged touches still.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._jit import device, kernel
from ..array_types import BoolArray, IntArray
from ..detection.narrow import Candidates
from ..detection.neighbours import NeighbourList
from ..kernel_groups import call, group
from ..state.bodies import Bodies, BodyArrays, GrainArrays

TOUCHING = 1e-4  # gap over the sum of the radii: closer grains of one body touch, as contacts are predicted


@group
class Links(NamedTuple):
    """Partners of every rank of a neighbour list, both ways round."""

    order: IntArray  # (R,) grain of each rank, -1: none
    rank: IntArray  # (N,) of each grain
    first: IntArray  # partners of rank k are partner[first[k] : first[k + 1]], for the ranks of the last whole list,
    partner: IntArray
    head: IntArray  # (R,) and those that were listed later hang in chains: the first link of each rank, -1: none
    link: IntArray  # (L, 2) a partner, and the next link


@group
class Marks(NamedTuple):
    """Room for a walk through the network."""

    mark: IntArray  # (N,) set to ``stamp`` where the walk has been
    stamp: int
    out: IntArray  # (N,) the grains that were found
    label: IntArray  # (N,) the part that each belongs to


@kernel
def link_both_ways(listed: int, candidate_first: IntArray, candidate: IntArray, first: IntArray, partner: IntArray) -> None:
    """Partners of rank k are ``partner[first[k] : first[k + 1]]``, for the ranks of the last whole list."""
    first[:] = 0
    for k in range(listed):
        for c in range(candidate_first[k], candidate_first[k + 1]):
            first[k + 1] += 1
            first[candidate[c] + 1] += 1
    for k in range(listed):
        first[k + 1] += first[k]
    place = first.copy()
    for k in range(listed):
        for c in range(candidate_first[k], candidate_first[k + 1]):
            m = candidate[c]
            partner[place[k]] = m
            place[k] += 1
            partner[place[m]] = k
            place[m] += 1


@kernel
def link_appended(known: int, candidate_first: IntArray, candidate: IntArray, head: IntArray, link: IntArray, used: int) -> int:
    """Chain the pairs of the ranks from ``known`` on: ``link`` (L, 2) is a partner and the next link; ``head`` begins each rank's chain."""
    for k in range(known, len(candidate_first) - 1):
        for c in range(candidate_first[k], candidate_first[k + 1]):
            m = candidate[c]
            link[used, 0], link[used, 1] = m, head[k]
            head[k] = used
            link[used + 1, 0], link[used + 1, 1] = k, head[m]
            head[m] = used + 1
            used += 2
    return used


@device
def touches(bodies, grains, a, b):
    """Whether two grains touch."""
    position, i, j, reach = bodies.position, grains.first + a, grains.first + b, grains.radius[a] + grains.radius[b]
    x, y, z = position[j, 0] - position[i, 0], position[j, 1] - position[i, 1], position[j, 2] - position[i, 2]
    near = reach * (1.0 + TOUCHING)
    return x * x + y * y + z * z <= near * near


@device
def next_partner(step, k, links):
    """The next partner of rank k, and where to go on: ``step`` begins with -1; after the last it is -2, and the partner -1."""
    first, partner, head, link = links.first, links.partner, links.head, links.link
    listed = len(first) - 1
    at = step
    if at == -1:
        at = np.int64(first[k]) if k < listed else np.int64(-3) - head[k]
    if at >= 0 and k < listed and at == first[k + 1]:
        at = np.int64(-3) - head[k]
    if at >= 0:
        return np.int64(partner[at]), at + 1
    node = np.int64(-3) - at
    if node < 0:
        return np.int64(-1), np.int64(-2)
    return np.int64(link[node, 0]), np.int64(-3) - link[node, 1]


@kernel
def grow(seed: IntArray, depth: int, bodies: BodyArrays, grains: GrainArrays, links: Links, marks: Marks) -> int:
    """Grains within ``depth`` - 1 contacts of the seeds, in their bodies; returns how many are in ``marks.out``. Depth 0: without end."""
    order, rank, body = links.order, links.rank, grains.body
    mark, stamp, out, _ = marks
    count = 0
    for i in seed:
        if body[i] < grains.first and mark[i] != stamp:
            mark[i] = stamp
            out[count] = i
            count += 1
    begin, level = 0, 1
    while begin < count and (depth == 0 or level < depth):
        end = count
        for n in range(begin, end):
            i = out[n]
            step = np.int64(-1)
            while True:
                m, step = next_partner(step, np.int64(rank[i]), links)
                if m < 0:
                    break
                j = order[m]
                if j < 0 or mark[j] == stamp or body[j] != body[i]:
                    continue
                if touches(bodies, grains, i, j):
                    mark[j] = stamp
                    out[count] = j
                    count += 1
        begin = end
        level += 1
    return count


@kernel
def find_around(split: IntArray, carriers: int, bodies: BodyArrays, grains: GrainArrays, links: Links, marks: Marks) -> int:
    """Grains that carriers (rows below ``carriers``) hold and that touch one that has come off; returns how many are in ``marks.out``."""
    order, rank, body = links.order, links.rank, grains.body
    mark, stamp, out, _ = marks
    count = 0
    for i in split:
        step = np.int64(-1)
        while True:
            m, step = next_partner(step, np.int64(rank[i]), links)
            if m < 0:
                break
            j = order[m]
            if j < 0 or mark[j] == stamp or body[j] >= carriers:
                continue
            if touches(bodies, grains, i, j):
                mark[j] = stamp
                out[count] = j
                count += 1
    return count


@kernel
def find_parts(
    start: IntArray, limit: int, fixed: BoolArray, bodies: BodyArrays, grains: GrainArrays, links: Links, marks: Marks
) -> tuple[int, int]:
    """Parts of bodies that hang together, from the ``start`` grains on; returns how many grains are in parts, and how many parts.

    A part with a ``fixed`` grain, or with more than ``limit`` grains, is whole where it is and is left out; the grains of the others are in
    ``marks.out``, the number of their part in ``marks.label``. What is fixed is marked with the stamp, and what is looked at with the stamp
    + 1; both must be new.
    """
    order, rank, body = links.order, links.rank, grains.body
    mark, stamp, queue, label = marks
    kept, parts = 0, 0
    for s in start:
        if mark[s] >= stamp or body[s] >= grains.first:
            continue
        queue[kept] = s
        mark[s] = stamp + 1
        label[s] = parts
        begin, count = kept, kept + 1
        whole = fixed[s]
        while begin < count and not whole:
            i = queue[begin]
            begin += 1
            step = np.int64(-1)
            while True:
                m, step = next_partner(step, np.int64(rank[i]), links)
                if m < 0:
                    break
                j = order[m]
                if j < 0 or body[j] != body[i] or (mark[j] == stamp + 1 and label[j] == parts):
                    continue
                if not touches(bodies, grains, i, j):
                    continue
                if mark[j] == stamp or fixed[j]:
                    whole = True
                    break
                mark[j] = stamp + 1
                label[j] = parts
                queue[count] = j
                count += 1
                if count - kept > limit:
                    whole = True
                    break
        if whole:
            for n in range(kept, count):
                mark[queue[n]] = stamp
        else:
            kept = count
            parts += 1
    return kept, parts


@device
def is_foreign(k, grains, links):
    """Whether the grain of rank k moves on its own or may touch one of another body."""
    order, body = links.order, grains.body
    own = body[order[k]]
    if own >= grains.first:
        return True
    step = np.int64(-1)
    while True:
        m, step = next_partner(step, k, links)
        if m < 0:
            return False
        if order[m] >= 0 and body[order[m]] != own:
            return True


@kernel
def mark_foreign(changed: IntArray, grains: GrainArrays, links: Links, marked: BoolArray) -> None:
    """Look anew which of the ``changed`` grains and of those around them may touch a grain of another body, by rank."""
    for i in changed:
        k = np.int64(links.rank[i])
        marked[k] = is_foreign(k, grains, links)
        step = np.int64(-1)
        while True:
            m, step = next_partner(step, k, links)
            if m < 0:
                break
            if links.order[m] >= 0:
                marked[m] = is_foreign(m, grains, links)


@kernel
def mark_all_foreign(near: Candidates, grains: GrainArrays, marked: BoolArray) -> None:
    """Mark the ranks of grains that move on their own and of those that may touch a grain of another body."""
    order, candidate_first, candidate, body = near.order, near.candidate_first, near.candidate, grains.body
    marked[:] = False
    for k in range(len(order)):
        i = order[k]
        if i < 0:
            continue
        own = body[i]
        if own >= grains.first:
            marked[k] = True
        for c in range(candidate_first[k], candidate_first[k + 1]):
            m = candidate[c]
            if order[m] >= 0 and body[order[m]] != own:
                marked[k] = marked[m] = True


class Network:
    """Links between the grains of a neighbour list, both ways round, kept up to date as the list changes."""

    def __init__(self, near: NeighbourList) -> None:
        self.near = near
        self.first, self.partner = np.zeros(1, np.int32), np.zeros(0, np.int32)
        self.head, self.link = np.zeros(0, np.int32), np.zeros((0, 2), np.int32)
        self.mark, self.out, self.label = (np.zeros(0, np.int32) for _ in range(3))
        self._stamp = 0
        self._known, self._used, self._version = 0, 0, -1

    def update(self, grains: int) -> bool:
        """Follow the neighbour list of so many grains; whether it was made anew."""
        near, whole = self.near, self._version != self.near.rebuilds
        if len(self.mark) < grains:
            self.mark, self.out, self.label = (np.zeros(2 * grains, np.int32) for _ in range(3))
            self._stamp = 0
        if whole:
            self._version, self._known, self._used = near.rebuilds, near.listed, 0
            self.first = np.empty(near.listed + 1, np.int32)
            self.partner = np.empty(2 * near.candidate_first[near.listed], np.int32)
            link_both_ways(near.listed, near.candidate_first, near.candidate, self.first, self.partner)
            self.head = np.full(near.listed, -1, np.int32)
        ranks = len(near.order)
        if self._known < ranks:
            more = 2 * int(near.candidate_first[ranks] - near.candidate_first[self._known])
            if len(self.link) < self._used + more:
                self.link = np.concatenate([self.link[: self._used], np.empty((self._used + 2 * more + 64, 2), np.int32)])
            self.head = np.concatenate([self.head, np.full(ranks - self._known, -1, np.int32)])
            self._used = link_appended(self._known, near.candidate_first, near.candidate, self.head, self.link, self._used)
            self._known = ranks
        return whole

    @property
    def links(self) -> Links:
        """The links, for kernels."""
        return Links(self.near.order, self.near.rank, self.first, self.partner, self.head, self.link)

    @property
    def _marks(self) -> Marks:
        return Marks(self.mark, self._new_stamp(), self.out, self.label)

    def _new_stamp(self) -> int:
        self._stamp += 2
        if self._stamp > 2_000_000_000:
            self.mark[:] = 0
            self._stamp = 2
        return self._stamp

    def within(self, seed: IntArray, depth: int, bodies: Bodies) -> IntArray:
        """Merged grains less than ``depth`` contacts from the seeds, these included; 0: everything that hangs on them."""
        count = call(grow, seed, depth, bodies.arrays, bodies.grain_arrays, self.links, self._marks)
        return self.out[:count].copy()

    def around(self, split: IntArray, carriers: int, bodies: Bodies) -> IntArray:
        """Grains held by carriers (rows below ``carriers``) that touch one of ``split``."""
        count = call(find_around, split, carriers, bodies.arrays, bodies.grain_arrays, self.links, self._marks)
        return self.out[:count].copy()

    def parts(self, start: IntArray, limit: int, fixed: BoolArray, bodies: Bodies) -> tuple[IntArray, IntArray, int]:
        """Grains that hang together without a ``fixed`` one, the part each belongs to, and the number of parts."""
        kept, parts = call(find_parts, start, limit, fixed, bodies.arrays, bodies.grain_arrays, self.links, self._marks)
        return self.out[:kept].copy(), self.label[self.out[:kept]], parts
