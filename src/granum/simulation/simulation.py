"""A simulation: a scene, its state in time, and the stages that carry it forward."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from ..arithmetic import dot, total
from ..array_types import FloatArray, IntArray, LongArray
from ..checks import InputError, Named, expect, finite_positive, steps_in
from ..detection.detector import Detector
from ..extensions.base import Shadow
from ..machines import JointView
from ..memory import tell_of_bed
from ..nonsmooth import NonsmoothStepper
from ..observe.protocol import Observer
from ..parallel import Team
from ..scene.scene import Scene
from ..smooth import Smooth, SmoothStepper
from ..state.bodies import STATE, Bodies
from ..state.body_contacts import BodyContacts
from ..state.contacts import Contacts
from ..state.energy import energy
from ..state.ledger import Ledger
from ..state.report import StepReport
from .ahead import compile_ahead
from .body_view import BodyView
from .counting import Counted, Counting
from .emission import Emission
from .guards import Guard, default_world
from .making import fix_grains, make_bodies
from .meshes import check_meshes
from .placement import check_cell, check_placement
from .regulation import Regulation
from .removal import Removal
from .settings import Layer, Settings, make_settings
from .stepper import Stepper
from .threads import threads_of


class Simulation:
    """A run that can be stepped, watched and changed from Python.

    ``position``, ``velocity``, ``spin`` (N, 3), ``orientation`` (N, 4) are writable views of the grains' state; take them anew
    after grains were emitted or taken out. In a cell positions run on when a grain leaves it through a face; ``wrapped_position``
    lie inside.
    ``callbacks`` are called with the simulation after every step; ``observers`` start, observe
    and finish.
    """

    def __init__(self, scene: Scene, settings: Layer | None = None, *, bodies: Bodies | None = None, **fields: Any) -> None:
        """``fields`` are those of :class:`Settings`, over ``settings``; what neither sets is as the scene asks, or the default."""
        expect("scene", scene, Scene)
        self.scene = scene
        self.settings = make_settings(scene.run, settings or {}, fields)
        self.bodies = make_bodies(scene) if bodies is None else bodies
        fix_grains(scene, self.bodies)
        self._driven = [w for w, owner in enumerate(scene.all_bodies) if owner.is_driven]
        for w in self._driven:
            scene.all_bodies[w].path  # noqa: B018 a function that is not known is refused here
        if bodies is None and self.bodies.grain_count == 0 and not scene.emitters and not len(self.bodies.dynamic):
            raise InputError("the scene has no grains and no emitter, nor a dynamic body: add grains, a lattice or an emitter.")
        check_cell(scene)
        if bodies is None:
            check_meshes(scene)
        for extension in self.settings.extensions:
            extension.check(scene)
        self.time_step = finite_positive("time_step", self.settings.step_for(scene), "s")
        self.threads = threads_of(self.settings.threads, scene, self.settings.duration)
        self.stepper: Stepper = self._make_stepper()
        if isinstance(self.stepper, NonsmoothStepper):
            compile_ahead(self.stepper, self.time_step)
        self.emissions = [
            Emission(e, scene.materials[scene.material_index[e.material]].density, scene.material_index[e.material]) for e in scene.emitters
        ]
        self.removal = Removal(scene.sinks)
        self.counting = Counting(scene.counters)
        self.regulation = Regulation(scene)
        self.step_count = 0
        self.callbacks: list[Callable[[Simulation], None]] = []
        self.observers: list[Observer] = []
        self.sums: dict[str, dict[str, np.ndarray]] = {}  # what recorders have summed up since their last frame
        self.guard = Guard(self.settings.guards, scene)
        self.report = StepReport(step=0, time=0.0, contacts=0, impacts=0, iterations=0, residual=0.0, max_overlap=0.0)
        self.shadow: Shadow | None = None  # a run beside this one, if an extension asks for it
        for part in self.stepper.parts.values():
            self.report.more |= part.at_start()
            self.shadow = self.shadow or part.shadow()
        self.stage_seconds: dict[str, float] = {}
        self.wall_seconds = 0.0
        self.last_checkpoint: str | None = None
        self.last_step = 0  # where the run is to end
        self.whole = True  # the last step was finished and found sound: it may be saved
        self.ended_by: BaseException | None = None
        self.stop_reason: str | None = None
        if bodies is None:
            for extension in self.settings.extensions:
                extension.check_start(self)
            check_placement(self.bodies, Detector(self.stepper.walls, period=self.stepper.period), self.settings.relax)
            self.guard.look_ahead(self)
            tell_of_bed(self.grain_count)

    def _make_stepper(self) -> Stepper:
        how = self.settings.stepper
        if isinstance(how, Smooth):
            return SmoothStepper(self.scene, self.bodies, how, self.time_step, Team(self.threads))
        return NonsmoothStepper(self.scene, self.bodies, how, Team(self.threads))

    @property
    def nonsmooth(self) -> NonsmoothStepper:
        """The stepper of a run that takes big steps, with its detector and contact problem; InputError of any other run."""
        if not isinstance(self.stepper, NonsmoothStepper):
            raise InputError(f"the stepper {self.settings.stepper.name!r} solves no contact problem: take the stepper 'nonsmooth'.")
        return self.stepper

    @property
    def time(self) -> float:
        """[s]"""
        return self.step_count * self.time_step

    @property
    def grain_count(self) -> int:
        return self.bodies.grain_count

    @property
    def position(self) -> FloatArray:
        return self.bodies.position[self.bodies.grains]

    @property
    def wrapped_position(self) -> FloatArray:
        """(N, 3) [m] in the scene's cell; without one the positions themselves."""
        return self.position if self.scene.cell is None else self.scene.cell.wrap(self.position)

    @property
    def velocity(self) -> FloatArray:
        return self.bodies.velocity[self.bodies.grains]

    @property
    def spin(self) -> FloatArray:
        return self.bodies.spin[self.bodies.grains]

    @property
    def orientation(self) -> FloatArray:
        return self.bodies.orientation[self.bodies.grains]

    @property
    def radius(self) -> FloatArray:
        """(N,) [m]; not to be written: masses and the neighbour list would not follow."""
        view = self.bodies.radius[:]
        view.flags.writeable = False
        return view

    @property
    def world(self) -> tuple[np.ndarray, np.ndarray]:
        """Two corners (3,) [m] of the box that grains must not leave: the scene's, or one far around all that is there now."""
        return self.guard.world if self.guard.world is not None else default_world(self)

    @property
    def warnings(self) -> list[str]:
        """What the guards found and let pass so far, the worst of each kind."""
        return self.guard.warnings

    @property
    def ledger(self) -> Ledger:
        """Where the energy of the run came from [J]."""
        return self.stepper.ledger

    @property
    def taken_out(self) -> int:
        """Grains that sinks have taken out so far; ``removal`` has numbers and masses of each sink."""
        return int(self.removal.count.sum())

    @property
    def counters(self) -> Named[Counted]:
        """What sinks and counters have seen since the start of the run, by name: ``sim.counters["outlet"].mass``."""
        return Named("sink or counter", self.removal.found(self.bodies, self.stepper.period) | self.counting.found)

    @property
    def contacts(self) -> Contacts:
        """Contacts of the last step with the forces it found."""
        found, cell = self.stepper.contacts, self.scene.cell
        found.time_step = self.time_step
        found.look_at(self.bodies, None if cell is None else cell.wrap)
        return found

    def body(self, name: str) -> BodyView:
        """A body of the scene by its name, ``ground`` too: where it is, how it moves, and what grains did to it in the last step."""
        row = self.scene.body_number(name)
        return BodyView(self.scene.all_bodies[row], row, self.bodies, self.stepper, self.time_step)

    @property
    def body_contacts(self) -> BodyContacts:
        """Contacts of the last step between bodies that touch with their walls, with the forces it found."""
        return self.stepper.body_contacts

    def joint(self, name: str) -> JointView:
        """A joint by its name: coordinate, speed, forces of the last step, and the target of its motor."""
        machines = self.stepper.machines
        if machines is None:
            raise InputError(f"there is no joint {name!r}: the scene has none.")
        return JointView(machines, machines.number(name), self.bodies, self.time_step)

    @property
    def joint_drift(self) -> float:
        """How far [m, rad] the worst joint was from its place at the start of the last step; 0 without joints."""
        return self.stepper.machines.drift if self.stepper.machines is not None else 0.0

    def step(self) -> StepReport:
        """One time step: take out, emit, drive the walls, set the motors, detect, impact, solve, move; then the guards look."""
        h, time = self.time_step, self.time
        self.whole = False
        if self.shadow is not None:
            self.shadow.before_step(self)
        if self.scene.sinks:
            self._take_out(self.scene.gravity.at(max(0.0, time - h)))
        for emission in self.emissions:
            count = emission.emit(self.bodies, self.stepper.walls, time, self.stepper.period)
            if count:
                new = np.arange(self.grain_count - count, self.grain_count)
                self.ledger.add("emitted", self._energy_of(new, self.scene.gravity.at(time)))
        self._drive_walls(time, h)
        self.regulation.set_motors(self.joint, time, h)
        gravity = self.scene.gravity.at(time)
        if self.scene.gravity.ramp > 0.0:
            change = gravity - self.scene.gravity.at(max(0.0, time - h))
            if change.any():
                self.ledger.add("gravity", -self._lift(self.bodies.yielding_rows(), change))
        if self.scene.counters:
            self.counting.before_step(self.bodies)
        self.report = self.stepper.step(self.step_count, time, h, gravity)
        self.step_count += 1
        if self.scene.counters:
            self.counting.after_step(self.bodies, self.stepper.period)
        for stage, seconds in self.report.seconds.items():
            self.stage_seconds[stage] = self.stage_seconds.get(stage, 0.0) + seconds
        self.guard.look(self)
        x, y, z = gravity.tolist()  # numbers are quicker than arrays of three
        fall = 0.5 * self.guard.mass * (x * x + y * y + z * z) * h * h
        self.stepper.watch_energy(self.guard.unexplained, self.report.kinetic_energy, fall)
        if self.shadow is not None:
            self.shadow.after_step(self)
        self.whole = True
        if self.callbacks:
            self._call_back(gravity)
        return self.report

    def _call_back(self, gravity: FloatArray) -> None:
        """Callbacks may push grains: the energy they bring is not from nothing."""
        b, driven = self.bodies, self._driven
        before, motion = energy(b, gravity), np.concatenate([b.velocity[driven], b.spin[driven]])
        for callback in self.callbacks:
            callback(self)
        for w, changed in zip(driven * 2, np.concatenate([b.velocity[driven], b.spin[driven]]) != motion, strict=True):
            if changed.any():
                raise InputError(
                    f"a callback has written the velocity or spin of body {self.scene.all_bodies[w].name!r}, which its motion decides: "
                    "leave the motion of this body out, and it keeps what callbacks give it."
                )
        after = energy(b, gravity)
        self.ledger.add("callbacks", (after[0] - before[0]) + (after[1] - before[1]))

    def run(self, duration: float) -> Simulation:
        """Step on for ``duration`` [s] (to the nearest whole step), with the observers looking."""
        return self.run_until(self.step_count + steps_in(duration, self.time_step))

    def run_until(self, last_step: int) -> Simulation:
        """Step on until that many steps are done, or an observer says stop."""
        self.last_step, self.stop_reason, self.ended_by = last_step, None, None
        began = perf_counter() - self.wall_seconds
        started: list[Any] = []
        try:
            for observer in self.observers:
                observer.start(self)
                started.append(observer)
            while self.step_count < last_step and self.stop_reason is None:
                self.step()
                before = perf_counter()
                for observer in self.observers:
                    observer.observe(self)
                now = perf_counter()
                self.stage_seconds["output"] = self.stage_seconds.get("output", 0.0) + now - before
                self.wall_seconds = now - began
            self.guard.look_back(self)
        except BaseException as error:
            self.ended_by = error
            raise
        finally:
            self._finish(started)
        return self

    def stop(self, reason: str) -> None:
        """End the run after this step; observers call it."""
        self.stop_reason = reason

    def _finish(self, observers: list[Any]) -> None:
        """Let every observer close its files, whatever happens to the others."""
        failed: Exception | None = None
        for observer in observers:
            try:
                observer.finish(self)
            except Exception as error:
                failed = failed or error
        if failed is not None and self.ended_by is None:
            raise failed

    def _drive_walls(self, time: float, h: float) -> None:
        """Velocities of the driven bodies over this step; one without a motion keeps its own."""
        b = self.bodies
        for w in self._driven:
            b.velocity[w], b.spin[w] = self.scene.all_bodies[w].drive(time, h, b.position[w], b.orientation[w])
        if b.fixed is not None:
            b.fixed.take_motion(b)

    def _take_out(self, gravity: FloatArray) -> None:
        """Grains that leave through a sink take their energy with them; ``gravity`` [m/s^2] is that of the last step."""
        gone = self.removal.due(self.bodies, self.step_count, self.stepper.period)
        if not len(gone):
            return
        self.ledger.add("removed", -self._energy_of(gone, gravity))
        self.guard.lifted = -1
        stays = np.ones(self.grain_count, bool)
        stays[gone] = False
        rows = np.flatnonzero(stays).astype(np.int32)
        new_row = np.full(self.grain_count, -1, np.int32)
        new_row[rows] = np.arange(len(rows), dtype=np.int32)
        self.bodies.keep(rows)
        self.stepper.keep(rows, new_row)

    def _energy_of(self, grains: IntArray | LongArray, gravity: FloatArray) -> float:
        """Kinetic and gravitational energy [J] of some grains that yield."""
        b, part = self.bodies, self.bodies.first_grain + grains
        mass, v, surface = 1 / b.inverse_mass[part], b.velocity[part], b.radius[grains, None] * b.spin[part]
        return total(0.5 * mass * (dot(v, v) + 0.4 * dot(surface, surface))) - self._lift(part, gravity)

    def _lift(self, part: slice | IntArray | LongArray, gravity: FloatArray) -> float:
        """Sum of m g.x [J] over the bodies of a part that yield."""
        inverse = self.bodies.inverse_mass[part]
        mass = np.divide(1.0, inverse, out=np.zeros_like(inverse), where=inverse > 0)
        return total(mass * dot(self.bodies.position[part], gravity))

    def checkpoint(self) -> dict[str, Any]:
        """Everything the rest of the run depends on."""
        names = (*STATE, "radius", "material", "id")
        return {
            "step_count": self.step_count,
            "bodies": {name: getattr(self.bodies, name) for name in names}
            | {"next_id": self.bodies.next_id, "first_grain": self.bodies.first_grain},
            "stepper": self.stepper.checkpoint(),
            "emissions": {str(k): e.checkpoint() for k, e in enumerate(self.emissions)},
            "removal": self.removal.checkpoint(),
            **({"counting": self.counting.checkpoint()} if self.scene.counters else {}),
            "regulation": self.regulation.checkpoint(),
            "guard": self.guard.checkpoint(),
            **({"shadow": self.shadow.checkpoint()} if self.shadow is not None else {}),
            **({"sums": self.sums} if self.sums else {}),
        }

    @classmethod
    def restore(cls, scene: Scene, settings: Settings, saved: dict[str, Any]) -> Simulation:
        """A simulation that goes on from a checkpoint as if it had never stopped."""
        bodies = make_bodies(scene, with_grains=False)
        state, first = saved["bodies"], saved["bodies"]["first_grain"]
        bodies.make_rows(first - bodies.wall_body_count)
        bodies.append_grains(state["position"][first:], state["radius"], state["material"], state["inverse_mass"][first:])
        for name in STATE:
            getattr(bodies, name)[:] = state[name]
        bodies.id[:], bodies.next_id = state["id"], state["next_id"]
        sim = cls(scene, settings, bodies=bodies)
        sim.stepper.restore(saved["stepper"])
        for k, emission in enumerate(sim.emissions):
            emission.restore(saved["emissions"][str(k)])
        sim.removal.restore(saved["removal"])
        if scene.counters:
            sim.counting.restore(saved["counting"])
        sim.regulation.restore(saved["regulation"])
        sim.guard.restore(saved["guard"])
        sim.step_count = saved["step_count"]
        sim.sums = {key: dict(sums) for key, sums in saved.get("sums", {}).items()}
        if sim.shadow is not None:
            sim.shadow.restore(saved["shadow"], sim)
        return sim

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{k}</th><td>{v}</td></tr>" for k, v in self._facts().items())
        return f"<table>{rows}</table>"

    def __repr__(self) -> str:
        return "Simulation(" + ", ".join(f"{k}={v}" for k, v in self._facts().items()) + ")"

    def _facts(self) -> dict[str, str]:
        return {
            "scene": self.scene.name,
            "grains": str(self.grain_count),
            "contacts": str(self.report.contacts),
            "time": f"{self.time:.6g} s",
            "time step": f"{self.time_step:.4g} s",
            "kinetic energy": f"{self.report.kinetic_energy:.4g} J",
            "residual": f"{self.report.residual:.3g} m/s",
        }
