"""A pile on a level plane: its height, the profile of its surface, and the angle of its flank with a standard error."""

from __future__ import annotations

import math

import numpy as np

from ..array_types import BoolArray, FloatArray
from .snapshot import Snapshot
from .surface import main_heap, resting_grains

SECTORS = 8  # around the axis: each has a flank of its own, and their scatter tells how well the angle is known
FLANK = (0.15, 0.85)  # of the height: between the foot and the rounded top,
LOWEST = 1.5  # [mean diameters] and at least so high: one layer of grains is no flank
LOWEST_PILE = 5.0  # [mean diameters]: a lower pile has no angle that can be told
FEWEST_RINGS = 3  # of a line
FEWEST_SECTORS = 3  # of a standard error
UPRIGHT = 1 - 1e-6  # least cosine of the angle between gravity and -z, where that is told at all: a tenth of a degree


class PileShape:
    """Height [m] and angle of repose [degrees] of a pile on level ground; z is up.

    ``compute`` takes the largest set of grains that hang together, the ``heap``; the others are strays. Its lowest point is the ``ground``
    [m], above which all heights are. It sorts the heap into rings one (mean) diameter wide around its axis, the rings into sectors and
    these into cells about one diameter long; the mean of the highest points of the cells is the ``surface`` [m] over ``radius`` [m]. The
    ``flank`` is the rings that follow each other from 0.85 of the height down to 0.15 of it, or 1.5 diameters if that is higher. A straight
    line through it has the slope of the ``angle``; ``error`` [degrees] is the standard error of its mean over the sectors. NaN where there
    is no such number, and then ``lack`` says why.
    """

    def compute(self, position: FloatArray, radius: FloatArray) -> PileShape:
        """From the centres (N, 3) [m] and radii (N,) [m] of the grains at rest; returns itself."""
        self.ground = self.height = self.angle = self.error = math.nan
        self.slope = self.offset = math.nan  # height = offset + slope radius
        self.low, self.high = math.nan, math.nan  # [m] between which the flank lies
        self.sectors = 0
        self.centre: FloatArray = np.zeros(2)
        self.radius: FloatArray = np.zeros(0)
        self.surface: FloatArray = np.zeros(0)
        self.surface_error: FloatArray = np.zeros(0)
        self.flank: BoolArray = np.zeros(0, bool)  # rings that are fitted
        self.heap = main_heap(position, radius)
        self.lack: str | None = "there are no grains at rest"
        if self.heap.any():
            self.lack = self._measure(position[self.heap], radius[self.heap])
        return self

    @property
    def strays(self) -> int:
        """Grains that do not hang together with the heap."""
        return int(np.count_nonzero(~self.heap))

    def _measure(self, position: FloatArray, radius: FloatArray) -> str | None:
        """Of the heap alone; returns why there is no angle."""
        self.ground = float((position[:, 2] - radius).min())
        top = position[:, 2] + radius - self.ground
        d, self.height = 2 * float(radius.mean()), float(top.max())
        self.diameter = d
        self.low, self.high = max(FLANK[0] * self.height, LOWEST * d), FLANK[1] * self.height
        core = top > self.low
        self.centre = np.median(position[core if core.any() else slice(None), :2], axis=0)
        sectors = _sector_heights(position[:, :2] - self.centre, top, d)  # (rings, sectors) [m], NaN where there is none
        some = np.isfinite(sectors).any(axis=1)
        sectors, self.radius = sectors[some], (np.flatnonzero(some) + 0.5) * np.float64(d)
        count = np.isfinite(sectors).sum(axis=1)
        self.surface = np.nanmean(sectors, axis=1)
        spread = np.sqrt(np.nansum((sectors - self.surface[:, None]) ** 2, axis=1) / np.maximum(count - 1, 1))
        self.surface_error = np.where(count > 1, spread / np.sqrt(count), np.nan)
        self.flank = np.zeros(len(self.radius), bool)
        if self.height < LOWEST_PILE * d:
            return f"too small to tell: the heap is {self.height / d:.1f} diameters high, and an angle needs {LOWEST_PILE:g}"
        self.flank = _connected(self.surface, self.low, self.high)
        if np.count_nonzero(self.flank) < FEWEST_RINGS:
            return (
                f"the heap has no flank: fewer than {FEWEST_RINGS} rings between {self.low / d:.1f} and {self.high / d:.1f} diameters high"
            )
        return self._fit(sectors[self.flank])

    def _fit(self, sectors: FloatArray) -> str | None:
        """A line through each sector that is whole, weighted with the size of its rings, and through all of them together."""
        radius = self.radius[self.flank]
        whole = np.isfinite(sectors).all(axis=0)
        self.sectors = int(whole.sum())
        if not self.sectors:
            return "the heap has no flank: none of its sectors is without a gap"
        slope, offset = np.polyfit(radius, sectors[:, whole], 1, w=np.sqrt(radius))
        self.slope, self.offset = float(slope.mean()), float(offset.mean())
        self.angle = math.degrees(math.atan(-self.slope))
        if self.sectors >= FEWEST_SECTORS:
            self.error = math.degrees(float(slope.std(ddof=1)) / math.sqrt(self.sectors) / (1 + self.slope**2))
        return None


def _sector_heights(x: FloatArray, top: FloatArray, d: float) -> FloatArray:
    """(rings, sectors) mean height [m] of the highest points of the cells there, which are about as long as wide; NaN in empty ones."""
    ring = (np.hypot(x[:, 0], x[:, 1]) / d).astype(int)
    turn = (np.arctan2(x[:, 1], x[:, 0]) / (2 * np.pi) + 0.5) * SECTORS
    sector = turn.astype(int) % SECTORS
    cells = np.maximum(1, np.round(2 * np.pi * (np.arange(ring.max() + 1) + 0.5) / SECTORS)).astype(int)  # of a sector, by ring
    cell = np.minimum(((turn - np.floor(turn)) * cells[ring]).astype(int), cells[ring] - 1)
    highest = np.full((len(cells), SECTORS, cells.max()), np.nan)
    np.fmax.at(highest, (ring, sector, cell), top)
    count = np.isfinite(highest).sum(axis=2)
    return np.where(count > 0, np.nansum(highest, axis=2) / np.maximum(count, 1), np.nan)


def _connected(surface: FloatArray, low: float, high: float) -> BoolArray:
    """(rings,) those that follow each other outwards from the last one above ``high`` to the first one below ``low``."""
    above = np.flatnonzero(surface >= high)
    start = above[-1] + 1 if len(above) else 0
    below = np.flatnonzero(surface[start:] <= low)
    flank = np.zeros(len(surface), bool)
    flank[start : start + below[0] if len(below) else None] = True
    return flank


def pile_shape(snapshot: Snapshot) -> PileShape:
    """Of the grains that are not on their way down: slower than a fall of a quarter diameter."""
    resting = pile_grains(snapshot)
    shape = PileShape().compute(snapshot.position[resting], snapshot.radius[resting])
    if shape.lack is None and snapshot.gravity @ [0, 0, -1] < UPRIGHT * snapshot.gravity_strength:
        shape.angle = shape.error = math.nan
        shape.lack = "gravity does not point along -z, and the angle is measured against level planes z = constant"
    return shape


def pile_grains(snapshot: Snapshot) -> BoolArray:
    """(N,) grains that :func:`pile_shape` looks at."""
    return resting_grains(snapshot.velocity, snapshot.radius, snapshot.gravity_strength) & ~snapshot.static
