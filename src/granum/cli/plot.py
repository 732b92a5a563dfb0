"""``granum plot``: a figure of a recording."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..checks import InputError, known_name
from .console import in_words

NAMES = (
    "picture, network, aggregates, velocity, density, packing, pressure, shear, inertial, histogram, forces, profile, janssen, energy, "
    "contacts, overlap, solver, reduction"
)
PACKING_NAMES = "packing, network, forces, shear, search"
FORMATS = (".png", ".pdf", ".svg")
FRAME, PLANE = "Which frames", "Drawings of a slab (lengths in mean diameters)"


def register(app: typer.Typer) -> None:
    app.command("plot")(in_words(plot))


def plot(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Recording of a run, finished or not.")],
    figure: Annotated[str, typer.Argument(metavar="FIGURE", help=f"Of a run: {NAMES}. Of packings: {PACKING_NAMES}.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Figure file (.png, .pdf or .svg); default: beside FILE, with FIGURE in its name.")
    ] = None,
    frame: Annotated[int | None, typer.Option(help="Number, negative: from the end. Default: the last.", rich_help_panel=FRAME)] = None,
    time: Annotated[float | None, typer.Option(help="[s] The frame nearest to it.", rich_help_panel=FRAME)] = None,
    average: Annotated[int | None, typer.Option(help="Mean over this many frames, up to the chosen one.", rich_help_panel=FRAME)] = None,
    view: Annotated[str | None, typer.Option(help="Look along x, y or z. Default: y, or a drum's axis.", rich_help_panel=PLANE)] = None,
    slab: Annotated[float | None, typer.Option(help="Thickness of the slab [d].", rich_help_panel=PLANE)] = None,
    width: Annotated[float | None, typer.Option(help="Width of the coarse-graining kernel [d].", rich_help_panel=PLANE)] = None,
    grains: Annotated[bool, typer.Option("--grains", help="Draw the grains over a field.", rich_help_panel=PLANE)] = False,
) -> None:
    """Draw a figure of a recording.

    \b
    granum plot drum.h5 velocity --average 20 --grains
    granum plot heap.h5 aggregates --time 2.5 --slab 4
    granum plot heap.h5 reduction -o level.pdf
    """
    from ..io import Recording
    from ..plot.figures import draw_figure
    from ..plot.look import Look
    from ..plot.style import save
    from ..runs.restart import recording_of

    look = Look(frame=frame, time=time, average=average, view=view, slab=slab, width=width, grains=grains or None)
    if Path(figure).name != figure:  # it becomes a part of a file's name
        known_name("figure", figure, f"{NAMES}, {PACKING_NAMES}".split(", "))
    path = recording_of(file)
    target = output if output is not None else path.with_name(f"{path.stem}-{figure}.png")
    if target.suffix.lower() not in FORMATS:
        raise InputError(f"output {target} must end in {', '.join(FORMATS)}.")
    with Recording(path) as recording:
        drawn = draw_figure(recording, figure, look)
        title = f"{recording.scene.name}: {figure}"
    try:
        save(drawn, target, title)
    except OSError as error:
        raise InputError(f"output {target} cannot be written ({error.strerror or error}). Choose another place with -o.") from error
    typer.echo(target)
