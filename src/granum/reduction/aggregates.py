"""The bodies that merged grains belong to: carriers, which move as they must, and aggregates, which are pushed (MR (6)-(13)).

Both are rows of the one table of bodies. Carriers are bodies of the scene that stand still or are driven (the ground, a drum), and the
surfaces that run along them (belts), which get rows of their own. Aggregates follow in the rows from ``carriers`` on. A grain of either
moves with it, and so does a dynamic body of the scene that has become a part of an aggregate.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arithmetic import dot, product, solve, times, total
from ..array_types import BoolArray, FloatArray, IntArray
from ..checks import InputError
from ..detection.wall_table import WallTable, surface_velocity
from ..kernel_groups import call
from ..parallel import LIGHT, Team
from ..state.bodies import DYNAMIC, KINEMATIC, STATIC, UNUSED, Bodies
from ..state.free_turn import mean_spins
from ..state.motion import turn_bodies
from ..state.rotation import matrices
from ..state.saved import SavedPart
from .rigid import CHUNK, Sums, Turns, move_members, rotations, set_members, sum_momenta, sum_turns

NONE = np.zeros(0, np.int32)


class Aggregates:
    """Makes, moves and ends bodies of merged grains.

    ``of_wall`` (K,) is the row of the carrier that each wall belongs to, -1: of none, as its body is pushed.
    """

    def __init__(self, bodies: Bodies, walls: WallTable, spinning: BoolArray) -> None:
        """``spinning`` (W,) is true for driven bodies that ever turn: their belts carry nothing."""
        self.bodies, self.walls = bodies, walls
        runs = np.abs(walls.surface_velocity).max(axis=1, initial=0.0) > 0.0
        kind = bodies.kind[walls.frame]
        self.of_wall = np.where(kind == STATIC, 0, walls.frame).astype(np.int32)
        self.of_wall[(kind == DYNAMIC) | (runs & spinning[walls.frame])] = -1
        self.belt_wall = np.flatnonzero(runs & (self.of_wall >= 0)).astype(np.int32)
        self.belts: IntArray = bodies.wall_body_count + np.arange(len(self.belt_wall), dtype=np.int32)
        self.carriers = bodies.wall_body_count + len(self.belts)
        frame = walls.frame[self.belt_wall]
        if bodies.first_grain < self.carriers:
            bodies.make_rows(len(self.belts))
            bodies.position[self.belts], bodies.orientation[self.belts] = bodies.position[frame], bodies.orientation[frame]
        bodies.kind[self.belts], bodies.body_id[self.belts] = KINEMATIC, bodies.body_id[frame]  # a belt is a part of its body
        self.of_wall[self.belt_wall] = self.belts
        walls.body[:] = np.where(self.of_wall >= 0, self.of_wall, walls.frame)
        self.velocity, self.spin = np.zeros((self.carriers, 3)), np.zeros((self.carriers, 3))  # of the carriers in the last step
        self.moving: BoolArray = np.zeros(self.carriers, bool)  # which of them move, or did in the last step
        self.drive()

    @property
    def alive(self) -> IntArray:
        """Rows of the aggregates that exist."""
        return (self.carriers + np.flatnonzero(self.bodies.kind[self.carriers :] == DYNAMIC)).astype(np.int32)

    @property
    def bound(self) -> IntArray:
        """Dynamic bodies of the scene that are parts of aggregates."""
        dynamic = self.bodies.dynamic
        return dynamic[self.bodies.member_of[dynamic] != dynamic]

    def is_carrier(self, rows: IntArray) -> BoolArray:
        """Whether the bodies of these rows move as they must and hold grains; -1 and rows of grains are none."""
        pushed = np.append(self.bodies.kind[: self.carriers] == DYNAMIC, True)
        return ~pushed[np.where(rows < 0, self.carriers, np.minimum(rows, self.carriers))]

    def led_by(self, rows: IntArray) -> IntArray:
        """(n,) for each of these bodies the link of a machine that is a part of it, or the body itself where there is none."""
        leader = np.arange(self.bodies.body_count, dtype=np.int32)
        leader[self.bodies.member_of[self.bodies.linked]] = self.bodies.linked
        return leader[rows]

    def parts_of(self, aggregates: IntArray) -> IntArray:
        """Dynamic bodies of the scene that are parts of these."""
        return self.bound[np.isin(self.bodies.member_of[self.bound], aggregates)]

    def drive(self) -> IntArray:
        """Read the motion of all carriers; returns those whose motion has changed."""
        b, frame = self.bodies, self.walls.frame[self.belt_wall]
        if len(self.belts):
            b.velocity[self.belts] = b.velocity[frame] + surface_velocity(self.walls, b.orientation)[self.belt_wall]
            b.spin[self.belts] = np.where((b.kind[frame] == STATIC)[:, None], 0.0, b.spin[frame])
            b.orientation[self.belts] = b.orientation[frame]
        velocity, spin = b.velocity[: self.carriers], b.spin[: self.carriers]
        changed = (velocity != self.velocity).any(axis=1) | (spin != self.spin).any(axis=1)
        changed &= self.is_carrier(np.arange(self.carriers, dtype=np.int32))
        self.moving = np.any([velocity, spin, self.velocity, self.spin], axis=(0, 2))
        self.velocity, self.spin = velocity.copy(), spin.copy()
        return np.flatnonzero(changed).astype(np.int32)

    def form(self, member: IntArray, group: IntArray, count: int, parts: IntArray, part_group: IntArray) -> IntArray:
        """Make aggregates of grains ``member`` (n,) and dynamic bodies ``parts`` by ``group``, of ``count``; returns their rows."""
        rows = self._room_for(count)
        self.bodies.name_bodies(rows, DYNAMIC)
        self.form_again(rows, member, group, parts, part_group)
        return rows

    def form_again(self, rows: IntArray, member: IntArray, group: IntArray, parts: IntArray, part_group: IntArray) -> None:
        """Let the aggregates ``rows`` consist of these; a group is a place in ``rows``.

        Mass, momentum and angular momentum are those of the members, to the last digits.
        """
        b, sums = self.bodies, Sums.of(len(rows))
        call(sum_momenta, member, group, b.arrays, b.first_grain, sums)
        own = 1.0 / b.inverse_mass[parts]
        np.add.at(sums.mass, part_group, own)
        np.add.at(sums.centre, part_group, own[:, None] * b.position[parts])
        np.add.at(sums.velocity, part_group, own[:, None] * b.velocity[parts])
        sums.centre[:] /= sums.mass[:, None]
        sums.velocity[:] /= sums.mass[:, None]
        call(sum_turns, member, group, b.arrays, b.grain_arrays, sums)
        inertia = sums.inertia
        inertia[:, 1, 0], inertia[:, 2, 0], inertia[:, 2, 1] = inertia[:, 0, 1], inertia[:, 0, 2], inertia[:, 1, 2]
        if len(parts):
            self._add_parts(sums, parts, part_group, own)
        b.position[rows], b.velocity[rows], b.spin[rows] = sums.centre, sums.velocity, solve(inertia, sums.momentum)
        b.inverse_mass[rows], b.inertia[rows] = 1 / sums.mass, inertia
        b.grain_body[member] = rows[group]
        b.member_of[parts] = rows[part_group]
        self.carry(member, parts)

    def _add_parts(self, sums: Sums, parts: IntArray, group: IntArray, mass: FloatArray) -> None:
        """Add inertia and angular momentum of dynamic bodies to those of their groups."""
        b = self.bodies
        r, u, turned = b.position[parts] - sums.centre[group], b.velocity[parts] - sums.velocity[group], matrices(b.orientation[parts])
        principal = product(turned * b.moments[parts][:, None, :], turned.transpose(0, 2, 1))
        spread = dot(r, r)[:, None, None] * np.eye(3) - r[:, :, None] * r[:, None, :]
        np.add.at(sums.inertia, group, mass[:, None, None] * spread + principal)
        np.add.at(sums.momentum, group, mass[:, None] * np.cross(r, u) + times(principal, b.spin[parts]))

    def _room_for(self, count: int) -> IntArray:
        """The lowest rows that wait for an aggregate."""
        free = self.carriers + np.flatnonzero(self.bodies.kind[self.carriers :] == UNUSED)
        if len(free) < count:
            have = self.bodies.first_grain
            self.bodies.make_rows(have + count)
            free = self.carriers + np.flatnonzero(self.bodies.kind[self.carriers :] == UNUSED)
        return free[:count].astype(np.int32)

    def dissolve(self, aggregates: IntArray, member: IntArray, parts: IntArray) -> None:
        """These aggregates are no more; their grains and parts move on their own."""
        self.bodies.kind[aggregates] = UNUSED
        self.bodies.body_id[aggregates] = -1
        self.bodies.inverse_mass[aggregates] = 0.0
        self.bodies.velocity[aggregates] = self.bodies.spin[aggregates] = 0.0
        self.bodies.release(member)
        self.bodies.member_of[parts] = parts

    def hold(self, member: IntArray, carrier: IntArray) -> None:
        """Let carriers hold grains; these take their motion."""
        self.bodies.grain_body[member] = carrier
        self.carry(member, NONE)

    def carry(self, member: IntArray, parts: IntArray) -> None:
        """Give grains and dynamic bodies the motion of what they are part of."""
        b = self.bodies
        call(set_members, (b.first_grain + member).astype(np.int32), b.grain_body[member], b.arrays)
        call(set_members, parts, b.member_of[parts], b.arrays)

    def move(self, team: Team, h: float, gravity: FloatArray) -> float:
        """Move aggregates, belts and all members over a step; returns the energy [J] that carriers brought to the grains they hold.

        The bodies of the scene that carry move after this. A free aggregate keeps its angular momentum exactly,
        and turns as free bodies do.
        """
        b, alive, first = self.bodies, self.alive, self.bodies.first_grain
        turned = np.broadcast_to(np.eye(3), (first, 3, 3)).copy()
        shift, steady = h * b.velocity[:first], b.spin[:first].copy()
        if len(alive):
            mean = np.empty((len(alive), 3))
            mean_spins(b.inertia[alive], steady[alive], h, mean)
            steady[alive] = mean
        spinning = np.flatnonzero(steady.any(axis=1))
        if len(spinning):
            turned[spinning] = rotations(h * steady[spinning])
        if len(alive):
            momentum = times(b.inertia[alive], b.spin[alive])
            r = turned[alive]
            b.inertia[alive] = product(product(r, b.inertia[alive]), r.transpose(0, 2, 1))
            b.spin[alive] = solve(b.inertia[alive], momentum)
        still = np.where(shift.any(axis=1) | steady.any(axis=1), 0.0, 1.0)
        still[self.carriers :] = -1.0
        gained = np.zeros((b.grain_count + CHUNK - 1) // CHUNK)
        if len(alive) or not still[: self.carriers].all():
            turns = Turns(still, shift, turned, steady, b.spin[:first])
            team.run(move_members, b.grain_count // LIGHT, b.arrays, b.grain_arrays, turns, h, gravity, gained)
        bound = self.bound
        if len(bound):
            body = b.member_of[bound]
            b.position[bound] = b.position[body] + shift[body] + times(turned[body], b.position[bound] - b.position[body])
            turn_bodies(b.orientation, bound, steady[body], h)
        b.position[self.belts] += shift[self.belts]
        b.position[self.carriers : first] += shift[self.carriers :]
        if len(bound):
            self.carry(NONE, bound)
        return total(gained)

    def checkpoint(self) -> dict[str, Any]:
        """What the next step depends on besides the state of the bodies."""
        b, made = self.bodies, slice(self.carriers, self.bodies.first_grain)
        return {
            "kind": b.kind[made],
            "inertia": b.inertia[made],
            "body_id": b.body_id[made],
            "next_body_id": b.next_body_id,
            "member_of": b.member_of[: b.wall_body_count],
            "velocity": self.velocity,
            "spin": self.spin,
        }

    @staticmethod
    def check_saved(part: SavedPart, scene_bodies: int, first: int) -> int:
        """Refuse a checkpoint that must not be trusted; ``first`` is the row of the first grain. Returns the number of carriers."""
        count = len(part.places("kind", (None,), UNUSED, DYNAMIC + 1))
        part.array("inertia", np.float64, (count, 3, 3))
        part.array("body_id", np.int64, (count,))
        part.whole("next_body_id", 0, 2**62)
        part.places("member_of", (scene_bodies,), 0, first)
        carriers = len(part.array("velocity", np.float64, (None, 3)))
        part.array("spin", np.float64, (carriers, 3))
        return carriers

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from a checkpoint; the state of the bodies is there already."""
        b, made = self.bodies, slice(self.carriers, self.bodies.first_grain)
        for name in ("velocity", "spin"):
            if len(saved[name]) != self.carriers:
                raise InputError(f"aggregates/{name} must have a row for each of {self.carriers} carriers (got {len(saved[name])}).")
        if len(saved["kind"]) != b.first_grain - self.carriers:
            raise InputError(f"aggregates/kind must have {b.first_grain - self.carriers} rows (got {len(saved['kind'])}).")
        b.kind[made], b.inertia[made], b.body_id[made] = saved["kind"], saved["inertia"], saved["body_id"]
        b.member_of[: b.wall_body_count], b.next_body_id = saved["member_of"], int(saved["next_body_id"])
        self.velocity, self.spin = np.array(saved["velocity"]), np.array(saved["spin"])
