"""What is there at the start: all placed grains as arrays, and the places where emitters put theirs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..arithmetic import dot
from ..array_types import BoolArray, FloatArray, LongArray
from .emitter import BoxSource, Disc, Emitter
from .extent import cross
from .scene import Scene

STEPS = (0.0, 0.25, 0.5, 0.75, 1.0)  # along an edge of a source


@dataclass(frozen=True)
class Placed:
    """All grains of a scene's blocks."""

    position: FloatArray
    """(n, 3) [m]"""
    radius: FloatArray
    """(n,) [m]"""
    velocity: FloatArray
    """(n, 3) [m/s]"""
    spin: FloatArray
    """(n, 3) [rad/s]"""
    static: BoolArray
    """(n,) those that never move, or only with the body that they are fixed to."""
    block: LongArray
    """(n,) which block of the scene they belong to."""

    @classmethod
    def of(cls, scene: Scene) -> Placed:
        blocks = [block.place() for block in scene.grains]
        number = np.array([len(position) for position, *_ in blocks], np.int64)
        none = np.zeros((0, 3))
        position, velocity, spin = (np.concatenate([none, *(block[k] for block in blocks)]) for k in (0, 2, 3))
        return cls(
            position,
            0.5 * np.concatenate([np.zeros(0), *(block[1] for block in blocks)]),
            velocity,
            spin,
            np.repeat(np.array([block.held for block in scene.grains], bool), number),
            np.repeat(np.arange(len(number)), number),
        )


def source_points(emitter: Emitter) -> FloatArray:
    """(n, 3) [m]: the middle of a source, its ends, and some places in between."""
    source = emitter.source
    if isinstance(source, Disc):
        n = np.asarray(source.normal)
        axis = np.eye(3)[int(np.argmin(np.abs(n)))]
        u = axis - dot(axis, n) * n
        u = u / math.sqrt(float(dot(u, u)))
        steps = np.array([(0.0, 0.0), (0.5, 0.0), (-0.5, 0.0), (0.0, 0.5), (0.0, -0.5)]) * source.diameter
        return np.asarray(source.centre) + steps[:, :1] * u + steps[:, 1:] * cross(n, u)
    if isinstance(source, BoxSource):
        low, high = np.asarray(source.lower), np.asarray(source.upper)
        return np.array([low + np.array([a, b, c]) * (high - low) for a in STEPS for b in STEPS for c in STEPS])
    corner, u, v = (np.asarray(edge) for edge in (source.corner, source.edge_u, source.edge_v))
    return np.array([corner + a * u + b * v for a in STEPS for b in STEPS])
