"""``granum jam``: a thin door to :func:`granum.run_jam`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..checks import InputError
from . import extensions
from .console import command_line, in_words
from .csv_out import csv_option, one_format
from .many import MANY, WORKERS, check_failed, placed, show_table
from .options import Opt, json_option, no_picture, option, output_option, overwrite_option, read_settings, with_parameters
from .show import show_run

if TYPE_CHECKING:
    from ..runs.jam import JamSettings

JAM = "runs.jam:JamSettings"
NAMES = ("particles", "dim", "law", "alpha", "sizes", "seed", "accuracy", "route", "method")
OPTIONS = tuple(Opt(name, f"{JAM}.{name}") for name in NAMES)


def register(app: typer.Typer) -> None:
    app.command("jam")(in_words(jam))


@with_parameters(
    *OPTIONS,
    output_option("Recording of the packing, jam.vtkhdf by default; with --seeds the table, jam.csv by default."),
    overwrite_option("jam-2.vtkhdf"),
    no_picture("Do not draw the packing, or histograms of many, beside it."),
    json_option(),
    csv_option("The same as comma-separated values on stdout, below their names: one line, with --seeds one for each packing."),
    option(
        "seeds", str | None, "--seeds", metavar="SEEDS", help="Many packings: 0:200 are the 200 seeds from 0 to 199; or a list.", panel=MANY
    ),
    *WORKERS,
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
    granum jam --particles 1024 --seeds 0:200 -j 2 -o jam.csv
    granum plot jam.vtkhdf network

    With --seeds many packings are computed, each on one thread. The table, a file that -o names, has a row for each; means, spread and
    histograms are taken over all, and the same command goes on where it was stopped. --csv prints these rows instead of the means.
    Packings are not recorded: --seed gives any of them again.
    """
    from ..runs.jam import JamSettings, run_jam

    extensions.refuse(given)
    settings = read_settings(JamSettings, OPTIONS, given)
    if given["seeds"] is not None:
        _jam_many(settings, given)
        return
    for name in ("workers", "scheduler", "fresh"):
        if given[name]:
            raise InputError(f"--{name} is of many packings: give --seeds, such as --seeds 0:200, or leave it out.")
    about = {"command": command_line()}
    if given["output"] is not None and given["output"].suffix == ".csv":
        raise InputError(f"--output {given['output']} is a table of many packings: give --seeds, or --csv for the numbers of one.")
    output, picture = given["output"] or Path("jam.vtkhdf"), not given["no_picture"]
    show_run(
        lambda: run_jam(settings, output=output, picture=picture, overwrite=given["overwrite"], about=about),
        given["as_json"],
        given["as_csv"],
    )


def _jam_many(settings: JamSettings, given: dict[str, Any]) -> None:
    from ..runs.many.jam import jam_many

    one_format(given["as_json"], given["as_csv"])
    if given["seed"] is not None:
        raise InputError("give --seed or --seeds, not both.")
    if given["overwrite"]:
        raise InputError("--overwrite is of one packing: a table of many goes on where it was stopped, --fresh makes it anew.")
    found = jam_many(given["seeds"], settings, output=given["output"] or Path("jam.csv"), picture=not given["no_picture"], **placed(given))
    show_table(found, given["as_json"], given["as_csv"])
    check_failed(found)
