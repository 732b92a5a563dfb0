"""``granum.run_minimise``: the energy of a packing, or of the end of a run, at its minimum; what ``granum minimise`` does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from ..checks import InputError, as_path, finite_positive, known_name
from ..contact.power import PowerLaw
from ..io import Recording
from ..io.packing import PackingWriter, is_packing, read_packing
from ..plot.style import FORMATS
from ..quasistatic.measure import measure
from ..quasistatic.minimise import AUTO, METHODS, PRECONDITIONERS, minimise
from ..quasistatic.packing import Packing, check_fraction, random_packing
from ..quasistatic.spellings import read_law, read_sizes
from ..records import Record, Whole
from ..scene.sizes import Sizes
from ..simulation.relax import METHOD, SUITED
from ..talk import silent, talk
from .output import check_folder, check_not_read, check_output, kept_apart
from .packings import Watch, describe, draw_beside, observables, packing_rows, warm_up
from .relax import relax
from .reports import Known, draw_residuals, plain, report_rows
from .result import Rows, Run, carry
from .run import Talk

BASELINE = "fire"


class RandomPacking(Record):
    """A random packing to start from."""

    packing: str | None = None
    """Grains, packing fraction and seed (0 if left out): N,PHI[,SEED]."""
    dim: int | None = None
    """2 or 3 dimensions; none: 2."""
    law: PowerLaw | str | None = None
    """hooke or hertz; none: hooke."""
    alpha: float | None = None
    """Exponent of the energy, 2 or more."""
    sizes: Sizes | str | None = None
    """Diameters in any unit, equal numbers of each: 1,1.4 (default); with numbers: 1:0.7,2:0.3; uniform:0.8,1.2; lognormal:SIGMA."""


class MinimiseSettings(RandomPacking):
    """What is minimised, and how."""

    method: tuple[str, ...] | str | None = None
    """auto, lbfgs, cg, fr-cg, fire or newton, with +PRECONDITIONER where one is wanted; several are compared; none: auto."""
    preconditioner: str | None = None
    """none, adjacency, exponential or contacts, where a method names none."""
    tolerance: float | None = None
    """Force left on a grain [N]; none: 1e-10 k d^(alpha - 1), of a run 1e-8 of a grain's weight."""
    limit: Whole = Field(default=100_000, ge=1)
    """Most iterations."""
    phi: float | None = None
    """Packing fraction to which the grains of a recorded packing are grown or shrunk first."""
    frame: int = -1
    """Frame of the file; negative: from the end."""

    @property
    def methods(self) -> tuple[str, ...]:
        """Their names, as given."""
        return (self.method,) if isinstance(self.method, str) else self.method or ()


