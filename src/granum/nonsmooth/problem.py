"""The contact problem of one step: bodies packed and contacts laid out in coloured blocks, ready for any solver."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._jit import kernel
from ..arithmetic import inverse
from ..array_types import FloatArray, IntArray, LongArray
from ..detection.wall_table import WallTable
from ..parallel import LIGHT, ONE, Team
from ..parallel.barrier import share, wait
from ..state.bodies import Bodies
from ..state.contacts import Contacts
from ..state.motion import inverse_inertia
from .blocks import BODY, COLOURS, FIELDS_3_ROWS, FIELDS_6_ROWS, LANES, PN, RX, colour_contacts, lay_out
from .residual import CHUNK, projected_residual


@kernel
def assign_slots(
    thread: int,
    threads: int,
    barrier: LongArray,
    a: IntArray,
    b: IntArray,
    rank: IntArray,
    wall_body: IntArray,
    full_slot: IntArray,
    first_wall_slot: int,
    pairs: int,
    slot_a: IntArray,
    slot_b: IntArray,
) -> None:
    """Body slots of every contact: grains by rank, dynamic walls by their own slot, all other wall contacts one each."""
    low, high = share(len(a), thread, threads)
    for c in range(low, high):
        slot_a[c] = rank[a[c]]
        if b[c] >= 0:
            slot_b[c] = rank[b[c]]
        else:
            own = full_slot[wall_body[-1 - b[c]]]
            slot_b[c] = own if own >= 0 else first_wall_slot + c - pairs
    wait(barrier, threads)


@kernel
def pack_grains(
    thread: int,
    threads: int,
    barrier: LongArray,
    order: IntArray,
    first: int,
    velocity: FloatArray,
    spin: FloatArray,
    inverse_mass: FloatArray,
    radius: FloatArray,
    body: FloatArray,
) -> None:
    """Grains into packed bodies, in Morton order."""
    low, high = share(len(order), thread, threads)
    for k in range(low, high):
        i, o = order[k], k * BODY
        if i < 0:  # an empty rank: nobody touches it
            for f in range(7):
                body[o + f] = 0.0
            body[o + 7] = 1.0
            continue
        g, r = first + i, radius[i]
        for f in range(3):
            body[o + f] = velocity[g, f]
            body[o + 3 + f] = r * spin[g, f]
        body[o + 6] = inverse_mass[g]
        body[o + 7] = 1.0 / r
    wait(barrier, threads)


@kernel
def unpack_grains(
    thread: int, threads: int, barrier: LongArray, order: IntArray, first: int, body: FloatArray, velocity: FloatArray, spin: FloatArray
) -> None:
    """Packed bodies back into grains; grains that do not yield keep their bits."""
    low, high = share(len(order), thread, threads)
    for k in range(low, high):
        g, o = first + order[k], k * BODY
        if body[o + 6] > 0.0:  # not so for an empty rank
            for f in range(3):
                velocity[g, f] = body[o + f]
                spin[g, f] = body[o + 3 + f] * body[o + 7]
    wait(barrier, threads)


@kernel
def copy_impulses(
    thread: int, threads: int, barrier: LongArray, place: IntArray, fields: int, data: FloatArray, impulse: FloatArray
) -> None:
    """Impulses out of the blocks into (C, 7) rows."""
    low, high = share(len(place), thread, threads)
    for c in range(low, high):
        d = place[c] // LANES * fields * LANES + place[c] % LANES
        for f in range(4):
            impulse[c, f] = data[d + (PN + f) * LANES]
        for f in range(3):
            impulse[c, 4 + f] = data[d + (RX + f) * LANES] if fields > RX else 0.0
    wait(barrier, threads)


class Problem:
    """M v+ = M v + G^T lambda, G v+ + Sigma lambda = q with bounds (physics 3), in physical impulses and packed blocks.

    ``body`` and ``data`` hold velocities and impulses: the start of a solve, and then its result.
    """

    def __init__(self, rolling: bool, team: Team = ONE) -> None:
        self.team = team
        self.fields = FIELDS_6_ROWS if rolling else FIELDS_3_ROWS
        self.contact_count = 0
        self.pair_count = 0
        self.colour_blocks = 0
        self.colours = 0
        self.soft_t = 0.0
        self.accuracy = 0.0  # [m/s] of the residual: what the state is worth
        self.first_full = 0  # slots before it are grains, by rank; then dynamic walls, then wall contacts
        self.yielding = 0
        self.first_wall_slot = 0
        self.body = np.zeros(0)
        self.body_before = np.zeros(0)
        self.data = np.zeros(0)
        self.before = np.zeros(0)
        self.sums = np.zeros(0)  # parts of sums, added up in an order that no number of threads changes
        self.lane_a = self.lane_b = self.contact_at = np.zeros(0, np.int32)
        self.colour_block, self.full_first = np.zeros(COLOURS + 1, np.int32), np.zeros(COLOURS + 2, np.int32)
        self.slot_a = self.slot_b = self.place = np.zeros(0, np.int32)
        self.stiffness = self.radius_eff = self.weight = self.gap_rate = np.zeros(0)
        self.lever = np.zeros((0, 6))
        self.full = np.zeros((0, 2), np.int32)
        self.inverse_inertia = np.zeros((0, 3, 3))
        self.pushed = np.zeros(0, np.int32)  # rows of the bodies with full inertia, in the order of their slots

    @property
    def rows(self) -> int:
        """Rows per contact: 3, or 6 with rolling resistance."""
        return 6 if self.fields > RX else 3

    @property
    def one_by_one(self) -> int:
        """Contacts after the coloured blocks, which are swept one by one."""
        return int(self.full_first[-1])

    def pack(
        self,
        bodies: Bodies,
        contacts: Contacts,
        walls: WallTable,
        order: IntArray,
        rank: IntArray,
        same: bool,
    ) -> None:
        """Bodies into slots; contacts into coloured blocks unless they are the ``same`` as before in the same order."""
        grains = self.first_full = len(order)
        self.pushed = bodies.pushed_rows()
        self.yielding = grains + len(self.pushed)
        self.first_wall_slot = self.yielding
        walls_touched = contacts.contact_count - contacts.pair_count
        slots = self.yielding + walls_touched + 1  # the last is nobody's
        if len(self.body) < slots * BODY:
            self.body = np.zeros(slots * BODY * 17 // 16)
            self.body_before = np.zeros(slots * 6 * 17 // 16)
        self.team.run(
            pack_grains,
            grains // LIGHT,
            order,
            bodies.first_grain,
            bodies.velocity,
            bodies.spin,
            bodies.yielding,
            bodies.radius,
            self.body,
        )
        self._pack_full(bodies, grains)
        if same and self.contact_count == contacts.contact_count:
            return
        self.contact_count, self.pair_count = contacts.contact_count, contacts.pair_count
        self._make_room(self.contact_count)
        full_slot = np.full(bodies.first_grain, -1, np.int32)
        full_slot[self.pushed] = grains + np.arange(len(self.pushed), dtype=np.int32)
        if bodies.may_merge:  # grains may be parts of others
            own = np.append(full_slot, -1)[np.minimum(bodies.grain_body, bodies.first_grain)]
            rank = np.where(own >= 0, own, rank)
        self.team.run(
            assign_slots,
            self.contact_count // LIGHT,
            contacts.a,
            contacts.b,
            rank,
            walls.body,
            full_slot,
            self.first_wall_slot,
            self.pair_count,
            self.slot_a,
            self.slot_b,
        )
        self.colour(slots - 1)

    def colour(self, nobody: int) -> None:
        """Contacts into coloured blocks; ``nobody`` is the slot of empty lanes."""
        self.colour_blocks, blocks, self.colours = colour_contacts(
            self.slot_a, self.slot_b, self.body, self.first_full, self.first_wall_slot, self.place, self.colour_block, self.full_first
        )
        lanes = blocks * LANES
        if len(self.lane_a) < lanes:
            room = blocks * 17 // 16 * LANES
            self.lane_a, self.lane_b, self.contact_at = (np.zeros(room, np.int32) for _ in range(3))
            self.data = np.zeros(room * self.fields)
            self.before = np.zeros(room * (self.rows + 1))
        self.body[nobody * BODY : (nobody + 1) * BODY] = (0, 0, 0, 0, 0, 0, 0, 1)
        self.team.run(
            lay_out,
            lanes // LIGHT,
            self.slot_a,
            self.slot_b,
            self.place,
            nobody,
            self.fields,
            self.lane_a[:lanes],
            self.lane_b[:lanes],
            self.contact_at[:lanes],
            self.data,
        )
        self.lever, self.full = np.zeros((self.one_by_one, 6)), np.full((self.one_by_one, 2), -1, np.int32)
        parts = max(2 * (self.colour_blocks + self.one_by_one), 3 * (self.contact_count // CHUNK + 1))
        if len(self.sums) < parts:
            self.sums = np.zeros(parts * 17 // 16)

    def _pack_full(self, bodies: Bodies, grains: int) -> None:
        """Bodies with full inertia: spin as it is (radius 1), inverse inertia in world axes."""
        rows = self.pushed
        made = rows >= bodies.wall_body_count
        self.inverse_inertia = np.zeros((len(rows), 3, 3))
        if not len(rows):
            return
        self.inverse_inertia[~made] = inverse_inertia(bodies, rows[~made])
        self.inverse_inertia[made] = inverse(bodies.inertia[rows[made]])
        packed = self.body[grains * BODY : self.yielding * BODY].reshape(-1, BODY)
        packed[:, :3], packed[:, 3:6], packed[:, 6], packed[:, 7] = bodies.velocity[rows], bodies.spin[rows], bodies.inverse_mass[rows], 1.0

    def _make_room(self, contacts: int) -> None:
        if len(self.slot_a) != contacts:
            self.slot_a, self.slot_b, self.place = (np.zeros(contacts, np.int32) for _ in range(3))
            self.stiffness, self.radius_eff, self.weight, self.gap_rate = (np.zeros(contacts) for _ in range(4))

    def for_sweeps(self) -> tuple[Any, ...]:
        """The fixed part of the problem in the order of the sweep kernels."""
        return (
            self.lane_a,
            self.lane_b,
            self.place,
            self.contact_at,
            self.fields,
            self.colour_block,
            self.full_first,
            self.lever,
            self.full,
            self.inverse_inertia,
            self.radius_eff,
            self.soft_t,
            self.soft_t,
            self.yielding,
        )

    def unpack(self, bodies: Bodies, contacts: Contacts, order: IntArray) -> None:
        """Velocities and impulses back to where users look."""
        self.team.run(unpack_grains, len(order) // LIGHT, order, bodies.first_grain, self.body, bodies.velocity, bodies.spin)
        if len(self.pushed):
            packed = self.body[self.first_full * BODY : self.yielding * BODY].reshape(-1, BODY)
            bodies.velocity[self.pushed], bodies.spin[self.pushed] = packed[:, :3], packed[:, 3:6]
        self.read_impulses(contacts.impulse)

    def read_impulses(self, impulse: FloatArray) -> None:
        """Fill ``impulse`` (C, 7): normal, tangential [N s] and rolling [N m s], in world axes."""
        self.team.run(copy_impulses, self.contact_count // LIGHT, self.place, self.fields, self.data, impulse)

    def residual(self, box: bool = False) -> FloatArray:
        """(C, 3) projected residual of every contact: normal, friction, rolling [m/s]."""
        return projected_residual(
            self.body,
            self.lane_a,
            self.lane_b,
            self.data,
            self.fields,
            self.place,
            self.colour_blocks * LANES,
            self.lever,
            self.full,
            self.soft_t,
            self.soft_t,
            box,
            self.radius_eff,
        )
