"""``granum compare``: two recordings side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .console import in_words, print_json
from .restart import recording_of

if TYPE_CHECKING:
    from ..analysis import Comparison


def register(app: typer.Typer) -> None:
    app.command("compare")(in_words(compare))


def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="Recording, or its checkpoint.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="Recording to compare it with.")],
    since: Annotated[float | None, typer.Option(help="[s] From here on. Default: half of the time that both cover.")] = None,
    until: Annotated[float | None, typer.Option(help="[s] Up to here. Default: the end of the shorter one.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Compare overlap, energy, contacts and surface of two runs in their steady state (PP 5.1)."""
    from ..analysis.compare import compare as compare_runs

    found = compare_runs(recording_of(a), recording_of(b), since=since, until=until)
    if not as_json:
        _show(found)
        return
    sums = found.overlap_sums
    print_json({
        "a": found.names[0], "b": found.names[1], "since": found.since, "until": found.until, "rows": found.table(),
        "overlap_sum": {"mean": sums.mean, "median": sums.median, "std": sums.std, "mean_difference": sums.mean_difference},
    })  # fmt: skip


def _show(found: Comparison) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(
        title=f"t = {found.since:g} to {found.until:g} s", title_justify="left", box=SIMPLE_HEAD, caption_justify="left",
        caption="means of A and B; error: PP (5.1), their difference over the range; differ: over the mean of A",
    )  # fmt: skip
    for name in ("measure", "unit", "A", "B", "error", "differ", "drift"):
        table.add_column(name, justify="left" if name in ("measure", "unit") else "right", overflow="fold")
    for k in found.series:
        numbers = (f"{k.mean_a:.5g}", f"{k.mean_b:.5g}", f"{k.error:.2%}", f"{k.mean_difference:.2%}", f"{k.drift:.1%}")
        table.add_row(k.name.replace("_", " "), k.unit, *numbers)
    sums = found.overlap_sums
    table.add_row("overlap sum", sums.unit, f"{sums.mean[0]:.5g}", f"{sums.mean[1]:.5g}", "", f"{sums.mean_difference:.2%}", "")
    Console(highlight=False).print(table)
