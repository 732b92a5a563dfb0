"""The trial: which merged grains would leave their place if they were free (MR 3.2.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arithmetic import length, solve, times, totals
from ..array_types import BoolArray, FloatArray, IntArray
from ..reduction.motion import limits, within
from ..state.bodies import KINEMATIC
from ..state.rotation import matrix

if TYPE_CHECKING:
    from .reduced import Reduced

NONE = np.zeros(0, np.int32)
LEANING = 0.02  # [rad]: a carrier that has turned so far, or gravity that has changed by such a part, is tried as a whole
AT_REST = 1e-9  # [m/s]: a wall that is slower against a grain leaves it in peace, and so does what a trial leaves over
MOST_RESTLESS = 1000  # steps that a grain is kept from merging


class Trial:
    """Solves merged grains in the background, around those that something has happened to.

    ``questioned`` (N,) are these, since the last trial; ``failed`` the grains that it has freed; ``restless`` (N,) the steps until one that
    has failed may merge again.
    """

    def __init__(self, of: Reduced) -> None:
        self.of = of
        t = of.policy.trial
        self.limit = limits(t.approach, t.separation, t.tangential, t.rolling)
        self.wanted = "trial" in of.policy.split
        self.questioned = np.zeros(0, bool)
        self.restless = np.zeros(0, np.int32)
        self.failed = NONE
        self.gravity = np.zeros(3)  # when all was tried for it [m/s^2]
        self.tried = 0  # steps since the last trial of all that was questioned
        self.turned = np.zeros(of.carrier_count + of.bodies.wall_body_count)  # [rad], of carriers and wall bodies since all was tried

    def grow(self, more: int) -> None:
        """Room for so many new grains."""
        self.questioned = np.concatenate([self.questioned, np.zeros(more, bool)])
        self.restless = np.concatenate([self.restless, np.zeros(more, np.int32)])

    def run(self, split: IntArray, h: float, gravity: FloatArray) -> IntArray:
        """Grains that must come off: tried at once beside those that came off in this step or failed the last trial, else at times."""
        if not self.wanted:
            return NONE
        self.question(h, gravity)
        beside = self.of.beside(np.concatenate([split, self.failed[self.of.aggregate[self.failed] < 0]]))
        if self.tried >= self.of.policy.trial.every:
            self.questioned[beside] = True
            beside, self.tried = np.flatnonzero(self.questioned).astype(np.int32), 0
            self.questioned[:] = False
        self.failed = self._fail(beside, h, gravity)
        return self.failed

    def _fail(self, seed: IntArray, h: float, gravity: FloatArray) -> IntArray:
        """Merged grains that leave their place in a trial solve of the part of their body around the seeds."""
        region = self._in_question(seed)
        if not len(region):
            return NONE
        b, t = self.of.bodies, self.of.policy.trial
        own, fixed = self.of.aggregate[region].copy(), self.of.fixed[region].copy()
        walls = np.flatnonzero(np.isin(self.of.aggregates.wall, own[own >= self.of.carrier_count]))
        bound = self.of.aggregates.wall[walls]
        self.of.aggregates.release(region)
        self.of.aggregates.wall[walls] = -1
        self.of.follow_walls()
        self.of.visits.note(region)
        self.of.find_again()
        c, first = self.of.detector.contacts, b.wall_body_count
        velocity, spin, impulse = self.of.stepper.try_out(h, gravity, t.iterations)
        slot = self.of.detector.slot[region]
        rows = first + region
        moved, turned = velocity[slot] - b.velocity[rows], spin[slot] - b.spin[rows]
        moved -= h * self._turning(rows, own)
        self.of.aggregates.wall[walls] = bound
        self._remove_rigid(region, own, moved, turned, velocity[len(self.of.detector.order) :], spin[len(self.of.detector.order) :])
        pulled = h * gravity
        kept = np.ones(len(region), bool)
        size = length(moved)
        scale = float(length(pulled))
        if t.force is not None:
            kept &= size <= t.force * (scale + length(moved - pulled)) + AT_REST
        if t.torque is not None:
            twist = 0.4 * b.radius[region] * length(turned)
            kept &= twist <= t.torque * (scale + twist) + AT_REST
        if np.isfinite(self.limit).any():
            kept &= self._slow_in_trial(region, velocity, spin)
        b.aggregate[region], self.of.fixed[region], b.movable[rows] = own, fixed, 0.0
        self.of.follow_walls()
        self.of.visits.note(region)
        other = self.of.other_body()
        inside = np.flatnonzero((self.of.aggregate[c.a] >= 0) & (self.of.aggregate[c.a] == other)).astype(np.int32)
        self.of.close(inside, impulse)
        # What is left over needs some steps to make a grain too fast to merge.
        self.restless[region[~kept]] = np.minimum(self.of.slow / np.maximum(size[~kept], AT_REST), MOST_RESTLESS)
        return region[~kept]

    def question(self, h: float, gravity: FloatArray) -> None:
        """Note the grains at contacts with bodies that are free or move, now or in the last step, and those that gravity [m/s^2] pulls
        otherwise than before, for the next trial."""
        self.tried += 1
        if length(gravity - self.gravity) > LEANING * length(gravity):
            self.gravity = gravity.copy()
            self.questioned[:] = True
        g, n = self.of.aggregates, self.of.carrier_count
        self.turned += h * length(np.concatenate([g.spin[:n], self.of.bodies.spin[: self.of.bodies.wall_body_count]]))
        leaning = np.flatnonzero(self.turned > LEANING)
        if len(leaning):  # they see gravity from another side
            self.turned[leaning] = 0.0
            own = np.concatenate([np.arange(n), g.wall])[leaning]
            self.questioned[self.of.members(own[own >= 0])] = True
        last, c = self.of.detector.last, self.of.detector.contacts
        self.questioned[self._disturbed(c.a, c.b, self.of.motion)] = True
        self.questioned[self._disturbed(last.a, last.b, None)] = True

    def _in_question(self, seed: IntArray) -> IntArray:
        """Merged grains around the seeds."""
        depth = self.of.policy.trial.depth
        region = self.of.around(seed, 0 if depth is None else depth)
        pushed = np.unique(self.of.aggregate[region])
        pushed = pushed[pushed >= self.of.carrier_count]
        if len(pushed):  # aggregates are tried as a whole
            region = np.union1d(region, self.of.members(pushed))
        return region[self.of.bodies.inverse_mass[self.of.bodies.wall_body_count + region] > 0].astype(np.int32)

    def _disturbed(self, a: IntArray, b: IntArray, motion: FloatArray | None) -> IntArray:
        """Grains at contacts with a free grain, an aggregate, or a wall that moves against them."""
        pair = b >= 0
        free = self.of.aggregate[a] < 0
        free[pair] |= self.of.aggregate[b[pair]] < 0
        loose = self.of.aggregate[a] >= self.of.carrier_count
        loose[pair] |= self.of.aggregate[b[pair]] >= self.of.carrier_count
        moving = np.zeros(len(a), bool)
        wall = ~pair
        if motion is not None:
            moving[wall] = np.abs(motion[wall, :3]).max(axis=1, initial=0.0) > AT_REST
        else:
            moving[wall] = self.of.bodies.kind[self.of.walls.body[-1 - b[wall]]] == KINEMATIC
        at = free | loose | moving
        return np.concatenate([a[at], b[at & pair]])

    def _remove_rigid(
        self, region: IntArray, own: IntArray, moved: FloatArray, turned: FloatArray, wall_velocity: FloatArray, wall_spin: FloatArray
    ) -> None:
        """Take the rigid motion of each whole aggregate out of what its grains did: only the rest tears it apart.

        Walls that are part of it have the velocities and spins (D, 3) of the dynamic bodies in the trial.
        """
        b, g = self.of.bodies, self.of.aggregates
        for k in np.unique(own[own >= self.of.carrier_count]):
            some = own == k
            rows = b.wall_body_count + region[some]
            mass = 1 / b.inverse_mass[rows]
            r = b.position[rows] - g.centre[k]
            own_inertia = 0.4 * mass * b.radius[region[some]] * b.radius[region[some]]
            pushed = totals(mass[:, None] * moved[some])
            momentum = totals(mass[:, None] * np.cross(r, moved[some]) + own_inertia[:, None] * turned[some])
            for n, w in enumerate(b.dynamic):
                if g.wall[w] == k:
                    change, axes = (wall_velocity[n] - b.velocity[w]) / b.inverse_mass[w], matrix(b.orientation[w])
                    pushed = pushed + change
                    momentum += np.cross(b.position[w] - g.centre[k], change)
                    momentum += times(axes, b.inertia[w] * times(axes.T, wall_spin[n] - b.spin[w]))
            turn = solve(g.inertia[k], momentum)
            moved[some] -= pushed / g.mass[k] + np.cross(turn, r)
            turned[some] -= turn

    def _slow_in_trial(self, region: IntArray, velocity: FloatArray, spin: FloatArray) -> BoolArray:
        """(n,) whether all contacts of each grain of the region are inside the velocity limits (MR (32)-(34))."""
        b, c, who = self.of.bodies, self.of.detector.contacts, self.of.detector.order
        all_velocity, all_spin = b.velocity.copy(), b.spin.copy()
        rows = np.concatenate([b.wall_body_count + who, np.array(b.dynamic, np.int32)])
        all_velocity[rows], all_spin[rows] = velocity, spin
        inside = np.empty(c.contact_count, bool)
        within(c.normal, self.of.motion_with(all_velocity, all_spin), self.limit, inside)
        fast = np.zeros(b.grain_count, bool)
        fast[c.a[~inside]] = True
        others = c.b[~inside]
        fast[others[others >= 0]] = True
        return ~fast[region]

    def _turning(self, rows: IntArray, own: IntArray) -> FloatArray:
        """(n, 3) acceleration [m/s^2] that keeps grains on their way round the axis of the bodies ``own`` that they are part of."""
        g = self.of.aggregates
        return np.cross(g.spin[own], np.cross(g.spin[own], self.of.bodies.position[rows] - g.centre[own]))

    def keep(self, rows: IntArray, new_row: IntArray) -> None:
        """All grains but those in ``rows`` have left; ``new_row`` (N before,) is the new row of each, or -1."""
        self.questioned, self.restless = self.questioned[rows], self.restless[rows]
        self.failed = new_row[self.failed]
        self.failed = self.failed[self.failed >= 0].astype(np.int32)

    def checkpoint(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("questioned", "restless", "failed", "tried", "turned", "gravity")}

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        self.questioned, self.restless = np.array(saved["questioned"], bool), np.array(saved["restless"], np.int32)
        self.failed, self.turned, self.tried = np.array(saved["failed"], np.int32), np.array(saved["turned"]), int(saved["tried"])
        self.gravity = np.array(saved["gravity"])
