"""Images: space that repeats. Positions run on when a grain leaves the cell through a face; differences are taken to the nearest image.

``period`` (2, 3) holds the lengths of an upright cell [m] and one over them, zeros along open axes; or it is None where nothing repeats:
kernels are then compiled without a trace of images.
"""

from __future__ import annotations

import numpy as np

from .._jit import device, kernel
from ..array_types import FloatArray
from ..scene.cell import Cell

IMAGES = 27  # the cell itself, 13 of its neighbours (the first that is not in line lies ahead), and the 13 opposite ones


def period_of(cell: Cell | None) -> FloatArray | None:
    """Lengths of an upright cell for the kernels."""
    if cell is None:
        return None
    period = np.zeros((2, 3))
    period[0, : cell.dim], period[1, : cell.dim] = cell.lengths, 1 / cell.lengths
    return period


@device
def nearest(d, period, axis):
    """A difference of two coordinates [m], to the nearest image."""
    return d - period[0, axis] * np.rint(d * period[1, axis])


@device
def image_step(image, axis):
    """How many lengths along an axis an image is away: -1, 0 or 1. Of images 1 to 13 the first that is not 0 is 1."""
    code = (image + 13) % 27
    return (code // 9 if axis == 0 else (code // 3 if axis == 1 else code)) % 3 - 1


@device
def reaches_in(x, far, step, length):
    """Whether something at x [m] in the cell, moved by ``step`` lengths, still reaches into the cell with ``far`` [m]."""
    if step == 0:
        return True
    return length > 0.0 and -far <= x + step * length <= length + far


@device
def move_rows(low, high, position, first, period, moved):
    """Rows low to high of positions (B, 3 or more) [m], those from row ``first`` on moved into the cell."""
    for k in range(low, high):
        for f in range(position.shape[1]):
            moved[k, f] = position[k, f]
        if k >= first:
            for f in range(3):
                moved[k, f] -= period[0, f] * np.floor(position[k, f] * period[1, f])


@kernel
def move_into_cell(position: FloatArray, first: int, period: FloatArray, moved: FloatArray) -> None:
    """Positions (B, 3 or more) [m] from row ``first`` on, moved into the cell from 0 to its lengths; the rows before stay."""
    move_rows(0, len(position), position, first, period, moved)


def in_cell(position: FloatArray, first: int, period: FloatArray | None) -> FloatArray:
    """The same positions in the cell; themselves if nothing repeats."""
    if period is None:
        return position
    moved = np.empty_like(position)
    move_into_cell(position, first, period, moved)
    return moved
