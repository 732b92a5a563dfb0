"""How large the recording of a run will be, told before the start where it is large."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..io.storage import Storage
from ..memory import in_words
from ..observe.recorder import more_columns, storage_of
from ..simulation import Simulation

LARGE = 1e9  # [bytes]
CONTACTS = 1.8  # of a grain in a bed at rest
SMALL = Storage(record=("position", "velocity"), precision="single", compress=True)


def recording_size(sim: Simulation, storage: Storage | None = None) -> float:
    """[bytes], about, of the recording of a run that is about to start: grains still to come are counted half, as they come on the way."""
    settings, scene = sim.settings, sim.scene
    kept = storage if storage is not None else storage_of(settings)
    every = settings.every or settings.duration / 100
    frames = settings.duration / max(every, sim.time_step) + 1
    grains = sim.grain_count + sum(emitter.due(settings.duration) for emitter in scene.emitters) / 2
    return frames * grains * (kept.bytes_per_grain(tuple(more_columns(sim))) + CONTACTS * kept.bytes_per_contact())


def tell_of_size(sim: Simulation, path: Path, say: Callable[[str], Any]) -> None:
    """One line, if the recording will be large, or larger than what the disk has left."""
    size, free = recording_size(sim), shutil.disk_usage(path.resolve().parent).free
    if size < min(LARGE, free):
        return
    smaller = recording_size(sim, SMALL)
    way_out = ""
    if smaller < 0.9 * size:
        way_out = f" --record position,velocity --precision single --compress takes about {in_words(smaller)}, a longer --every less."
    room = "" if size < free else f", and the disk has {in_words(free)} left"
    say(f"this run will write about {in_words(size)} to {path}{room}.{way_out}")
