"""Links of machines in a step: laid out before assembly, and read back after the impact stage and after the solve."""

from __future__ import annotations

from typing import Any

from .._jit import device, kernel
from ..array_types import FloatArray
from ..kernel_groups import call
from ..machines.alone import work_of
from ..machines.coupling import (
    add_carried,
    aim_at_impact,
    begin,
    find_struck_impulses,
    finish,
    keep_start,
    lay_mobilities,
    lay_rows,
    limit_hits,
    look_at_drives,
)
from ..machines.groups import JointTable
from ..machines.machines import Machines
from ..state.bodies import Bodies, BodyArrays
from ..state.ledger import Ledger
from .blocks import COLOURS
from .groups import ContactBlocks, Found, Levers, Packed
from .kinds.full import weigh_links
from .kinds.links import read_links, show_links, write_links
from .problem import Problem


class StepLinks:
    """What the stages of a step do with the links of its machines; nothing where there are none."""

    def __init__(self, machines: Machines | None, problem: Problem) -> None:
        self.machines = machines
        if machines is not None:
            problem.links = machines.links
        self.limits_hit = 0  # of joints, in this step

    def lay(self, p: Problem, bodies: Bodies, h: float, impact_velocity: float) -> None:
        """Rows and mobilities, once a step."""
        if self.machines is not None:
            self.limits_hit = call(lay_links, p.packed, p.blocks, self.machines.table, bodies.arrays, h, impact_velocity)

    def begin_impact(self, p: Problem, h: float, impact_velocity: float) -> None:
        """Before the impulses of collisions are found."""
        if self.machines is not None:
            call(start_impact_links, p.packed, h, impact_velocity)

    def end_impact(self, p: Problem) -> None:
        """After that."""
        if self.machines is not None:
            call(finish_links, p.packed)
            call(strike_joints, p.packed, self.machines.carried)

    def finish(self, p: Problem, ledger: Ledger) -> None:
        """After the solve: velocities of all links, impulses of joints, and the work of motors."""
        if self.machines is not None:
            call(finish_links, p.packed)
            motors, driven = call(joint_work, p.packed, self.machines.carried)
            ledger.add("motors", motors)
            ledger.add("drives", driven)


@kernel
def lay_links(packed: Packed, blocks: ContactBlocks, table: JointTable, bodies: BodyArrays, h: float, impact_velocity: float) -> int:
    """Rows of joints, and mobilities of the links that contacts touch, as nothing but joints acts on them; returns how many limits are
    hit in this step."""
    links: Any = packed.links
    for k in range(len(links.machine)):
        f, b = links.full[k], links.body[k]
        for i in range(6):
            for j in range(6):
                links.inverse[k, i, j] = 0.0
        for i in range(3):
            links.inverse[k, i, i] = 0.0 if links.locked[k, i] else bodies.inverse_mass[b]
            links.start[k, i], links.start[k, 3 + i] = bodies.velocity[b, i], bodies.spin[b, i]
            for j in range(3):
                links.inverse[k, 3 + i, 3 + j] = packed.inverse_inertia[f, i, j]
    find_touched(packed, blocks)
    lay_rows(links, table, bodies)
    lay_mobilities(links)
    links.active[:] = links.mobility
    return limit_hits(links, h, links.start, impact_velocity)


@device
def find_touched(packed, blocks):
    """Which links contacts touch, machine by machine."""
    links = packed.links
    for k in range(len(links.rank)):
        links.rank[k] = -1
    for place in range(blocks.serial_start, blocks.serial_start + blocks.full_first[COLOURS + 1]):
        if blocks.contact_at[place] < 0:
            continue
        for slot in (blocks.lane_a[place], blocks.lane_b[place]):
            if packed.first_full <= slot < packed.yielding and links.link_of[slot - packed.first_full] >= 0:
                links.rank[links.link_of[slot - packed.first_full]] = 0
    for m in range(len(links.first) - 1):
        count = 0
        for k in range(links.first[m], links.first[m + 1]):
            if links.rank[k] == 0:
                links.rank[k] = count
                links.touched[links.first[m] + count] = k
                count += 1
        links.touched_count[m] = count


@kernel
def start_impact_links(packed: Packed, h: float, impact_velocity: float) -> None:
    """Joints, and limits that are hit, for the impact stage."""
    links: Any = packed.links
    read_links(links, packed.body, packed.first_full, links.base)
    keep_start(links, links.base)
    aim_at_impact(links, h, links.start, impact_velocity)
    begin(links)
    show_links(links, packed.body, packed.first_full)


@kernel
def finish_links(packed: Packed) -> None:
    """Velocities of all links into their slots."""
    links: Any = packed.links
    finish(links, links.base)
    write_links(links, packed.body, packed.first_full, links.base)


@kernel
def drives_settled(packed: Packed, blocks: ContactBlocks, levers: Levers, found: Found) -> bool:
    """Whether motors and limits are where the contact impulses of now leave them; if not, velocities and weights are made anew."""
    links: Any = packed.links
    if not look_at_drives(links):
        return True
    show_links(links, packed.body, packed.first_full)
    weigh_links(packed, blocks, levers, found)
    return False


@kernel
def strike_joints(packed: Packed, carried: FloatArray) -> None:
    """After the impact stage: what its collisions did to the joints, added to ``carried`` (J, 8)."""
    find_struck_impulses(packed.links)
    add_carried(packed.links, carried)


@kernel
def joint_work(packed: Packed, carried: FloatArray) -> tuple[float, float]:
    """Impulses of the joints are found, and added to ``carried`` (J, 8); work of motors, and of driven bodies through joints [J]."""
    work = work_of(packed.links)
    add_carried(packed.links, carried)
    return work
