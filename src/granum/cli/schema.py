"""``granum schema``: the JSON schema of scene files, for editors and other programs."""

from __future__ import annotations

import typer

from .console import in_words, print_json


def register(app: typer.Typer) -> None:
    app.command("schema")(in_words(schema))


def schema() -> None:
    """Print the JSON schema of scene files, with which editors complete and check keys.

    \b
    granum schema > granum.schema.json
    """
    from ..scene.schema import scene_schema

    print_json(scene_schema())
