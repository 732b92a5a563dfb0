"""The free surface of a pile, and how densely grains are packed."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

SECTORS = 8            # around the axis: the surface is the mean of their highest grains
FLANK = (0.15, 0.85)   # of the height: between the foot and the rounded top
FEWEST_BINS = 3


class PileShape:
    """Height [m] and angle of repose [degrees] of a pile on the plane z = 0.

    ``compute`` sorts the grains into rings one (mean) diameter wide around the pile's axis and each ring into sectors; the mean over the
    sectors of the highest point is the ``surface`` [m] over ``radius`` [m]. A straight line through its flank, weighted with the number
    of sectors, has the slope of the ``angle``; NaN where the pile is too small for a flank.
    """

    def compute(self, position: FloatArray, radius: FloatArray) -> PileShape:
        """From the centres (N, 3) [m] and radii (N,) [m] of the grains at rest; returns itself."""
        self.height = self.angle = math.nan
        self.radius = self.surface = np.zeros(0)
        if not len(position):
            return self
        top = position[:, 2] + radius
        self.height = float(top.max())
        width = 2 * float(radius.mean())
        x, y = (position[:, :2] - np.median(position[:, :2], axis=0)).T
        ring = (np.hypot(x, y) / width).astype(int)
        sector = ((np.arctan2(y, x) / (2 * np.pi) + 0.5) * SECTORS).astype(int) % SECTORS
        highest = np.full((ring.max() + 1, SECTORS), -np.inf)
        np.maximum.at(highest, (ring, sector), top)
        there = np.isfinite(highest)
        count = there.sum(axis=1)
        some = count > 0
        self.radius = ((np.arange(len(highest)) + 0.5) * width)[some]
        self.surface = np.where(there, highest, 0.0).sum(axis=1)[some] / count[some]
        self.angle = self._fit(count[some])
        return self

    def _fit(self, weight: NDArray[np.integer]) -> float:
        low, high = (part * self.height for part in FLANK)
        flank = (self.surface > low) & (self.surface < high)
        if np.count_nonzero(flank) < FEWEST_BINS:
            flank = self.surface < high
        if np.count_nonzero(flank) < FEWEST_BINS:
            return math.nan
        slope = np.polyfit(self.radius[flank], self.surface[flank], 1, w=np.sqrt(weight[flank]))[0]
        return math.degrees(math.atan(-slope))


def bulk_packing_fraction(position: FloatArray, radius: FloatArray, area: float) -> float:
    """Solid fraction [-] of grains in an upright container of ``area`` [m^2], between one diameter above the floor and two below the top.

    Spheres count with the part of them that lies between the two heights. NaN if that leaves less than two diameters.
    """
    if not len(position):
        return math.nan
    d = 2 * float(radius.max())
    z = position[:, 2]
    low, high = float((z - radius).min()) + d, float(np.quantile(z + radius, 0.95)) - 2 * d
    if high - low < 2 * d:
        return math.nan
    u, v = (np.clip((bound - z) / radius, -1.0, 1.0) for bound in (low, high))
    volume = np.pi * radius**3 * ((v - v**3 / 3) - (u - u**3 / 3))
    return float(volume.sum() / (area * (high - low)))
