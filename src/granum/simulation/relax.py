"""Minimise the end of a run: the grains of a scene, with its walls, gravity and contact law, at rest without friction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arithmetic import length
from ..array_types import FloatArray, LongArray
from ..checks import InputError, known_name
from ..io import Frame, Recording
from ..notebook import Pictured
from ..quasistatic.course import Course, MinimiseReport
from ..quasistatic.minimise import LIMIT, METHODS
from ..quasistatic.precondition import Identity
from ..quasistatic.scene_energy import LIGHTEST, SceneEnergy
from ..scene.grains import Grains
from ..scene.scene import Scene
from ..state.bodies import Bodies
from ..state.contacts import Contacts
from .making import make_bodies
from .placement import check_cell
from .simulation import Simulation

if TYPE_CHECKING:
    from ..observe.watched import Watched

METHOD = "lbfgs"
SUITED = ("lbfgs", "cg", "fr-cg", "fire")  # methods that need nothing but energy and gradient


@dataclass(frozen=True, repr=False)
class RelaxedRun(Pictured):
    """Grains of a run in balance (if the report says converged); walls stand as they were, friction is left out."""

    start: Scene
    """As it was found."""
    bodies: Bodies
    contacts: Contacts
    normal_force: FloatArray  # (C,) [N]
    report: MinimiseReport
    moved: float
    """Largest way of a grain [m]."""
    id: LongArray
    """(N,) of the grains in the run's recording."""
    alpha: float
    """[-] of the energy k delta^alpha / alpha of a contact."""

    def __repr__(self) -> str:
        found = f"{len(self.id)} grains, {len(self.normal_force)} contacts, moved by up to {self.moved:.3g} m"
        return f"RelaxedRun({self.start.name}, {found}, {self.report})"

    @property
    def position(self) -> FloatArray:
        """(N, 3) [m]"""
        return self.bodies.position[self.bodies.grains]

    @property
    def wrapped_position(self) -> FloatArray:
        """(N, 3) [m] in the scene's cell; without one the positions themselves."""
        return self.position if self.start.cell is None else self.start.cell.wrap(self.position)

    @property
    def scene(self) -> Scene:
        """The scene with its grains where they are now, at rest: ready for a run. Its emitters have done their work."""
        held = self.bodies.inverse_mass[self.bodies.grains] == 0
        blocks = [
            Grains(
                material=material.name,
                position=self.position[chosen],
                diameter=2 * self.bodies.radius[chosen],
                static=bool(static),
            )
            for k, material in enumerate(self.start.materials)
            for static in (False, True)
            if (chosen := (self.bodies.material == k) & (held == static)).any()
        ]
        return self.start.changed(grains=tuple(blocks), emitters=())


def relax_run(
    run: Watched | Recording | Scene | str | Path,
    *,
    frame: int = -1,
    method: str = METHOD,
    tolerance: float | None = None,
    limit: int = LIMIT,
    watch: Callable[[Course], None] | None = None,
) -> RelaxedRun:
    """Move the grains of a run to a minimum of their energy: contacts of the scene's law with each other and with walls, and gravity.

    ``run`` is a simulation, a recording (or its file) with the number of a ``frame``, or a scene. ``tolerance`` [N] is the largest
    force component that may be left on a grain; none: 1e-8 of a mean grain's weight. Friction is left out, so a heap relaxes to a level
    bed.
    """
    known_name("method", method, SUITED)
    scene, bodies, ids = _bodies_of(run, frame)
    check_cell(scene)
    energy = SceneEnergy(scene, bodies)
    start = energy.start
    course = Course(energy, method, energy.force_scale * LIGHTEST if tolerance is None else tolerance, limit, watch)
    METHODS[method](Identity()).run(course, energy.diameter)
    contacts, force = energy.touching(course.x)
    moved = float(length(course.x - start).max())
    return RelaxedRun(scene, bodies, contacts, force, course.report(), moved, ids, energy.alpha)


def _bodies_of(run: Any, frame: int) -> tuple[Scene, Bodies, LongArray]:
    if isinstance(run, (str, Path)):
        with Recording(run) as recording:
            return _bodies_of(recording, frame)
    if isinstance(run, Scene):
        placed = make_bodies(run)
        return run, placed, np.arange(placed.grain_count)
    if isinstance(run, Recording):
        found = run.frame(frame)
        return run.scene, frame_bodies(run.scene, found), np.asarray(found.id, np.int64)
    if not isinstance(run, Simulation):
        raise InputError(f"relax_run needs a simulation, a recording, its file or a scene (got {type(run).__name__}).")
    bodies, old = make_bodies(run.scene, with_grains=False), run.bodies
    bodies.append_grains(old.position[old.grains], old.radius, old.material, old.inverse_mass[old.grains])
    bodies.position[:], bodies.orientation[:] = old.position, old.orientation
    return run.scene, bodies, old.id.copy()


def frame_bodies(scene: Scene, frame: Frame) -> Bodies:
    """Walls and grains of a recorded frame, at rest."""
    bodies = make_bodies(scene, with_grains=False)
    density = np.array([m.density for m in scene.materials])
    inverse = 1 / (density[frame.material] * 4 / 3 * np.pi * frame.radius * frame.radius * frame.radius)
    placed = make_bodies(scene)  # grains of the scene have the first ids
    held = np.flatnonzero(placed.inverse_mass[placed.grains] == 0)
    inverse[np.isin(frame.id, held)] = 0.0
    bodies.append_grains(frame.position, frame.radius, np.asarray(frame.material, np.int32), inverse)
    bodies.orientation[bodies.grains] = frame.orientation
    walls = slice(0, bodies.wall_body_count)
    bodies.position[walls], bodies.orientation[walls] = frame.walls.position, frame.walls.orientation
    return bodies
