"""What a grain is part of, as recordings and snapshots tell it: by wall bodies instead of carriers."""

from __future__ import annotations

import numpy as np

from ..array_types import IntArray


def by_wall_body(aggregate: IntArray, carrier_body: IntArray, walls: int) -> IntArray:
    """(N,) -1 of free grains, the wall body (below ``walls``) that holds a grain, or ``walls`` plus the number of its aggregate.

    ``aggregate`` (N,) counts carriers first; ``carrier_body`` is the wall body of each, which may carry on several belts.
    """
    carriers = len(carrier_body)
    found = np.where(aggregate < 0, -1, aggregate - carriers + walls)
    held = (aggregate >= 0) & (aggregate < carriers)
    found[held] = carrier_body[aggregate[held]]
    return found
