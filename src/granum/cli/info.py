"""``granum info``: what made a file, and what is in it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .console import in_words
from .restart import recording_of


def register(app: typer.Typer) -> None:
    app.command("info")(in_words(info))


def info(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Recording (or its checkpoint, for the recording beside it).")],
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object: the summary of the run, and what made it.")] = False,
) -> None:
    """Show what a recording holds and how it was made."""
    from ..io import Recording
    from .summary import from_recording, show

    path = recording_of(file)
    with Recording(path) as recording:
        made_by = origin(recording)
        if "kind" in recording.description:
            _show_found(recording, made_by, as_json)
            return
    summary = from_recording(path)
    if as_json:
        show(summary | {"origin": made_by}, True)
        return
    _show_origin(made_by)
    show(summary, False)


def _show_found(recording: Any, made_by: dict[str, Any], as_json: bool) -> None:
    """Of packings, and of relaxed runs: what the command that wrote them reported."""
    from . import jam, minimise, relax, shear
    from .packings import last_packing, packing_rows, show

    found = recording.summary or last_packing(recording)
    kind = found["kind"]
    tables = {
        "jam": jam.rows,
        "shear": shear.rows,
        "relaxed": relax.rows,
        "minimise": lambda s: [*packing_rows(s), *minimise.report_rows(s)],
    }
    if not as_json:
        _show_origin(made_by)
    content = found | {"recording": str(recording.path), "frames": len(recording)}
    show(content | {"origin": made_by} if as_json else content, tables.get(kind, packing_rows)(found), f"granum {kind}", as_json)


def origin(recording: Any) -> dict[str, Any]:
    """Command, versions, seed and frames of a recording."""
    from ..io.packing import moment

    description, times = recording.description, recording.times
    return {
        "command": description.get("command"),
        "seed": description.get("seed"),
        "versions": description.get("versions", {}),
        "frames": len(recording),
        "first_time": float(times[0]) if len(times) else None,
        "last_time": float(times[-1]) if len(times) else None,
        "first": moment(recording, times[0]) if len(times) else None,
        "last": moment(recording, times[-1]) if len(times) else None,
        "cell": (description.get("scene", {}).get("cell") or {}).get("vectors"),
    }


def _show_origin(made_by: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="made by", show_header=False, title_justify="left")
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("command", str(made_by["command"]))
    table.add_row("versions", ", ".join(f"{name} {version}" for name, version in made_by["versions"].items()))
    if made_by["seed"] is not None:
        table.add_row("seed", str(made_by["seed"]))
    if made_by["cell"] is not None:
        table.add_row("cell", _cell_in_words(made_by["cell"]))
    span = f", {made_by['first']} to {made_by['last']}" if made_by["frames"] else ""
    table.add_row("frames", f"{made_by['frames']}{span}")
    Console(highlight=False).print(table)


def _cell_in_words(vectors: list[list[float]]) -> str:
    """Lengths of an upright cell, else its vectors, and the axes that repeat."""
    dim = len(vectors)
    leans = any(vectors[k][f] for k in range(dim) for f in range(dim) if k != f)
    size = ", ".join(str(tuple(v)) for v in vectors) if leans else " x ".join(f"{vectors[k][k]:g}" for k in range(dim))
    axes = ("x", "x and y", "x, y and z")[dim - 1]
    return f"{size} m, repeats along {axes}"
