"""The free surface: its height, its slope, what belongs to a heap, and how densely grains are packed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from ..array_types import BoolArray, FloatArray
from .snapshot import Snapshot

FEWEST_BINS = 3
CELL = 2.0  # [mean diameters] width of the cells whose highest grains are the surface
MIDDLE = (0.25, 0.75)  # of the length of a sloping surface: away from its ends
SAME_ANGLE = 1e-4  # [rad]: the plane is turned until less is left of the slope,
ON_FLOOR = 0.25  # [diameters]: grains whose lowest point is less above the floor lie directly on it
NEAR = 0.02  # [diameters] of the smaller grain: a gap across which grains still belong together
MOST_TURNS = 10  # or so many times: cells change with the turn, so a little may always be left


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


def carried(snapshot: Snapshot) -> BoolArray:
    """(N,) grains that are free to move and touch something: those in flight are not part of a surface. All free ones if none touch."""
    touching = np.zeros(snapshot.grain_count, bool)
    touching[snapshot.a] = True
    touching[snapshot.b[snapshot.b >= 0]] = True
    if snapshot.merged_into is not None:  # contacts between grains that have merged are not listed
        touching |= snapshot.merged_into >= 0
    touching &= ~snapshot.static
    return touching if touching.any() else ~snapshot.static


@dataclass(frozen=True)
class SurfaceHeight:
    """Heights z [m] of a filling; NaN without grains."""

    level: float  # mean over cells, 2 diameters wide, of the highest point in each
    spread: float  # standard deviation of these
    top: float  # highest point of all
    bottom: float  # lowest point of all
    centre_of_mass: float


def surface_height(snapshot: Snapshot, above: float = -math.inf) -> SurfaceHeight:
    """Of the grains whose centre is higher than ``above`` [m]; grains in flight do not count."""
    s = snapshot
    some = carried(s) & (s.position[:, 2] > above)
    if not some.any():
        return SurfaceHeight(*[math.nan] * 5)
    position, radius, mass = s.position[some], s.radius[some], s.mass[some]
    top = position[:, 2] + radius
    width = CELL * 2 * float(radius.mean())
    cell = np.floor((position[:, :2] - position[:, :2].min(axis=0)) / width).astype(int)
    highest = _highest(cell[:, 0], cell[:, 1], top)
    found = highest[np.isfinite(highest)]
    return SurfaceHeight(
        level=float(found.mean()),
        spread=float(found.std()),
        top=float(top.max()),
        bottom=float((position[:, 2] - radius).min()),
        centre_of_mass=float(mass @ position[:, 2] / mass.sum()),
    )


@dataclass(frozen=True)
class SurfaceLine:
    """A straight line through the middle part of a sloping surface, in an upright plane."""

    angle: float  # [degrees] by which it falls along x; NaN if there is no surface to fit
    offset: float  # [m] of the line from the origin, along its upward normal
    x: FloatArray  # (n,) the points that were fitted [m]
    z: FloatArray  # (n,) [m]


def fit_surface(x: FloatArray, y: FloatArray, z: FloatArray, radius: FloatArray) -> SurfaceLine:
    """Line through the surface of grains at (x, z) in an upright plane and y across it [m].

    The plane is turned until the fitted line is level, so that steep surfaces are seen like flat ones: then the highest points of cells,
    one mean diameter long and two wide, are averaged across the plane and fitted from a quarter to three quarters of the length.
    """
    angle = 0.0
    size = 2 * float(radius.mean()) if len(radius) else 1.0
    for _ in range(MOST_TURNS):
        c, s = math.cos(angle), math.sin(angle)
        along, height = surface_profile(c * x - s * z, y, s * x + c * z + radius, size, MIDDLE)
        if len(along) < FEWEST_BINS:
            return SurfaceLine(math.nan, math.nan, np.zeros(0), np.zeros(0))
        slope, offset = np.polyfit(along, height, 1)
        rest = math.atan(slope)
        angle -= rest
        if abs(rest) < SAME_ANGLE:
            break
    return SurfaceLine(math.degrees(angle), float(offset) * math.cos(rest), c * along + s * height, c * height - s * along)


def surface_profile(
    x: FloatArray, y: FloatArray, top: FloatArray, size: float, part: tuple[float, float] = (0.0, 1.0)
) -> tuple[FloatArray, FloatArray]:
    """Middles of bins of width ``size`` along x and the mean height of the surface there [m], in a ``part`` of the length."""
    if not len(x):
        return np.zeros(0), np.zeros(0)
    start = x.min()
    bins = np.floor((x - start) / size).astype(int)
    highest = _highest(bins, np.floor((y - y.min()) / (CELL * size)).astype(int), top)
    there = np.isfinite(highest)
    count = there.sum(axis=1)
    low, high = (end * len(highest) for end in part)
    middle = np.arange(len(highest)) + 0.5
    some = (count > 0) & (middle >= low) & (middle <= high)
    return start + middle[some] * size, np.where(there, highest, 0.0).sum(axis=1)[some] / count[some]


def _highest(i: NDArray[np.integer], j: NDArray[np.integer], top: FloatArray) -> FloatArray:
    """The largest ``top`` in each cell (i, j); -inf in empty ones."""
    highest = np.full((i.max() + 1, j.max() + 1), -np.inf)
    np.maximum.at(highest, (i, j), top)
    return highest


def heap_slope(snapshot: Snapshot, downhill: tuple[float, float] = (1.0, 0.0)) -> SurfaceLine:
    """The surface of a heap against a wall, or of any slope that falls along the horizontal direction ``downhill`` (x, y)."""
    ex, ey = np.asarray(downhill, float) / np.hypot(*downhill)
    some = carried(snapshot)
    x, y, z = snapshot.position[some].T
    return fit_surface(ex * x + ey * y, ex * y - ey * x, z, snapshot.radius[some])


def resting_grains(velocity: FloatArray, radius: FloatArray, gravity: float) -> BoolArray:
    """(N,) grains slower than a fall of a quarter diameter under ``gravity`` [m/s^2]."""
    return (velocity**2).sum(axis=1) < gravity * radius


def main_heap(position: FloatArray, radius: FloatArray) -> BoolArray:
    """(N,) the largest set of grains that hang together: from one to the next with gaps of 2 % of a diameter at most."""
    if not len(radius):
        return np.zeros(0, bool)
    reach = 2 * (1 + NEAR) * float(radius.max())
    a, b = cKDTree(position).query_pairs(reach, output_type="ndarray").T
    near = np.linalg.norm(position[a] - position[b], axis=1) < radius[a] + radius[b] + 2 * NEAR * np.minimum(radius[a], radius[b])
    a, b = a[near], b[near]
    _, label = connected_components(coo_array((np.ones(len(a), np.int8), (a, b)), shape=(len(radius),) * 2), directed=False)
    return np.asarray(label == np.bincount(label).argmax())


def collapse_slope(position: FloatArray, radius: FloatArray, length: float) -> SurfaceLine:
    """The top of a heap that falls along x, over the floor 0 < x < ``length`` [m] that it stood on before it ran out (MR section 4).

    Grains that do not hang together with the heap, and those directly on the floor z = 0, are left out.
    """
    some = main_heap(position, radius) & (position[:, 0] < length) & (position[:, 2] - radius > ON_FLOOR * 2 * radius)
    x, y, z = position[some].T
    return fit_surface(x, y, z, radius[some])
