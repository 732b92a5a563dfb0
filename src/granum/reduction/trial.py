"""The trial: which merged grains would leave their place if they were free (MR 3.2.2)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from ..arithmetic import length, solve, times, totals
from ..array_types import BoolArray, FloatArray, IntArray
from ..extensions.base import Solved
from ..state.bodies import KINEMATIC
from ..state.rotation import matrix
from ..state.saved import SavedPart
from .aggregates import NONE
from .merged import Merged
from .motion import limits, within

LEANING = 0.02  # [rad]: a carrier that has turned so far, or gravity that has changed by such a part, is tried as a whole
AT_REST = 1e-9  # [m/s]: slower motion of a wall against a grain, or of a grain in a trial, counts as rest
MOST_RESTLESS = 1000  # steps that a grain is kept from merging


class SolveContacts(Protocol):
    """Solves the contacts as they are found, for a step of ``h`` [s] under ``gravity`` [m/s^2], and leaves all bodies as they are."""

    def __call__(self, h: float, gravity: FloatArray, iterations: int) -> Solved: ...


class Trial:
    """Solves merged grains in the background, around those that something has happened to; ``failed`` are the grains that it has freed."""

    def __init__(self, merged: Merged, slow: float, solve_contacts: SolveContacts) -> None:
        """``slow`` [m/s] is the speed below which grains merge."""
        self.merged, self.slow, self.solve_contacts = merged, slow, solve_contacts
        t = merged.policy.trial
        self.limit = limits(t.approach, t.separation, t.tangential, t.rolling)
        self.wanted = "trial" in merged.policy.split
        self.failed = NONE
        self.gravity = np.zeros(3)  # when all was tried for it [m/s^2]
        self.tried = 0  # steps since the last trial of all that was questioned
        self.turned = np.zeros(merged.carriers)  # [rad], of the bodies of the scene and the belts since all was tried

    def run(self, split: IntArray, h: float, gravity: FloatArray) -> IntArray:
        """Grains that must come off: tried at once beside those that came off in this step or failed the last trial, else at times."""
        if not self.wanted:
            return NONE
        m = self.merged
        self._question(h, gravity)
        beside = m.beside(np.concatenate([split, self.failed[~m.bodies.merged[self.failed]]]))
        if self.tried >= m.policy.trial.every:
            m.questioned[beside] = True
            beside, self.tried = np.flatnonzero(m.questioned).astype(np.int32), 0
            m.questioned[:] = False
        self.failed = self._fail(beside, h, gravity)
        return self.failed

    def _fail(self, seed: IntArray, h: float, gravity: FloatArray) -> IntArray:
        """Merged grains that leave their place in a trial solve of the part of their body around the seeds."""
        region = self._in_question(seed)
        if not len(region):
            return NONE
        m, b, t = self.merged, self.merged.bodies, self.merged.policy.trial
        own, rows = b.grain_body[region].copy(), b.first_grain + region
        with self._freed(region):
            m.find_again(for_trial=True)
            solved = self.solve_contacts(h, gravity, t.iterations)
            slow = self._slow_in_trial(region, solved) if np.isfinite(self.limit).any() else np.ones(len(region), bool)
        slot = m.detector.slot[region]
        moved, turned = solved.velocity[slot] - b.velocity[rows], solved.spin[slot] - b.spin[rows]
        moved -= h * self._turning(rows, m.aggregates.led_by(own))
        self._remove_rigid(region, own, moved, turned, solved)
        kept, pulled, size = slow, h * gravity, length(moved)
        scale = float(length(pulled))
        if t.force is not None:
            allowed = t.force * (scale + length(moved - pulled)) + AT_REST
            kept &= size <= (allowed if t.load is None else allowed + t.load * self._pressed(region, solved))
        if t.torque is not None:
            twist = 0.4 * b.radius[region] * length(turned)
            kept &= twist <= t.torque * (scale + twist) + AT_REST
        m.close(m.inside_bodies(), solved.impulse)
        # What is left over needs some steps to make a grain too fast to merge.
        m.restless[region[~kept]] = np.minimum(self.slow / np.maximum(size[~kept], AT_REST), MOST_RESTLESS)
        return region[~kept]

    def _pressed(self, region: IntArray, solved: Solved) -> FloatArray:
        """(n,) [m/s] that all contact impulses on each grain of the region would change its velocity by, if they pulled together."""
        b, c = self.merged.bodies, self.merged.detector.contacts
        impulse, pair = length(solved.impulse[: c.contact_count, :4]), c.b >= 0
        pressed = np.bincount(c.a, impulse, minlength=b.grain_count)
        pressed += np.bincount(c.b[pair], impulse[pair], minlength=b.grain_count)
        return pressed[region] * b.inverse_mass[b.first_grain + region]

    @contextmanager
    def _freed(self, region: IntArray) -> Iterator[None]:
        """Grains of a region, and the dynamic bodies that have merged with them, move on their own; whatever happens, not for long."""
        m, b = self.merged, self.merged.bodies
        own = b.grain_body[region].copy()
        parts = m.aggregates.parts_of(own[(own >= m.carriers) & (own < b.first_grain)])
        whole = b.member_of[parts].copy()
        try:
            b.release(region)
            b.member_of[parts] = parts
            m.follow_walls()
            m.visits.note(region)
            yield
        finally:
            b.grain_body[region], b.member_of[parts] = own, whole
            m.follow_walls()
            m.visits.note(region)

    def _question(self, h: float, gravity: FloatArray) -> None:
        """Note the grains at contacts with bodies that are free or move, now or in the last step, and those that gravity [m/s^2] pulls
        otherwise than before, for the next trial."""
        m, b = self.merged, self.merged.bodies
        self.tried += 1
        if length(gravity - self.gravity) > LEANING * length(gravity):
            self.gravity = gravity.copy()
            m.questioned[:] = True
        self.turned += h * length(b.spin[: m.carriers])
        leaning = np.flatnonzero(self.turned > LEANING)
        if len(leaning):  # they see gravity from another side
            self.turned[leaning] = 0.0
            m.questioned[m.members(b.member_of[leaning])] = True
        last, c = m.detector.last, m.detector.contacts
        m.questioned[self._disturbed(c.a, c.b, m.motion)] = True
        m.questioned[self._disturbed(last.a, last.b, None)] = True

    def _in_question(self, seed: IntArray) -> IntArray:
        """Merged grains around the seeds."""
        m, b, depth = self.merged, self.merged.bodies, self.merged.policy.trial.depth
        region = m.around(seed, 0 if depth is None else depth)
        pushed = np.unique(b.grain_body[region])
        pushed = pushed[(pushed >= m.carriers) & (pushed < b.first_grain)]
        if len(pushed):  # aggregates are tried as a whole
            region = np.union1d(region, m.members(pushed))
        return region[b.inverse_mass[b.first_grain + region] > 0].astype(np.int32)

    def _disturbed(self, a: IntArray, b: IntArray, motion: FloatArray | None) -> IntArray:
        """Grains at contacts with a free grain, an aggregate, or a wall that moves against them."""
        m = self.merged
        body, pair = m.bodies.grain_body, b >= 0
        loose = body[a] >= m.carriers  # free, or of an aggregate
        loose[pair] |= body[b[pair]] >= m.carriers
        moving = np.zeros(len(a), bool)
        wall = ~pair
        if motion is not None:
            moving[wall] = np.abs(motion[wall, :3]).max(axis=1, initial=0.0) > AT_REST
        else:
            frame = m.walls.frame[-1 - b[wall]]
            moving[wall] = (m.bodies.kind[frame] == KINEMATIC) & m.aggregates.moving[frame]
        at = loose | moving
        return np.concatenate([a[at], b[at & pair]])

    def _remove_rigid(self, region: IntArray, own: IntArray, moved: FloatArray, turned: FloatArray, solved: Solved) -> None:
        """Take the rigid motion of each whole aggregate out of what its grains did: only the rest tears it apart."""
        m, b = self.merged, self.merged.bodies
        for k in np.unique(own[(own >= m.carriers) & (own < b.first_grain)]):
            some = own == k
            rows = b.first_grain + region[some]
            link = int(m.aggregates.led_by(np.array([k]))[0])
            if link != k:  # a machine moves it: what counts is how grains move against that
                n = int(np.flatnonzero(solved.rows == link)[0])
                moved[some] -= solved.velocity[n] - b.velocity[link]
                turn = solved.spin[n] - b.spin[link]
                moved[some] -= np.cross(turn, b.position[rows] - b.position[link])
                turned[some] -= turn
                continue
            mass = 1 / b.inverse_mass[rows]
            r = b.position[rows] - b.position[k]
            own_inertia = 0.4 * mass * b.radius[region[some]] * b.radius[region[some]]
            pushed = totals(mass[:, None] * moved[some])
            momentum = totals(mass[:, None] * np.cross(r, moved[some]) + own_inertia[:, None] * turned[some])
            for w in m.aggregates.parts_of(np.array([k])):
                n = int(np.flatnonzero(solved.rows == w)[0])
                change, axes = (solved.velocity[n] - b.velocity[w]) / b.inverse_mass[w], matrix(b.orientation[w])
                pushed = pushed + change
                momentum += np.cross(b.position[w] - b.position[k], change)
                momentum += times(axes, b.moments[w] * times(axes.T, solved.spin[n] - b.spin[w]))
            turn = solve(b.inertia[k], momentum)
            moved[some] -= pushed * b.inverse_mass[k] + np.cross(turn, r)
            turned[some] -= turn

    def _slow_in_trial(self, region: IntArray, solved: Solved) -> BoolArray:
        """(n,) whether all contacts of each grain of the region are inside the velocity limits (MR (32)-(34))."""
        m, b, c = self.merged, self.merged.bodies, self.merged.detector.contacts
        velocity, spin = b.velocity.copy(), b.spin.copy()
        velocity[solved.rows], spin[solved.rows] = solved.velocity, solved.spin
        inside = np.empty(c.contact_count, bool)
        within(c.normal, m.motion_with(velocity, spin), self.limit, inside)
        fast = np.zeros(b.grain_count, bool)
        fast[c.a[~inside]] = True
        others = c.b[~inside]
        fast[others[others >= 0]] = True
        return ~fast[region]

    def _turning(self, rows: IntArray, own: IntArray) -> FloatArray:
        """(n, 3) acceleration [m/s^2] that keeps grains on their way round the axis of the bodies ``own`` that they are part of."""
        b = self.merged.bodies
        return np.cross(b.spin[own], np.cross(b.spin[own], b.position[rows] - b.position[own]))

    def keep(self, new_row: IntArray) -> None:
        """Grains have left; ``new_row`` (N before,) is the new row of each, or -1."""
        self.failed = new_row[self.failed]
        self.failed = self.failed[self.failed >= 0].astype(np.int32)

    def checkpoint(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("failed", "tried", "turned", "gravity")}

    @staticmethod
    def check_saved(part: SavedPart, grains: int, carriers: int) -> None:
        """Refuse a checkpoint that must not be trusted."""
        part.places("failed", (None,), 0, grains)
        part.whole("tried", -(2**62), 2**62)
        part.array("turned", np.float64, (carriers,))
        part.array("gravity", np.float64, (3,))

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        self.failed, self.turned, self.tried = np.array(saved["failed"], np.int32), np.array(saved["turned"]), int(saved["tried"])
        self.gravity = np.array(saved["gravity"])
