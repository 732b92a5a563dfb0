"""From the assembled problem to one that is ready to be solved: targets, external impulses, warm start, in one call."""

from __future__ import annotations

from .._jit import kernel
from ..contact.pair_table import PairTable
from ..machines.linked import any_links
from ..parallel.barrier import share, wait
from ..parallel.crew import Crew
from .assemble import Aim, aim_at_rest
from .groups import ContactBlocks, Found, Levers, Met, Packed
from .integrate import External, add_external_impulse
from .kinds.full import weigh_links
from .kinds.links import aim_links, begin_links
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
    if thread == 0:
        aim_links(packed.links, packed.body, packed.first_full, aim.h)
    wait(barrier, threads)
    add_external_impulse(thread, threads, packed, external, aim.h)
    wait(barrier, threads)
    if any_links(packed.links):
        if thread == 0:
            begin_links(packed.links, packed.body, packed.first_full)
            weigh_links(packed, blocks, levers, found)
        wait(barrier, threads)
    if aim.pulls:
        if thread == 0:
            pull_together(packed, blocks, levers, found, met, pairs.law, aim.h)
        wait(barrier, threads)
    warm_start(thread, threads, barrier, packed, blocks, levers, found, met, pairs, aim.h, start)
