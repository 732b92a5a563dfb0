"""``granum bench``: what this machine does, on a settled box of grains, and what other programs do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from ..extensions import names_in
from ..talk import talk
from .console import check_picture, in_words, print_json
from .csv_out import csv_option, one_format, print_rows
from .extensions import examples
from .options import argument, json_option, option, with_parameters
from .tables import show_columns, show_rows

NAMES = ("pgs", "step", "detect", "convergence", "smooth", "small", "parallel", "minimise", *names_in("bench"), "compare", "all")
OPTIONS: dict[str, tuple[Any, str, dict[str, Any]]] = {
    "particles": (int, "Grains in the box. Default: 10000, small 1 to 100, parallel 20000, minimise 4096.", {}),
    "rows": (int, "Rows per contact: 6, or 3 without rolling resistance. Default: 6, smooth 3.", {}),
    "iterations": (int, "Sweeps per solve. Default: 50.", {"min": 1}),
    "threads": (int, "smooth and parallel: threads that are measured. Default: 1, parallel 2.", {}),
    "drum": (int, "parallel: grains of the drum that is predicted, 0: none. Default: 100000.", {}),
    "jacobian": (str, "parallel: rows of plain sweeps, recomputed, cached or both. Default: both.", {}),
    "dim": (int, "minimise: 2 or 3. Default: 2.", {}),
    "sizes": (int, "minimise: packings, each of 4 times as many grains; 3 goes to 65536. Default: 2.", {}),
}
"""Kind and help of what a benchmark may be told."""
KEYWORDS = {"particles": "count"}
"""Of options that benchmarks know by another name."""


def register(app: typer.Typer) -> None:
    app.command("bench")(in_words(bench))


@with_parameters(
    argument("what", str, f"{', '.join(NAMES[:-1])} or {NAMES[-1]}.", default="pgs", metavar="WHAT"),
    *(option(name, kind | None, f"--{name}", help=text, **more) for name, (kind, text, more) in OPTIONS.items()),
    option("output", Path | None, "--output", "-o", metavar="PNG", help="parallel: draw the predicted curves."),
    option(
        "record", Path | None, "--record", metavar="CSV", help="Add a row for each figure, with date, commit and machine, to this file."
    ),
    json_option("One JSON object on stdout.", None),
    csv_option("One line of comma-separated values, below their names.", None),
    examples=examples("bench"),
)
def bench(**options: Any) -> None:
    """Measure solver and steps on a settled box that is made once and kept.

    compare holds a step of granum against Bullet, LIGGGHTS and LAMMPS, where they are installed: the same spheres at the same positions,
    the same friction, time step and number of sweeps, one thread, medians of whole steps, collision detection included. Bullet has 3 rows
    per contact, without rolling resistance, so granum is measured with 3 rows, and with its default of 6 besides. How far the bed sinks
    tells how well its contacts are solved.

    all runs all but compare, in some minutes: parallel without its drum and minimise with one size, unless these are given. An option goes
    to those that know it.

    \b
    granum bench pgs --particles 10000 --rows 6
    granum bench step --json
    granum bench convergence
    granum bench smooth --threads 2
    granum bench small --particles 10
    granum bench parallel --threads 2 -o speed-up.png
    granum bench minimise --sizes 3
    granum bench compare
    granum bench all --record benchmarks/records.csv
    """
    from ..bench import BENCHMARKS, append_record, check_record, figures_of, measure_all
    from ..checks import known_name

    one_format(options["as_json"], options["as_csv"])
    what, output, record = options["what"], options["output"], options["record"]
    known_name("benchmark", what, [*BENCHMARKS, "all"])
    if output is not None:
        check_picture(output)
    if record is not None:
        check_record(record)
    chosen = {name: options[name] for name in (*OPTIONS, "output") if options[name] is not None}
    given = {KEYWORDS.get(name, name): value for name, value in chosen.items()}
    if what == "all":
        result = measure_all(BENCHMARKS, given, talk)
    else:
        _check_known(what, BENCHMARKS[what], chosen)
        result = BENCHMARKS[what](talk=talk, **given)
    if record is not None:
        rows = append_record(record, result["figures"] if what == "all" else figures_of(result, given))
        talk(f"recorded: {rows} rows in {record}")
    if options["as_json"]:
        print_json(result)
    elif options["as_csv"]:
        print_rows(result["figures"] if what == "all" else [result])
    elif what in SHOWN:
        SHOWN[what](result)
    else:
        show_rows(_flat(result), f"granum bench {what}", justify="right")


def _check_known(what: str, measure: Callable[..., Any], chosen: dict[str, Any]) -> None:
    """Refuse an option that the benchmark does not have."""
    import inspect

    from ..checks import InputError

    for name in chosen:
        if KEYWORDS.get(name, name) not in inspect.signature(measure).parameters:
            raise InputError(f"benchmark {what!r} has no {name}: leave --{name} out.")


def _flat(result: dict[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for name, value in result.items():
        if isinstance(value, dict):
            rows += _flat(value, f"{prefix}{name.replace('_', ' ')}: ")
        elif name != "benchmark":
            shown = f"{value:.4g}" if isinstance(value, float) else str(value)
            rows.append((prefix + name.replace("_", " "), f"{value:.1%}" if "share" in prefix + name else shown))
    return rows


def _show_parallel(result: dict[str, Any]) -> None:
    """What was measured in lines, what is predicted as a table with a column for each number of threads."""
    n, measured = result["threads"], result["measured"]
    before, after = measured["milliseconds_per_step"].values()
    typer.echo(
        f"measured, box of {result['grains']} grains, {result['contacts']} contacts, {result['rows']} rows, {result['iterations']} sweeps, "
        f"{n} threads: solve {measured['solve_speed_up']:.2f} x, whole step {measured['step_speed_up']:.2f} x "
        f"({before:.1f} to {after:.1f} ms), {'the same bits' if measured['same_bits'] else 'OTHER BITS'}; "
        f"a barrier of 2 threads takes {measured['barrier_nanoseconds']:.0f} ns"
    )
    for kind, found in result["rows_of_plain_sweeps"].items():
        cost = found["ns_per_contact_iteration"]
        typer.echo(f"  plain sweeps, rows {kind}: {cost:.1f} ns per contact and sweep with 1 thread, {found['speed_up']:.2f} x")
    threads = list(result["predicted"]["box"]["speed_up"]["momentum"])
    rows: list[list[str]] = []
    for name, system in result["predicted"].items():
        for kind, speed_up in system["speed_up"].items():
            work = (f"{system['work_blocks']} blocks", str(system["span_blocks"]))
            rows.append([name, f"colours, {kind}", *work, *(f"{s:.1f}" for s in speed_up.values())])
        for width, zones in system["zones"].items():
            work = (f"{zones['work']} contacts", str(zones["span"]))
            rows.append([name, f"zones of Sundberg, {width}", *work, *(f"{s:.1f}" for s in zones["speed_up"].values())])
    show_columns(("<system", "<sweep", "work", "span", *threads), rows, title="predicted speed-up S(p)", plain=True, wide=True)
    typer.echo(result["formula"])
    for name, system in result["predicted"].items():
        typer.echo(f"  {name}: {system['formula']}")
        moved, rate = system["megabytes_per_sweep"], system["gigabytes_per_second_at_8"]
        typer.echo(f"  {name}: a sweep moves {moved:.0f} MB, which takes {rate:.0f} GB/s of caches and memory at 8 threads")
    typer.echo(f"left out: {result['left_out']}")
    typer.echo(f"Sundberg (granum references): {result['paper']}")
    if "figure" in result:
        typer.echo(f"figure: {result['figure']}")


def _show_all(result: dict[str, Any]) -> None:
    """A line for each figure."""
    rows = [(row["benchmark"], row["figure"], f"{row['value']:.4g}", row["unit"]) for row in result["figures"]]
    show_columns(("<benchmark", "<figure", "value", "<unit"), rows, title="granum bench all", plain=True, wide=True)


def _show_compare(result: dict[str, Any]) -> None:
    """A line for each program; what is missing below them."""
    rows = []
    for kind in ("nonsmooth", "smooth"):
        for name, found in result[kind].items():
            program = f"{name} {found['version']}" if "version" in found else name
            step, over, sunk = found["milliseconds_per_step"], found["over_granum"], found["sunk_diameters"]
            rows.append((kind, program, f"{step:.4g}", f"{over:.3g}", str(found.get("contacts", "")), f"{sunk:.2g}"))
    title = f"granum bench compare: {result['grains']} grains at rest, {result['iterations']} sweeps in a nonsmooth step, 1 thread"
    show_columns(("<step", "<program", "ms", "over granum", "contacts", "sunk \\[d]"), rows, title=title, plain=True, wide=True)
    for name, reason in result["missing"].items():
        typer.echo(f"{name} is left out: {reason}")


SHOWN = {"parallel": _show_parallel, "compare": _show_compare, "all": _show_all}
"""Benchmarks whose results are shown in a way of their own."""
