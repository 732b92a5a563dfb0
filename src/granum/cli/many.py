"""What commands of many runs share: their options, their scene, and tables of means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import extensions
from .console import pairs, print_json, talk
from .csv_out import csv_option, print_columns
from .options import argument, json_option, no_picture, option, output_option, settings_of
from .run import OPTIONS as RUN_OPTIONS
from .run import run_settings
from .tables import show_columns

if TYPE_CHECKING:
    from ..runs.many.points import Maker
    from ..runs.many.table import RunTable

MANY, RUNS = "Many runs", "How long, and with what"
LEFT_OUT = ("threads", "checkpoint_every", "record", "precision", "compress")  # every run has one thread; its recording is not kept
OPTIONS = tuple(one for one in RUN_OPTIONS if one.name not in LEFT_OUT)
SCENE = argument("scene", str, "Library scene (see `granum scenes`), .toml file or .py file.")
SET = option("values", list[str] | None, "--set", metavar="KEY=VALUE", help="Parameter of all runs, as in `granum run`.", panel=RUNS)
WORKERS = (
    option("workers", int | None, "--workers", "-j", help="Runs at once, one process each. Default: one for each core.", panel=MANY),
    option("scheduler", str | None, "--scheduler", metavar="ADDRESS", help="Dask scheduler whose workers compute instead.", panel=MANY),
    option("fresh", bool, "--fresh", help="Run all again, whatever earlier calls have finished.", default=False, panel=MANY),
)
FILES = (
    output_option("Table, with the picture beside it. Default: SCENE-COMMAND.csv."),
    no_picture("Do not draw the picture."),
    json_option("All rows and means as one JSON object."),
    csv_option("All rows as comma-separated values on stdout, below their names."),
)


def maker(given: dict[str, Any]) -> Maker:
    """Scene and settings of a run, as ``granum run`` makes them of the same options."""
    from ..scene.file import load_scene

    asked, values = extensions.asked(given), pairs(given["values"] or [])

    def make(varied: Any, seed: int | None) -> Any:
        scene = load_scene(given["scene"], {**values, **varied}, seed)
        for one in asked:
            scene = one.add_to(scene)
        return scene, run_settings(scene, settings_of(OPTIONS, given), seed, asked)

    return make


def placed(given: dict[str, Any]) -> dict[str, Any]:
    """Where runs are computed."""
    return {name: given[name] for name in ("workers", "scheduler", "fresh")}


def show_table(found: RunTable, as_json: bool, as_csv: bool) -> None:
    """Means over the seeds, and where the rows are; as comma-separated values: the rows themselves."""
    from rich.markup import escape

    from ..runs.many.csv_file import heading
    from ..runs.many.table import shown

    if as_json:
        print_json(found.summary)
        return
    if as_csv:
        print_columns({name: [row.get(name) for row in found.rows] for name in found.columns}, found.all_units)
        return
    heads = [
        *(f"<{escape(heading(name, found.units))}" for name in found.grouped),
        "<measure",
        "<unit",
        "runs",
        "mean",
        "std",
        "standard error",
    ]
    names = [*found.grouped, "measure", "unit", "runs", "mean", "std", "standard_error"]
    show_columns(
        heads, ([shown(row[name]) for name in names] for row in found.means()), title=f"{found.title}: means over seeds", wide=True
    )
    for note in found.notes:
        talk(f"note: {note}", style="yellow")
    files = [str(path) for path in (found.csv, found.picture) if path is not None]
    if files:
        talk(f"{len(found.rows)} runs: {', '.join(files)}")


def check_failed(found: RunTable) -> None:
    """Fail, when all is written and shown, if a run had to stop."""
    from ..checks import RunError

    if found.failed:
        first = next(row for row in found.rows if row["failed"] is not None)
        point = ", ".join(f"{name} = {first[name]}" for name in found.parameters)
        raise RunError(f"{found.failed} of {len(found.rows)} runs failed; the first, with {point}: {first['failed']}")
