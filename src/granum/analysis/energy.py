"""Kinetic energy in units of what it takes to lift all grains by their diameter."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..array_types import FloatArray
from .snapshot import Snapshot


def kinetic_energy(snapshot: Snapshot) -> float:
    """[J] of the grains, their rotation included."""
    s = snapshot
    square = (s.velocity**2).sum(axis=1) + 0.4 * s.radius**2 * (s.spin**2).sum(axis=1)
    return float(0.5 * np.sum(s.mass[~s.static] * square[~s.static]))


def scaled_kinetic_energy(snapshot: Snapshot) -> float:
    """Kinetic energy over sum(m g d), which is N m g d for equal grains; NaN without grains or gravity."""
    s = snapshot
    unit = s.gravity_strength * float(np.sum((s.mass * 2 * s.radius)[~s.static]))
    return kinetic_energy(s) / unit if unit > 0 else math.nan


@dataclass(frozen=True)
class EnergySeries:
    """Kinetic energy in time."""

    time: FloatArray  # (F,) [s]
    kinetic: FloatArray  # (F,) [J]
    scaled: FloatArray  # (F,) over N m g d


def energy_series(snapshots: Iterable[Snapshot]) -> EnergySeries:
    """Of the frames of a run."""
    rows = [(s.time, kinetic_energy(s), scaled_kinetic_energy(s)) for s in snapshots]
    return EnergySeries(*np.array(rows, float).reshape(-1, 3).T)
