"""What merges after a step is solved, before bodies move: contacts whose two sides move as one (MR 3.1, Algorithm 1, line 13)."""

from __future__ import annotations

import numpy as np

from ..array_types import BoolArray, FloatArray, IntArray
from ..detection.wall_table import surface_velocity
from ..kernel_groups import call
from ..state.bodies import DYNAMIC
from .joining import Joining, Owners, Slow, compact, join_carriers, join_links, union_quiet
from .merged import Merged
from .motion import limits, within
from .network import TOUCHING


class Merging:
    """Merges grains by the rules of a policy; ``count`` bodies did in the last step."""

    def __init__(self, merged: Merged, friction: FloatArray) -> None:
        """``friction`` (M, M) of the materials: a smooth wall holds nothing."""
        self.merged, self.friction = merged, friction
        m = merged.policy.merge
        self.limit = limits(m.approach, m.separation, m.tangential, m.rolling)
        self.change_limit = limits(m.normal_acceleration, m.normal_acceleration, m.tangential_acceleration, m.rolling_acceleration)
        self.slow = max(m.approach, m.separation, m.tangential)
        self.count = 0

    def merge(self, h: float) -> float:
        """Merge what moves as one at its contacts; returns the work [J] of carriers on grains that take their motion."""
        m = self.merged
        m.aggregates.carry(np.flatnonzero(m.pushed).astype(np.int32), m.aggregates.bound)
        self.count = 0
        quiet = self._quiet(h)
        barred = m.restless > 0
        m.restless[barred] -= 1
        self._unsettle(quiet)
        if not len(quiet):
            return 0.0
        if len(m.sensors):
            order = m.detector.order
            barred[order] |= m.in_sensor(order)
        work = self._join_carriers(quiet, barred)
        self._join_each_other(quiet, barred)
        return work

    def _quiet(self, h: float) -> IntArray:
        """Contacts whose two sides touch, move alike and hardly change their motion."""
        m, b, c = self.merged, self.merged.bodies, self.merged.detector.contacts
        after = m.motion_with(b.velocity, b.spin)
        slow, steady = np.empty(c.contact_count, bool), np.empty(c.contact_count, bool)
        within(c.normal, after, self.limit, slow)
        within(c.normal, (after - m.motion) / h, self.change_limit, steady)
        rough = self.friction[b.material[c.a[c.pair_count :]], m.walls.material[-1 - c.b[c.pair_count :]]] > 0.0
        slow[c.pair_count :] &= rough
        reach = b.radius[c.a]
        reach[: c.pair_count] += b.radius[c.b[: c.pair_count]]
        return np.flatnonzero(slow & steady & (c.overlap > -0.5 * TOUCHING * reach)).astype(np.int32)

    def _unsettle(self, quiet: IntArray) -> None:
        """Free grains without a quiet contact start anew to count the steps until they may merge."""
        m, b, c = self.merged, self.merged.bodies, self.merged.detector.contacts
        calm = b.merged
        calm[c.a[quiet]] = True
        other = c.b[quiet]
        calm[other[other >= 0]] = True
        m.restless[~calm] = np.maximum(m.restless[~calm], m.policy.merge.steps - 1)

    def _hold(self, member: IntArray, carrier: IntArray) -> float:
        """Let carriers hold grains, which are to be tried; returns their work [J]."""
        self.merged.questioned[member] = True
        return self.merged.hold(member, carrier)

    def _join_carriers(self, quiet: IntArray, barred: BoolArray) -> float:
        m, b, c, g = self.merged, self.merged.bodies, self.merged.detector.contacts, self.merged.aggregates
        taken, joined = np.full(b.first_grain, -1, np.int32), np.empty(len(m.detector.order), np.int32)
        with_links = b.member_of[b.linked]
        taken[with_links] = g.carriers  # as if they had joined already: a machine moves on
        joining = Joining(barred, m.fixed, taken, joined)
        belt, slow = surface_velocity(m.walls, b.orientation), Slow(self.slow, m.policy.merge.rolling)
        count = call(join_carriers, quiet, c.arrays, b.arrays, b.grain_arrays, g.of_wall, belt, g.carriers, slow, joining)
        joined = joined[:count]
        work = self._hold(joined, b.grain_body[joined]) if count else 0.0
        taken[with_links] = -1
        gone = np.flatnonzero(taken >= 0).astype(np.int32)
        if len(gone):
            member = m.members(gone)
            carrier = taken[b.grain_body[member]]
            g.dissolve(gone, member, g.parts_of(gone))
            m.fixed[member] = False
            work += self._hold(member, carrier)
            m.follow_walls()
        self.count += count + len(gone)
        at_walls = c.a[c.pair_count :]
        mine = g.of_wall[-1 - c.b[c.pair_count :]]
        m.fixed[at_walls[(mine >= 0) & (mine == b.grain_body[at_walls])]] = True
        return work

    def _join_each_other(self, quiet: IntArray, barred: BoolArray) -> None:
        m, b, c, g = self.merged, self.merged.bodies, self.merged.detector.contacts, self.merged.aggregates
        own, other = (side[quiet] for side in m.sides())
        quiet = quiet[~(g.is_carrier(own) | g.is_carrier(other))]
        if not len(quiet):
            return
        slots, rows = len(m.detector.order), b.first_grain
        parent, claimed = np.empty(slots + rows, np.int32), np.full(slots + rows, -1, np.int32)  # grains by slot, then other bodies
        owners = Owners(m.walls.body, g.of_wall, g.carriers)
        if len(b.linked):
            claimed[slots + b.member_of[b.linked]] = b.member_of[b.linked]
            slow = Slow(self.slow, m.policy.merge.rolling)
            call(join_links, quiet, c.arrays, b.arrays, b.grain_arrays, owners, slow, m.detector.slot, barred, claimed)
        if not call(union_quiet, quiet, c.arrays, b.grain_arrays, owners, m.detector.slot, barred, claimed, parent):
            return
        joined = np.zeros(len(parent), bool)
        joined[:slots] = ~b.merged[m.detector.order]
        joined[slots:] = (b.kind == DYNAMIC) & (b.member_of == np.arange(rows))
        number = np.empty(len(parent), np.int32)
        groups = compact(parent, joined, number)
        of_slot, of_body = number[:slots], number[slots:]
        grains = m.detector.order[of_slot >= 0]
        gone = (g.carriers + np.flatnonzero(of_body[g.carriers :] >= 0)).astype(np.int32)
        parts = b.dynamic[of_body[b.dynamic] >= 0]
        old, old_parts = m.members(gone), g.parts_of(gone)
        group = np.concatenate([of_slot[of_slot >= 0], of_body[b.grain_body[old]]])
        part_group = np.concatenate([of_body[parts], of_body[b.member_of[old_parts]]])
        g.dissolve(gone, old, old_parts)
        m.make(np.concatenate([grains, old]), group, groups, np.concatenate([parts, old_parts]), part_group)
        at_wall = quiet[c.b[quiet] < 0]
        body = b.grain_body[c.a[at_wall]]
        m.fixed[c.a[at_wall]] = (body < b.first_grain) & (body == m.walls.body[-1 - c.b[at_wall]])
        self.count += len(grains) + len(gone)
