"""Guards: a run that went wrong stops with words, or warns once, by setting."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arithmetic import dot, length, total
from ..array_types import FloatArray, IntArray
from ..checks import RunError
from ..machines.loops import contradicting_loops
from ..machines.remarks import contradictions, starts_outside, troubles
from ..nonsmooth.time_step import as_typed
from ..scene.extent import cross, endless, inner_radius, reach_from_origin
from ..scene.run_settings import Action, Guards
from ..scene.scene import Scene
from ..smooth import Smooth, SmoothStepper
from ..smooth.time_step import LEAP, impact_depth
from ..state.body_contacts import BodyContacts
from ..state.contacts import overlap_in_diameters
from ..state.energy import energy, wall_kinetic
from .coarse import Coarse, place, two_of
from .escaped import EVERY, MANY, escaped
from .meshes import mesh_remarks

if TYPE_CHECKING:
    from .simulation import Simulation


class Guard:
    """Looks at every step: finite state, world, walls, size of the step, overlap, energy."""

    def __init__(self, settings: Guards, scene: Scene) -> None:
        self.settings, self.scene = settings, scene
        self.world: tuple[np.ndarray, np.ndarray] | None = (
            (np.asarray(scene.world[0]), np.asarray(scene.world[1])) if scene.world is not None else None
        )
        self._limits: list[list[float]] | None = None  # of that world; endless along axes that repeat
        self.lowest = np.inf  # of the energy that nothing explains [J]
        self.stored = 0.0  # most elastic energy since then [J]
        self.largest_kinetic = 0.0
        self.unexplained = 0.0  # kinetic and gravitational energy less what emitters and walls brought [J]
        self.began: float | None = None  # kinetic and gravitational energy before the first step [J]; none: not known
        self.lift, self.mass = 0.0, 0.0  # m g d [J] and mass [kg] of all grains, and of bodies that touch others
        self.lifted = -1  # grains that these numbers are of
        self.told: dict[str, str] = {}  # warnings by kind, the last and worst of each
        self._coarse = Coarse(settings, scene)
        self._ends = range(scene.cell.dim if scene.cell is not None else 0, 3)  # axes that do not repeat
        self._reach = [  # of every body of the scene, and of the largest grain at it [m]
            max((math.inf if endless(wall) else reach_from_origin(wall) for wall in body.walls), default=0.0) + scene.size_range[1]
            for body in scene.all_bodies
        ]

    @property
    def warnings(self) -> list[str]:
        """What went wrong so far and did not stop the run, in words."""
        return list(self.told.values())

    def look_ahead(self, sim: Simulation) -> None:
        """Before the first step: is it too large for the speeds that the scene starts with, and does the stepper follow the scene?"""
        kinetic, potential, *_ = energy(sim.bodies, self.scene.gravity.at(0.0))
        self.began = kinetic + potential
        for kind, what in self._coarse.expected(sim):
            self._tell(sim, kind, what)
        for kind, what in sim.stepper.remarks:
            self._tell(sim, kind, what)
        if sim.stepper.machines is not None:
            machines = sim.stepper.machines
            for look in (contradictions, contradicting_loops, starts_outside):
                for kind, what in look(machines, sim.bodies):
                    self._tell(sim, kind, what)
        for kind, what in mesh_remarks(sim):
            self._tell(sim, kind, what)

    def look(self, sim: Simulation) -> None:
        """Check the state after a step."""
        if not (math.isfinite(sim.report.energy) and math.isfinite(sim.stepper.fastest)):
            self._not_finite(sim)
        self._look_at_world(sim)
        self._look_at_walls(sim)
        if isinstance(sim.settings.stepper, Smooth):
            self._look_at_leaps(sim)
        if sim.stepper.machines is not None:
            for kind, what in troubles(sim.stepper.machines, sim.time_step):
                self._tell(sim, kind, what)
        if self._coarse.may_have_news(sim):
            for kind, what in self._coarse.found(sim):
                self._tell(sim, kind, what)
        self._look_at_overlap(sim)
        if len(sim.body_contacts):
            self._look_at_bodies(sim, sim.body_contacts)
        self._look_at_energy(sim)
        for k, emission in enumerate(sim.emissions):
            if emission.stuck and f"emitter {k}" not in self.told:
                self._tell_shortage(sim, k)
        if sim.step_count % EVERY == 0 and "escaped" not in self.told:
            self._look_for_escaped(sim)

    def look_back(self, sim: Simulation) -> None:
        """At the end of a run: did all grains come that were due, and did they stay inside?"""
        self._look_for_escaped(sim)
        for k in range(len(sim.emissions)):
            self._tell_shortage(sim, k)

    def _look_for_escaped(self, sim: Simulation) -> None:
        """Have grains fallen out of the scene by the hundred?"""
        found = escaped(sim) if self.settings.on_lost != "off" else None
        if found is not None and found.grains >= MANY:
            what = (
                f"{found.words}, have fallen out of the scene: no wall and no sink is below them. Add a floor or a sink, or close the walls"
            )
            self._tell(sim, "escaped", what)

    def _tell_shortage(self, sim: Simulation, k: int) -> None:
        what = sim.emissions[k].shortage(max(0.0, sim.time - sim.time_step))  # when the last step began
        if what is not None:
            self._tell(sim, f"emitter {k}", what)
        else:
            self.told.pop(f"emitter {k}", None)

    def _not_finite(self, sim: Simulation) -> None:
        state = np.concatenate([sim.position, sim.velocity, sim.spin], axis=1)
        bad = np.flatnonzero(~np.isfinite(state).all(axis=1))
        grain = int(bad[0]) if len(bad) else -1
        name = int(sim.bodies.id[grain]) if len(bad) else -1
        touching = np.flatnonzero((sim.contacts.a == grain) | (sim.contacts.b == grain))
        contact = f", contact {touching[0]} of {sim.contacts.contact_count}" if len(touching) else ""
        self._act("stop", sim, "finite", f"the state is not finite any more: {len(bad)} grain(s), first grain {name}{contact}")

    def _look_at_world(self, sim: Simulation) -> None:
        if self.settings.on_lost == "off":
            return
        if self.world is None:
            self.world = default_world(sim)
        (low, high), ends = self.world, self._ends
        if self._limits is None:
            limits = np.array([[-np.inf] * 3, [np.inf] * 3])
            limits[:, ends] = low[ends], high[ends]
            self._limits = limits.tolist()
        ((x0, y0, z0), (x1, y1, z1)), (lowest, highest) = self._limits, sim.stepper.extent.tolist()  # numbers are quicker than arrays
        if lowest[0] < x0 or lowest[1] < y0 or lowest[2] < z0 or highest[0] > x1 or highest[1] > y1 or highest[2] > z1:
            at = sim.position
            grain = int(np.flatnonzero(((at < low) | (at > high))[:, ends].any(axis=1))[0])
            what = f"grain {sim.bodies.id[grain]} left the world, {_box(low, high)}, at {place(at[grain])}"
            self._act(self.settings.on_lost, sim, "world", what)
        for w in sim.bodies.dynamic.tolist():
            x, y, z = sim.bodies.position[w].tolist()
            if x < x0 or y < y0 or z < z0 or x > x1 or y > y1 or z > z1:
                name = self.scene.all_bodies[w].name
                self._act(
                    self.settings.on_lost,
                    sim,
                    f"body {name}",
                    f"the body {name!r} left the world, {_box(low, high)}, at {place(sim.bodies.position[w])}: nothing holds it",
                )

    def _look_at_walls(self, sim: Simulation) -> None:
        c = sim.stepper.through
        if c >= 0:
            grain, wall = int(sim.contacts.a[c]), -1 - int(sim.contacts.b[c])
            speed = speed_against_wall(sim, grain, wall)
            self._act(
                self.settings.on_lost,
                sim,
                "wall",
                f"grain {sim.bodies.id[grain]} went through wall {wall} (contact {c}) at {place(sim.position[grain])}: against the wall it "
                f"moves at {speed:.3g} m/s, {speed * sim.time_step / sim.radius[grain]:.2g} radii per step",
                self._slower(sim, speed),
            )

    def _look_at_leaps(self, sim: Simulation) -> None:
        """Smooth contacts exist only while grains overlap: one that moves half its radius in a step is found too deep, or not at all."""
        assert isinstance(sim.stepper, SmoothStepper)
        leap = sim.stepper.leap
        if leap <= LEAP:
            return
        fast = int(np.argmax(length(sim.velocity) / sim.radius))
        speed = float(length(sim.velocity[fast]))
        self._act(
            self.settings.on_lost,
            sim,
            "leap",
            f"grain {sim.bodies.id[fast]} at {place(sim.position[fast])} moves at {speed:.3g} m/s, {leap:.2g} r per step: it "
            f"may pass others and walls unseen (limit {LEAP:g} r)",
            self._slower(sim, speed),
        )

    def _slower(self, sim: Simulation, speed: float) -> str:
        """The way out for things that meet at ``speed`` [m/s]: a smaller step, stiffer grains, or both."""
        how = sim.settings.stepper
        if not isinstance(how, Smooth):
            return f"Try {self._coarse.step_at(sim, speed)}"
        deep = impact_depth(self.scene, speed)
        soft = f"stiffer grains: an impact at that speed goes up to {deep:.2g} d deep at any step" if deep > LEAP else ""
        fits = how.step_for(self.scene, speed)
        if fits < sim.time_step:
            return f"Try --time-step {as_typed(fits)}" + (f", and {soft}" if soft else "")
        return f"Try {soft or 'stiffer grains'}"

    def _look_at_overlap(self, sim: Simulation) -> None:
        smallest = self.scene.size_range[0]
        if sim.report.max_overlap <= self.settings.overlap * smallest or self.settings.on_overlap == "off":
            return
        c = sim.contacts
        part = overlap_in_diameters(c.overlap, c.a, c.b, sim.radius)
        worst = int(part.argmax())
        if part[worst] > self.settings.overlap:
            way_out = (
                "Stiffer grains help, not a smaller step: the contact law lets them in so deep"
                if isinstance(sim.settings.stepper, Smooth)
                else f"A smaller time_step helps: grains move up to {sim.stepper.fastest * sim.time_step / smallest:.2g} d per step; "
                f"try {self._coarse.smaller_step(sim, part[worst])}"
            )
            self._act(
                self.settings.on_overlap,
                sim,
                "overlap",
                f"contact {worst}, {two_of(sim, worst)}, overlaps by {part[worst]:.2f} d at {place(sim.position[c.a[worst]])} "
                f"(limit {self.settings.overlap:g} d)",
                way_out,
            )

    def _look_at_bodies(self, sim: Simulation, touching: BodyContacts) -> None:
        """Is a body so deep in another one that it may come out on the other side?"""
        part = touching.overlap / touching.radius_eff
        worst = int(part.argmax())
        if part[worst] > self.settings.overlap:
            a, b = (touching.names[side[worst]] for side in (touching.a, touching.b))
            self._act(
                self.settings.on_overlap,
                sim,
                "body overlap",
                f"the bodies {a!r} and {b!r} are {part[worst]:.2f} R* deep in each other at {place(touching.point[worst])} (limit "
                f"{self.settings.overlap:g} R*, R* = {touching.radius_eff[worst]:.3g} m)",
                "If they are pressed so deep, a stiffer material helps; if they met fast, a smaller time_step: try "
                f"{self._coarse.smaller_step(sim, part[worst])}",
            )

    def _sizes_of(self, rows: IntArray) -> FloatArray:
        """Mass [kg] and size [m] of the bodies of these rows that are neither flat nor hollow."""
        owners = [self.scene.all_bodies[row] for row in rows]
        sizes = [(owner.mass or 0.0, 2 * min(inner_radius(wall) for wall in owner.walls)) for owner in owners]
        return np.array([both for both in sizes if math.isfinite(both[1])], float).reshape(-1, 2).T

    def _look_at_energy(self, sim: Simulation) -> None:
        report, bodies = sim.report, sim.bodies
        self.unexplained = unexplained = report.energy - sim.stepper.ledger.brought
        if self.lifted != bodies.grain_count:
            inverse = bodies.inverse_mass[bodies.grains]
            yields, (mass, size) = inverse > 0, self._sizes_of(sim.stepper.touching_bodies)
            self.mass = total(1 / inverse[yields]) + total(mass)
            lifted = total(2 * sim.radius[yields] / inverse[yields]) + total(mass * size)
            self.lift = float(length(self.scene.gravity.acceleration)) * lifted
            self.lifted = bodies.grain_count
        kinetic = report.kinetic_energy - self._energy_away(sim) if len(bodies.dynamic) else report.kinetic_energy
        self.largest_kinetic = max(self.largest_kinetic, kinetic)
        if self.began is not None and self._coarse.loses_nothing(sim):
            for kind, what in self._coarse.losses(sim, self.lost(sim), self.largest_kinetic + self.lift):
                self._tell(sim, kind, what)
        if self.settings.on_energy == "off":
            return
        if unexplained < self.lowest:
            self.lowest, self.stored = unexplained, 0.0
        self.stored = max(self.stored, report.elastic_energy)  # overlaps may give this much back
        created = unexplained - self.lowest - self.stored
        limit = self.settings.energy * (self.largest_kinetic + self.lift)
        if created > limit and limit > 0:
            self.lowest, self.stored = unexplained, sim.report.elastic_energy
            self._act(
                self.settings.on_energy,
                sim,
                "energy",
                f"energy came from nothing: {created:.3g} J, more than {self.settings.energy:.0%} of kinetic energy and m g d; the fastest "
                f"{self._fastest(sim)}",
                f"More iterations or a smaller warm start help, or a smaller time_step: try --time-step {as_typed(0.5 * sim.time_step)}",
            )

    def _fastest(self, sim: Simulation) -> str:
        """Which grain that is, or body, if there are no grains, and where."""
        rows = sim.bodies.dynamic if not len(sim.velocity) else sim.bodies.first_grain + np.arange(len(sim.velocity))
        fast = int(rows[np.argmax(dot(sim.bodies.velocity[rows], sim.bodies.velocity[rows]))])
        at = place(sim.bodies.position[fast])
        if not len(sim.velocity):
            return f"body is {self.scene.all_bodies[fast].name!r} at {at}"
        return f"grain is {sim.bodies.id[fast - sim.bodies.first_grain]} at {at}"

    def lost(self, sim: Simulation) -> float:
        """Energy [J] that contacts have lost since the run began, beyond what they store.

        Velocities of the nonsmooth stepper stand half a step behind the parabola through the places of a grain that falls: with those half
        a step further on, flights keep their energy.
        """
        further = 0.0
        if not isinstance(sim.settings.stepper, Smooth):
            rows, gravity = sim.bodies.yielding_rows(), self.scene.gravity.at(max(0.0, sim.time - sim.time_step))
            further = 0.5 * sim.time_step * total(dot(sim.bodies.velocity[rows], gravity) / sim.bodies.inverse_mass[rows])
        return (self.began or 0.0) - self.unexplained - further - sim.report.elastic_energy

    def _energy_away(self, sim: Simulation) -> float:
        """Kinetic energy [J] of the dynamic bodies that no grain can reach and no other touches: it says nothing about the contacts."""
        low, high = sim.stepper.extent.tolist()
        touching, away = sim.body_contacts, []
        touched = {*touching.a.tolist(), *touching.b.tolist()}
        for w in sim.bodies.dynamic.tolist():
            x, reach = sim.bodies.position[w].tolist(), self._reach[w]
            if w not in touched and any(x[f] < low[f] - reach or x[f] > high[f] + reach for f in self._ends):
                away.append(w)
        return wall_kinetic(sim.bodies, np.array(away, np.int32)) if away else 0.0

    def _act(self, action: Action, sim: Simulation, kind: str, what: str, way_out: str = "") -> None:
        """Stop, or warn once; the way out comes last, where it is looked for."""
        more = f" {way_out}." if way_out else ""
        if action == "stop":
            raise RunError(f"{_when(sim)}: {what}. Last checkpoint: {sim.last_checkpoint or 'none'}.{more}")
        if action == "warn" and kind not in self.told:
            self._tell(sim, kind, f"{what}.{more}".removesuffix("."))

    def _tell(self, sim: Simulation, kind: str, what: str) -> None:
        """Warn once of a kind; the last is kept."""
        message = f"{_when(sim)}: {what}."
        if kind not in self.told:
            warnings.warn(message, RuntimeWarning, stacklevel=5)
        self.told[kind] = message

    def checkpoint(self) -> dict[str, Any]:
        world = self.world if self.world is not None else (np.zeros(0), np.zeros(0))
        return {
            "lowest": float(self.lowest),
            "stored": self.stored,
            "largest_kinetic": self.largest_kinetic,
            "began": math.nan if self.began is None else self.began,
            "low": world[0],
            "high": world[1],
            "told": dict(self.told),
            "coarse": self._coarse.checkpoint(),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        self.lowest, self.stored, self.largest_kinetic = saved["lowest"], saved["stored"], saved["largest_kinetic"]
        self.began = None if math.isnan(saved["began"]) else saved["began"]
        self.world = (saved["low"], saved["high"]) if len(saved["low"]) else None
        self._limits = None
        self.told = dict(saved["told"])
        self._coarse.restore(saved["coarse"])


def speed_against_wall(sim: Simulation, grain: int, wall: int) -> float:
    """Of a grain relative to the wall where the two meet [m/s]."""
    w = int(sim.stepper.walls.frame[wall])
    arm = sim.wrapped_position[grain] - sim.bodies.position[w]
    return float(length(sim.velocity[grain] - sim.bodies.velocity[w] - cross(sim.bodies.spin[w], arm)))


def _box(low: np.ndarray, high: np.ndarray) -> str:
    return f"({', '.join(f'{v:.4g}' for v in low)}) to ({', '.join(f'{v:.4g}' for v in high)}) m"


def _when(sim: Simulation) -> str:
    return f"t = {sim.time:.6g} s (step {sim.step_count})"


def default_world(sim: Simulation) -> tuple[np.ndarray, np.ndarray]:
    """A hundred times the box that holds all finite walls, sources and grains, and ten thousand diameters at least."""
    points = [sim.position.min(axis=0, initial=np.inf), sim.position.max(axis=0, initial=-np.inf)] if sim.grain_count else []
    for owner in sim.scene.all_bodies:  # whichever way they turn
        reach = max((reach_from_origin(wall) for wall in owner.walls), default=0.0)
        points += [np.asarray(owner.position) - reach, np.asarray(owner.position) + reach]
    rng = np.random.default_rng(0)
    for emitter in sim.scene.emitters:
        points += list(emitter.source.points(rng, 64))
    low, high = np.min(points, axis=0), np.max(points, axis=0)
    half = np.maximum(100 * np.max(high - low), 10_000 * sim.scene.size_range[1]) / 2
    middle = (low + high) / 2
    return middle - half, middle + half
