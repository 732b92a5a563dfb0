"""The checkpointer: from time to time, all that a run needs to go on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import Any

from ..checks import as_path, finite_positive
from ..io import write_checkpoint
from .machine import machine
from .watched import Watched


class Checkpointer:
    """Saves the run at its start, every ``every`` [s] of wall time, and at its end; :meth:`save` does so at once.

    ``about`` is kept with the state: recording, command, and whatever else the restarted run should know.
    """

    def __init__(self, path: str | Path, every: float = 10.0, about: Mapping[str, Any] | None = None) -> None:
        self.path, self.every = as_path("checkpoint", path), finite_positive("checkpoint_every", every, "s")
        self.about = dict(about or {})
        self._saved = -1  # step
        self._next = 0.0
        self._scene = ""

    def start(self, sim: Watched) -> None:
        self._scene = sim.scene.model_dump_json()  # once: it never changes
        self.save(sim)

    def observe(self, sim: Watched) -> None:
        if monotonic() >= self._next:
            self.save(sim)

    def finish(self, sim: Watched) -> None:
        if sim.whole and sim.step_count != self._saved:
            self.save(sim)

    def save(self, sim: Watched) -> None:
        """Write the checkpoint now."""
        write_checkpoint(
            self.path,
            {
                "simulation": sim.checkpoint(),
                "scene": self._scene or sim.scene.model_dump_json(),
                "settings": sim.settings.model_dump_json(),
                "last_step": sim.last_step,
                "report": sim.report.checkpoint(),
                "stage_seconds": dict(sim.stage_seconds),
                "wall_seconds": sim.wall_seconds,
                "about": self.about,
                "machine": machine(),
            },
        )
        sim.last_checkpoint = str(self.path)
        self._saved = sim.step_count
        self._next = monotonic() + self.every
