"""``granum plot``: a figure of a recording."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from ..checks import InputError, known_name
from .console import in_words
from .extensions import examples
from .options import Opt, argument, option, settings_of, with_parameters
from .tables import console, show_list

FRAME, PLANE, LOOK = "Which frames", "Drawings of a slab (lengths in mean diameters)", "plot.look:Look"
NAMES, FLOW = "Forces on bodies and joints", "Rates of flow"
OPTIONS = (
    *(Opt(name, f"{LOOK}.{name}", panel=FRAME) for name in ("frame", "time", "average")),
    *(Opt(name, f"{LOOK}.{name}", panel=PLANE) for name in ("view", "slab", "width")),
    Opt("grains", f"{LOOK}.grains", panel=PLANE, flag="--grains"),
    *(Opt(name, f"{LOOK}.{name}", panel=NAMES, metavar="NAME") for name in ("body", "joint")),
    Opt("counter", f"{LOOK}.counter", panel=FLOW, metavar="NAME"),
    Opt("window", f"{LOOK}.window", panel=FLOW),
)


def register(app: typer.Typer) -> None:
    app.command("plot")(in_words(plot))


@with_parameters(
    argument("file", Path | None, "Recording of a run or of packings, finished or not.", default=None),
    argument("figure", str | None, "What to draw; see --list.", default=None),
    option("show_list", bool, "--list", help="List the figures.", default=False),
    option("output", Path | None, "-o", "--output", help="Figure file (.png, .pdf, .svg). Default: beside FILE, with FIGURE in its name."),
    *OPTIONS,
    examples=examples("plot"),
)
def plot(**given: Any) -> None:
    """Draw a figure of a recording.

    \b
    granum plot --list
    granum plot drum.vtkhdf velocity --average 20 --grains
    granum plot digger.vtkhdf body-force --body bucket
    granum plot hopper.vtkhdf flow-rate --window 0.1
    """
    from ..io import Recording
    from ..plot.figures import FIGURES, PACKING_FIGURES, draw_figure
    from ..plot.look import Look
    from ..plot.style import FORMATS, save
    from ..runs.restart import recording_of

    if given["show_list"]:
        for what, figures in (("a run", FIGURES), ("packings", PACKING_FIGURES)):
            console().print(f"[bold]of {what}[/bold]")
            show_list((f"  {name}", kind.summary) for name, kind in figures.items())
        return
    file, figure, output = given["file"], given["figure"], given["output"]
    if file is None or figure is None:
        raise InputError("which figure of which recording? Give FILE FIGURE, or --list for the figures.")
    look = Look(**settings_of(OPTIONS, given))
    if Path(figure).name != figure:  # it becomes a part of a file's name
        known_name("figure", figure, {**FIGURES, **PACKING_FIGURES})
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
