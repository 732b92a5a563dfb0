"""A contact problem as sparse matrices, for solvers that factorise, coarsen or export it.

Rows stand contact by contact: the normal, two tangents, and with rolling resistance the turns about the two tangents and the normal.
Columns are the freedoms of the bodies that yield, 6 each, scaled as they are packed: the velocity v [m/s], then the radius times the spin
[m/s] (a dynamic wall: its spin [rad/s]). So the inverse mass of a sphere is 1/m for v and 5/(2 m) for the spin. With impulses p

    v = v_free + M^-1 G^T p,    u = G v + drift,

where u are the relative velocities of the contacts and ``drift`` is what bodies that do not yield (driven walls) add to them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy import sparse

from .._jit import kernel
from ..array_types import FloatArray, IntArray
from ..machines.groups import Links
from .blocks import BODY, INV_DR, INV_MASS, LANES, MU, MU_R, PN, PX, RX, SOFTNESS, TARGET, at
from .groups import ContactBlocks, Levers, Packed
from .kinds.contact import friction_softness, listed, normal_at, rolling_softness, write_rows
from .problem import Problem
from .projections import tangents


@kernel
def read_contacts(
    packed: Packed,
    blocks: ContactBlocks,
    levers: Levers,
    place: IntArray,
    basis: FloatArray,
    impulse: FloatArray,
    target: FloatArray,
    softness: FloatArray,
    friction: FloatArray,
    rolling: FloatArray,
) -> None:
    """Basis (C, 3, 3), and impulse, target and softness of every row, and the two friction coefficients out of the blocks."""
    data = blocks.data
    rows = 6 if blocks.fields > RX else 3
    for c in range(len(place)):
        d = at(place[c], blocks.fields)
        o = c * rows
        e = basis[c]
        e[0, 0], e[0, 1], e[0, 2] = normal_at(data, d)
        e[1, 0], e[1, 1], e[1, 2], e[2, 0], e[2, 1], e[2, 2] = tangents(e[0, 0], e[0, 1], e[0, 2])
        impulse[o], target[o], softness[o] = data[d + PN * LANES], data[d + TARGET * LANES], data[d + SOFTNESS * LANES]
        friction[c] = data[d + MU * LANES]
        q = listed(blocks, levers, place[c])
        soft_t = friction_softness(packed, blocks.soft_t, np.int64(blocks.lane_a[place[c]]), np.int64(blocks.lane_b[place[c]]), q)
        for k in range(1, rows):
            softness[o + k] = soft_t if k < 3 else rolling_softness(blocks.soft_t, data[d + INV_DR * LANES], q)
        for k in range(1, 3):
            for f in range(3):
                impulse[o + k] += e[k, f] * data[d + (PX + f) * LANES]
        if rows > 3:
            rolling[c] = data[d + MU_R * LANES]
            for k in range(3):
                for f in range(3):
                    impulse[o + 3 + k] += e[(k + 1) % 3, f] * data[d + (RX + f) * LANES]


@kernel
def write_contacts(basis: FloatArray, impulse: FloatArray, place: IntArray, blocks: ContactBlocks) -> None:
    """Impulses of all rows back into the blocks."""
    data = blocks.data
    rows = 6 if blocks.fields > RX else 3
    for c in range(len(place)):
        d = at(place[c], blocks.fields)
        o = c * rows
        e = basis[c]
        data[d + PN * LANES] = impulse[o]
        for f in range(3):
            data[d + (PX + f) * LANES] = impulse[o + 1] * e[1, f] + impulse[o + 2] * e[2, f]
            if rows > 3:
                data[d + (RX + f) * LANES] = impulse[o + 3] * e[1, f] + impulse[o + 4] * e[2, f] + impulse[o + 5] * e[0, f]


@kernel
def jacobian_rows(
    packed: Packed, blocks: ContactBlocks, levers: Levers, place: IntArray, basis: FloatArray, column: IntArray, still: FloatArray
) -> tuple[FloatArray, IntArray, IntArray, FloatArray]:
    """G by rows (values, columns, start of each row), and the drift of every row.

    ``column`` (slots,) is the number of a body that yields, else -1; ``still`` are the packed bodies with those that yield at rest.
    """
    rows = 6 if blocks.fields > RX else 3
    values = np.empty(len(place) * (36 + 12 * (rows > 3)))
    columns = np.empty(len(values), np.int32)
    start = np.zeros(len(place) * rows + 1, np.int32)
    drift = np.zeros(len(place) * rows)
    k = 0
    for c in range(len(place)):
        k = write_rows(
            packed,
            blocks,
            levers,
            np.int64(place[c]),
            basis[c],
            column,
            still,
            k,
            (values, columns, drift[c * rows :]),
            start[c * rows + 1 :],
        )
    return values[:k], columns[:k], start, drift


@dataclass(frozen=True)
class System:
    """The sparse view of a `Problem` with C contacts, R rows in all and B bodies that yield."""

    rows: int
    """Per contact: 3, or 6 with rolling resistance."""
    slot: IntArray
    """(B,) packed slots of the bodies that yield, in the order of the columns."""
    basis: FloatArray
    """(C, 3, 3) n, t1 and t2 of every contact, in world axes."""
    jacobian: sparse.csr_array
    """(R, 6 B) G."""
    inverse_mass: sparse.csr_array
    """(6 B, 6 B) M^-1, one block for each body; of links of machines K, which couples those of one machine."""
    velocity: FloatArray
    """(6 B,) of the bodies at present."""
    drift: FloatArray
    """(R,) part of the relative velocities that belongs to bodies that do not yield [m/s; rad/s for rolling rows]."""
    target: FloatArray
    """(R,) b, the separation speed asked for; 0 in all rows but the normals [m/s]."""
    softness: FloatArray
    """(R,) diagonal of Sigma: C_n, soft_t, soft_t, and soft_r three times [1/kg; 1/(kg m^2)]."""
    friction: FloatArray
    """(C,) mu."""
    rolling: FloatArray
    """(C,) mu_r R* [m]; zeros without rolling resistance."""
    impulse: FloatArray
    """(R,) on b at present [N s; N m s]."""
    other_wrench: FloatArray = field(default_factory=lambda: np.zeros((0, 6)))
    """(links, 6) on the links of machines, besides that of the impulses [N s; N m s]."""

    @classmethod
    def read(cls, problem: Problem) -> System:
        """Of a problem, with its present velocities and impulses."""
        p, count, rows = problem, problem.contact_count, problem.rows
        body, yielding = p.packed.body, p.packed.yielding
        packed = body[: yielding * BODY].reshape(-1, BODY)
        slot = np.flatnonzero(packed[:, INV_MASS] > 0).astype(np.int32)
        column = np.full(len(body) // BODY, -1, np.int32)
        column[slot] = np.arange(len(slot), dtype=np.int32)
        still = body.copy()
        still[: yielding * BODY].reshape(-1, BODY)[slot, :6] = 0.0
        basis, impulse, target, softness = np.empty((count, 3, 3)), *(np.zeros(count * rows) for _ in range(3))
        friction, rolling = np.zeros(count), np.zeros(count)
        read_contacts(p.packed, p.blocks, p.levers, p.found.place, basis, impulse, target, softness, friction, rolling)
        values, columns, start, drift = jacobian_rows(p.packed, p.blocks, p.levers, p.found.place, basis, column, still)
        jacobian = sparse.csr_array((values, columns, start), shape=(count * rows, 6 * len(slot)))
        other, links = np.zeros((0, 6)), p.packed.links
        if isinstance(links, Links):
            other = links.wrench - (jacobian.T @ impulse).reshape(-1, 6)[np.searchsorted(slot, p.packed.first_full + links.full)]
        return cls(
            rows=rows,
            slot=slot,
            basis=basis,
            jacobian=jacobian,
            inverse_mass=_inverse_mass(p, slot, packed[slot, INV_MASS]),
            velocity=packed[slot, :6].ravel(),
            drift=drift,
            target=target,
            softness=softness,
            friction=friction,
            rolling=rolling,
            impulse=impulse,
            other_wrench=other,
        )

    @property
    def contact_count(self) -> int:
        return len(self.friction)

    @property
    def body_count(self) -> int:
        return len(self.slot)

    @cached_property
    def free_velocity(self) -> FloatArray:
        """(6 B,) without the present impulses: v - M^-1 G^T p."""
        return self.velocity - self.inverse_mass @ (self.jacobian.T @ self.impulse)

    def velocity_of(self, impulse: FloatArray) -> FloatArray:
        """(6 B,) that impulses (R,) lead to."""
        return self.free_velocity + self.inverse_mass @ (self.jacobian.T @ impulse)

    def relative_velocity(self, velocity: FloatArray) -> FloatArray:
        """(R,) u of every row: b against a at the contact point [m/s], and its spin for rolling rows [rad/s]."""
        return self.jacobian @ velocity + self.drift

    def delassus(self) -> sparse.csr_array:
        """(R, R) W = G M^-1 G^T + Sigma: relative velocities (and softness) by impulses."""
        return sparse.csr_array(self.jacobian @ self.inverse_mass @ self.jacobian.T + sparse.diags_array(self.softness))

    def offset(self) -> FloatArray:
        """(R,) q of the local form W p + q: relative velocities without impulses, less the targets."""
        return self.relative_velocity(self.free_velocity) - self.target

    def write(self, problem: Problem, impulse: FloatArray) -> None:
        """Impulses (R,) and the velocities that they lead to into the problem that was read."""
        write_contacts(self.basis, impulse, problem.found.place, problem.blocks)
        packed = problem.packed.body[: problem.packed.yielding * BODY].reshape(-1, BODY)
        packed[self.slot, :6] = self.velocity_of(impulse).reshape(-1, 6)
        links = problem.packed.links
        if isinstance(links, Links):
            place = np.searchsorted(self.slot, problem.packed.first_full + links.full)
            links.wrench[:] = self.other_wrench + (self.jacobian.T @ impulse).reshape(-1, 6)[place]


def _inverse_mass(problem: Problem, slot: IntArray, inverse_mass: FloatArray) -> sparse.csr_array:
    """Block by block: diagonal for spheres in packed columns, full turning parts for dynamic walls, mobilities for links."""
    n, links = len(slot), problem.packed.links
    diagonal = np.outer(inverse_mass, (1.0, 1.0, 1.0, 2.5, 2.5, 2.5))
    full = np.flatnonzero(slot >= problem.packed.first_full)
    diagonal[full, 3:] = 0.0
    turn = problem.packed.inverse_inertia[slot[full] - problem.packed.first_full]
    row = 6 * full[:, None, None] + np.arange(3, 6)[:, None] + np.zeros(3, np.int64)
    entries, rows, columns = (
        [diagonal.ravel(), turn.ravel()],
        [np.arange(6 * n), row.ravel()],
        [np.arange(6 * n), row.transpose(0, 2, 1).ravel()],
    )
    if isinstance(links, Links):
        place = np.searchsorted(slot, problem.packed.first_full + links.full)
        diagonal[place] = 0.0
        turn[links.link_of[slot[full] - problem.packed.first_full] >= 0] = 0.0
        entries[:2] = diagonal.ravel(), turn.ravel()
        for moved in np.flatnonzero(links.rank >= 0):
            first, count = links.first[links.machine[moved]], links.touched_count[links.machine[moved]]
            for rank, pushed in enumerate(links.touched[first : first + count]):
                entries.append(links.active[moved, rank].ravel())
                rows.append(np.repeat(6 * place[moved] + np.arange(6), 6))
                columns.append(np.tile(6 * place[pushed] + np.arange(6), 6))
    out = sparse.csr_array((np.concatenate(entries), (np.concatenate(rows), np.concatenate(columns))), shape=(6 * n, 6 * n))
    out.eliminate_zeros()
    return out
