"""From the assembled problem to one that is ready to be solved: targets, external impulses, warm start, in one call."""

from __future__ import annotations

from .._jit import kernel
from ..contact.pair_table import PairTable
from ..parallel.barrier import share, wait
from ..parallel.crew import Crew
from .assemble import Aim, aim_at_rest
from .groups import ContactBlocks, Found, Levers, Met, Packed
from .integrate import External, add_external_impulse
from .pull import pull_together
from .warm_start import Start, warm_start


@kernel
def make_ready(
    crew: Crew,
    packed: Packed,
    blocks: ContactBlocks,
    levers: Levers,
    found: Found,
    met: Met,
    pairs: PairTable,
    aim: Aim,
    start: Start,
    external: External,
) -> None:
    """Aim at rest, add external impulses and the attraction of contacts, and start warm."""
    thread, threads, barrier = crew
    low, high = share(len(found.place), thread, threads)
    aim_at_rest(low, high, packed, blocks, levers, found, met, pairs, aim)
    wait(barrier, threads)
    add_external_impulse(thread, threads, packed, external, aim.h)
    wait(barrier, threads)
    if aim.pulls:
        if thread == 0:
            pull_together(packed, blocks, levers, found, met, pairs.law, aim.h)
        wait(barrier, threads)
    warm_start(thread, threads, barrier, packed, blocks, levers, found, met, pairs, aim.h, start)
