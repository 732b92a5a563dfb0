"""``granum check``: what a run of a scene will be, before it is run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..talk import in_milliseconds, in_time
from .console import check_picture, in_words, pairs, print_json
from .csv_out import CsvFlag, one_format, print_rows
from .tables import show_rows


def register(app: typer.Typer) -> None:
    app.command("check")(in_words(check))


def check(
    scene: Annotated[str, typer.Argument(metavar="SCENE", help="Scene file (.toml or .py), or a library scene.")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Picture of the start (.png). Default: SCENE-start.png.")] = None,
    values: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Parameter of the scene, or a place in it.")
    ] = None,
    no_picture: Annotated[bool, typer.Option("--no-picture", help="Do not draw the start.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, SI units.")] = False,
    as_csv: CsvFlag = False,
) -> None:
    """Check a scene without running it: its start as a picture, grains, sizes, speeds, time step, memory, disk and time.

    \b
    granum check drum.toml
    granum check pile --set count=100000 --no-picture
    """
    from ..runs.scene_files import check_scene

    one_format(as_json, as_csv)
    picture = None if no_picture else output if output is not None else Path(f"{Path(scene).stem}-start.png")
    if picture is not None:
        check_picture(picture)
    found = check_scene(scene, values=pairs(values or []), picture=picture)
    if as_json:
        print_json(found)
    elif as_csv:
        print_rows([found])
    else:
        show_rows(rows(found), f"check of {found['scene']}")


def rows(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Names and values of the table."""
    from rich.markup import escape

    from ..memory import in_words as in_bytes

    sizes = [found["diameter_smallest"], found["diameter_largest"]]
    later = found["grains"] - found["grains_at_start"]
    shown = [
        ("grains", f"{found['grains']}" + (f", {later} of them from emitters" if later > 0 else "")),
        ("diameters", " to ".join(f"{1e3 * d:.4g}" for d in dict.fromkeys(sizes)) + " mm" if found["grains"] else "none"),
        ("walls, bodies", f"{found['walls']}, {found['bodies']}"),
        *([("meshes", "\n".join(map(escape, found["meshes"])))] if found["meshes"] else []),
        ("fastest", f"{found['fastest']:.3g} m/s: {found['fastest_is']}"),
        ("time step", f"{in_milliseconds(found['time_step'])} ({found['stepper']}): {found['time_step_reason']}"),
        ("duration", f"{found['duration']:g} s, {found['steps']} steps, {found['frames']} frames"),
        ("memory", f"about {in_bytes(found['memory_bytes'])}"),
        ("disk", f"about {in_bytes(found['recording_bytes'])} of recording"),
        ("time", f"about {in_time(found['wall_seconds'])} on one thread, good to a factor of a few" if found["wall_seconds"] else "short"),
    ]
    shown += [("picture", str(found["picture"]))] if found["picture"] else []
    return shown + [("warning", f"[yellow]{escape(warning)}[/yellow]") for warning in found["warnings"]]
