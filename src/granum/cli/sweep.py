"""``granum sweep``: a thin door to :func:`granum.sweep`."""

from __future__ import annotations

from typing import Any

import typer

from . import extensions
from .console import in_words
from .csv_out import one_format
from .many import FILES, MANY, OPTIONS, SCENE, SET, WORKERS, check_failed, maker, placed, show_table
from .options import option, with_parameters


def register(app: typer.Typer) -> None:
    app.command("sweep")(in_words(sweep))


@with_parameters(
    SCENE,
    option(
        "vary",
        list[str],
        "--vary",
        metavar="KEY=VALUES",
        help="Parameter of the scene, place in it, or seed. LOW:HIGH:N are N values from LOW to HIGH, both included; "
        "LOW:HIGH are the whole numbers from LOW up to, but not including HIGH (0:3 are 0, 1, 2); 1,2,5 are the values themselves. "
        "Several --vary: all combinations.",
        default=[],
        panel=MANY,
    ),
    option(
        "measure",
        list[str] | None,
        "--measure",
        metavar="NAME",
        help="Metric of `granum analyse` (repose, or repose.angle), or number of a run's summary. Default: the results of the scene.",
        panel=MANY,
    ),
    SET,
    *WORKERS,
    *FILES,
    *OPTIONS,
    *extensions.PARAMETERS,
)
def sweep(**given: Any) -> None:
    """Run a scene with all combinations of some parameters, and put what is measured into one table.

    The table has a row for each run: parameters, measures with their units, steps, wall time [s], hash of the last state, and why a run
    failed. Means are taken over the seeds. A sweep that was stopped goes on with the same command: finished runs are kept in the user's
    cache. Any run is had again, with the same bits, by `granum run` with the same --set and --seed.

    \b
    granum sweep pile --vary friction=0.2:0.8:4 --vary seed=0:3 --measure repose
    granum sweep gravel.toml --vary materials.0.friction=0.3,0.5 -o gravel.csv
    granum sweep column --vary count=10:40:4 --measure height_error -j 2
    """
    from ..runs.many.points import whole_parameters
    from ..runs.many.sweep import default_table
    from ..runs.many.sweep import sweep as sweep_scene
    from ..runs.many.vary import read_varied

    one_format(given["as_json"], given["as_csv"])
    found = sweep_scene(
        maker(given),
        read_varied(given["vary"], whole_parameters(given["scene"])),
        given["measure"] or (),
        output=given["output"] or default_table(given["scene"], "sweep"),
        picture=not given["no_picture"],
        **placed(given),
    )
    show_table(found, given["as_json"], given["as_csv"])
    check_failed(found)
