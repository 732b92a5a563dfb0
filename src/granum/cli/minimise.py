"""``granum minimise``: move the grains of a packing, or of the end of a run, to a minimum of their energy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..checks import InputError, finite_positive, known_name
from .console import in_words, talk
from .packings import (
    SIZES_HELP,
    Watch,
    about,
    draw_beside,
    observables,
    packing_rows,
    read_law,
    read_sizes,
    show,
    warm_up,
)
from .reduction import Refused, refuse_reduction

if TYPE_CHECKING:
    from ..quasistatic.course import MinimiseReport
    from ..quasistatic.packing import Packing

BASELINE = "fire"
FIGURES = (".png", ".pdf", ".svg")
RANDOM = "Instead of FILE: a random packing"


def register(app: typer.Typer) -> None:
    app.command("minimise")(in_words(minimise))


def minimise(
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="Recording of a packing, or of a run.")] = None,
    packing: Annotated[
        str | None, typer.Option(metavar="N,PHI[,SEED]", help="Grains, packing fraction, seed (default: 0).", rich_help_panel=RANDOM)
    ] = None,
    dim: Annotated[int | None, typer.Option(help="2 or 3 dimensions. Default: 2.", rich_help_panel=RANDOM)] = None,
    law: Annotated[str | None, typer.Option(help="hooke or hertz. Default: hooke.", rich_help_panel=RANDOM)] = None,
    alpha: Annotated[float | None, typer.Option(help="Exponent of the energy, 2 or more.", rich_help_panel=RANDOM)] = None,
    sizes: Annotated[str | None, typer.Option(help=f"{SIZES_HELP} Default: 1,1.4.", rich_help_panel=RANDOM)] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME[+PRECONDITIONER]", help="auto, lbfgs, cg, fr-cg, fire, newton; repeatable: compares. Default: auto."),
    ] = None,
    preconditioner: Annotated[str | None, typer.Option(help="none, adjacency, exponential or contacts, where a method names none.")] = None,
    tolerance: Annotated[
        float | None, typer.Option(help="[N] left on a grain. Default: 1e-10 k d^(alpha - 1); of a run 1e-8 of a grain's weight.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="Most iterations.")] = 100_000,
    phi: Annotated[float | None, typer.Option(help="Grow or shrink the grains of a packing in FILE to this fraction first.")] = None,
    frame: Annotated[int, typer.Option(help="Of FILE; negative: from the end.")] = -1,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Recording (.h5) of start and end, or figure (.png, .pdf, .svg) of the residuals.")
    ] = None,
    no_picture: Annotated[bool, typer.Option("--no-picture", help="Do not draw the end beside the recording.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, with the residual of every iteration.")] = False,
    reduce: Refused = None,
) -> None:
    """Minimise the energy of a packing, or of the grains at the end of a run, and compare methods.

    Of a run, walls stand where they are, grains feel gravity and push with the scene's contact law. An energy knows no friction, so a
    heap relaxes to a level bed. Of several methods the first is written; tuned FIRE stands beside them as a baseline.

    \b
    granum minimise --packing 4096,0.8438,1 --method lbfgs --method lbfgs+adjacency --method cg -o residuals.png
    granum minimise jam.h5 --phi 0.86 -o dense.h5
    granum minimise box.h5 -o relaxed.h5
    granum minimise --packing 1000,0.7 --dim 3 --law hertz --json
    """
    from ..io import Recording
    from ..io.packing import is_packing, read_packing
    from ..quasistatic.packing import check_fraction

    refuse_reduction(reduce)
    if (file is None) == (packing is None):
        raise InputError(
            "give the recording FILE of a packing or of a run, or --packing N,PHI for a random one"
            + (" (got both)." if file is not None else ".")
        )
    if tolerance is not None:
        finite_positive("--tolerance", tolerance, "N")
    _check_output(output, file, not no_picture)
    options = {"tolerance": tolerance, "limit": limit}
    if packing is not None:
        if phi is not None:
            raise InputError("--packing N,PHI names the packing fraction already: leave --phi out.")
        start, seed = _random(packing, 2 if dim is None else dim, law, alpha, sizes or "1,1.4")
        _minimise_packing(start, seed, packing, _methods(method, preconditioner), options, output, not no_picture, as_json)
        return
    assert file is not None
    for name, value in (("--law", law), ("--alpha", alpha), ("--dim", dim), ("--sizes", sizes)):
        if value is not None:
            raise InputError(f"{name} is of a random packing (--packing): a recording has its own.")
    with Recording(file) as recording:
        if is_packing(recording):
            start, seed = read_packing(recording, frame), recording.description.get("seed")
            if phi is not None:
                start = start.at(check_fraction(phi, start.dim, 2 * start.radius))
            _minimise_packing(start, seed, str(file), _methods(method, preconditioner), options, output, not no_picture, as_json)
        else:
            if phi is not None:
                raise InputError("--phi is of packings: the grains of a run keep their sizes.")
            from .relax import relax

            relax(recording, frame, _plain_methods(method, preconditioner), options, output, not no_picture, as_json)


def _minimise_packing(
    start: Packing,
    seed: int | None,
    source: str,
    methods: list[tuple[str, str | None]],
    options: dict[str, Any],
    output: Path | None,
    picture: bool,
    as_json: bool,
) -> None:
    from ..io.packing import PackingWriter
    from ..quasistatic.measure import measure
    from ..quasistatic.minimise import minimise as minimise_packing

    warm_up(methods, start.dim, start.law)
    before, trials = measure(start), []
    for name, helper in methods:
        with Watch(name if helper is None else f"{name}+{helper}", total=1) as watch:
            trials.append(minimise_packing(start, name, helper, watch=watch, **options))
    first, after = trials[0], measure(trials[0].packing)
    found: dict[str, Any] = {
        "kind": "minimise",
        **observables(first.packing, after),
        **plain(first.report),
        "source": source,
        "seed": seed,
        "start": {"energy": before.energy, "pressure": before.pressure, "residual": before.residual},
        "methods": [
            plain(t.report) | {"phi": t.packing.phi, "pressure": m.pressure, "z": m.coordination, "rattlers": m.rattler_count}
            for t in trials
            for m in (measure(t.packing),)
        ],
    }
    try:
        if output is not None and output.suffix.lower() in FIGURES:
            found["picture"] = draw_residuals([t.report for t in trials], output, f"{source}: {start.count} grains, phi {start.phi:.6g}")
        elif output is not None:
            with PackingWriter(output, start, about(seed, {"source": source, "method": first.report.method, **options})) as writer:
                writer.append(start, measured=before)
                writer.append(first.packing, iterations=first.report.iterations, measured=after)
                writer.set_summary(found)
            found["recording"] = str(output)
            if picture:
                found["picture"] = draw_beside(output, "packing")
    finally:  # what was found is not lost with a file that cannot be written
        if len(trials) > 1 and not as_json:
            show_methods(found["methods"])
        show(found, [*packing_rows(found), *report_rows(found)], "granum minimise", as_json)


def plain(report: MinimiseReport) -> dict[str, Any]:
    """A report as JSON can hold it."""
    return {
        "method": report.method,
        "converged": report.converged,
        "reason": report.reason,
        "iterations": report.iterations,
        "evaluations": report.evaluations,
        "factorisations": report.factorisations,
        "lists": report.lists,
        "residual": report.residual,
        "tolerance": report.tolerance,
        "energy": report.energy,
        "wall_seconds": report.seconds,
        "residuals": report.history.tolist(),
    }


def report_rows(s: dict[str, Any]) -> list[tuple[str, str]]:
    """Rows about :func:`plain`."""
    return [
        ("method", f"{s['method']}: {s['reason']}" if s["converged"] else f"[yellow]{s['method']}: {s['reason']}, not converged[/yellow]"),
        ("residual", f"{s['residual']:.3g} N, tolerance {s['tolerance']:.3g} N"),
        (
            "work",
            f"{s['iterations']} iterations, {s['evaluations']} evaluations, {s['factorisations']} factorisations, "
            f"{s['wall_seconds']:.3g} s",
        ),
    ]


def show_methods(trials: list[dict[str, Any]]) -> None:
    """Methods side by side, on stdout; residual [N], energy [J]."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("method", "steps", "evals", "factors", "time", "residual", "energy", "ok"):
        table.add_column(name, justify="left" if name in ("method", "ok") else "right", no_wrap=True)
    for t in trials:
        seconds = t["wall_seconds"]
        table.add_row(
            t["method"],
            *(str(t[name]) for name in ("iterations", "evaluations", "factorisations")),
            f"{seconds:.3g} s" if seconds >= 1 else f"{1e3 * seconds:.3g} ms",
            f"{t['residual']:.1e}",
            f"{t['energy']:.5e}",
            "yes" if t["converged"] else "no",
        )
    Console(highlight=False).print(table)
    for t in trials:
        if not t["converged"]:
            talk(f"{t['method']}: {t['reason']}", style="yellow")


