"""Which bodies may touch each other, and which are built into each other: a piston in its cylinder, a plate that fills a box.

Walls that press each other at the start by far more than the bodies weigh were not put down there, they are meant to be there. They would
burst apart, or jam. So they pass through each other for the whole run, which says so.
"""

from __future__ import annotations

import numpy as np

from ..arithmetic import length
from ..array_types import FloatArray
from ..contact.law import contact_stiffnesses, overlaps_under
from ..contact.pair_table import PairTable
from ..kernel_groups import call
from ..scene.scene import Scene
from ..state.bodies import BodyArrays
from ..state.contacts import Contacts
from .body_contacts import find_body_contacts
from .body_shapes import BodyShapes, body_shapes, without
from .prediction import NOTHING_AHEAD
from .wall_table import WallTable

TOUCHING = 1e-3  # of R*: bodies that are no deeper in each other were laid there
PRESSED = 10.0  # weights: and so were those that press each other no more than this


def bodies_that_touch(scene: Scene, walls: WallTable, pairs: PairTable) -> tuple[BodyShapes | None, list[tuple[str, str]]]:
    """What the search for contacts between bodies needs, none if there are none to find; and what a user is told: kinds and sentences."""
    shapes = body_shapes(scene.all_bodies, walls, scene.joints)
    if shapes is None:
        return None, []
    deepest = _deepest_at_start(scene, walls, shapes)
    a, b = shapes.pair.T
    radius_eff = 1 / (shapes.inverse_radius[a] + shapes.inverse_radius[b])
    weight = np.array([_weight(scene, int(row)) for row in walls.frame])
    stiffness = contact_stiffnesses(pairs.law, pairs.stiffness[walls.material[a], walls.material[b]], radius_eff)
    inside = deepest > np.maximum(TOUCHING * radius_eff, overlaps_under(pairs.law, stiffness, PRESSED * (weight[a] + weight[b])))
    told = []
    for p in np.flatnonzero(inside):
        names = [scene.all_bodies[walls.frame[k]].name for k in shapes.pair[p]]
        told.append(
            (
                f"built in {a[p]} {b[p]}",
                f"wall {a[p]} of body {names[0]!r} and wall {b[p]} of {names[1]!r} are {deepest[p]:.3g} m inside of each other at the "
                "start: they pass through each other. Move the bodies apart, or give one of them touches = 'grains' if it is meant so",
            )
        )
    return without(shapes, inside), told


def _weight(scene: Scene, row: int) -> float:
    """Largest force [N] by which gravity and others press a dynamic body; 0 for those that do not yield."""
    body, gravity = scene.all_bodies[row], scene.gravity
    if body.mass is None:
        return 0.0
    return float(body.mass * max(length(gravity.acceleration), length(gravity.initial)) + length(body.force))


def _deepest_at_start(scene: Scene, walls: WallTable, shapes: BodyShapes) -> FloatArray:
    """(P,) largest overlap [m] of the walls of each pair where the scene has put them; 0: they do not touch."""
    count = len(scene.all_bodies)
    position = np.array([body.position for body in scene.all_bodies], float).reshape(-1, 3)
    turned = np.array([body.orientation for body in scene.all_bodies], float).reshape(-1, 4)
    bodies = BodyArrays(position, turned / length(turned)[:, None], np.zeros((count, 3)), np.zeros((count, 3)), np.zeros(count))
    room = 64
    while True:
        out = Contacts(room).whole
        found = call(find_body_contacts, bodies, walls, shapes, NOTHING_AHEAD, 0, out, np.zeros((room, 3)))
        if found <= room:
            break
        room = found
    number = np.full((len(walls.frame),) * 2, -1)
    number[shapes.pair[:, 0], shapes.pair[:, 1]] = np.arange(len(shapes.pair))
    deepest = np.zeros(len(shapes.pair))
    np.maximum.at(deepest, number[-1 - out.a[:found], -1 - out.b[:found]], out.overlap[:found])
    return deepest
