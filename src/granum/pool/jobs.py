"""Lists of independent runs: results come in the order of the jobs, whoever ran them, and finished ones are kept."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .processes import Job, Pool
from .store import RunStore


def run_jobs(
    jobs: Sequence[Job],
    workers: Pool | int | None = None,
    advance: Callable[[float], None] = lambda part: None,
    store: RunStore | None = None,
    found: Callable[[int, int], None] = lambda there, of: None,
    finished: Callable[[int, Any], None] = lambda number, result: None,
) -> list[Any]:
    """Results in the order of ``jobs``; ``workers`` is a pool or a number of processes, none: one for each core.

    ``advance`` hears the finished part, 0 to 1, and ``finished`` the number and result of every job, those that were there included.
    With a ``store``, results that are there are taken from it, and every run is kept as soon as it is done, so that a stopped list goes
    on where it was; ``found`` hears how many of how many were there.
    """
    paths: list[Path | None] = [store.path(job.function, job.args) if store is not None else None for job in jobs]
    results, to_do = _look_up(store, paths)
    if store is not None:
        found(len(jobs) - len(to_do), len(jobs))
    waiting = set(to_do)
    for k in range(len(jobs)):
        if k not in waiting:
            finished(k, results[k])
    if not to_do:
        return results
    total, unkept = sum(jobs[k].cost for k in to_do), False
    with contextlib.ExitStack() as stack:  # whatever happens, the workers end here
        if any(job.alone for job in jobs):
            pool = stack.enter_context(Pool(1))
        else:
            pool = workers if isinstance(workers, Pool) else stack.enter_context(Pool(workers, most=len(to_do)))
        running = pool.run([(k, jobs[k], paths[k]) for k in to_do], lambda cost: advance(cost / total))
        for k, result, trouble in stack.enter_context(contextlib.closing(running)):
            results[k] = result
            finished(k, result)
            if trouble and not unkept:
                unkept = True
                warnings.warn(f"finished runs cannot be kept in {store.folder if store else ''}: {trouble}", stacklevel=2)
    return results


def _look_up(store: RunStore | None, paths: Sequence[Path | None]) -> tuple[list[Any], list[int]]:
    """Results that are there, and the numbers of the jobs that are to be run."""
    results: list[Any] = [None] * len(paths)
    to_do = []
    for k, path in enumerate(paths):
        there, results[k] = store.find(path) if store is not None and path is not None else (False, None)
        if not there:
            to_do.append(k)
    return results, to_do
