"""``granum jam``: a thin door to :func:`granum.run_jam`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from . import extensions
from .console import command_line, in_words
from .csv_out import csv_option
from .options import Opt, json_option, no_picture, output_option, read_settings, with_parameters
from .show import show_run

JAM = "runs.jam:JamSettings"
NAMES = ("particles", "dim", "law", "alpha", "sizes", "seed", "accuracy", "route", "method")
OPTIONS = tuple(Opt(name, f"{JAM}.{name}") for name in NAMES)


def register(app: typer.Typer) -> None:
    app.command("jam")(in_words(jam))


@with_parameters(
    *OPTIONS,
    output_option("Recording of the packing.", Path("jam.vtkhdf")),
    no_picture("Do not draw the packing beside it."),
    json_option(),
    csv_option("The same as one line of comma-separated values, below their names."),
    *extensions.REFUSED,
)
def jam(**given: Any) -> None:
    """Find the packing fraction at which grains jam, and the packing there.

    Grains start at random places in a periodic cell; their radii grow (or shrink) and the energy is minimised until the packing just
    carries load. Grains have no friction and no weight.

    \b
    granum jam --particles 4096 --accuracy 1e-8
    granum jam --dim 3 --law hertz --seed 7 -o glass.vtkhdf
    granum jam --sizes lognormal:0.2 --json
    granum plot jam.vtkhdf network
    """
    from ..runs.jam import JamSettings, run_jam

    extensions.refuse(given)
    settings = read_settings(JamSettings, OPTIONS, given)
    about = {"command": command_line()}
    show_run(
        lambda: run_jam(settings, output=given["output"], picture=not given["no_picture"], about=about), given["as_json"], given["as_csv"]
    )
