"""The contact problem of a step, from the bodies and contacts to where a solve begins.

Rows are assembled, and where nothing impacts, targets, external impulses and warm start follow in the same call.
"""

from __future__ import annotations

from typing import NamedTuple

from .._jit import device, kernel
from ..contact.pair_table import PairTable
from ..kernel_groups import group
from ..machines.linked import any_links
from ..parallel.barrier import share, wait
from ..parallel.crew import Crew
from .assemble import Aim, aim_at_rest, assemble_rows, mean_square
from .groups import FreeBodies, Met, ProblemArrays, Step, WallArrays
from .integrate import External, add_external_impulse
from .kinds.full import weigh_links
from .kinds.links import aim_links, begin_links
from .pull import pull_together
from .warm_start import Start, warm_start


@group
class Ready(NamedTuple):
    """Where a solve begins."""

    aim: Aim
    start: Start
    external: External


@device
def make_all_ready(crew, problem, met, pairs, ready):
    """Aim at rest, add external impulses and the attraction of contacts, and start warm."""
    thread, threads, barrier = crew
    packed, blocks, levers, found = problem
    aim = ready.aim
    low, high = share(len(found.place), thread, threads)
    aim_at_rest(low, high, problem, met, pairs, aim)
    if thread == 0:
        aim_links(packed.links, packed.body, packed.first_full, aim.h)
    wait(barrier, threads)
    add_external_impulse(thread, threads, packed, ready.external, aim.h)
    wait(barrier, threads)
    if any_links(packed.links):
        if thread == 0:
            begin_links(packed.links, packed.body, packed.first_full)
            weigh_links(packed, blocks, levers, found)
        wait(barrier, threads)
    if aim.pulls:
        if thread == 0:
            pull_together(problem, met, pairs.law, aim.h)
        wait(barrier, threads)
    warm_start(crew, problem, met, pairs, aim.h, ready.start)


@kernel
def assemble(
    crew: Crew,
    problem: ProblemArrays,
    met: Met,
    bodies: FreeBodies,
    walls: WallArrays,
    pairs: PairTable,
    step: Step,
    ready: Ready,
) -> tuple[int, float]:
    """The rows, made ready to be solved if nothing impacts and no joint hits its limit; returns how many contacts do, and the mean
    square of the separation speeds [m^2/s^2]."""
    impacts = assemble_rows(crew, problem, met, bodies, walls, pairs, step)
    square = mean_square(problem.found.gap_rate) if crew.thread == 0 else 0.0
    if impacts == 0 and step.limits_hit == 0:
        make_all_ready(crew, problem, met, pairs, ready)
    return impacts, square


@kernel
def make_ready(
    crew: Crew,
    problem: ProblemArrays,
    met: Met,
    pairs: PairTable,
    ready: Ready,
) -> None:
    """See ``make_all_ready``."""
    make_all_ready(crew, problem, met, pairs, ready)
