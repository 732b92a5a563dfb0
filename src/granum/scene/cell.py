"""The periodic cell: space that repeats along one to three vectors."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any

import numpy as np
from pydantic import PlainSerializer, PlainValidator

from ..arithmetic import determinant, dot, inverse, length, product
from ..array_types import FloatArray
from ..records import Record
from .arrays import read_array

FLATTEST = 1e-6  # a cell whose vectors span less than this part of their box is refused


def _vectors(value: Any) -> FloatArray:
    array = read_array(value)
    if array.ndim == 1:
        if (array < 0).any():
            raise ValueError(f"lengths must be above 0, has {array.tolist()}")
        array = np.diag(array)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or not 1 <= len(array) <= 3:
        raise ValueError(f"must be 1 to 3 lengths, or as many vectors of that dimension, has shape {array.shape}")
    if not determinant(array) > FLATTEST * np.prod(length(array)):
        raise ValueError(f"must span a volume, right-handed, has {array.tolist()}")
    array.setflags(write=False)
    return array


Vectors = Annotated[FloatArray, PlainValidator(_vectors), PlainSerializer(lambda a: a.tolist())]


class Cell(Record):
    """Space repeats along the first d axes: everything at x is also at x + any sum of ``vectors``.

    >>> Cell(vectors=(1.0, 1.0)).sheared(0.1).vectors
    array([[1. , 0. ],
           [0.1, 1. ]])
    """

    vectors: Vectors
    """(d, d) [m], one vector a row, in the first d of x, y, z; d lengths stand for an upright box. The other axes are open."""

    @property
    def dim(self) -> int:
        """d: how many axes repeat."""
        return len(self.vectors)

    @property
    def volume(self) -> float:
        """[m^d]: of a cell that repeats in two directions it is an area."""
        return float(determinant(self.vectors))

    @property
    def upright(self) -> bool:
        """Whether the vectors lie along the axes."""
        return not (self.vectors - np.diag(self.lengths)).any()

    @property
    def lengths(self) -> FloatArray:
        """(d,) [m] of the box, along the axes."""
        return np.diagonal(self.vectors).copy()

    @cached_property
    def inverse(self) -> FloatArray:
        """(d, d): x @ inverse are the coordinates of x along the vectors."""
        return inverse(self.vectors)

    @property
    def heights(self) -> FloatArray:
        """(d,) [m] distance of the two faces across each vector."""
        return np.asarray(1 / length(self.inverse.T))

    def deformed(self, gradient: FloatArray) -> Cell:
        """The cell after the affine motion x -> ``gradient`` x."""
        return Cell(vectors=product(self.vectors, np.asarray(gradient).T))

    def sheared(self, strain: float) -> Cell:
        """Simple shear in the x-y plane: x moves by ``strain`` y."""
        return self.deformed(simple_shear(self.dim, strain))

    def stretched(self, strain: float) -> Cell:
        """Pure shear at the same volume: x is stretched by 1 + ``strain``, y shortened as much (EM 4.3)."""
        return self.deformed(pure_shear(self.dim, strain))

    def shortest(self) -> Cell:
        """The same lattice with vectors that lean as little as they can: each is cut by those before it, from the last to the second."""
        vectors = self.vectors.copy()
        lower = _turned(vectors)
        for row in range(1, self.dim):
            for other in reversed(range(row)):
                times = np.rint(lower[row, other] / lower[other, other])
                vectors[row] -= times * vectors[other]
                lower[row] -= times * lower[other]
        return Cell(vectors=vectors)

    def wrap(self, position: FloatArray) -> FloatArray:
        """Positions (N, d or more) [m] moved into the cell along its vectors; other axes are left as they are."""
        wrapped = np.array(position, float)
        part = product(wrapped[:, : self.dim], self.inverse)
        wrapped[:, : self.dim] = product(part - np.floor(part), self.vectors)
        return wrapped

    def nearest(self, branch: FloatArray) -> FloatArray:
        """Vectors (N, d or more) [m] between two things, to the nearest image of the second; of a cell that leans as little as it can."""
        short = np.array(branch, float)
        short[:, : self.dim] -= product(np.rint(product(short[:, : self.dim], self.inverse)), self.vectors)
        return short


def _turned(vectors: FloatArray) -> FloatArray:
    """The same vectors, turned so that the first lies along x, the second in the x-y plane."""
    lower, axes = np.zeros_like(vectors), np.zeros_like(vectors)
    for row in range(len(vectors)):
        rest = vectors[row]
        for k in range(row):
            lower[row, k] = dot(rest, axes[k])
            rest = rest - lower[row, k] * axes[k]
        lower[row, row] = length(rest)
        axes[row] = rest / lower[row, row]
    return lower


def simple_shear(dim: int, strain: float) -> FloatArray:
    """(dim, dim) deformation gradient: x moves by ``strain`` y."""
    gradient = np.eye(dim)
    gradient[0, 1] = strain
    return gradient


def pure_shear(dim: int, strain: float) -> FloatArray:
    """(dim, dim) deformation gradient: x grows by 1 + ``strain``, y shrinks as much, the volume stays."""
    gradient = np.eye(dim)
    gradient[0, 0], gradient[1, 1] = 1 + strain, 1 / (1 + strain)
    return gradient
