"""``granum scenes``: the library scenes and their parameters."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import typer

from .console import in_words, print_json
from .csv_out import CsvFlag, one_format, print_rows
from .tables import console, show_list


def register(app: typer.Typer) -> None:
    app.command("scenes")(in_words(scenes))


def scenes(as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False, as_csv: CsvFlag = False) -> None:
    """List the library scenes with their parameters."""
    found = describe_scenes()
    one_format(as_json, as_csv)
    if as_csv:
        print_rows(
            {"scene": name, "parameter": key, "default": str(p["default"]), "type": p["type"]}
            for name, scene in found.items()
            for key, p in scene["parameters"].items()
        )
        return
    if as_json:
        print_json({"scenes": found})
        return
    from rich.markup import escape

    for name, scene in found.items():
        console().print(f"[bold]{name}[/bold]  {escape(scene['help'])}", soft_wrap=True)
        show_list((f"  {key}", str(p["default"]), f"[dim]{p['type']}[/dim]") for key, p in scene["parameters"].items())
    console().print("\nrun one with: granum run SCENE --set parameter=value")


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
