"""A step of machines under forces that are known: of the smooth stepper, whose contacts push before the step."""

from __future__ import annotations

from .._jit import device, kernel
from ..array_types import FloatArray
from ..state.bodies import BodyArrays
from .coupling import (
    add_carried,
    aim,
    aim_at_impact,
    begin,
    find_joint_impulses,
    find_struck_impulses,
    finish,
    keep_joints,
    keep_start,
    lay_mobilities,
    lay_rows,
    limit_hits,
)
from .elimination import row_speed
from .groups import FORCE, POSITION, SPEED, JointTable, Links


@kernel
def kick_links(
    links: Links,
    table: JointTable,
    bodies: BodyArrays,
    inertia: FloatArray,
    force: FloatArray,
    h: float,
    impact_velocity: float,
    carried: FloatArray,
) -> tuple[float, float]:
    """Velocities of links after ``h`` [s] under forces and torques (L, 6) [N, N m], with joints, motors and limits.

    ``inertia`` (L, 3, 3) is inverse, in world axes [1/(kg m^2)]; ``carried`` (J, 8) receives what joints give b. Returns the
    work of motors, and of driven bodies through joints [J].
    """
    for k in range(len(links.machine)):
        b = links.body[k]
        links.rank[k] = -1
        for i in range(6):
            for j in range(6):
                links.inverse[k, i, j] = 0.0
        for i in range(3):
            links.inverse[k, i, i] = 0.0 if links.locked[k, i] else bodies.inverse_mass[b]
            for j in range(3):
                links.inverse[k, 3 + i, 3 + j] = inertia[k, i, j]
            links.entered[k, i], links.entered[k, 3 + i] = bodies.velocity[b, i], bodies.spin[b, i]
    links.touched_count[:] = 0
    lay_rows(links, table, bodies)
    lay_mobilities(links)
    if limit_hits(links, h, links.entered, impact_velocity) > 0:
        keep_start(links, links.entered)
        aim_at_impact(links, h, links.entered, impact_velocity)
        begin(links)
        finish(links, links.entered)
        find_struck_impulses(links)
        add_carried(links, carried)
    aim(links, h)
    for k in range(len(links.machine)):
        for i in range(6):
            value = links.entered[k, i]
            for j in range(6):
                value += h * links.inverse[k, i, j] * force[k, j]
            links.base[k, i] = value
    keep_joints(links, links.base)
    begin(links)
    finish(links, links.base)
    for k in range(len(links.machine)):
        b = links.body[k]
        for i in range(3):
            bodies.velocity[b, i], bodies.spin[b, i] = links.base[k, i], links.base[k, 3 + i]
    work = work_of(links)
    add_carried(links, carried)
    return work


@device
def work_of(links):
    """Impulses of the joints; work of motors, and of driven bodies through joints [J].

    An impulse does its work with the mean of the velocities before and after it: so much kinetic energy it brings.
    """
    rows, drives = links.rows, links.drives
    find_joint_impulses(links)
    motors, driven = 0.0, 0.0
    for k in range(len(drives.joint)):
        speed = 0.5 * (row_speed(drives.link, drives.row, k, links.base) + row_speed(drives.link, drives.row, k, links.entered))
        if drives.kind[k] == SPEED or drives.kind[k] == POSITION or drives.kind[k] == FORCE:
            motors += drives.impulse[k] * (speed + drives.drift[k])
        driven -= drives.impulse[k] * drives.drift[k]
    for k in range(len(rows.impulse)):
        driven -= rows.impulse[k] * rows.drift[k]
    return motors, driven
