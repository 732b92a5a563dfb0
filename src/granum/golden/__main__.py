"""``python -m granum.golden``: compare this machine's bits with the golden ones, or write these anew."""

from __future__ import annotations

from typing import Annotated

import typer

from ..checks import known_name
from ..cli.console import in_words, print_json, talk
from . import SCENES, compute, expected, mismatches, write


def golden(
    scene: Annotated[list[str] | None, typer.Option(help="Only this scene; repeatable.")] = None,
    threads: Annotated[int, typer.Option(min=1)] = 1,
    anew: Annotated[bool, typer.Option("--write", help="Write all hashes anew: for a change that moves bits on purpose.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The hashes of this machine as one JSON object on stdout.")] = False,
) -> None:
    """Compute the golden scenes and compare their hashes with those that granum was published with."""
    if anew:
        write()
        talk("wrote the golden hashes. Say in CHANGELOG.md that bits have moved, and why.")
        return
    names = [known_name("golden scene", name, SCENES) for name in scene or SCENES]
    found, reference = compute(names, threads), expected()
    other = mismatches(found, reference)
    if as_json:
        print_json(found)
    for name in names if not as_json else ():
        typer.echo(f"{name:10} {found[name][:16]}  {'differs' if name in other else 'equal'}")
    if other:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(in_words(golden))
