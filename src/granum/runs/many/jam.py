"""``granum.jam_many``: an ensemble of jammed packings that differ by their seeds; what ``granum jam --seeds`` does."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..._jit import cache_is_warm
from ...analysis import state_hash
from ...checks import RunError, known_name
from ...contact.power import PowerLaw
from ...pool import Job, Pool, report
from ...quasistatic.jam import check_accuracy, jam
from ...quasistatic.minimise import METHODS
from ...quasistatic.spellings import read_law, read_sizes
from ...scene.sizes import Sizes
from ...talk import silent, talk
from ..jam import JamSettings, part_done
from ..packings import unit_of_pressure, warm_up
from .compute import Computing
from .csv_file import check_table
from .table import RunTable, row_of
from .vary import SEED, read_seeds

MEASURES = ("phi_cr", "z", "rattlers", "pressure", "energy", "iterations")


def jam_many(
    seeds: str | int | Iterable[int],
    settings: JamSettings | None = None,
    *,
    output: str | Path | None = None,
    picture: bool = True,
    progress: bool = True,
    workers: Pool | int | None = None,
    scheduler: str | None = None,
    fresh: bool = False,
    **fields: Any,
) -> RunTable:
    """Find the packing fraction at which grains jam for many seeds, with mean and spread.

    >>> found = jam_many("0:3", particles=32, accuracy=1e-3, workers=1, progress=False)
    >>> found.table()["phi_cr"].round(1).tolist()
    [0.8, 0.8, 0.8]

    ``seeds``: numbers, or a text: ``"0:200"`` are 200 seeds from 0 on. ``fields`` are those of :class:`granum.runs.JamSettings`.
    ``output``: the table, with histograms beside it; none: nothing is written. ``workers``, ``scheduler`` and ``fresh`` are as in
    :func:`granum.sweep`; any packing is had again by its seed, ``granum jam --seed 7``.
    """
    numbers = read_seeds(seeds)
    s = JamSettings(**((settings.given() if settings is not None else {}) | fields))
    check_accuracy(s.accuracy)
    known_name("method", s.method, METHODS)
    law, sizes = read_law(s.law, s.alpha), read_sizes(s.sizes)
    if output is not None:
        check_table(Path(output), picture, (SEED,), [{SEED: seed} for seed in numbers])
    if progress and not cache_is_warm():
        talk("compiling kernels, once (a minute or two; later runs start at once) ...")
    how = (s.particles, s.dim, s.accuracy, s.route, s.method)
    jobs = [Job(jam_once, (*how, law.model_dump_json(), sizes.model_dump_json(), seed)) for seed in numbers]

    def table(results: list[Any]) -> RunTable:
        there = [(seed, result) for seed, result in zip(numbers, results, strict=True) if result is not None]
        rows = [row_of({SEED: seed}, result, {name: name for name in MEASURES}) for seed, result in there]
        units = {"pressure": unit_of_pressure(s.dim), "energy": "J"}
        return RunTable(f"jam, {s.particles} grains in {s.dim} dimensions", (SEED,), MEASURES, units, rows)

    def grown(results: list[Any]) -> None:
        if output is not None:
            table(results).write_csv(output)

    with workers if isinstance(workers, Pool) else Pool(workers, scheduler, len(jobs)) as pool:
        found = table(Computing(f"jam {s.particles}", pool, fresh=fresh, progress=progress).run(jobs, grown))
    if output is not None:
        found.write_csv(output)
        found.csv = Path(output)
        if picture:
            found.picture = Path(output).with_suffix(".png")
            found.plot(found.picture)
    return found


def jam_once(particles: int, dim: int, accuracy: float, route: Any, method: str, law: str, sizes: str, seed: int) -> dict[str, Any]:
    """The numbers of one packing."""
    from pydantic import TypeAdapter

    kind: TypeAdapter[Any] = TypeAdapter(Sizes)
    law_read, sizes_read = PowerLaw.read(json.loads(law), "law"), kind.validate_json(sizes)
    _warm(method, dim, law)

    def watch(course: Any, steps: Any) -> None:
        report(part_done(steps, accuracy) or 0.0)

    none: dict[str, Any] = {"units": {}, "notes": {}}
    try:
        found = jam(
            particles, dim=dim, sizes=sizes_read, law=law_read, seed=seed, accuracy=accuracy, route=route, method=method, watch=watch
        )
    except RunError as error:
        return {"numbers": {}, **none, "steps": None, "wall_time": None, "state_hash": None, "failed": str(error)}
    packing = found.packing
    return {
        "numbers": {name: getattr(found, name) for name in MEASURES},
        **none,
        "steps": len(found.steps),
        "wall_time": found.seconds,
        "state_hash": state_hash(packing.cell.vectors, packing.position, packing.radius),
        "failed": None,
    }


@functools.cache
def _warm(method: str, dim: int, law: str) -> None:
    """Once in every process, so that wall times are of the work alone."""
    warm_up([(method, None)], dim, PowerLaw.read(json.loads(law), "law"), silent)
