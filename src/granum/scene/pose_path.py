"""Smooth paths through poses, and tables of poses in text.

Positions follow cubic Hermite curves through the rows. Between two rows the body turns by a vector theta(t) of its own axes that follows
such a curve, too, q(t) = q_i exp(theta), with slopes such that the spins at a row are the same from both sides. Velocities and spins at
the rows are those of the parabola through three rows, and zero where the body stands on one side.
"""

from __future__ import annotations

import csv
from functools import cached_property
from pathlib import Path

import numpy as np

from ..arithmetic import cos, length, sin
from ..array_types import BoolArray, FloatArray
from ..checks import InputError
from ..state.rotation import conjugate, quaternion_product, quaternions, rotation_vectors

COLUMNS = ("t", "x", "y", "z", "qw", "qx", "qy", "qz")
LOOKS = 16  # between two rows, for the fastest speed


class PosePath:
    """The path through poses at ``time`` (n,) [s]: ``position`` (n, 3) [m] and ``orientation`` (n, 4), quaternions of any length."""

    def __init__(self, time: FloatArray, position: FloatArray, orientation: FloatArray) -> None:
        self._time, self._position = time, position
        self._orientation = orientation / length(orientation)[:, None]
        interval = np.diff(time)[:, None]
        way = np.diff(position, axis=0)
        self._turn = rotation_vectors(quaternion_product(conjugate(self._orientation[:-1]), self._orientation[1:]))
        self._velocity = _slopes(way / interval, interval)
        spin = _slopes(self._turn / interval, interval)  # in the body's axes
        self._turn_start, self._turn_end = spin[:-1], _rate_of_vector(self._turn, spin[1:])

    def pose(self, time: float) -> tuple[FloatArray, FloatArray]:
        """Position [m] and orientation at ``time`` [s]."""
        found = self._poses(np.array([time]))
        return found[0][0], found[1][0]

    def _poses(self, time: FloatArray) -> tuple[FloatArray, FloatArray]:
        t = self._time
        time = np.minimum(np.maximum(time, t[0]), t[-1])
        k = np.minimum(np.searchsorted(t, time, side="right") - 1, len(t) - 2)
        interval = (t[k + 1] - t[k])[:, None]
        u = (time - t[k])[:, None] / interval
        end, out, back = u * u * (3.0 - 2.0 * u), u * (1.0 - u) * (1.0 - u), u * u * (u - 1.0)
        way = self._position[k + 1] - self._position[k]
        position = self._position[k] + end * way + interval * (out * self._velocity[k] + back * self._velocity[k + 1])
        turn = end * self._turn[k] + interval * (out * self._turn_start[k] + back * self._turn_end[k])
        whole = u[:, 0] == 1.0  # at a row to the bit
        position[whole] = self._position[k[whole] + 1]
        turned = quaternion_product(self._orientation[k], quaternions(turn))
        turned[whole] = self._orientation[k[whole] + 1]
        return position, turned

    @cached_property
    def fastest(self) -> tuple[FloatArray, FloatArray]:
        """Speeds (n,) [m/s] and spins (n, 3) [rad/s] on the way, as means between places close to each other, and at the rows."""
        if self._time[-1] <= 0.0:
            return np.zeros(1), np.zeros((1, 3))
        part = np.arange(LOOKS) / LOOKS
        time = np.append((self._time[:-1, None] + part * np.diff(self._time)[:, None]).ravel(), self._time[-1])
        position, turned = self._poses(time)
        interval = np.diff(time)
        speeds = np.concatenate([length(np.diff(position, axis=0)) / interval, length(self._velocity)])
        return speeds, spins_between(turned) / interval[:, None]


def _slopes(rate: FloatArray, interval: FloatArray) -> FloatArray:
    """(n, 3) rates at the rows, from the mean ones (n - 1, 3) between them: those of parabolas, and zero where nothing moves beside."""
    if len(rate) == 1:
        return np.concatenate([rate, rate])
    before, after = interval[:-1], interval[1:]
    inner = (rate[:-1] * after + rate[1:] * before) / (before + after)
    still: BoolArray = ~(rate != 0.0).any(axis=1)
    inner[still[:-1] | still[1:]] = 0.0
    first = rate[0] + (rate[0] - rate[1]) * (interval[0] / (interval[0] + interval[1]))
    last = rate[-1] + (rate[-1] - rate[-2]) * (interval[-1] / (interval[-1] + interval[-2]))
    first, last = rate[0] if still[:2].any() else first, rate[-1] if still[-2:].any() else last
    return np.concatenate([[first], inner, [last]])


def _rate_of_vector(turn: FloatArray, spin: FloatArray) -> FloatArray:
    """(n, 3) rates of rotation vectors ``turn`` (n, 3) [rad] of bodies with these spins (n, 3), both in the body's axes."""
    size = length(turn)
    small = size < 1e-3
    safe = np.where(small, 1.0, size)
    factor = np.where(small, 1.0 / 12.0 + size * size / 720.0, (1.0 - 0.5 * safe * cos(0.5 * safe) / sin(0.5 * safe)) / (safe * safe))
    across = np.cross(turn, spin)
    return np.asarray(spin + 0.5 * across + factor[:, None] * np.cross(turn, across))


def spins_between(orientation: FloatArray) -> FloatArray:
    """(n - 1, 3) rotation vectors [rad], world axes, from each of (n, 4) orientations to the next."""
    return rotation_vectors(quaternion_product(orientation[1:], conjugate(orientation[:-1])))


def read_poses(path: Path) -> FloatArray:
    """(n, 4) or (n, 8) rows of a table in text, in the order of ``COLUMNS``."""
    if not path.is_file():
        raise InputError(f"motion file {str(path)!r} does not exist")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = [
                (number, line)
                for number, line in enumerate(csv.reader(file), 1)
                if any(map(str.strip, line)) and line[0].lstrip()[:1] != "#"
            ]
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"motion file {str(path)!r} is not a table in UTF-8 text: {error}") from None
    if not lines:
        raise InputError(f"motion file {str(path)!r} is empty")
    names = [name.strip() for name in lines[0][1]]
    order = list(range(len(names)))
    if _number(names[0]) is None:
        if sorted(names) not in (sorted(COLUMNS[:4]), sorted(COLUMNS)):
            raise InputError(
                f"motion file {str(path)!r}: the names of the columns must be {', '.join(COLUMNS[:4])}, and perhaps "
                f"{', '.join(COLUMNS[4:])} (got {', '.join(names)})"
            )
        order = [names.index(name) for name in COLUMNS[: len(names)]]
        lines = lines[1:]
    elif len(names) not in (4, 8):
        raise InputError(
            f"motion file {str(path)!r} must have 4 or 8 columns, {', '.join(COLUMNS)} (got {len(names)} in line {lines[0][0]})"
        )
    rows = []
    for number, line in lines:
        if len(line) != len(order):
            raise InputError(
                f"motion file {str(path)!r}, line {number}: must have {len(order)} columns as the first line (got {len(line)})"
            )
        values = [_number(text) for text in line]
        if None in values:
            k = values.index(None)
            raise InputError(f"motion file {str(path)!r}, line {number}: column {k + 1} must be a number (got {line[k].strip()!r})")
        rows.append([values[k] for k in order])
    return np.array(rows, float).reshape(-1, len(order))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
