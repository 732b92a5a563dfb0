"""Where runs are computed: in this process, in worker processes here, or on a Dask cluster. Each run has one thread at a time."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from ..checks import InputError, RunError
from ..parallel import cores
from .reporting import listening
from .store import keep

LOOK_EVERY = 0.5  # [s] between two looks at how far runs are
SLOTS = 4096  # runs of a list whose part that is done is known while they run


@dataclass(frozen=True)
class Job:
    """A call of a module-level function."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    cost: float = 1.0
    """About how long it takes, in any unit: long ones start first, and progress counts it."""
    alone: bool = False
    """It is timed: jobs of a list with such a one run one after the other, in their order, in this process."""


Numbered = Sequence[tuple[int, Job, Path | None]]
"""Number of a job, the job, and where its result is kept."""
Advance = Callable[[float], None]
"""Hears the cost of what is done so far."""
Done = Generator[tuple[int, Any, str | None], None, None]
"""Number, result and trouble with keeping it, of each job as it is done."""


class Pool:
    """Computes jobs, list after list, and ends its workers when it is left.

    ``workers`` none: one process for each core, ``most`` at most; 1: no other process. ``scheduler``: address of a Dask scheduler, whose
    workers compute instead; it is asked at once whether it is there.
    """

    def __init__(self, workers: int | None = None, scheduler: str | None = None, most: int | None = None) -> None:
        if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
            raise InputError(f"workers (-j) must be 1 or more processes (got {workers!r}).")
        if most is not None and (isinstance(most, bool) or not isinstance(most, int)):
            raise InputError(f"most must be a whole number of processes (got {most!r}).")
        if scheduler is not None and workers is not None:
            raise InputError("give workers (-j) or a scheduler, not both: a Dask cluster has workers of its own.")
        wanted = workers or cores()
        self.workers = max(1, min(wanted, most) if most is not None else wanted)
        self._client: Any = None
        if scheduler is not None:
            from .cluster import connect

            self._client = connect(scheduler)
        self._processes: ProcessPoolExecutor | None = None
        self._parts: Any = None
        self._scratch = ""
        self._others: set[Any] = set()

    def run(self, numbered: Numbered, advance: Advance = lambda cost: None) -> Done:
        """Each job as it is done. If this is left early, the jobs that are under way are given up."""
        if self._client is not None:
            from .cluster import run_on_cluster

            return run_on_cluster(self._client, numbered, advance)
        return self._run_here(numbered, advance) if self.workers == 1 else self._run_abreast(numbered, advance)

    def begin(self, module: str) -> None:
        """Let the workers start and load the module of their jobs while the caller does something else."""
        if self._client is None and self.workers > 1:
            pool = self._start()
            for _ in range(self.workers):
                pool.submit(_load, module)

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.close(at_once=kind is not None)

    def close(self, at_once: bool = False) -> None:
        """End the workers; ``at_once``: whatever they are at."""
        if self._client is not None:
            self._client.close()
        if self._processes is not None:
            self._processes.shutdown(wait=not at_once, cancel_futures=True)
            for worker in set(multiprocessing.active_children()) - self._others if at_once else ():
                worker.terminate()
                worker.join(5)
            self._processes = None
            shutil.rmtree(self._scratch, ignore_errors=True)

    def _start(self) -> ProcessPoolExecutor:
        if self._processes is None:
            # Spawned, not forked: compiled code and its threads do not survive a fork everywhere.
            context = multiprocessing.get_context("spawn")
            self._others, self._parts = set(multiprocessing.active_children()), context.RawArray("d", SLOTS)
            self._scratch = tempfile.mkdtemp(prefix="granum-runs-")
            self._processes = ProcessPoolExecutor(self.workers, context, _enter_worker, (self._parts, self._scratch))
        return self._processes

    def _run_here(self, numbered: Numbered, advance: Advance) -> Done:
        done = 0.0
        for k, job, path in numbered:
            before, cost = done, job.cost
            with listening(lambda part, before=before, cost=cost: advance(before + part * cost)):  # type: ignore[misc]
                result = job.function(*job.args)
            advance(done := done + job.cost)
            yield k, result, keep(path, result) if path is not None else None

    def _run_abreast(self, numbered: Numbered, advance: Advance) -> Done:
        pool, done, ended = self._start(), 0.0, False
        self._parts[:] = [0.0] * SLOTS
        jobs = {k: (job, path) for k, job, path in numbered}
        try:
            longest_first = sorted(jobs, key=lambda k: -jobs[k][0].cost)
            pending = {pool.submit(_run, jobs[k][0].function, jobs[k][0].args, jobs[k][1], k): k for k in longest_first}
            while pending:
                ready, _ = wait(pending, timeout=LOOK_EVERY, return_when=FIRST_COMPLETED)
                for future in ready:
                    k = pending.pop(future)
                    done += jobs[k][0].cost
                    yield k, *future.result()
                advance(done + sum(jobs[k][0].cost * self._parts[k] for k in pending.values() if k < SLOTS))
            ended = True
        except BrokenProcessPool as error:
            kept = "; finished runs are kept" if any(path is not None for _, path in jobs.values()) else ""
            raise RunError(
                f"a worker was killed, perhaps for want of memory{kept}. Start again, with one worker (-j 1) if it happens twice."
            ) from error
        finally:
            if not ended:
                self.close(at_once=True)


_parts: Any = None  # of this worker: where runs write how far they are


def _run(function: Callable[..., Any], args: tuple[Any, ...], path: Path | None, number: int) -> tuple[Any, str | None]:
    """The result, kept by whoever computed it: it is not lost with the parent."""

    def tell(part: float) -> None:
        if number < SLOTS:
            _parts[number] = part

    with listening(tell):
        result = function(*args)
    return result, keep(path, result) if path is not None else None


def _load(module: str) -> None:
    """In a worker: modules themselves cannot be handed back."""
    import_module(module)


def _enter_worker(parts: Any, scratch: str) -> None:
    """In a worker: Ctrl-C ends it without a traceback (the parent says what happened), and so does the end of the parent.

    Temporary files go to ``scratch``, which the parent removes, or who is left if the parent was killed.
    """
    global _parts
    _parts, tempfile.tempdir = parts, scratch
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            shutil.rmtree(scratch, ignore_errors=True)
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
