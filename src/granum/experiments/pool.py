"""Many independent runs on all cores: results come in the order of the jobs, whoever ran them."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Job:
    """A call of a module-level function."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    cost: float
    """About how long it takes, in any unit: long ones start first, and progress counts it."""


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_jobs(
    jobs: Sequence[Job], workers: int | None = None, advance: Callable[[float], None] = lambda part: None
) -> list[Any]:
    """Results in the order of ``jobs``; ``workers`` none: one for each core. ``advance`` hears the finished part, 0 to 1.

    Compile the kernels before (``methods.warm_kernels``), or every worker compiles its own.
    """
    workers = min(workers or cores(), len(jobs))
    total, done = sum(job.cost for job in jobs), 0.0
    results: list[Any] = [None] * len(jobs)
    if workers <= 1:
        for k, job in enumerate(jobs):
            results[k] = job.function(*job.args)
            advance((done := done + job.cost) / total)
        return results
    others = set(multiprocessing.active_children())
    # Spawned, not forked: compiled code and its threads do not survive a fork everywhere.
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), initializer=_end_on_interrupt)
    try:
        longest_first = sorted(range(len(jobs)), key=lambda k: -jobs[k].cost)
        number = {pool.submit(jobs[k].function, *jobs[k].args): k for k in longest_first}
        for future in as_completed(number):
            k = number[future]
            results[k] = future.result()
            advance((done := done + jobs[k].cost) / total)
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in set(multiprocessing.active_children()) - others:
            worker.terminate()
        raise
    pool.shutdown()
    return results


def _end_on_interrupt() -> None:
    """In a worker: Ctrl-C ends it without a traceback; the parent says what happened."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
