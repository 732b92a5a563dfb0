"""``granum restart``: a thin door to :func:`granum.restart`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .console import in_words
from .csv_out import CsvFlag
from .quantities import quantity
from .quantities import threads as number_of_threads
from .show import show_run


def register(app: typer.Typer) -> None:
    app.command("restart")(in_words(restart))


def restart(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Recording (x.vtkhdf) or its checkpoint (x.checkpoint.hdf5).")],
    duration: Annotated[
        float | None, typer.Option(**quantity("s"), help="Go on for this simulated time [s]. Default: to the end first asked for.")
    ] = None,
    threads: Annotated[
        Any, typer.Option(**number_of_threads(), help="A number, or auto: same bits for any number. Default: those of the run.")
    ] = None,
    scene: Annotated[
        str | None,
        typer.Option(metavar="SCENE.py", help="The scene of the run, if Python functions drive its bodies: no file holds these."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Summary as one JSON object.")] = False,
    as_csv: CsvFlag = False,
) -> None:
    """Continue a run that was stopped, killed, or should last longer.

    \b
    granum restart box.vtkhdf
    granum restart box.vtkhdf --duration 2 --threads 4
    """
    from ..runs.restart import restart as go_on
    from ..runs.run import check_emitted

    check_emitted(show_run(lambda: go_on(file, duration=duration, threads=threads, scene=scene, picture="later"), as_json, as_csv).found)
