"""Where the shares of several threads meet.

Each thread pushes the pairs of its own ranks, and a grain may be pushed by pairs of two threads. A sum depends on its order, which is that
of the list; so these grains are *marked*: the forces of their pairs are kept, and added up in that order when all are known. All others
get theirs at once, in the same order. What comes out is the same for any number of shares, and for one, which marks nobody.
"""

from __future__ import annotations

import numpy as np

from .._jit import kernel
from ..array_types import IntArray
from .groups import Listed, Seam
from .pairs import RANKS


def seam_of(listed: Listed, shares: int) -> Seam:
    """Of so many shares, each of about as many candidates as the others."""
    first, ranks = listed.first, len(listed.first) - 1
    chunks = -(-ranks // RANKS)
    wanted = int(first[-1]) * np.arange(1, shares) // shares
    bound = np.zeros(shares + 1, np.int32)
    bound[1:-1], bound[-1] = np.searchsorted(first[:ranks:RANKS], wanted), chunks
    mark = np.zeros(ranks, np.uint8)
    if shares == 1:
        none = np.zeros(0, np.int32)
        return Seam(bound, mark, none, np.zeros(1, np.int32), none)
    return Seam(bound, mark, *mark_shared(first, listed.owner, listed.candidate, np.minimum(bound * RANKS, ranks).astype(np.int32), mark))


@kernel
def mark_shared(
    first: IntArray, owner: IntArray, candidate: IntArray, bound: IntArray, mark: np.ndarray
) -> tuple[IntArray, IntArray, IntArray]:
    """Mark the candidates of other shares (ranks from ``bound`` to ``bound``), and list the places of the marked: as ``Seam`` has them."""
    for part in range(len(bound) - 1):
        low, high = bound[part], bound[part + 1]
        for c in range(first[low], first[high]):
            if not low <= candidate[c] < high:
                mark[candidate[c]] = 1
    marked, places = 0, len(owner)
    slot = np.empty(len(mark), np.int32)
    for k in range(len(mark)):
        slot[k] = marked
        marked += mark[k]
    grain, start = np.empty(marked, np.int32), np.zeros(marked + 1, np.int32)
    for k in range(len(mark)):
        if mark[k]:
            grain[slot[k]] = k
    for c in range(places):
        for k in (owner[c], candidate[c]):
            if mark[k]:
                start[slot[k] + 1] += 1
    for g in range(marked):
        start[g + 1] += start[g]
    entry, filled = np.empty(start[marked], np.int32), start[:marked].copy()
    for c in range(places):
        for k, entered in ((owner[c], 2 * c), (candidate[c], 2 * c + 1)):
            if mark[k]:
                entry[filled[slot[k]]] = entered
                filled[slot[k]] += 1
    return grain, start, entry
