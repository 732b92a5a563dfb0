"""The contact problem of one step: bodies packed and contacts laid out in coloured blocks, ready for any solver."""

from __future__ import annotations

from typing import Literal

import numpy as np

from .._jit import device, kernel
from ..arithmetic import dot, inverse, times, total
from ..array_types import FloatArray, IntArray, LongArray
from ..detection.wall_table import WallTable
from ..kernel_groups import call
from ..parallel import LIGHT, ONE, Team
from ..parallel.barrier import share, wait
from ..parallel.crew import Crew
from ..state.bodies import Bodies
from ..state.contacts import Contacts
from ..state.motion import inverse_inertia
from .blocks import BODY, COLOURS, FIELDS_3_ROWS, FIELDS_6_ROWS, LANES, PN, RX, at, colour_contacts, lay_out
from .groups import ContactBlocks, Found, FreeBodies, Levers, Met, Momentum, Packed
from .kinds.every import CHUNK, friction_works, projected_residual, sphere_energies


@kernel
def assign_slots(
    crew: Crew,
    a: IntArray,
    b: IntArray,
    rank: IntArray,
    wall_body: IntArray,
    full_slot: IntArray,
    yielding: int,
    pairs: int,
    found: Found,
) -> None:
    """Body slots of every contact: grains by rank, dynamic walls by their own slot, all other walls one for each contact."""
    thread, threads, barrier = crew
    slot_a, slot_b = found.slot_a, found.slot_b
    low, high = share(len(a), thread, threads)
    for c in range(low, high):
        slot_a[c] = rank[a[c]] if a[c] >= 0 else full_slot[wall_body[-1 - a[c]]]
        if b[c] >= 0:
            slot_b[c] = rank[b[c]]
        else:
            own = full_slot[wall_body[-1 - b[c]]]
            slot_b[c] = own if own >= 0 else yielding + c - pairs
    wait(barrier, threads)


@kernel
def pack_grains(crew: Crew, order: IntArray, bodies: FreeBodies, body: FloatArray) -> None:
    """Grains into packed bodies, in Morton order."""
    thread, threads, barrier = crew
    first, velocity, spin, inverse_mass, radius = bodies.first, bodies.velocity, bodies.spin, bodies.inverse_mass, bodies.radius
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
    crew: Crew,
    packed: Packed,
    order: IntArray,
    bodies: FreeBodies,
    blocks: ContactBlocks,
    found: Found,
    met: Met,
) -> None:
    """Packed bodies back into grains, those that do not yield keep their bits; and impulses out of the blocks into (C, 7) rows."""
    thread, threads, barrier = crew
    body, velocity, spin = packed.body, bodies.velocity, bodies.spin
    low, high = share(len(order), thread, threads)
    for k in range(low, high):
        g, o = bodies.first + order[k], k * BODY
        if body[o + 6] > 0.0:  # not so for an empty rank
            for f in range(3):
                velocity[g, f] = body[o + f]
                spin[g, f] = body[o + 3 + f] * body[o + 7]
    copy_share(thread, threads, blocks, found.place, met.impulse)
    wait(barrier, threads)


@device
def copy_share(thread, threads, blocks, place, impulse):
    """A thread's part of the impulses out of the blocks into (C, 7) rows."""
    data, fields = blocks.data, blocks.fields
    low, high = share(len(place), thread, threads)
    for c in range(low, high):
        d = at(place[c], fields)
        for f in range(4):
            impulse[c, f] = data[d + (PN + f) * LANES]
        for f in range(3):
            impulse[c, 4 + f] = data[d + (RX + f) * LANES] if fields > RX else 0.0


@kernel
def copy_impulses(crew: Crew, blocks: ContactBlocks, place: IntArray, impulse: FloatArray) -> None:
    """Impulses out of the blocks into (C, 7) rows."""
    thread, threads, barrier = crew
    copy_share(thread, threads, blocks, place, impulse)
    wait(barrier, threads)


def _whole(count: int) -> IntArray:
    return np.zeros(count, np.int32)


