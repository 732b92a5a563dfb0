"""The force network: grains as nodes, contacts as edges with their normal force as weight.

Forces are compared with their mean over all contacts that push. Strong contacts carry more than the mean. A chain follows Peters et al.
(2005): grains whose largest principal stress is above the mean of all loaded grains, joined where they touch in a direction that lies
within 45 degrees of the principal direction of both, at least three in a row.

Rattlers are grains that nothing holds. Under gravity one contact that pushes holds a grain: it rests on it or hangs under its load, so
rattlers are the grains without any. Without gravity they are those with fewer than four contacts (three in a plane, two where there is
friction), taken away with their contacts until none is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from ..array_types import BoolArray, FloatArray, IndexArray
from ..checks import InputError
from .coarse_graining import branch_vectors
from .snapshot import Snapshot

CHAIN_ANGLE = 45.0  # [degrees] between a contact and the principal directions of its grains
SHORTEST_CHAIN = 3  # grains
FEWEST_IN_TAIL = 10  # contacts


@dataclass(frozen=True)
class ForceDistribution:
    """How often a normal force f occurs, in units of the mean force."""

    edges: FloatArray
    """(n + 1,) f / <f>."""
    count: IndexArray
    """(n,) contacts in each bin."""
    density: FloatArray
    """(n,) probability density; its integral is 1."""
    mean: float
    """<f> [N]"""
    tail_rate: float
    """beta of exp(-beta f / <f>) for f > <f>, the most likely one; NaN with fewer than ten such contacts."""


@dataclass(frozen=True)
class ForceNetwork:
    """The contacts of a snapshot that push: M edges between N grains and the walls; rows as in the snapshot."""

    grain_count: int
    a: IndexArray  # (M,) row of the owning grain
    b: IndexArray  # (M,) row of the other grain, or -1 - wall
    normal: FloatArray  # (M, 3) unit, from a towards b
    normal_force: FloatArray  # (M,) > 0 [N]
    force: FloatArray  # (M, 3) on b [N]
    branch: FloatArray  # (M, 3) [m] from the centre of a to that of b, or to the point on a wall
    contact: IndexArray  # (M,) row of the contact in the snapshot
    id: IndexArray  # (N,) of the grains
    position: FloatArray  # (N, 3) [m]
    radius: FloatArray  # (N,) [m]
    least_contacts: int  # that hold a grain

    @classmethod
    def of(cls, snapshot: Snapshot) -> ForceNetwork:
        """Refuses a snapshot without a pushing contact, in words.

        One contact holds a grain under gravity; without gravity it takes four (physics 10), three in the plane z = 0, or two with friction.
        """
        s = snapshot
        pushing = np.flatnonzero(s.normal_force > 0)
        if not len(pushing):
            raise InputError(
                f"no contact carries force at t = {s.time:g} s ({s.grain_count} grains, {s.contact_count} contacts): there is no force "
                "network. Choose a later frame."
            )
        return cls(
            grain_count=s.grain_count,
            a=s.a[pushing],
            b=s.b[pushing],
            normal=s.normal[pushing],
            normal_force=s.normal_force[pushing],
            force=s.force[pushing],
            branch=branch_vectors(s)[pushing],
            contact=pushing,
            id=s.id,
            position=s.position,
            radius=s.radius,
            least_contacts=1 if s.gravity_strength > 0 else 2 if (s.friction[pushing] > 0).any() else 4 if s.normal[:, 2].any() else 3,
        )

    @property
    def edge_count(self) -> int:
        return len(self.a)

    @cached_property
    def other(self) -> IndexArray:
        """(M,) b, with 0 in the place of walls."""
        return np.maximum(self.b, 0)

    @property
    def mean_force(self) -> float:
        """<f> [N] of the normal forces."""
        return float(self.normal_force.mean())

    @property
    def strong(self) -> BoolArray:
        """(M,) edges with f > <f>."""
        return self.normal_force > self.mean_force

    @cached_property
    def matrix(self) -> csr_array:
        """(N, N) symmetric: normal force [N] between two grains."""
        pair = self.b >= 0
        a, b, f = self.a[pair], self.b[pair], self.normal_force[pair]
        return coo_array((np.r_[f, f], (np.r_[a, b], np.r_[b, a])), shape=(self.grain_count,) * 2).tocsr()

    @cached_property
    def contacts_of_grain(self) -> IndexArray:
        """(N,) edges at each grain, walls included."""
        return self._degree(np.ones(self.edge_count, bool))

    @cached_property
    def rattlers(self) -> BoolArray:
        """(N,) grains with fewer than ``least_contacts`` edges, taken away with their edges until none is left."""
        loose = np.zeros(self.grain_count, bool)
        while True:
            left = ~loose[self.a] & ~np.where(self.b >= 0, loose[self.other], False)
            found = ~loose & (self._degree(left) < self.least_contacts)
            if not found.any():
                return loose
            loose |= found

    @property
    def coordination(self) -> float:
        """z: mean number of edges of a grain, walls included, over all grains."""
        return float(self.contacts_of_grain.mean())

    @property
    def backbone_coordination(self) -> float:
        """z of the grains that are not rattlers, with the edges between them and to walls; NaN if all grains are rattlers."""
        kept = ~self.rattlers
        inside = kept[self.a] & np.where(self.b >= 0, kept[self.other], True)
        return float(self._degree(inside)[kept].mean()) if kept.any() else float("nan")

    @cached_property
    def fabric(self) -> FloatArray:
        """(3, 3) <n n>: its trace is 1, and it is 1/3 of the unit matrix in an isotropic packing."""
        return self.normal.T @ self.normal / self.edge_count

    @cached_property
    def force_fabric(self) -> FloatArray:
        """(3, 3) <f n n> / <f>: the fabric weighted with the normal force."""
        return (self.normal * self.normal_force[:, None]).T @ self.normal / self.normal_force.sum()

    @property
    def anisotropy(self) -> float:
        """Largest less smallest eigenvalue of the fabric: 0 isotropic, 1 all contacts along one line."""
        return _spread(self.fabric)

    @property
    def force_anisotropy(self) -> float:
        """The same of the force-weighted fabric."""
        return _spread(self.force_fabric)

    def distribution(self, bins: int = 40) -> ForceDistribution:
        """Histogram of f / <f> in bins of equal width from 0 to the largest force, and the rate of its exponential tail."""
        part = self.normal_force / self.mean_force
        count, edges = np.histogram(part, bins=bins, range=(0.0, float(part.max())))
        tail = part[part > 1] - 1
        rate = 1 / float(tail.mean()) if len(tail) >= FEWEST_IN_TAIL else float("nan")
        return ForceDistribution(edges, count, count / (count.sum() * np.diff(edges)), self.mean_force, rate)

    @cached_property
    def grain_stress(self) -> FloatArray:
        """(N, 3, 3) force times arm over the volume of the grain [Pa], symmetric part; positive in compression."""
        pair = self.b >= 0
        to_point = np.where(pair[:, None], self.radius[self.a, None] * self.normal, self.branch)
        at_a = self.force[:, :, None] * to_point[:, None, :]
        at_b = self.force[pair][:, :, None] * (self.radius[self.b[pair], None] * self.normal[pair])[:, None, :]
        total = np.zeros((self.grain_count, 3, 3))
        np.add.at(total, self.a, at_a)
        np.add.at(total, self.b[pair], at_b)
        total /= (4 / 3 * np.pi * self.radius**3)[:, None, None]
        return (total + np.swapaxes(total, 1, 2)) / 2

    @cached_property
    def chain(self) -> IndexArray:
        """(N,) number of the chain that a grain belongs to, -1: none; chains are numbered by their first grain."""
        value, direction = np.linalg.eigh(self.grain_stress)
        largest, axis = value[:, 2], direction[:, :, 2]
        loaded = self.contacts_of_grain > 0
        high = loaded & (largest > largest[loaded].mean())
        link = self.chain_links(high, axis)
        a, b = self.a[link], self.b[link]
        graph = coo_array((np.ones(len(a)), (a, b)), shape=(self.grain_count,) * 2)
        _, label = connected_components(graph, directed=False)
        long = np.bincount(label) >= SHORTEST_CHAIN
        kept = np.flatnonzero(long[label])
        number = np.full(self.grain_count, -1, np.int64)
        _, first, inverse = np.unique(label[kept], return_index=True, return_inverse=True)
        number[kept] = np.argsort(np.argsort(first))[inverse]
        return number

    def chain_links(self, high: BoolArray, axis: FloatArray) -> BoolArray:
        """(M,) edges between two ``high`` grains, along the principal ``axis`` (N, 3) of both."""
        pair = (self.b >= 0) & high[self.a] & np.where(self.b >= 0, high[self.other], False)
        least = np.cos(np.radians(CHAIN_ANGLE))
        along = [np.abs((self.normal * axis[grain]).sum(axis=1)) >= least for grain in (self.a, self.other)]
        return pair & along[0] & along[1]

    @cached_property
    def in_chain(self) -> BoolArray:
        """(M,) strong edges between two grains of one chain."""
        other = np.where(self.b >= 0, self.chain[self.other], -2)
        return self.strong & (self.chain[self.a] == other) & (other >= 0)

    @property
    def chain_lengths(self) -> IndexArray:
        """Grains of each chain."""
        return np.bincount(self.chain[self.chain >= 0])

    def to_networkx(self) -> Any:
        """A ``networkx.Graph``: nodes are grain ids and ("wall", number), edges carry weight (normal force [N]), force and normal."""
        try:
            import networkx
        except ImportError:
            raise InputError("to_networkx needs networkx: install granum[analysis].") from None
        graph = networkx.Graph()
        graph.add_nodes_from(
            (name, {"position": tuple(x), "radius": r})
            for name, x, r in zip(self.id.tolist(), self.position.tolist(), self.radius.tolist(), strict=True)
        )
        first = self.id[self.a].tolist()
        second = [self.id[b].item() if b >= 0 else ("wall", -1 - b) for b in self.b.tolist()]
        about = zip(first, second, self.normal_force.tolist(), self.force.tolist(), self.normal.tolist(), strict=True)
        for u, v, weight, force, normal in about:
            if graph.has_edge(u, v):  # a grain that touches a wall twice
                weight += graph[u][v]["weight"]
                force = (np.array(force) + graph[u][v]["force"]).tolist()
            graph.add_edge(u, v, weight=weight, force=tuple(force), normal=tuple(normal))
        return graph

    def _degree(self, edge: BoolArray) -> IndexArray:
        other = self.b[edge & (self.b >= 0)]
        return np.bincount(self.a[edge], minlength=self.grain_count) + np.bincount(other, minlength=self.grain_count)


def _spread(tensor: FloatArray) -> float:
    value = np.linalg.eigvalsh(tensor)
    return float(value[-1] - value[0])
