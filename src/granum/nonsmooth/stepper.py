"""The nonsmooth step: big steps, rigid contacts with friction, solved as one complementarity problem (WS Algorithm 1)."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from time import perf_counter
from typing import Any, Literal

import numpy as np

from ..arithmetic import dot, length
from ..array_types import FloatArray, IntArray
from ..detection.detector import Detector
from ..detection.images import in_cell, period_of
from ..detection.prediction import Ahead
from ..detection.walls import MOST_LOOK, WallTable, surface_velocity
from ..detection.ways import hold_back, may_be_fast, times_to_pairs, times_to_walls
from ..parallel import LIGHT, ONE, Team
from ..records import NonNegative, Positive, Record, Sweeps
from ..reduction import Reduction
from ..scene.scene import Scene
from ..state.bodies import KINEMATIC, Bodies
from ..state.contacts import Contacts
from ..state.energy import energy
from ..state.report import StepReport
from .assemble import Aim, assemble, elastic_energy
from .collision_times import place_at_collisions, return_angular_momentum
from .groups import BodyArrays, Met, Step, WallArrays
from .impact import Parting, aim_at_impacts, part_rebounding, solve_impacts
from .integrate import External, move_bodies
from .kinds.every import driven_work
from .problem import Problem
from .pull import net_impulses
from .ready import make_ready
from .reduced import Reduced, velocities
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


class NonsmoothStepper:
    """Advances bodies by one step at a time; every line of ``step`` is a stage with its own module and timer."""

    def __init__(self, scene: Scene, bodies: Bodies, settings: Nonsmooth, team: Team = ONE) -> None:
        self.scene, self.bodies, self.settings, self.team = scene, bodies, settings, team
        self.pairs = scene.pair_table()
        self.walls = WallTable.build(scene.all_bodies, scene.material_index, (1 + MOST_LOOK) * scene.size_range[1] / 2)
        self.period = period_of(scene.cell)
        self.detector = Detector(self.walls, team, self.period)
        self.problem = Problem(bool((self.pairs.rolling_friction > 0).any()), settings.friction, team)
        self.belts = bool(self.walls.surface_velocity.any())
        self.driven = bool((bodies.kind == KINEMATIC).any()) or self.belts
        self.work = 0.0
        self.stability = StabilityGuard()
        self.left_over = 0.0  # residual of the last solve [m/s]
        self.fastest = 0.0  # grain speed after the last step [m/s]
        self.extent = np.zeros((2, 3))  # box around all grain centres after the last step [m]
        self.history = False
        self._shift = np.zeros((0, 3))  # room to work in
        self._found_overlap = np.zeros(0)  # before collisions moved the start of the step [m]
        self._owed = (np.zeros(0, np.int32), np.zeros((0, 3)))  # contacts and their angular momentum [N m s]
        self._struck = np.zeros(0)  # when in this step bodies are hit [s]
        self._shown: Contacts | None = None
        self.before_solve: Callable[[Problem], None] | None = None  # looks at the problem of every step
        self.solve_report = SolveReport(iterations=0, residual=0.0, converged=True)
        self.reduced = Reduced(self, settings.reduction) if settings.reduction is not None else None

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

    def _ahead(self, h: float, gravity: FloatArray) -> Ahead | None:
        """How far this step looks ahead."""
        time = self.settings.prediction * h
        if time == 0.0:
            return None
        g = float(length(gravity))
        return Ahead(self.bodies.velocity, self.bodies.spin, h, time, g * time * h, self.settings.impact_velocity)

    def step(self, number: int, time: float, h: float, gravity: FloatArray) -> StepReport:
        """Advance from ``time`` by ``h`` [s] under ``gravity`` [m/s^2]."""
        clock = [perf_counter()]
        tick = lambda: clock.append(perf_counter())  # noqa: E731
        if self.reduced is not None:
            self.work += self.reduced.begin(h)
        contacts = self.detector.detect(self.bodies, h, self._ahead(h, gravity))
        self._shown = None
        self._struck = np.zeros(len(self.bodies.position))
        if self.reduced is not None:
            self.reduced.refine(h, gravity)
        tick()
        impacts = self.prepare(h, gravity, tick)
        if self.before_solve is not None:
            self.before_solve(self.problem)
        self.solve_report = self.settings.solver.solve(self.problem, step=number, history=self.history)
        self.left_over = self.solve_report.residual
        tick()
        self._count_work()
        self.problem.unpack(self.bodies, contacts, self.detector.order)
        contacts.time_step = h
        if self.reduced is not None:
            self._merge(h)
        for w in self.bodies.dynamic:
            self.work += h * float(dot(self.scene.all_bodies[w].force, self.bodies.velocity[w]))
        if impacts:
            self._return_angular_momentum()
        ways = self._follow_fast(h)
        move_bodies(self.team, self.bodies, h, self.reduced.bound_walls if self.reduced is not None else ())
        if ways is not None:
            hold_back(*ways, self.bodies.wall_body_count, h, self.bodies.position)
        if self.reduced is not None:
            self.work += self.reduced.aggregates.move(self.team, h, gravity)
        if impacts:
            self._found_overlap, contacts.overlap[:] = contacts.overlap.copy(), self._found_overlap
        self._part_rebounding(h, self._found_overlap if impacts else contacts.overlap)
        tick()
        detection, assembly, impact, aim, solve, integrate = (b - a for a, b in pairwise(clock))
        kinetic, potential, self.fastest, self.extent = energy(self.bodies, gravity, self.team)
        return StepReport(
            step=number,
            time=time + h,
            contacts=contacts.closed_count(),
            impacts=impacts,
            iterations=self.solve_report.iterations,
            residual=self.solve_report.residual,
            max_overlap=float(contacts.overlap.max(initial=0.0)),
            elastic_energy=elastic_energy(
                self.team, contacts.overlap, self.problem.found.stiffness, self.problem.found.radius_eff, self.pairs.law
            ),
            kinetic_energy=kinetic,
            energy=kinetic + potential,
            **self._reduction(),
            seconds={
                "detection": detection,
                "assembly": assembly + aim,
                "impact": impact,
                "solve": solve,
                "integrate": integrate,
            },
        )

    def _return_angular_momentum(self) -> None:
        p, met, bodies = self.problem, Met.of(self.detector.contacts), BodyArrays.of(self.bodies)
        return_angular_momentum(*self._owed, p.blocks, p.found, met, bodies, self.walls.body, self.period, self._struck)

    def _follow_fast(self, h: float) -> tuple[FloatArray, FloatArray, IntArray] | None:
        """How long of this step (N,) [s] each grain goes before it meets something that the step did not solve, which part of its
        velocity (N, 3) [m/s] it loses from then on, and what it waits for (N,); None if nothing is fast."""
        b, near = self.bodies, self.detector.neighbours
        if self.settings.prediction == 0.0 or not may_be_fast(b.velocity, b.spin, b.wall_body_count, b.radius, h):
            return None
        ways = np.full(b.grain_count, h), np.zeros((b.grain_count, 3)), np.full(b.grain_count, -1, np.int32)
        times_to_pairs(
            near.order,
            near.candidate_first,
            near.candidate,
            near.sphere,
            b.position,
            b.velocity,
            b.wall_body_count,
            b.radius,
            b.movable,
            self._struck,
            self.period,
            h,
            *ways,
        )
        times_to_walls(
            in_cell(b.position, b.wall_body_count, self.period),
            b.orientation,
            b.velocity,
            b.spin,
            b.movable,
            b.wall_body_count,
            b.radius,
            self._struck,
            self.walls,
            h,
            *ways,
        )
        return ways

    def _merge(self, h: float) -> None:
        assert self.reduced is not None
        if self.problem.full_bodies is not None:
            self.reduced.take(self.problem.full_bodies)
        self.work += self.reduced.merge(h)

    def _reduction(self) -> dict[str, Any]:
        """How far the model is reduced, for the report."""
        r = self.reduced
        return {} if r is None else {"reduction_level": r.level, "free_grains": r.free_grains, "aggregates": len(r.aggregates.alive)}

    def try_out(self, h: float, gravity: FloatArray, iterations: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Solve the contacts as they are without taking the step: velocities and spins of grains by slot, then of dynamic walls; and
        impulses (C, 7)."""
        self._assemble(h)
        self._make_ready(h, gravity, remeasure=False)
        self.settings.solver.for_trial(iterations).solve(self.problem, measure=False)
        impulse = np.empty((self.problem.contact_count, 7))
        self.problem.read_impulses(impulse)
        packed = self.problem.packed
        return *velocities(packed.body, packed.first_full + len(self.bodies.dynamic)), impulse

    def prepare(self, h: float, gravity: FloatArray, tick: Callable[[], None] = lambda: None) -> int:
        """The contact problem of this step, impacts done and ready to be solved; returns how many contacts impacted."""
        impacts, square = self._assemble(h)
        self.problem.accuracy = self._accuracy(gravity, math.sqrt(square))
        tick()
        if impacts:
            self._impact(h)
        tick()
        # Contacts of the first step may be as deep as they are placed; later, what is met late was hit in the step before.
        late = self.settings.impact_velocity if self.detector.last.contact_count else math.inf
        self._make_ready(h, gravity, impacts > 0, late)
        tick()
        return impacts

    def _accuracy(self, gravity: FloatArray, speed: float) -> float:
        """Residual [m/s] at which a solve may stop; ``speed`` [m/s] is that at which contacts approach and part."""
        g = float(length(gravity))
        fall = math.sqrt(g * self.scene.size_range[0]) if g > 0.0 else self.settings.impact_velocity
        return AT_REST * fall + IN_MOTION * speed * min(1.0, speed / (FLOWING * fall))

    def _step(self, h: float) -> Step:
        return Step(h, self.settings.impact_velocity, 2.0 * self.left_over)

    def _assemble(self, h: float) -> tuple[int, float]:
        """Returns how many contacts impact, and the mean square of the separation speeds [m^2/s^2]."""
        d, p, b, c = self.detector, self.problem, self.bodies, self.detector.contacts
        p.soften(self.settings.regularisation / h)
        aggregates = self.reduced.full_bodies() if self.reduced is not None else None
        p.pack(b, c, self.walls, d.order, d.slot, d.same, aggregates)
        bodies, step = BodyArrays.of(b, d.place), self._step(h)
        walls = WallArrays.of(self.walls, surface_velocity(self.walls, b.orientation) if self.belts else self.walls.surface_velocity)
        found: tuple[int, float] = self.team.run(
            assemble, c.contact_count, p.packed, p.blocks, p.levers, p.found, Met.of(c), bodies, walls, self.pairs, step
        )
        return found

    def _impact(self, h: float) -> None:
        p, c, b = self.problem, self.detector.contacts, self.bodies
        met, bodies, things = Met.of(c), BodyArrays.of(b), c.contact_count // LIGHT
        restitution = self.pairs.restitution
        self.team.run(aim_at_impacts, things, p.blocks, p.found, met, b.material, self.walls.material, restitution, self._step(h))
        solve_impacts(p, self.settings.impact_iterations, self.settings.impact_tolerance * self.settings.impact_velocity)
        self._count_work()
        self._found_overlap = c.overlap.copy()
        self._owed = place_at_collisions(
            p.blocks, p.levers, p.found, met, bodies, self.walls.body, self.period, h, self._room_for_shift(), self._struck
        )

    def _room_for_shift(self) -> FloatArray:
        if len(self._shift) < len(self.bodies.position):
            self._shift = np.zeros((len(self.bodies.position) * 5 // 4, 3))
        return self._shift

    def _make_ready(self, h: float, gravity: FloatArray, remeasure: bool, late: float = math.inf) -> None:
        """Targets, external impulses and warm start. ``late`` [m/s]: the speed beyond which contacts that have no past are taken to be met
        late."""
        p, c, s = self.problem, self.detector.contacts, self.settings
        aim = Aim(s.damping_steps, h, late, remeasure, self.scene.law.pulls)
        start = start_with(s.warm_start, s.solver, self.stability.part)
        external = External(np.ascontiguousarray(gravity, np.float64), self._external_pushes(h, gravity))
        self.team.run(make_ready, c.contact_count, p.packed, p.blocks, p.levers, p.found, Met.of(c), self.pairs, aim, start, external)

    def _external_pushes(self, h: float, gravity: FloatArray) -> FloatArray:
        """(F, 6) changes of velocity [m/s] and spin [rad/s] of the bodies with full inertia by gravity and other forces."""
        p, b = self.problem, self.bodies
        pushes = np.zeros((p.packed.yielding - p.packed.first_full, 6))
        for k, w in enumerate(b.dynamic):
            pushes[k, :3] = h * (gravity + b.inverse_mass[w] * np.asarray(self.scene.all_bodies[w].force))
        if self.reduced is not None and p.full_bodies is not None:
            first = len(b.dynamic)
            pushes[first:, :3], pushes[first:, 3:] = self.reduced.push(h, gravity, p.full_bodies)
        return pushes

    def _count_work(self) -> None:
        """Work of driven walls, for the energy guard."""
        p, c = self.problem, self.detector.contacts
        first = c.pair_count if self.reduced is None else 0
        if self.driven and c.contact_count > first:
            self.work += driven_work(p.packed, p.blocks, p.found, first)

    def _part_rebounding(self, h: float, overlap: FloatArray) -> None:
        """``overlap`` (C,) [m] of the bodies where collisions have put them."""
        p, c, law = self.problem, self.detector.contacts, self.pairs.law
        if not c.rebound.any():
            return
        tau = max(self.settings.damping_steps * h, law.dissipation / law.exponent)
        rate = 4.0 / (1.0 + 4.0 * tau / h) / law.exponent
        part_rebounding(
            p.packed,
            p.blocks,
            p.levers,
            p.found,
            Met.of(c),
            BodyArrays.of(self.bodies),
            self.walls.body,
            law,
            overlap,
            Parting(rate, h, 0.02 * self.settings.impact_velocity),
            self.period,
            self._room_for_shift(),
        )

    def checkpoint(self) -> dict[str, Any]:
        """All that the next step depends on besides the bodies."""
        return {
            "detector": self.detector.checkpoint(),
            "work": self.work,
            "left_over": self.left_over,
            "reused_part": self.stability.part,
            "reused_limit": self.stability.limit,
            "last_energy": float(self.stability.energy),
            **({"reduced": self.reduced.checkpoint()} if self.reduced is not None else {}),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        if self.reduced is not None and "reduced" in saved:
            self.reduced.restore(saved["reduced"])
        self._shown = None
        self.detector.restore(saved["detector"])
        self.work, self.left_over = saved["work"], saved["left_over"]
        s = self.stability
        s.part, s.limit, s.energy = saved["reused_part"], saved["reused_limit"], saved["last_energy"]

    def keep(self, rows: IntArray, new_row: IntArray) -> None:
        """All grains but those in ``rows`` have left; ``new_row`` (N before,) is the new row of each, or -1."""
        self._shown = None
        self.detector.keep(new_row)
        if self.reduced is not None:
            self.reduced.keep(rows, new_row)
