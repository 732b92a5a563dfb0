"""How far threads can carry a sweep: work, span and barriers of the real graph of a contact problem (PP 2.4, Fig. 2.9).

Colours: blocks of one colour share no body and run at the same time; all threads meet at a barrier after it. With p threads

    S(p) = T_1 / T_p,    T_p = sum_c ceil(B_c / p) t_block + t_bodies / p + N_b t_barrier(p) + t_alone

B_c are the blocks of colour c, t_bodies is what momentum does to every body before a sweep, N_b counts the barriers of a sweep (they cost
nothing at p = 1), and t_alone is what one thread does alone: small colours, contacts without a colour, the sums of momentum. The threads
meet at one counter, one after the other, so a barrier is taken to cost t_barrier(p) = t_barrier(2) p / 2.

Zones: PP's own graph (physics 11). Space is cut into cubic cells; a contact inside a cell is interior, one between cells belongs to their
face, edge or corner. Zones have an order, interior first; one starts when all earlier ones that share a body with it are done.

Neither knows of memory bandwidth, shared caches, or clocks that fall when many cores work: the curves are what the graph allows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._jit import kernel
from ..array_types import FloatArray, IntArray
from ..checks import InputError

THREADS = (2, 4, 8, 16, 32, 64, 128)
ZONES = ("interior", "face", "edge", "corner")
FORMULA = (
    "S(p) = T_1 / T_p, T_p = sum_c ceil(B_c / p) t_block + t_bodies / p + N_b t_barrier(p) + t_alone, t_barrier(p) = t_barrier(2) p / 2"
)
LEFT_OUT = "memory bandwidth, shared caches, and clocks that fall when many cores work"

Counts = NDArray[np.integer]


@dataclass(frozen=True)
class SweepCost:
    """Measured times [s]."""

    block: float
    """t_block of a block of contacts."""
    contact: float
    """Of one contact that is swept by itself."""
    barrier: float
    """t_barrier(2): two threads meet."""
    bodies: float = 0.0
    """t_bodies of one thread; 0 without momentum."""
    sums: float = 0.0
    """Of the sums of momentum, which every thread adds up for itself."""

    def meeting(self, threads: int) -> float:
        """t_barrier(p)."""
        return 0.0 if threads == 1 else self.barrier * threads / 2


@dataclass(frozen=True)
class ColourGraph:
    """The blocks and contacts that a sweep goes through, colour by colour."""

    blocks: Counts
    """(K,) B_c of every colour."""
    singles: Counts
    """(L,) contacts of every colour of bodies with full inertia, which are swept one by one."""
    left_over: int
    """Contacts without a colour, which one thread sweeps."""
    few: int
    """A colour with fewer blocks is left to one thread."""

    @property
    def work(self) -> int:
        """Blocks of a sweep."""
        return int(self.blocks.sum())

    @property
    def span(self) -> int:
        """Blocks that follow each other however many threads there are: one of each colour, all of a small one."""
        return int(np.where(self.blocks < self.few, self.blocks, 1).sum())

    @property
    def barriers(self) -> int:
        """N_b of a plain sweep: none stands between two small colours."""
        small = self.blocks < self.few
        between = int(np.count_nonzero(small[:-1] & small[1:]))
        return len(self.blocks) - between + len(self.singles) + (1 if self.left_over else 0)

    def seconds(self, cost: SweepCost, threads: int) -> float:
        """T_p of a sweep."""
        _check(threads)
        shared = np.where(self.blocks < self.few, self.blocks, -(-self.blocks // threads)).sum()
        single = (-(-self.singles // threads)).sum() + self.left_over
        met = self.barriers + (1 if cost.bodies > 0 else 0)
        return float(shared * cost.block + single * cost.contact + cost.bodies / threads + met * cost.meeting(threads) + cost.sums)

    def speed_up(self, cost: SweepCost, threads: int) -> float:
        """S(p)."""
        whole = self.seconds(cost, threads)
        return self.seconds(cost, 1) / whole if whole > 0 else 1.0

    def limit(self, cost: SweepCost) -> float:
        """Work over span: S with as many threads as there is work, and barriers that cost nothing."""
        whole = self.span * cost.block + (len(self.singles) + self.left_over) * cost.contact + cost.sums
        return self.seconds(cost, 1) / whole if whole > 0 else 1.0


@dataclass(frozen=True)
class ZoneGraph:
    """PP's zones, in their order, and which earlier ones each must wait for."""

    width: float
    """Of a cell [m]."""
    kind: Counts
    """(Z,) place in ``ZONES``."""
    contacts: Counts
    """(Z,)"""
    first: IntArray
    """(Z + 1,) zone z waits for ``before[first[z] : first[z + 1]]``."""
    before: IntArray

    @classmethod
    def of(cls, position: FloatArray, a: IntArray, b: IntArray, width: float) -> ZoneGraph:
        """Of contacts between grains at ``position`` (N, 3) [m], in cells of ``width`` [m]; b < 0 is a wall, for which nobody waits.

        The zone of a contact is named by the lowest of the cells that it touches and by the axes along which they differ.
        """
        from scipy.sparse import csr_array, tril

        if not 0 < width < math.inf:
            raise InputError(f"width of a cell must be a finite length above 0 m (got {width!r}).")
        cell = np.floor(position / width).astype(np.int64)
        pair = b >= 0
        cell_a, cell_b = cell[a], cell[np.where(pair, b, a)]
        apart = cell_a != cell_b
        name = np.column_stack([apart.sum(axis=1), apart @ np.array([1, 2, 4]), np.minimum(cell_a, cell_b)])
        zones, zone = np.unique(name, axis=0, return_inverse=True)
        zone = zone.reshape(-1)
        body, of_body = np.concatenate([a, b[pair]]), np.concatenate([zone, zone[pair]])
        member = csr_array((np.ones(len(body), np.int32), (body, of_body)), shape=(len(position), len(zones)))
        earlier = csr_array(tril(member.T @ member, -1))
        return cls(
            width,
            zones[:, 0],
            np.bincount(zone, minlength=len(zones)),
            earlier.indptr.astype(np.int32),
            earlier.indices.astype(np.int32),
        )

    @property
    def work(self) -> int:
        """Contacts of a sweep."""
        return int(self.contacts.sum())

    @property
    def span(self) -> int:
        """Contacts that follow each other however many threads there are: those of the longest chain of zones."""
        return int(longest_chain(self.first, self.before, self.contacts.astype(float)))

    @property
    def counts(self) -> dict[str, int]:
        """Zones of each kind."""
        return {name: int(np.count_nonzero(self.kind == k)) for k, name in enumerate(ZONES)}

    def seconds(self, cost: SweepCost, threads: int) -> float:
        """T_p of a sweep: threads take the zones in their order; to hand one over costs as much as a meeting of two threads."""
        _check(threads)
        handed = cost.barrier if threads > 1 else 0.0
        return float(time_in_order(self.first, self.before, self.contacts * cost.contact + handed, threads))

    def speed_up(self, cost: SweepCost, threads: int) -> float:
        """S(p), against one thread that sweeps the same contacts one by one."""
        whole = self.seconds(cost, threads)
        return self.seconds(cost, 1) / whole if whole > 0 else 1.0


@kernel
def longest_chain(first: IntArray, before: IntArray, cost: FloatArray) -> float:
    """The dearest chain of tasks that wait for each other; a task waits for earlier ones only."""
    end = np.zeros(len(cost))
    longest = 0.0
    for z in range(len(cost)):
        ready = 0.0
        for k in range(first[z], first[z + 1]):
            ready = max(ready, end[before[k]])
        end[z] = ready + cost[z]
        longest = max(longest, end[z])
    return longest


@kernel
def time_in_order(first: IntArray, before: IntArray, cost: FloatArray, threads: int) -> float:
    """When all tasks are done if the thread that is free first takes the next one, and waits until those before it are done."""
    end, free = np.zeros(len(cost)), np.zeros(threads)
    last = 0.0
    for z in range(len(cost)):
        who = np.argmin(free)
        start = free[who]
        for k in range(first[z], first[z + 1]):
            start = max(start, end[before[k]])
        end[z] = start + cost[z]
        free[who] = end[z]
        last = max(last, end[z])
    return last


def _check(threads: int) -> None:
    if threads < 1:
        raise InputError(f"threads must be 1 or more (got {threads}).")
