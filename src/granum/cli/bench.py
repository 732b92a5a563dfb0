"""``granum bench``: what this machine does, on a settled box of grains."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .console import in_words, print_json, talk


def register(app: typer.Typer) -> None:
    app.command("bench")(in_words(bench))


def bench(
    what: Annotated[str, typer.Argument(help="pgs, step, detect, convergence or smooth.")] = "pgs",
    particles: Annotated[int, typer.Option(help="Grains in the box.")] = 10_000,
    rows: Annotated[
        int | None, typer.Option(help="Rows per contact: 6, or 3 without rolling resistance; default: 6, smooth 3.")
    ] = None,
    iterations: Annotated[int | None, typer.Option(min=1, help="Sweeps per solve; default: 50.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
) -> None:
    """Measure solver and steps on a settled box that is made once and kept.

    Examples: granum bench pgs --particles 10000 --rows 6; granum bench step --json; granum bench convergence; granum bench smooth
    """
    import inspect

    from ..bench import BENCHMARKS
    from ..checks import InputError, known_name

    measure = BENCHMARKS[known_name("benchmark", what, BENCHMARKS)]
    chosen = {name: value for name, value in (("rows", rows), ("iterations", iterations)) if value is not None}
    for name in chosen:
        if name not in inspect.signature(measure).parameters:
            raise InputError(f"benchmark {what!r} has no {name}: leave --{name} out.")
    result = measure(particles=particles, talk=talk, **chosen)
    if as_json:
        print_json(result)
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
            rows += _flat(value, f"{name.replace('_', ' ')}: ")
        elif name != "benchmark":
            shown = f"{value:.4g}" if isinstance(value, float) else str(value)
            rows.append((prefix + name.replace("_", " "), f"{value:.1%}" if "share" in prefix + name else shown))
    return rows
