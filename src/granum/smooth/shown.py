"""The contacts of a smooth step as users see them."""

from __future__ import annotations

import numpy as np

from ..arithmetic import dot, length
from ..array_types import FloatArray
from ..detection.images import in_cell
from ..detection.wall_table import WallTable
from ..state.bodies import Bodies
from ..state.contacts import Contacts
from .lanes import IMPACT
from .touching import TouchingPairs
from .wall_contacts import WallContacts


def shown_contacts(touching: TouchingPairs, walls: WallContacts, bodies: Bodies, table: WallTable, h: float) -> Contacts:
    """Pairs, then walls, with their forces as impulses over a step of ``h`` [s]."""
    n, order, period, (one, other, _) = touching.count, touching.neighbours.order, touching.period, touching.found()
    contacts = Contacts(n + walls.count)
    contacts.resize(n, n + walls.count)
    contacts.time_step = h
    a, b = touching.rows.sphere[one], touching.rows.sphere[other]
    apart = b[:, :3] - a[:, :3]
    if period is not None:
        apart -= period[0] * np.rint(apart * period[1])
    distance = length(apart)
    contacts.a[:n], contacts.b[:n], contacts.feature[:n] = order[one], order[other], 0
    contacts.normal[:n] = apart / np.where(distance > 0, distance, 1.0)[:, None]
    contacts.overlap[:n] = a[:, 3] + b[:, 3] - distance
    for name in ("a", "b", "feature", "normal", "overlap"):
        getattr(contacts, name)[n:] = walls.of(name)
    force = np.concatenate([touching.force, walls.of("force")])
    push = dot(force[:, :3], contacts.normal)
    contacts.impulse[:] = 0.0
    contacts.impulse[:, 0] = h * push
    contacts.impulse[:, 1:4] = h * (force[:, :3] - push[:, None] * contacts.normal)
    contacts.impulse[:, 4 : 1 + force.shape[1]] = h * force[:, 3:]
    rate = np.abs(dot(_relative_velocity(touching, walls, bodies, table), contacts.normal))
    contacts.rebound[:] = np.where(rate > IMPACT, rate, 0.0)
    contacts.partner[:n], contacts.partner[n:] = bodies.id[contacts.b[:n]], contacts.b[n:]
    return contacts


def _relative_velocity(touching: TouchingPairs, walls: WallContacts, bodies: Bodies, table: WallTable) -> FloatArray:
    """(C, 3) of b's centre, or of the wall at the contact, against a's centre [m/s]."""
    rank, grain, (one, other, _) = touching.neighbours.rank, touching.rows.grain, touching.found()
    a = walls.of("a")
    own = np.concatenate([one, rank[a]])
    w = table.frame[-1 - walls.of("b")]
    arm = in_cell(touching.rows.sphere, 0, touching.period)[rank[a], :3] + bodies.radius[a, None] * walls.of("normal") - bodies.position[w]
    wall = bodies.velocity[w] + np.cross(bodies.spin[w], arm)
    return np.concatenate([grain[other, :3], wall]) - grain[own, :3]
