"""The nonsmooth step: big steps, rigid contacts with friction, solved as one complementarity problem (WS Algorithm 1)."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from time import perf_counter
from typing import Any, Literal

import numpy as np

from ..arithmetic import dot, length, times, total
from ..array_types import FloatArray, IntArray
from ..detection.detector import Detector
from ..detection.images import in_cell, period_of
from ..detection.prediction import NOTHING_AHEAD, Ahead
from ..detection.surfaces import MOST_LOOK
from ..detection.wall_table import WallTable, surface_velocity
from ..detection.ways import Ways, hold_back, may_be_fast, times_to_pairs, times_to_walls
from ..parallel import LIGHT, ONE, Team
from ..records import NonNegative, Positive, Record, Sweeps
from ..reduction import Reduction
from ..reduction.merged import Merged
from ..reduction.reducer import Reducer
from ..reduction.trial import Solved
from ..scene.scene import Scene
from ..state.bodies import KINEMATIC, Bodies
from ..state.contacts import Contacts
from ..state.energy import energy
from ..state.report import StepReport
from .assemble import aim_at_rest, assemble_rows, clear_impulses, elastic_energy, mean_square, place_walls
from .blocks import BODY, LANES
from .collision_times import place_at_collisions, return_angular_momentum
from .impact import aim_at_impacts, part_rebounding
from .impact_sweeps import solve_impacts
from .integrate import add_external_impulse, move_bodies, wall_work
from .levers import place_levers
from .problem import Problem
from .pull import net_impulses, pull_together
from .solvers import PGS, Solver, SolveReport
from .time_step import automatic_step
from .warm_start import HistoryStart, ModelStart, StabilityGuard, WarmStart, model_impulses, start_from

# Accuracy of a solve that is given no number of sweeps: its residual [m/s] as a part of
AT_REST = 2e-5  # the speed sqrt(g d) of a fall of half a diameter (a settling bed creeps by a few times this, one at rest by far less),
IN_MOTION = 0.03  # the speed at which grains approach and part (root mean square over the contacts), where they flow:
FLOWING = 0.003  # where that speed is this part of sqrt(g d); slower beds are solved more as if at rest, to which they come


class Nonsmooth(Record):
    """Settings of the nonsmooth stepper."""

    name: Literal["nonsmooth"] = "nonsmooth"
    solver: Solver = PGS()
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


def trial_solver(solver: Any, iterations: int) -> PGS:
    """Sweeps like the run's own, or plain ones if it has none."""
    return solver.model_copy(update={"iterations": iterations, "tolerance": 0.0}) if isinstance(solver, PGS) else PGS(iterations=iterations)


