"""Contacts and forces of the last step, as a run shows them: made when somebody asks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..array_types import FloatArray, IntArray
from ..detection.detector import Detector
from ..detection.wall_table import WallTable
from ..kernel_groups import call
from ..scene.scene import Scene
from ..state.bodies import Bodies
from ..state.body_contacts import NO_BODY_CONTACTS, BodyContacts
from ..state.contacts import Contacts
from .groups import Met
from .problem import Problem
from .pull import net_impulses
from .pushes import carriers, sum_collisions, sum_pushes


class Shown:
    """What the last step found; ``struck`` (W, 6) are the impulses of its collisions on the bodies of the scene [N s, N m s]."""

    def __init__(self, scene: Scene, bodies: Bodies, walls: WallTable, detector: Detector) -> None:
        self._bodies, self._walls, self._detector = bodies, walls, detector
        self._law, self._names = scene.pair_table().law if scene.law.pulls else None, tuple(body.name for body in scene.all_bodies)
        self.struck = np.zeros((bodies.wall_body_count, 6))
        self._contacts: Contacts | None = None
        self._body_contacts: BodyContacts | None = None
        self._nothing_touches = replace(NO_BODY_CONTACTS, names=self._names)

    def forget(self) -> None:
        """Contacts have changed."""
        self._contacts = self._body_contacts = None

    @property
    def contacts(self) -> Contacts:
        """Contacts that touch or push, with their impulses; the normal ones are net of what attracts."""
        if self._contacts is None:
            self._contacts = c = self._detector.contacts.closed()
            if self._law is not None:
                net_impulses(c.a, c.b, c.overlap, self._bodies.radius, self._law, c.time_step, c.impulse)
        return self._contacts

    @property
    def body_contacts(self) -> BodyContacts:
        """Contacts between bodies that touch or push, with their forces."""
        if not self._detector.contacts.body_contact_count:  # asked for in every step, so an answer without any work
            return self._nothing_touches
        if self._body_contacts is None:
            shapes, frame = self._detector.shapes, self._walls.frame
            radius = shapes.inverse_radius if shapes is not None else np.zeros(len(frame))
            self._body_contacts = BodyContacts.of(self._detector.contacts, frame, radius, self._names)
        return self._body_contacts

    def pushes(self, h: float) -> FloatArray:
        """(W, 6) forces and torques [N, N m] on the bodies of the scene in the last step, of ``h`` [s], by grains and by each other;
        collisions with grains included."""
        b, d = self._bodies, self._detector
        c = self.contacts if self._law is not None else d.contacts
        out = self.struck.copy()
        call(sum_pushes, Met.of(c), b.arrays, b.grain_arrays, self._walls.frame, self._carriers(), d.period, h, out)
        out /= h
        if d.shapes is not None:
            self.body_contacts.add_loads(b.position, out)
        return out

    def _carriers(self) -> IntArray:
        return carriers(self._bodies, self._walls.frame, self._walls.body)

    def add_collisions(self, p: Problem, met: Met) -> None:
        """Add the impulses of the impact stage, which are in the blocks of the problem."""
        b, frame = self._bodies, self._walls.frame
        call(sum_collisions, p.blocks, p.found, met, b.arrays, b.grain_arrays, frame, self._carriers(), self._detector.period, self.struck)

    def count_pushed(self, before: FloatArray) -> None:
        """Add the impulses that dynamic bodies got since they had these velocities (D, 3) [m/s], besides those of the solve."""
        b, rows = self._bodies, self._bodies.dynamic
        if len(rows):
            self.struck[rows, :3] += (b.velocity[rows] - before) / b.inverse_mass[rows, None]
