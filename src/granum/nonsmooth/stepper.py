"""The nonsmooth step: big steps, rigid contacts with friction, solved as one complementarity problem (WS Algorithm 1)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..array_types import FloatArray, IntArray
from ..detection.body_shapes import largest_ball, touching_rows
from ..detection.built_in import bodies_that_touch
from ..detection.detector import Detector
from ..detection.images import period_of
from ..detection.prediction import Ahead
from ..detection.surfaces import MOST_LOOK
from ..detection.wall_table import WallTable, surface_velocity
from ..detection.ways import find_ways, hold_back, may_be_fast
from ..extensions.base import StepPart, chosen
from ..kernel_groups import call
from ..machines import machines_of
from ..parallel import LIGHT, ONE, Team
from ..scene.grid import grid_origin
from ..scene.scene import Scene
from ..state.bodies import KINEMATIC, Bodies
from ..state.body_contacts import BodyContacts
from ..state.contacts import Contacts
from ..state.energy import wall_energy
from ..state.ledger import Ledger
from ..state.motion import move_walls, power_of
from ..state.report import StepReport
from ..state.rooms import Rooms
from ..state.stages import Stage, run_stages
from .accuracy import accuracy, scale
from .assemble import Aim
from .collision_times import place_at_collisions, return_angular_momentum
from .collisions import collide
from .context import NonsmoothStep
from .groups import FreeBodies, Met, Step, WallArrays
from .impact import Parting, aim_at_impacts, part_rebounding, solve_impacts
from .integrate import External, external_pushes, move_grains
from .kept_energy import turn_to_collisions
from .kinds.every import driven_work, driven_works
from .links import StepLinks
from .measure import Measured, measure
from .problem import Problem
from .ready import Ready, assemble, make_ready
from .settings import Nonsmooth
from .shown import Shown
from .slots import take_velocities
from .solvers import SolveReport
from .tally import SolveTally
from .warm_start import StabilityGuard, start_with

NO_PUSHES = np.zeros((0, 6))


class NonsmoothStepper:
    """Advances bodies by one step at a time: ``stages`` are those of WS Algorithm 1, and what ``parts`` put among them."""

    def __init__(self, scene: Scene, bodies: Bodies, settings: Nonsmooth, team: Team = ONE) -> None:
        self.scene, self.bodies, self.settings, self.team = scene, bodies, settings, team
        self.pairs = scene.pair_table()
        self.walls = WallTable.build(scene.all_bodies, scene.material_index, (1 + MOST_LOOK) * largest_ball(scene))
        self.period = period_of(scene.cell)
        rooms = Rooms()
        self.detector = Detector(self.walls, team, self.period, grid_origin(scene), rooms)
        self.detector.shapes, self.remarks = bodies_that_touch(scene, self.walls, self.pairs)
        self.touching_bodies = touching_rows(self.detector.shapes, self.walls, bodies.dynamic)
        self.problem = Problem(bool((self.pairs.rolling_friction > 0).any()), settings.friction, team, rooms)
        self.force = np.array([owner.force for owner in scene.all_bodies], float).reshape(-1, 3)  # (W, 3) on bodies of the scene [N]
        self.belts = bool(self.walls.surface_velocity.any())
        self.driven = bool((bodies.kind == KINEMATIC).any()) or self.belts
        self.machines = machines_of(scene, bodies, locked=True)
        self.links = StepLinks(self.machines, self.problem)
        self.ledger = Ledger(losses=True)
        self.stability = StabilityGuard()
        self._readied: tuple[Any, Any] = None, None  # what was asked for, and the answer
        self.shown = Shown(scene, bodies, self.walls, self.detector)
        self.left_over = 0.0  # residual of the last solve [m/s]
        self.fastest = 0.0  # grain speed after the last step [m/s]
        self.extent = np.zeros((2, 3))  # box around all grain centres after the last step [m]
        self.history = False
        self._smallest, self._pulls, self._gravity = scene.finest, scene.law.pulls, np.zeros(3)
        self._measured = Measured.of(0, 0, self._gravity, self.extent)  # room to work in
        self._wall_arrays = WallArrays.of(self.walls, self.walls.surface_velocity, self.detector.shapes)
        self._met, self._free = Met.of(self.detector.contacts), FreeBodies.of(bodies, bodies.position, self.detector.order, bodies.dynamic)
        self.before_solve: Callable[[Problem], None] | None = None  # looks at the problem of every step
        self.solve_report = SolveReport(iterations=0, residual=0.0, converged=True)
        self.tally = SolveTally()
        self.stages = [
            Stage("detection", self._detect),  # overlaps, normals, what contacts carried
            Stage("assembly", self._assemble_rows),  # G, Sigma and the bounds; targets, external impulses, warm start
            Stage("impact", self._impact),  # velocities after the collisions of this step
            Stage("assembly", self._make_ready),  # where there were any: targets, external impulses, warm start
            Stage("solve", self._solve),  # impulses and velocities
            Stage("integrate", self._take_velocities),  # and positions, if nothing stands between
            Stage("integrate", self._look_ahead),  # who is too fast for the contacts that were found
            Stage("integrate", self._move),  # positions
            Stage("measure", self._measure),  # energies
        ]
        self.parts: dict[str, StepPart] = {}
        for extension in chosen(settings):
            self.parts[extension.saved_as] = extension.extend(self)

    def step(self, number: int, time: float, h: float, gravity: FloatArray) -> StepReport:
        """Advance from ``time`` by ``h`` [s] under ``gravity`` [m/s^2]."""
        now = self.context(number, time, h, gravity)
        if self.machines is not None:
            self.machines.aim_motors(time, h)
        run_stages(self.stages, now)
        return StepReport(
            step=number,
            time=time + h,
            impacts=now.impacts,
            iterations=self.solve_report.iterations,
            residual=self.solve_report.residual,
            velocity_error=self.tally.last,
            seconds=now.seconds,
            more=now.more,
            **now.found,
        )

    def context(self, number: int, time: float, h: float, gravity: FloatArray) -> NonsmoothStep:
        """What the stages of a step tell each other, before the first of them."""
        self._gravity[:] = gravity
        x, y, z = gravity.tolist()
        return NonsmoothStep(number, time, h, self._gravity, self.ledger, math.sqrt(x * x + y * y + z * z))

    @property
    def through(self) -> int:
        """A contact whose grain went through its wall, or -1."""
        return self.detector.contacts.place_among_closed(self.detector.through)

    def watch_energy(self, unexplained: float, kinetic: float, fall: float) -> None:
        """Tell the warm start how the energy [J] has changed in this step; ``fall`` is that of all grains falling for one step."""
        self.stability.look(unexplained, kinetic, fall)

    @property
    def contacts(self) -> Contacts:
        """Contacts of the last step that touch or push, with its impulses; the normal ones are net of what attracts."""
        return self.shown.contacts

    @property
    def body_contacts(self) -> BodyContacts:
        """Contacts between bodies of the last step that touch or push, with its forces."""
        return self.shown.body_contacts

    def pushes(self, h: float) -> FloatArray:
        """(W, 6) forces and torques [N, N m] on the bodies of the scene in the last step, of ``h`` [s]; see ``Shown.pushes``."""
        return self.shown.pushes(h)

    # --- the stages ---

    def _detect(self, now: NonsmoothStep) -> None:
        """Who touches whom, or is about to."""
        self.shown.forget()
        self.bodies.struck[:] = 0.0
        self.detector.detect(self.bodies, now.h, Ahead.of(now.h, self.settings.prediction, now.pull, self.settings.impact_velocity))

    def _assemble_rows(self, now: NonsmoothStep) -> None:
        """The contact problem, ready to be solved if nothing collides, and how accurately that is to be done."""
        now.impacts, square = self._assemble(now.h, self._late())
        p, speed, slow = self.problem, math.sqrt(square), self.settings.impact_velocity
        p.accuracy, p.scale = accuracy(now.pull, self._smallest, speed, slow), scale(now.pull * now.h, speed, self._met, p.found, slow)

    def _late(self) -> float:
        """Speed [m/s] beyond which contacts that have no past are taken to be met late. Those of the first step may be as deep as they are
        placed; later, what is met late was hit in the step before."""
        return self.settings.impact_velocity if self.detector.had_contacts else math.inf

    def _assemble(self, h: float, late: float) -> tuple[int, float]:
        """Returns how many contacts impact, and the mean square of the separation speeds [m^2/s^2]."""
        d, p, b, c = self.detector, self.problem, self.bodies, self.detector.contacts
        p.soften(self.settings.softness(self.scene, h))
        self._met, self._free = met, free = self._met.now(c), self._bodies_at(d.place)
        p.link(b, free.full)
        packed = p.pack(b, free, c, met, self.walls, d.slot, d.same)
        self.links.lay(p, b, h, self.settings.impact_velocity)
        walls = self._wall_arrays
        if self.belts:
            walls = walls._replace(surface_velocity=surface_velocity(self.walls, b.orientation))
        step, ready, things = self._step(h, packed), self._ready(h, late), max(c.every_count, len(free.order) // LIGHT)
        found: tuple[int, float] = self.team.run(assemble, things, p.arrays, met, free, walls, self.pairs, step, ready)
        return found

    def _bodies_at(self, position: FloatArray) -> FreeBodies:
        """The bodies, for kernels, at these positions: their own, or those in the cell."""
        b, order, known = self.bodies, self.detector.order, self._free
        if known.position is position and known.velocity is b.velocity and known.order is order and not b.may_merge:
            return known
        return FreeBodies.of(b, position, order, b.pushed_rows())

    def _displaced(self) -> FreeBodies:
        """The bodies where they are, of which links of machines do not yield: positions are changed apart from velocities."""
        found = self._bodies_at(self.bodies.position)
        return found if self.machines is None else found._replace(inverse_mass=self.bodies.displaceable)

    def _step(self, h: float, packed: bool = True) -> Step:
        clear = packed or self.problem.rooms.lanes.shared
        return Step(h, self.settings.impact_velocity, 2.0 * self.left_over, packed, clear, self.links.limits_hit)

    def _impact(self, now: NonsmoothStep) -> None:
        """Velocities after the collisions of this step, and bodies where it must start for its end to be right."""
        self.shown.struck[:] = 0.0
        if not now.impacts and not self.links.limits_hit:
            self.problem.end_impacts(0)
            return
        p, c, b, met, before = self.problem, self.detector.contacts, self.bodies, self._met, self.problem.kinetic_energy()
        if self.machines is None:
            collide(p, lambda part: self._solve_impacts(now.h, part), self._driven_works)
        else:
            self._solve_impacts(now.h)
        self.links.end_impact(p)
        self.shown.add_collisions(p, met)
        driven = self._driven_work()
        now.ledger.add("drives", driven)
        now.ledger.add("impact", p.kinetic_energy() - before - driven)
        now.found_overlap, now.began = c.every.overlap.copy(), b.position.copy()
        bodies, walls = self._displaced(), self.walls.frame
        now.owed, now.hits, now.turned = place_at_collisions(self.team, p, met, bodies, walls, self.period, now.h, b.struck)

    def _solve_impacts(self, h: float, part: float = 1.0) -> None:
        """Velocities after the collisions, with a part of their restitution."""
        p, s, material = self.problem, self.settings, self.bodies.material
        things, restitution = self.detector.contacts.every_count // LIGHT, part * self.pairs.restitution
        self.team.run(aim_at_impacts, things, p.blocks, p.found, self._met, material, self.walls.material, restitution, self._step(h))
        self.links.begin_impact(p, h, s.impact_velocity)
        solve_impacts(p, s.impact_iterations, s.impact_tolerance * s.impact_velocity)

    def _make_ready(self, now: NonsmoothStep) -> None:
        """Targets, external impulses and warm start anew, where collisions have changed velocities."""
        if now.impacts or self.links.limits_hit:
            p, ready = self.problem, self._ready(now.h, self._late(), remeasure=True)
            self.team.run(make_ready, p.contact_count, p.arrays, self._met, self.pairs, ready)

    def _ready(self, h: float, late: float, remeasure: bool = False) -> Ready:
        """Where a solve begins; ``remeasure``: velocities have changed since the assembly."""
        s, full, asked = self.settings, self._free.full, (self.settings, self.stability.part, h, late, remeasure)
        if self._readied[0] != asked:
            aim, start = Aim(s.damping_steps, h, late, remeasure, self._pulls), start_with(s.warm_start, s.solver, self.stability.part)
            self._readied = asked, Ready(aim, start, External(self._gravity, NO_PUSHES))
        ready = self._readied[1]
        if not len(full):
            return ready
        pushes = external_pushes(self.bodies, full, self.problem.packed.inverse_inertia, self.force, h, self._gravity)
        return ready._replace(external=External(self._gravity, pushes))

    def _solve(self, now: NonsmoothStep) -> None:
        """Impulses and velocities of the whole contact problem."""
        if self.before_solve is not None:
            self.before_solve(self.problem)
        with self.problem.lent(self.detector.contacts):
            self.solve_report = self.settings.solver.solve(self.problem, step=now.number, history=self.history)
        self.left_over = self.solve_report.residual
        self.tally.add(self.solve_report, self.problem.scale, getattr(self.settings.solver, "accuracy", None) is not None)
        self.links.finish(self.problem, now.ledger)

    def _take_velocities(self, now: NonsmoothStep) -> None:
        """Velocities and impulses out of the problem, and the work of friction and of what drives the bodies."""
        p, c, free = self.problem, self.detector.contacts, self._free
        things, driven = c.every_count + len(free.order) // LIGHT, self._first_driven if self.driven else c.every_count
        walls, moves = self.bodies.wall_body_count, self.period is None and not self.bodies.may_merge and not now.impacts
        work, friction, now.fast, now.rebounding = self.team.run(
            take_velocities, things, p.arrays, self._met, free, p.momentum, driven, walls, moves, now.h
        )
        now.moved = moves and not (now.fast or now.rebounding)
        now.ledger.add("drives", work)
        now.ledger.add("friction", friction)
        if self.bodies.fixed is not None:
            self.bodies.fixed.take_motion(self.bodies)
        c.time_step = now.h

    @property
    def _first_driven(self) -> int:
        """The first contact that may be driven: with a wall, or, where grains have merged, with what a wall holds."""
        b = self.bodies
        return 0 if b.may_merge or b.fixed is not None else self.detector.contacts.pair_count

    def _driven_work(self) -> float:
        """Work [J] of driven walls, through the impulses in the blocks."""
        p = self.problem
        return float(call(driven_work, p.packed, p.blocks, p.found, self._first_driven)) if self.driven else 0.0

    def _driven_works(self) -> FloatArray:
        """(C,) of it through each contact."""
        p = self.problem
        return np.asarray(call(driven_works, p.packed, p.blocks, p.found, self._first_driven if self.driven else p.contact_count))

    def _look_ahead(self, now: NonsmoothStep) -> None:
        """How far fast grains get before they meet something that the step did not know of."""
        p, b = self.problem, self.bodies
        if len(b.dynamic):
            now.ledger.add("drives", now.h * call(power_of, b.dynamic, self.force, b.velocity))
        if now.owed is not None:
            placed, before = self._displaced(), b.velocity[b.dynamic]
            now.gained = call(return_angular_momentum, *now.owed, p.arrays, self._met, placed, self.walls.frame, self.period, b.struck)
            self.shown.count_pushed(before)
        if now.impacts or self.bodies.may_merge:  # velocities have changed since
            repeats, things = self.period is not None, b.grain_count // LIGHT
            now.fast = self.team.run(may_be_fast, things, b.arrays, b.grain_arrays, b.wall_body_count, repeats, now.h)
        if self.settings.prediction == 0.0 or not now.fast:
            return
        now.ways = find_ways(self.team, self.detector.neighbours, b, self.walls, self.period, now.h, now.began)

    def _move(self, now: NonsmoothStep) -> None:
        """Positions and orientations; contacts that rebound are put apart."""
        c, b = self.detector.contacts, self.bodies
        move_walls(b, now.h)
        if not now.moved:
            self.team.run(move_grains, b.grain_count, self._bodies_at(b.position), now.h)
        if now.turned is not None and len(now.turned):
            turn_to_collisions(now, b, self._met, self.walls.frame, self._displaced(), self.shown)
        if now.ways is not None:
            call(hold_back, now.ways, b.first_grain, now.h, b.position)
        overlap = c.every.overlap
        if now.found_overlap is not None:
            overlap = overlap.copy()
            c.every.overlap[:] = now.found_overlap
        if now.rebounding:
            self._part_rebounding(now.h, overlap)
        if b.fixed is not None:
            b.fixed.follow(b)

    def _part_rebounding(self, h: float, overlap: FloatArray) -> None:
        """``overlap`` (C,) [m] of the bodies where collisions have put them."""
        p, law, s = self.problem, self.pairs.law, self.settings
        parting = Parting.of(law, s.damping_steps, h, s.impact_velocity)
        bodies, shift, before = self._displaced(), np.zeros(self.bodies.position.shape), self.bodies.velocity[self.bodies.dynamic]
        call(part_rebounding, p.arrays, self._met, bodies, self.walls.frame, law, overlap, parting, self.period, shift)
        self.shown.count_pushed(before)

    def _measure(self, now: NonsmoothStep) -> None:
        """Energies, the fastest grain and the box around all."""
        b, contacts = self.bodies, self.detector.contacts.every_count
        self._measured = self._measured.with_room(b.grain_count, contacts)
        kinetic, potential, self.fastest, elastic, closed, deepest = self.team.run(
            measure,
            (b.grain_count + contacts) // LIGHT,
            b.arrays,
            b.grain_arrays,
            self._met,
            self.problem.found,
            self.pairs.law,
            self._measured,
        )
        own, lifted = wall_energy(b, now.gravity)
        now.found |= {
            "contacts": closed,
            "max_overlap": deepest,
            "elastic_energy": elastic,
            "kinetic_energy": kinetic + own,
            "energy": kinetic + own + (potential + lifted),
        }

    # --- services ---

    def prepare(self, h: float, gravity: FloatArray) -> int:
        """The contact problem of a step from the contacts as they are, impacts done and ready to be solved; returns how many impacted."""
        now = self.context(0, 0.0, h, gravity)
        for stage in (self._assemble_rows, self._impact, self._make_ready):
            stage(now)
        return now.impacts

    def checkpoint(self) -> dict[str, Any]:
        """All that the next step depends on besides the bodies."""
        return {
            "detector": self.detector.checkpoint(),
            "ledger": self.ledger.checkpoint(),
            **({"machines": self.machines.checkpoint()} if self.machines is not None else {}),
            "struck": self.shown.struck,
            "left_over": self.left_over,
            "solves": self.tally.checkpoint(),
            **self.stability.checkpoint(),
            **{name: part.checkpoint() for name, part in self.parts.items()},
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        for name, part in self.parts.items():
            if name in saved:
                part.restore(saved[name])
        self.shown.forget()
        self.detector.restore(saved["detector"])
        self.ledger.restore(saved["ledger"])
        self.shown.struck[:] = saved.get("struck", 0.0)  # checkpoints of older versions have none
        self.left_over = saved["left_over"]
        self.tally.restore(saved.get("solves", {}))
        if self.machines is not None:
            self.machines.restore(saved["machines"])
        self.stability.restore(saved)

    def keep(self, rows: IntArray, new_row: IntArray) -> None:
        """All grains but those in ``rows`` have left; ``new_row`` (N before,) is the new row of each, or -1."""
        self.shown.forget()
        self.detector.keep(new_row)
        for part in self.parts.values():
            part.keep(rows, new_row)
