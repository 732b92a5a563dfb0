"""How well contacts obey their laws: overlaps, friction of sliding contacts, and how many contacts do what (SN 4.1, physics 8)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..array_types import FloatArray, IndexArray
from ..state.status import CONTINUOUS, REBOUNDING, SLIDING
from .snapshot import Snapshot

SLIDE_SPEED = 0.01  # u_thr in units of sqrt(g d / 2): slower contacts stick
SLIDE_FORCE = 0.01  # f_thr in units of m g: weaker contacts are left out


@dataclass(frozen=True)
class Spread:
    """Of some numbers: how many, mean, standard deviation and the largest in size; NaN without any."""

    count: int
    mean: float
    std: float
    largest: float

    @classmethod
    def of(cls, values: Any) -> Spread:
        found = np.asarray(values, float)
        found = found[~np.isnan(found)]
        if not len(found):
            return cls(0, math.nan, math.nan, math.nan)
        return cls(len(found), float(found.mean()), float(found.std()), float(found[np.abs(found).argmax()]))


def overlap_ratio(snapshot: Snapshot) -> FloatArray:
    """(C,) eps_c = delta / d, with d of the smaller grain (SN 40)."""
    return snapshot.overlap / (2 * snapshot.radius[snapshot.smaller])


@dataclass(frozen=True)
class SlideDeviations:
    """Of the S contacts that slide and carry force; 0 is right, negative is too little friction or a wrong direction."""

    contact: IndexArray  # (S,) row of the snapshot's contacts
    size: FloatArray  # (S,) eps_sl = |f_t| / (mu f_n) - 1
    direction: FloatArray  # (S,) eps_dir = theta / pi - 1, theta between slip and friction force; NaN without friction force


def slide_errors(snapshot: Snapshot) -> SlideDeviations:
    """Of contacts with |u_t| >= 0.01 sqrt(g d / 2), f_n > 0.01 m g and mu > 0; d and m of the smaller grain (SN 4.1)."""
    s, g = snapshot, snapshot.gravity_strength
    grain = s.smaller
    speed = np.linalg.norm(s.slip, axis=1)
    slides = speed >= SLIDE_SPEED * np.sqrt(g * s.radius[grain])
    c = np.flatnonzero(slides & (speed > 0) & (s.normal_force > SLIDE_FORCE * s.mass[grain] * g) & (s.friction > 0))
    friction, slip = s.tangential_force[c], s.slip[c]
    length = np.linalg.norm(friction, axis=1)
    # The angle from sine and cosine: arccos alone is blind near pi.
    theta = np.arctan2(np.linalg.norm(np.cross(slip, friction), axis=1), np.einsum("ij,ij->i", slip, friction))
    return SlideDeviations(
        contact=c, size=length / (s.friction[c] * s.normal_force[c]) - 1, direction=np.where(length > 0, theta / np.pi - 1, np.nan)
    )


def contacts_per_grain(snapshot: Snapshot) -> IndexArray:
    """(N,) contacts of each grain, those with walls included."""
    n, pair = snapshot.grain_count, snapshot.b >= 0
    return np.bincount(snapshot.a, minlength=n) + np.bincount(snapshot.b[pair], minlength=n)


@dataclass(frozen=True)
class ContactCounts:
    """Contacts of one instant: continuous, impacting and sliding ones add up to the total, and so do pairs and walls."""

    total: int
    continuous: int
    impacting: int  # two that have not yet come apart after an impact
    sliding: int  # friction at its bound
    pairs: int
    walls: int
    loaded: int  # with a normal force
    coordination: float  # mean number of contacts of a grain; NaN without grains


def contact_counts(snapshot: Snapshot) -> ContactCounts:
    """How many contacts do what."""
    status, walls = snapshot.status, int(snapshot.at_wall.sum())
    continuous, impacting, sliding = (int((status == kind).sum()) for kind in (CONTINUOUS, REBOUNDING, SLIDING))
    per_grain = contacts_per_grain(snapshot)
    return ContactCounts(
        total=snapshot.contact_count,
        continuous=continuous,
        impacting=impacting,
        sliding=sliding,
        pairs=snapshot.contact_count - walls,
        walls=walls,
        loaded=int((snapshot.normal_force > 0).sum()),
        coordination=float(per_grain.mean()) if len(per_grain) else math.nan,
    )