def draw_residuals(reports: list[MinimiseReport], path: Path, subtitle: str) -> str:
    """The figure of all residuals, in a file."""
    from ..plot.packing_curves import draw_minimisations
    from ..plot.style import save

    try:
        save(draw_minimisations(reports, subtitle), path, "Minimisation")
    except OSError as error:
        raise InputError(f"output {path} cannot be written ({error.strerror or error}). Choose another place with -o.") from error
    return str(path)


def _check_output(output: Path | None, file: Path | None, picture: bool) -> None:
    """Places that cannot be written, refused before the work."""
    from .execute import check_output

    if output is None:
        return
    if output.suffix.lower() in FIGURES:
        if not output.parent.is_dir() or output.is_dir():
            why = "it is a folder" if output.is_dir() else f"the folder {output.parent} does not exist"
            raise InputError(f"output {output} cannot be written: {why}.")
        return
    if file is not None and file.exists() and output.exists() and output.samefile(file):
        raise InputError(f"output {output} is the file that is read: it would be lost. Choose another name with -o.")
    check_output(output, picture)


def _random(text: str, dim: int, law: str | None, alpha: float | None, sizes: str) -> tuple[Packing, int | None]:
    from ..quasistatic.packing import random_packing

    parts = text.split(",")
    try:
        count, phi = int(parts[0]), float(parts[1])
        seed = int(parts[2]) if len(parts) > 2 else 0
    except (ValueError, IndexError):
        raise InputError(f"--packing must be N,PHI or N,PHI,SEED, such as 1024,0.85,1 (got {text!r}).") from None
    if len(parts) > 3 or seed < 0:
        raise InputError(f"--packing must be N,PHI or N,PHI,SEED with a seed of 0 or more (got {text!r}).")
    return random_packing(count, phi, dim=dim, sizes=read_sizes(sizes), law=read_law(law, alpha), seed=seed), seed


