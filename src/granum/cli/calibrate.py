"""``granum calibrate``: a thin door to :func:`granum.calibrate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from ..checks import InputError
from . import extensions
from .console import in_words, print_json, talk
from .csv_out import one_format, print_columns
from .many import FILES, MANY, OPTIONS, SCENE, SET, WORKERS, maker
from .options import option, with_parameters
from .tables import show_columns, show_rows

if TYPE_CHECKING:
    from ..runs.many.calibration import Calibration


def register(app: typer.Typer) -> None:
    app.command("calibrate")(in_words(calibrate))


@with_parameters(
    SCENE,
    option(
        "fit",
        list[str],
        "--fit",
        metavar="KEY=LOW:HIGH",
        help="Parameter to fit, or place in the scene, and its range.",
        default=[],
        panel=MANY,
    ),
    option(
        "target",
        list[str],
        "--target",
        metavar="NAME=VALUE+-TOLERANCE",
        help="Metric (repose, or repose.angle) or number of the summary, as --measure of `granum sweep`, with what it should be.",
        default=[],
        panel=MANY,
    ),
    option(
        "seeds", str, "--seeds", metavar="SEEDS", help="Every try is the mean over these seeds: 0:3 are 0, 1, 2.", default="0:3", panel=MANY
    ),
    option("tries", int, "--tries", help="Most values of the parameters that are tried.", default=12, panel=MANY),
    SET,
    *WORKERS[:2],
    *FILES,
    *OPTIONS,
    *extensions.PARAMETERS,
)
def calibrate(**given: Any) -> None:
    """Find the value of a parameter with which a scene gives a measured number.

    The ends and the middle of the range are run first; a smooth curve (a Gaussian process) through the means over the seeds tells where to
    try next, until a try is within the tolerance. The interval is where the curve is within the tolerance, its own error included. A
    calibration that was stopped goes on with the same command.

    \b
    granum calibrate pile --fit friction=0.1:1 --target repose=28+-1
    granum calibrate column --fit diameter=5mm:20mm --target height.top=8+-0.1cm
    """
    from ..pool import Pool
    from ..runs.many.calibrate import calibrate as calibrate_scene
    from ..runs.many.calibrate import read_fits, read_target
    from ..runs.many.points import whole_parameters
    from ..runs.many.sweep import default_table
    from ..runs.many.vary import split_pair

    one_format(given["as_json"], given["as_csv"])
    if not given["fit"] or len(given["target"]) != 1:
        raise InputError(
            "a calibration needs a --fit or more, such as --fit friction=0.1:1, and one --target, such as --target repose=28+-1."
        )
    fits = read_fits([split_pair(text, "--fit") for text in given["fit"]], whole_parameters(given["scene"]))
    target = read_target(*split_pair(given["target"][0], "--target"))
    try:
        found = calibrate_scene(
            maker(given),
            fits,
            target,
            seeds=given["seeds"],
            tries=given["tries"],
            output=given["output"] or default_table(given["scene"], "calibrate"),
            picture=not given["no_picture"],
            workers=Pool(given["workers"], given["scheduler"]),
        )
    except BaseException as error:
        if (part := getattr(error, "run", None)) is not None:
            _show(part, given["as_json"], given["as_csv"])
        raise
    _show(found, given["as_json"], given["as_csv"])


def _show(found: Calibration, as_json: bool, as_csv: bool) -> None:
    from rich.markup import escape

    from ..runs.many.csv_file import heading
    from ..runs.many.table import shown

    if as_json:
        print_json(found.summary)
        return
    if as_csv:
        print_columns({name: [row.get(name) for row in found.rows] for name in found.columns}, found.units)
        return
    table = {name: column.tolist() for name, column in found.table().items()}
    *fits, measure = (escape(heading(name, found.units)) for name in (*(one.name for one in found.fits), found.target.measure))
    heads = [*(f"<{name}" for name in fits), "runs", f"mean {measure}", "std", "standard error"]
    show_columns(
        heads, ([shown(cell) for cell in row] for row in zip(*table.values(), strict=True)), title=f"{found.scene}: tries", wide=True
    )
    s = found.summary
    rows = [("target", found.target.words)]
    best, interval = found.best, found.interval
    if best is not None and interval is not None:
        for one in found.fits:
            low, high = interval[one.name]
            rows.append((one.name, f"{best[one.name]:g} ({low:g} to {high:g}) {one.unit}".strip()))
        rows.append(("expected there", f"{s['expected']['mean']:.4g} ± {s['expected']['standard_error']:.2g} {found.target.unit}".strip()))
    show_rows(rows, "best value (and its interval)" if found.best is not None else "")
    talk(f"{len(found.rows)} runs: {', '.join(str(path) for path in (found.csv, found.picture) if path is not None)}")
