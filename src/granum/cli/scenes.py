"""``granum scenes``: the library scenes, and the parameters of one."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .console import in_words, print_json
from .csv_out import CsvFlag, one_format, print_rows
from .tables import console, show_columns, show_list


def register(app: typer.Typer) -> None:
    app.command("scenes")(in_words(scenes))


def scenes(
    scene: Annotated[str | None, typer.Argument(metavar="[SCENE]", help="Show the parameters of this one. Default: list all.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, with all parameters.")] = False,
    as_csv: CsvFlag = False,
) -> None:
    """List the library scenes, or the parameters of one of them with defaults and units.

    \b
    granum scenes
    granum scenes drum
    granum scenes --json
    granum scenes drum --csv
    """
    from ..checks import known_name
    from ..scene.library import LIBRARY
    from ..scene.library.described import summary

    one_format(as_json, as_csv)
    names = sorted(LIBRARY) if scene is None else [known_name("scene", scene, LIBRARY)]
    if as_csv:
        print_rows(
            {"scene": name, "parameter": key, **one, "default": shown(one["default"])}
            for name in names
            for key, one in describe(name)["parameters"].items()
        )
    elif as_json:
        print_json({"scenes": {name: describe(name) for name in names}})
    elif scene is not None:
        _show(scene)
    else:
        show_list((name, summary(name)) for name in names)
        console().print("\ngranum scenes SCENE shows its parameters; granum run SCENE --set PARAMETER=VALUE runs it;")
        console().print("granum init SCENE -o FILE.toml writes a file to edit.", highlight=False)


def describe(name: str) -> dict[str, Any]:
    """What a scene is, and its parameters with kind, default in effect, unit and meaning."""
    from ..scene.library.described import described, summary

    return {
        "help": summary(name),
        "parameters": {
            key: {"default": one.default, "type": one.kind, "unit": one.unit, "help": one.meaning} for key, one in described(name).items()
        },
    }


def _show(name: str) -> None:
    from rich.markup import escape

    from ..scene.library.described import described, explanation, summary

    out = console()
    out.print(f"[bold]{name}[/bold]  {escape(summary(name))}")
    rows = [[key, shown(one.default), one.unit, escape(one.meaning)] for key, one in described(name).items()]
    show_columns(("<parameter", "default", "<unit", "<what it is"), rows, plain=True)
    for paragraph in explanation(name).split("\n\n"):
        out.print(escape(paragraph) + "\n")
    out.print(f"granum run {name} --set PARAMETER=VALUE, or granum init {name} -o {name}.toml for a file to edit")


def shown(value: Any) -> str:
    """A default, with six digits at most."""
    return "none" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
