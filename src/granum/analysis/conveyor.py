"""A ridge of grains on a belt and what falls off its end: angle of the flanks, and where the discharge goes (MR section 4)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..array_types import FloatArray
from ..checks import InputError
from ..scene.library.conveyor import ConveyorParameters
from .snapshot import Snapshot
from .surface import ON_FLOOR, SurfaceLine, fit_surface


@dataclass(frozen=True)
class RidgeAngle:
    """Inclination [degrees] of both flanks of a ridge along x; NaN where there is no flank."""

    left: float  # of the flank that falls towards +y
    right: float
    height: float  # [m] of the highest point
    flanks: tuple[SurfaceLine, SurfaceLine]  # in the plane across the belt: x is the distance from the ridge's middle

    @property
    def mean(self) -> float:
        """Of both flanks [degrees]."""
        return (self.left + self.right) / 2


def ridge_angle(position: FloatArray, radius: FloatArray, along: tuple[float, float]) -> RidgeAngle:
    """Of the grains whose x lies in ``along`` [m], on a belt whose surface is z = 0; those directly on the belt are left out.

    The surface of each flank is that of :func:`fit_surface`: the highest grains in cells, turned until they are level.
    """
    x, y, z = position.T
    some = (x >= along[0]) & (x <= along[1]) & (z - radius > ON_FLOOR * 2 * radius)
    x, y, z, r = x[some], y[some], z[some], radius[some]
    y = y - (float(np.median(y)) if len(y) else 0.0)
    flanks = tuple(fit_surface(s * y[s * y >= 0], x[s * y >= 0], z[s * y >= 0], r[s * y >= 0]) for s in (1, -1))
    return RidgeAngle(flanks[0].angle, flanks[1].angle, float((z + r).max(initial=0.0)), (flanks[0], flanks[1]))


def conveyor_ridge(snapshot: Snapshot) -> RidgeAngle:
    """Of the middle section of the scene ``conveyor``: between the source and the slope at the end."""
    low, high = _belt(snapshot).middle
    return ridge_angle(snapshot.position, snapshot.radius, (float(low), float(high)))


def conveyor_discharge(snapshots: Iterable[Snapshot]) -> Discharge:
    """Of successive frames of the scene ``conveyor``, which must not be further apart than a grain's fall from that plane to the sink."""
    points, before = [np.zeros((0, 2))], math.nan
    for s in snapshots:
        level = _belt(s).counted
        if s.time > before:  # not of the first: nobody knows since when
            points.append(discharge_points(s.position, s.velocity, level, s.gravity_strength, s.time - before))
        before = s.time
    return Discharge(np.concatenate(points))


def _belt(snapshot: Snapshot) -> ConveyorParameters:
    belt = snapshot.scene.parameters
    if not isinstance(belt, ConveyorParameters):
        raise InputError(f"scene {snapshot.scene.name!r} has no belt. Give the recording of a conveyor (granum run conveyor).")
    return belt


def discharge_points(
    position: FloatArray, velocity: FloatArray, level: float, gravity: float, since: float, time_step: float = 0.0
) -> FloatArray:
    """(n, 2) where grains in free fall came through the plane z = ``level`` [m] during the last ``since`` [s].

    Grains need not be followed: each one's parabola under ``gravity`` [m/s^2] is traced back. States of a run with ``time_step`` [s] lie
    exactly on the parabola whose velocity is that of the middle of the step before, so every grain is found once if all states, ``since``
    apart, are looked at.
    """
    down = -(velocity[:, 2] - 0.5 * gravity * time_step)  # velocities are half a step ahead of the way
    below = level - position[:, 2]
    square = down**2 - 2 * gravity * below
    came = (below >= 0) & (down > 0) & (square > 0)
    ago = np.zeros(len(position))
    ago[came] = 2 * below[came] / (down[came] + np.sqrt(square[came]))
    came &= ago < since
    return position[came, :2] - velocity[came, :2] * ago[came, None]


@dataclass(frozen=True)
class Discharge:
    """Where grains came through a level plane."""

    points: FloatArray  # (n, 2) [m]

    @property
    def centre(self) -> FloatArray:
        """(2,) [m]; NaN without points."""
        return self.points.mean(axis=0) if len(self.points) else np.full(2, math.nan)

    @property
    def spread(self) -> FloatArray:
        """(2,) standard deviations [m]; NaN without points."""
        return self.points.std(axis=0) if len(self.points) else np.full(2, math.nan)

    def distribution(self, cell: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Edges (nx + 1,) and (ny + 1,) [m] of square cells of width ``cell`` [m], and the part (nx, ny) of the grains in each."""
        if not len(self.points):
            return np.zeros(1), np.zeros(1), np.zeros((0, 0))
        low, high = np.floor(self.points.min(axis=0) / cell), np.floor(self.points.max(axis=0) / cell) + 1
        edges = [np.arange(a, b + 1) * cell for a, b in zip(low, high, strict=True)]
        count, _, _ = np.histogram2d(self.points[:, 0], self.points[:, 1], bins=(edges[0], edges[1]))
        return edges[0], edges[1], count / len(self.points)
