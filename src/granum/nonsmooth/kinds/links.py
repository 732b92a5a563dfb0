"""Links of machines in the slots of the solver: how contacts push them, and the machine follows.

As in ``machines/linked.py``, every function is there twice, with machines and without.
"""

from __future__ import annotations

from ..._jit import device, picked_by_type
from ...machines.coupling import aim, begin, keep_joints, look_at_drives, velocity_of
from ...machines.groups import Links, NoLinks
from ..blocks import BODY


@picked_by_type
def push_link(links, body, first_full, full, j, t):
    """Add an impulse j [N s] and an angular impulse t [N m s] to a link, and to the velocities of all touched links of its machine."""


@push_link.of(NoLinks)
def _(links, body, first_full, full, j, t):
    pass


@push_link.of(Links)
def _(links, body, first_full, full, j, t):
    link = links.link_of[full]
    m, rank, wrench = links.machine[link], links.rank[link], links.wrench
    for f in range(3):
        wrench[link, f] += j[f]
        wrench[link, 3 + f] += t[f]
    for k in range(links.touched_count[m]):
        moved = links.touched[links.first[m] + k]
        part = links.active[moved, rank]
        o = (first_full + links.full[moved]) * BODY
        for f in range(6):
            body[o + f] += (
                part[f, 0] * j[0] + part[f, 1] * j[1] + part[f, 2] * j[2] + part[f, 3] * t[0] + part[f, 4] * t[1] + part[f, 5] * t[2]
            )


@picked_by_type
def reach_links(links, reached, first_full, slot, how):
    """Note that all touched links of a machine have been moved, if the body of this slot is one of them."""


@reach_links.of(NoLinks)
def _(links, reached, first_full, slot, how):
    pass


@reach_links.of(Links)
def _(links, reached, first_full, slot, how):
    if slot >= first_full and links.link_of[slot - first_full] >= 0:
        m = links.machine[links.link_of[slot - first_full]]
        for k in range(links.touched_count[m]):
            o = first_full + links.full[links.touched[links.first[m] + k]]
            reached[o] = max(reached[o], how)


@picked_by_type
def update_drives(links, body, first_full):
    """After a sweep: motors and limits that come to their bounds, or leave them, change the velocities of their machine."""


@update_drives.of(NoLinks)
def _(links, body, first_full):
    pass


@update_drives.of(Links)
def _(links, body, first_full):
    if links.changed[1] == 0 and look_at_drives(links):
        show_links(links, body, first_full)


@picked_by_type
def aim_links(links, body, first_full, h):
    """What joints, motors and limits are to reach, from the velocities before gravity acts."""


@aim_links.of(NoLinks)
def _(links, body, first_full, h):
    pass


@aim_links.of(Links)
def _(links, body, first_full, h):
    read_links(links, body, first_full, links.entered)
    aim(links, h)


@picked_by_type
def begin_links(links, body, first_full):
    """Velocities of links with all joints kept, from those that gravity and other forces give them."""


@begin_links.of(NoLinks)
def _(links, body, first_full):
    pass


@begin_links.of(Links)
def _(links, body, first_full):
    read_links(links, body, first_full, links.base)
    keep_joints(links, links.base)
    begin(links)
    show_links(links, body, first_full)


@device
def read_links(links, body, first_full, velocity):
    """Velocities (L, 6) of all links out of their slots."""
    for k in range(len(links.machine)):
        o = (first_full + links.full[k]) * BODY
        for f in range(6):
            velocity[k, f] = body[o + f]


@device
def write_links(links, body, first_full, velocity):
    """Velocities (L, 6) of all links into their slots."""
    for k in range(len(links.machine)):
        o = (first_full + links.full[k]) * BODY
        for f in range(6):
            body[o + f] = velocity[k, f]


@device
def show_links(links, body, first_full):
    """Velocities of all links into their slots, those of touched ones with all wrenches; of the others they are found after the solve."""
    for k in range(len(links.machine)):
        o = (first_full + links.full[k]) * BODY
        for f in range(6):
            body[o + f] = velocity_of(links, k, f) if links.rank[k] >= 0 else links.base[k, f]
