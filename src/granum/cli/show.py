"""The end of a run on stdout: a table, or one JSON object."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .console import print_json, talk
from .csv_out import one_format, print_columns, print_rows
from .tables import show_columns, show_rows

if TYPE_CHECKING:
    from ..runs.result import Run


def show_run(make: Callable[[], Run], as_json: bool, as_csv: bool = False) -> Run:
    """Run and show; what was found before something went wrong is shown, too."""
    one_format(as_json, as_csv)
    try:
        run = make()
        if as_json:
            run.draw_picture()
    except BaseException as error:
        if (part := getattr(error, "run", None)) is not None:
            show(part, as_json, as_csv)
        raise
    later = run.drawing is not None and not run.summary.get("picture")
    show(run, as_json, as_csv)
    if later and not as_json and (picture := run.draw_picture()) is not None:  # who does not wait for it has the table
        talk(f"picture {picture}")
    return run


def show(run: Run, as_json: bool, as_csv: bool = False) -> None:
    """The summary. As comma-separated values: the curves of a shear, a line for each method that was compared, else one line."""
    s = run.summary
    if as_json:
        print_json(s)
        return
    if as_csv:
        if "curve" in s:
            print_columns(s["curve"], {})
        else:
            print_rows(s["methods"] if len(s.get("methods", ())) > 1 else [s])
        return
    if len(methods := s.get("methods", ())) > 1:
        _show_methods(methods)
    ended = s.get("complete") is not False or "stage_seconds" not in s  # a shear says so itself
    show_rows(run.rows, run.title if ended else f"{run.title} (not complete)")


def _show_methods(trials: list[dict[str, Any]]) -> None:
    """Methods side by side; residual [N], energy [J]."""

    def row(t: dict[str, Any]) -> list[str]:
        seconds = t["wall_seconds"]
        return [
            t["method"],
            *(str(t[name]) for name in ("iterations", "evaluations", "factorisations")),
            f"{seconds:.3g} s" if seconds >= 1 else f"{1e3 * seconds:.3g} ms",
            f"{t['residual']:.1e}",
            f"{t['energy']:.5e}",
            "yes" if t["converged"] else "no",
        ]

    names = ("<method", "steps", "evals", "factors", "time", "residual", "energy", "<ok")
    show_columns(names, map(row, trials), plain=True, close=True)
    for t in trials:
        if not t["converged"]:
            talk(f"{t['method']}: {t['reason']}", style="yellow")
