"""What solvers ask of bodies with full inertia that may be links of machines.

Every function is there twice: for a run with machines, and for one without, where it is left out when kernels are compiled.
"""

from __future__ import annotations

from .._jit import picked_by_type
from .groups import Links, NoLinks


@picked_by_type
def linked(links, full):
    """Whether a body with full inertia is a link; ``full`` is its number, -1: it has none."""


@linked.of(NoLinks)
def _(links, full):
    return False


@linked.of(Links)
def _(links, full):
    return full >= 0 and links.link_of[full] >= 0


@picked_by_type
def link_weight(links, full, other, t, arm, t_other, arm_other):
    """[t, arm] K [t_other, arm_other] of two links, of which ``other`` may be the same; 0 if they belong to different machines."""


@link_weight.of(NoLinks)
def _(links, full, other, t, arm, t_other, arm_other):
    return 0.0


@link_weight.of(Links)
def _(links, full, other, t, arm, t_other, arm_other):
    moved, pushed = links.link_of[full], links.link_of[other]
    if links.machine[moved] != links.machine[pushed]:
        return 0.0
    part = links.active[moved, links.rank[pushed]]
    total = 0.0
    for f in range(3):
        total += t[f] * (part[f, 0] * t_other[0] + part[f, 1] * t_other[1] + part[f, 2] * t_other[2])
        total += t[f] * (part[f, 3] * arm_other[0] + part[f, 4] * arm_other[1] + part[f, 5] * arm_other[2])
        total += arm[f] * (part[3 + f, 0] * t_other[0] + part[3 + f, 1] * t_other[1] + part[3 + f, 2] * t_other[2])
        total += arm[f] * (part[3 + f, 3] * arm_other[0] + part[3 + f, 4] * arm_other[1] + part[3 + f, 5] * arm_other[2])
    return total


@picked_by_type
def extrapolate_links(links, beta):
    """Wrenches on links ahead of the last two iterates by beta, as the impulses are."""


@extrapolate_links.of(NoLinks)
def _(links, beta):
    pass


@extrapolate_links.of(Links)
def _(links, beta):
    wrench, before = links.wrench, links.wrench_before
    for k in range(len(wrench)):
        for f in range(6):
            w = wrench[k, f]
            wrench[k, f] = w + beta * (w - before[k, f])
            before[k, f] = w


@picked_by_type
def any_links(links):
    """Whether the run has machines; known when kernels are compiled."""


@any_links.of(NoLinks)
def _(links):
    return False


@any_links.of(Links)
def _(links):
    return True


@picked_by_type
def drives_changed(links):
    """Whether a motor or a limit has come to its bound in the last sweep, or left it."""


@drives_changed.of(NoLinks)
def _(links):
    return False


@drives_changed.of(Links)
def _(links):
    return links.changed[0] != 0
