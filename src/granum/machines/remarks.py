"""What is told about machines: joints that contradict each other or their limits, joints that drift, motors that are too weak."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..state.bodies import Bodies
from .groups import INSIDE, LOWER, POSITION, SPEED, UPPER
from .loops import all_rows
from .machines import Machines

LONG = 1.0  # [s] at its largest force, after which a motor is told to be too weak
FAR = 0.01  # of the size of a machine, or rad: how far a joint may be from its place


def contradictions(machines: Machines, bodies: Bodies) -> Iterator[tuple[str, str]]:
    """Joints of the same two bodies that leave them no freedom together, though each does."""
    table = machines.table
    count = int(table.first_row[-1])
    row, gap = np.zeros((count, 12)), np.zeros(count)
    all_rows(table, bodies.arrays, row, gap)
    pairs: dict[tuple[int, ...], list[int]] = {}
    for j, pair in enumerate(table.body):
        pairs.setdefault(tuple(sorted(pair.tolist())), []).append(j)
    for joints in pairs.values():
        sides = [row[table.first_row[j] : table.first_row[j + 1]] for j in joints]
        # b against a: its own half of a row tells all that a pair of bodies feels, seen from the same one of the two
        first = table.body[joints[0], 1]
        halves = [side[:, 6:] if table.body[j, 1] == first else side[:, :6] for side, j in zip(sides, joints, strict=True)]
        if len(joints) < 2 or any(len(half) >= 6 for half in halves):
            continue
        stacked = np.concatenate(halves)
        if np.linalg.matrix_rank(stacked, tol=1e-9) == 6 and len(stacked) > 6:
            names = " and ".join(repr(machines.names[j]) for j in joints)
            yield (
                f"joints {names}",
                f"the joints {names} link the same two bodies and leave them no freedom: they hold them as one. If that is meant, a "
                "fixed joint does it better; if not, look at their axes",
            )


def starts_outside(machines: Machines, bodies: Bodies) -> Iterator[tuple[str, str]]:
    """Joints that are beyond one of their limits where the scene places their bodies."""
    drives = machines.links.drives
    for k in np.flatnonzero((drives.kind == LOWER) | (drives.kind == UPPER)):
        j, limit = int(drives.joint[k]), float(drives.set_point[k, 0])
        start = machines.coordinate(j, bodies)
        beyond = limit - start if drives.kind[k] == LOWER else start - limit
        if beyond > FAR * min(1.0, machines.size):
            name, end = machines.names[j], "lower" if drives.kind[k] == LOWER else "upper"
            yield (
                f"start of {name}",
                f"joint {name!r} starts at {start:.4g} m (or rad), beyond its {end} limit, {limit:.4g}, which throws it back within some "
                "steps. Coordinates of hinges and sliders are 0 as the scene is given: place the bodies, or the limits, otherwise",
            )


def troubles(machines: Machines, h: float) -> Iterator[tuple[str, str]]:
    """After a step of ``h`` [s]: joints far from their place, and motors that have had too little force for long."""
    rows, table, drives = machines.links.rows, machines.table, machines.links.drives
    if machines.drift > FAR * min(1.0, machines.size):
        worst = int(np.searchsorted(table.first_row, int(np.abs(rows.gap).argmax()), side="right")) - 1
        yield (
            "joint drift",
            f"joint {machines.names[worst]!r} is {machines.drift:.2g} m (or rad) off its place. A smaller time_step helps: joints drift "
            "with its square; or other joints or motors work against this one",
        )
    motor = (drives.kind == SPEED) | (drives.kind == POSITION)
    machines.weak[:] = np.where(motor & (drives.status != INSIDE), machines.weak + h, 0.0)
    for k in np.flatnonzero(machines.weak >= LONG):
        name = machines.names[drives.joint[k]]
        yield (
            f"motor of {name}",
            f"the motor of joint {name!r} has been at its force_limit, {drives.strength[k]:.4g} N (or N m), for {LONG:g} s: it does not "
            "reach its target",
        )
