"""``granum scenes``: the library scenes and their parameters."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import typer

from .console import in_words, print_json


def register(app: typer.Typer) -> None:
    app.command("scenes")(in_words(scenes))


def scenes(as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False) -> None:
    """List the library scenes with their parameters."""
    found = describe_scenes()
    if as_json:
        print_json({"scenes": found})
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    for name, scene in found.items():
        console.print(f"[bold]{name}[/bold]  {escape(scene['help'])}", soft_wrap=True)
        table = Table(box=None, pad_edge=False, padding=(0, 2), show_header=False)
        table.add_column(style="cyan")
        for key, parameter in scene["parameters"].items():
            table.add_row(f"  {key}", str(parameter["default"]), f"[dim]{parameter['type']}[/dim]")
        console.print(table)
    console.print("\nrun one with: granum run SCENE --set parameter=value")


def describe_scenes() -> dict[str, Any]:
    """Name -> first line of help, parameters with default and type."""
    from ..scene.library import LIBRARY, parameters

    return {
        name: {
            "help": (inspect.getdoc(make) or "").split("\n")[0].replace("``", ""),
            "parameters": {
                key: {"default": p.default if p.default is not inspect.Parameter.empty else None, "type": str(p.annotation)}
                for key, p in parameters(name).items()
            },
        }
        for name, make in sorted(LIBRARY.items())
    }
