"""The trial: which merged grains leave their place if they are free for a step (MR 3.2.2).

MR solves merged grains a second time, in the background. Here a shell of them takes part in the solve of the step itself: who stays in
place merges again, shifted by the little that it has moved, and who does not has come off.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arithmetic import length, solve, times, totals
from ..array_types import BoolArray, FloatArray, IntArray
from ..state.bodies import KINEMATIC
from ..state.rotation import matrix
from ..state.saved import SavedPart
from .aggregates import NONE
from .merged import Merged
from .motion import limits, within

LEANING = 0.02  # [rad]: a carrier that has turned so far, or gravity that has changed by such a part, is tried as a whole
AT_REST = 1e-9  # [m/s]: slower motion of a wall against a grain, or of a grain in a trial, counts as rest
MOST_RESTLESS = 1000  # steps that a grain is kept from merging


class Shell(NamedTuple):
    """Merged grains that move on their own for a step, and what it takes to put them back."""

    grains: IntArray  # (n,)
    own: IntArray  # (n,) what each has merged with
    place: FloatArray  # (n, 3) [m]
    velocity: FloatArray  # (n, 3) [m/s] before the step
    spin: FloatArray  # (n, 3) [rad/s]
    turning: FloatArray  # (n, 3) [m/s] that keep them on their way round what they have merged with
    bodies: IntArray  # aggregates, and the dynamic bodies of the scene that are parts of them,
    whole: IntArray  # (m,) what each of these is a part of,
    motion: FloatArray  # (m, 9) where they were, and how they moved before the step


class Trial:
    """Frees merged grains for a step, around those that something has happened to; ``failed`` are those that it has not put back."""

    def __init__(self, merged: Merged, slow: float) -> None:
        """``slow`` [m/s] is the speed below which grains merge."""
        self.merged, self.slow = merged, slow
        t = merged.policy.trial
        self.limit = limits(t.approach, t.separation, t.tangential, t.rolling)
        self.wanted = "trial" in merged.policy.split
        self.failed = NONE
        self.gravity = np.zeros(3)  # when all was tried for it [m/s^2]
        self.tried = 0  # steps since the last trial of all that was questioned
        self.turned = np.zeros(merged.carriers)  # [rad], of the bodies of the scene and the belts since all was tried
        self.shell: Shell | None = None

    def open(self, split: IntArray, h: float, gravity: FloatArray) -> None:
        """Free a shell for this step: at once beside those that came off in it or failed the last trial, else at times."""
        if not self.wanted:
            return
        m, b = self.merged, self.merged.bodies
        self._question(h, gravity)
        seed = m.beside(np.concatenate([split, self.failed[~b.merged[self.failed]]]))
        if self.tried >= m.policy.trial.every:
            m.questioned[seed] = True
            seed, self.tried = np.flatnonzero(m.questioned).astype(np.int32), 0
            m.questioned[:] = False
        grains = self._in_question(seed)
        if not len(grains):
            return
        rows, own = b.first_grain + grains, b.grain_body[grains].copy()
        pushed = np.unique(own[self._is_aggregate(own)])
        bodies = np.concatenate([pushed, m.aggregates.parts_of(pushed)]).astype(np.int32)
        turning = h * self._turning(rows, m.aggregates.led_by(own))
        motion = np.hstack([b.position[bodies], b.velocity[bodies], b.spin[bodies]])
        self.shell = Shell(grains, own, b.position[rows], b.velocity[rows], b.spin[rows], turning, bodies, b.member_of[bodies], motion)
        b.release(grains)
        b.member_of[bodies] = bodies
        m.follow_walls()
        m.visits.note(grains)

    def close(self, h: float, gravity: FloatArray) -> tuple[IntArray, float]:
        """Put back the grains of the shell that have stayed where they were, but for a step by what was left over; the others are free.

        Returns those that carriers held before, and the work [J] of carriers on those that they hold again.
        """
        shell, self.shell, self.failed = self.shell, None, NONE
        if shell is None:
            return NONE, 0.0
        m, b = self.merged, self.merged.bodies
        grains, own, rows = shell.grains, shell.own, b.first_grain + shell.grains
        left, turned = b.velocity[rows] - shell.velocity - shell.turning, b.spin[rows] - shell.spin
        struck, struck_bodies = b.position[rows], b.position[shell.bodies]
        b.position[rows], b.position[shell.bodies] = shell.place, shell.motion[:, :3]
        b.member_of[shell.bodies] = shell.whole
        self._take_out_rigid(shell, left, turned)
        stays = self._slow(grains) & self._balanced(grains, left, turned, h * gravity)
        # What is left over needs some steps to make a grain too fast to merge.
        wait = np.minimum(self.slow / np.maximum(length(left[~stays]), AT_REST), MOST_RESTLESS)
        m.restless[grains[~stays]] = np.maximum(wait, m.restless[grains[~stays]])
        left += (struck - shell.place) / h  # the way of the step: collisions inside of it have put grains where their velocity began
        resting = own == m.visits.resting
        stays[resting] &= ~m.visits.leaves_skin(m.detector.neighbours, grains[resting], h * left[resting])
        self.failed, held = grains[~stays], own < m.carriers
        b.position[rows[~stays]] = struck[~stays]
        b.position[rows[stays & held]] += h * left[stays & held]
        m.follow_walls()
        m.free(self.failed)
        m.visits.note(grains)
        self._form_again(shell, stays, h * left)
        loose = (b.member_of[shell.bodies] == shell.bodies) & (shell.whole != shell.bodies)
        b.position[shell.bodies[loose]] = struck_bodies[loose]
        return self.failed[held[~stays]], m.hold(grains[stays & held], own[stays & held])

    def _form_again(self, shell: Shell, stays: BoolArray, shift: FloatArray) -> None:
        """Aggregates of the grains that stay, with all their momentum; those that are whole have their grains shifted [m]."""
        m, b, g = self.merged, self.merged.bodies, self.merged.aggregates
        pushed = self._is_aggregate(shell.own)
        if not pushed.any():
            return
        b.grain_body[shell.grains[stays & pushed]] = shell.own[stays & pushed]
        torn = np.unique(shell.own[pushed & ~stays])
        some = pushed & ~np.isin(shell.own, torn)
        if some.any():
            whole, group = np.unique(shell.own[some], return_inverse=True)
            parts = g.parts_of(whole)
            made = whole, shell.grains[some], group.astype(np.int32), parts, np.searchsorted(whole, b.member_of[parts]).astype(np.int32)
            g.form_again(*made)
            momentum, centre = times(b.inertia[whole], b.spin[whole]), b.position[whole].copy()
            rows = b.first_grain + shell.grains[some]
            b.position[rows] += shift[some]
            g.form_again(*made)
            away = np.where((g.led_by(whole) == whole)[:, None], b.position[whole] - centre, 0.0)  # of what nothing outside has moved
            b.position[rows] -= away[group]
            b.position[parts] -= away[made[-1]]
            b.position[whole] -= away
            b.spin[whole] = solve(b.inertia[whole], momentum)
            g.carry(shell.grains[some], parts)
        if len(torn):
            m.form_anew(torn)

    def _is_aggregate(self, rows: IntArray) -> BoolArray:
        """Whether bodies are aggregates, not carriers or grains."""
        return (rows >= self.merged.carriers) & (rows < self.merged.bodies.first_grain)

    def _balanced(self, grains: IntArray, left: FloatArray, turned: FloatArray, pulled: FloatArray) -> BoolArray:
        """(n,) whether forces and torques on grains cancel but for a part, given what is ``left`` over of them: by how much they changed
        the velocity [m/s] and the spin (``turned`` [rad/s]); gravity alone would have by ``pulled`` [m/s]."""
        t, scale = self.merged.policy.trial, float(length(pulled))
        fine = np.ones(len(grains), bool)
        if t.force is not None:
            allowed = t.force * (scale + length(left - pulled)) + AT_REST
            fine &= length(left) <= (allowed if t.load is None else allowed + t.load * self._pressed(grains))
        if t.torque is not None:
            twist = 0.4 * self.merged.bodies.radius[grains] * length(turned)
            fine &= twist <= t.torque * (scale + twist) + AT_REST
        return fine

    def _pressed(self, grains: IntArray) -> FloatArray:
        """(n,) [m/s] that all contact impulses on each grain would change its velocity by, if they pulled together."""
        b, c = self.merged.bodies, self.merged.detector.contacts
        impulse, pair = length(c.impulse[:, :4]), c.b >= 0
        pressed = np.bincount(c.a, impulse, minlength=b.grain_count)
        pressed += np.bincount(c.b[pair], impulse[pair], minlength=b.grain_count)
        return pressed[grains] * b.inverse_mass[b.first_grain + grains]

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
        c = m.detector.contacts
        m.questioned[self._disturbed(c.a, c.b, m.motion)] = True
        m.questioned[self._disturbed(*m.detector.last_sides, None)] = True

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
        own, other = body[a], np.empty(len(b), np.int32)
        other[pair], other[~pair] = body[b[pair]], m.walls.body[-1 - b[~pair]]
        loose = own >= m.carriers  # free, or of an aggregate
        loose[pair] |= other[pair] >= m.carriers
        moving = np.zeros(len(a), bool)
        wall = ~pair
        if motion is not None:
            moving[wall] = np.abs(motion[wall, :3]).max(axis=1, initial=0.0) > AT_REST
        else:
            frame = m.walls.frame[-1 - b[wall]]
            moving[wall] = (m.bodies.kind[frame] == KINEMATIC) & m.aggregates.moving[frame]
        at = (loose | moving) & (own != other)  # those inside of a body are there since it was tried
        return np.concatenate([a[at], b[at & pair]])

    def _take_out_rigid(self, shell: Shell, left: FloatArray, turned: FloatArray) -> None:
        """Take the rigid motion of each whole aggregate out of what its grains did: only the rest tears it apart."""
        m, b = self.merged, self.merged.bodies
        for k in shell.bodies[shell.whole == shell.bodies]:
            some = shell.own == k
            grains = shell.grains[some]
            rows = b.first_grain + grains
            link = int(m.aggregates.led_by(np.array([k]))[0])
            if link != k:  # a machine moves it: what counts is how grains move against that
                before = shell.motion[np.flatnonzero(shell.bodies == link)[0]]
                turn = b.spin[link] - before[6:]
                left[some] -= b.velocity[link] - before[3:6] + np.cross(turn, b.position[rows] - b.position[link])
                turned[some] -= turn
                continue
            mass, r = 1 / b.inverse_mass[rows], b.position[rows] - b.position[k]
            own_inertia = 0.4 * mass * b.radius[grains] * b.radius[grains]
            pushed = totals(mass[:, None] * left[some])
            momentum = totals(mass[:, None] * np.cross(r, left[some]) + own_inertia[:, None] * turned[some])
            for n in np.flatnonzero((shell.whole == k) & (shell.bodies != k)):
                w = shell.bodies[n]
                change, axes = (b.velocity[w] - shell.motion[n, 3:6]) / b.inverse_mass[w], matrix(b.orientation[w])
                pushed = pushed + change
                momentum += np.cross(b.position[w] - b.position[k], change)
                momentum += times(axes, b.moments[w] * times(axes.T, b.spin[w] - shell.motion[n, 6:]))
            turn = solve(b.inertia[k], momentum)
            left[some] -= pushed * b.inverse_mass[k] + np.cross(turn, r)
            turned[some] -= turn

    def _slow(self, grains: IntArray) -> BoolArray:
        """(n,) whether all contacts of grains are inside the velocity limits (MR (32)-(34))."""
        if not np.isfinite(self.limit).any():
            return np.ones(len(grains), bool)
        m, b, c = self.merged, self.merged.bodies, self.merged.detector.contacts
        m.aggregates.carry(np.flatnonzero(m.pushed).astype(np.int32), m.aggregates.bound)
        inside = np.empty(c.contact_count, bool)
        within(c.normal, m.motion_with(b.velocity, b.spin), self.limit, inside)
        fast = np.zeros(b.grain_count, bool)
        fast[c.a[~inside]] = True
        others = c.b[~inside]
        fast[others[others >= 0]] = True
        return ~fast[grains]

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
