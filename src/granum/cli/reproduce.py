"""``granum reproduce``: an experiment of a paper, ours beside theirs, with its figures."""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..checks import InputError, known_name
from ..progress import Bar
from ..talk import stderr, talk
from .console import in_words, print_json
from .csv_out import CsvFlag, one_format, print_rows
from .tables import show_columns

if TYPE_CHECKING:
    from ..papers import Row
    from ..pool import Job


def register(app: typer.Typer) -> None:
    app.command("reproduce")(in_words(reproduce))


def reproduce(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Experiment; see --list.")] = None,
    show_list: Annotated[bool, typer.Option("--list", help="List the experiments.")] = False,
    full: Annotated[bool, typer.Option("--full", help="The paper's size (up to hours) instead of minutes.")] = False,
    workers: Annotated[
        int | None, typer.Option("--workers", "-j", help="Processes; default: one for each core. Results do not depend on it.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", metavar="ADDRESS", help="Dask scheduler whose workers compute the runs instead.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run all again, whatever earlier calls have finished.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Table and all curves as one JSON object.")] = False,
    as_csv: CsvFlag = False,
    folder: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="For the figures.")] = Path(),
) -> None:
    """Repeat an experiment of a paper: a table beside the paper's statements, and figures.

    Finished runs are kept in the user's cache, so that an experiment that was stopped goes on; an edit of granum runs all again.
    """
    from ..papers import EXPERIMENTS
    from ..pool import Pool, RunStore, run_jobs

    one_format(as_json, as_csv)
    if show_list:
        _show_list(as_json, as_csv)
        return
    if name is None:
        raise InputError(f"which experiment? Choose one of: {', '.join(map(repr, EXPERIMENTS))}.")
    experiment = EXPERIMENTS[known_name("experiment", name, EXPERIMENTS)]
    _make_folder(folder)
    pool = Pool(workers, scheduler)
    began = monotonic()
    _compile()
    size, numbers = ("full", experiment.full) if full else ("quick", experiment.quick)
    store = RunStore(fresh=fresh)

    def found(there: int, of: int) -> None:
        if there:
            talk(f"{name}: {there} of {of} runs are there from before (--fresh runs them again)")

    parts = itertools.count(1)

    def run(jobs: Sequence[Job]) -> list[Any]:
        """An experiment may run its jobs in parts, the later ones from what the earlier ones gave."""
        part = next(parts)
        with Bar(name if part == 1 else f"{name}, part {part}") as bar:
            bar.show(0.0)
            return run_jobs(jobs, pool, bar.show, store, found)

    try:
        with pool:
            outcome = experiment.measure(numbers, run)
    except KeyboardInterrupt:
        if store.folder is not None:
            talk(f"{name}: finished runs are kept; the same command goes on from there")
        raise
    figures = [str(path) for path in experiment.draw(outcome, folder)]
    seconds = monotonic() - began
    if as_csv:
        print_rows(dataclasses.asdict(row) for row in outcome.rows)
        return
    if as_json:
        rows = [dataclasses.asdict(row) for row in outcome.rows]
        print_json(
            plain(
                {
                    "name": name,
                    "size": size,
                    "settings": dataclasses.asdict(numbers),
                    "rows": rows,
                    "curves": outcome.curves,
                    "figures": figures,
                    "seconds": seconds,
                }
            )
        )
        return
    _show_table(f"{name}, {size}: {experiment.title}", outcome.rows)
    typer.echo(f"figures: {', '.join(figures)}; {seconds:.0f} s")


def plain(value: Any) -> Any:
    """``value`` with arrays and their numbers as lists and numbers of Python."""
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return value.tolist() if hasattr(value, "tolist") else value


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"folder {str(folder)!r} cannot be made: {error.strerror or error}.") from None
    if not os.access(folder, os.W_OK):
        raise InputError(f"folder {str(folder)!r} is not writable.")


def _compile() -> None:
    """Kernels once, before the workers start, with a word if it takes long."""
    from .._jit import cache_is_warm
    from ..observe import Compiling
    from ..papers.methods import warm_kernels

    note = Compiling(stderr())
    if not cache_is_warm():
        note.show()
    try:
        warm_kernels()
    finally:
        note.hide()


def _show_list(as_json: bool, as_csv: bool) -> None:
    from ..papers import EXPERIMENTS

    if as_csv:
        print_rows({"experiment": name, "title": experiment.title} for name, experiment in EXPERIMENTS.items())
        return
    if as_json:
        print_json({"experiments": {name: experiment.title for name, experiment in EXPERIMENTS.items()}})
        return
    for name, experiment in EXPERIMENTS.items():
        typer.echo(f"{name}  {experiment.title}")


def _show_table(title: str, rows: list[Row]) -> None:
    from rich.markup import escape

    agrees = {None: "", True: "yes", False: "[red]no[/red]"}
    cells = ((escape(row.what), escape(row.ours), escape(row.paper), agrees[row.agrees]) for row in rows)
    show_columns(("<what", "<ours", "<paper", "<agrees"), cells, title=title, wide=True)
