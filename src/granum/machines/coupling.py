"""Links among contacts: their mobilities, their velocities, and what changes them in a solve.

The stages of a solve, each for all machines, on one thread:

* ``lay_links``: rows of joints, motors and limits where the bodies are now, and the mobilities of the links that contacts touch;
* ``aim``: what the rows are to reach;
* ``begin``: velocities with all joints kept, and motors and limits as they were in the last step; contacts then push links through
  ``push_link``;
* ``look_at_drives``, after every sweep: has a motor or a limit come to its bound, or left it?
* ``finish``: velocities of all links, impulses of joints, motors and limits.

Velocities of links are (L, 6) here; the solver has those of touched links in its own slots.
"""

from __future__ import annotations

import math

import numpy as np

from .._jit import device
from .bounded import settle, solve_factored, solve_inside
from .elimination import add_rows, factorise, move_row, push_rows, respond, row_speed, softness_of, solve_rows
from .groups import AT_HIGH, AT_LOW, FORCE, HINGE, INSIDE, LOWER, POSITION, SPEED, UPPER
from .rows import coordinate_row, joint_rows

DAMPING = 2.0  # steps over which joints come back to their place
UPSILON = 1.0 / (1.0 + 4.0 * DAMPING)


@device
def speed_of_driven(body, link, row, k, bodies):
    """What bodies that are no links add to G V of row k; ``body`` are the rows of the two bodies."""
    total = 0.0
    for side in range(2):
        if link[k, side] < 0:
            b = body[side]
            for f in range(3):
                total += row[k, 6 * side + f] * bodies.velocity[b, f] + row[k, 6 * side + 3 + f] * bodies.spin[b, f]
    return total


@device
def lay_rows(links, table, bodies):
    """Rows of joints, motors and limits where the bodies are now; angles go on through full turns."""
    rows, drives, coordinate = links.rows, links.drives, links.drives.coordinate
    for j in range(len(table.kind)):
        joint_rows(table, bodies, j, rows.row, rows.gap)
        for k in range(table.first_row[j], table.first_row[j + 1]):
            move_row(links, rows.link, rows.row, k)
            rows.drift[k] = speed_of_driven(table.body[j], rows.link, rows.row, k, bodies)
            push_rows(links, rows.link, rows.row, k, rows.pushed)
            rows.softness[k] = softness_of(links, rows.link, rows.row, k)
    for k in range(len(drives.joint)):
        j = drives.joint[k]
        found = coordinate_row(table, bodies, j, k, drives.row)
        move_row(links, drives.link, drives.row, k)
        if k == 0 or drives.joint[k - 1] != j:
            if table.kind[j] == HINGE:  # an angle
                found += 2.0 * math.pi * math.floor((coordinate[j] - found) / (2.0 * math.pi) + 0.5)
            coordinate[j] = found
        if drives.kind[k] == UPPER:
            for f in range(12):
                drives.row[k, f] = -drives.row[k, f]
        drives.drift[k] = speed_of_driven(table.body[j], drives.link, drives.row, k, bodies)
        drives.softness[k] = softness_of(links, drives.link, drives.row, k)


@device
def lay_mobilities(links):
    """Factors, mobilities of the touched links, and the rows of motors and limits among themselves."""
    drives = links.drives
    wrench, out = links.wrench, links.base  # both are written anew before they are read
    for m in range(len(links.first) - 1):
        factorise(links, m)
        first, last = links.first[m], links.first[m + 1]
        for one in range(first, last):
            for f in range(6):
                wrench[one, f] = 0.0
        for t in range(links.touched_count[m]):
            pushed = links.touched[first + t]
            for f in range(6):
                wrench[pushed, f] = 1.0
                respond(links, m, wrench, out)
                wrench[pushed, f] = 0.0
                for o in range(links.touched_count[m]):
                    moved = links.touched[first + o]
                    for i in range(6):
                        links.mobility[moved, t, i, f] = out[moved, i]
        for k in range(drives.first[m], drives.first[m + 1]):
            for side in range(2):
                if drives.link[k, side] >= 0:
                    for f in range(6):
                        wrench[drives.link[k, side], f] += drives.row[k, 6 * side + f]
            respond(links, m, wrench, out)
            for one in range(first, last):
                for f in range(6):
                    drives.column[k, one - first, f] = out[one, f]
                    wrench[one, f] = 0.0
        for k in range(drives.first[m], drives.first[m + 1]):
            for i in range(drives.first[m + 1] - drives.first[m]):
                drives.weight[k, i] = along_column(links, m, k, drives.first[m] + i)
            drives.weight[k, k - drives.first[m]] += drives.softness[k]


