"""A balling circuit: flows of mass and sizes in drum, belt and sieve, what falls through each gap, and how even that is (WS section 5)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ..array_types import BoolArray, FloatArray, IndexArray
from ..checks import InputError
from ..scene.library.circuit import PACKED, CircuitParameters
from ..scene.parameters import parameters_of
from .snapshot import Snapshot

STAGES = ("drum", "belt", "sieve")
BELOW = len(STAGES)  # the stage of what has gone through the sieve
STRIPS = 8  # across the sieve
ON_BELT = (0.35, 0.9)  # of the belt's length, from the outlet to its end: where the heap is at rest
SHARES = (0.1, 0.5, 0.9)  # of the mass: sizes that so much of it is finer than


def stage_of(s: Snapshot) -> tuple[IndexArray, IndexArray]:
    """Where each pellet is: in the drum (0), on the belt (1) or sieve (2), or below it (3); and the gap (from 0 on) above or below which it
    is, which only counts from the sieve on. Beyond the last roller is one gap more: the oversize."""
    p = parameters_of(s.scene, CircuitParameters)
    x, z = s.position[:, 0], s.position[:, 2]
    axis_x, axis_z = np.array(p.rollers).T
    gap = np.clip(np.searchsorted(axis_x, x, side="right") - 1, 0, len(p.gaps))
    below = z < np.interp(x, axis_x, axis_z)
    stage = np.where(x < p.belt_end, 1, np.where(below, BELOW, 2))
    stage[_in_drum(s, p)] = 0
    return stage, gap


def _in_drum(s: Snapshot, p: CircuitParameters) -> BoolArray:
    along, out = _from_axis(s, p)
    return np.asarray((along < 0) & (np.linalg.norm(out, axis=1) < p.drum_radius))


def _from_axis(s: Snapshot, p: CircuitParameters) -> tuple[FloatArray, FloatArray]:
    """How far (N,) each pellet is beyond the outlet, and (N, 2) its place across the drum: sideways, where the bed rises to, and up [m]."""
    axis, way = np.array(p.axis), s.position - np.array(p.outlet)
    up = np.array([-axis[2], 0.0, axis[0]])
    return way @ axis, np.stack([way[:, 1], way @ up], axis=1)


def drum_bed_angle(s: Snapshot) -> float:
    """Dynamic angle of repose [degrees] in the drum: of the centre of mass of its pellets from straight down (WS 4.3); NaN without any."""
    p = parameters_of(s.scene, CircuitParameters)
    some = _in_drum(s, p)
    if not some.any():
        return math.nan
    side, up = np.average(_from_axis(s, p)[1][some], axis=0, weights=s.mass[some])
    return math.degrees(math.atan2(side, -up))


def heap_angle(s: Snapshot) -> float:
    """Angle of repose [degrees] of what lies on the belt; NaN without any.

    It is that of the ridge with the same cross-section A and the same height z of its centre of mass: tan = 9 z^2 / A. As in the drum, the
    centre of mass is steadier than a line through a surface of few pellets.
    """
    p = parameters_of(s.scene, CircuitParameters)
    x = s.position[:, 0] / p.belt_end
    some = (stage_of(s)[0] == 1) & (x >= ON_BELT[0]) & (x <= ON_BELT[1])
    if not some.any():
        return math.nan
    area = s.mass[some].sum() / (PACKED * p.density * (ON_BELT[1] - ON_BELT[0]) * p.belt_end)
    height = float(np.average(s.position[some, 2], weights=s.mass[some]))
    return math.degrees(math.atan(9 * height**2 / area))


@dataclass(frozen=True)
class SizeShares:
    """Sizes of pellets by mass."""

    diameter: FloatArray  # (n,) growing [m]
    finer: FloatArray  # (n,) part of the mass that is not larger

    @classmethod
    def of(cls, diameter: FloatArray, mass: FloatArray) -> SizeShares:
        """Of pellets in any order."""
        order = np.argsort(diameter, kind="stable")
        return cls(diameter[order], np.cumsum(mass[order]) / mass.sum() if len(order) else np.zeros(0))

    def at(self, share: float) -> float:
        """The size [m] that this part of the mass does not exceed; NaN without pellets."""
        return float(self.diameter[np.searchsorted(self.finer, share - 1e-12)]) if len(self.diameter) else math.nan


@dataclass
class Passes:
    """Of every pellet that was seen, by its id: its size, and when it left drum, belt and sieve; through which gap, and where."""

    p: CircuitParameters
    diameter: FloatArray = field(default_factory=lambda: np.zeros(0))
    """[m]; 0: never seen."""
    mass: FloatArray = field(default_factory=lambda: np.zeros(0))
    left: FloatArray = field(default_factory=lambda: np.zeros((0, BELOW)))
    """(n, 3) [s] of the first frame beyond each of the three; NaN: not yet; -inf: already in the first frame."""
    gap: IndexArray = field(default_factory=lambda: np.zeros(0, np.int64))
    """Numbered from 0 on; the last is the oversize. -1: not yet."""
    across: FloatArray = field(default_factory=lambda: np.zeros(0))
    """y [m] at which it left the sieve."""
    there: IndexArray = field(default_factory=lambda: np.zeros(0, np.int64))
    """Ids of the pellets of the last frame."""
    unseen: int = 0
    """Pellets that were taken out before a frame saw them below the sieve: their gap is the one that they were last seen above."""
    held: dict[str, list[tuple[float, FloatArray, FloatArray]]] = field(default_factory=lambda: {name: [] for name in STAGES})
    """Time [s], diameters [m] and masses [kg] of what was in each part, frame by frame."""
    times: list[float] = field(default_factory=list)

    def look(self, s: Snapshot) -> None:
        """Take in the next frame."""
        self._grow(int(s.id.max(initial=-1)) + 1)
        stage, gap = stage_of(s)
        self.diameter[s.id], self.mass[s.id] = 2 * s.radius, s.mass
        gone = np.setdiff1d(self.there, s.id)
        lost = gone[np.isnan(self.left[gone, -1])]
        self.unseen += len(lost)
        self._mark(lost, np.full(len(lost), BELOW), s.time)
        self._mark(s.id, stage, s.time if self.times else -math.inf)
        on = (stage >= 2) & (np.isin(self.left[s.id, -1], (s.time, -math.inf)) | (stage == 2))  # kept from then on
        self.gap[s.id[on]], self.across[s.id[on]] = gap[on], s.position[on, 1]
        for k, name in enumerate(STAGES):
            self.held[name].append((s.time, 2 * s.radius[stage == k], s.mass[stage == k]))
        self.there = s.id
        self.times.append(s.time)

    def _grow(self, size: int) -> None:
        more = size - len(self.diameter)
        if more > 0:
            self.diameter, self.mass, self.across = (np.append(a, np.zeros(more)) for a in (self.diameter, self.mass, self.across))
            self.left, self.gap = np.concatenate([self.left, np.full((more, BELOW), np.nan)]), np.append(self.gap, np.full(more, -1))

    def _mark(self, ids: IndexArray, stage: IndexArray, time: float) -> None:
        for k in range(BELOW):
            new = ids[(stage > k) & np.isnan(self.left[ids, k])]
            self.left[new, k] = time


def circuit_passes(shots: Iterable[Snapshot]) -> Passes:
    """Of successive frames of the scene ``circuit``."""
    found: Passes | None = None
    for s in shots:
        found = found or Passes(parameters_of(s.scene, CircuitParameters))
        found.look(s)
    if found is None:
        raise InputError("a circuit is measured over its frames (got none).")
    return found


@dataclass(frozen=True)
class CircuitFlow:
    """Means over a window of time."""

    window: tuple[float, float]  # [s]
    flow: dict[str, float]  # mass out of each of ``STAGES`` [kg/s]
    held: dict[str, float]  # mass in each [kg]
    sizes: dict[str, SizeShares]  # of what is in each
    gap: FloatArray  # (G,) widths [m]
    gap_flow: FloatArray  # (G + 1,) mass through each gap, then the oversize [kg/s]
    gap_sizes: list[SizeShares]  # (G + 1,)
    place: FloatArray  # (G + 1,) how far along the sieve each gap lies, from the first roller on [m]
    strip: FloatArray  # (STRIPS + 1,) y of the edges of strips along the sieve [m]
    strip_flow: FloatArray  # (STRIPS,) mass through the gaps in each [kg/s]
    unseen: int

    @property
    def evenness_along(self) -> float:
        """Of what falls through the gaps: 1 if all take the same, 1 / G if one takes all."""
        return evenness(self.gap_flow[:-1])

    @property
    def evenness_across(self) -> float:
        """The same over the width of the sieve."""
        return evenness(self.strip_flow)

    @property
    def oversize(self) -> float:
        """Part of the mass that runs over the last roller."""
        total = float(self.gap_flow.sum())
        return float(self.gap_flow[-1]) / total if total > 0 else math.nan

    @property
    def mean_place(self) -> float:
        """[m] along the sieve at which a kilogram leaves it, on average."""
        return float(np.average(self.place, weights=self.gap_flow)) if self.gap_flow.any() else math.nan


def evenness(flow: FloatArray) -> float:
    """(sum m)^2 / (n sum m^2): the part of n places that works, if those that work did alike (inverse Simpson index); NaN without flow."""
    square = float((flow**2).sum())
    return float(flow.sum()) ** 2 / (len(flow) * square) if square > 0 else math.nan


def circuit_flow(found: Passes, window: tuple[float, float] | None = None) -> CircuitFlow:
    """Over a window [s]; none: from when pellets have come to the end of the sieve, or in a shorter run over its second half."""
    p, last = found.p, found.times[-1]
    if window is None:
        first = found.times[0]
        window = (max(first, p.filled) if p.filled < last - 0.2 * (last - first) else (first + last) / 2, last)
    low, high = window
    if not high > low:
        raise InputError(f"flows of a circuit need frames over some time (got {len(found.times)}, the last at {last:g} s).")
    during = (found.left > low) & (found.left <= high)
    out, lasted = during[:, -1], high - low
    gaps = range(len(p.gaps) + 1)
    through = [out & (found.gap == k) for k in gaps]
    fell = out & (found.gap < len(p.gaps))
    strips, edges = np.histogram(found.across[fell], STRIPS, (-p.half_width, p.half_width), weights=found.mass[fell])
    parts = {name: [row[1:] for row in found.held[name] if low <= row[0] <= high] for name in STAGES}
    both = {name: [np.concatenate(column) for column in zip(*rows, strict=True)] for name, rows in parts.items()}
    axis = np.array(p.rollers)
    along = np.append(0.0, np.cumsum(np.hypot(*np.diff(axis, axis=0).T)))
    return CircuitFlow(
        window=window,
        flow={name: float(found.mass[during[:, k]].sum()) / lasted for k, name in enumerate(STAGES)},
        held={name: float(mass.sum()) / len(parts[name]) for name, (_, mass) in both.items()},
        sizes={name: SizeShares.of(*two) for name, two in both.items()},
        gap=np.array(p.gaps),
        gap_flow=np.array([found.mass[some].sum() / lasted for some in through]),
        gap_sizes=[SizeShares.of(found.diameter[some], found.mass[some]) for some in through],
        place=np.append((along[1:] + along[:-1]) / 2, along[-1]),
        strip=edges,
        strip_flow=strips / lasted,
        unseen=found.unseen,
    )


def circuit_numbers(found: CircuitFlow) -> dict[str, float]:
    """Of drum, belt and sieve: mass that leaves [kg/s], mass inside [kg], median size by mass [m]; and how the sieve is used."""
    return {
        **{f"{name}_flow": found.flow[name] for name in STAGES},
        **{f"{name}_mass": found.held[name] for name in STAGES},
        **{f"{name}_d50": found.sizes[name].at(0.5) for name in STAGES},
        "oversize_part": found.oversize,
        "evenness_along": found.evenness_along,
        "evenness_across": found.evenness_across,
    }
