"""``granum jam``: a packing at the onset of jamming."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..checks import InputError, known_name
from .console import in_words
from .packings import SIZES_HELP, Watch, about, draw_beside, facts, observables, packing_rows, read_law, read_sizes, show, warm_up
from .reduction import Refused, refuse_reduction

if TYPE_CHECKING:
    from ..quasistatic.jam import JamStep

FAR = 1e-2  # of phi_cr: where a search begins, roughly


def register(app: typer.Typer) -> None:
    app.command("jam")(in_words(jam))


def jam(
    particles: Annotated[int, typer.Option(help="Grains, 3 or more.")] = 1024,
    dim: Annotated[int, typer.Option(help="2 or 3 dimensions.")] = 2,
    law: Annotated[str | None, typer.Option(help="hooke or hertz. Default: hooke.")] = None,
    alpha: Annotated[float | None, typer.Option(help="Energy k overlap^alpha / alpha, 2 or more, instead of --law.")] = None,
    sizes: Annotated[str, typer.Option(help=SIZES_HELP)] = "1,1.4",
    seed: Annotated[int, typer.Option(min=0, help="Of the random start.")] = 0,
    accuracy: Annotated[float, typer.Option(help="Of phi_cr.")] = 1e-6,
    route: Annotated[str, typer.Option(help="decompress (from above) or compress (from below, EM Algorithm 1).")] = "decompress",
    method: Annotated[str, typer.Option(help="Minimiser, see `granum minimise -h`.")] = "auto",
    output: Annotated[Path, typer.Option("--output", "-o", help="Recording of the packing.")] = Path("jam.h5"),
    no_picture: Annotated[bool, typer.Option("--no-picture", help="Do not draw the packing beside it.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
    reduce: Refused = None,
) -> None:
    """Find the packing fraction at which grains jam, and the packing there.

    Grains start at random places in a periodic cell; their radii grow (or shrink) and the energy is minimised until the packing just
    carries load. Grains have no friction and no weight.

    \b
    granum jam --particles 4096 --accuracy 1e-8
    granum jam --dim 3 --law hertz --seed 7 -o glass.h5
    granum jam --sizes lognormal:0.2 --json
    granum plot jam.h5 network
    """
    from ..io.packing import PackingWriter
    from ..quasistatic.jam import ROUTES, check_accuracy
    from ..quasistatic.jam import jam as find_jam
    from ..quasistatic.minimise import METHODS
    from ..quasistatic.packing import FEWEST
    from .execute import check_output

    refuse_reduction(reduce)
    if particles < FEWEST:
        raise InputError(f"--particles must be at least {FEWEST} (got {particles}).")
    if dim not in (2, 3):
        raise InputError(f"--dim must be 2 or 3 (got {dim}).")
    check_accuracy(accuracy)
    known_name("route", route, ROUTES)
    known_name("method", method, METHODS)
    chosen_law, chosen_sizes = read_law(law, alpha), read_sizes(sizes)
    check_output(output, not no_picture)
    warm_up([(method, None)], dim, chosen_law)
    with Watch(f"jam {particles}") as progress:
        found = find_jam(
            particles,
            dim=dim,
            sizes=chosen_sizes,
            law=chosen_law,
            seed=seed,
            accuracy=accuracy,
            route=route,  # type: ignore[arg-type]
            method=method,
            watch=lambda course, steps: progress.show(f"{nearness(steps)}{facts(course)}", part_done(steps, accuracy)),
        )
    settings = {
        "particles": particles,
        "dim": dim,
        "law": chosen_law.model_dump(),
        "sizes": chosen_sizes.model_dump(),
        "accuracy": accuracy,
        "route": route,
        "method": method,
    }
    results: dict[str, Any] = {
        "kind": "jam",
        **observables(found.packing, found.measured),
        "phi_cr": found.phi_cr,
        "accuracy": found.accuracy,
        "z": found.z,
        "rattlers": found.rattlers,
        "pressure": found.pressure,
        "energy": found.energy,
        "iterations": found.iterations,
        "wall_seconds": found.seconds,
        "seed": seed,
        "route": route,
        "sizes": sizes,
        "steps": [asdict(step) for step in found.steps],
    }
    try:
        with PackingWriter(output, found.packing, about(seed, settings)) as writer:
            writer.append(found.packing, iterations=found.iterations, measured=found.measured)
            writer.set_summary(results)
        results["recording"] = str(output)
        if not no_picture:
            results["picture"] = draw_beside(output, "packing")
    finally:  # what was found is not lost with a file that cannot be written
        show(results, rows(results), "granum jam", as_json)


def nearness(steps: list[JamStep]) -> str:
    """What is known of phi_cr by now, in words."""
    known = [step.phi_cr for step in steps if math.isfinite(step.phi_cr)]
    return f"phi_cr {known[-1]:.8f}, " if known else ""


def part_done(steps: list[JamStep], accuracy: float) -> float | None:
    """Of the way to phi_cr, in decades; None while nothing is known of it. From below: of the bracket."""
    above, below = ([step.phi for step in steps if step.jammed == jammed] for jammed in (True, False))
    known = [step.phi_cr for step in steps if math.isfinite(step.phi_cr)]
    if not above or not (known or below):
        return None
    away = max(min(above) - (known[-1] if known else max(below)), accuracy)
    return min(1.0, max(0.0, math.log(FAR / away) / math.log(FAR / accuracy))) if accuracy < FAR else None


def rows(s: dict[str, Any]) -> list[tuple[str, str]]:
    """Of the table."""
    digits = max(4, min(14, 1 + round(-math.log10(s["accuracy"]))))
    return [
        ("phi_cr", f"{s['phi_cr']:.{digits}f} to {s['accuracy']:.1g}"),
        *packing_rows(s),
        ("work", f"{len(s['steps'])} minimisations, {s['iterations']} iterations, {s['wall_seconds']:.3g} s"),
    ]
