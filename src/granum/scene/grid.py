"""Where the grid of cells begins that grains are sorted by."""

from __future__ import annotations

import numpy as np

from ..array_types import FloatArray
from .grains import Lattice
from .scene import Scene


def grid_origin(scene: Scene) -> FloatArray:
    """(3,) where the grid of cells begins that grains are sorted by [m]: a point near the grains that the scene alone decides.

    Who searches, where grains are by then and which of them are still there has no say in it, so their order in memory has none either.
    """
    if scene.cell is not None:
        return np.zeros(3)
    for block in scene.grains:
        if isinstance(block, Lattice):
            return np.array(block.lower, float)
        if len(block.position):
            return np.array(block.position[0], float)
    for emitter in scene.emitters:
        return np.array(emitter.source.points(np.random.default_rng(0), 1)[0], float)
    return np.zeros(3)