@device
def along_column(links, m, k, other):
    """Row k of the drives times K G^T of another."""
    drives, total = links.drives, 0.0
    for side in range(2):
        one = drives.link[k, side]
        if one >= 0:
            for f in range(6):
                total += drives.row[k, 6 * side + f] * drives.column[other, one - links.first[m], f]
    return total


@device
def aim(links, h):
    """What rows are to reach in the continuous stage, from the velocities ``Links.entered`` at its start."""
    rows, drives, velocity = links.rows, links.drives, links.entered
    back = 4.0 * UPSILON / h
    for k in range(len(rows.gap)):
        speed = row_speed(rows.link, rows.row, k, velocity) + rows.drift[k]
        rows.target[k] = UPSILON * speed - back * rows.gap[k]
    for k in range(len(drives.joint)):
        kind, c = drives.kind[k], drives.coordinate[drives.joint[k]]
        speed = row_speed(drives.link, drives.row, k, velocity) + drives.drift[k]
        point, later = drives.set_point[k, 0], drives.set_point[k, 1]
        limit = drives.strength[k] * h
        drives.bounds[k, 0], drives.bounds[k, 1] = -limit, limit
        if kind == SPEED:
            drives.target[k] = later
        elif kind == POSITION:
            rate = (later - point) / h
            drives.target[k] = rate + UPSILON * (speed - rate) - back * (c - point)
        elif kind == FORCE:
            drives.target[k] = 0.0
            drives.bounds[k, 0] = drives.bounds[k, 1] = point * h
            drives.status[k] = AT_LOW
        else:
            gap = c - point if kind == LOWER else point - c
            drives.target[k] = UPSILON * speed - back * gap if gap <= 0.0 else -gap / h
            drives.bounds[k, 0], drives.bounds[k, 1] = 0.0, np.inf
            if drives.status[k] == AT_HIGH:
                drives.status[k] = AT_LOW
        if drives.bounds[k, 1] == np.inf and drives.bounds[k, 0] == -np.inf:
            drives.status[k] = INSIDE


@device
def limit_hits(links, h, velocity, impact_velocity):
    """How many limits are hit in this step by more than ``impact_velocity`` [m/s, rad/s]; velocity (L, 6)."""
    drives, hits = links.drives, 0
    for k in range(len(drives.joint)):
        if drives.kind[k] == LOWER or drives.kind[k] == UPPER:
            point, c = drives.set_point[k, 0], drives.coordinate[drives.joint[k]]
            gap = c - point if drives.kind[k] == LOWER else point - c
            speed = row_speed(drives.link, drives.row, k, velocity) + drives.drift[k]
            hits += speed < -impact_velocity and gap + speed * h < 0.0
    return hits


