"""What comes apart: at sensors, where something hits, where a belt has ended, and, after the solve, what failed a trial (MR 3.2)."""

from __future__ import annotations

import numpy as np

from ..array_types import IntArray
from ..detection.walls import find_wall_contacts
from ..parallel import ONE
from ..state.contacts import Spans, Touching
from .aggregates import NONE
from .merged import Merged
from .motion import limits, within

NEARBY = 200  # grains that are followed to see whether a part of a body still hangs on it
LOOK_AT_ALL = 20  # steps between two looks at everything that carriers hold


class Splitting:
    """Lets merged grains come apart by the rules of a policy; ``count`` of them did in the last step."""

    def __init__(self, merged: Merged) -> None:
        self.merged = merged
        m, c = merged.policy.merge, merged.policy.contact
        self.merge_limit = limits(m.approach, m.separation, m.tangential, m.rolling)
        self.split_limit = limits(c.approach, c.separation, c.tangential, c.rolling)
        self.count = 0
        self.looked = 0  # steps since everything was looked at

    def split(self, grains: IntArray) -> IntArray:
        """Free merged grains; static ones stay. Returns those of carriers; what is left of aggregates is formed anew."""
        m, b = self.merged, self.merged.bodies
        grains = np.unique(grains)
        grains = grains[b.inverse_mass[b.first_grain + grains] > 0].astype(np.int32)
        if not len(grains):
            return NONE
        self.count += len(grains)
        own = b.grain_body[grains].copy()
        m.free(grains)
        torn = np.unique(own[(own >= m.carriers) & (own < b.first_grain)])
        if len(torn):
            m.form_anew(torn)
        return grains[own < m.carriers]

    def sensed(self) -> IntArray:
        """Merged grains inside a sensor."""
        if not len(self.merged.sensors):
            return NONE
        some = np.flatnonzero(self.merged.bodies.merged).astype(np.int32)
        return some[self.merged.in_sensor(some)]

    def hit(self) -> IntArray:
        """Merged grains at contacts that move too fast, and their neighbours.

        Two bodies that do not yield cannot be solved: where they do not move as one, the grains between them come off.
        """
        m, c = self.merged, self.merged.detector.contacts
        if not c.contact_count:
            return NONE
        fast = np.zeros(c.contact_count, bool)
        if "contact" in m.policy.split:
            within(c.normal, m.motion, self.split_limit, fast)
            fast = ~fast
        own, other = m.sides()
        driven = m.aggregates.is_carrier(own) & m.aggregates.is_carrier(other)
        if driven.any():
            apart = np.zeros(c.contact_count, bool)
            within(c.normal, m.motion, self.merge_limit, apart)
            fast |= driven & ~apart
        fast &= (own >= 0) | (other >= 0)
        if not fast.any():
            return NONE
        touched = np.concatenate([c.a[fast], c.b[fast]])
        seed = np.unique(touched[touched >= 0])
        return m.around(seed[m.bodies.merged[seed]], m.policy.contact.depth)

    def off_belts(self) -> IntArray:
        """Grains that a belt held and has run away from: it turns back at its end, its grains do not."""
        m, b, g = self.merged, self.merged.bodies, self.merged.aggregates
        on = np.flatnonzero(m.fixed & np.isin(b.grain_body, g.belts)).astype(np.int32) if len(g.belts) else NONE
        if not len(on):
            return NONE
        out, spans = Touching.room_for(8 * len(on)), Spans(np.zeros(b.grain_count, np.int32), np.zeros(b.grain_count, np.int32))
        alone = b.grain_arrays._replace(body=np.arange(b.first_grain, b.body_count, dtype=np.int32))  # as if none had merged
        total = ONE.run(find_wall_contacts, 0, on, b.arrays, alone, m.walls, 0, None, out, spans)
        a, wall = out.a[: min(total, len(out.a))], out.b[: min(total, len(out.a))]
        m.fixed[on] = False
        m.fixed[a[g.of_wall[-1 - wall] == b.grain_body[a]]] = True
        lost = on[~m.fixed[on]]
        m.questioned[lost] = True
        return lost

    def reconnect(self, split: IntArray, lost: IntArray) -> None:
        """What has lost its hold becomes an aggregate: around grains that came off at once, everywhere from time to time."""
        m = self.merged
        m.changed |= len(split) > 0 or len(lost) > 0
        self.looked += 1
        if m.changed and self.looked >= LOOK_AT_ALL:
            self.looked, m.changed = 0, False
            self._come_loose(np.flatnonzero(m.held).astype(np.int32), m.bodies.grain_count)
        else:
            self._come_loose(np.concatenate([m.beside(split), lost]), NEARBY)

    def failed(self, grains: IntArray) -> None:
        """The same around grains that carriers held until they failed a trial."""
        self.merged.changed |= len(grains) > 0
        self._come_loose(self.merged.beside(grains), NEARBY)

    def _come_loose(self, start: IntArray, limit: int) -> None:
        """Held grains that hang on one of ``start`` but not on their wall become an aggregate; as many as ``limit`` are followed."""
        m, b = self.merged, self.merged.bodies
        if not len(start):
            return
        static = b.inverse_mass[b.grains] == 0.0
        loose, part, parts = m.network.parts(start, limit, m.fixed | static, b)
        if parts:
            b.release(loose)
            m.make(loose, part, parts, NONE, NONE)
