"""Random numbers that are not evenly spread, from a generator's even ones, which are whole numbers and the same everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array_types import FloatArray
from .functions import cos, log


def uniform(rng: np.random.Generator, lower: Any, upper: Any, shape: int | tuple[int, ...]) -> FloatArray:
    """Evenly spread from ``lower`` to ``upper``."""
    low = np.asarray(lower, np.float64)
    return np.asarray(low + (np.asarray(upper, np.float64) - low) * rng.random(shape))


def normal(rng: np.random.Generator, shape: int | tuple[int, ...]) -> FloatArray:
    """Standard normal, by the method of Box and Muller."""
    even = rng.random((2, *np.atleast_1d(shape)))
    return np.asarray(np.sqrt(-2.0 * log(1.0 - even[0])) * cos(2.0 * np.pi * even[1]))
