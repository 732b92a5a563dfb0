"""Figures of benchmarks: the numbers of a result that are worth a row in a table, with their units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from ..extensions import modules

FIGURES: dict[str, dict[str, str]] = {
    "pgs": {"ns_per_contact_iteration*": "ns"},
    "step": {"milliseconds_per_step": "ms", "search_and_assembly_share": "1", "bytes_per_contact": "B"},
    "detect": {"ns_per_grain*": "ns"},
    "convergence": {"sweeps.*": "1"},
    "smooth": {"ns_per_grain_step": "ns"},
    "small": {"microseconds_per_step.*": "us"},
    "parallel": {
        "measured.solve_speed_up": "1",
        "measured.step_speed_up": "1",
        "measured.barrier_nanoseconds": "ns",
        "measured.milliseconds_per_step.*": "ms",
    },
    "minimise": {"packings.*.seconds": "s", "packings.*.iterations": "1"},
    "compare": {
        "*smooth.*.milliseconds_per_step": "ms",
        "*smooth.*.over_granum": "1",
        "*smooth.*.sunk_diameters": "1",
    },
    **{name: units for module in modules("bench") for name, units in module.FIGURES.items()},
}
"""By benchmark: the unit of each figure, whose name may have ``*`` for any part of it; nested names are joined by dots."""


OPTIONS = {"count": "particles"}
"""How settings of benchmarks are typed, where it is not by their name."""


def figures_of(result: Mapping[str, Any], given: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """A row for each figure of a result: benchmark, figure, value, unit; and the threads it was measured with.

    The benchmark is named with the settings that it was ``given``, as they are typed: other sizes are other figures.
    """
    known, threads = FIGURES[result["benchmark"]], result.get("threads", 1)
    typed = [f"--{OPTIONS.get(name, name)} {value}" for name, value in (given or {}).items() if name != "output"]
    return [
        {"benchmark": " ".join([result["benchmark"], *typed]), "figure": figure, "value": value, "unit": unit, "threads": threads}
        for figure, value in _numbers(result)
        for pattern, unit in known.items()
        if fnmatchcase(figure, pattern)
    ]


def _numbers(content: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    """All numbers of nested tables."""
    for name, value in content.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, f"{prefix}{name}.")
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            yield f"{prefix}{name}", value