class NonsmoothStepper:
    """Advances bodies by one step at a time; every line of ``step`` is a stage with its own module and timer."""

    def __init__(self, scene: Scene, bodies: Bodies, settings: Nonsmooth, team: Team = ONE) -> None:
        self.scene, self.bodies, self.settings, self.team = scene, bodies, settings, team
        self.pairs = scene.pair_table()
        self.walls = WallTable.build(scene.all_bodies, scene.material_index, (1 + MOST_LOOK) * scene.size_range[1] / 2)
        self.period = period_of(scene.cell)
        self.detector = Detector(self.walls, team, self.period)
        self.problem = Problem(bool((self.pairs.rolling_friction > 0).any()), team)
        self.force = np.array([o.force for o in scene.all_bodies], float).reshape(-1, 3)  # (W, 3) on the bodies of the scene [N]
        self.driven = bool((bodies.kind == KINEMATIC).any() or self.walls.surface_velocity.any())
        self.work = 0.0
        self.stability = StabilityGuard()
        self.left_over = 0.0  # residual of the last solve [m/s]
        self.fastest = 0.0  # grain speed after the last step [m/s]
        self.extent = np.zeros((2, 3))  # box around all grain centres after the last step [m]
        self.history = False
        self._shift = np.zeros((0, 3))  # room to work in
        self._found_overlap = np.zeros(0)  # before collisions moved the start of the step [m]
        self._owed = (np.zeros(0, np.int32), np.zeros((0, 3)))  # contacts and their angular momentum [N m s]
        self._shown: Contacts | None = None
        self.before_solve: Callable[[Problem], None] | None = None  # looks at the problem of every step
        self.solve_report = SolveReport(iterations=0, residual=0.0, converged=True)
        self.reduced: Merged | None = None
        if settings.reduction is not None:
            self.reduced = Merged(scene, bodies, self.walls, self.detector, settings.reduction)
            self.reducer = Reducer(self.reduced, self.pairs.friction, self.solve_contacts)

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

    def _ahead(self, h: float, gravity: FloatArray) -> Ahead:
        """How far this step looks ahead."""
        time = self.settings.prediction * h
        if time == 0.0:
            return NOTHING_AHEAD
        g = float(length(gravity))
        return Ahead(h, time, g * time * h, self.settings.impact_velocity)

    def step(self, number: int, time: float, h: float, gravity: FloatArray) -> StepReport:
        """Advance from ``time`` by ``h`` [s] under ``gravity`` [m/s^2]."""
        clock = [perf_counter()]
        tick = lambda: clock.append(perf_counter())  # noqa: E731
        if self.reduced is not None:
            self.work += self.reducer.follow(h)
        contacts = self.detector.detect(self.bodies, h, self._ahead(h, gravity))
        self._shown = None
        self.bodies.struck[:] = 0.0
        if self.reduced is not None:
            self.reducer.split(h, gravity)
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
            self.work += self.reducer.merge(h)
        pushed = self.bodies.dynamic
        if len(pushed):
            self.work += h * total(dot(self.force[pushed], self.bodies.velocity[pushed]))
        if impacts:
            self._return_angular_momentum()
        ways = self._follow_fast(h)
        if self.reduced is not None:
            self.work += self.reducer.move(self.team, h, gravity)
        move_bodies(self.team, self.bodies, h)
        if ways is not None:
            hold_back(ways, self.bodies.first_grain, h, self.bodies.position)
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
            elastic_energy=elastic_energy(self.team, contacts.overlap, self.problem.stiffness, self.problem.radius_eff, self.pairs.law),
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
        p, c, b = self.problem, self.detector.contacts, self.bodies
        return_angular_momentum(
            *self._owed,
            c.a,
            c.b,
            c.normal,
            p.place,
            c.impulse,
            p.fields,
            p.data,
            self.bodies.struck,
            b.first_grain,
            self.walls.frame,
            b.yielding,
            b.radius,
            self.period,
            b.position,
            b.velocity,
            b.spin,
        )

    def _follow_fast(self, h: float) -> Ways | None:
        """How long of this step grains go before they meet something that the step did not solve; None if nothing is fast."""
        b, near = self.bodies, self.detector.neighbours
        if self.settings.prediction == 0.0 or not may_be_fast(b.arrays, b.grain_arrays, b.wall_body_count, h):
            return None
        ways = Ways(np.full(b.grain_count, h), np.zeros((b.grain_count, 3)), np.full(b.grain_count, -1, np.int32))
        yielding = b.yielding
        times_to_pairs(near.arrays, b.arrays, b.grain_arrays, yielding, self.bodies.struck, self.period, h, ways)
        at = b.arrays if self.period is None else b.arrays._replace(position=in_cell(b.position, b.first_grain, self.period))
        times_to_walls(at, b.grain_arrays, yielding, self.bodies.struck, self.walls, h, ways)
        return ways

    def _reduction(self) -> dict[str, Any]:
        """How far the model is reduced, for the report."""
        r = self.reduced
        return {} if r is None else {"reduction_level": r.level, "free_grains": r.free_grains, "aggregates": len(r.aggregates.alive)}

    def solve_contacts(self, h: float, gravity: FloatArray, iterations: int) -> Solved:
        """Solve the contacts as they are found without taking the step."""
        self._assemble(h)
        self._aim_at_rest(h, remeasure=False)
        self._add_external_impulse(h, gravity)
        self._warm_start(h)
        p, b = self.problem, self.bodies
        trial_solver(self.settings.solver, iterations).solve(p, measure=False)
        impulse = np.empty((p.contact_count, 7))
        p.read_impulses(impulse)
        packed = p.body[: p.yielding * BODY].reshape(-1, BODY)
        rows = np.concatenate([b.first_grain + self.detector.order, p.pushed]).astype(np.int32)
        return Solved(rows, packed[:, :3].copy(), packed[:, 3:6] * packed[:, 7:8], impulse)

    def prepare(self, h: float, gravity: FloatArray, tick: Callable[[], None] = lambda: None) -> int:
        """The contact problem of this step, impacts done and ready to be solved; returns how many contacts impacted."""
        impacts = self._assemble(h)
        self.problem.accuracy = self._accuracy(gravity)
        tick()
        if impacts:
            self._impact(h)
        tick()
        # Contacts of the first step may be as deep as they are placed; later, what is met late was hit in the step before.
        self._aim_at_rest(h, impacts > 0, self.settings.impact_velocity if self.detector.last.contact_count else math.inf)
        self._add_external_impulse(h, gravity)
        self._warm_start(h)
        tick()
        return impacts

    def _accuracy(self, gravity: FloatArray) -> float:
        """Residual [m/s] at which a solve may stop."""
        g = float(length(gravity))
        fall = math.sqrt(g * self.scene.size_range[0]) if g > 0.0 else self.settings.impact_velocity
        speed = math.sqrt(mean_square(self.problem.gap_rate))
        return AT_REST * fall + IN_MOTION * speed * min(1.0, speed / (FLOWING * fall))

    def _assemble(self, h: float) -> int:
        d, p, b, c = self.detector, self.problem, self.bodies, self.detector.contacts
        p.soft_t = self.settings.regularisation / h
        p.pack(b, c, self.walls, d.order, d.slot, d.same)
        serial_start = p.colour_blocks * LANES
        if c.contact_count > c.pair_count:
            self.team.run(
                place_walls,
                (c.contact_count - c.pair_count) // LIGHT,
                c.a,
                c.b,
                c.normal,
                c.overlap,
                c.pair_count,
                p.place,
                p.slot_b,
                serial_start,
                p.first_full,
                p.first_wall_slot,
                self.walls.frame,
                surface_velocity(self.walls, b.orientation),
                d.place,
                b.velocity,
                b.spin,
                b.radius,
                b.first_grain,
                self.settings.impact_velocity,
                h,
                p.body,
                p.lever,
                p.full,
            )
        if (p.pushed >= b.wall_body_count).any() and p.one_by_one:
            centre = b.position[p.pushed]
            self.team.run(
                place_levers,
                p.one_by_one,
                p.contact_at,
                serial_start,
                c.a,
                c.b,
                c.normal,
                c.overlap,
                p.slot_a,
                p.slot_b,
                p.first_full,
                p.first_wall_slot,
                centre,
                b.position,
                b.radius,
                b.first_grain,
                p.lever,
                p.full,
            )
        t = self.pairs
        return self.team.run(
            assemble_rows,
            c.contact_count,
            c.a,
            c.b,
            c.normal,
            c.overlap,
            p.slot_a,
            p.slot_b,
            p.place,
            b.radius,
            b.material,
            self.walls.material,
            t.stiffness,
            t.friction,
            t.rolling_friction,
            t.law,
            p.fields,
            serial_start,
            p.lever,
            p.full,
            p.inverse_inertia,
            p.soft_t,
            c.impulse,
            self.settings.impact_velocity,
            2.0 * self.left_over,
            h,
            p.body,
            p.data,
            p.stiffness,
            p.radius_eff,
            p.weight,
            p.gap_rate,
        )

    def _impact(self, h: float) -> None:
        p, c = self.problem, self.detector.contacts
        self.team.run(
            aim_at_impacts,
            c.contact_count // LIGHT,
            c.a,
            c.b,
            c.overlap,
            p.place,
            p.weight,
            p.gap_rate,
            self.bodies.material,
            self.walls.material,
            self.pairs.restitution,
            c.impulse,
            self.settings.impact_velocity,
            2.0 * self.left_over,
            h,
            p.fields,
            c.rebound,
            p.data,
        )
        self.team.run(clear_impulses, c.contact_count // LIGHT, p.place, p.fields, p.data)
        self.team.run(
            solve_impacts,
            c.contact_count,
            p.gap_rate,
            p.weight,
            p.lane_a,
            p.lane_b,
            p.contact_at,
            p.fields,
            p.colour_block,
            p.full_first,
            p.first_wall_slot,
            p.lever,
            p.full,
            p.inverse_inertia,
            self.settings.solver.friction == "box",
            self.settings.impact_iterations,
            self.settings.impact_tolerance * self.settings.impact_velocity,
            np.zeros(p.first_wall_slot, np.int8),
            np.zeros(p.colour_blocks + p.one_by_one, np.bool_),
            p.body,
            p.data,
            p.body_before,
            p.before,
            p.sums,
        )
        self._count_work()
        b = self.bodies
        self._found_overlap = c.overlap.copy()
        self._owed = place_at_collisions(
            c.a,
            c.b,
            c.normal,
            p.place,
            p.gap_rate,
            c.rebound,
            p.fields,
            p.data,
            p.colour_blocks * LANES,
            p.lever,
            b.first_grain,
            self.walls.frame,
            b.yielding,
            b.radius,
            self.period,
            h,
            b.velocity,
            self._room_for_shift(),
            c.overlap,
            b.position,
            self.bodies.struck,
        )

    def _room_for_shift(self) -> FloatArray:
        if len(self._shift) < len(self.bodies.position):
            self._shift = np.zeros((len(self.bodies.position) * 5 // 4, 3))
        return self._shift

    def _aim_at_rest(self, h: float, remeasure: bool, late: float = math.inf) -> None:
        """``late`` [m/s]: the speed beyond which contacts that have no past are taken to be met late."""
        p, c = self.problem, self.detector.contacts
        self.team.run(
            aim_at_rest,
            c.contact_count,
            c.overlap,
            c.normal,
            c.impulse,
            p.slot_a,
            p.slot_b,
            p.place,
            p.stiffness,
            p.radius_eff,
            p.weight,
            p.gap_rate,
            remeasure,
            p.body,
            p.lever,
            p.full,
            p.colour_blocks * LANES,
            p.fields,
            self.pairs.law,
            self.settings.damping_steps,
            h,
            late,
            c.rebound,
            p.data,
        )

    def _add_external_impulse(self, h: float, gravity: FloatArray) -> None:
        p = self.problem
        self.team.run(add_external_impulse, p.first_full // LIGHT, p.body, p.first_full, gravity[0], gravity[1], gravity[2], h)
        if len(p.pushed):
            packed = p.body[p.first_full * BODY : p.yielding * BODY].reshape(-1, BODY)
            pushed, turned = self._push_on_bodies(h, gravity)
            packed[:, :3] += pushed
            packed[:, 3:6] += turned
        if self.scene.law.pulls:
            c, serial_start = self.detector.contacts, p.colour_blocks * LANES
            pull_together(
                c.overlap,
                c.normal,
                p.radius_eff,
                p.slot_a,
                p.slot_b,
                p.place,
                serial_start,
                p.lever,
                p.full,
                p.inverse_inertia,
                self.pairs.law,
                h,
                p.body,
            )

    def _push_on_bodies(self, h: float, gravity: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(n, 3) changes of velocity [m/s] and spin [rad/s] that gravity and forces bring to the bodies with full inertia."""
        p, b = self.problem, self.bodies
        own = p.pushed < b.wall_body_count
        pushed, turned = np.tile(h * gravity, (len(p.pushed), 1)), np.zeros((len(p.pushed), 3))
        rows = p.pushed[own]
        pushed[own] = h * (gravity + b.inverse_mass[rows, None] * self.force[rows])
        inside = b.dynamic[b.member_of[b.dynamic] != b.dynamic]  # forces on the parts of an aggregate push it
        for w in inside[self.force[inside].any(axis=1)]:
            k = int(np.searchsorted(p.pushed, b.member_of[w]))
            row = p.pushed[k]
            pushed[k] += h * b.inverse_mass[row] * self.force[w]
            turned[k] += h * times(p.inverse_inertia[k], np.cross(b.position[w] - b.position[row], self.force[w]))
        return pushed, turned

    def _warm_start(self, h: float) -> None:
        p, c, start = self.problem, self.detector.contacts, self.settings.warm_start
        serial_start = p.colour_blocks * LANES
        part = 1.0
        if isinstance(start, HistoryStart):
            part = start.part_for(self.settings.solver, self.stability.part)
        elif isinstance(start, ModelStart):
            self.team.run(
                model_impulses,
                c.contact_count,
                c.overlap,
                p.stiffness,
                p.slot_a,
                p.slot_b,
                p.place,
                p.fields,
                serial_start,
                p.lever,
                p.full,
                p.body,
                p.data,
                self.pairs.law,
                p.soft_t,
                h,
                c.impulse,
            )
        else:
            self.team.run(clear_impulses, c.contact_count // LIGHT, p.place, p.fields, p.data)
            return
        self.team.run(
            start_from,
            c.contact_count,
            c.impulse,
            part,
            start.normals_only,
            p.lane_a,
            p.lane_b,
            p.contact_at,
            p.fields,
            p.colour_block,
            p.full_first,
            p.lever,
            p.full,
            p.inverse_inertia,
            start.update_velocity,
            p.body,
            p.data,
        )

    def _count_work(self) -> None:
        """Work of driven walls, for the energy guard."""
        p, c = self.problem, self.detector.contacts
        first = c.pair_count if self.reduced is None else 0
        if self.driven and c.contact_count > first:
            self.work += wall_work(first, p.first_wall_slot, p.slot_a, p.slot_b, p.place, c.normal, p.fields, p.data, p.body)

    def _part_rebounding(self, h: float, overlap: FloatArray) -> None:
        """``overlap`` (C,) [m] of the bodies where collisions have put them."""
        p, c, b, law = self.problem, self.detector.contacts, self.bodies, self.pairs.law
        if not c.rebound.any():
            return
        tau = max(self.settings.damping_steps * h, law.dissipation / law.exponent)
        rate = 4.0 / (1.0 + 4.0 * tau / h) / law.exponent
        part_rebounding(
            c.a,
            c.b,
            c.normal,
            overlap,
            c.overlap,
            c.impulse,
            p.stiffness,
            p.slot_a,
            p.slot_b,
            p.place,
            p.colour_blocks * LANES,
            p.lever,
            p.full,
            p.body,
            self.walls.frame,
            law,
            rate,
            h,
            0.02 * self.settings.impact_velocity,
            b.first_grain,
            b.yielding,
            b.radius,
            self.period,
            self._room_for_shift(),
            c.rebound,
            b.position,
            b.velocity,
            b.spin,
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
            **({"reduced": self.reducer.checkpoint()} if self.reduced is not None else {}),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        if self.reduced is not None and "reduced" in saved:
            self.reducer.restore(saved["reduced"])
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
            self.reducer.keep(rows, new_row)
