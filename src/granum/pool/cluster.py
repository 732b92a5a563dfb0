"""Runs on a Dask cluster: the same functions with the same arguments, hence the same bits; results are kept here."""

from __future__ import annotations

import threading
from typing import Any

from ..checks import InputError, RunError
from .processes import Advance, Done, Numbered
from .store import keep, package_digest

PATIENCE = 10  # [s] to wait for an answer of the scheduler
_one_at_a_time = threading.Lock()  # in a worker with several threads


def connect(address: str) -> Any:
    """A client of the scheduler at ``address``; a refusal in words where none answers, or where its workers have another granum."""
    try:
        import distributed
    except ImportError:
        raise InputError("a scheduler needs dask.distributed: install granum[cluster].") from None
    try:
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:  # a timeout is an OSError, too
        raise InputError(
            f"no Dask scheduler answers at {address!r} ({str(error) or type(error).__name__}). Start one with `dask scheduler`, and give "
            "the address that it prints, such as tcp://10.0.0.1:8786."
        ) from None
    try:
        _check_workers(client, address)
    except BaseException:
        client.close()
        raise
    return client


def _check_workers(client: Any, address: str) -> None:
    if not client.scheduler_info(n_workers=-1)["workers"]:
        raise InputError(f"the Dask scheduler at {address!r} has no workers. Start some with `dask worker {address} --nthreads 1`.")
    try:
        digests = client.run(package_digest)
    except Exception as error:  # of the worker: mostly an import that fails
        raise InputError(f"workers of the Dask scheduler at {address!r} cannot load granum ({error}). Install it there, too.") from None
    if other := [worker for worker, digest in digests.items() if digest != package_digest()]:
        raise InputError(
            f"{len(other)} of {len(digests)} workers of the Dask scheduler at {address!r} have another version of granum, Python, NumPy or "
            f"Numba than this process, so runs would not have the same bits (the first is {other[0]}). Install the same ones there."
        )


def run_on_cluster(client: Any, numbered: Numbered, advance: Advance) -> Done:
    """Each job as it is done."""
    from distributed import as_completed

    jobs, done, ended = {k: (job, path) for k, job, path in numbered}, 0.0, False
    futures = {}
    try:
        for k in sorted(jobs, key=lambda k: -jobs[k][0].cost):
            job = jobs[k][0]
            futures[client.submit(_run_alone, job.function, job.args, pure=False)] = k
        for future in as_completed(list(futures), loop=client.loop):
            k = futures[future]
            result = _result(future)
            advance(done := done + jobs[k][0].cost)
            path = jobs[k][1]
            yield k, result, keep(path, result) if path is not None else None
        ended = True
    finally:
        if not ended:
            client.cancel(list(futures), force=True)


def _result(future: Any) -> Any:
    """Of a finished job; a worker that died is told in words, an error of the job is raised as it is."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker

    try:
        return future.result()
    except (KilledWorker, CancelledError, OSError) as error:
        raise RunError(f"the Dask cluster lost a run ({error}); finished runs are kept. Start again.") from error


def _run_alone(function: Any, args: tuple[Any, ...]) -> Any:
    """On a worker: threads of one process take turns, so that a run has its process for itself."""
    with _one_at_a_time:
        return function(*args)
