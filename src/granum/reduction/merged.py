"""What has merged with what, and all that is known of it: the state that the stages of model reduction share."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arithmetic import dot, total
from ..array_types import BoolArray, FloatArray, IntArray
from ..detection.detector import Detector
from ..detection.regions import find_inside, region_table
from ..detection.wall_table import WallTable, surface_velocity
from ..kernel_groups import call
from ..scene.scene import Scene
from ..state.bodies import Bodies
from ..state.saved import SavedPart
from .aggregates import NONE, Aggregates
from .bonds import Bonds, keep_impulses, recall_impulses
from .extension import Reduction
from .motion import relative_motion
from .network import Network
from .visits import Visits

LOST = 1e-9  # of its mass: an aggregate that has less has lost grains


class Merged:
    """Grains that have merged, and the bodies that they belong to.

    ``fixed`` (N,) are the grains that touch the wall of their body; ``questioned`` (N,) those that something has happened to since the last
    trial; ``restless`` (N,) the steps until a free one may merge, not quiet yet or failed in a trial; ``motion`` (C, 6) how the two sides
    of each contact move against each other before the solve.
    """

    def __init__(self, scene: Scene, bodies: Bodies, walls: WallTable, detector: Detector, policy: Reduction) -> None:
        self.bodies, self.walls, self.detector, self.policy = bodies, walls, detector, policy
        spinning = np.array([o.is_driven and bool(o.fastest[1].any()) for o in scene.all_bodies], bool)
        bodies.may_merge = True
        self.aggregates = Aggregates(bodies, walls, spinning)
        self.carriers = self.aggregates.carriers
        self.visits = Visits(bodies, walls, detector.neighbours, self.carriers)
        detector.visits = detector.neighbours.visits = self.visits
        self.bonds = Bonds()
        self.fixed = np.zeros(0, bool)
        self.questioned, self.restless = np.zeros(0, bool), np.zeros(0, np.int32)
        self.sensors = region_table(scene.sensors if "sensor" in policy.split else ())
        self.motion = np.zeros((0, 6))
        self.changed = False  # anything split since everything was looked at
        self.grow()
        static = np.flatnonzero(bodies.inverse_mass[bodies.grains] == 0.0).astype(np.int32)
        self.aggregates.hold(static, np.zeros(len(static), np.int32))

    # --- who is part of what ---

    @property
    def network(self) -> Network:
        """Who lies next to whom."""
        return self.visits.network

    @property
    def held(self) -> BoolArray:
        """(N,) grains that a carrier holds."""
        return self.bodies.grain_body < self.carriers

    @property
    def pushed(self) -> BoolArray:
        """(N,) grains of aggregates."""
        body = self.bodies.grain_body
        return (body >= self.carriers) & (body < self.bodies.first_grain)

    def members(self, rows: IntArray) -> IntArray:
        """Grains that are parts of these carriers or aggregates."""
        chosen = np.zeros(self.bodies.first_grain + 1, bool)  # the last is for grains that move on their own
        chosen[rows] = True
        return np.flatnonzero(chosen[np.minimum(self.bodies.grain_body, self.bodies.first_grain)]).astype(np.int32)

    @property
    def free_grains(self) -> int:
        return int(np.count_nonzero(~self.bodies.merged))

    @property
    def level(self) -> float:
        """1 - (free grains and aggregates) / grains."""
        return 1.0 - (self.free_grains + len(self.aggregates.alive)) / max(1, self.bodies.grain_count)

    def sides(self) -> tuple[IntArray, IntArray]:
        """(C,) rows of the bodies that the two sides of every contact are part of, -1: it moves on its own."""
        b, c = self.bodies, self.detector.contacts
        own, pair = b.grain_body[c.a], b.grain_body[c.b[: c.pair_count]]
        of_wall = np.where((self.aggregates.of_wall < 0) & (self.walls.body == self.walls.frame), -1, self.walls.body)
        other = np.concatenate([np.where(pair < b.first_grain, pair, -1), of_wall[-1 - c.b[c.pair_count :]]])
        return np.where(own < b.first_grain, own, -1), other.astype(np.int32)

    def inside_bodies(self) -> IntArray:
        """Contacts between parts of one body."""
        own, other = self.sides()
        return np.flatnonzero((own >= 0) & (own == other)).astype(np.int32)

    def in_sensor(self, grains: IntArray) -> BoolArray:
        """(n,) whether grains are inside a sensor."""
        region = np.empty(len(grains), np.int32)
        find_inside(self.bodies.position[self.bodies.first_grain + grains], 0, self.sensors, region)
        return region >= 0

    def around(self, seed: IntArray, depth: int) -> IntArray:
        """Merged grains less than ``depth`` contacts from the seeds; 0: all of their bodies."""
        return self.network.within(seed, depth, self.bodies)

    def beside(self, split: IntArray) -> IntArray:
        """Grains that carriers hold beside those that came off: what tears off one pulls at the next."""
        return self.network.around(split, self.carriers, self.bodies)

    # --- contacts ---

    def find_again(self) -> None:
        """Contacts of this step once more, with the impulses that opened contacts carried when they closed."""
        c, b = self.detector.look_again(self.bodies), self.bodies
        call(recall_impulses, c.arrays, b.orientation, b.first_grain, self.bonds.partner, self.bonds.kept)
        self.measure_motion()

    def measure_motion(self) -> None:
        """Take down how the sides of all contacts move against each other."""
        self.motion = self.motion_with(self.bodies.velocity, self.bodies.spin)

    def motion_with(self, velocity: FloatArray, spin: FloatArray) -> FloatArray:
        """(C, 6) of b against a at the contacts, with these velocities [m/s] and spins [rad/s] of all bodies."""
        b, c = self.bodies, self.detector.contacts
        out = np.empty((c.contact_count, 6))
        state = b.arrays._replace(velocity=velocity, spin=spin)
        call(relative_motion, c.arrays, state, b.grain_arrays, self.walls.frame, surface_velocity(self.walls, b.orientation), out)
        return out

    def close(self) -> None:
        """Keep the impulses of the contacts inside of bodies, for the moment when they open again."""
        b, c = self.bodies, self.detector.contacts
        call(keep_impulses, c.arrays, self.inside_bodies(), b.orientation, b.grain_arrays, self.bonds.partner, self.bonds.kept)

    # --- changes ---

    def hold(self, member: IntArray, carrier: IntArray) -> float:
        """Let carriers hold grains; returns their work [J]: the momentum that they give, times their velocity."""
        b = self.bodies
        rows = b.first_grain + member
        old = b.velocity[rows], b.spin[rows]
        self.aggregates.hold(member, carrier)
        self.visits.note(member)
        v, w, r = b.velocity[rows], b.spin[rows], b.radius[member]
        given = dot(v - old[0], v) + 0.4 * r * r * dot(w - old[1], w)
        return total(given / b.inverse_mass[rows])

    def free(self, grains: IntArray) -> None:
        """Let merged grains move on their own."""
        self.visits.note(grains)
        self.bodies.release(grains)
        self.restless[grains] = np.maximum(self.restless[grains], self.policy.merge.steps - 1)
        self.fixed[grains] = self.visits.far_from_walls[grains] = False

    def follow_walls(self) -> None:
        """Tell the search for contacts what the walls of dynamic bodies are part of."""
        pushed = self.aggregates.of_wall < 0
        self.walls.body[pushed] = self.bodies.member_of[self.walls.frame[pushed]]

    def make(self, member: IntArray, group: IntArray, groups: int, parts: IntArray, part_group: IntArray) -> None:
        """Aggregates of all groups that are large enough; the others' grains are free."""
        walled = np.bincount(part_group, minlength=groups)
        grains = np.bincount(group, minlength=groups)
        large = (grains >= self.policy.merge.smallest) | ((walled > 0) & (grains + walled > 1))
        number = (np.cumsum(large) - 1).astype(np.int32)
        kept, kept_parts = large[group], large[part_group]
        self.aggregates.form(
            member[kept], number[group[kept]], int(np.count_nonzero(large)), parts[kept_parts], number[part_group[kept_parts]]
        )
        self.fixed[member[~kept]] = False
        self.visits.far_from_walls[member] = False
        self.questioned[member] = True
        self.follow_walls()
        self.visits.note(member)

    def form_anew(self, torn: IntArray) -> None:
        """Parts of aggregates that still hang together become aggregates of their own."""
        g, b = self.aggregates, self.bodies
        bound = np.bincount(b.member_of[g.bound], minlength=b.first_grain)
        several = torn[bound[torn] > 1]
        if len(several):  # nobody knows which of its walls a grain hangs on: they come apart as a whole
            self.free(self.members(several))
            g.dissolve(several, NONE, g.parts_of(several))
            torn = torn[bound[torn] <= 1]
        members, parts = self.members(torn), g.parts_of(torn)
        loose, part, count = self.network.parts(members, b.grain_count, self.fixed, b)
        rest = np.setdiff1d(members, loose)
        walled = torn[np.isin(torn, b.member_of[parts])]  # in order, as torn is
        rest_group = np.searchsorted(walled, b.grain_body[rest])
        part_group = np.searchsorted(walled, b.member_of[parts]).astype(np.int32)
        member = np.concatenate([rest, loose]).astype(np.int32)
        group = np.concatenate([rest_group, len(walled) + part]).astype(np.int32)
        g.dissolve(torn, member, parts)
        self.make(member, group, len(walled) + count, parts, part_group)

    def grow(self) -> None:
        """Room for grains that are new."""
        more = self.bodies.grain_count - len(self.fixed)
        self.bonds.reserve(self.bodies.grain_count)
        if more > 0:
            self.fixed = np.concatenate([self.fixed, np.zeros(more, bool)])
            self.questioned = np.concatenate([self.questioned, np.zeros(more, bool)])
            self.restless = np.concatenate([self.restless, np.zeros(more, np.int32)])
            self.visits.far_from_walls = np.concatenate([self.visits.far_from_walls, np.zeros(more, bool)])

    def keep(self, rows: IntArray, new_row: IntArray) -> None:
        """All grains but those in ``rows`` have left; ``new_row`` (N before,) is the new row of each, or -1."""
        self.fixed, self.visits.far_from_walls = self.fixed[rows], self.visits.far_from_walls[rows]
        self.questioned, self.restless = self.questioned[rows], self.restless[rows]
        alone = self.bonds.keep(rows, new_row)
        self.questioned |= alone  # what held them may have left
        self.changed |= bool(alone.any())
        self.visits.forget()
        self.network.update(len(rows))  # not known yet if the run has just been restored
        self.grow()
        b, g = self.bodies, self.aggregates
        alive = g.alive
        if len(alive):
            part = self.pushed
            mass = np.bincount(b.grain_body[part], b.mass[part], b.first_grain)
            np.add.at(mass, b.member_of[g.bound], 1 / b.inverse_mass[g.bound])
            torn = alive[mass[alive] < 1 / b.inverse_mass[alive] * (1 - LOST)]
            if len(torn):
                self.form_anew(torn)

    def checkpoint(self) -> dict[str, Any]:
        """All that the next step depends on besides the state of the bodies."""
        position, rotation = self.visits.listed_pose
        return {
            "grain_body": self.bodies.grain_body,
            "aggregates": self.aggregates.checkpoint(),
            "bonds": self.bonds.checkpoint(),
            "fixed": self.fixed,
            "questioned": self.questioned,
            "restless": self.restless,
            "listed_position": position,
            "listed_rotation": rotation,
            "resting": self.visits.resting,
            "changed": int(self.changed),
        }

    @staticmethod
    def check_saved(part: SavedPart, scene: Scene, grains: int, first: int) -> int:
        """Refuse a checkpoint that must not be trusted; ``first`` is the row of the first grain. Returns the number of carriers."""
        carriers = Aggregates.check_saved(part.part("aggregates"), len(scene.all_bodies), first)
        body = part.places("grain_body", (grains,), 0, first + grains)
        if ((body >= first) & (body != first + np.arange(grains))).any():
            raise part.refuse("grain_body", "names the body of another grain")
        Bonds.check_saved(part.part("bonds"), grains, len(scene.all_walls))
        for name in ("fixed", "questioned"):
            part.array(name, np.bool_, (grains,))
        part.array("restless", np.int32, (grains,))
        part.array("listed_position", np.float64, (3,))
        part.array("listed_rotation", np.float64, (3, 3))
        part.whole("resting", 0, first - 1)
        return carriers

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        self.bodies.grain_body[:] = saved["grain_body"]
        self.aggregates.restore(saved["aggregates"])
        self.bonds.restore(saved["bonds"])
        self.fixed, self.questioned = np.array(saved["fixed"], bool), np.array(saved["questioned"], bool)
        self.restless = np.array(saved["restless"], np.int32)
        self.visits.listed_pose = (np.array(saved["listed_position"]), np.array(saved["listed_rotation"]))
        self.visits.resting, self.changed = int(saved["resting"]), bool(saved["changed"])
        self.follow_walls()
        self.grow()
