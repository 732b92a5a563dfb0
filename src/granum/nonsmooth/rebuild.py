"""A contact problem body by body and contact by contact, free of blocks and colours: what a file keeps and a copy starts from.

Slots and the order of the contacts are kept, and colours follow from them alone. So the problem that is put together again is solved with
the same bits as the one that was taken apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..array_types import FloatArray, IntArray
from .blocks import (
    ARM,
    BODY,
    INV_DN,
    INV_DR,
    INV_DT,
    INV_MASS,
    INV_RADIUS,
    LANES,
    MU,
    MU_R,
    NX,
    PN,
    RX,
    SOFTNESS,
    TARGET,
)
from .problem import Problem


@dataclass(frozen=True)
class ProblemParts:
    """C contacts between S body slots: grains first, then bodies with full inertia, then one slot for each contact with another wall."""

    rolling: bool
    """Contacts have rolling rows."""
    box: bool
    """Friction is bounded component by component, not by its length (SN 2.3.2)."""
    soft_t: float
    """Softness of the friction and rolling rows [1/kg]."""
    pair_count: int
    """The first contacts are pairs of grains, the others touch walls."""
    first_full: int
    """Slots before this one are grains."""
    velocity: FloatArray
    """(S, 3) [m/s]"""
    surface_spin: FloatArray
    """(S, 3) radius times spin [m/s]"""
    inverse_mass: FloatArray
    """(S,) [1/kg]"""
    inverse_radius: FloatArray
    """(S,) [1/m]; 1 for all but grains"""
    inverse_inertia: FloatArray
    """(F, 3, 3) of the bodies with full inertia, in world axes [1/(kg m^2)]"""
    a: IntArray
    """(C,) slot"""
    b: IntArray
    """(C,) slot"""
    normal: FloatArray
    """(C, 3) unit vector from a towards b"""
    arm: FloatArray
    """(C,) lever arms are this times the radius"""
    target: FloatArray
    """(C,) separation speed asked for [m/s]"""
    softness: FloatArray
    """(C,) of the normal row [1/kg]"""
    inverse_diagonal: FloatArray
    """(C, 3) 1/D of the normal [kg], friction [kg] and rolling rows [kg m^2]"""
    friction: FloatArray
    """(C,) mu"""
    rolling_radius: FloatArray
    """(C,) mu_r R* [m]"""
    impulse: FloatArray
    """(C, 7) on b: normal, tangential [N s] and rolling [N m s]; where the solve starts"""
    stiffness: FloatArray
    """(C,) of the contact law [N m^(1 - 2 e_H)]"""
    radius_eff: FloatArray
    """(C,) R* [m]"""
    weight: FloatArray
    """(C,) G M^-1 G^T of the normal row [1/kg]"""
    gap_rate: FloatArray
    """(C,) separation speed before the step [m/s]"""
    lever_contact: IntArray
    """(L,) contacts whose lever arms are listed: those of bodies with full inertia"""
    lever_body: IntArray
    """(L, 2) which of those bodies is a and b; -1 for a grain"""
    lever: FloatArray
    """(L, 6) arms of a and b, world axes [m]"""


def take_apart(problem: Problem) -> ProblemParts:
    """Copies of all that a solver needs, as the problem stands now."""
    p, count, b = problem, problem.contact_count, problem.blocks
    slots = p.packed.yielding + count - p.pair_count
    body = p.packed.body[: slots * BODY].reshape(-1, BODY)
    at, rolling, blank = p.address, b.fields > RX, np.zeros(count)

    def field(k: int) -> FloatArray:
        return b.data[at + k * LANES]

    listed = p.found.place.astype(np.int64) - b.serial_start
    known = np.flatnonzero(listed >= 0)
    known = known[(p.levers.full[listed[known]] >= 0).any(axis=1)]
    return ProblemParts(
        rolling=rolling,
        box=b.box,
        soft_t=float(b.soft_t),
        pair_count=int(p.pair_count),
        first_full=int(p.packed.first_full),
        velocity=body[:, :3].copy(),
        surface_spin=body[:, 3:6].copy(),
        inverse_mass=body[:, INV_MASS].copy(),
        inverse_radius=body[:, INV_RADIUS].copy(),
        inverse_inertia=p.packed.inverse_inertia.copy(),
        a=p.found.slot_a.copy(),
        b=p.found.slot_b.copy(),
        normal=np.column_stack([field(NX + k) for k in range(3)]),
        arm=field(ARM),
        target=field(TARGET),
        softness=field(SOFTNESS),
        inverse_diagonal=np.column_stack([field(INV_DN), field(INV_DT), field(INV_DR) if rolling else blank]),
        friction=field(MU),
        rolling_radius=field(MU_R) if rolling else blank,
        impulse=np.column_stack([field(PN + k) for k in range(4)] + [field(RX + k) if rolling else blank for k in range(3)]),
        stiffness=p.found.stiffness.copy(),
        radius_eff=p.found.radius_eff.copy(),
        weight=p.found.weight.copy(),
        gap_rate=p.found.gap_rate.copy(),
        lever_contact=known.astype(np.int32),
        lever_body=p.levers.full[listed[known]],
        lever=p.levers.arm[listed[known]],
    )


def put_together(parts: ProblemParts) -> Problem:
    """A problem of its own, ready to be solved."""
    p, slots = Problem(parts.rolling, "box" if parts.box else "cone"), len(parts.inverse_mass)
    p.soften(parts.soft_t)
    p.make_slots(parts.first_full, len(parts.inverse_inertia), slots)
    packed = [parts.velocity, parts.surface_spin, parts.inverse_mass[:, None], parts.inverse_radius[:, None]]
    p.packed.body[: slots * BODY] = np.column_stack(packed).ravel()
    p.packed.inverse_inertia[:] = parts.inverse_inertia
    p.make_contacts(len(parts.a), parts.pair_count)
    f = p.found
    f.slot_a[:], f.slot_b[:] = parts.a, parts.b
    f.stiffness[:], f.radius_eff[:], f.weight[:], f.gap_rate[:] = parts.stiffness, parts.radius_eff, parts.weight, parts.gap_rate
    p.colour(nobody=slots)
    at = p.address
    fields = {
        NX: parts.normal,
        ARM: parts.arm,
        TARGET: parts.target,
        SOFTNESS: parts.softness,
        INV_DN: parts.inverse_diagonal[:, :2],
        MU: parts.friction,
        PN: parts.impulse[:, :4],
    }
    if parts.rolling:
        fields |= {INV_DR: parts.inverse_diagonal[:, 2], MU_R: parts.rolling_radius, RX: parts.impulse[:, 4:]}
    for first, values in fields.items():
        for k, column in enumerate(np.atleast_2d(values.T)):
            p.blocks.data[at + (first + k) * LANES] = column
    rows = p.found.place[parts.lever_contact] - p.blocks.serial_start
    p.levers.arm[rows], p.levers.full[rows] = parts.lever, parts.lever_body
    return p
