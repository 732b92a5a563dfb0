"""``granum.sweep``: a scene run with all combinations of some parameters, measured, in one table; what ``granum sweep`` does."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...checks import InputError
from ...pool import Pool
from ...scene.scene import Scene
from .compute import Computing
from .csv_file import check_table
from .measured import RESULTS, columns_of
from .points import Maker, check_measured, check_measures, jobs_of, maker_of, whole_parameters
from .table import LAST, RunTable, missing, row_of
from .vary import Varied, combinations, read_varied


def sweep(
    scene: Scene | str | Path | Maker,
    vary: Mapping[str, Any] | Sequence[Varied],
    measure: str | Sequence[str] = (),
    *,
    values: Mapping[str, Any] | None = None,
    output: str | Path | None = None,
    picture: bool = True,
    progress: bool = True,
    workers: Pool | int | None = None,
    scheduler: str | None = None,
    fresh: bool = False,
    **fields: Any,
) -> RunTable:
    """Run a scene with every combination of the values of some parameters, and put what is measured into one table.

    >>> found = sweep("column", {"count": "4:8:2", "seed": "0:2"}, "height_error", duration=0.1, workers=1, progress=False)
    >>> found
    RunTable(column, 4 runs, height_error)
    >>> bool(abs(found.table()["height_error"]).max() < 1e-3)
    True

    ``scene`` is a scene, the name of a library scene or a scene file. ``vary``: names of parameters or places in the scene, as ``--set``
    takes them, with lists of values or texts: ``"0.2:0.8:4"`` are four values from 0.2 to 0.8, ``"0:3"`` the whole numbers 0, 1 and 2.
    ``seed`` is the seed of everything random: means are taken over it. ``measure``: metrics of ``granum analyse`` (NAME or NAME.NUMBER)
    and numbers of the summary; none: the results of the scene. ``values`` are parameters of all runs, ``fields`` those of
    :class:`granum.Settings`.

    ``output``: the CSV file, with the picture beside it; none: nothing is written. Every run has one thread, ``workers`` of them go on at
    once (none: one for each core), or those of a Dask ``scheduler``. Finished runs are kept: a sweep that was stopped goes on, unless it
    is to start ``fresh``.
    """
    varied = list(vary) if not isinstance(vary, Mapping) else read_varied(vary, whole_parameters(scene))
    if not varied:
        raise InputError("a sweep needs something to vary, such as --vary friction=0.2:0.8:4.")
    measures = (measure,) if isinstance(measure, str) else tuple(measure)
    points = combinations(varied)
    if output is not None:
        check_table(Path(output), picture, [one.name for one in varied], [shown for _, shown in points])
    with workers if isinstance(workers, Pool) else Pool(workers, scheduler, len(points)) as pool:
        name, jobs = jobs_of(maker_of(scene, values, fields), [point for point, _ in points], measures)
        pool.begin(jobs[0].function.__module__)
        check_measures(jobs[0], measures, progress)
        collected = Collected(name, varied, measures, [shown for _, shown in points], Path(output) if output is not None else None)
        results = Computing(f"sweep {name}", pool, fresh=fresh, progress=progress).run(jobs, collected.grown)
    table = collected.table(results)
    if output is not None:
        table.write_csv(output)
        table.csv = Path(output)
        if picture:
            table.picture = Path(output).with_suffix(".png")
            table.plot(table.picture)
    return table


class Collected:
    """Results of runs on their way into a table."""

    def __init__(
        self, title: str, varied: Sequence[Varied], measures: Sequence[str], points: Sequence[dict[str, Any]], output: Path | None
    ) -> None:
        self.title, self.measures, self.points, self.output = title, measures, points, output
        self.parameters = tuple(one.name for one in varied)
        self.units = {one.name: one.unit for one in varied if one.unit}

    def grown(self, results: Sequence[dict[str, Any] | None]) -> None:
        """What is there is written, so that nothing is lost with this process; unknown measures are refused as soon as a run can tell."""
        check_measured(self.measures, results)
        if self.output is not None and any(result is not None for result in results):
            self.table(results).write_csv(self.output)

    def table(self, results: Sequence[dict[str, Any] | None]) -> RunTable:
        """Of the runs that are there."""
        there = [(point, result) for point, result in zip(self.points, results, strict=True) if result is not None]
        found = [result for _, result in there]
        columns: dict[str, str] = {}
        for measure in self.measures:
            columns |= columns_of(measure, found)
        if not self.measures:
            names = dict.fromkeys(name for result in found for name in result["numbers"] if name.startswith(f"{RESULTS}."))
            columns = {name.removeprefix(f"{RESULTS}."): name for name in names}
        columns = {name: key for name, key in columns.items() if name not in (*self.parameters, *LAST)}
        known = {name: unit for result in found for name, unit in result["units"].items()}
        units = self.units | {name: known[key] for name, key in columns.items() if key in known}
        rows = [row_of(point, result, columns) for point, result in there]
        return RunTable(self.title, self.parameters, tuple(columns), units, rows, missing(tuple(columns), found))


def default_table(scene: str, what: str) -> Path:
    """``pile-sweep.csv`` in the current folder."""
    stem = re.sub(r"[^\w.-]+", "-", Path(scene).stem).strip("-.") or "scene"
    return Path(f"{stem}-{what}.csv")
