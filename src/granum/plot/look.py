"""What of a recording a figure shows, which frames, from where, how thick a slab, and how it is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ..analysis.snapshot import Snapshot
from ..checks import InputError, finite_positive, known_name
from ..io import Recording

ONE_FRAME = frozenset({"frame", "time"})
MEAN = ONE_FRAME | {"average"}
PLANE = ONE_FRAME | {"view", "slab"}
FIELD = PLANE | {"average", "width", "grains"}


@dataclass(frozen=True, kw_only=True)
class Look:
    """None: as the figure finds best. Lengths are in mean diameters, so that a look suits any scene."""

    frame: int | None = None
    """Number of the frame, from 0; negative: from the end."""
    time: float | None = None
    """[s]: the frame nearest to it."""
    average: int | None = None
    """Frames to average over, up to and with the chosen one."""
    view: str | None = None
    """Axis to look along: x, y or z."""
    slab: float | None = None
    """Thickness of the slab that is shown [d]."""
    width: float | None = None
    """Width of the kernel of coarse graining [d]."""
    grains: bool | None = None
    """Draw the outlines of grains over a field."""
    body: str | None = None
    """Name of the body; none: all that move."""
    joint: str | None = None
    """Name of the joint; none: all that have motors."""

    counter: str | None = None
    """Name of the sink or counter; none: all."""
    window: float | None = None
    """Length of the windows of a rate of flow [s]."""

    def __post_init__(self) -> None:
        if self.frame is not None and self.time is not None:
            raise InputError(f"give a frame or a time, not both (got frame {self.frame} and time {self.time:g} s).")
        if self.average is not None and self.average < 1:
            raise InputError(f"average must be 1 or more frames (got {self.average}).")
        if self.view is not None:
            known_name("view", self.view, "xyz")
        if self.window is not None:
            finite_positive("window", self.window, "s")
        for name in ("slab", "width"):
            if getattr(self, name) is not None:
                finite_positive(name, getattr(self, name), "(in diameters)")

    @property
    def given(self) -> set[str]:
        """Names of what is not left to the figure."""
        return {f.name for f in fields(self) if getattr(self, f.name) is not None}

    def indices(self, recording: Recording, average: int = 1) -> list[int]:
        """Numbers of the frames, the chosen one last; ``average`` if the look does not say how many."""
        count = len(recording)
        last = self.frame if self.frame is not None else -1
        if self.time is not None:
            first, end = float(recording.times[0]), float(recording.times[-1])
            if not first <= self.time <= end * (1 + 1e-9):
                raise InputError(f"time {self.time:g} s is not in {recording.path}, which goes from {first:g} to {end:g} s.")
            last = int(np.argmin(np.abs(recording.times - self.time)))
        if not -count <= last < count:
            raise InputError(f"frame {last} does not exist: {recording.path} holds {count} frames (0 to {count - 1}).")
        last %= count
        return list(range(max(0, last + 1 - (self.average or average)), last + 1))

    def snapshots(self, recording: Recording, average: int = 1) -> list[Snapshot]:
        """The chosen frames; at least the last one has grains."""
        found = [Snapshot.read(recording, i) for i in self.indices(recording, average)]
        if not found[-1].grain_count:
            raise InputError(f"there are no grains at t = {found[-1].time:g} s in {recording.path}. Choose a later frame.")
        return [s for s in found if s.grain_count]


@dataclass(frozen=True)
class Kind:
    """How a figure is made."""

    draw: Callable[[Recording, Look], Any]
    summary: str
    takes: frozenset[str] = frozenset()
    """What of a look it minds; none: it shows the whole run."""


def about(recording: Recording, seen: list[Snapshot]) -> str:
    """Subtitle: grains and time."""
    s = seen[-1]
    name = s.scene.name
    if len(seen) > 1:
        return f"{name}: {s.grain_count} grains, mean of {len(seen)} frames, t = {seen[0].time:.4g} to {s.time:.4g} s"
    return f"{name}: {s.grain_count} grains, t = {s.time:.4g} s"
