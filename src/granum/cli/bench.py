"""``granum bench``: what this machine does, on a settled box of grains."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from .console import check_picture, in_words, print_json, talk


def register(app: typer.Typer) -> None:
    app.command("bench")(in_words(bench))


def bench(
    what: Annotated[str, typer.Argument(help="pgs, step, detect, convergence, smooth, parallel, minimise or reduction.")] = "pgs",
    particles: Annotated[int | None, typer.Option(help="Grains in the box; default: 10000, parallel 20000, minimise 4096.")] = None,
    rows: Annotated[int | None, typer.Option(help="Rows per contact: 6, or 3 without rolling resistance; default: 6, smooth 3.")] = None,
    iterations: Annotated[int | None, typer.Option(min=1, help="Sweeps per solve; default: 50.")] = None,
    threads: Annotated[int | None, typer.Option(help="parallel: threads that are measured; default: 2.")] = None,
    drum: Annotated[int | None, typer.Option(help="parallel: grains of the drum that is predicted; default: 100000, 0: none.")] = None,
    jacobian: Annotated[str | None, typer.Option(help="parallel: rows of plain sweeps, recomputed, cached or both (default).")] = None,
    dim: Annotated[int | None, typer.Option(help="minimise: 2 (default) or 3.")] = None,
    sizes: Annotated[
        int | None, typer.Option(help="minimise: packings, each of 4 times as many grains; default: 2, 3 goes to 65536.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="PNG", help="parallel: draw the predicted curves.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Measure solver and steps on a settled box that is made once and kept.

    Examples: granum bench pgs --particles 10000 --rows 6; granum bench step --json; granum bench convergence; granum bench smooth;
    granum bench parallel --threads 2 -o speed-up.png; granum bench minimise --sizes 3;
    granum bench reduction --particles 100000
    """
    import inspect

    from ..bench import BENCHMARKS
    from ..checks import InputError, known_name

    measure = BENCHMARKS[known_name("benchmark", what, BENCHMARKS)]
    given = {
        "particles": particles,
        "rows": rows,
        "iterations": iterations,
        "threads": threads,
        "drum": drum,
        "jacobian": jacobian,
        "dim": dim,
        "sizes": sizes,
        "output": output,
    }
    if output is not None:
        check_picture(output)
    chosen = {name: value for name, value in given.items() if value is not None}
    for name in chosen:
        if name not in inspect.signature(measure).parameters:
            raise InputError(f"benchmark {what!r} has no {name}: leave --{name} out.")
    result = measure(talk=talk, **chosen)
    if as_json:
        print_json(result)
        return
    if what == "parallel":
        _show_parallel(result)
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"granum bench {what}", title_justify="left", show_header=False)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(justify="right")
    for name, value in _flat(result):
        table.add_row(name, value)
    Console(highlight=False).print(table)


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
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

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
    table = Table(title="predicted speed-up S(p)", title_justify="left", box=SIMPLE_HEAD)
    threads = list(result["predicted"]["box"]["speed_up"]["momentum"])
    for column in ("system", "sweep", "work", "span", *threads):
        table.add_column(column, justify="left" if column in ("system", "sweep") else "right")
    for name, system in result["predicted"].items():
        for kind, speed_up in system["speed_up"].items():
            work = (f"{system['work_blocks']} blocks", str(system["span_blocks"]))
            table.add_row(name, f"colours, {kind}", *work, *(f"{s:.1f}" for s in speed_up.values()))
        for width, zones in system["zones"].items():
            work = (f"{zones['work']} contacts", str(zones["span"]))
            table.add_row(name, f"PP's zones, {width}", *work, *(f"{s:.1f}" for s in zones["speed_up"].values()))
    Console(highlight=False, width=None if sys.stdout.isatty() else 140).print(table)
    typer.echo(result["formula"])
    for name, system in result["predicted"].items():
        typer.echo(f"  {name}: {system['formula']}")
        moved, rate = system["megabytes_per_sweep"], system["gigabytes_per_second_at_8"]
        typer.echo(f"  {name}: a sweep moves {moved:.0f} MB, which takes {rate:.0f} GB/s of caches and memory at 8 threads")
    typer.echo(f"left out: {result['left_out']}")
    typer.echo(f"PP: {result['paper']}")
    if "figure" in result:
        typer.echo(f"figure: {result['figure']}")
