"""Model reduction: how far it got, what speed-up is to be expected, and how far a run at full resolution could be reduced (MR 5, 6)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ..array_types import BoolArray, FloatArray, IndexArray
from ..checks import InputError
from ..reduction import Merge
from .metric import Metric, MetricResult, series
from .snapshot import Snapshot

VOLUME = 1 / 3  # gamma of a three-dimensional system: sweeps grow like N^gamma


@dataclass(frozen=True)
class MergedCounts:
    """Grains by what they have merged into."""

    level: float
    """1 - (free grains and aggregates) / grains (MR 5)."""
    free: int
    held: int
    """By walls."""
    merged: int
    """Into aggregates."""
    aggregates: int
    largest: int
    """Grains of the largest aggregate."""


def merged_counts(s: Snapshot) -> MergedCounts:
    """Of a snapshot; InputError if it is not one of a run with model reduction."""
    free, held, merged = who_is_merged(s)
    size = np.unique(_merged_into(s)[merged], return_counts=True)[1]
    bodies = int(free.sum()) + len(size)
    return MergedCounts(
        level=1 - bodies / s.grain_count if s.grain_count else 0.0,
        free=int(free.sum()),
        held=int(held.sum()),
        merged=int(merged.sum()),
        aggregates=len(size),
        largest=int(size.max(initial=0)),
    )


def who_is_merged(s: Snapshot) -> tuple[BoolArray, BoolArray, BoolArray]:
    """(N,) each: free grains, those that a wall holds, those of aggregates."""
    body = _merged_into(s)
    free, merged = body < 0, body >= len(s.wall_position)
    return free, ~free & ~merged, merged


def _merged_into(s: Snapshot) -> IndexArray:
    if s.merged_into is None:
        raise InputError(f"recording {s.path} is of a run without model reduction: run it with --reduce contact,trial or the like.")
    return s.merged_into


def _metric(shots: Iterable[Snapshot]) -> MetricResult:
    return series(shots, lambda s: asdict(merged_counts(s)), "no grains")


METRICS = {
    "reduction": Metric(
        _metric,
        "level of model reduction; grains that are free, held by walls and merged into aggregates",
        {"time": "s"},
        needs="a run with model reduction",
        all_frames=True,
    ),
}


def contact_overhead(count: ArrayLike, alpha: float, gamma: float = VOLUME) -> FloatArray:
    """delta = alpha N_p^-gamma: looking once at every contact, as a part of a solve at full resolution (MR section 6)."""
    return np.asarray(alpha * np.asarray(count, float) ** -gamma)


def trial_overhead(part: ArrayLike, tolerance_ratio: ArrayLike, gamma: float = VOLUME) -> FloatArray:
    """delta = beta^(1 + gamma) eps / eps_mod: a trial of a ``part`` beta of the system, with its error over that of the run (MR (40))."""
    return np.asarray(np.asarray(part, float) ** (1 + gamma) / np.asarray(tolerance_ratio, float))


def predicted_speed_up(level: ArrayLike, overhead: ArrayLike, gamma: float = VOLUME) -> FloatArray:
    """S = 1 / (delta + (1 - level)^(1 + gamma)) at a reduction ``level`` with the overhead delta (MR (39) and (40))."""
    return np.asarray(1 / (np.asarray(overhead, float) + (1 - np.asarray(level, float)) ** (1 + gamma)))


def overhead_of(level: ArrayLike, speed_up: ArrayLike, gamma: float = VOLUME) -> FloatArray:
    """The overhead delta with which (39) and (40) give that speed-up; below 0 if it is more than they allow."""
    return np.asarray(1 / np.asarray(speed_up, float) - (1 - np.asarray(level, float)) ** (1 + gamma))


@dataclass(frozen=True)
class ContactMotion:
    """How the two sides of each contact move against each other."""

    normal: FloatArray  # (C,) rate at which they part [m/s]
    tangential: FloatArray  # (C, 3) [m/s]
    rolling: FloatArray  # (C, 3) difference of the spins [rad/s]

    @classmethod
    def of(cls, s: Snapshot) -> ContactMotion:
        """Of the contacts that a snapshot holds, with its velocities."""
        pair = s.b >= 0
        velocity, spin = -s.velocity[s.a], -s.spin[s.a]
        velocity[pair] += s.velocity[s.b[pair]]
        spin[pair] += s.spin[s.b[pair]]
        body = s.wall_body[-1 - s.b[~pair]]
        arm = s.point[~pair] - s.wall_position[body]
        velocity[~pair] += s.wall_velocity[body] + np.cross(s.wall_spin[body], arm)
        spin[~pair] += s.wall_spin[body]
        sign = np.where(pair & (s.a > s.b), -1.0, 1.0)[:, None]  # as seen from the first grain, whoever owns the contact
        return cls(np.einsum("ij,ij->i", velocity, s.normal), sign * s.slip, sign * spin)


def mergeable_level(before: Snapshot, after: Snapshot, merge: Merge | None = None) -> float:
    """The most that merging could reduce a run at full resolution: the level 1 - (bodies left) / grains (MR Fig. 11).

    ``before`` and ``after`` are successive states of the same grains. These merge across contacts that are there in both, slower than the
    thresholds of ``merge`` and with changes of velocity below those. Grains that merge with walls count as none. NaN without grains.
    """
    merge = merge or Merge()
    count = after.grain_count
    if not count:
        return float("nan")
    key = [np.where(s.b < 0, s.a, np.minimum(s.a, s.b)) * 2**32 + np.where(s.b < 0, s.b, np.maximum(s.a, s.b)) for s in (before, after)]
    _, first, second = np.intersect1d(key[0], key[1], return_indices=True)
    old, new = (ContactMotion.of(s) for s in (before, after))
    step = after.time - before.time
    normal, rolling = new.normal[second], np.linalg.norm(new.rolling[second], axis=1)
    together = (-normal <= merge.approach) & (normal <= merge.separation) & (rolling <= merge.rolling)
    together &= np.linalg.norm(new.tangential[second], axis=1) <= merge.tangential
    if merge.normal_acceleration is not None:
        together &= np.abs(normal - old.normal[first]) <= merge.normal_acceleration * step
    if merge.tangential_acceleration is not None:
        change = np.linalg.norm(new.tangential[second] - old.tangential[first], axis=1)
        together &= change <= merge.tangential_acceleration * step
    if merge.rolling_acceleration is not None:
        together &= np.linalg.norm(new.rolling[second] - old.rolling[first], axis=1) <= merge.rolling_acceleration * step
    a, b = after.a[second][together], after.b[second][together]
    return level_of_links(count, a, b)


def level_of_links(count: int, a: NDArray[np.integer], b: NDArray[np.integer]) -> float:
    """The level of ``count`` grains that are joined in pairs (a, b); b < 0 is a wall, and what is joined to one counts as none."""
    if not count:
        return float("nan")
    walls = int(-b.min(initial=0))
    other = np.where(b >= 0, b, count - 1 - b)
    size = count + walls
    graph = coo_array((np.ones(len(a), np.int8), (a, other)), shape=(size, size))
    number, label = connected_components(graph, directed=False)
    standing = len(np.unique(label[count:]))
    return 1 - (number - standing) / count
