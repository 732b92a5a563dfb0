"""The types of NumPy arrays that signatures speak of. Importing them costs nothing, unlike the compiler's module."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
LongArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
IndexArray = NDArray[np.integer]
"""Whole numbers of any width, as they come from files."""