def run_minimise(
    source: Packing | str | Path | None = None,
    settings: MinimiseSettings | None = None,
    *,
    output: str | Path | None = None,
    picture: bool = True,
    overwrite: bool = False,
    progress: bool = True,
    about: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Run:
    """Minimise the energy of a packing, of that in a recording, or of the grains at the end of a recorded run.

    >>> found = run_minimise(packing="64,0.9", method=("lbfgs", "cg"), progress=False)
    >>> [trial["method"] for trial in found.summary["methods"]]
    ['lbfgs', 'cg', 'fire']

    ``fields`` are those of :class:`MinimiseSettings`. ``output`` is a recording (.vtkhdf) of start and end, or a figure (.png, .pdf, .svg)
    of the residuals; none: nothing is written. Of several methods the first one is written. A recording of that name is kept, and one with
    ``-2`` written, unless it may ``overwrite``.
    """
    say: Talk = talk if progress else silent
    s = MinimiseSettings.over(settings, fields)
    file = None if source is None or isinstance(source, Packing) else as_path("source", source)
    if (source is None) == (s.packing is None):
        raise InputError(
            "give the recording FILE of a packing or of a run, or --packing N,PHI for a random one"
            + (" (got both)." if source is not None else ".")
        )
    if s.tolerance is not None:
        finite_positive("--tolerance", s.tolerance, "N")
    path = as_path("output", output) if output is not None else None
    if path is not None and path.suffix.lower() in FORMATS:
        check_folder(path)
    elif path is not None:
        check_not_read(path, file)
        path = kept_apart(path, overwrite, say)
        check_output(path, picture, say)
    known = Known(path, picture, dict(about or {}), say, progress)
    if s.packing is not None:
        if s.phi is not None:
            raise InputError("--packing N,PHI names the packing fraction already: leave --phi out.")
        start, seed = _random(s.packing, 2 if s.dim is None else s.dim, read_law(s.law, s.alpha), read_sizes(s.sizes or "1,1.4"))
        return _minimise_packing(start, seed, s.packing, s, known)
    for name in ("law", "alpha", "dim", "sizes"):
        if getattr(s, name) is not None:
            raise InputError(f"--{name} is of a random packing (--packing): a recording has its own.")
    if isinstance(source, Packing):
        return _minimise_packing(_at(source, s.phi), None, "a packing", s, known)
    assert file is not None
    with Recording(file) as recording:
        if is_packing(recording):
            start = _at(read_packing(recording, s.frame), s.phi)
            return _minimise_packing(start, recording.description.get("seed"), str(file), s, known)
        if s.phi is not None:
            raise InputError("--phi is of packings: the grains of a run keep their sizes.")
        return relax(recording, s.frame, _plain_methods(s.methods, s.preconditioner), {"tolerance": s.tolerance, "limit": s.limit}, known)


def _at(packing: Packing, phi: float | None) -> Packing:
    return packing if phi is None else packing.at(check_fraction(phi, packing.dim, 2 * packing.radius))


def _minimise_packing(start: Packing, seed: int | None, source: str, s: MinimiseSettings, known: Known) -> Run:
    methods = _methods(s.methods, s.preconditioner)
    options: dict[str, Any] = {"tolerance": s.tolerance, "limit": s.limit}
    warm_up(methods, start.dim, start.law, known.say)
    before, trials = measure(start), []
    for name, helper in methods:
        with Watch(name if helper is None else f"{name}+{helper}", total=1, shown=known.progress) as watch:
            trials.append(minimise(start, name, helper, watch=watch, **options))
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
    run, output = Run("granum minimise", found, minimise_rows, found=first.packing), known.output
    try:
        if output is not None and output.suffix.lower() in FORMATS:
            found["picture"] = draw_residuals([t.report for t in trials], output, f"{source}: {start.count} grains, phi {start.phi:.6g}")
        elif output is not None:
            kept = {"source": source, "method": first.report.method, **options}
            with PackingWriter(output, start, describe(known.about, seed, kept)) as writer:
                writer.append(start, measured=before)
                writer.append(first.packing, iterations=first.report.iterations, measured=after)
                writer.set_summary(found)
            run.path, found["recording"] = output, str(output)
            if known.picture:
                found["picture"] = draw_beside(output, "packing", known.say)
    except BaseException as error:
        carry(error, run)
        raise
    return run


def minimise_rows(s: dict[str, Any]) -> Rows:
    """Of the table."""
    return [*packing_rows(s), *report_rows(s)]


def _random(text: str, dim: int, law: PowerLaw, sizes: Sizes) -> tuple[Packing, int | None]:
    parts = text.split(",")
    try:
        count, phi = int(parts[0]), float(parts[1])
        seed = int(parts[2]) if len(parts) > 2 else 0
    except (ValueError, IndexError):
        raise InputError(f"--packing must be N,PHI or N,PHI,SEED, such as 1024,0.85,1 (got {text!r}).") from None
    if len(parts) > 3 or seed < 0:
        raise InputError(f"--packing must be N,PHI or N,PHI,SEED with a seed of 0 or more (got {text!r}).")
    return random_packing(count, phi, dim=dim, sizes=sizes, law=law, seed=seed), seed


def _methods(names: tuple[str, ...], preconditioner: str | None) -> list[tuple[str, str | None]]:
    """Methods and preconditioners as asked for; of several with tuned FIRE at the end if it is not among them."""
    chosen: list[tuple[str, str | None]] = []
    for name in names or (AUTO,):
        plain_name, plus, helper = name.partition("+")
        known_name("method", plain_name, METHODS)
        chosen.append((plain_name, known_name("preconditioner", helper, PRECONDITIONERS) if plus else preconditioner))
    if preconditioner is not None:
        known_name("preconditioner", preconditioner, PRECONDITIONERS)
    if len(chosen) > 1 and (BASELINE, None) not in chosen and (BASELINE, "none") not in chosen:
        chosen.append((BASELINE, None))
    return chosen


def _plain_methods(names: tuple[str, ...], preconditioner: str | None) -> list[str]:
    """Methods for the end of a run, which need nothing but energy and gradient."""
    if preconditioner not in (None, "none") or any("+" in name for name in names):
        raise InputError("preconditioners are for packings in a periodic cell: for the end of a run name the method alone, such as lbfgs.")
    chosen = [METHOD if name == AUTO else known_name("method", name, SUITED) for name in names or (METHOD,)]
    return chosen + [BASELINE] * (len(chosen) > 1 and BASELINE not in chosen)
