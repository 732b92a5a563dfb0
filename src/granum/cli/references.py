"""``granum references``: the papers that granum follows and repeats."""

from __future__ import annotations

from typing import Annotated

import typer

from ..references import PAPERS
from .console import in_words, print_json
from .csv_out import CsvFlag, one_format, print_rows
from .tables import console


def register(app: typer.Typer) -> None:
    app.command("references")(in_words(references))


def references(as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False, as_csv: CsvFlag = False) -> None:
    """List the five papers that granum follows, with the initials that names of experiments begin with."""
    one_format(as_json, as_csv)
    if as_csv:
        print_rows({"initials": name, **paper._asdict()} for name, paper in PAPERS.items())
        return
    if as_json:
        print_json({"papers": {name: paper._asdict() for name, paper in PAPERS.items()}})
        return
    for name, paper in PAPERS.items():
        console().print(f"[cyan]{name}[/cyan]  {paper.authors}: [bold]{paper.title}[/bold]. {paper.where}")
        console().print(f"    {paper.gives}")
