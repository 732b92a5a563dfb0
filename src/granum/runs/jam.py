"""``granum.run_jam``: a packing at the onset of jamming, with its recording, summary and picture; what ``granum jam`` does."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from pydantic import AliasChoices, Field

from ..checks import as_path, known_name
from ..contact.power import PowerLaw
from ..io.packing import PackingWriter
from ..quasistatic.jam import Jammed, JamStep, check_accuracy, jam
from ..quasistatic.minimise import METHODS
from ..quasistatic.spellings import read_law, read_sizes
from ..records import Record, Whole
from ..scene.sizes import Sizes
from ..talk import silent, talk
from .output import check_output, kept_apart
from .packings import Watch, describe, draw_beside, facts, observables, packing_rows, warm_up
from .result import Rows, Run, carry
from .run import Talk

FAR = 1e-2  # of phi_cr: where a search begins, roughly


class JamSettings(Record):
    """What is to be jammed, and how."""

    particles: Whole = Field(default=1024, ge=3, validation_alias=AliasChoices("particles", "count"))
    """Number of grains; ``count`` is the same."""
    dim: Literal[2, 3] = 2
    """Dimensions."""
    law: PowerLaw | str | None = None
    """hooke or hertz; none: hooke."""
    alpha: float | None = None
    """Exponent of the energy k overlap^alpha / alpha, 2 or more, instead of a law."""
    sizes: Sizes | str = "1,1.4"
    """Diameters in any unit, equal numbers of each: 1,1.4; with numbers: 1:0.7,2:0.3; uniform:0.8,1.2; lognormal:SIGMA."""
    seed: Whole = Field(default=0, ge=0)
    """Seed of the random start."""
    accuracy: float = 1e-6
    """Accuracy of phi_cr."""
    route: Literal["decompress", "compress"] = "decompress"
    """From above (decompress), or from below (compress)."""
    method: str = "auto"
    """Minimiser; see `granum minimise -h`."""


def run_jam(
    settings: JamSettings | None = None,
    *,
    output: str | Path = "jam.vtkhdf",
    picture: bool = True,
    overwrite: bool = False,
    progress: bool = True,
    about: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Run:
    """Find the packing fraction at which grains jam, and record the packing there.

    >>> found = run_jam(particles=32, law="hertz", output="jam.vtkhdf", progress=False)
    >>> round(found.summary["phi_cr"], 1)
    0.8
    >>> figure = found.plot("network")

    ``fields`` are those of :class:`JamSettings`. A recording of that name is kept, and ``jam-2.vtkhdf`` written, unless it may
    ``overwrite``. ``found`` of the run is the :class:`granum.quasistatic.jam.Jammed`.
    """
    say: Talk = talk if progress else silent
    s = JamSettings.over(settings, fields)
    check_accuracy(s.accuracy)
    known_name("method", s.method, METHODS)
    law, sizes = read_law(s.law, s.alpha), read_sizes(s.sizes)
    path = kept_apart(as_path("output", output), overwrite, say)
    check_output(path, picture, say)
    warm_up([(s.method, None)], s.dim, law, say)
    with Watch(f"jam {s.particles}", shown=progress) as watch:
        found = jam(
            s.particles,
            dim=s.dim,
            sizes=sizes,
            law=law,
            seed=s.seed,
            accuracy=s.accuracy,
            route=s.route,
            method=s.method,
            watch=lambda course, steps: watch.show(part_done(steps, s.accuracy), [*nearness(steps), *facts(course)]),
        )
    run = Run("granum jam", _summary(found, s), jam_rows, found=found)
    kept = {name: getattr(s, name) for name in ("particles", "dim", "accuracy", "route", "method")}
    kept |= {"law": law.model_dump(), "sizes": sizes.model_dump()}
    try:
        with PackingWriter(path, found.packing, describe(dict(about or {}), s.seed, kept)) as writer:
            writer.append(found.packing, iterations=found.iterations, measured=found.measured)
            writer.set_summary(run.summary)
        run.path, run.summary["recording"] = path, str(path)
        if picture:
            run.summary["picture"] = draw_beside(path, "packing", say)
    except BaseException as error:
        carry(error, run)
        raise
    return run


def _summary(found: Jammed, s: JamSettings) -> dict[str, Any]:
    return {
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
        "seed": s.seed,
        "route": s.route,
        "sizes": s.sizes if isinstance(s.sizes, str) else s.sizes.model_dump(mode="json"),
        "steps": [asdict(step) for step in found.steps],
    }


def nearness(steps: list[JamStep]) -> list[str]:
    """What is known of phi_cr by now, in words."""
    known = [step.phi_cr for step in steps if math.isfinite(step.phi_cr)]
    return [f"phi_cr {known[-1]:.8f}"] if known else []


def part_done(steps: list[JamStep], accuracy: float) -> float | None:
    """Of the way to phi_cr, in decades; None while nothing is known of it. From below: of the bracket."""
    above, below = ([step.phi for step in steps if step.jammed == jammed] for jammed in (True, False))
    known = [step.phi_cr for step in steps if math.isfinite(step.phi_cr)]
    if not above or not (known or below):
        return None
    away = max(min(above) - (known[-1] if known else max(below)), accuracy)
    return min(1.0, max(0.0, math.log(FAR / away) / math.log(FAR / accuracy))) if accuracy < FAR else None


def jam_rows(s: dict[str, Any]) -> Rows:
    """Of the table."""
    digits = max(4, min(14, 1 + round(-math.log10(s["accuracy"]))))
    return [
        ("phi_cr", f"{s['phi_cr']:.{digits}f} to {s['accuracy']:.1g}"),
        *packing_rows(s),
        ("work", f"{len(s['steps'])} minimisations, {s['iterations']} iterations, {s['wall_seconds']:.3g} s"),
    ]
