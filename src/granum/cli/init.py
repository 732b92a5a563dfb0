"""``granum init``: a scene file to edit, from a library scene."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..checks import InputError
from .console import command_line, in_words, pairs


def register(app: typer.Typer) -> None:
    app.command("init")(in_words(init))


def init(
    scene: Annotated[str, typer.Argument(metavar="SCENE", help="Library scene (see `granum scenes`).")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Scene file (.toml). Default: SCENE.toml.")] = None,
    values: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Parameter of the scene; `granum scenes SCENE` lists them.")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that is there.")] = False,
) -> None:
    """Write a library scene as a commented scene file, to edit and run.

    Unchanged, the file gives the same bits as the library scene: it holds all of it, grains that the library places included.

    \b
    granum init drum -o drum.toml
    granum init pile --set count=500 --set friction=0.5 -o heap.toml
    """
    from ..runs.scene_files import write_scene
    from ..scene.file import load_scene

    target = output if output is not None else Path(f"{scene}.toml")
    if Path(scene).suffix in (".toml", ".py"):
        raise InputError(f"scene {scene!r} is a file already: granum init writes scenes of the library. `granum scenes` lists them.")
    write_scene(load_scene(scene, pairs(values or [])), target, overwrite=overwrite, command=command_line())
    typer.echo(target)
