"""A settled box of grains, made once and kept in the user's cache."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .._jit import CACHE_FOLDER
from ..checks import InputError
from ..io import read_checkpoint, write_checkpoint
from ..scene.library import make_scene
from ..simulation import Simulation, make_settings

SETTLE_STEPS = 300
SETTLE_ITERATIONS = 50


def settled_box(particles: int, rows: int, talk: Callable[[str], None], tilt: float = 0.0, **grains: float) -> Simulation:
    """``particles`` pellets at rest in a box, with 6 ``rows`` per contact or 3 (no rolling resistance).

    Gravity may then be tilted [degrees]; ``grains`` are further parameters of the scene `box`.
    """
    if particles < 1:
        raise InputError(f"particles must be 1 or more (got {particles}).")
    if rows not in (3, 6):
        raise InputError(f"rows must be 3 or 6 (got {rows}).")
    given: dict[str, Any] = {"count": particles, "rolling_friction": 0.32 if rows == 6 else 0.0, "time_step": 0.005, **grains}
    scene = make_scene("box", given)
    # A tall lattice lands fast: its overlaps of the moment do not matter here.
    guards = {"on_overlap": "off", "on_energy": "off"}
    settings = make_settings(scene.run, {"stepper": {"solver": {"iterations": SETTLE_ITERATIONS}}, "guards": guards})
    path = _kept(scene.model_dump_json() + settings.model_dump_json())
    try:
        saved = read_checkpoint(path)
    except InputError:  # not there, or not whole: it is only a cache
        talk(f"settling {particles} grains, once (kept in {path.parent})")
        sim = Simulation(scene, settings)
        for step in range(SETTLE_STEPS):
            sim.step()
            if step % 50 == 49:
                talk(f"  {step + 1} of {SETTLE_STEPS} steps, {sim.report.contacts} contacts, {sim.report.kinetic_energy:.2e} J")
        saved = sim.checkpoint()
        path.parent.mkdir(parents=True, exist_ok=True)
        write_checkpoint(path, saved)
    if tilt:
        scene = make_scene("box", {**given, "tilt": tilt})
    return Simulation.restore(scene, settings, saved)


def _kept(description: str) -> Path:
    """Where the box of this description is kept; another version of the kernels makes its own."""
    name = hashlib.sha256(f"{description} {CACHE_FOLDER.name} {SETTLE_STEPS}".encode()).hexdigest()[:16]
    return CACHE_FOLDER.parent / "bench" / f"box-{name}.h5"
