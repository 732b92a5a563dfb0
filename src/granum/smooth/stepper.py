"""The smooth step: contacts as springs and dashpots, small explicit steps (physics 6, SN 2.2)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from time import perf_counter
from typing import Any, Literal

import numpy as np
from pydantic import model_validator

from ..arithmetic import dot, length, times
from ..array_types import FloatArray, IntArray
from ..contact import Material
from ..contact.law import Parameters, response
from ..detection.images import in_cell, period_of
from ..detection.neighbours import NeighbourList, Skin
from ..detection.wall_table import CYLINDER, WallTable, surface_velocity
from ..detection.walls import find_wall_contacts
from ..parallel import ONE
from ..records import Record
from ..reduction import refused
from ..scene.scene import Scene
from ..state.bodies import KINEMATIC, Bodies
from ..state.contacts import ContactArrays, Contacts, Spans, Touching, closed_up
from ..state.energy import wall_energy
from ..state.ledger import Ledger
from ..state.motion import move_walls
from ..state.report import StepReport
from ..state.rotation import matrix
from .damping import damping_table, least_used
from .integrate import carry_springs, kick_and_drift, kick_and_look
from .lanes import IMPACT, ROLLING, SPRING
from .pairs import FORCE, ROW, find_touching, push_pairs
from .time_step import automatic_step, check_step, too_soft
from .walls import carry_wall_springs, push_walls

SKIN = Skin(least=0.15, ahead=20, slow_ahead=100, slow_skin=0.5)
REACH = 0.5  # of the largest radius: how far beyond a grain walls are looked for, its skin and the walls' way included
EMPTY = np.zeros((0, FORCE))
CONTACTS = ContactArrays._fields  # kept in a checkpoint
WALL_CONTACTS = ("a", "b", "feature", "normal", "overlap", "spring", "force")


class Smooth(Record):
    """Settings of the smooth stepper."""

    name: Literal["smooth"] = "smooth"
    integrator: Literal["verlet", "euler"] = "verlet"
    """Velocity Verlet, or symplectic Euler."""
    damping: Literal["restitution", "dissipation"] = "restitution"
    """Dashpots from the materials' restitution, or from the contact law's dissipation c."""

    @model_validator(mode="before")
    @classmethod
    def _whole(cls, given: Any) -> Any:
        if isinstance(given, dict) and given.get("reduction") is not None:
            raise ValueError(f"{refused.SMOOTH}. Leave reduction out, or take the stepper nonsmooth")
        return given

    def step_for(self, scene: Scene, speed: float = 0.0) -> float:
        """A stable time step [s], also for grains that move at ``speed`` [m/s]."""
        return automatic_step(scene, self.damping == "restitution", speed)

    def remarks(self, scene: Scene) -> list[tuple[str, str]]:
        """What a run does otherwise than its materials say, or what they do not bear: a kind and a sentence each."""
        found = {"restitution": least_used(scene) if self.damping == "restitution" else None, "soft": too_soft(scene)}
        return [(kind, what) for kind, what in found.items() if what is not None]


class SmoothStepper:
    """Advances bodies by one step at a time: kick, drift, find who touches, push, kick."""

    def __init__(self, scene: Scene, bodies: Bodies, settings: Smooth, h: float) -> None:
        damped = settings.damping == "restitution"
        check_step(scene, damped, h)
        self.scene, self.bodies, self.settings = scene, bodies, settings
        self.pairs = scene.pair_table()
        self.law = (scene.law.model_copy(update={"dissipation": 0.0}) if damped else scene.law).parameters
        self.table = _table(scene, damped)
        rolls = (self.pairs.rolling_friction > 0).any()
        self.springs, self.forces = (ROLLING, FORCE) if rolls else (SPRING, 3)  # numbers of a contact
        self.reach = (0.5 + 0.5 * REACH) * scene.size_range[1]
        self.walls = WallTable.build(scene.all_bodies, scene.material_index, self.reach)
        self._endless = endless_tubes(self.walls)
        self.period = period_of(scene.cell)
        self.neighbours = NeighbourList(SKIN, period=self.period)
        self.driven = bool((bodies.kind == KINEMATIC).any() or self.walls.surface_velocity.any())
        self.ledger, self.fastest, self.through = Ledger(), 0.0, -1
        self.leap = 0.0  # furthest way of a grain in the last step, in its own radii
        x = bodies.position[bodies.grains]
        self.extent = np.array([x.min(axis=0, initial=np.inf), x.max(axis=0, initial=-np.inf)])  # box around all grain centres [m]
        self.elastic = self.deepest = 0.0
        self.impacts = 0
        self._contacts: Contacts | None = Contacts()
        self._h = h
        self._fresh = True  # forces have not been found yet
        # by rank: rows of the grains, and the force on each
        self._grain, self._sphere, self._force = np.zeros((0, ROW)), np.zeros((0, 4)), EMPTY
        # by place in the neighbour list: springs, and whether the pair touched
        self._spring, self._touched = np.zeros((0, self.springs)), np.zeros(0, np.uint8)
        # the pairs that touch
        self._count = 0
        self._a = self._b = self._place = np.zeros(1, np.int32)
        self._pair_force = np.zeros((0, self.forces))
        # walls: grains near them, how far those walls may still go, contacts of this step and the last
        self._near, self._way = np.zeros(0, np.int32), 0.0
        self._touch, self._last = WallContacts(0, self.springs), WallContacts(0, self.springs)
        self._wall_force = np.zeros((bodies.wall_body_count, FORCE))

    def step(self, number: int, time: float, h: float, gravity: FloatArray) -> StepReport:
        """Advance from ``time`` by ``h`` [s] under ``gravity`` [m/s^2]."""
        clock = [perf_counter()]
        tick = lambda: clock.append(perf_counter())  # noqa: E731
        self._h, self.impacts = h, 0
        self._list(0, h)
        if self._fresh:
            self._find_forces(gravity)
        first, last = (h / 2, h / 2) if self.settings.integrator == "verlet" else (h, 0.0)
        self._kick_walls(first, gravity)
        move_walls(self.bodies, h)
        left = self._kick_and_drift(first, h, gravity)
        tick()
        self._list(left, h)
        touching = self._find_touching()
        tick()
        self._push(h)
        tick()
        kinetic, potential = self._kick_and_look(last, gravity)
        tick()
        drift, detect, push, kick = (b - a for a, b in pairwise(clock))
        return StepReport(
            step=number,
            time=time + h,
            contacts=touching,
            impacts=self.impacts,
            iterations=0,
            residual=0.0,
            max_overlap=self.deepest,
            elastic_energy=self.elastic,
            kinetic_energy=kinetic,
            energy=kinetic + potential,
            seconds={"detection": detect, "assembly": 0.0, "impact": 0.0, "solve": push, "integrate": drift + kick},
        )

    def watch_energy(self, unexplained: float, kinetic: float, fall: float) -> None:
        """Nothing is adapted: stable steps need no help."""

    def _find_forces(self, gravity: FloatArray) -> None:
        """Forces where the bodies are now; springs stay."""
        self._kick_and_drift(0.0, 0.0, gravity)
        self._find_touching()
        self._push(0.0)
        self._fresh = False

    def _kick_and_drift(self, kick: float, drift: float, gravity: FloatArray) -> int:
        b, near = self.bodies, self.neighbours
        return kick_and_drift(
            near.rank,
            b.first_grain,
            kick,
            drift,
            gravity,
            self._force,
            b.inverse_mass,
            b.radius,
            b.material,
            near.reference,
            near.skin,
            b.position,
            b.orientation,
            b.velocity,
            b.spin,
            self._grain,
            self._sphere,
        )

    def _list(self, left: int, h: float) -> None:
        """A new neighbour list if grains came or left their skin; springs, forces and rows move to their new places."""
        b, near = self.bodies, self.neighbours
        if not left and len(near.rank) == b.grain_count:
            return
        count, lists, old_rank = self._count, near.rebuilds, near.rank.copy()
        a, c, place = near.order[self._a[:count]], near.order[self._b[:count]], self._place[:count].copy()
        again = np.ones(count, bool)  # pairs that get another place
        if not near.update(b, h):
            return
        slots, rank, known = int(near.candidate_first[-1]), near.rank, len(old_rank)
        old_spring = self._spring
        self._spring, self._touched = np.zeros((slots, self.springs)), np.zeros(slots, np.uint8)
        if near.rebuilds == lists:  # some were appended: the others keep their places
            moved = rank[:known] != old_rank
            added = near.order[len(self._grain) :]
            came = added[added < known]
            old = old_rank[came]
            self._force, self._grain, self._sphere = (
                np.concatenate([rows, np.zeros((len(added) - len(came), rows.shape[1])), rows[old]])  # new grains are listed first
                for rows in (self._force, self._grain, self._sphere)
            )
            self._sphere[old, :3] = np.inf  # an empty rank is out of everybody's reach
            self._spring[: len(old_spring)], self._touched[place] = old_spring, 1
            again = moved[a] | moved[c]
            self._near = np.concatenate([self._near[~moved[self._near]], added])
        else:
            places = np.full(len(near.order), -1)
            places[rank[:known]] = old_rank
            self._force, self._grain, self._sphere = (
                np.where(places[:, None] >= 0, rows[places], 0.0) if known else np.zeros((len(places), rows.shape[1]))
                for rows in (self._force, self._grain, self._sphere)
            )
            self._way = 0.0
        pairs = a[again], c[again], place[again]
        carry_springs(*pairs, old_spring, rank, near.candidate_first, near.candidate, self._spring, self._touched)
        # The list may change twice in a step, when grains come and when others leave their skin: the pairs move on with it.
        for name, found in zip(("_a", "_b", "_place"), pairs, strict=True):
            room = np.zeros(slots + 1, np.int32)
            room[:count] = getattr(self, name)[:count]
            room[:count][again] = found
            setattr(self, name, room)
        self._pair_force = np.zeros((slots, self.forces))

    def _find_touching(self) -> int:
        """Pairs and walls that touch now, with their springs."""
        near = self.neighbours
        self._count = find_touching(
            self._sphere,
            self._grain,
            near.candidate_first,
            near.candidate,
            self.period,
            self._touched,
            self._spring,
            self._a,
            self._b,
            self._place,
        )
        self._contacts = None
        if len(self.walls.kind):
            self._find_walls()
        return self._count + self._touch.count

    def _find_walls(self) -> None:
        b = self.bodies
        self._way -= self._h * self._wall_speed()
        if self._way <= 0.0:
            self._list_walls()
        self._touch, self._last = self._last, self._touch
        new, old = self._touch, self._last
        new.find(self._near, b, b.radius, self.walls, self.period)
        through = carry_wall_springs(
            new.a, new.b, new.feature, new.normal, old.b, old.feature, old.normal, old.spring, old.first, old.number, new.spring
        )
        self.through = self._count + through if through >= 0 else -1

    def _list_walls(self) -> None:
        """The grains that may touch a wall before they leave their skin, or the walls have gone their way."""
        b, near = self.bodies, self.neighbours
        self._way = 0.25 * REACH * self.scene.size_range[1]
        gone = length(b.position[b.grains] - near.reference)  # a grain may turn back to the far side of its skin
        wide = b.radius + gone + near.skin + self._way
        looked = WallContacts(0, self.springs)
        looked.find(near.live, b, np.minimum(wide, self.reach), self._endless, self.period)
        listed = wide > self.reach  # further than walls can be asked
        if self.period is not None:  # through a face of the cell a grain comes to walls that are not near yet
            repeats, place = self.period[0] > 0, in_cell(b.position[b.grains], 0, self.period)
            listed |= ((place < wide[:, None]) | (place + wide[:, None] > self.period[0]))[:, repeats].any(axis=1)
        listed[looked.a] = True
        self._near = near.live[listed[near.live]]

    def _wall_speed(self) -> float:
        """Largest speed [m/s] of a wall at any place where grains are."""
        b, fastest, (low, high) = self.bodies, 0.0, self.extent
        if self.period is not None:
            low, high = np.where(self.period[0] > 0, 0.0, low), np.where(self.period[0] > 0, self.period[0], high)
        for w in b.moving:
            far = length(np.maximum(np.abs(low - b.position[w]), np.abs(high - b.position[w])))
            fastest = max(fastest, float(length(b.velocity[w]) + length(b.spin[w]) * (far + self.reach)))
        return fastest

    def _push(self, h: float) -> None:
        """Forces of all contacts."""
        b, near = self.bodies, self.neighbours
        self._force[:] = 0.0
        materials = len(self.scene.materials)
        self.elastic, self.deepest, hits = push_pairs(
            self._count,
            self._a,
            self._b,
            self._place,
            self._sphere,
            self._grain,
            self.table,
            materials,
            self.law,
            h,
            self.period,
            self._spring,
            self._force,
            self._pair_force,
        )
        self.impacts += hits
        t = self._touch
        self._wall_force[:] = 0.0
        if not t.count:
            return
        place = in_cell(self._sphere, 0, self.period)
        elastic, deepest, hits, power = push_walls(
            t.a,
            t.b,
            t.normal,
            t.overlap,
            near.rank,
            place,
            self._grain,
            self.walls.frame,
            self.walls.material,
            surface_velocity(self.walls, b.orientation),
            b.position,
            b.velocity,
            b.spin,
            b.inverse_mass,
            self.table,
            materials,
            self.law,
            h,
            t.spring,
            self._force,
            self._wall_force,
            t.force,
        )
        self.elastic, self.deepest = self.elastic + elastic, max(self.deepest, deepest)
        self.impacts += hits
        if self.driven:
            self.ledger.add("drives", h * power)

    def _kick_and_look(self, kick: float, gravity: FloatArray) -> tuple[float, float]:
        """The second kick; kinetic and gravitational energy [J] after it."""
        b, near = self.bodies, self.neighbours
        self._kick_walls(kick, gravity)
        kinetic, potential, self.fastest, leap = kick_and_look(
            near.rank, b.first_grain, kick, gravity, self._force, self._sphere, self._grain, b.velocity, b.spin, self.extent
        )
        self.leap = leap * self._h
        own, lifted = wall_energy(b, gravity)
        return kinetic + own, potential + lifted

    def _kick_walls(self, kick: float, gravity: FloatArray) -> None:
        """v += kick a of the walls that are pushed."""
        b = self.bodies
        for w in b.dynamic:
            applied, axes = np.asarray(self.scene.all_bodies[w].force), matrix(b.orientation[w])
            b.velocity[w] += kick * (gravity + b.inverse_mass[w] * (applied + self._wall_force[w, :3]))
            b.spin[w] += kick * times(axes, times(axes.T, self._wall_force[w, 3:]) / b.moments[w])
            self.ledger.add("drives", kick * float(dot(applied, b.velocity[w])))

    @property
    def contacts(self) -> Contacts:
        """Contacts of the last step, with its forces as impulses over the step."""
        if self._contacts is None:
            self._contacts = self._gather_contacts()
        return self._contacts

    def _gather_contacts(self) -> Contacts:
        n, t, order = self._count, self._touch, self.neighbours.order
        contacts = Contacts(n + t.count)
        contacts.resize(n, n + t.count)
        contacts.time_step = self._h
        a, b = self._sphere[self._a[:n]], self._sphere[self._b[:n]]
        apart = b[:, :3] - a[:, :3]
        if self.period is not None:
            apart -= self.period[0] * np.rint(apart * self.period[1])
        distance = length(apart)
        contacts.a[:n], contacts.b[:n], contacts.feature[:n] = order[self._a[:n]], order[self._b[:n]], 0
        contacts.normal[:n] = apart / np.where(distance > 0, distance, 1.0)[:, None]
        contacts.overlap[:n] = a[:, 3] + b[:, 3] - distance
        for name in ("a", "b", "feature", "normal", "overlap"):
            getattr(contacts, name)[n:] = getattr(t, name)
        force = np.concatenate([self._pair_force[:n], t.force])
        push = dot(force[:, :3], contacts.normal)
        contacts.impulse[:] = 0.0
        contacts.impulse[:, 0] = self._h * push
        contacts.impulse[:, 1:4] = self._h * (force[:, :3] - push[:, None] * contacts.normal)
        contacts.impulse[:, 4 : 1 + self.forces] = self._h * force[:, 3:]
        rate = np.abs(dot(self._relative_velocity(), contacts.normal))
        contacts.rebound[:] = np.where(rate > IMPACT, rate, 0.0)
        contacts.partner[:n], contacts.partner[n:] = self.bodies.id[contacts.b[:n]], contacts.b[n:]
        return contacts

    def _relative_velocity(self) -> FloatArray:
        """(C, 3) of b's centre, or of the wall at the contact, against a's centre [m/s]."""
        n, t, bodies = self._count, self._touch, self.bodies
        rank = self.neighbours.rank
        own = np.concatenate([self._a[:n], rank[t.a]])
        w = self.walls.frame[-1 - t.b]
        arm = in_cell(self._sphere, 0, self.period)[rank[t.a], :3] + bodies.radius[t.a, None] * t.normal - bodies.position[w]
        wall = bodies.velocity[w] + np.cross(bodies.spin[w], arm)
        return np.concatenate([self._grain[self._b[:n], :3], wall]) - self._grain[own, :3]

    def checkpoint(self) -> dict[str, Any]:
        """All that the next step depends on besides the bodies."""
        c, n, t = self.contacts, self._count, self._touch
        return {
            "neighbours": self.neighbours.checkpoint(),
            "ledger": self.ledger.checkpoint(),
            "fresh": self._fresh,
            "way": self._way,
            "near": self._near,
            "force": self._force,
            "wall_force": self._wall_force,
            "extent": self.extent,
            "spring": self._spring,
            "touched": self._touched,
            "pairs": {"a": self._a[:n], "b": self._b[:n], "place": self._place[:n]},
            "walls": t.checkpoint(),
            "contacts": {"pairs": n, **{name: getattr(c, name) for name in CONTACTS}},
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        self.neighbours.restore(saved["neighbours"])
        self.ledger.restore(saved["ledger"])
        self._fresh, self._way = saved["fresh"], saved["way"]
        for name in ("near", "force", "wall_force", "touched"):
            setattr(self, f"_{name}", np.array(saved[name]))
        self._spring = with_stiffness(saved["spring"], self.springs)
        self._spring[self._touched == 0] = 0.0
        self.extent = np.array(saved["extent"])
        self._grain, self._sphere = np.zeros((len(self._force), ROW)), np.zeros((len(self._force), 4))
        self._sphere[self.neighbours.order < 0, :3] = np.inf
        pairs, slots = saved["pairs"], len(self._spring)
        self._count = len(pairs["a"])
        self._a, self._b, self._place = (np.zeros(slots + 1, np.int32) for _ in range(3))
        for name, room in (("a", self._a), ("b", self._b), ("place", self._place)):
            room[: self._count] = pairs[name]
        self._pair_force = np.zeros((slots, self.forces))
        self._touch.restore(saved["walls"])
        old = saved["contacts"]
        self._contacts = Contacts(len(old["a"]))
        self._contacts.resize(old["pairs"], len(old["a"]))
        self._contacts.time_step = self._h
        for name in CONTACTS:
            getattr(self._contacts, name)[:] = old[name]

    def keep(self, rows: IntArray, new_row: IntArray) -> None:
        """All grains but those in ``rows`` have left; ``new_row`` (N before,) is the new row of each, or -1. Springs of the others stay."""
        near, n, touching = self.neighbours, self._count, self._touch.count
        empty = np.zeros(len(near.order), bool)
        empty[near.rank[new_row[: len(near.rank)] < 0]] = True
        apart = empty[self._a[:n]] | empty[self._b[:n]]
        places = self._place[:n][apart]
        self._spring[places], self._touched[places] = 0.0, 0
        self._count = n - len(places)
        for room in (self._a, self._b, self._place, self._pair_force):
            room[: self._count] = room[:n][~apart]
        self._sphere[empty, :3] = np.inf
        self._touch.keep(new_row)
        self._near = new_row[self._near][new_row[self._near] >= 0]
        near.keep(new_row)
        self._contacts = None
        if self._count < n or self._touch.count < touching:  # what pushed is gone
            self._fresh = True


class WallContacts:
    """Contacts with walls and their springs; ``first`` and ``number`` tell where those of each grain stand."""

    def __init__(self, room: int, springs: int) -> None:
        self.springs = springs
        self.first = self.number = np.zeros(0, np.int32)
        self._reserve(room)
        self._show(0)

    def _reserve(self, room: int) -> None:
        self.room = room
        self._a, self._b, self._feature = (np.zeros(room, np.int32) for _ in range(3))
        self._normal, self._overlap = np.zeros((room, 3)), np.zeros(room)
        self._spring, self._force = np.zeros((room, self.springs)), np.zeros((room, self.springs - 1))

    def _show(self, count: int) -> None:
        self.count = count
        self.a, self.b, self.feature = self._a[:count], self._b[:count], self._feature[:count]
        self.normal, self.overlap = self._normal[:count], self._overlap[:count]
        self.spring, self.force = self._spring[:count], self._force[:count]

    def find(self, grains: IntArray, bodies: Bodies, radius: FloatArray, walls: WallTable, period: FloatArray | None = None) -> None:
        """Contacts of some grains, taken to have these radii [m], with all walls; of a cell (``period``) in that."""
        place = in_cell(bodies.position, bodies.first_grain, period)
        if len(self.first) != bodies.grain_count:
            self.first = np.zeros(bodies.grain_count, np.int32)
            self.number = np.zeros(bodies.grain_count, np.int32)
        self.number[:] = 0
        while True:
            out, spans = Touching(self._a, self._b, self._feature, self._normal, self._overlap), Spans(self.first, self.number)
            state, near = bodies.arrays._replace(position=place), bodies.grain_arrays._replace(radius=radius)
            count = ONE.run(find_wall_contacts, 0, grains, state, near, walls, 0, None, out, spans)
            if count <= self.room:
                self._show(count)
                return
            self._reserve(count * 5 // 4)

    def keep(self, new_row: IntArray) -> None:
        """Grains leave: ``new_row`` (N,) is the new row of each, or -1."""
        kept, stays = new_row[self.a] >= 0, new_row[: len(self.first)] >= 0
        self.first, self.number = closed_up(self.first[stays], self.number[stays], kept)
        count = int(np.count_nonzero(kept))
        for name in WALL_CONTACTS:
            getattr(self, name)[:count] = getattr(self, name)[kept]
        self._show(count)
        self.a[:] = new_row[self.a]

    def checkpoint(self) -> dict[str, Any]:
        """All that the next step looks up."""
        return {name: getattr(self, name) for name in (*WALL_CONTACTS, "first", "number")}

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        self._reserve(len(saved["a"]))
        self._show(len(saved["a"]))
        for name in WALL_CONTACTS:
            getattr(self, name)[:] = with_stiffness(saved[name], self.springs) if name == "spring" else saved[name]
        self.first, self.number = np.array(saved["first"]), np.array(saved["number"])


def with_stiffness(spring: FloatArray, columns: int) -> FloatArray:
    """Springs of a checkpoint, a copy; those from before their stiffness was kept keep their length in the first step."""
    old = spring.shape[1] < columns
    return np.column_stack([np.full(len(spring), np.inf), spring]) if old else np.array(spring)


def endless_tubes(walls: WallTable) -> WallTable:
    """The same walls, but tubes that are open at their ends go on: a grain that is about to enter one is near it."""
    parameter = walls.parameter.copy()
    parameter[(walls.kind == CYLINDER) & (parameter[:, 8] == 0.0), 7] = np.inf
    return walls._replace(parameter=parameter)


def _table(scene: Scene, damped: bool) -> FloatArray:
    """(M * M, 5) stiffness, damping, friction, rolling friction and k_t / K of every pair of materials (see ``lanes``)."""
    table = scene.pair_table()
    alpha = damping_table(table.restitution, table.law.exponent) if damped else np.zeros_like(table.restitution)
    columns = (table.stiffness, alpha, table.friction, table.rolling_friction, shear_ratio(scene.materials, table.law))
    return np.stack([column.ravel() for column in columns], axis=1)


def shear_ratio(materials: Sequence[Material], law: Parameters) -> FloatArray:
    """(M, M) k_t / K: Mindlin's 8 G* / (2 E*) of the two materials, from the law's secant stiffness K to its tangent (Hertz: 3/2)."""
    at = response(law, 1.0, 1.0, 1.0)

    def pair(a: Material, b: Material) -> float:
        shear = [(2 - m.poisson_ratio) * 2 * (1 + m.poisson_ratio) / m.youngs_modulus for m in (a, b)]
        return at.tangent / at.secant * 4 * (a.softness + b.softness) / (shear[0] + shear[1])

    return np.array([[pair(a, b) for b in materials] for a in materials])
