"""A team of threads that runs one compiled kernel together.

The threads are Python's own and wait in locks; the kernels release the interpreter, so that all of them compute at once. They are made
when they are first needed, kept as long as the process lives, and serve one kernel at a time.
"""

from __future__ import annotations

import threading
from typing import Any

from ..checks import InputError
from .barrier import new_barrier

LEAST = 500  # things that a thread should have to do: for fewer it is not woken
MOST = 256   # threads


class _Worker:
    """One more thread: it waits for ``go``, computes its part, and says ``done``."""

    def __init__(self, number: int) -> None:
        self.go, self.done = threading.Semaphore(0), threading.Semaphore(0)
        self.job: tuple[Any, ...] = ()
        self.error: BaseException | None = None
        threading.Thread(target=self._serve, name=f"granum-{number}", daemon=True).start()

    def _serve(self) -> None:
        while True:
            self.go.acquire()
            kernel, args = self.job
            try:
                kernel(*args)
            except BaseException as error:  # it is raised where the work was given out
                self.error = error
            self.job = ()
            del kernel, args  # the arrays belong to whoever gave them
            self.done.release()


_workers: list[_Worker] = []
_at_work = threading.Lock()


class Team:
    """``threads`` threads; with one, a kernel is simply called.

    A kernel of a team is called as ``kernel(thread, threads, barrier, *args)`` on every thread and computes its share of the whole. What it
    computes must not depend on the number of threads: results are the same bits for any team.
    """

    def __init__(self, threads: int = 1) -> None:
        if not 1 <= threads <= MOST:
            raise InputError(f"threads must be from 1 to {MOST} (got {threads}).")
        self.threads = threads
        self._barrier = new_barrier(threads)

    def run(self, kernel: Any, things: int, /, *args: Any) -> Any:
        """Share ``things`` out, and return what the kernel returns on the first thread; few things wake few threads."""
        threads = min(self.threads, max(1, things // LEAST))
        if threads == 1:
            return kernel(0, 1, self._barrier, *args)
        with _at_work:
            while len(_workers) < threads - 1:
                _workers.append(_Worker(len(_workers) + 1))
            called = _workers[: threads - 1]
            for thread, worker in enumerate(called, 1):
                worker.job = (kernel, (thread, threads, self._barrier, *args))
                worker.go.release()
            try:
                return kernel(0, threads, self._barrier, *args)
            finally:
                for worker in called:
                    worker.done.acquire()
                errors = [worker.error for worker in called if worker.error]
                for worker in called:
                    worker.error = None
                if errors:
                    raise errors[0]


ONE = Team(1)
