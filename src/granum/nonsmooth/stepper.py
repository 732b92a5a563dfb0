"""The nonsmooth step: big steps, rigid contacts with friction, solved as one complementarity problem (WS Algorithm 1)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ..arithmetic import dot, times, total
from ..array_types import FloatArray, IntArray
from ..detection.built_in import bodies_that_touch
from ..detection.detector import Detector
from ..detection.images import in_cell, period_of
from ..detection.prediction import NOTHING_AHEAD, Ahead
from ..detection.surfaces import MOST_LOOK
from ..detection.wall_table import WallTable, surface_velocity
from ..detection.ways import Ways, hold_back, may_be_fast, times_to_pairs, times_to_walls
from ..kernel_groups import call
from ..parallel import LIGHT, ONE, Team
from ..records import NonNegative, Positive, Record, Sweeps
from ..reduction import Reduction
from ..reduction.merged import Merged
from ..reduction.reducer import Reducer
from ..reduction.trial import Solved
from ..scene.grid import grid_origin
from ..scene.scene import Scene
from ..state.bodies import KINEMATIC, Bodies
from ..state.body_contacts import BodyContacts
from ..state.contacts import Contacts
from ..state.energy import energy
from ..state.ledger import Ledger
from ..state.motion import turn_besides
from ..state.report import StepReport
from ..state.stages import Stage, StepContext, run_stages
from .assemble import Aim, assemble, elastic_energy
from .blocks import BODY
from .collision_times import place_at_collisions, return_angular_momentum
from .groups import FreeBodies, Met, Step, WallArrays
from .impact import Parting, aim_at_impacts, part_rebounding, solve_impacts
from .integrate import External, move_bodies
from .kinds.every import driven_work
from .problem import Problem
from .pull import net_impulses
from .ready import make_ready
from .solvers import PGS, AnySolver, SolveReport
from .time_step import automatic_step
from .warm_start import HistoryStart, StabilityGuard, WarmStart, start_with

# Accuracy of a solve that is given no number of sweeps: its residual [m/s] as a part of
AT_REST = 2e-5  # the speed sqrt(g d) of a fall of half a diameter (a settling bed creeps by a few times this, one at rest by far less),
IN_MOTION = 0.03  # the speed at which grains approach and part (root mean square over the contacts), where they flow:
FLOWING = 0.003  # where that speed is this part of sqrt(g d); slower beds are solved more as if at rest, to which they come


class Nonsmooth(Record):
    """Settings of the nonsmooth stepper."""

    name: Literal["nonsmooth"] = "nonsmooth"
    solver: AnySolver = PGS()
    friction: Literal["cone", "box"] = "cone"
    """``cone`` bounds the length of the tangential impulse; ``box`` bounds each of its components (SN 2.3.2)."""
    warm_start: WarmStart = HistoryStart()
    impact_velocity: NonNegative = 0.05
    """v_imp [m/s]: faster approaches rebound with restitution."""
    impact_iterations: Sweeps = 200
    """Most sweeps of an impact stage."""
    impact_tolerance: NonNegative = 0.1
    """The impact stage is solved when no velocity changes by more than this part of ``impact_velocity`` in a sweep; where few grains are
    hit, by more than a hundredth of it."""
    prediction: NonNegative = 1.0
    """Steps over which grains that approach slowly are followed: a gap that closes in this time is a contact before it does. Collisions
    (faster than ``impact_velocity``) are those that the step itself brings about. 0: contacts only while grains overlap, as in the
    papers."""
    damping_steps: Positive = 2.0
    """n_s: overlaps relax over at least this many steps."""
    regularisation: Positive = 1e-6
    """gamma_t = gamma_r (physics 2)."""
    reduction: Reduction | None = None
    """Merge grains that move as one; none: every grain is always solved."""

    def step_for(self, scene: Scene) -> float:
        """The automatic step [s] of a scene (``time_step.py``)."""
        return automatic_step(scene).seconds


@dataclass
class NonsmoothStep(StepContext):
    """What the stages of a nonsmooth step tell each other."""

    impacts: int = 0
    """Contacts that collide in this step."""
    found_overlap: FloatArray = field(default_factory=lambda: np.zeros(0))
    """(C,) [m] before collisions moved the start of the step."""
    owed: list[Any] = field(default_factory=lambda: [np.zeros(0, np.int32), np.zeros((0, 3))])
    """Contacts (K,), and the angular momentum (K, 3) [N m s] that each is to be given after the solve."""
    turned: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))
    """(F, 3) [rad] by which bodies that are no grains end the step turned besides, since they collided inside of it; empty: none does."""
    ways: Ways | None = None
    """How far grains go before they meet something that the step did not solve; none: nothing is fast."""


class NonsmoothStepper:
    """Advances bodies by one step at a time: ``stages`` are those of WS Algorithm 1, with model reduction those of MR Algorithm 1."""

    def __init__(self, scene: Scene, bodies: Bodies, settings: Nonsmooth, team: Team = ONE) -> None:
        self.scene, self.bodies, self.settings, self.team = scene, bodies, settings, team
        self.pairs = scene.pair_table()
        largest = scene.size_range[1] or scene.finest  # without grains meshes are met by bodies alone
        self.walls = WallTable.build(scene.all_bodies, scene.material_index, (1 + MOST_LOOK) * largest / 2)
        self.period = period_of(scene.cell)
        self.detector = Detector(self.walls, team, self.period, grid_origin(scene))
        self.detector.shapes, self.remarks = bodies_that_touch(scene, self.walls, self.pairs)
        self.problem = Problem(bool((self.pairs.rolling_friction > 0).any()), settings.friction, team)
        self.force = np.array([owner.force for owner in scene.all_bodies], float).reshape(-1, 3)  # (W, 3) on bodies of the scene [N]
        self.belts = bool(self.walls.surface_velocity.any())
        self.driven = bool((bodies.kind == KINEMATIC).any()) or self.belts
        self.ledger = Ledger(losses=True)
        self.stability = StabilityGuard()
        self.left_over = 0.0  # residual of the last solve [m/s]
        self.fastest = 0.0  # grain speed after the last step [m/s]
        self.extent = np.zeros((2, 3))  # box around all grain centres after the last step [m]
        self.history = False
        self._shift = np.zeros((0, 3))  # room to work in
        self._shown: Contacts | None = None
        self._shown_bodies: BodyContacts | None = None
        self._names = tuple(body.name for body in scene.all_bodies)
        self.before_solve: Callable[[Problem], None] | None = None  # looks at the problem of every step
        self.solve_report = SolveReport(iterations=0, residual=0.0, converged=True)
        self.stages = [
            Stage("detection", self._detect),  # overlaps, normals, what contacts carried
            Stage("assembly", self._assemble_rows),  # G, Sigma and the bounds
            Stage("impact", self._impact),  # velocities after the collisions of this step
            Stage("assembly", self._make_ready),  # targets, external impulses, warm start
            Stage("solve", self._solve),  # impulses and velocities
            Stage("integrate", self._take_velocities),
            Stage("integrate", self._look_ahead),  # who is too fast for the contacts that were found
            Stage("integrate", self._move),  # positions
            Stage("measure", self._measure),  # energies
        ]
        self.merged: Merged | None = None
        if settings.reduction is not None:
            self._add_reduction(settings.reduction)

    def _add_reduction(self, policy: Reduction) -> None:
        """The stages that merge and split grains, between those of every step."""
        self.merged = Merged(self.scene, self.bodies, self.walls, self.detector, policy)
        self.reducer = r = Reducer(self.merged, self.pairs.friction, self.solve_contacts)
        detect, *prepare, take, ahead, move, measure = self.stages
        self.stages = [
            Stage("follow", lambda now: now.ledger.add("drives", r.follow(now.h))),
            detect,
            Stage("split", lambda now: r.split(now.h, now.gravity)),
            *prepare,
            take,
            Stage("merge", lambda now: now.ledger.add("drives", r.merge(now.h))),
            ahead,
            Stage("integrate", lambda now: now.ledger.add("drives", r.move(self.team, now.h, now.gravity))),
            move,
            measure,
            Stage("measure", lambda now: now.found.update(r.facts())),
        ]

    def step(self, number: int, time: float, h: float, gravity: FloatArray) -> StepReport:
        """Advance from ``time`` by ``h`` [s] under ``gravity`` [m/s^2]."""
        now = self._context(number, time, h, gravity)
        run_stages(self.stages, now)
        return StepReport(
            step=number,
            time=time + h,
            impacts=now.impacts,
            iterations=self.solve_report.iterations,
            residual=self.solve_report.residual,
            seconds=now.seconds,
            **now.found,
        )

    def _context(self, number: int, time: float, h: float, gravity: FloatArray) -> NonsmoothStep:
        gravity = np.ascontiguousarray(gravity, np.float64)
        x, y, z = gravity.tolist()
        return NonsmoothStep(number, time, h, gravity, self.ledger, math.sqrt(x * x + y * y + z * z))

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
        if self._shown is None:
            self._shown = c = self.detector.contacts.closed()
            if self.scene.law.pulls:
                net_impulses(c.a, c.b, c.overlap, self.bodies.radius, self.pairs.law, c.time_step, c.impulse)
        return self._shown

    @property
    def body_contacts(self) -> BodyContacts:
        """Contacts between bodies of the last step that touch or push, with its forces."""
        if self._shown_bodies is None:
            c, shapes = self.detector.contacts, self.detector.shapes
            radius = shapes.inverse_radius if shapes is not None else np.zeros(len(self.walls.frame))
            self._shown_bodies = BodyContacts.of(c, self.walls.frame, radius, self._names)
        return self._shown_bodies

    # --- the stages ---

    def _detect(self, now: NonsmoothStep) -> None:
        """Who touches whom, or is about to."""
        self._shown = None
        if self.detector.shapes is not None:
            self._shown_bodies = None
        self.bodies.struck[:] = 0.0
        self.detector.detect(self.bodies, now.h, self._ahead(now.h, now.pull))

    def _ahead(self, h: float, pull: float) -> Ahead:
        """How far this step looks ahead."""
        time = self.settings.prediction * h
        if time == 0.0:
            return NOTHING_AHEAD
        return Ahead(h, time, pull * time * h, self.settings.impact_velocity)

    def _assemble_rows(self, now: NonsmoothStep) -> None:
        """All of the contact problem that velocities do not change, and how accurately it is to be solved."""
        now.impacts, square = self._assemble(now.h)
        self.problem.accuracy = self._accuracy(now.pull, math.sqrt(square))

    def _accuracy(self, g: float, speed: float) -> float:
        """Residual [m/s] at which a solve may stop; ``speed`` [m/s] is that at which contacts approach and part."""
        fall = math.sqrt(g * self.scene.finest) if g > 0.0 else self.settings.impact_velocity
        return AT_REST * fall + IN_MOTION * speed * min(1.0, speed / (FLOWING * fall))

    def _assemble(self, h: float) -> tuple[int, float]:
        """Returns how many contacts impact, and the mean square of the separation speeds [m^2/s^2]."""
        d, p, b, c = self.detector, self.problem, self.bodies, self.detector.contacts
        p.soften(self.settings.regularisation / h)
        p.pack(b, c, self.walls, d.order, d.slot, d.same)
        belts = surface_velocity(self.walls, b.orientation) if self.belts else self.walls.surface_velocity
        walls = WallArrays.of(self.walls, belts, d.shapes)
        bodies = FreeBodies.of(b, d.place)
        found: tuple[int, float] = self.team.run(
            assemble, c.every_count, p.packed, p.blocks, p.levers, p.found, Met.of(c), bodies, walls, self.pairs, self._step(h)
        )
        return found

    def _step(self, h: float) -> Step:
        return Step(h, self.settings.impact_velocity, 2.0 * self.left_over)

    def _impact(self, now: NonsmoothStep) -> None:
        """Velocities after the collisions of this step, and bodies where it must start for its end to be right."""
        if not now.impacts:
            return
        p, c, b, s = self.problem, self.detector.contacts, self.bodies, self.settings
        met, things, restitution = Met.of(c), c.every_count // LIGHT, self.pairs.restitution
        before, driven = p.kinetic_energy(), now.ledger.joules["drives"]
        self.team.run(aim_at_impacts, things, p.blocks, p.found, met, b.material, self.walls.material, restitution, self._step(now.h))
        solve_impacts(p, s.impact_iterations, s.impact_tolerance * s.impact_velocity)
        self._count_work(now.ledger)
        now.ledger.add("impact", p.kinetic_energy() - before - (now.ledger.joules["drives"] - driven))
        now.found_overlap = c.every.overlap.copy()
        *now.owed, now.turned = call(
            place_at_collisions,
            p.packed,
            p.blocks,
            p.levers,
            p.found,
            met,
            FreeBodies.of(b),
            self.walls.frame,
            self.period,
            now.h,
            self._room_for_shift(),
            b.struck,
        )

    def _make_ready(self, now: NonsmoothStep) -> None:
        """Targets, external impulses and warm start."""
        # Contacts of the first step may be as deep as they are placed; later, what is met late was hit in the step before.
        late = self.settings.impact_velocity if self.detector.last.every_count else math.inf
        self._ready(now.h, now.gravity, now.impacts > 0, late)

    def _ready(self, h: float, gravity: FloatArray, remeasure: bool, late: float = math.inf) -> None:
        """``late`` [m/s]: the speed beyond which contacts that have no past are taken to be met late."""
        p, c, s = self.problem, self.detector.contacts, self.settings
        aim = Aim(s.damping_steps, h, late, remeasure, self.scene.law.pulls)
        start = start_with(s.warm_start, s.solver, self.stability.part)
        external = External(gravity, self._external_pushes(h, gravity))
        self.team.run(make_ready, c.every_count, p.packed, p.blocks, p.levers, p.found, Met.of(c), self.pairs, aim, start, external)

    def _external_pushes(self, h: float, gravity: FloatArray) -> FloatArray:
        """(F, 6) changes of velocity [m/s] and spin [rad/s] of the bodies with full inertia by gravity and other forces."""
        p, b, rows = self.problem, self.bodies, self.problem.pushed
        pushes = np.zeros((len(rows), 6))
        if not len(rows):
            return pushes
        own = rows < b.wall_body_count
        pushes[:, :3] = h * gravity
        pushes[own, :3] = h * (gravity + b.inverse_mass[rows[own], None] * self.force[rows[own]])
        inside = b.dynamic[b.member_of[b.dynamic] != b.dynamic]  # forces on the parts of an aggregate push it
        for w in inside[self.force[inside].any(axis=1)]:
            k = int(np.searchsorted(rows, b.member_of[w]))
            arm = b.position[w] - b.position[rows[k]]
            pushes[k, :3] += h * b.inverse_mass[rows[k]] * self.force[w]
            pushes[k, 3:] += h * times(p.packed.inverse_inertia[k], np.cross(arm, self.force[w]))
        return pushes

    def _solve(self, now: NonsmoothStep) -> None:
        """Impulses and velocities of the whole contact problem."""
        if self.before_solve is not None:
            self.before_solve(self.problem)
        self.solve_report = self.settings.solver.solve(self.problem, step=now.number, history=self.history)
        self.left_over = self.solve_report.residual

    def _take_velocities(self, now: NonsmoothStep) -> None:
        """Velocities and impulses out of the problem, and the work of what drives the bodies."""
        c, b = self.detector.contacts, self.bodies
        self._count_work(now.ledger)
        now.ledger.add("friction", self.problem.friction_work())
        self.problem.unpack(b, c, self.detector.order)
        c.time_step = now.h

    def _count_work(self, ledger: Ledger) -> None:
        """Work of driven walls, through the impulses in the blocks."""
        p, c = self.problem, self.detector.contacts
        first = c.pair_count if self.merged is None else 0  # what they hold drives others
        if self.driven and c.every_count > first:
            ledger.add("drives", call(driven_work, p.packed, p.blocks, p.found, first))

    def _look_ahead(self, now: NonsmoothStep) -> None:
        """How far fast grains get before they meet something that the step did not know of."""
        b, c, near = self.bodies, self.detector.contacts, self.detector.neighbours
        if len(b.dynamic):
            now.ledger.add("drives", now.h * total(dot(self.force[b.dynamic], b.velocity[b.dynamic])))
        if now.impacts:
            bodies = FreeBodies.of(b)
            p, met, walls = self.problem, Met.of(c), self.walls.frame
            call(return_angular_momentum, *now.owed, p.packed, p.blocks, p.levers, p.found, met, bodies, walls, self.period, b.struck)
        if self.settings.prediction == 0.0 or not call(may_be_fast, b.arrays, b.grain_arrays, b.wall_body_count, now.h):
            return
        now.ways = Ways(np.full(b.grain_count, now.h), np.zeros((b.grain_count, 3)), np.full(b.grain_count, -1, np.int32))
        yielding = b.yielding
        call(times_to_pairs, near.arrays, b.arrays, b.grain_arrays, yielding, b.struck, self.period, now.h, now.ways)
        at = b.arrays if self.period is None else b.arrays._replace(position=in_cell(b.position, b.first_grain, self.period))
        call(times_to_walls, at, b.grain_arrays, yielding, b.struck, self.walls, now.h, now.ways)

    def _move(self, now: NonsmoothStep) -> None:
        """Positions and orientations; contacts that rebound are put apart."""
        c, b = self.detector.contacts, self.bodies
        move_bodies(self.team, b, now.h)
        if len(now.turned):
            turn_besides(b, now.turned)
        if now.ways is not None:
            call(hold_back, now.ways, b.first_grain, now.h, b.position)
        overlap = c.every.overlap
        if now.impacts:
            now.found_overlap, overlap[:] = overlap.copy(), now.found_overlap
        self._part_rebounding(now.h, now.found_overlap if now.impacts else overlap)

    def _part_rebounding(self, h: float, overlap: FloatArray) -> None:
        """``overlap`` (C,) [m] of the bodies where collisions have put them."""
        p, c, law = self.problem, self.detector.contacts, self.pairs.law
        if not np.count_nonzero(c.every.rebound):
            return
        tau = max(self.settings.damping_steps * h, law.dissipation / law.exponent)
        rate = 4.0 / (1.0 + 4.0 * tau / h) / law.exponent
        call(
            part_rebounding,
            p.packed,
            p.blocks,
            p.levers,
            p.found,
            Met.of(c),
            FreeBodies.of(self.bodies),
            self.walls.frame,
            law,
            overlap,
            Parting(rate, h, 0.02 * self.settings.impact_velocity),
            self.period,
            self._room_for_shift(),
        )

    def _measure(self, now: NonsmoothStep) -> None:
        """Energies, the fastest grain and the box around all."""
        c, f = self.detector.contacts, self.problem.found
        kinetic, potential, self.fastest, self.extent = energy(self.bodies, now.gravity, self.team)
        closed, deepest = c.closed_and_deepest()
        now.found |= {
            "contacts": closed,
            "max_overlap": deepest,
            "elastic_energy": elastic_energy(self.team, c.every.overlap, f.stiffness, f.radius_eff, c.contact_count, self.pairs.law),
            "kinetic_energy": kinetic,
            "energy": kinetic + potential,
        }

    def _room_for_shift(self) -> FloatArray:
        if len(self._shift) < len(self.bodies.position):
            self._shift = np.zeros((len(self.bodies.position) * 5 // 4, 3))
        return self._shift

    # --- services ---

    def prepare(self, h: float, gravity: FloatArray) -> int:
        """The contact problem of a step from the contacts as they are, impacts done and ready to be solved; returns how many impacted."""
        now = self._context(0, 0.0, h, gravity)
        for stage in (self._assemble_rows, self._impact, self._make_ready):
            stage(now)
        return now.impacts

    def solve_contacts(self, h: float, gravity: FloatArray, iterations: int) -> Solved:
        """Solve the contacts as they are found, and leave all bodies as they are."""
        self._assemble(h)
        self._ready(h, gravity, remeasure=False)
        p, b = self.problem, self.bodies
        self.settings.solver.for_trial(iterations).solve(p, measure=False)
        impulse = np.empty((p.contact_count, 7))
        p.read_impulses(impulse)
        packed = p.packed.body[: p.packed.yielding * BODY].reshape(-1, BODY)
        rows = np.concatenate([b.first_grain + self.detector.order, p.pushed]).astype(np.int32)
        return Solved(rows, packed[:, :3].copy(), packed[:, 3:6] * packed[:, 7:8], impulse)

    def checkpoint(self) -> dict[str, Any]:
        """All that the next step depends on besides the bodies."""
        return {
            "detector": self.detector.checkpoint(),
            "ledger": self.ledger.checkpoint(),
            "left_over": self.left_over,
            "reused_part": self.stability.part,
            "reused_limit": self.stability.limit,
            "last_energy": float(self.stability.energy),
            **({"reduced": self.reducer.checkpoint()} if self.merged is not None else {}),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        if self.merged is not None and "reduced" in saved:
            self.reducer.restore(saved["reduced"])
        self._shown = self._shown_bodies = None
        self.detector.restore(saved["detector"])
        self.ledger.restore(saved["ledger"])
        self.left_over = saved["left_over"]
        s = self.stability
        s.part, s.limit, s.energy = saved["reused_part"], saved["reused_limit"], saved["last_energy"]

    def keep(self, rows: IntArray, new_row: IntArray) -> None:
        """All grains but those in ``rows`` have left; ``new_row`` (N before,) is the new row of each, or -1."""
        self._shown = None
        self.detector.keep(new_row)
        if self.merged is not None:
            self.reducer.keep(rows, new_row)
