"""``granum shear``: a thin door to :func:`granum.run_shear`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from . import extensions
from .console import command_line, in_words
from .csv_out import csv_option
from .options import Opt, argument, json_option, no_picture, option, output_option, overwrite_option, read_settings, with_parameters
from .show import show_run

SHEAR = "runs.shear:ShearSettings"
OPTIONS = tuple(Opt(n, f"{SHEAR}.{n}") for n in ("strain", "step", "frame", "method", "preconditioner", "tolerance", "frames"))


def register(app: typer.Typer) -> None:
    app.command("shear")(in_words(shear))


@with_parameters(
    argument("file", Path, "Recording of a jammed packing."),
    *OPTIONS[:2],
    option("pure", bool, "--pure/--simple", help="Stretch x and shorten y, or move x by strain y.", default=False),
    *OPTIONS[2:],
    output_option("Recording. Default: FILE with -shear in its name."),
    overwrite_option("FILE-shear-2"),
    no_picture("Do not draw the curves beside it."),
    json_option("One JSON object, with the curves."),
    csv_option("The curves as comma-separated values."),
    *extensions.REFUSED,
)
def shear(**given: Any) -> None:
    """Shear a packing quasi-statically, and record stress and fabric.

    The cell is strained by a step, the grains follow and their energy is minimised, and so on. In the recording the time of a
    frame is its strain.

    \b
    granum minimise jam.vtkhdf --phi 0.86 -o dense.vtkhdf
    granum shear dense.vtkhdf --strain 0.02 --step 1e-4
    granum shear dense.vtkhdf --pure --strain 0.01 --step 2e-4 -o pure.vtkhdf
    granum plot dense-shear.vtkhdf shear
    """
    from ..runs.shear import ShearSettings, run_shear

    extensions.refuse(given)
    settings = read_settings(ShearSettings, OPTIONS, given, mode="pure" if given["pure"] else "simple")
    show_run(
        lambda: run_shear(
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
