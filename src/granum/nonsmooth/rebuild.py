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
    p, count = problem, problem.contact_count
    slots = p.first_wall_slot + count - p.pair_count
    body = p.body[: slots * BODY].reshape(-1, BODY)
    place = p.place[:count].astype(np.int64)
    at = place // LANES * p.fields * LANES + place % LANES
    rolling, blank = p.fields > RX, np.zeros(count)

    def field(k: int) -> FloatArray:
        return p.data[at + k * LANES]

    listed = place - p.colour_blocks * LANES
    known = np.flatnonzero(listed >= 0)
    known = known[(p.full[listed[known]] >= 0).any(axis=1)]
    return ProblemParts(
        rolling=rolling,
        soft_t=float(p.soft_t),
        pair_count=int(p.pair_count),
        first_full=int(p.first_full),
        velocity=body[:, :3].copy(),
        surface_spin=body[:, 3:6].copy(),
        inverse_mass=body[:, INV_MASS].copy(),
        inverse_radius=body[:, INV_RADIUS].copy(),
        inverse_inertia=p.inverse_inertia.copy(),
        a=p.slot_a[:count].copy(),
        b=p.slot_b[:count].copy(),
        normal=np.column_stack([field(NX + k) for k in range(3)]),
        arm=field(ARM),
        target=field(TARGET),
        softness=field(SOFTNESS),
        inverse_diagonal=np.column_stack([field(INV_DN), field(INV_DT), field(INV_DR) if rolling else blank]),
        friction=field(MU),
        rolling_radius=field(MU_R) if rolling else blank,
        impulse=np.column_stack([field(PN + k) for k in range(4)] + [field(RX + k) if rolling else blank for k in range(3)]),
        stiffness=p.stiffness[:count].copy(),
        radius_eff=p.radius_eff[:count].copy(),
        weight=p.weight[:count].copy(),
        gap_rate=p.gap_rate[:count].copy(),
        lever_contact=known.astype(np.int32),
        lever_body=p.full[listed[known]],
        lever=p.lever[listed[known]],
    )


def put_together(parts: ProblemParts) -> Problem:
    """A problem of its own, ready to be solved."""
    p, count = Problem(rolling=parts.rolling), len(parts.a)
    slots = len(parts.inverse_mass)
    p.contact_count, p.pair_count, p.soft_t = count, parts.pair_count, parts.soft_t
    p.first_full = parts.first_full
    p.yielding = p.first_wall_slot = parts.first_full + len(parts.inverse_inertia)
    packed = [parts.velocity, parts.surface_spin, parts.inverse_mass[:, None], parts.inverse_radius[:, None]]
    p.body = np.append(np.column_stack(packed).ravel(), np.zeros(BODY))  # the last is nobody's
    p.body_before = np.zeros((slots + 1) * 6)
    p.inverse_inertia = parts.inverse_inertia.copy()
    p.slot_a, p.slot_b, p.place = parts.a.astype(np.int32), parts.b.astype(np.int32), np.zeros(count, np.int32)
    p.stiffness, p.radius_eff = parts.stiffness.copy(), parts.radius_eff.copy()
    p.weight, p.gap_rate = parts.weight.copy(), parts.gap_rate.copy()
    p.colour(nobody=slots)
    place = p.place.astype(np.int64)
    at = place // LANES * p.fields * LANES + place % LANES
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
            p.data[at + (first + k) * LANES] = column
    rows = place[parts.lever_contact] - p.colour_blocks * LANES
    p.lever[rows], p.full[rows] = parts.lever, parts.lever_body
    return p
