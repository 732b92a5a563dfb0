"""Steps with fewer bodies: grains that move as one are merged after the solve, and come apart before it (MR Algorithm 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arithmetic import dot, inverse, length, times, total
from ..array_types import BoolArray, FloatArray, IntArray
from ..detection.network import TOUCHING, Network
from ..detection.regions import find_inside, region_table
from ..detection.visits import Visits
from ..detection.walls import CYLINDER, MESH, find_wall_contacts, surface_velocity
from ..parallel import ONE
from ..reduction.aggregates import Aggregates
from ..reduction.bonds import Bonds, keep_impulses, recall_impulses
from ..reduction.merge import compact, join_carriers, union_quiet
from ..reduction.motion import limits, relative_motion, within
from ..reduction.numbering import by_wall_body
from ..reduction.policy import Reduction
from ..state.bodies import DYNAMIC
from .blocks import BODY
from .problem import FullBodies
from .trial import Trial

if TYPE_CHECKING:
    from .stepper import NonsmoothStepper

NONE = np.zeros(0, np.int32)
NEARBY = 200  # grains that are followed to see whether a part of a body still hangs on it
WALL_STEPS = 20  # steps between two looks at which grains walls of other bodies can reach
LOOK_AT_ALL = 20  # steps between two looks at everything that carriers hold
LOST = 1e-9  # of its mass: an aggregate that has less has lost grains


class Reduced:
    """Merges and splits the grains of a stepper by a policy.

    ``aggregate`` (N,) is -1 for free grains, the number of the carrier (below ``carrier_count``) that holds a grain, or of its aggregate.
    """

    def __init__(self, stepper: NonsmoothStepper, policy: Reduction) -> None:
        self.stepper, self.policy = stepper, policy
        self.bodies, self.walls, self.detector = stepper.bodies, stepper.walls, stepper.detector
        owners = stepper.scene.all_bodies
        spinning = np.array([any(o.motion.spin) and o.kind == "kinematic" for o in owners], np.int32)
        self.aggregates = Aggregates(self.bodies, self.walls, spinning)
        self.carrier_count = self.aggregates.carrier_count
        self.wall_aggregate = self.aggregates.of_wall.copy()
        self.visits = Visits(self.detector.neighbours, self.wall_aggregate, self.carrier_count, self.aggregates.pose_of)
        self.detector.visits = self.detector.neighbours.visits = self.visits
        self.bonds = Bonds()
        self.fixed = np.zeros(0, bool)  # grains that touch the wall of their body
        self.dynamic = (self.bodies.kind == DYNAMIC).astype(np.int32)
        self.sensors = region_table(stepper.scene.sensors if "sensor" in policy.split else ())
        m, c = policy.merge, policy.contact
        self.merge_limit = limits(m.approach, m.separation, m.tangential, m.rolling)
        self.slow = max(m.approach, m.separation, m.tangential)
        self.change_limit = limits(m.normal_acceleration, m.normal_acceleration, m.tangential_acceleration, m.rolling_acceleration)
        self.split_limit = limits(c.approach, c.separation, c.tangential, c.rolling)
        self.motion = np.zeros((0, 6))  # at the contacts before the solve
        self.splits = self.merges = 0  # grains, in the last step
        self.trial = Trial(self)
        self.walls_due = 0  # steps until the next look at who is far from walls
        self.looked = 0  # steps since everything was looked at
        self.changed = False  # anything split since then
        self._grow()
        static = np.flatnonzero(self.bodies.inverse_mass[self.bodies.grains] == 0.0).astype(np.int32)
        self.aggregates.hold(static, np.zeros(len(static), np.int32))

    @property
    def aggregate(self) -> IntArray:
        return self.bodies.aggregate

    @property
    def network(self) -> Network:
        """Who lies next to whom."""
        return self.visits.network

    def members(self, bodies: IntArray) -> IntArray:
        """Grains that are part of these carriers or aggregates."""
        chosen = np.zeros(len(self.aggregates.used) + 1, bool)  # the last is for free grains
        chosen[bodies] = True
        return np.flatnonzero(chosen[self.aggregate]).astype(np.int32)

    @property
    def merged_into(self) -> IntArray:
        """(N,) the same with numbers that others understand: -1 free, below the number of wall bodies held by that one, else aggregates."""
        return by_wall_body(self.aggregate, self.aggregates.carrier_body, self.bodies.wall_body_count)

    @property
    def bound_walls(self) -> list[int]:
        """Dynamic wall bodies that are part of an aggregate."""
        return [int(w) for w in np.flatnonzero(self.aggregates.wall >= 0)]

    @property
    def level(self) -> float:
        """h = 1 - (free grains and aggregates) / grains."""
        return 1.0 - (self.free_grains + len(self.aggregates.alive)) / max(1, self.bodies.grain_count)

    @property
    def free_grains(self) -> int:
        return int(np.count_nonzero(self.aggregate < 0))

    def _grow(self) -> None:
        """Room for grains that are new."""
        more = self.bodies.grain_count - len(self.fixed)
        if more > 0:
            self.fixed = np.concatenate([self.fixed, np.zeros(more, bool)])
            self.trial.grow(more)
        self.bonds.reserve(self.bodies.grain_count)
        self.visits.aggregate = self.bodies.aggregate
        if more > 0:
            self.visits.far_from_walls = np.concatenate([self.visits.far_from_walls, np.zeros(more, bool)])

    # --- before the contacts are found ---

    def begin(self, h: float) -> float:
        """Follow walls that move otherwise than in the last step; returns the energy [J] that this brings to grains.

        If one leaps away under its grains, they are free and keep their motion: whether they follow is the solver's business.
        """
        self._grow()
        changed = self.aggregates.drive()
        self.walls_due -= 1
        if self.walls_due <= 0 or len(changed):
            self._look_at_walls(h)
        if not len(changed):
            return 0.0
        held = self.members(changed)
        rows = self.bodies.wall_body_count + held
        yields = self.bodies.inverse_mass[rows] > 0
        before, old = self._kinetic(rows[yields]), (self.bodies.velocity[rows], self.bodies.spin[rows])
        self.aggregates.carry(held, NONE)
        jump = length(self.bodies.velocity[rows] - old[0]) > self.policy.merge.tangential
        torn = np.isin(self.aggregate[held], self.aggregate[held[jump]]) & yields
        self.bodies.velocity[rows[torn]], self.bodies.spin[rows[torn]] = old[0][torn], old[1][torn]
        self._free(held[torn])
        self.trial.questioned[held] = True
        return self._kinetic(rows[yields]) - before

    def _look_at_walls(self, h: float) -> None:
        """Which grains that carriers hold cannot be reached by a wall of another body for some steps."""
        b, g = self.bodies, self.aggregates
        self.walls_due, self.visits.stale = WALL_STEPS, True
        far = self.visits.far_from_walls = np.zeros(b.grain_count, bool)
        held = np.flatnonzero((self.aggregate >= 0) & (self.aggregate < self.carrier_count)).astype(np.int32)
        if not len(held) or self.dynamic.any():  # walls that are pushed go anywhere
            return
        corner = np.array([b.position[b.grains].min(axis=0), b.position[b.grains].max(axis=0)])

        def fastest(at: FloatArray, velocity: FloatArray, spin: FloatArray) -> float:
            reach = np.maximum(np.abs(corner[0] - at), np.abs(corner[1] - at))
            return float((length(velocity) + length(spin) * length(reach)).max(initial=0.0))

        n, w = self.carrier_count, slice(0, b.wall_body_count)
        speed = fastest(g.centre[:n], g.velocity[:n], g.spin[:n]) + fastest(b.position[w], b.velocity[w], b.spin[w])
        touching = np.zeros(b.grain_count, np.int32)
        ONE.run(
            find_wall_contacts,
            0,
            held,
            b.position,
            b.orientation,
            b.radius + (WALL_STEPS + 1) * h * speed,
            b.movable,
            b.wall_body_count,
            self.aggregate,
            self.wall_aggregate,
            self.walls,
            0,
            NONE,
            NONE,
            NONE,
            np.empty((0, 3)),
            np.empty(0),
            np.zeros(b.grain_count, np.int32),
            touching,
        )
        # The search knows a mesh as far as grains reach, and an open tube from inside: who may come to one is looked at always.
        tube = (self.walls.kind == CYLINDER) & np.isfinite(self.walls.parameter[:, 7]) & (self.walls.parameter[:, 8] == 0.0)
        hidden = (self.walls.kind == MESH) | tube
        meets = (hidden & (self.wall_aggregate != np.arange(n)[:, None])).any(axis=1)
        far[held] = (touching[held] == 0) & ~meets[self.aggregate[held]]

    def _kinetic(self, rows: IntArray) -> float:
        v, w, r = self.bodies.velocity[rows], self.bodies.spin[rows], self.bodies.radius[rows - self.bodies.wall_body_count]
        square = dot(v, v) + 0.4 * r * r * dot(w, w)
        return 0.5 * total(square / self.bodies.inverse_mass[rows])

    # --- splits: after the contacts are found, before the impacts (MR Algorithm 1, line 6) ---

    def refine(self, h: float, gravity: FloatArray) -> None:
        """Let come apart what sensors, contacts and the trial say."""
        self.splits = 0
        split = [self._sensed()]
        lost = self._off_belts()
        self._measure_motion()
        split.append(self._hit())
        together = self._split(np.concatenate(split))
        together = np.concatenate([together, self._split(self.trial.run(together, h, gravity))])
        self._reconnect(together, lost)
        if self.visits.stale:
            self.find_again()

    def find_again(self) -> None:
        """Contacts of this step once more, with the impulses that opened contacts carried when they closed."""
        c = self.detector.look_again(self.bodies)
        b = self.bodies
        recall_impulses(c.a, c.b, c.normal, b.orientation, b.wall_body_count, self.bonds.partner, self.bonds.kept, c.impulse)
        self._measure_motion()

    def _measure_motion(self) -> None:
        self.motion = self.motion_with(self.bodies.velocity, self.bodies.spin)

    def motion_with(self, velocity: FloatArray, spin: FloatArray) -> FloatArray:
        """(C, 6) of b against a at the contacts, with these velocities [m/s] and spins [rad/s] of all bodies."""
        b, c = self.bodies, self.detector.contacts
        out = np.empty((c.contact_count, 6))
        relative_motion(
            c.a,
            c.b,
            c.normal,
            b.position,
            velocity,
            spin,
            b.radius,
            b.wall_body_count,
            self.walls.body,
            surface_velocity(self.walls, b.orientation),
            out,
        )
        return out

    def other_body(self) -> IntArray:
        """(C,) body that side b of every contact is part of, -1: none."""
        c = self.detector.contacts
        return np.concatenate([self.aggregate[c.b[: c.pair_count]], self.wall_aggregate[-1 - c.b[c.pair_count :]]])

    def _sensed(self) -> IntArray:
        """Merged grains inside a sensor."""
        if not len(self.sensors):
            return NONE
        some = np.flatnonzero(self.aggregate >= 0).astype(np.int32)
        return some[self._inside(some)]

    def _inside(self, grains: IntArray) -> BoolArray:
        """(n,) whether grains are inside a sensor."""
        region = np.empty(len(grains), np.int32)
        find_inside(self.bodies.position[self.bodies.wall_body_count + grains], 0, self.sensors, region)
        return region >= 0

    def _hit(self) -> IntArray:
        """Merged grains at contacts that move too fast, and their neighbours.

        Two bodies that do not yield cannot be solved: where they do not move as one, the grains between them come off.
        """
        c = self.detector.contacts
        if not c.contact_count:
            return NONE
        fast = np.zeros(c.contact_count, bool)
        if "contact" in self.policy.split:
            within(c.normal, self.motion, self.split_limit, fast)
            fast = ~fast
        own, other = self.aggregate[c.a], self.other_body()
        driven = (own >= 0) & (own < self.carrier_count) & (other >= 0) & (other < self.carrier_count)
        if driven.any():
            apart = np.zeros(c.contact_count, bool)
            within(c.normal, self.motion, self.merge_limit, apart)
            fast |= driven & ~apart
        fast &= (own >= 0) | (other >= 0)
        if not fast.any():
            return NONE
        touched = np.concatenate([c.a[fast], c.b[fast]])
        seed = np.unique(touched[touched >= 0])
        return self.around(seed[self.aggregate[seed] >= 0], self.policy.contact.depth)

    def around(self, seed: IntArray, depth: int) -> IntArray:
        b = self.bodies
        return self.network.within(seed, depth, self.aggregate, b.position, b.radius, b.wall_body_count)

    def _split(self, grains: IntArray) -> IntArray:
        """Free merged grains; static ones stay. Returns those of carriers; what is left of aggregates is formed anew."""
        grains = np.unique(grains)
        grains = grains[self.bodies.inverse_mass[self.bodies.wall_body_count + grains] > 0].astype(np.int32)
        if not len(grains):
            return NONE
        self.splits += len(grains)
        own = self.aggregate[grains]
        self._free(grains)
        torn = np.unique(own[own >= self.carrier_count])
        if len(torn):
            self._form_anew(torn)
        return grains[own < self.carrier_count]

    def _free(self, grains: IntArray) -> None:
        self.visits.note(grains)
        self.aggregates.release(grains)
        self.fixed[grains] = self.visits.far_from_walls[grains] = False

    def _form_anew(self, torn: IntArray) -> None:
        """Parts of aggregates that still hang together become aggregates of their own."""
        bound = np.bincount(self.aggregates.wall[self.aggregates.wall >= 0], minlength=len(self.aggregates.used))
        several = torn[bound[torn] > 1]
        if len(several):  # nobody knows which of its walls a grain hangs on: they come apart as a whole
            self._free(self.members(several))
            self._dissolve(several, NONE, np.flatnonzero(np.isin(self.aggregates.wall, several)).astype(np.int32))
            torn = torn[bound[torn] <= 1]
        members = self.members(torn)
        b = self.bodies
        walls = np.flatnonzero(np.isin(self.aggregates.wall, torn)).astype(np.int32)
        loose, part, parts = self.network.parts(members, b.grain_count, self.fixed, self.aggregate, b.position, b.radius, b.wall_body_count)
        rest = np.setdiff1d(members, loose)
        group_of = {int(k): n for n, k in enumerate(torn[np.isin(torn, self.aggregates.wall[walls])])}
        rest_group = np.array([group_of[int(k)] for k in np.unique(self.aggregate[rest])], np.int32)
        _, where = np.unique(self.aggregate[rest], return_inverse=True)
        wall_group = np.array([group_of[int(k)] for k in self.aggregates.wall[walls]], np.int32)
        member = np.concatenate([rest, loose]).astype(np.int32)
        group = np.concatenate([rest_group[where] if len(rest) else NONE, len(group_of) + part]).astype(np.int32)
        self._dissolve(torn, member, walls)
        self._make(member, group, len(group_of) + parts, walls, wall_group)

    def _dissolve(self, aggregates: IntArray, member: IntArray, walls: IntArray) -> None:
        """These aggregates are no more; their members and walls are free."""
        self.aggregates.used[aggregates] = False
        self.aggregates.release(member)
        self.aggregates.wall[walls] = -1
        self.bodies.movable[walls] = self.bodies.inverse_mass[walls]

    def _make(self, member: IntArray, group: IntArray, groups: int, walls: IntArray, wall_group: IntArray) -> None:
        """Aggregates of all groups that are large enough; the others' grains are free."""
        walled = np.bincount(wall_group, minlength=groups)
        grains = np.bincount(group, minlength=groups)
        large = (grains >= self.policy.merge.smallest) | ((walled > 0) & (grains + walled > 1))
        number = np.cumsum(large) - 1
        kept, kept_walls = large[group], large[wall_group]
        self.aggregates.form(
            member[kept],
            number[group[kept]].astype(np.int32),
            int(np.count_nonzero(large)),
            walls[kept_walls],
            number[wall_group[kept_walls]].astype(np.int32),
        )
        self.fixed[member[~kept]] = False
        self.visits.far_from_walls[member] = False
        self.trial.questioned[member] = True
        self.follow_walls()
        self.visits.note(member)

    def follow_walls(self) -> None:
        """Tell the detector what the dynamic walls are part of."""
        own = self.aggregates.wall[self.walls.body]
        self.wall_aggregate[:] = np.where(self.dynamic[self.walls.body] == 1, own, self.aggregates.of_wall)

    def _off_belts(self) -> IntArray:
        """Grains that a belt held and has run away from: it turns back at its end, its grains do not."""
        g, b = self.aggregates, self.bodies
        belts = np.append(g.carrier_belt >= 0, np.zeros(len(g.used) - self.carrier_count + 1, bool))
        on = np.flatnonzero(self.fixed & belts[self.aggregate]).astype(np.int32) if belts.any() else NONE
        if not len(on):
            return NONE
        count, room = np.zeros(b.grain_count, np.int32), 8 * len(on)
        a, wall, feature = (np.empty(room, np.int32) for _ in range(3))
        total = ONE.run(
            find_wall_contacts,
            0,
            on,
            b.position,
            b.orientation,
            b.radius,
            b.inverse_mass,
            b.wall_body_count,
            None,
            None,
            self.walls,
            0,
            a,
            wall,
            feature,
            np.empty((room, 3)),
            np.empty(room),
            np.zeros(b.grain_count, np.int32),
            count,
        )
        a, wall = a[: min(total, room)], wall[: min(total, room)]
        self.fixed[on] = False
        self.fixed[a[g.of_wall[-1 - wall] == self.aggregate[a]]] = True
        lost = on[~self.fixed[on]]
        self.trial.questioned[lost] = True
        return lost

    def _reconnect(self, split: IntArray, lost: IntArray) -> None:
        """What has lost its hold becomes an aggregate: around grains that came off at once, everywhere from time to time."""
        b = self.bodies
        where = (self.aggregate, b.position, b.radius, b.wall_body_count)
        self.changed |= len(split) > 0 or len(lost) > 0
        self.looked += 1
        limit = NEARBY
        if self.changed and self.looked >= LOOK_AT_ALL:
            self.looked, self.changed, limit = 0, False, b.grain_count
            start = np.flatnonzero((self.aggregate >= 0) & (self.aggregate < self.carrier_count)).astype(np.int32)
        elif len(split) or len(lost):
            start = np.concatenate([self.beside(split), lost])
        else:
            return
        held = b.inverse_mass[b.grains] == 0.0
        loose, part, parts = self.network.parts(start, limit, self.fixed | held, *where)
        if parts:
            self.aggregates.release(loose)
            self._make(loose, part, parts, NONE, NONE)

    def beside(self, split: IntArray) -> IntArray:
        """Grains that carriers hold beside those that came off: what tears off one pulls at the next."""
        b = self.bodies
        return self.network.around(split, self.carrier_count, self.aggregate, b.position, b.radius, b.wall_body_count)

    # --- merges: after the solve, before bodies move (MR Algorithm 1, line 13) ---

    def merge(self, h: float) -> float:
        """Merge what moves as one at its contacts; returns the work [J] of carriers on grains that take their motion."""
        b, c = self.bodies, self.detector.contacts
        pushed, walls = self.aggregate >= self.carrier_count, self.aggregates.wall >= 0
        self.aggregates.carry(np.flatnonzero(pushed).astype(np.int32), np.flatnonzero(walls).astype(np.int32))
        self.merges = 0
        after = self.motion_with(b.velocity, b.spin)
        slow, steady = np.empty(c.contact_count, bool), np.empty(c.contact_count, bool)
        within(c.normal, after, self.merge_limit, slow)
        within(c.normal, (after - self.motion) / h, self.change_limit, steady)
        rough = self.stepper.pairs.friction[b.material[c.a[c.pair_count :]], self.walls.material[-1 - c.b[c.pair_count :]]] > 0.0
        slow[c.pair_count :] &= rough  # a smooth wall holds nothing
        reach = b.radius[c.a]
        reach[: c.pair_count] += b.radius[c.b[: c.pair_count]]
        touching = c.overlap > -0.5 * TOUCHING * reach
        quiet = np.flatnonzero(slow & steady & touching).astype(np.int32)
        barred = self.trial.restless > 0
        self.trial.restless[barred] -= 1
        if not len(quiet):
            return 0.0
        if len(self.sensors):
            barred[self.detector.order] |= self._inside(self.detector.order)
        work = self._join_carriers(quiet, barred)
        self._join_each_other(quiet, barred)
        self.trial.questioned[self.trial.failed] = False  # they were free in the solve, and stayed where they were
        own = self.aggregate[c.a]
        inside = np.flatnonzero((own >= 0) & (own == self.other_body())).astype(np.int32)
        self.close(inside, c.impulse)
        return work

    def close(self, inside: IntArray, impulse: FloatArray) -> None:
        b, c = self.bodies, self.detector.contacts
        keep_impulses(c.a, c.b, impulse, inside, self.aggregate, b.orientation, b.wall_body_count, self.bonds.partner, self.bonds.kept)

    def _hold(self, member: IntArray, carrier: IntArray) -> float:
        """Let carriers hold grains; returns their work [J]: the momentum that they give, times their velocity."""
        b, rows = self.bodies, self.bodies.wall_body_count + member
        old = b.velocity[rows], b.spin[rows]
        self.aggregates.hold(member, carrier)
        self.visits.note(member)
        self.trial.questioned[member] = True
        v, w, r = b.velocity[rows], b.spin[rows], b.radius[member]
        given = dot(v - old[0], v) + 0.4 * r * r * dot(w - old[1], w)
        return total(given / b.inverse_mass[rows])

    def _join_carriers(self, quiet: IntArray, barred: BoolArray) -> float:
        b, c, g = self.bodies, self.detector.contacts, self.aggregates
        taken = np.full(len(g.used), -1, np.int32)
        joined = np.empty(len(self.detector.order), np.int32)
        count = join_carriers(
            quiet,
            c.a,
            c.b,
            c.normal,
            g.of_wall,
            surface_velocity(self.walls, b.orientation),
            self.carrier_count,
            barred,
            self.slow,
            self.policy.merge.rolling,
            b.wall_body_count,
            b.position,
            b.velocity,
            b.spin,
            g.centre,
            g.velocity,
            g.spin,
            b.aggregate,
            taken,
            self.fixed,
            joined,
        )
        joined = joined[:count]
        work = self._hold(joined, self.aggregate[joined]) if count else 0.0
        gone = np.flatnonzero(taken >= 0).astype(np.int32)
        if len(gone):
            member = self.members(gone)
            carrier = taken[self.aggregate[member]]
            self._dissolve(gone, member, np.flatnonzero(np.isin(g.wall, gone)).astype(np.int32))
            self.fixed[member] = False
            work += self._hold(member, carrier)
            self.follow_walls()
        self.merges += count + len(gone)
        at_walls = c.a[c.pair_count :]
        mine = g.of_wall[-1 - c.b[c.pair_count :]]
        self.fixed[at_walls[(mine >= 0) & (mine == self.aggregate[at_walls])]] = True
        return work

    def _join_each_other(self, quiet: IntArray, barred: BoolArray) -> None:
        b, c, g = self.bodies, self.detector.contacts, self.aggregates
        own, other = self.aggregate[c.a[quiet]], self.other_body()[quiet]
        held = ((own >= 0) & (own < self.carrier_count)) | ((other >= 0) & (other < self.carrier_count))
        quiet = quiet[~held]
        if not len(quiet):
            return
        slots, bodies = len(self.detector.order), len(g.used)
        parent = np.empty(slots + bodies + b.wall_body_count, np.int32)
        if not union_quiet(
            quiet,
            c.a,
            c.b,
            self.detector.slot,
            slots,
            self.carrier_count,
            bodies,
            b.aggregate,
            g.wall,
            self.walls.body,
            self.dynamic,
            barred,
            parent,
        ):
            return
        joined = np.zeros(len(parent), bool)
        joined[:slots] = self.aggregate[self.detector.order] < 0
        joined[slots : slots + bodies] = g.used
        joined[slots : slots + self.carrier_count] = False
        joined[slots + bodies :] = (self.dynamic == 1) & (g.wall < 0)
        number = np.empty(len(parent), np.int32)
        groups = compact(parent, joined, number)
        grains = self.detector.order[number[:slots] >= 0]
        gone = np.flatnonzero(number[slots : slots + bodies] >= 0).astype(np.int32)
        old = self.members(gone)
        old_walls = np.flatnonzero(np.isin(g.wall, gone)).astype(np.int32)
        walls = np.flatnonzero(number[slots + bodies :] >= 0).astype(np.int32)
        group = np.concatenate([number[:slots][number[:slots] >= 0], number[slots + self.aggregate[old]]])
        wall_group = np.concatenate([number[slots + bodies + walls], number[slots + g.wall[old_walls]]])
        self._dissolve(gone, old, old_walls)
        self._make(np.concatenate([grains, old]), group, groups, np.concatenate([walls, old_walls]), wall_group)
        at_wall = quiet[c.b[quiet] < 0]
        self.fixed[c.a[at_wall]] = (self.aggregate[c.a[at_wall]] >= 0) & (
            self.aggregate[c.a[at_wall]] == g.wall[self.walls.body[-1 - c.b[at_wall]]]
        )
        self.merges += len(grains) + len(gone)

    # --- for the stepper ---

    def full_bodies(self) -> FullBodies | None:
        """The aggregates as the contact problem takes them, after the dynamic walls; none if there are none."""
        alive, g = self.aggregates.alive, self.aggregates
        if not len(alive):
            return None
        place = np.full(len(g.used), -1, np.int32)
        place[alive] = np.arange(len(alive), dtype=np.int32)
        return FullBodies(
            number=alive,
            velocity=g.velocity[alive],
            spin=g.spin[alive],
            inverse_mass=1 / g.mass[alive],
            inverse_inertia=inverse(g.inertia[alive]),
            centre=g.centre[alive],
            of_grain=np.where(self.aggregate >= self.carrier_count, place[np.maximum(self.aggregate, 0)], -1).astype(np.int32),
            of_wall=np.where(g.wall >= 0, place[np.maximum(g.wall, 0)], -1).astype(np.int32),
        )

    def take(self, full: FullBodies) -> None:
        """Velocities of the aggregates after a solve."""
        self.aggregates.velocity[full.number], self.aggregates.spin[full.number] = full.velocity, full.spin

    def push(self, h: float, gravity: FloatArray, full: FullBodies) -> tuple[FloatArray, FloatArray]:
        """(A, 3) changes of velocity [m/s] and spin [rad/s] that gravity and the forces on walls inside aggregates bring in a step."""
        pushed, turned = np.tile(h * gravity, (len(full.number), 1)), np.zeros((len(full.number), 3))
        for w in np.flatnonzero(full.of_wall >= 0):
            k, force = full.of_wall[w], np.asarray(self.stepper.scene.all_bodies[w].force)
            pushed[k] += h * full.inverse_mass[k] * force
            turned[k] += h * times(full.inverse_inertia[k], np.cross(self.bodies.position[w] - full.centre[k], force))
        return pushed, turned

    def keep(self, rows: IntArray, new_row: IntArray) -> None:
        """All grains but those in ``rows`` have left; ``new_row`` (N before,) is the new row of each, or -1."""
        self.fixed, self.visits.far_from_walls = self.fixed[rows], self.visits.far_from_walls[rows]
        self.trial.keep(rows, new_row)
        count = len(rows)
        alone = self.bonds.keep(rows, new_row)
        self.trial.questioned |= alone  # what held them may have left
        self.changed |= bool(alone.any())
        self.visits.forget()
        self.network.update(count)  # not known yet if the run has just been restored
        self._grow()
        b, alive = self.bodies, self.aggregates.alive
        if len(alive):
            part = self.aggregate >= self.carrier_count
            mass = np.bincount(self.aggregate[part], b.mass[part], len(self.aggregates.used))
            walls = np.flatnonzero(self.aggregates.wall >= 0)
            np.add.at(mass, self.aggregates.wall[walls], 1 / b.inverse_mass[walls])
            torn = alive[mass[alive] < self.aggregates.mass[alive] * (1 - LOST)]
            if len(torn):
                self._form_anew(torn)

    def checkpoint(self) -> dict[str, Any]:
        """All that the next step depends on besides the bodies."""
        position, rotation = self.visits.listed_pose
        return {
            "aggregate": self.aggregate,
            "aggregates": self.aggregates.checkpoint(),
            "bonds": self.bonds.checkpoint(),
            "fixed": self.fixed,
            "listed_position": position,
            "listed_rotation": rotation,
            "resting": self.visits.resting,
            "looked": self.looked,
            "changed": int(self.changed),
            "trial": self.trial.checkpoint(),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        b = self.bodies
        b.aggregate[:] = saved["aggregate"]
        b.movable[b.grains] = np.where(b.aggregate >= 0, 0.0, b.inverse_mass[b.grains])
        self.aggregates.restore(saved["aggregates"])
        b.movable[self.bound_walls] = 0.0
        self.bonds.restore(saved["bonds"])
        self.fixed = np.array(saved["fixed"], bool)
        self.trial.restore(saved["trial"])
        self.visits.listed_pose = (np.array(saved["listed_position"]), np.array(saved["listed_rotation"]))
        self.visits.resting, self.looked, self.changed = int(saved["resting"]), int(saved["looked"]), bool(saved["changed"])
        self.follow_walls()
        self.walls_due = 0
        self._grow()


def velocities(body: FloatArray, slots: int) -> tuple[FloatArray, FloatArray]:
    """(slots, 3) velocities [m/s] and spins [rad/s] of packed bodies."""
    packed = body[: slots * BODY].reshape(-1, BODY)
    return packed[:, :3].copy(), packed[:, 3:6] * packed[:, 7:8]
