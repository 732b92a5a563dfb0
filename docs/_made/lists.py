"""Pages of what has a name: metrics, figures, library scenes, experiments, papers and columns of files."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from granum.analysis.metrics import METRICS, Metric
from granum.cli.fields import record_fields
from granum.cli.scenes import shown
from granum.extensions import extensions
from granum.io import layout
from granum.papers import EXPERIMENTS
from granum.plot.figures import FIGURES, PACKING_FIGURES
from granum.plot.look import Kind
from granum.references import PAPERS
from granum.scene.library import LIBRARY
from granum.scene.library.described import described, explanation, summary

from .markdown import code, fenced, inline, page, table


def metrics() -> str:
    """What ``granum analyse`` measures."""
    said = (
        "A metric is a measurement of a recording: `granum analyse FILE NAME` prints it, `--json` and `--csv` print it for other programs, "
        "and `granum.analysis.measure_recording(recording, NAME)` gives it in Python. A number without a unit is a count or a ratio."
    )
    rows = ((f"[`{name}`](#metric-{name})", inline(metric.about)) for name, metric in METRICS.items())
    return page("Metrics", said, table(("metric", "what it measures"), rows), *(_metric(name, m) for name, m in METRICS.items()))


def _metric(name: str, metric: Metric) -> str:
    frames = "all frames" if metric.all_frames else "the last frame"
    facts = [f"It needs {inline(metric.needs)}.", f"It takes {frames}, unless `--frames`, `--last` or `--time` say which."]
    if metric.of:
        facts.append(f"`--{metric.of} NAME` says which {metric.of} it looks at.")
    if metric.windows:
        facts.append("`--window TIME` sets the length of its windows.")
    rows = ((code(number), inline(unit)) for number, unit in metric.units.items())
    about = inline(metric.about)
    return page(
        f"## `{name}`", f"{about[0].upper()}{about[1:]}.", " ".join(facts), table(("number", "unit"), rows), anchor=f"metric-{name}"
    )


def figures() -> str:
    """What ``granum plot`` draws."""
    look = record_fields("plot.look:Look")
    options = table(("part of a look", "meaning"), ((code(name), inline(field.text)) for name, field in look.items()))
    return page(
        "Figures",
        "`granum plot FILE NAME` draws a figure of a recording, `recording.plot(NAME)` and `done.plot(NAME)` do it in Python.",
        page("## Figures of runs", _figures(FIGURES)),
        page("## Figures of packings", _figures(PACKING_FIGURES)),
        page("## What of a recording a figure shows", "Options of `granum plot`, and keywords of `plot` in Python.", options),
    )


def _figures(known: Mapping[str, Kind]) -> str:
    rows = (
        (code(name), inline(kind.summary), ", ".join(code(part) for part in sorted(kind.takes)) or "the whole run")
        for name, kind in known.items()
    )
    return table(("figure", "what it shows", "takes"), rows)


def library() -> str:
    """Scenes by name."""
    said = (
        "`granum run NAME` runs a library scene, `--set PARAMETER=VALUE` changes it, and `granum init NAME -o FILE.toml` writes it as a "
        "file to edit. In Python `make_scene(NAME, PARAMETER=VALUE)` gives the scene. Lengths in diameters count in that of the grains."
    )
    rows = ((f"[`{name}`](#library-{name})", inline(summary(name))) for name in sorted(LIBRARY))
    return page("Library scenes", said, table(("scene", "what it is"), rows), *map(_scene, sorted(LIBRARY)))


def _scene(name: str) -> str:
    head = ("parameter", "default", "unit", "kind", "meaning")
    rows = (
        (code(key), inline(shown(one.default)), inline(one.unit), inline(one.kind), inline(one.meaning))
        for key, one in described(name).items()
    )
    words = [inline(part) for part in explanation(name).split("\n\n")]
    return page(f"## `{name}`", inline(summary(name)), *words, table(head, rows), anchor=f"library-{name}")


def experiments() -> str:
    """What ``granum reproduce`` repeats."""
    said = (
        "`granum reproduce NAME` repeats an experiment of a paper in minutes, `--full` in the paper's size. It prints a table of what was "
        "measured beside what the paper says, and draws the figures. The first letters of a name are those of the paper."
    )
    rows = ((f"[`{name}`](#experiment-{name})", inline(one.title)) for name, one in EXPERIMENTS.items())
    parts = []
    for name, one in EXPERIMENTS.items():
        quick, full = _numbers(one.quick), _numbers(one.full)
        sizes = table(("setting", "quick", "full"), ((code(key), quick[key], full.get(key, "")) for key in quick))
        parts.append(page(f"## `{name}`", inline(one.title), sizes, anchor=f"experiment-{name}"))
    return page("Experiments of papers", said, table(("experiment", "what it repeats"), rows), *parts)


def _numbers(size: Any) -> dict[str, str]:
    return {field.name: inline(str(getattr(size, field.name))) for field in dataclasses.fields(size)}


def papers() -> str:
    """What initials stand for."""
    said = "Texts of granum call five papers by initials. `granum references` prints the same list."
    rows = ((initials, inline(f"{p.authors}: {p.title}. {p.where}"), inline(p.gives)) for initials, p in PAPERS.items())
    return page("Papers", said, table(("initials", "paper", "what granum has from it"), rows), anchor="papers")


def columns() -> Iterator[tuple[str, str]]:
    """Name and table of every group of columns in a recording or problem."""
    more = [column for extension in extensions() for column in extension.columns]
    groups: dict[str, Iterable[Any]] = {
        "grains": (layout.POSITION, *layout.POINT_DATA, *more),
        "contacts": layout.CONTACTS,
        "walls": (*layout.WALLS, *layout.LOADS),
        "joints": layout.JOINTS,
        "counters": layout.COUNTERS,
        "problem-bodies": layout.PROBLEM_BODIES,
        "problem-contacts": layout.PROBLEM_CONTACTS,
    }
    head = ("name", "type", "shape", "unit", "meaning")
    for name, group in groups.items():
        rows = ((code(c.name), str(c.dtype.__name__), _shape(c.width), inline(c.unit), inline(c.meaning)) for c in group)
        yield f"parts/{name}", table(head, rows)
    yield "parts/scalars", table(("scalar", "unit"), ((code(name), inline(unit)) for name, unit in layout.SCALAR_UNITS.items()))
    yield "parts/layout", fenced((layout.__doc__ or "").partition("::\n\n")[2].partition("\n\n")[0], "text")


def _shape(width: tuple[int, ...]) -> str:
    return f"({', '.join(('n', *map(str, width)))}{',' if not width else ''})"