def _methods(names: list[str] | None, preconditioner: str | None) -> list[tuple[str, str | None]]:
    """Methods and preconditioners as asked for; of several with tuned FIRE at the end if it is not among them."""
    from ..quasistatic.minimise import AUTO, METHODS, PRECONDITIONERS

    chosen: list[tuple[str, str | None]] = []
    for name in names or [AUTO]:
        plain_name, plus, helper = name.partition("+")
        known_name("method", plain_name, METHODS)
        chosen.append((plain_name, known_name("preconditioner", helper, PRECONDITIONERS) if plus else preconditioner))
    if preconditioner is not None:
        known_name("preconditioner", preconditioner, PRECONDITIONERS)
    if len(chosen) > 1 and (BASELINE, None) not in chosen and (BASELINE, "none") not in chosen:
        chosen.append((BASELINE, None))
    return chosen


def _plain_methods(names: list[str] | None, preconditioner: str | None) -> list[str]:
    """Methods for the end of a run, which need nothing but energy and gradient."""
    from ..quasistatic.minimise import AUTO
    from ..simulation.relax import METHOD, SUITED

    if preconditioner not in (None, "none") or any("+" in name for name in names or []):
        raise InputError("preconditioners are for packings in a periodic cell: for the end of a run name the method alone, such as lbfgs.")
    chosen = [METHOD if name == AUTO else known_name("method", name, SUITED) for name in names or [METHOD]]
    return chosen + [BASELINE] * (len(chosen) > 1 and BASELINE not in chosen)
