"""``granum.calibrate``: values of parameters with which a scene gives a measured number; what ``granum calibrate`` does."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from ...analysis.repeats import Repeats
from ...array_types import FloatArray
from ...checks import InputError, RunError
from ...pool import Pool
from ...scene.scene import Scene
from ...units import QUANTITY
from ..result import carry
from .calibration import Calibration, Fit, Target
from .compute import Computing
from .csv_file import check_table
from .measured import WARNING, columns_of
from .points import Maker, check_measured, check_measures, jobs_of, maker_of, whole_parameters
from .search import Curve, first_tries, places
from .table import LAST, missing, row_of
from .vary import SEED, read_range, read_seeds

TRIES = 12
SIGN = re.compile(r"\+-|\+/-|±")  # between a value and its tolerance


def calibrate(
    scene: Scene | str | Path | Maker,
    fit: Mapping[str, Any] | list[Fit],
    target: Mapping[str, Any] | Target,
    *,
    seeds: str | int | Iterable[int] = "0:3",
    values: Mapping[str, Any] | None = None,
    tries: int = TRIES,
    output: str | Path | None = None,
    picture: bool = True,
    progress: bool = True,
    workers: Pool | int | None = None,
    **fields: Any,
) -> Calibration:
    """Find the values of parameters with which a scene gives a measured number.

    Such as ``calibrate("pile", {"friction": "0.1:1"}, {"repose": "28+-1"}, workers=2)``, whose ``best`` and ``interval`` are the answer.

    ``fit``: ranges of parameters, named as in :func:`granum.sweep`; ``target``: a measure with its value and tolerance, a text or two
    numbers. Every try is the mean over ``seeds``. A Gaussian process is fitted to the tries, and the next one is where it meets the
    target, until a try is within the tolerance and the curve is known as well there, or for ``tries`` tries. A target that no value
    reaches is an InputError that tells the range reached; its ``run`` has all tries. ``workers`` may be a :class:`granum.Pool`, for a
    Dask cluster; finished runs are kept.
    """
    fits = list(fit) if not isinstance(fit, Mapping) else read_fits(fit, whole_parameters(scene))
    goal = target if isinstance(target, Target) else read_target(*next(iter(target.items())))
    numbers = read_seeds(seeds)
    if not fits or (isinstance(target, Mapping) and len(target) != 1):
        raise InputError("a calibration needs a --fit or more, and one --target.")
    if tries < len(first_tries(len(fits))) + 1:
        raise InputError(f"tries must be {len(first_tries(len(fits))) + 1} or more with {len(fits)} parameter(s) to fit (got {tries}).")
    if output is not None:
        check_table(Path(output), picture, [*(one.name for one in fits), SEED])
    with workers if isinstance(workers, Pool) else Pool(workers) as pool:
        search = _Search(maker_of(scene, values, fields), fits, goal, numbers)
        search.check(pool, progress)
        try:
            search.go_on(Computing(f"calibrate {search.scene}", pool, progress=progress), tries)
        finally:
            found = search.found()
            if found.rows and output is not None:
                found.write(Path(output), picture and len(found.tries) > 1)
    try:
        _check_reached(found, tries)
    except (InputError, RunError) as error:
        carry(error, found)  # type: ignore[arg-type]
        raise
    return found


def read_fits(given: Mapping[str, Any] | Iterable[tuple[str, Any]], whole: Mapping[str, bool]) -> list[Fit]:
    """Parameters with their ranges; a range over two decades or more is searched on a logarithmic scale."""
    found: list[Fit] = []
    for name, text in given.items() if isinstance(given, Mapping) else given:
        if name == SEED or name in [one.name for one in found]:
            raise InputError(
                f"--fit {name}: " + ("a seed is nothing to fit; tries are means over --seeds." if name == SEED else "given twice.")
            )
        low, high, unit = read_range(name, text)
        found.append(Fit(name, low, high, unit, bool(whole.get(name))))
    return found


def read_target(name: str, value: Any) -> Target:
    """A measure with its value and tolerance: ``28+-1``, ``0.5 rad +- 1 deg``, or two numbers. A unit behind the tolerance alone holds for
    both."""
    given = SIGN.split(value) if isinstance(value, str) else value if isinstance(value, (tuple, list)) else ()
    found = [QUANTITY.fullmatch(str(one)) for one in given]
    wanted, tolerance, units = math.nan, math.nan, ("", "")
    if len(found) == 2 and found[0] is not None and found[1] is not None:
        wanted, tolerance = float(found[0][1]), float(found[1][1])
        units = found[0][2] or found[1][2], found[1][2]
    if not (math.isfinite(wanted) and math.isfinite(tolerance) and tolerance > 0):
        raise InputError(
            f"--target {name} needs a value and a tolerance above 0, such as {name}=28+-1 or {name}='28 deg +- 1 deg' (got {value!r})."
        )
    return Target(name, wanted, tolerance, written=units)


class _Search:
    """Tries so far, and the next one."""

    def __init__(self, make: Maker, fits: list[Fit], target: Target, seeds: list[int]) -> None:
        self.make, self.fits, self.target, self.seeds = make, fits, target, seeds
        self.scene = ""
        self.points: list[tuple[Any, ...]] = []
        self.results: list[list[dict[str, Any] | None]] = []

    def check(self, pool: Pool, progress: bool) -> None:
        """Refuse whatever cannot be run or measured; all ends of ranges are tried as scenes."""
        points = [self._point(self._values(x), self.seeds[0]) for x in first_tries(len(self.fits))]
        self.scene, jobs = jobs_of(self.make, points, [self.target.measure])
        pool.begin(jobs[0].function.__module__)
        probe = check_measures(jobs[0], [self.target.measure], progress)
        for key in columns_of(self.target.measure, [probe]).values():
            self.target = self.target.in_unit(probe["units"].get(key, ""))

    def go_on(self, computing: Computing, tries: int) -> None:
        batch = [self._values(x) for x in first_tries(len(self.fits))]
        while batch:
            start = len(self.points)
            self.points += batch
            self.results += [[None] * len(self.seeds) for _ in batch]
            points = [self._point(values, seed) for values in batch for seed in self.seeds]
            _, jobs = jobs_of(self.make, points, [self.target.measure])
            computing.label = f"calibrate {self.scene}, {'tries' if start == 0 else 'try'} {len(self.points)}"
            computing.run(jobs, lambda results, start=start: self._grown(results, start))  # type: ignore[misc]
            found = self.found()
            batch = [] if len(self.points) >= tries or found.curve is None or found.done else [self._values(self._next(found))]
            if batch and batch[0] in self.points:
                batch = []

    def _grown(self, results: list[Any], start: int) -> None:
        count = len(self.seeds)
        for k, result in enumerate(results):
            self.results[start + k // count][k % count] = result
        check_measured([self.target.measure], results)

    def found(self) -> Calibration:
        """What the tries tell."""
        runs = [result for results in self.results for result in results if result is not None]
        columns = columns_of(self.target.measure, runs)
        name, key = next(iter(columns.items()), (self.target.measure, self.target.measure))
        unit = next((result["units"][key] for result in runs if key in result["units"]), "")
        rows, repeats = [], []
        for values, results in zip(self.points, self.results, strict=True):
            point = {one.name: value for one, value in zip(self.fits, values, strict=True)}
            there = [(seed, result) for seed, result in zip(self.seeds, results, strict=True) if result is not None]
            rows += [row_of(point | {SEED: seed}, result, {name: key}) for seed, result in there]
            repeats.append(Repeats.of(result["numbers"].get(key) for _, result in there))
        known = [k for k, one in enumerate(repeats) if one.runs]
        curve = None
        if len(known) > 1:
            x = np.array([self._scaled(self.points[k]) for k in known])
            curve = Curve.through(x, np.array([repeats[k].mean for k in known]), _variances([repeats[k] for k in known]))
        columns_in_order = (*(one.name for one in self.fits), SEED, name, *LAST)
        target = replace(self.target.in_unit(unit) if columns else self.target, measure=name)
        notes = missing((name,), runs)
        return Calibration(
            self.scene, self.fits, target, list(zip(self.points, repeats, strict=True)), rows, columns_in_order, curve, notes
        )

    def _next(self, found: Calibration) -> FloatArray:
        """Where the curve comes nearest to the target, nearer to a try that has a number than to any that has none.

        So tries go halfway towards those that could not be measured, as a heap that is too flat for an angle, and not there again.
        """
        x = places(len(self.fits))
        assert found.curve is not None
        silent = [values for values, one in found.tries if not one.runs]
        if silent:
            to_silent, _ = cKDTree([self._scaled(values) for values in silent]).query(x)
            to_known, _ = cKDTree(found.curve.x).query(x)
            x = x[to_known <= to_silent]
        mean, error = found.curve.at(x)
        off = np.abs(mean - self.target.value)
        return np.asarray(x[np.lexsort((error, off))[0]])

    def _values(self, x: FloatArray) -> tuple[Any, ...]:
        return tuple(one.value(float(part)) for one, part in zip(self.fits, x, strict=True))

    def _scaled(self, values: tuple[Any, ...]) -> list[float]:
        return [one.scaled(value) for one, value in zip(self.fits, values, strict=True)]

    def _point(self, values: tuple[Any, ...], seed: int) -> dict[str, Any]:
        return {one.name: f"{value!r}{one.unit}" if one.unit else value for one, value in zip(self.fits, values, strict=True)} | {
            SEED: seed
        }


def _variances(repeats: list[Repeats]) -> FloatArray | None:
    """Of the mean of each try, from the spread over seeds in all tries together; none: no try has two."""
    several = [one for one in repeats if one.runs > 1]
    if not several:
        return None
    pooled = sum((one.runs - 1) * one.std**2 for one in several) / sum(one.runs - 1 for one in several)
    return np.array([pooled / one.runs for one in repeats])


def _check_reached(found: Calibration, tries: int) -> None:
    """Refuse a target that no value reaches; fail where the tries were too few, or too noisy."""
    target = found.target
    if found.curve is None:
        notes = sorted(found.notes, key=lambda note: note.startswith(WARNING))
        why = [*(row["failed"] for row in found.rows if row["failed"]), *notes, "it could not be measured"]
        tell = f"only one try of {len(found.tries)} has" if any(one.runs for _, one in found.tries) else "no try has"
        raise RunError(f"{tell} a number for {target.measure}, so nothing can be fitted: {why[0].removesuffix('.')}.")
    low, high = found.reached
    if found.met:
        return
    if not low - target.tolerance <= target.value <= high + target.tolerance:
        ranges = ", ".join(f"{one.name} = {one.low:g} to {one.high:g}{one.unit}" for one in found.fits)
        silent = sum(not one.runs for _, one in found.tries)
        without = f", and {silent} of {len(found.tries)} tries have no such number" if silent else ""
        raise InputError(
            f"no value reaches the target {target.words}: with {ranges} it is {low:.4g} to {high:.4g}{without}. Take another range or "
            "target, or fit another parameter."
        )
    raise RunError(
        f"no try of {len(found.tries)} is within the target {target.words}; the nearest has {found.nearest[1].mean:.4g}. "
        f"Take more --seeds, a wider tolerance, or more than {tries} --tries."
    )