@device
def aim_at_impact(links, h, velocity, impact_velocity):
    """The same for the impact stage: joints hold, limits rebound, motors of finite force are too slow to matter."""
    drives = links.drives
    for k in range(len(drives.joint)):
        kind, c = drives.kind[k], drives.coordinate[drives.joint[k]]
        speed = row_speed(drives.link, drives.row, k, velocity) + drives.drift[k]
        drives.bounds[k, 0], drives.bounds[k, 1] = 0.0, 0.0
        drives.status[k] = AT_LOW
        drives.target[k] = speed
        if kind in (LOWER, UPPER):
            gap = c - drives.set_point[k, 0] if kind == LOWER else drives.set_point[k, 0] - c
            drives.bounds[k, 1] = np.inf
            hits = speed < -impact_velocity and gap + speed * h < 0.0
            # One that does not throw back is reached in this step, and stops the joint in the next.
            thrown = hits and (drives.restitution[k] > 0.0 or gap <= 0.0)
            drives.target[k] = -drives.restitution[k] * speed if thrown else min(0.0, -gap / h)
        elif kind != FORCE and drives.strength[k] == np.inf:
            drives.bounds[k, 0], drives.bounds[k, 1] = -np.inf, np.inf
            drives.status[k] = INSIDE


@device
def keep_joints(links, velocity):
    """From velocities (L, 6) without joints to those with them, ``Links.kept``."""
    rows, x = links.rows, links.rows.work
    for one in range(len(links.machine)):
        for f in range(3):
            if links.locked[one, f]:
                velocity[one, f] = links.entered[one, f]
        for f in range(6):
            links.start[one, f] = links.kept[one, f] = velocity[one, f]
    for m in range(len(links.first) - 1):
        for k in range(rows.first[m], rows.first[m + 1]):
            x[k] = rows.target[k] - rows.drift[k] - row_speed(rows.link, rows.row, k, velocity)
        solve_rows(links, m, x)
        add_rows(links, m, x, links.kept)


@device
def keep_start(links, velocity):
    """The same where joints are kept already: what follows only adds impulses that keep them."""
    for one in range(len(links.machine)):
        for f in range(6):
            links.start[one, f] = links.kept[one, f] = velocity[one, f]


@device
def begin(links):
    """Base velocities and mobilities with motors and limits as they are; no contact has pushed yet."""
    drives = links.drives
    for one in range(len(links.machine)):
        for f in range(6):
            links.wrench[one, f] = links.wrench_before[one, f] = 0.0
    for k in range(len(drives.joint)):
        drives.missing[k] = drives.target[k] - drives.drift[k] - row_speed(drives.link, drives.row, k, links.kept)
    for m in range(len(links.first) - 1):
        settle(drives, m, drives.missing, drives.status, drives.impulse)
        build(links, m)
    links.changed[0] = 0


@device
def build(links, m):
    """Base velocities and active mobilities of machine m for the status of its motors and limits."""
    drives, first = links.drives, links.first[m]
    low, high = drives.first[m], drives.first[m + 1]
    solve_inside(drives, m, drives.missing, drives.status, drives.impulse)
    for one in range(first, links.first[m + 1]):
        for f in range(6):
            value = links.kept[one, f]
            for k in range(low, high):
                value += drives.column[k, one - first, f] * drives.impulse[k]
            links.base[one, f] = value
    for k in range(low, high):
        drives.built[k] = drives.status[k]
    for t in range(links.touched_count[m]):
        pushed = links.touched[first + t]
        for f in range(6):
            for k in range(low, high):
                drives.work[0, k - low] = drives.column[k, pushed - first, f]
            solve_factored(drives, m, drives.status)  # with the factor that ``solve_inside`` left
            for o in range(links.touched_count[m]):
                moved = links.touched[first + o]
                for i in range(6):
                    value = links.mobility[moved, t, i, f]
                    for k in range(low, high):
                        if drives.status[k] == INSIDE:
                            value -= drives.column[k, moved - first, i] * drives.work[0, k - low]
                    links.active[moved, t, i, f] = value


@device
def velocity_of(links, one, f):
    """Component f of the velocity of a touched link, from the wrenches on all of its machine."""
    m = links.machine[one]
    value = links.base[one, f]
    for t in range(links.touched_count[m]):
        pushed = links.touched[links.first[m] + t]
        for i in range(6):
            value += links.active[one, t, f, i] * links.wrench[pushed, i]
    return value


