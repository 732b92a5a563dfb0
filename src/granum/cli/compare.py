"""``granum compare``: two recordings side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .console import check_picture, in_words, print_json
from .csv_out import CsvFlag, one_format, print_rows
from .quantities import quantity
from .tables import show_columns

if TYPE_CHECKING:
    from ..analysis import Comparison


def register(app: typer.Typer) -> None:
    app.command("compare")(in_words(compare))


def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="Recording, or its checkpoint.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="Recording to compare it with.")],
    since: Annotated[
        float | None, typer.Option(**quantity("s"), help="[s] From here on. Default: half of the time that both cover.")
    ] = None,
    until: Annotated[float | None, typer.Option(**quantity("s"), help="[s] Up to here. Default: the end of the shorter one.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="PNG", help="Draw both runs over each other.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
    as_csv: CsvFlag = False,
) -> None:
    """Compare overlap, energy, contacts and surface of two runs in their steady state, and histograms of overlaps.

    \b
    granum compare serial.vtkhdf parallel.vtkhdf --since 5 -o both.png
    """
    from ..analysis.compare import compare as compare_runs
    from ..runs.restart import recording_of

    one_format(as_json, as_csv)
    if output is not None:
        check_picture(output)
    found = compare_runs(recording_of(a), recording_of(b), since=since, until=until)
    if output is not None:
        from ..plot.comparison import draw_comparison

        draw_comparison(found, output)
    if as_csv:
        print_rows(found.table())
        return
    if not as_json:
        _show(found)
        return
    sums = found.overlap_sums
    print_json(
        {
            "a": found.names[0],
            "b": found.names[1],
            "since": found.since,
            "until": found.until,
            "rows": found.table(),
            "overlap_sum": {
                "mean": sums.mean,
                "median": sums.median,
                "std": sums.std,
                "mean_difference": sums.mean_difference,
                "edges": sums.edges.tolist(),
                "density_a": sums.density_a.tolist(),
                "density_b": sums.density_b.tolist(),
            },
        }
    )


def _show(found: Comparison) -> None:
    from ..analysis.compare import relative

    rows = [
        (
            k.name.replace("_", " "),
            k.unit,
            f"{k.mean_a:.5g}",
            f"{k.mean_b:.5g}",
            f"{k.error:.2%}",
            f"{k.mean_difference:.2%}",
            f"{k.drift:.1%}",
        )
        for k in found.series
    ]
    sums = found.overlap_sums
    for name, (of_a, of_b) in (("overlap sum", sums.mean), ("  median", sums.median), ("  spread", sums.std)):
        rows.append((name, sums.unit, f"{of_a:.5g}", f"{of_b:.5g}", "", f"{relative(of_a, of_b):.2%}", ""))
    show_columns(
        ("<measure", "<unit", "A", "B", "error", "differ", "drift"),
        rows,
        title=f"t = {found.since:g} to {found.until:g} s",
        caption="means of A and B; error: their difference over the range; differ: over the mean of A",
        plain=True,
    )
