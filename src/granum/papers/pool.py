"""Many independent runs on all cores: results come in the order of the jobs, whoever ran them, and finished ones are kept."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import warnings
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..checks import RunError
from .store import RunStore, keep


@dataclass(frozen=True)
class Job:
    """A call of a module-level function."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    cost: float
    """About how long it takes, in any unit: long ones start first, and progress counts it."""
    alone: bool = False
    """It is timed: jobs of a list with such a one run one after the other, in their order, in this process."""


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_jobs(
    jobs: Sequence[Job],
    workers: int | None = None,
    advance: Callable[[float], None] = lambda part: None,
    store: RunStore | None = None,
    found: Callable[[int, int], None] = lambda there, of: None,
) -> list[Any]:
    """Results in the order of ``jobs``; ``workers`` none: one for each core. ``advance`` hears the finished part, 0 to 1.

    With a ``store``, results that are there are taken from it, and every run is kept as soon as it is done, so that a stopped sweep goes
    on where it was; ``found`` hears how many of how many were there. Compile the kernels before (``methods.warm_kernels``), or every
    worker compiles its own.
    """
    paths: list[Path | None] = [store.path(job.function, job.args) if store is not None else None for job in jobs]
    results, to_do = _look_up(store, paths)
    if store is not None:
        found(len(jobs) - len(to_do), len(jobs))
    total, done, unkept = sum(jobs[k].cost for k in to_do), 0.0, False
    abreast = 1 if any(job.alone for job in jobs) else min(workers or cores(), len(to_do))
    running = _run_all([(k, jobs[k], paths[k]) for k in to_do], abreast)
    with contextlib.closing(running):  # whatever happens, the workers end here
        for k, result, trouble in running:
            results[k] = result
            advance((done := done + jobs[k].cost) / total)
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


def _run_all(numbered: list[tuple[int, Job, Path | None]], workers: int) -> Generator[tuple[int, Any, str | None], None, None]:
    """Number, result and trouble with keeping it, of each job as it is done."""
    if workers <= 1:
        for k, job, path in numbered:
            yield k, *_run(job.function, job.args, path)
        return
    others = set(multiprocessing.active_children())
    # Spawned, not forked: compiled code and its threads do not survive a fork everywhere.
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), initializer=_enter_worker)
    try:
        longest_first = sorted(numbered, key=lambda numbered: -numbered[1].cost)
        number = {pool.submit(_run, job.function, job.args, path): k for k, job, path in longest_first}
        for future in as_completed(number):
            yield number[future], *future.result()
    except BrokenProcessPool as error:
        kept = "; finished runs are kept" if any(path is not None for _, _, path in numbered) else ""
        raise RunError(
            f"a worker was killed, perhaps for want of memory{kept}. Start again, with --workers 1 if it happens twice."
        ) from error
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in set(multiprocessing.active_children()) - others:
            worker.terminate()
        raise
    pool.shutdown()


def _run(function: Callable[..., Any], args: tuple[Any, ...], path: Path | None) -> tuple[Any, str | None]:
    """The result, kept by whoever computed it: it is not lost with the parent."""
    result = function(*args)
    return result, keep(path, result) if path is not None else None


def _enter_worker() -> None:
    """In a worker: Ctrl-C ends it without a traceback (the parent says what happened), and so does the end of the parent."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
