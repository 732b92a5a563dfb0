"""Systems to measure on, made once and kept in the user's cache: a settled box of grains, and a drum that turns."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .._jit import source_digest
from ..caches import cache_root, own_folder
from ..checks import InputError, OutputError
from ..io import read_checkpoint, write_checkpoint
from ..progress import Bar
from ..scene.library import make_scene
from ..scene.scene import Scene
from ..simulation import Settings, Simulation, make_settings

SETTLE_STEPS = 300
SETTLE_ITERATIONS = 50
# A tall lattice lands fast: its overlaps of the moment do not matter here.
GUARDS_OFF = {"on_overlap": "off", "on_energy": "off", "on_lost": "off", "on_coarse": "off"}

DRUM_STEPS, DRUM_BRAKED = 150, 120
"""Steps of the drum, and those of them after which the grains are slowed down: so they sink and do not fall."""
BRAKE = 0.7
DRUM_ITERATIONS = 20
DRUM_WIDTH, DRUM_LENGTH, DRUM_COUNT = 80.0, 35.0, 100_000  # [d] of a drum that is half full; others are as this one
DRUM_RIM = 4.0  # [d] of the width are teeth and half grains
LINE_EVERY = 5.0  # [s] between two lines of progress
FIRST_STEPS = 5  # may compile: they tell nothing of the time that is left


def settled_box(count: int, rows: int, talk: Callable[[str], None], tilt: float = 0.0, **grains: float) -> Simulation:
    """``count`` pellets at rest in a box, with 6 ``rows`` per contact or 3 (no rolling resistance).

    Gravity may then be tilted [degrees]; ``grains`` are further parameters of the scene `box`.
    """
    if count < 1:
        raise InputError(f"grains must be 1 or more (got {count}).")
    if rows not in (3, 6):
        raise InputError(f"rows must be 3 or 6 (got {rows}).")
    given: dict[str, Any] = {"count": count, "rolling_friction": 0.32 if rows == 6 else 0.0, "time_step": 0.005, **grains}
    scene = make_scene("box", given)
    settings = make_settings(scene.run, {"stepper": {"solver": {"iterations": SETTLE_ITERATIONS}}, "guards": GUARDS_OFF})
    saved = _made_once("box", scene, settings, SETTLE_STEPS, 0, talk)
    if tilt:
        scene = make_scene("box", {**given, "tilt": tilt})
    return Simulation.restore(scene, settings, saved)


def turning_drum(count: int, talk: Callable[[str], None]) -> Simulation:
    """``count`` beads, 3 rows per contact, that half fill PP's sawtooth drum, which has begun to turn (PP Fig. 2.8)."""
    if count < 1:
        raise InputError(f"grains of the drum must be 1 or more (got {count}).")
    part = (count / DRUM_COUNT) ** (1 / 3)
    width, length = (rim + part * (whole - rim) for whole, rim in ((DRUM_WIDTH, DRUM_RIM), (DRUM_LENGTH, 1.1)))
    scene = make_scene("drum", {"kind": "sawtooth", "count": count, "width": width, "length": length, "ramp": 0.0, "time_step": 0.005})
    # Whatever is soft and slow is good enough: contacts are to be as dense as in a drum.
    stepper = {"solver": {"iterations": DRUM_ITERATIONS}, "impact_velocity": 10.0}
    settings = make_settings(scene.run, {"stepper": stepper, "guards": GUARDS_OFF})
    return Simulation.restore(scene, settings, _made_once("drum", scene, settings, DRUM_STEPS, DRUM_BRAKED, talk))


def _made_once(name: str, scene: Scene, settings: Settings, steps: int, braked: int, talk: Callable[[str], None]) -> dict[str, Any]:
    """The checkpoint after that many steps, from the cache if it is there; another version of the kernels makes its own."""
    text = f"{scene.model_dump_json()} {settings.model_dump_json()} {source_digest()} {steps} {braked} {BRAKE}"
    folder = bench_folder()
    path = folder / f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.h5" if folder is not None else None
    try:
        if path is not None:
            return read_checkpoint(path)
    except InputError:  # not there, or not whole: it is only a cache
        pass
    sim = Simulation(scene, settings)
    talk(f"making a {name} of {sim.grain_count} grains" + (f", once (kept in {folder})" if folder is not None else ""))
    with Bar(f"  {name}", talk=talk, every=LINE_EVERY) as bar:
        for step in range(1, steps + 1):
            sim.step()
            if step <= braked:
                sim.velocity[:] *= BRAKE
            if step >= FIRST_STEPS:
                bar.show(step / steps, [f"{sim.report.contacts} contacts"])
    saved = sim.checkpoint()
    if path is not None:
        with contextlib.suppress(OutputError):  # as above
            write_checkpoint(path, saved)
    return saved


def bench_folder() -> Path | None:
    """Where systems to measure on are kept; none: nowhere."""
    root = cache_root()
    return own_folder(root / "bench") if root is not None else None
