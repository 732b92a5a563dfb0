"""``granum jam``: a packing at the onset of jamming."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from ..checks import InputError, known_name
from .console import in_words, talk
from .packings import SIZES_HELP, Watch, about, draw_beside, observables, packing_rows, read_law, read_sizes, show

ROUTES = ("compress", "decompress")
FINEST, COARSEST = 1e-13, 0.1  # accuracies of a packing fraction: rounding, and no answer at all


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
    route: Annotated[str, typer.Option(help="compress (from below, EM Algorithm 1) or decompress (from above).")] = "compress",
    output: Annotated[Path, typer.Option("--output", "-o", help="Recording of the packing.")] = Path("jam.h5"),
    no_picture: Annotated[bool, typer.Option("--no-picture", help="Do not draw the packing beside it.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
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
    from .._jit import cache_is_warm
    from ..io.packing import PackingWriter
    from ..quasistatic.jam import jam as find_jam
    from ..quasistatic.measure import measure
    from ..quasistatic.packing import FEWEST
    from .execute import check_output

    if particles < FEWEST:
        raise InputError(f"--particles must be at least {FEWEST} (got {particles}).")
    if dim not in (2, 3):
        raise InputError(f"--dim must be 2 or 3 (got {dim}).")
    if not FINEST <= accuracy < COARSEST:
        raise InputError(
            f"--accuracy must be at least {FINEST:g}, where rounding hides the packing fraction, and below {COARSEST:g} (got {accuracy:g})."
        )
    known_name("route", route, ROUTES)
    chosen_law, chosen_sizes = read_law(law, alpha), read_sizes(sizes)
    check_output(output, not no_picture)
    if not cache_is_warm():
        talk("compiling kernels, once (under a minute; later runs start at once) ...")
    with Watch(f"jam {particles}") as watch:
        found = find_jam(
            count=particles, dim=dim, sizes=chosen_sizes, law=chosen_law, seed=seed, accuracy=accuracy, route=route, watch=watch,
        )  # fmt: skip
    measured = measure(found.packing)
    settings = {
        "particles": particles, "dim": dim, "law": chosen_law.model_dump(), "sizes": chosen_sizes.model_dump(), "accuracy": accuracy,
        "route": route,
    }  # fmt: skip
    results: dict[str, Any] = {
        "kind": "jam", **observables(found.packing, measured), "phi_cr": found.phi_cr, "accuracy": found.accuracy, "z": found.z,
        "rattlers": found.rattlers, "pressure": found.pressure, "energy": found.energy, "iterations": found.iterations,
        "wall_seconds": found.seconds, "seed": seed, "route": route, "sizes": sizes, "steps": [plain_step(step) for step in found.steps],
    }  # fmt: skip
    try:
        with PackingWriter(output, found.packing, about(seed, settings)) as writer:
            writer.append(found.packing, iterations=found.iterations, measured=measured)
            writer.set_summary(results)
        results["recording"] = str(output)
        if not no_picture:
            results["picture"] = draw_beside(output, "packing")
    finally:  # what was found is not lost with a file that cannot be written
        show(results, rows(results), "granum jam", as_json)


def plain_step(step: Any) -> dict[str, float]:
    """A step of the search as numbers by name."""
    return {name: float(getattr(step, name)) for name in ("phi", "pressure", "energy", "iterations")}


def rows(s: dict[str, Any]) -> list[tuple[str, str]]:
    """Of the table."""
    digits = max(4, min(14, 1 + round(-math.log10(s["accuracy"]))))
    return [
        ("phi_cr", f"{s['phi_cr']:.{digits}f} to {s['accuracy']:.1g}"), *packing_rows(s),
        ("work", f"{len(s['steps'])} minimisations, {s['iterations']} iterations, {s['wall_seconds']:.3g} s"),
    ]  # fmt: skip

