"""What minimisations of packings and of runs share: reports as numbers and rows, figures, and where they go."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..checks import InputError
from ..quasistatic.course import MinimiseReport
from .result import Rows
from .run import Talk


@dataclass(frozen=True)
class Known:
    """Where a minimisation goes, and what is said of it."""

    output: Path | None
    picture: bool
    about: dict[str, Any]
    say: Talk
    progress: bool


def plain(report: MinimiseReport) -> dict[str, Any]:
    """A report as JSON can hold it."""
    return {
        "method": report.method,
        "converged": report.converged,
        "reason": report.reason,
        "iterations": report.iterations,
        "evaluations": report.evaluations,
        "factorisations": report.factorisations,
        "lists": report.lists,
        "residual": report.residual,
        "tolerance": report.tolerance,
        "energy": report.energy,
        "wall_seconds": report.seconds,
        "residuals": report.history.tolist(),
    }


def report_rows(s: dict[str, Any]) -> Rows:
    """Rows about :func:`plain`."""
    return [
        ("method", f"{s['method']}: {s['reason']}" if s["converged"] else f"[yellow]{s['method']}: {s['reason']}, not converged[/yellow]"),
        ("residual", f"{s['residual']:.3g} N, tolerance {s['tolerance']:.3g} N"),
        (
            "work",
            f"{s['iterations']} iterations, {s['evaluations']} evaluations, {s['factorisations']} factorisations, "
            f"{s['wall_seconds']:.3g} s",
        ),
    ]


def draw_residuals(reports: list[MinimiseReport], path: Path, subtitle: str) -> str:
    """The figure of all residuals, in a file."""
    from ..plot.packing_curves import draw_minimisations
    from ..plot.style import save

    try:
        save(draw_minimisations(reports, subtitle), path, "Minimisation")
    except OSError as error:
        raise InputError(f"output {path} cannot be written ({error.strerror or error}). Choose another place with -o.") from error
    return str(path)
