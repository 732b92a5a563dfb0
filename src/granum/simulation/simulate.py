"""``simulate``: from a scene to a finished run in one call."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..observe import Progress
from ..observe.protocol import Observer
from ..scene.file import as_scene
from ..scene.scene import Scene
from .simulation import Simulation


def simulate(scene: Scene | str | Path, *, observers: Sequence[Observer] = (), progress: bool = False, **settings: Any) -> Simulation:
    """Run a scene (or a library scene by name, or a scene file) and return the simulation at its end.

    >>> run = simulate("column", duration=1.0, solver=PGS(iterations=200))
    >>> run.contacts.normal_force  # doctest: +SKIP

    ``settings`` are fields of :class:`Settings`, such as ``time_step=0.001`` [s] or ``stepper="smooth"``; what is not given is as the
    scene asks, or the default. ``solver`` stands for that of the nonsmooth stepper. Nothing is written: :func:`granum.run` does that.
    With ``progress`` a bar tells how far it is, on a terminal and in a notebook.
    """
    sim = Simulation(as_scene(scene), **settings)
    sim.observers += [*observers, *([Progress()] if progress else [])]
    return sim.run(sim.settings.duration)
