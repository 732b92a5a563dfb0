"""A team of threads that runs one compiled kernel after another together.

The threads are Python's own; the kernels release the interpreter, so that all of them compute at once. They are made when they are
first needed, kept as long as the process lives, and serve one team at a time. Waking one costs some ten microseconds while it still
listens for the next kernel, and more once it sleeps, so that little work is better done by one thread.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import numpy as np

from .._jit import kernel
from ..array_types import LongArray
from ..checks import InputError
from ..kernel_groups import call, code_for, prepared
from .barrier import BROKEN, atomic_load, new_barrier
from .crew import Crew

LEAST = 4000  # things that a thread should have to do, of some 50 ns each: for fewer it is not woken
LIGHT = 8  # things that are only copied: so many of them count as one
MOST = 256  # threads
LISTEN = 100_000  # looks at the bell before a thread goes to sleep: some hundred microseconds


@kernel
def listen(bell: LongArray, heard: int) -> None:
    """Until the bell has been rung anew, or nothing was heard for a while."""
    for _ in range(LISTEN):
        if atomic_load(bell, np.int64(0)) != heard:  # type: ignore[call-arg]  # its first argument is the compiler's
            return


class _Worker:
    """One more thread: it takes the next job when the bell rings, and lets go of it when it is done."""

    def __init__(self, number: int) -> None:
        self.jobs: SimpleQueue[tuple[Any, ...]] = SimpleQueue()
        self.bell = np.zeros(1, np.int64)
        threading.Thread(target=self._serve, name=f"granum-{number}", daemon=True).start()

    def give(self, *job: Any) -> None:
        """One more job: where errors go, a kernel, its crew and arguments."""
        self.bell[0] += 1
        self.jobs.put(job)  # at once or not at all, also if the user interrupts: a bell without a job is only heard

    def _serve(self) -> None:
        heard = 0
        while True:
            listen(self.bell, heard)
            job = self.jobs.get()
            heard = int(self.bell[0])
            self._do(*job)
            del job  # its arrays may be large

    def _do(self, errors: list[BaseException], kernel: Any, crew: Crew, *args: Any) -> None:
        try:
            kernel(crew, *args)
        except BaseException as error:  # it is raised where the work was given out, and nobody waits for this thread
            errors.append(error)
            crew.barrier[BROKEN] = 1


_workers: list[_Worker] = []
_at_work = threading.Lock()


def _start_anew() -> None:
    """In a forked process, which has none of the threads of the one that it was."""
    global _at_work
    _workers.clear()
    _at_work = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)


class Team:
    """``threads`` threads; with one, a kernel is simply called.

    A kernel of a team is called as ``kernel(crew, *args)`` on every thread, computes its share of the whole, and
    ends at the barrier: when one thread is through, all have done their part. What it computes must not depend on the number of
    threads, so that results are the same bits for any team.
    """

    def __init__(self, threads: int = 1) -> None:
        if not 1 <= threads <= MOST:
            raise InputError(f"threads must be from 1 to {MOST} (got {threads}).")
        self.threads = threads
        self._barrier = new_barrier(threads)
        self._alone = Crew(0, 1, new_barrier(1))

    def woken(self, things: int) -> int:
        """How many threads share so many things."""
        return max(1, min(self.threads, things // LEAST))

    def run(self, kernel: Any, things: int, /, *args: Any) -> Any:
        """Share ``things`` out, and return what the kernel returns on the first thread; few things wake few threads."""
        if self.threads == 1 or self.woken(things) == 1:
            return call(kernel, self._alone, *args)
        return self._share_out(kernel, things, args)

    def _share_out(self, kernel: Any, things: int, args: tuple[Any, ...]) -> Any:
        threads, code = self.woken(things), code_for(kernel, self._alone, *args)
        with _at_work:
            while len(_workers) < threads - 1:
                _workers.append(_Worker(len(_workers) + 1))
            errors: list[BaseException] = []
            try:
                for thread, worker in enumerate(_workers[: threads - 1], 1):
                    worker.give(errors, code, Crew(thread, threads, self._barrier), *args)
                result = code(Crew(0, threads, self._barrier), *args)
            except BaseException as error:
                first = errors[0] if errors else error  # whoever failed first: all others fail for it
                self._barrier[BROKEN] = 1  # nobody waits for this thread
                self._barrier = new_barrier(self.threads)
                raise first from None
            if errors:  # after the last barrier
                self._barrier = new_barrier(self.threads)
                raise errors[0]
            return result

    def prepared(self, kernel: Any, /, *groups: Any, then: tuple[Any, ...] = ()) -> Callable[..., Any]:
        """``run`` of a kernel with arrays whose types are looked at once: a call of ``(things, *numbers)``, these as ``then``."""
        alone = prepared(kernel, self._alone, *groups, then=then)
        if self.threads == 1:
            return lambda things, *numbers: alone(*numbers)

        def shared(things: int, *numbers: Any) -> Any:
            return alone(*numbers) if self.woken(things) == 1 else self._share_out(kernel, things, (*groups, *numbers))

        return shared


ONE = Team(1)