@device
def find_impulses(links, m):
    """Impulses of the motors and limits of machine m under the wrenches of now, and their status."""
    drives, first = links.drives, links.first[m]
    low, high = drives.first[m], drives.first[m + 1]
    for k in range(low, high):
        value = drives.missing[k]
        for t in range(links.touched_count[m]):
            pushed = links.touched[first + t]
            for f in range(6):
                value -= drives.column[k, pushed - first, f] * links.wrench[pushed, f]
        drives.lack[k] = value
    settle(drives, m, drives.lack, drives.status, drives.impulse)


@device
def look_at_drives(links):
    """Whether a motor or limit has come to its bound, or left it; then mobilities are made anew."""
    drives, changed = links.drives, 0
    for m in range(len(links.first) - 1):
        if drives.first[m] == drives.first[m + 1]:
            continue
        find_impulses(links, m)
        for k in range(drives.first[m], drives.first[m + 1]):
            if drives.status[k] != drives.built[k]:
                changed = 1
        if changed:
            build(links, m)
    links.changed[0] = changed
    return changed


@device
def finish(links, velocity):
    """Velocities (L, 6) of all links, and impulses of motors and limits."""
    drives = links.drives
    for m in range(len(links.first) - 1):
        first, low, high = links.first[m], drives.first[m], drives.first[m + 1]
        if high > low:
            find_impulses(links, m)
        respond(links, m, links.wrench, velocity)
        for one in range(first, links.first[m + 1]):
            for f in range(6):
                value = velocity[one, f] + links.kept[one, f]
                for k in range(low, high):
                    value += drives.column[k, one - first, f] * drives.impulse[k]
                velocity[one, f] = value


@device
def find_joint_impulses(links):
    """Impulses of the joints, from the velocities before them and all that pushes."""
    rows, drives = links.rows, links.drives
    x, wrench = rows.impulse, links.wrench_before  # nothing is extrapolated any more
    for one in range(len(links.machine)):
        for f in range(6):
            wrench[one, f] = links.wrench[one, f]
    for k in range(len(drives.joint)):
        for side in range(2):
            if drives.link[k, side] >= 0:
                for f in range(6):
                    wrench[drives.link[k, side], f] += drives.row[k, 6 * side + f] * drives.impulse[k]
    for m in range(len(links.first) - 1):
        for k in range(rows.first[m], rows.first[m + 1]):
            moved = row_speed(rows.link, rows.row, k, links.start) + row_speed(rows.link, rows.pushed, k, wrench)
            x[k] = rows.target[k] - rows.drift[k] - moved
        solve_rows(links, m, x)


@device
def find_struck_impulses(links):
    """The same after a stage of collisions, in which joints are kept as fast as they were."""
    rows = links.rows
    for k in range(len(rows.impulse)):
        rows.target[k] = row_speed(rows.link, rows.row, k, links.start) + rows.drift[k]
    find_joint_impulses(links)


@device
def add_carried(links, carried):
    """Add the impulses of now to ``carried`` (J, 8), which says of each joint what b is given: impulse and angular impulse of the joint,
    then the impulses of its motor and of its limits [N s, N m s]."""
    rows, drives = links.rows, links.drives
    for k in range(len(rows.impulse)):
        for f in range(6):
            carried[rows.joint[k], f] += rows.row[k, 6 + f] * rows.impulse[k]
        if rows.link[k, 1] >= 0:  # about the centre of mass of b itself, whatever it is a part of
            arm = links.arm[rows.link[k, 1]]
            for f in range(3):
                g, o = (f + 1) % 3, (f + 2) % 3
                turn = arm[g] * rows.row[k, 6 + o] - arm[o] * rows.row[k, 6 + g]
                if turn != 0.0:
                    carried[rows.joint[k], 3 + f] -= turn * rows.impulse[k]
    for k in range(len(drives.joint)):
        kind = drives.kind[k]
        if kind == LOWER:
            carried[drives.joint[k], 7] += drives.impulse[k]
        elif kind == UPPER:
            carried[drives.joint[k], 7] -= drives.impulse[k]
        else:
            carried[drives.joint[k], 6] += drives.impulse[k]
