"""How large the recording of a run will be, told before the start where it is large."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..io.storage import Storage
from ..memory import in_words
from ..observe.recorder import storage_of
from ..scene.scene import Scene
from ..simulation import Settings, Simulation

LARGE = 1e9  # [bytes]
CONTACTS = 1.8  # of a grain in a bed at rest
SMALL = Storage(record=("position", "velocity"), precision="single", compress=True)


def recording_size(scene: Scene, settings: Settings, time_step: float, grains: int, storage: Storage | None = None) -> float:
    """[bytes], about, of the recording of a run that begins with so many ``grains``; those still to come are counted half, as they come on
    the way. ``storage`` is that of the settings, unless given."""
    kept = storage if storage is not None else storage_of(settings)
    every = settings.every or settings.duration / 100
    frames = settings.duration / max(every, time_step) + 1
    mean = grains + sum(emitter.due(settings.duration) for emitter in scene.emitters) / 2
    more = [column.name for extension in settings.extensions for column in extension.columns]
    return frames * mean * (kept.bytes_per_grain(more) + CONTACTS * kept.bytes_per_contact())


def tell_of_size(sim: Simulation, path: Path, say: Callable[[str], Any]) -> None:
    """One line, if the recording will be large, or larger than what the disk has left."""
    run = (sim.scene, sim.settings, sim.time_step, sim.grain_count)
    size, free = recording_size(*run), shutil.disk_usage(path.resolve().parent).free
    if size < min(LARGE, free):
        return
    smaller = recording_size(*run, SMALL)
    way_out = ""
    if smaller < 0.9 * size:
        way_out = f" --record position,velocity --precision single --compress takes about {in_words(smaller)}, a longer --every less."
    room = "" if size < free else f", and the disk has {in_words(free)} left"
    say(f"this run will write about {in_words(size)} to {path}{room}.{way_out}")
