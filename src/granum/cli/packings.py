"""What the commands for packings share: sizes and laws read from text, progress, files and tables."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..checks import InputError, known_name
from .console import print_json, stderr, talk

if TYPE_CHECKING:
    from ..contact.power import PowerLaw
    from ..io import Recording
    from ..quasistatic.course import Course
    from ..quasistatic.measure import Measured
    from ..quasistatic.packing import Packing
    from ..scene.sizes import Sizes

QUIET = 1.0  # [s] before anything is shown
LINE_EVERY = 10  # [s] between two lines where there is no terminal
SIZES_HELP = "Diameters in any unit, equal numbers of each: 1,1.4; with numbers: 1:0.7,2:0.3; uniform:0.8,1.2; lognormal:SIGMA."
WIDE = 110  # [columns] of a terminal with room for a bar
FEW, SHORT = 24, 300  # grains and iterations that make all kernels run once,
DENSE = {2: 0.90, 3: 0.72}  # in packings that are jammed
WIDEST = 3.0  # standard deviations that a log-normal distribution keeps


def read_law(law: str | None, alpha: float | None) -> PowerLaw:
    """The law of a packing by its name or its exponent."""
    from ..contact.power import POWER_LAWS, PowerLaw

    if alpha is None:
        return POWER_LAWS[known_name("law", law or "hooke", POWER_LAWS)]
    if law is not None:
        raise InputError(f"give --law or --alpha, not both (got {law!r} and {alpha:g}).")
    return PowerLaw.read({"alpha": alpha}, "--alpha")


def read_sizes(text: str) -> Sizes:
    """A size distribution as it is written on the command line (see ``SIZES_HELP``)."""
    from ..scene.sizes import Discrete, LogNormal, Uniform

    kind, colon, rest = text.partition(":")
    try:
        if kind.strip() == "uniform" and colon:
            lower, upper = (float(part) for part in rest.split(","))
            return Uniform(lower=lower, upper=upper)
        if kind.strip() == "lognormal" and colon:
            sigma = float(rest)
            edge = 2.718281828459045 ** (WIDEST * sigma)
            return LogNormal(median=1.0, sigma=sigma, lower=1 / edge, upper=edge)
        parts = [part.partition(":") for part in text.split(",")]
        numbers = tuple(float(number) if colon else 1.0 for _, colon, number in parts)
        return Discrete(diameters=tuple(float(diameter) for diameter, _, _ in parts), fractions=numbers)
    except InputError as error:
        raise InputError(f"--sizes {text!r}: {error}") from None
    except (ValueError, OverflowError):
        raise InputError(f"--sizes {text!r} cannot be read. {SIZES_HELP}") from None


class Watch:
    """Live progress of minimisations: a bar on a terminal, a line now and then elsewhere, nothing for what takes less than a second.

    It is called with the course of a minimisation. ``total`` is the number of minimisations, ``done`` how many of them are; of a single
    one the part that is done is that of the way from its first residual to its tolerance, in decades. None: nobody knows.
    """

    def __init__(self, label: str, total: int | None = None) -> None:
        self.label, self.total, self.done, self._first = label, total, 0, 0.0
        self._console = stderr()
        self._bar: Any = None
        self._began = time.monotonic()
        self._next = self._began + QUIET

    def __call__(self, course: Course) -> None:
        self.show(facts(course), self._part(course))

    def show(self, words: str, part: float | None) -> None:
        """A line or an update of the bar, if it is time."""
        now = time.monotonic()
        if now < self._next:
            return
        if self._console.is_terminal:
            self._update(words, part)
        else:
            left = f", about {(now - self._began) * (1 - part) / part:.0f} s left" if part else ""
            done = f"{part:.0%}, " if part is not None else ""
            self._console.print(f"{self.label}: {done}{words}{left}", soft_wrap=True)
            self._next = now + LINE_EVERY

    def _part(self, course: Course) -> float | None:
        if self.total != 1:
            return self.done / self.total if self.total else None
        self._first = max(self._first, course.residual)
        if course.residual <= course.tolerance:
            return 1.0
        return math.log(self._first / course.residual) / math.log(self._first / course.tolerance)

    def _update(self, words: str, part: float | None) -> None:
        if self._bar is None:
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

            self._bar = Progress(
                TextColumn("{task.description}"),
                *([BarColumn(bar_width=16)] if self._console.width >= WIDE else []),
                TextColumn("{task.fields[facts]}"),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(),
                console=self._console,
                auto_refresh=False,
                transient=True,
            )
            self._task = self._bar.add_task(self.label, total=1.0, facts="")
            self._bar.start()
        self._bar.update(self._task, completed=part or 0.0, facts=words)
        self._bar.refresh()

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def warm_up(methods: Iterable[tuple[str, str | None]], dim: int, law: PowerLaw) -> None:
    """Compile or load all kernels with a few grains, so that wall times are of the work alone."""
    from .._jit import cache_is_warm
    from ..quasistatic.measure import measure
    from ..quasistatic.minimise import minimise
    from ..quasistatic.packing import random_packing

    if not cache_is_warm():
        talk("compiling kernels, once (a minute or two; later runs start at once) ...")
    few = random_packing(FEW, DENSE[dim], dim=dim, law=law)
    for name, helper in methods:
        measure(minimise(few, name, helper, limit=SHORT).packing)


def facts(course: Course) -> str:
    """Where a minimisation is, in a few words."""
    words = f"E {course.E:.1e} J, residual {course.residual:.0e} N"
    packing = getattr(course.energy, "packing", None)
    if packing is None:
        return words
    touching = course.energy.touching(course.x)  # type: ignore[attr-defined]
    pressure = float((touching.force * touching.distance).sum()) / packing.dim / packing.cell.volume
    return f"phi {packing.phi:.5f}, p {pressure:.1e}, {words}"


def unit_of_pressure(dim: int) -> str:
    """In two dimensions it is a force per length."""
    return "N/m" if dim == 2 else "Pa"


def about(seed: int | None, settings: dict[str, Any]) -> dict[str, Any]:
    """What goes into the description of a recording."""
    from ..observe.machine import machine
    from .execute import command_line

    return {"command": command_line(), "seed": seed, "settings": settings, "versions": machine()}


def observables(packing: Packing, found: Measured) -> dict[str, Any]:
    """Of a packing, as plain numbers."""
    from ..analysis import state_hash

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
    from ..io.packing import read_packing
    from ..quasistatic.measure import measure

    packing = read_packing(recording)
    return {"kind": "packing", **observables(packing, measure(packing))}


def draw_beside(recording: Path, figure: str) -> str | None:
    """The picture of a finished recording, beside it; a command does not fail because of it."""
    from ..io import Recording
    from ..plot.figures import draw_figure
    from ..plot.style import save

    path = recording.with_suffix(".png")
    try:
        with Recording(recording) as opened:
            save(draw_figure(opened, figure), path, f"{opened.scene.name}: {figure}")
    except Exception as error:
        talk(f"warning: no picture {path}: {type(error).__name__}: {error}", style="yellow")
        return None
    return str(path)


def show(found: dict[str, Any], rows: list[tuple[str, str]], title: str, as_json: bool) -> None:
    """What was found, on stdout."""
    if as_json:
        print_json(found)
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, show_header=False, title_justify="left")
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in (*rows, *((name, str(found[name])) for name in ("recording", "picture") if found.get(name))):
        table.add_row(name, value)
    Console(highlight=False).print(table)


def packing_rows(s: dict[str, Any]) -> list[tuple[str, str]]:
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
