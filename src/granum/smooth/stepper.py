"""The smooth step: contacts as springs and dashpots, small explicit steps (physics 6, SN 2.2)."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..arithmetic import dot, times, total
from ..array_types import FloatArray, IntArray
from ..checks import InputError
from ..detection.body_shapes import body_shapes
from ..detection.images import move_into_cell, period_of
from ..detection.neighbours import NeighbourList
from ..detection.wall_table import WallTable, surface_velocity
from ..extensions.base import StepPart
from ..kernel_groups import call, prepared
from ..machines import machines_of
from ..machines.alone import kick_links
from ..parallel import ONE, Team
from ..scene.grid import grid_origin
from ..scene.scene import Scene
from ..state.bodies import KINEMATIC, Bodies
from ..state.body_contacts import NO_BODY_CONTACTS, BodyContacts
from ..state.contacts import ContactArrays, Contacts
from ..state.energy import wall_energy
from ..state.ledger import Ledger
from ..state.mobility import inverse_inertias, mobilities
from ..state.motion import move_walls, power_of
from ..state.report import StepReport
from .groups import Movers, Surfaces
from .integrate import CHUNK, kick_and_drift, kick_and_look, kick_walls
from .lanes import IMPACT
from .material_table import laws_of
from .pairs import FORCE, push_pairs
from .settings import Smooth
from .shown import shown_contacts
from .time_step import check_step
from .touching import SKIN, TouchingPairs
from .wall_contacts import REACH, AtWalls, WallContacts, fastest_wall
from .walls import carry_wall_springs, push_carriers, push_walls

SHOWN = ContactArrays._fields  # of contacts, in a checkpoint


class Calls(NamedTuple):
    """The kernels of a step with their arrays, as long as none of these is replaced; the first three are told what threads share."""

    kick_and_drift: Callable[..., int]
    push_pairs: Callable[..., tuple[float, float, int, int]]
    kick_and_look: Callable[..., tuple[float, float, float, float]]
    kick_walls: Callable[..., float]
    fastest_wall: Callable[[], float]
    at_walls: dict[WallContacts, WallCalls]  # of the two sets of contacts, which take turns


class WallCalls(NamedTuple):
    """Those that fill one set of contacts with walls."""

    find: Callable[[], int]
    carry: Callable[..., int]
    push: Callable[..., tuple[float, float, int, float]]


def check_fixed(scene: Scene) -> None:
    """Refuse grains fixed to dynamic bodies, whose mass the pairs of this stepper do not know."""
    dynamic = {body.name for body in scene.bodies if body.kind == "dynamic"}
    for block in scene.grains:
        if block.body in dynamic:
            raise InputError(
                f"grains are fixed to the dynamic body {block.body!r}, which the smooth stepper cannot push: take the stepper 'nonsmooth', "
                "or make the body static or kinematic."
            )


class SmoothStepper:
    """Advances bodies by one step at a time: kick, drift, find who touches, push, kick."""

    def __init__(self, scene: Scene, bodies: Bodies, settings: Smooth, h: float, team: Team = ONE) -> None:
        damped = settings.damping == "restitution"
        check_step(scene, damped, h)
        self.scene, self.bodies, self.settings, self.team = scene, bodies, settings, team
        check_fixed(scene)
        self.pairs, self.laws = scene.pair_table(), laws_of(scene, damped)
        rolling = bool((self.pairs.rolling_friction > 0).any())
        largest = scene.size_range[1]
        reach = (0.5 + 0.5 * REACH) * largest
        self.walls = WallTable.build(scene.all_bodies, scene.material_index, reach)
        self.touching_bodies = np.zeros(0, np.int32)  # no body touches another
        self.remarks = settings.remarks(scene) + self._bodies_that_pass()
        self.period = period_of(scene.cell)
        self.touching = TouchingPairs(NeighbourList(SKIN, team, self.period, grid_origin(scene)), rolling)
        self.at_walls = AtWalls(self.walls, self.touching.springs, reach, largest, self.period)
        self.surfaces = Surfaces(
            self.walls.frame, self.walls.material, self.walls.surface_velocity.copy(), np.zeros((bodies.wall_body_count, FORCE))
        )
        self._belts = bool(self.walls.surface_velocity.any())
        self.driven = bool((bodies.kind == KINEMATIC).any()) or self._belts
        self.force = np.array([owner.force for owner in scene.all_bodies], float).reshape(-1, 3)  # (W, 3) on bodies of the scene [N]
        self.machines = machines_of(scene, bodies, locked=False)
        self._kicked = np.setdiff1d(bodies.dynamic, bodies.linked).astype(np.int32)  # bodies of the scene that are pushed and no links
        self.ledger, self.fastest, self._through = Ledger(), 0.0, -1
        self.leap = 0.0  # furthest way of a grain in the last step, in its own radii
        x = bodies.position[bodies.grains]
        self.extent = np.array([x.min(axis=0, initial=np.inf), x.max(axis=0, initial=-np.inf)])  # box around all grain centres [m]
        self.parts: dict[str, StepPart] = {}  # no extension works on springs so far
        self._gravity = np.zeros(3)
        self._h = h
        self._fresh = True  # forces have not been found yet
        self._shown: Contacts | None = Contacts()
        self._movers, self._placed = Movers.of(bodies), bodies.position
        self._prepared: Calls | None = None

    def _bodies_that_pass(self) -> list[tuple[str, str]]:
        """Bodies that would touch each other with the nonsmooth stepper: a kind and a sentence."""
        shapes = body_shapes(self.scene.all_bodies, self.walls, self.scene.joints)
        if shapes is None:
            return []
        a, b = (self.scene.all_bodies[row].name for row in self.walls.frame[shapes.pair[0]])
        words = f"with the smooth stepper bodies touch grains only: {a!r} passes through {b!r}"
        return [("bodies", f"{words}. Take the nonsmooth stepper, or give the body touches = 'grains' if it is meant so")]

    @property
    def through(self) -> int:
        """A contact that is on the other side of its wall since the last step, or -1."""
        return self.touching.count + self._through if self._through >= 0 else -1

    @property
    def neighbours(self) -> NeighbourList:
        return self.touching.neighbours

    def step(self, number: int, time: float, h: float, gravity: FloatArray) -> StepReport:
        """Advance from ``time`` by ``h`` [s] under ``gravity`` [m/s^2]: velocity Verlet, or symplectic Euler, which kicks once."""
        began = perf_counter()
        self._h, self._gravity[:] = h, gravity
        before = self._meet_new_grains(h)
        first, last = (h / 2, h / 2) if self.settings.integrator == "verlet" else (h, 0.0)
        self._kick_walls(first)  # v += h/2 a
        self._kick_links(time, h)  # v += h a, with the forces of joints, motors and limits
        move_walls(self.bodies, h)
        if self.bodies.fixed is not None:
            self.bodies.fixed.follow(self.bodies)
        left = self._calls().kick_and_drift(self.bodies.grain_count, first, h)  # the same for grains, and x += h v
        drifted = perf_counter()
        self.detect(h, left)
        found = perf_counter()
        elastic, deepest, impacts = self._push(h)  # a(x, v)
        pushed = perf_counter()
        self._kick_walls(last)  # v += h/2 a
        kinetic, potential = self._kick_and_look(last)
        kicked = perf_counter()
        return StepReport(
            step=number,
            time=time + h,
            contacts=self.touching.count + self.at_walls.now.count,
            impacts=before + impacts,
            iterations=0,
            residual=0.0,
            max_overlap=deepest,
            elastic_energy=elastic,
            kinetic_energy=kinetic,
            energy=kinetic + potential,
            seconds={
                "detection": found - drifted,
                "assembly": 0.0,
                "impact": 0.0,
                "solve": pushed - found,
                "integrate": drifted - began + kicked - pushed,
            },
        )

    def watch_energy(self, unexplained: float, kinetic: float, fall: float) -> None:
        """Nothing is adapted: stable steps need no help."""

    def _meet_new_grains(self, h: float) -> int:
        """List the grains that came since the last step, and find the forces where there are none yet; springs stay. Counts impacts."""
        if self._movers.position is not self.bodies.position or len(self.neighbours.rank) != self.bodies.grain_count:
            self._prepared = None
            if len(self.neighbours.rank) != self.bodies.grain_count:
                self._list(h)
        if self._fresh:
            self._calls().kick_and_drift(self.bodies.grain_count, 0.0, 0.0)
            self.detect(h, 0)
            self._fresh = False
            return self._push(0.0)[2]
        return 0

    def _list(self, h: float) -> None:
        """The neighbour list for where grains are now."""
        changed = self.touching.update(self.bodies, h)
        if changed is not None:
            self.at_walls.follow(changed)
            self._prepared = None

    def detect(self, h: float, left: int = 1) -> None:
        """Contacts with walls, with their springs; pairs are found as they push. Grains that ``left`` their skin are listed anew."""
        if left:
            self._list(h)
        self._shown, self._through = None, -1
        if not len(self.walls.kind):
            return
        at, bodies = self.at_walls, self.bodies
        if len(bodies.moving):
            at.way -= h * self._calls().fastest_wall()
        if at.way <= 0.0:
            at.list_near(bodies, self.neighbours)
            self._prepared = None
        if self.period is not None:
            move_into_cell(bodies.position, bodies.first_grain, self.period, self._placed)
        at.turn()
        now, needed = at.now, 0
        while True:
            if now.fit(bodies.grain_count, needed):
                self._prepared = None
            now.rows.number.fill(0)
            needed = self._calls().at_walls[now].find()
            if needed <= now.room:
                break
        now.count = needed
        self._through = self._calls().at_walls[now].carry(now.count)

    def _push(self, h: float) -> tuple[float, float, int]:
        """Forces of all contacts; elastic energy [J], largest overlap [m] and number of impacts."""
        calls, now = self._calls(), self.at_walls.now
        elastic, deepest, impacts, self.touching.count = calls.push_pairs(self.touching.things, h)
        if not len(self.walls.kind):
            self._count_fixed(h)
            return elastic, deepest, impacts
        rows = self.touching.rows
        if self.period is not None:
            move_into_cell(rows.sphere, 0, self.period, rows.placed)
        if self._belts:
            self.surfaces.velocity[:] = surface_velocity(self.walls, self.bodies.orientation)
        more, deep, hits, power = calls.at_walls[now].push(now.count, h)
        if self.driven and now.count:
            self.ledger.add("drives", h * power)
        self._count_fixed(h)
        return elastic + more, max(deepest, deep), impacts + hits

    def _count_fixed(self, h: float) -> None:
        """Work of driven bodies, through the forces on the grains that are fixed to them."""
        b = self.bodies
        if b.fixed is None or not self.driven:
            return
        rows = b.fixed.rows(b)
        force, moves = self.touching.rows.force[self.touching.rows.rank[rows]], b.first_grain + rows
        self.ledger.add("drives", -h * total(dot(force[:, :3], b.velocity[moves]) + dot(force[:, 3:FORCE], b.spin[moves])))

    def _kick_and_look(self, kick: float) -> tuple[float, float]:
        """The last kick of the grains; kinetic and gravitational energy [J] of all bodies after it."""
        kinetic, potential, self.fastest, leap = self._calls().kick_and_look(self.bodies.grain_count, kick)
        self.leap = leap * self._h
        if len(self.bodies.dynamic):
            own, lifted = wall_energy(self.bodies, self._gravity)
            return kinetic + own, potential + lifted
        return kinetic, potential

    def _kick_walls(self, kick: float) -> None:
        """v += kick a of the walls that are pushed."""
        b, rows = self.bodies, self._kicked
        if not len(rows):
            return
        held = rows[b.locked[rows].any(axis=1)]
        before = b.velocity[held], b.spin[held]
        power = self._calls().kick_walls(kick)
        if len(held):
            push = self.surfaces.force[held].copy()
            push[:, :3] += self._gravity / b.inverse_mass[held, None] + self.force[held]
            change = kick * times(mobilities(b, held), push)
            b.velocity[held], b.spin[held] = before[0] + change[:, :3], before[1] + change[:, 3:]
            power = call(power_of, rows, self.force, b.velocity)
        self.ledger.add("drives", kick * power)

    def _kick_links(self, time: float, h: float) -> None:
        """v += h a of the links of machines, in one kick: the forces of joints follow from the velocities that they are to give."""
        if self.machines is None:
            return
        b, m = self.bodies, self.machines
        rows, applied = m.rows, self.force[m.rows]
        m.aim_motors(time, h)
        force = self.surfaces.force[rows].copy()
        force[:, :3] += applied + self._gravity / b.inverse_mass[rows, None]
        motors, driven = call(kick_links, m.links, m.table, b.arrays, inverse_inertias(b, rows), force, h, IMPACT, m.carried)
        self.ledger.add("motors", motors)
        self.ledger.add("drives", driven + h * call(power_of, rows, self.force, b.velocity))

    def _calls(self) -> Calls:
        """The kernels with the arrays of now."""
        if self._prepared is None:
            self._prepared = self._prepare()
        return self._prepared

    def _prepare(self) -> Calls:
        t, at, b = self.touching, self.at_walls, self.bodies
        self._movers = m = Movers.of(b)
        if self.period is None:
            self._placed = b.position
        elif self._placed.shape != b.position.shape or self._placed is b.position:
            self._placed = np.empty_like(b.position)
        walls = {}
        for new, old in ((at.now, at.before), (at.before, at.now)):
            walls[new] = WallCalls(
                new.search(at.near, b, self._placed, b.radius, self.walls),
                prepared(carry_wall_springs, new.rows, old.rows, then=(0,)),
                prepared(push_walls, self.laws, t.rows, m, self.surfaces, new.rows, then=(0, 0.0)),
            )
        shared, grains = self.team.prepared, b.grain_count
        parts = np.zeros(((grains + CHUNK - 1) // CHUNK, 10))
        return Calls(
            shared(kick_and_drift, t.rows, t.listed, m, self._gravity, then=(0.0, 0.0)),
            shared(push_pairs, self.laws, t.rows, t.listed, t.pairs, t.seam, self.period, then=(0.0,)),
            shared(kick_and_look, t.rows, m, self._gravity, parts, self.extent, then=(0.0,)),
            prepared(kick_walls, b.arrays, self._kicked, b.moments, self.force, self.surfaces.force, self._gravity, then=(0.0,)),
            prepared(fastest_wall, b.arrays, b.moving, self.extent, self.period, at.reach),
            walls,
        )

    @property
    def body_contacts(self) -> BodyContacts:
        """None: bodies touch grains only."""
        return NO_BODY_CONTACTS

    @property
    def contacts(self) -> Contacts:
        """Contacts of the last step, with its forces as impulses over the step."""
        if self._shown is None:
            self._shown = shown_contacts(self.touching, self.at_walls.now, self.bodies, self.walls, self._h)
        return self._shown

    def pushes(self, h: float) -> FloatArray:
        """(W, 6) forces and torques [N, N m] on the bodies of the scene at the end of the last step, by grains."""
        out, b = self.surfaces.force.copy(), self.bodies
        if b.fixed is not None:
            rows = b.fixed.rows(b)
            push_carriers(rows, b.fixed.body, self.touching.rows, b.position, b.first_grain, out)
        return out

    def checkpoint(self) -> dict[str, Any]:
        """All that the next step depends on besides the bodies."""
        c = self.contacts
        return {
            **self.touching.checkpoint(),
            "ledger": self.ledger.checkpoint(),
            **({"machines": self.machines.checkpoint()} if self.machines is not None else {}),
            "fresh": self._fresh,
            "way": self.at_walls.way,
            "near": self.at_walls.near,
            "wall_force": self.surfaces.force,
            "extent": self.extent,
            "walls": self.at_walls.now.checkpoint(),
            "contacts": {"pairs": self.touching.count, **{name: getattr(c, name) for name in SHOWN}},
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        self.touching.restore(saved)
        self.ledger.restore(saved["ledger"])
        if self.machines is not None:
            self.machines.restore(saved["machines"])
        self._fresh = saved["fresh"]
        self.at_walls.way, self.at_walls.near = saved["way"], np.array(saved["near"])
        self.at_walls.now.restore(saved["walls"])
        self.surfaces.force[:], self.extent[:] = saved["wall_force"], saved["extent"]
        old = saved["contacts"]
        self._shown = Contacts(len(old["a"]))
        self._shown.resize(old["pairs"], len(old["a"]))
        self._shown.time_step = self._h
        for name in SHOWN:
            getattr(self._shown, name)[:] = old[name]
        self._prepared = None

    def keep(self, rows: IntArray, new_row: IntArray) -> None:
        """All grains but those in ``rows`` have left; ``new_row`` (N before,) is the new row of each, or -1. Springs of the others stay."""
        touched = self.touching.count, self.at_walls.now.count
        self.touching.keep(new_row)
        self.at_walls.keep(new_row)
        self._shown = self._prepared = None
        if (self.touching.count, self.at_walls.now.count) != touched:  # what pushed is gone
            self._fresh = True
