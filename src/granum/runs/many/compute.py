"""Jobs of a sweep, a calibration or an ensemble: computed on a pool with live progress, and kept, so that a stopped one goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

from ...pool import Job, Pool, RunStore, run_jobs
from ...progress import Bar
from ...talk import silent, talk

WRITE_EVERY = 1.0  # [s] between two looks at a table that grows


class Computing:
    """A pool and a store for the lists of jobs of one command; ``label`` is shown with the progress."""

    def __init__(self, label: str, pool: Pool, *, fresh: bool = False, progress: bool = True) -> None:
        self.label, self.pool, self.progress = label, pool, progress
        self.store = RunStore(fresh=fresh)
        self.say: Callable[..., None] = talk if progress else silent

    def run(self, jobs: Sequence[Job], grown: Callable[[list[Any]], None] = lambda results: None) -> list[Any]:
        """Results in the order of the jobs; ``grown`` sees those that are there now and then (None: not yet) and when the list is left."""
        results: list[Any] = [None] * len(jobs)
        done, shown = 0, monotonic()
        bar = Bar(self.label) if self.progress else None

        def finished(number: int, result: Any) -> None:
            nonlocal done, shown
            results[number], done = result, done + 1
            if monotonic() - shown > WRITE_EVERY:
                grown(results)
                shown = monotonic()

        def advance(part: float) -> None:
            if bar is not None:
                bar.show(part, [f"{done} of {len(jobs)} runs"])

        def found(there: int, of: int) -> None:
            if there:
                self.say(f"{self.label}: {there} of {of} runs are there from before")

        try:
            advance(0.0)
            return run_jobs(jobs, self.pool, advance, self.store, found, finished)
        except BaseException:
            if done:
                kept = " and are kept; the same command goes on from there" if self.store.folder is not None else ""
                self.say(f"{self.label}: {done} of {len(jobs)} runs are finished{kept}")
            raise
        finally:
            if bar is not None:
                bar.stop()
            if done:
                grown(results)
