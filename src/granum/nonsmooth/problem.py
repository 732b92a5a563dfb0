"""The contact problem of one step: bodies packed and contacts laid out in coloured blocks, ready for any solver."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np

from ..arithmetic import dot, inverse, times, total
from ..array_types import FloatArray, IntArray, LongArray
from ..detection.wall_table import WallTable
from ..kernel_groups import call
from ..machines.groups import NO_LINKS, Links, NoLinks
from ..parallel import LIGHT, ONE, Team
from ..state.bodies import Bodies
from ..state.contacts import Contacts
from ..state.mobility import inertias, inverse_inertias
from ..state.motion import inverse_inertia
from ..state.rooms import Rooms, with_spare
from .blocks import BODY, COLOURS, FIELDS_3_ROWS, FIELDS_6_ROWS, LANES, LEFT_OVER, RX, lay_out
from .groups import ContactBlocks, Found, FreeBodies, Levers, Met, Momentum, Packed, ProblemArrays
from .kinds.every import CHUNK, each_sphere_energy, projected_residual, sphere_energies
from .slots import assign_slots, read_impulses

NOTHING = np.zeros(0)
SOME = 8  # impacts that reach a smaller part of all lanes give their room back


def _whole(count: int) -> IntArray:
    return np.zeros(count, np.int32)


class Problem:
    """M v+ = M v + G^T lambda, G v+ + Sigma lambda = q with bounds (physics 3), in physical impulses and packed blocks.

    Its arrays are in groups (``groups.py``). ``packed`` and ``blocks`` hold velocities and impulses: the start of a solve, and then its
    result.
    """

    def __init__(self, rolling: bool, friction: Literal["cone", "box"] = "cone", team: Team = ONE, rooms: Rooms | None = None) -> None:
        self.team, self.rooms = team, rooms if rooms is not None else Rooms()
        self.box = friction == "box"  # friction is bounded component by component (SN 2.3.2), not by its length
        self.contact_count = 0
        self.pair_count = 0
        self.colours = 0
        self.accuracy = 0.0  # [m/s] of the residual: what the state is worth
        self.scale = 0.0  # [m/s] by which velocities change in the step: what errors are a part of
        self._held = np.zeros(0, np.int64), np.zeros((0, 3, 3))  # bodies with locked rotations, by slot, and their inertia
        nothing, none = np.zeros(0), _whole(0)
        fields = FIELDS_6_ROWS if rolling else FIELDS_3_ROWS
        self.links: Links | NoLinks = NO_LINKS  # of machines, among the bodies with full inertia
        self.packed = Packed(nothing, np.zeros((0, 3, 3)), 0, 0)
        ends = _whole(COLOURS + 1), _whole(COLOURS + 2)
        self.blocks = ContactBlocks(none, none, none, nothing, *ends, 0, fields, 0.0, self.box)
        self.levers = Levers(np.zeros((0, 6)), np.zeros((0, 2), np.int32), np.zeros((0, 3)))
        self.found = self._found_room = Found(none, none, none, nothing, nothing, nothing, nothing)
        self._arrays = ProblemArrays(self.packed, self.blocks, self.levers, self.found)
        self.momentum = Momentum(nothing, nothing, nothing)
        self._kept = 0  # numbers of the iterate before
        self.nobody = 0  # slot of empty lanes
        self._beside: ContactBlocks | None = None

    @property
    def arrays(self) -> ProblemArrays:
        """What kernels take whole; the same one as long as none of its groups is made anew."""
        packed, blocks, levers, found = self._arrays
        if packed is not self.packed or blocks is not self.blocks or levers is not self.levers or found is not self.found:
            self._arrays = ProblemArrays(self.packed, self.blocks, self.levers, self.found)
        return self._arrays

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

    @property
    def beside(self) -> ContactBlocks:
        """Room for as many blocks again, for a part of the contacts; what it holds is not kept."""
        b = self.blocks
        if self._beside is None or len(self._beside.lane_a) < len(b.lane_a):
            lane_a, lane_b, contact_at = (_whole(len(b.lane_a)) for _ in range(3))
            data = np.zeros(len(b.lane_a) * b.fields)
            self._beside = b._replace(lane_a=lane_a, lane_b=lane_b, contact_at=contact_at, data=data)
        return self._beside

    def end_impacts(self, reached: int) -> None:
        """Let go of the room that impacts need, if they have ``reached`` few lanes: there a new one costs nothing."""
        if self._beside is not None and reached * SOME < len(self._beside.lane_a):
            self._beside, self.momentum = None, self.momentum._replace(before=NOTHING)

    def room_to_sweep(self) -> Momentum:
        """``momentum``, with room for the impulses of the iterate before."""
        if len(self.momentum.before) < self._kept:
            self.momentum = self.momentum._replace(before=np.zeros(len(self.blocks.lane_a) * (self.rows + 1)))
        return self.momentum

    @contextmanager
    def lent(self, contacts: Contacts) -> Iterator[None]:
        """Let a solve work in the room of the contacts' impulses: nobody reads them until it is over, and then they are written anew.

        A solve that is stopped leaves there what it has come to.
        """
        own, impulse = self.momentum, contacts.whole.impulse
        lent = self.rooms.lanes.shared and impulse.size >= self._kept
        if lent:
            self.momentum = own._replace(before=impulse.reshape(-1))
        try:
            yield
        except BaseException:  # Ctrl-C in a notebook, where somebody may step on
            self.read_impulses(contacts.every.impulse)
            raise
        finally:
            if lent:
                self.momentum = own

    def soften(self, soft_t: float) -> None:
        """Softness of the friction [1/kg] and rolling rows [1/(kg m^2)] from now on."""
        if soft_t != self.blocks.soft_t:
            self.blocks = self.blocks._replace(soft_t=soft_t)

    def pack(self, bodies: Bodies, free: FreeBodies, contacts: Contacts, met: Met, walls: WallTable, rank: IntArray, same: bool) -> bool:
        """Room for bodies and contacts; these into coloured blocks unless they are the ``same`` as before in the same order.

        ``rank`` (N,) is the slot of each grain. True if bodies were put into their slots for that; else ``assemble`` does it.
        """
        grains, full, every = len(free.order), len(free.full), contacts.every_count
        slots = grains + full + every - contacts.pair_count
        self.make_slots(grains, full, slots)
        if full:
            self._pack_full(bodies, free.full)
        elif len(self.levers.centre):
            self.levers = self.levers._replace(centre=np.zeros((0, 3)))
        if self.blocks.data is not self.rooms.lanes.problem:  # the search has made a larger one
            self.blocks = self.blocks._replace(data=self.rooms.lanes.problem)
        if same and self.contact_count == every:
            return False
        self.make_contacts(every, contacts.pair_count)
        full_slot = np.full(bodies.first_grain, -1, np.int32)
        full_slot[free.full] = grains + np.arange(full, dtype=np.int32)
        if bodies.may_merge or bodies.grains_on_dynamic:  # grains may be parts of others
            own = np.append(full_slot, -1)[np.minimum(bodies.grain_body, bodies.first_grain)]
            rank = np.where(own >= 0, own, rank)
        things = max(self.contact_count, grains) // LIGHT
        self.team.run(assign_slots, things, free, met, rank, walls.body, full_slot, self.packed, self.found)
        self.colour(slots)
        return True

    def link(self, bodies: Bodies, full: IntArray) -> None:
        """Number the links of machines among the bodies with full inertia, whose rows are ``full`` (F,)."""
        links = self.links
        if not isinstance(links, Links):
            return
        if bodies.may_merge:  # a link that is a part of another body is pushed as that one is
            links.body[:] = bodies.member_of[bodies.linked]
            links.arm[:] = bodies.position[bodies.linked] - bodies.position[links.body]
        if len(links.link_of) == len(full) and (full[links.full] == links.body).all():
            return
        place = np.searchsorted(full, links.body).astype(np.int32)
        link_of = np.full(len(full), -1, np.int32)
        link_of[place] = np.arange(len(place))
        self.links = links._replace(full=place, link_of=link_of)
        self.packed = self.packed._replace(links=self.links)

    def make_slots(self, grains: int, full: int, slots: int) -> None:
        """Room for packed bodies: grains, bodies with full inertia, one slot for each contact with another wall, and nobody's."""
        p, yielding = self.packed, grains + full
        inertia = p.inverse_inertia
        some = with_spare(slots + 1)
        body = self.rooms.bodies.for_problem((slots + 1) * BODY, some * BODY)
        before = self.rooms.before.for_problem((slots + 1) * 6, some * 6)
        if before is not self.momentum.body_before:
            self.momentum = self.momentum._replace(body_before=before)
        if len(inertia) != full:
            inertia = np.zeros((full, 3, 3))
        if body is not p.body or inertia is not p.inverse_inertia or (grains, yielding) != (p.first_full, p.yielding):
            self.packed = Packed(body, inertia, grains, yielding, self.links)

    def make_contacts(self, contacts: int, pairs: int) -> None:
        """Room for contacts, pairs of grains first; ``colour`` gives them their places."""
        self.contact_count, self.pair_count = contacts, pairs
        if len(self.found.place) == contacts:
            return
        if len(self._found_room.place) < contacts:
            room = with_spare(contacts)
            slot_a, slot_b, place = (_whole(room) for _ in range(3))
            self._found_room = Found(slot_a, slot_b, place, *(np.zeros(room) for _ in range(4)))
        shown: list[Any] = [values[:contacts] for values in self._found_room]
        self.found = Found(*shown)

    def colour(self, nobody: int) -> None:
        """Contacts into coloured blocks; ``nobody`` is the slot of empty lanes."""
        self.nobody = nobody
        f, b, m = self.found, self.blocks, self.momentum
        things, places = self.contact_count // LIGHT, np.zeros((self.team.threads, LEFT_OVER + 1), np.int64)
        coloured, count, self.colours = self.team.run(lay_out, things, self.packed, f, nobody, b, 0, places)
        if len(b.lane_a) < count * LANES:
            room = with_spare(count) * LANES
            lane_a, lane_b, contact_at = (_whole(room) for _ in range(3))
            b = b._replace(lane_a=lane_a, lane_b=lane_b, contact_at=contact_at, data=self.rooms.lanes.for_problem(room * b.fields))
            self.team.run(lay_out, things, self.packed, f, nobody, b, count, places)
        self.blocks = b._replace(serial_start=coloured * LANES)
        if self.one_by_one or len(self.levers.full):
            arm, full = np.zeros((self.one_by_one, 6)), np.full((self.one_by_one, 2), -1, np.int32)
            self.levers = Levers(arm, full, self.levers.centre)
        parts = max(2 * (coloured + self.one_by_one), 3 * (self.contact_count // CHUNK + 1))
        if len(m.sums) < parts:
            m = m._replace(sums=np.zeros(with_spare(parts)))
        self.momentum, self._kept = m, count * LANES * (self.rows + 1)

    def _pack_full(self, bodies: Bodies, rows: IntArray) -> None:
        """Inverse inertia of the bodies with full inertia, in world axes; and their centres, if grains are parts of them."""
        inertia = self.packed.inverse_inertia
        call(inverse_inertia, bodies.arrays, bodies.moments, rows, bodies.wall_body_count, inertia)
        own = int(np.count_nonzero(rows < bodies.wall_body_count)) if bodies.may_merge else len(rows)  # bodies of the scene come first
        if own < len(rows):
            inertia[own:] = inverse(bodies.inertia[rows[own:]])
        if own < len(rows) or bodies.grains_on_dynamic:
            self.levers = self.levers._replace(centre=bodies.position[rows])
        elif len(self.levers.centre):
            self.levers = self.levers._replace(centre=np.zeros((0, 3)))
        held = np.flatnonzero(bodies.locked[rows, 3:].any(axis=1))
        if len(held):
            inertia[held] = inverse_inertias(bodies, rows[held])
        self._held = held, inertias(bodies, rows[held])

    def read_impulses(self, impulse: FloatArray) -> None:
        """Fill ``impulse`` (C, 7): normal, tangential [N s] and rolling [N m s], in world axes."""
        self.team.run(read_impulses, self.contact_count // LIGHT, self.blocks, self.found.place, impulse)

    def residual(self) -> FloatArray:
        """(C, 3) projected residual of every contact: normal, friction, rolling [m/s]."""
        out: FloatArray = projected_residual(self.packed, self.blocks, self.levers, self.found)
        return out

    def kinetic_energy(self) -> float:
        """Of all packed bodies that yield [J]."""
        p = self.packed
        parts = np.empty((p.first_full + CHUNK - 1) // CHUNK)
        self.team.run(sphere_energies, p.first_full // LIGHT, p, parts)
        return total(parts) + (total(self._energies_of_full()) if p.yielding > p.first_full else 0.0)

    def kinetic_energies(self) -> FloatArray:
        """(yielding slots,) of each packed body [J]; 0 of those that do not yield."""
        p = self.packed
        energy = np.empty(p.yielding)
        call(each_sphere_energy, p, energy)
        if p.yielding > p.first_full:
            energy[p.first_full :] = self._energies_of_full()
        return energy

    def _energies_of_full(self) -> FloatArray:
        """(F,) of the bodies with full inertia [J]."""
        p = self.packed
        full = p.body[p.first_full * BODY : p.yielding * BODY].reshape(-1, BODY)
        own, locked = self._held
        regular = p.inverse_inertia.copy()
        regular[own] = np.eye(3)
        v, w, inertia = full[:, :3], full[:, 3:6], inverse(regular)
        inertia[own] = locked
        return np.asarray(0.5 * dot(v, v) / full[:, 6] + 0.5 * dot(w, times(inertia, w)))
