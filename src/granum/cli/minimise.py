"""``granum minimise``: a thin door to :func:`granum.run_minimise`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from . import extensions
from .console import command_line, in_words
from .csv_out import csv_option
from .options import Opt, argument, json_option, no_picture, output_option, overwrite_option, read_settings, with_parameters
from .show import show_run

MINIMISE, PANEL = "runs.minimise:MinimiseSettings", "Instead of FILE: a random packing"
OPTIONS = (
    Opt("packing", f"{MINIMISE}.packing", panel=PANEL, metavar="N,PHI[,SEED]"),
    *(Opt(name, f"{MINIMISE}.{name}", panel=PANEL) for name in ("dim", "law", "alpha", "sizes")),
    Opt("method", f"{MINIMISE}.method", many=True, metavar="NAME[+PRECONDITIONER]"),
    *(Opt(name, f"{MINIMISE}.{name}") for name in ("preconditioner", "tolerance", "limit", "phi", "frame")),
)


def register(app: typer.Typer) -> None:
    app.command("minimise")(in_words(minimise))


@with_parameters(
    argument("file", Path | None, "Recording of a packing, or of a run.", default=None),
    *OPTIONS,
    output_option("Recording (.vtkhdf) of start and end, or figure (.png, .pdf, .svg) of the residuals."),
    overwrite_option("one with -2 in its name"),
    no_picture("Do not draw the end beside the recording."),
    json_option("One JSON object, with the residual of every iteration."),
    csv_option("The same as comma-separated values, a line for each method."),
    *extensions.REFUSED,
)
def minimise(**given: Any) -> None:
    """Minimise the energy of a packing, or of the grains at the end of a run, and compare methods.

    Of a run, walls stand where they are, grains feel gravity and push with the scene's contact law. An energy knows no friction, so a
    heap relaxes to a level bed. Of several methods the first is written; tuned FIRE stands beside them as a baseline.

    \b
    granum minimise --packing 4096,0.8438,1 --method lbfgs --method cg -o r.png
    granum minimise jam.vtkhdf --phi 0.86 -o dense.vtkhdf
    granum minimise box.vtkhdf -o relaxed.vtkhdf
    granum minimise --packing 1000,0.7 --dim 3 --law hertz --json
    """
    from ..runs.minimise import MinimiseSettings, run_minimise

    extensions.refuse(given)
    settings = read_settings(MinimiseSettings, OPTIONS, given)
    show_run(
        lambda: run_minimise(
            given["file"],
            settings,
            output=given["output"],
            picture=not given["no_picture"],
            overwrite=given["overwrite"],
            about={"command": command_line()},
        ),
        given["as_json"],
        given["as_csv"],
    )
