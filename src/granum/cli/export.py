"""``granum export``: a thin door to :func:`granum.export_vtk` and :func:`granum.write_state`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..checks import InputError
from ..progress import Bar
from .analyse import choose_frames
from .console import in_words, print_json


def register(app: typer.Typer) -> None:
    app.command("export")(in_words(export))


def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Recording, or its checkpoint.")],
    vtk: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write .pvd and .vtp files of grains, contacts and walls here.")
    ] = None,
    paraview: Annotated[Path | None, typer.Option(metavar="STATE.py", help="Write a ParaView state with spheres and a colour bar.")] = None,
    parts: Annotated[str, typer.Option(metavar="NAMES", help="Of --vtk, with commas: grains, contacts, walls.")] = "grains,contacts,walls",
    frames: Annotated[str | None, typer.Option(metavar="A:B", help="Of --vtk: frames A to B - 1; negative: from the end.")] = None,
    last: Annotated[int | None, typer.Option(metavar="N", help="Of --vtk: the last N frames.")] = None,
    time: Annotated[str | None, typer.Option(metavar="A:B", help="Of --vtk: frames from A to B [s].")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Names of the files, as one JSON object.")] = False,
) -> None:
    """Write a recording for ParaView and other programs that read VTK files.

    A recording is itself a file that ParaView opens: its grains as points. This adds contacts as lines with their forces, walls as surfaces
    that move, and a state in which grains are spheres.

    \b
    granum export drum.vtkhdf --paraview drum.py
    granum export drum.vtkhdf --vtk drum-vtk --paraview drum.py
    granum export drum.vtkhdf --vtk drum-vtk --parts walls --last 10
    """
    from ..export import check_state, export_vtk, write_state
    from ..io import Recording
    from ..runs.restart import recording_of

    if vtk is None and paraview is None:
        raise InputError("what is to be written? Give --vtk FOLDER, --paraview STATE.py, or both.")
    if vtk is None and (
        beside := [name for name, value in (("--frames", frames), ("--last", last), ("--time", time)) if value is not None]
    ):
        raise InputError(f"leave {', '.join(beside)} out, or give --vtk FOLDER: a state of ParaView shows all frames.")
    if paraview is not None:
        check_state(paraview)  # before the files of --vtk are written
    with Recording(recording_of(file)) as recording:
        chosen = choose_frames(recording, frames, last, time)
        written: list[Path] = []
        if vtk is not None:
            names = [name.strip() for name in parts.split(",") if name.strip()]
            with Bar(f"export {recording.path.name}") as bar:
                written = export_vtk(recording, vtk, parts=names, frames=chosen, progress=bar.show)
        state = write_state(recording, paraview, written) if paraview is not None else None
    if as_json:
        print_json({"collections": [str(path) for path in written], "state": None if state is None else str(state)})
        return
    for path in written:
        typer.echo(f"{path}: open it in ParaView")
    if state is not None:
        typer.echo(f"{state}: paraview --state={state}, or File > Load State")
