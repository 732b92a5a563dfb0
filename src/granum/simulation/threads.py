"""How many threads a run takes if it may choose: as many as there is work for, on the cores that there are."""

from __future__ import annotations

import multiprocessing

from ..checks import InputError
from ..parallel import Team, cores
from ..parallel.team import LEAST, MOST
from ..scene.grains import Lattice
from ..scene.run_settings import AUTO, Threads
from ..scene.scene import Scene

CONTACTS_PER_GRAIN = 2  # of a settled bed


def threads_of(asked: Threads, scene: Scene, duration: float) -> int:
    """The number that was asked for, or that suits a run of ``duration`` [s]: the bits are the same for any.

    A thread is given ``LEAST`` contacts at least, so that small scenes stay on one. So does a run in a process that another one has
    started: the runs of a pool share the cores already.
    """
    if asked != AUTO:
        return Team(asked).threads  # a refusal if there can be no such team
    if multiprocessing.parent_process() is not None:
        return 1
    return threads_for(grains_in(scene, duration))


def threads_for(grains: int) -> int:
    """That this machine has for so many grains."""
    return max(1, min(cores(), MOST, CONTACTS_PER_GRAIN * grains // LEAST))


def grains_in(scene: Scene, duration: float) -> int:
    """Grains at the start, and those that emitters bring within ``duration`` [s]."""
    placed = sum(block.count if isinstance(block, Lattice) else len(block.position) for block in scene.grains)
    return placed + sum(emitter.due(duration) for emitter in scene.emitters)


def check_threads(asked: Threads) -> None:
    """Refuse what is neither a number of threads nor ``auto``."""
    if isinstance(asked, str) and asked != AUTO:
        raise InputError(f"threads must be a whole number or {AUTO!r} (got {asked!r}).")
    if asked != AUTO:
        Team(asked)
