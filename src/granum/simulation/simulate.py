"""``simulate``: from a scene to a finished run in one call."""

from __future__ import annotations

from typing import Any

from ..checks import InputError
from ..nonsmooth import Nonsmooth, make_solver
from ..nonsmooth.solvers import SolverRecord
from ..scene.library import make_scene
from ..scene.scene import Scene
from ..smooth import Smooth
from .settings import make_settings
from .simulation import Simulation


def simulate(
    scene: Scene | str,
    *,
    duration: float | None = None,
    solver: SolverRecord | str | None = None,
    stepper: Nonsmooth | Smooth | str | None = None,
    observers: tuple[Any, ...] = (),
    **settings: Any,
) -> Simulation:
    """Run a scene (or a library scene by name) and return the simulation at its end.

    >>> run = simulate("column", duration=1.0, solver=PGS(iterations=200))
    >>> run.contacts.normal_force  # doctest: +SKIP

    ``stepper`` may be a name, ``"nonsmooth"`` or ``"smooth"``. Further ``settings`` are fields of :class:`Settings`, such as
    ``time_step=0.001`` [s].
    """
    if isinstance(scene, str):
        scene = make_scene(scene)
    over: dict[str, Any] = dict(settings)
    if duration is not None:
        over["duration"] = duration
    if stepper is not None:
        over["stepper"] = {"name": stepper} if isinstance(stepper, str) else stepper.model_dump()
    if solver is not None:
        if stepper is not None:
            raise InputError("give solver or stepper, not both: the stepper has a solver of its own.")
        over["stepper"] = {"solver": (make_solver(solver) if isinstance(solver, str) else solver).model_dump()}
    sim = Simulation(scene, make_settings(scene.run, over))
    sim.observers += list(observers)
    return sim.run(sim.settings.duration)
