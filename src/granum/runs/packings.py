"""What the runs of packings share: progress, numbers, pictures and rows of tables."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .._jit import cache_is_warm
from ..analysis import state_hash
from ..contact.power import PowerLaw
from ..io import Recording
from ..io.packing import read_packing
from ..observe.machine import machine
from ..progress import Bar
from ..quasistatic.course import Course
from ..quasistatic.measure import Measured, measure
from ..quasistatic.minimise import minimise
from ..quasistatic.packing import Packing, random_packing
from ..talk import talk
from .result import Rows
from .run import Talk

FEW, SHORT = 24, 300  # grains and iterations that make all kernels run once,
DENSE = {2: 0.90, 3: 0.72}  # in packings that are jammed


class Watch:
    """Live progress of minimisations; it is called with the course of one.

    ``total`` is the number of minimisations, ``done`` how many of them are; of a single one the part that is done is that of the way from
    its first residual to its tolerance, in decades. None: nobody knows. Without ``shown`` nothing is said.
    """

    def __init__(self, label: str, total: int | None = None, *, shown: bool = True) -> None:
        self.total, self.done, self._first = total, 0, 0.0
        self._bar = Bar(label) if shown else None

    def __call__(self, course: Course) -> None:
        self.show(self._part(course), facts(course))

    def show(self, part: float | None, words: list[str]) -> None:
        """A line or an update of the bar, if it is time."""
        if self._bar is not None:
            self._bar.show(part, words)

    def _part(self, course: Course) -> float | None:
        if self.total != 1:
            return self.done / self.total if self.total else None
        self._first = max(self._first, course.residual)
        if course.residual <= course.tolerance:
            return 1.0
        return math.log(self._first / course.residual) / math.log(self._first / course.tolerance)

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def warm_up(methods: Iterable[tuple[str, str | None]], dim: int, law: PowerLaw, say: Talk = talk) -> None:
    """Compile or load all kernels with a few grains, so that wall times are of the work alone."""
    if not cache_is_warm():
        say("compiling kernels, once (a minute or two; later runs start at once) ...")
    few = random_packing(FEW, DENSE[dim], dim=dim, law=law)
    for name, helper in methods:
        measure(minimise(few, name, helper, limit=SHORT).packing)


def facts(course: Course) -> list[str]:
    """Where a minimisation is, in a few words."""
    words = [f"residual {course.residual:.0e} N", f"E {course.E:.1e} J"]
    packing = getattr(course.energy, "packing", None)
    if packing is None:
        return words
    # Of a copy: one that was asked more often would make its pair list at other times, and what looks on must not move the last bit.
    touching = copy.copy(course.energy).touching(course.x)  # type: ignore[attr-defined]
    pressure = float((touching.force * touching.distance).sum()) / packing.dim / packing.cell.volume
    return [f"phi {packing.phi:.5f}", f"p {pressure:.1e}", *words]


def unit_of_pressure(dim: int) -> str:
    """In two dimensions it is a force per length."""
    return "N/m" if dim == 2 else "Pa"


def describe(about: dict[str, Any], seed: int | None, settings: dict[str, Any]) -> dict[str, Any]:
    """What goes into the description of a recording."""
    return {"seed": seed, "settings": settings, "versions": machine(), **about}


def observables(packing: Packing, found: Measured) -> dict[str, Any]:
    """Of a packing, as plain numbers."""
    return {
        "particles": packing.count,
        "dim": packing.dim,
        "law": packing.law.model_dump(),
        "phi": packing.phi,
        "jammed": found.jammed,
        "z": found.coordination,
        "rattlers": found.rattler_count,
        "contacts": found.touching,
        "pressure": found.pressure,
        "energy": found.energy,
        "largest_overlap": found.overlap / packing.diameter,
        "mean_force": found.mean_force,
        "stress": found.stress.tolist(),
        "fabric": found.fabric.tolist(),
        "cell": packing.cell.vectors.tolist(),
        "state_hash": state_hash(packing.cell.vectors, packing.position, packing.radius),
    }


def last_packing(recording: Recording) -> dict[str, Any]:
    """Of a recording of packings that was never finished: what its last frame is."""
    packing = read_packing(recording)
    return {"kind": "packing", **observables(packing, measure(packing))}


def draw_beside(recording: Path, figure: str, say: Talk) -> str | None:
    """The picture of a finished recording, beside it; a command does not fail because of it."""
    from ..plot.figures import draw_figure
    from ..plot.style import save

    path = recording.with_suffix(".png")
    try:
        with Recording(recording) as opened:
            save(draw_figure(opened, figure), path, f"{opened.scene.name}: {figure}")
    except Exception as error:
        say(f"warning: no picture {path}: {type(error).__name__}: {error}", style="yellow")
        return None
    return str(path)


def packing_rows(s: dict[str, Any]) -> Rows:
    """Rows of a table about :func:`observables`."""
    unit = unit_of_pressure(s["dim"])
    return [
        ("grains", f"{s['particles']} in {s['dim']} dimensions, {law_in_words(s['law'])}"),
        ("packing fraction", f"{s['phi']:.9g}" + ("" if s["jammed"] else " [yellow](not jammed)[/yellow]")),
        ("coordination", f"{s['z']:.5g}, {s['rattlers']} rattlers left out"),
        ("pressure", f"{s['pressure']:.6g} {unit}"),
        ("energy", f"{s['energy']:.6g} J"),
        ("overlap", f"largest {s['largest_overlap']:.3g} d"),
    ]


def law_in_words(law: dict[str, Any]) -> str:
    """Hooke's law, or that of Hertz, with its stiffness."""
    alpha, k = law["alpha"], law["stiffness"]
    name = {2.0: "Hooke's law", 2.5: "Hertz' law"}.get(alpha, "energy k delta^alpha / alpha")
    return f"{name} (alpha = {alpha:g}, k = {k:g} N/m^{alpha - 1:g})"
