"""The arrays of a contact problem, and those that it is assembled from, in groups that kernels take whole.

A group is a NamedTuple of arrays; it is made anew when one of them is, by the method of ``Problem`` that is named with it. The first
four are a problem (``Problem.arrays``), which kernels take whole where they need it all. Which stage of a step fills what:

========  ==========================  ============================================================================================
group     made by                     filled by
========  ==========================  ============================================================================================
packed    ``Problem.pack``            grains and bodies with full inertia by ``assign_slots`` where contacts are coloured anew, else by
                                      ``assemble``; slots of wall contacts by ``assemble``; velocities then change in the impact
                                      stage, by the external impulses, the warm start, the solve
blocks    ``Problem.colour``          lanes by ``lay_out``; normals, arms, friction and 1/D_t by ``assemble``; target, softness and
                                      1/D_n by whoever aims: the impact stage first, then ``aim_at_rest``; impulses by the impact
                                      stage (its own), then the warm start, then the solve
levers    ``Problem.colour``          ``assemble``
found     ``Problem.colour``          slots by ``assign_slots``, place by ``lay_out``, the law and the normal row by ``assemble``
momentum  ``pack`` and ``colour``     work of whoever sweeps; nothing is kept in it from one sweep loop to the next
========  ==========================  ============================================================================================

What a call costs is told in ``kernel_groups.py``. It is the same for one grain as for a million, so what follows each other without a
choice in between shares one call: targets and warm start with the assembly where nothing collides, the move with the velocities where
nothing is fast.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..array_types import FloatArray, IntArray
from ..detection.body_shapes import BodyShapes
from ..detection.wall_table import WallTable
from ..kernel_groups import group, group_with
from ..machines.groups import NO_LINKS, Links, NoLinks
from ..state.bodies import Bodies
from ..state.contacts import Contacts

NO_RADIUS = np.zeros(0)


@group_with("links")
class Packed(NamedTuple):
    """Bodies by slot: grains by rank, then bodies with full inertia, then one for every contact with a wall that does not yield."""

    body: FloatArray
    """(slots * BODY,) velocity, radius times spin, inverse mass, inverse radius; see ``blocks.py``"""
    inverse_inertia: FloatArray
    """(F, 3, 3) of the bodies with full inertia, world axes [1/(kg m^2)]"""
    first_full: int
    """Slots before it are grains."""
    yielding: int
    """Slots before it may yield; those from it on are walls."""
    links: Links | NoLinks = NO_LINKS
    """Which bodies with full inertia are links of machines."""


@group
class ContactBlocks(NamedTuple):
    """Contacts by lane, field by field."""

    lane_a: IntArray
    """(lanes,) body slot"""
    lane_b: IntArray
    """(lanes,) body slot"""
    contact_at: IntArray
    """(lanes,) number of the contact in ``found``; -1: none"""
    data: FloatArray
    """(lanes * fields,) numbers of the rows, and impulses"""
    colour_block: IntArray
    """(COLOURS + 1,) first block of each colour of spheres"""
    full_first: IntArray
    """(COLOURS + 2,) first of the contacts that are swept one by one, by colour; the last ones have none"""
    serial_start: int
    """First lane after the coloured blocks: contacts from it on are swept one by one."""
    fields: int
    """Numbers per contact: ``FIELDS_3_ROWS``, or ``FIELDS_6_ROWS`` with rolling friction"""
    soft_t: float
    """Softness of the friction [1/kg] and rolling rows [1/(kg m^2)]"""
    box: bool
    """Friction is bounded component by component, not by its length (SN 2.3.2)."""


@group
class Levers(NamedTuple):
    """Of the Q contacts that are swept one by one, counted from the end of the coloured blocks."""

    arm: FloatArray
    """(Q, 6) from the centres of a and b to the contact point, world axes [m]"""
    full: IntArray
    """(Q, 2) number of a and b among the bodies with full inertia; -1: a sphere"""
    centre: FloatArray
    """(F, 3) centres of mass of the bodies with full inertia [m]; empty if none is made of grains"""


@group
class Found(NamedTuple):
    """(C,) by contact, in the order in which they were found."""

    slot_a: IntArray
    slot_b: IntArray
    place: IntArray
    """lane in the blocks"""
    stiffness: FloatArray
    """k of the contact law [N m^(1 - 2 e_H)]"""
    radius_eff: FloatArray
    """R* [m]"""
    weight: FloatArray
    """G M^-1 G^T of the normal row [1/kg]; 0: joints hold both bodies"""
    gap_rate: FloatArray
    """separation speed before the solve [m/s]"""


@group_with("packed.links")
class ProblemArrays(NamedTuple):
    """A whole contact problem: bodies, rows and impulses."""

    packed: Packed
    blocks: ContactBlocks
    levers: Levers
    found: Found


@group
class Momentum(NamedTuple):
    """Room to work in for whoever sweeps."""

    body_before: FloatArray
    """(slots * 6,) velocities of the iterate before"""
    before: FloatArray
    """(lanes * (rows + 1),) impulses of the iterate before"""
    sums: FloatArray
    """parts of sums, added up in an order that no number of threads changes"""


@group
class Met(NamedTuple):
    """(C,) contacts as detection has found them: pairs of grains, then grains at walls, then bodies that touch with their walls."""

    a: IntArray
    """grain; of the last ones -1 - wall, of a dynamic body"""
    b: IntArray
    """grain, or -1 - wall"""
    normal: FloatArray
    """(C, 3) unit, from a towards b"""
    overlap: FloatArray
    """[m], < 0: a gap"""
    impulse: FloatArray
    """(C, 7) of the last step [N s, N m s]"""
    rebound: FloatArray
    """speed of an impact that is not over [m/s]"""
    pair_count: int
    grain_contacts: int
    """Contacts that a grain owns; those from it on are between bodies."""
    point: FloatArray
    """(K, 3) where those between bodies touch, or will [m]"""

    def now(self, contacts: Contacts) -> Met:
        """Itself, if it shows these contacts; else what does."""
        return self if self.overlap is contacts.every.overlap and self.pair_count == contacts.pair_count else Met.of(contacts)

    @classmethod
    def of(cls, contacts: Contacts) -> Met:
        """Views: what kernels write is written there."""
        c = contacts.every
        return cls(c.a, c.b, c.normal, c.overlap, c.impulse, c.rebound, contacts.pair_count, contacts.contact_count, contacts.body_points)


@group
class FreeBodies(NamedTuple):
    """Bodies as impulses move them; grain i has the row first + i."""

    position: FloatArray
    """(B, 3) [m]"""
    orientation: FloatArray
    """(B, 4) unit quaternions"""
    velocity: FloatArray
    """(B, 3) [m/s]"""
    spin: FloatArray
    """(B, 3) [rad/s]"""
    inverse_mass: FloatArray
    """(B,) of what impulses move by itself [1/kg]; 0 for walls that are driven and grains that are part of others"""
    radius: FloatArray
    """(N,) [m]"""
    material: IntArray
    """(N,)"""
    order: IntArray
    """grain of each slot, -1: none"""
    full: IntArray
    """rows of the bodies with full inertia, in the order of their slots"""
    first: int

    @classmethod
    def of(cls, bodies: Bodies, position: FloatArray, order: IntArray, full: IntArray) -> FreeBodies:
        """Views; ``position`` may be others than the bodies' own."""
        b = bodies
        return cls(position, b.orientation, b.velocity, b.spin, b.yielding, b.radius, b.material, order, full, b.first_grain)


@group
class WallArrays(NamedTuple):
    """Walls as contacts meet them."""

    frame: IntArray
    """(W,) row of the body that each wall is fixed to"""
    material: IntArray
    """(W,)"""
    surface_velocity: FloatArray
    """(W, 3) [m/s] in world axes; only its part along the surface counts"""
    inverse_radius: FloatArray
    """(W,) of the ball that a wall touches other bodies as [1/m]; empty if no bodies may touch"""

    @classmethod
    def of(cls, walls: WallTable, surface_velocity: FloatArray, shapes: BodyShapes | None) -> WallArrays:
        return cls(walls.frame, walls.material, surface_velocity, shapes.inverse_radius if shapes is not None else NO_RADIUS)


@group
class Step(NamedTuple):
    """What a step asks of its contacts."""

    h: float
    """[s]"""
    impact_velocity: float
    """v_imp [m/s]"""
    left_over: float
    """What the last solve did not finish [m/s]: a contact that carried a load must be faster by it to collide."""
    packed: bool = True
    """Bodies are in their slots already."""
    clear: bool = True
    """Lanes without a contact may hold anything."""
    limits_hit: int = 0
    """Limits of joints that are hit in this step."""