class Problem:
    """M v+ = M v + G^T lambda, G v+ + Sigma lambda = q with bounds (physics 3), in physical impulses and packed blocks.

    Its arrays are in groups (``groups.py``). ``packed`` and ``blocks`` hold velocities and impulses: the start of a solve, and then its
    result.
    """

    def __init__(self, rolling: bool, friction: Literal["cone", "box"] = "cone", team: Team = ONE) -> None:
        self.team = team
        self.box = friction == "box"  # friction is bounded component by component (SN 2.3.2), not by its length
        self.contact_count = 0
        self.pair_count = 0
        self.colours = 0
        self.accuracy = 0.0  # [m/s] of the residual: what the state is worth
        self.pushed = _whole(0)  # rows of the bodies with full inertia, in the order of their slots
        nothing, none = np.zeros(0), _whole(0)
        fields = FIELDS_6_ROWS if rolling else FIELDS_3_ROWS
        self.packed = Packed(nothing, np.zeros((0, 3, 3)), 0, 0)
        ends = _whole(COLOURS + 1), _whole(COLOURS + 2)
        self.blocks = ContactBlocks(none, none, none, nothing, *ends, 0, fields, 0.0, self.box)
        self.levers = Levers(np.zeros((0, 6)), np.zeros((0, 2), np.int32), np.zeros((0, 3)))
        self.found = Found(none, none, none, nothing, nothing, nothing, nothing)
        self.momentum = Momentum(nothing, nothing, nothing)

    @property
    def rows(self) -> int:
        """Rows per contact: 3, or 6 with rolling resistance."""
        return 6 if self.blocks.fields > RX else 3

    @property
    def colour_blocks(self) -> int:
        """Blocks of coloured contacts of spheres."""
        return self.blocks.serial_start // LANES

    @property
    def one_by_one(self) -> int:
        """Contacts after the coloured blocks, which are swept one by one."""
        return int(self.blocks.full_first[-1])

    @property
    def address(self) -> LongArray:
        """(C,) where the first number of each contact is in ``blocks.data``; number f is at f * LANES after it."""
        place = self.found.place.astype(np.int64)
        return np.asarray(place // LANES * self.blocks.fields * LANES + place % LANES)

    def soften(self, soft_t: float) -> None:
        """Softness of the friction [1/kg] and rolling rows [1/(kg m^2)] from now on."""
        if soft_t != self.blocks.soft_t:
            self.blocks = self.blocks._replace(soft_t=soft_t)

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
        self.pushed = bodies.pushed_rows()
        grains, full = len(order), len(self.pushed)
        every = contacts.every_count
        walls_touched = every - contacts.pair_count
        self.make_slots(grains, full, grains + full + walls_touched)
        self.team.run(
            pack_grains,
            grains // LIGHT,
            order,
            FreeBodies.of(bodies),
            self.packed.body,
        )
        self._pack_full(bodies, grains)
        if full and (self.pushed >= bodies.wall_body_count).any():  # grains are parts of them
            self.levers = self.levers._replace(centre=bodies.position[self.pushed])
        elif len(self.levers.centre):
            self.levers = self.levers._replace(centre=np.zeros((0, 3)))
        if same and self.contact_count == every:
            return
        self.make_contacts(every, contacts.pair_count)
        full_slot = np.full(bodies.first_grain, -1, np.int32)
        full_slot[self.pushed] = grains + np.arange(full, dtype=np.int32)
        if bodies.may_merge:  # grains may be parts of others
            own = np.append(full_slot, -1)[np.minimum(bodies.grain_body, bodies.first_grain)]
            rank = np.where(own >= 0, own, rank)
        self.team.run(
            assign_slots,
            self.contact_count // LIGHT,
            contacts.every.a,
            contacts.every.b,
            rank,
            walls.body,
            full_slot,
            self.packed.yielding,
            self.pair_count,
            self.found,
        )
        self.colour(grains + full + walls_touched)

    def make_slots(self, grains: int, full: int, slots: int) -> None:
        """Room for packed bodies: grains, bodies with full inertia, one slot for each contact with another wall, and nobody's."""
        p, yielding = self.packed, grains + full
        body, inertia = p.body, p.inverse_inertia
        if len(body) < (slots + 1) * BODY:
            body = np.zeros((slots + 1) * BODY * 17 // 16)
            self.momentum = self.momentum._replace(body_before=np.zeros((slots + 1) * 6 * 17 // 16))
        if len(inertia) != full:
            inertia = np.zeros((full, 3, 3))
        if body is not p.body or inertia is not p.inverse_inertia or (grains, yielding) != (p.first_full, p.yielding):
            self.packed = Packed(body, inertia, grains, yielding)

    def make_contacts(self, contacts: int, pairs: int) -> None:
        """Room for contacts, pairs of grains first; ``colour`` gives them their places."""
        self.contact_count, self.pair_count = contacts, pairs
        if len(self.found.place) != contacts:
            slot_a, slot_b, place = (_whole(contacts) for _ in range(3))
            self.found = Found(slot_a, slot_b, place, *(np.zeros(contacts) for _ in range(4)))

    def colour(self, nobody: int) -> None:
        """Contacts into coloured blocks; ``nobody`` is the slot of empty lanes."""
        f, b, m = self.found, self.blocks, self.momentum
        coloured, count, self.colours = call(colour_contacts, self.packed, f.slot_a, f.slot_b, f.place, b.colour_block, b.full_first)
        lanes = count * LANES
        lane_a, lane_b, contact_at, data = b.lane_a, b.lane_b, b.contact_at, b.data
        if len(lane_a) < lanes:
            room = count * 17 // 16 * LANES
            lane_a, lane_b, contact_at = (_whole(room) for _ in range(3))
            data, m = np.zeros(room * b.fields), m._replace(before=np.zeros(room * (self.rows + 1)))
        self.blocks = b = ContactBlocks(
            lane_a, lane_b, contact_at, data, b.colour_block, b.full_first, coloured * LANES, b.fields, b.soft_t, b.box
        )
        self.packed.body[nobody * BODY : (nobody + 1) * BODY] = (0, 0, 0, 0, 0, 0, 0, 1)
        self.team.run(lay_out, lanes // LIGHT, f, nobody, lanes, b)
        if self.one_by_one or len(self.levers.full):
            arm, full = np.zeros((self.one_by_one, 6)), np.full((self.one_by_one, 2), -1, np.int32)
            self.levers = Levers(arm, full, self.levers.centre)
        parts = max(2 * (coloured + self.one_by_one), 3 * (self.contact_count // CHUNK + 1))
        if len(m.sums) < parts:
            m = m._replace(sums=np.zeros(parts * 17 // 16))
        self.momentum = m

    def _pack_full(self, bodies: Bodies, grains: int) -> None:
        """Bodies with full inertia: spin as it is (radius 1), inverse inertia in world axes."""
        body, inertia, _, yielding = self.packed
        rows = self.pushed
        if not len(rows):
            return
        made = rows >= bodies.wall_body_count
        inertia[~made] = inverse_inertia(bodies, rows[~made])
        inertia[made] = inverse(bodies.inertia[rows[made]])
        packed = body[grains * BODY : yielding * BODY].reshape(-1, BODY)
        packed[:, :3], packed[:, 3:6], packed[:, 6], packed[:, 7] = bodies.velocity[rows], bodies.spin[rows], bodies.inverse_mass[rows], 1.0

    def unpack(self, bodies: Bodies, contacts: Contacts, order: IntArray) -> None:
        """Velocities and impulses back to where users look."""
        p = self.packed
        things = (len(order) + self.contact_count) // LIGHT
        self.team.run(unpack_grains, things, p, order, FreeBodies.of(bodies), self.blocks, self.found, Met.of(contacts))
        if len(self.pushed):
            packed = p.body[p.first_full * BODY : p.yielding * BODY].reshape(-1, BODY)
            bodies.velocity[self.pushed], bodies.spin[self.pushed] = packed[:, :3], packed[:, 3:6]

    def read_impulses(self, impulse: FloatArray) -> None:
        """Fill ``impulse`` (C, 7): normal, tangential [N s] and rolling [N m s], in world axes."""
        self.team.run(copy_impulses, self.contact_count // LIGHT, self.blocks, self.found.place, impulse)

    def residual(self) -> FloatArray:
        """(C, 3) projected residual of every contact: normal, friction, rolling [m/s]."""
        out: FloatArray = projected_residual(self.packed, self.blocks, self.levers, self.found)
        return out

    def friction_work(self) -> float:
        """Of friction and rolling resistance in all contacts [J], with the velocities and impulses of now."""
        parts = np.empty((self.contact_count + CHUNK - 1) // CHUNK)
        self.team.run(friction_works, self.contact_count, self.packed, self.blocks, self.levers, self.found, parts)
        return total(parts)

    def kinetic_energy(self) -> float:
        """Of all packed bodies that yield [J]."""
        p = self.packed
        parts = np.empty((p.first_full + CHUNK - 1) // CHUNK)
        self.team.run(sphere_energies, p.first_full // LIGHT, p, parts)
        if p.yielding == p.first_full:
            return total(parts)
        full = p.body[p.first_full * BODY : p.yielding * BODY].reshape(-1, BODY)
        v, w, inertia = full[:, :3], full[:, 3:6], inverse(p.inverse_inertia)
        return total(parts) + total(0.5 * dot(v, v) / full[:, 6] + 0.5 * dot(w, times(inertia, w)))
