"""A packing: grains in a periodic cell that push each other apart. Nothing in it moves by itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arithmetic import arctan2, mean, octave, power, product, total
from ..array_types import FloatArray, LongArray
from ..checks import InputError, check_seed, expect, finite_positive
from ..contact.power import HOOKE, PowerLaw
from ..memory import check_grains
from ..notebook import Pictured
from ..scene.cell import Cell
from ..scene.sizes import Discrete, Sizes
from .spellings import read_count, read_law, read_sizes

FEWEST = 3  # grains of a packing
BIDISPERSE = Discrete(diameters=(1.0, 1.4))  # equal numbers of both: does not crystallise
WIDEST = 1e3  # largest diameter over smallest: beyond, small grains are dust in the gaps of a few large ones
CLOSEST_BALLS = math.pi / math.sqrt(18)  # packing fraction of the densest packing of equal balls
ROUNDING = 1e-12
GRAIN = 200  # bytes of a grain of a packing and its neighbours


@dataclass(frozen=True, repr=False)
class Packing(Pictured):
    """N grains of d = 2 or 3 dimensions."""

    cell: Cell
    position: FloatArray  # (N, d) [m]
    radius: FloatArray  # (N,) [m]
    law: PowerLaw = HOOKE

    def __post_init__(self) -> None:
        expect("cell", self.cell, Cell)
        expect("law", self.law, PowerLaw)
        shape = np.shape(self.position)
        if len(shape) != 2 or shape[1] not in (2, 3) or shape[1] != self.cell.dim:
            raise InputError(
                f"position must have shape (N, 2) or (N, 3), as many columns as the cell has directions ({self.cell.dim}); has {shape}."
            )
        if shape[0] < FEWEST:
            raise InputError(f"a packing must have at least {FEWEST} grains (got {shape[0]}). Take more.")
        if np.shape(self.radius) != shape[:1]:
            raise InputError(f"radius must have shape ({shape[0]},), one for each grain; has {np.shape(self.radius)}.")
        if not (np.isfinite(self.position).all() and np.isfinite(self.radius).all() and np.min(self.radius) > 0):
            raise InputError("positions must be finite, and radii finite and above 0 m.")

    def __repr__(self) -> str:
        cell = " x ".join(f"{length:.4g}" for length in self.cell.lengths)
        return f"Packing({self.count} grains, phi = {self.phi:.6g}, cell of {cell} m, alpha = {self.law.alpha:g})"

    @property
    def count(self) -> int:
        """N."""
        return len(self.radius)

    @property
    def dim(self) -> int:
        """d."""
        return self.position.shape[1]

    @property
    def phi(self) -> float:
        """Packing fraction [-]: volume of all grains over that of the cell, overlaps counted twice (EM (1))."""
        return total(ball_volume(self.dim, self.radius)) / self.cell.volume

    @property
    def diameter(self) -> float:
        """Mean diameter [m]."""
        return 2 * mean(self.radius)

    @property
    def force_scale(self) -> float:
        """[N] of two mean grains pressed into one: k d^(alpha - 1). Tolerances are parts of it."""
        return self.law.stiffness * power(self.diameter, self.law.alpha - 1)

    @property
    def pressure_scale(self) -> float:
        """[N/m^(d - 1)] of that force on a mean grain: k d^(alpha - d)."""
        return self.force_scale / self.diameter / (self.diameter if self.dim == 3 else 1.0)

    def at(self, phi: float) -> Packing:
        """The packing with all radii grown (or shrunk) to the packing fraction ``phi``; grains stay where they are."""
        return self.grown(power(finite_positive("phi", phi) / self.phi, 1 / self.dim))

    def grown(self, factor: float) -> Packing:
        """The packing with all radii times ``factor``."""
        return replace(self, radius=self.radius * factor)

    def moved(self, position: FloatArray) -> Packing:
        """The same grains in other places, wrapped into the cell."""
        return replace(self, position=self.cell.wrap(position))

    def deformed(self, gradient: FloatArray) -> Packing:
        """Cell and grains after the affine motion x -> ``gradient`` x; the cell's vectors are kept from leaning over."""
        cell = self.cell.deformed(gradient).shortest()
        return replace(self, cell=cell, position=cell.wrap(product(self.position, np.asarray(gradient).T)))


def ball_volume(dim: int, radius: FloatArray | float) -> FloatArray:
    """[m^dim] of discs or balls."""
    r = np.asarray(radius)
    return np.asarray(math.pi * r * r if dim == 2 else 4 / 3 * math.pi * r * r * r)


def random_packing(
    count: int,
    phi: float,
    *,
    dim: int = 2,
    sizes: Sizes | str | float | Sequence[float] = BIDISPERSE,
    law: PowerLaw | str = HOOKE,
    seed: int = 0,
    length: float = 1.0,
) -> Packing:
    """``count`` grains anywhere in a square or cubic cell of ``length`` [m], with radii in the proportions of ``sizes`` that give ``phi``.

    ``sizes`` and ``law`` may be written as on the command line, ``"lognormal:0.2"`` and ``"hertz"``, ``sizes`` also as a list of
    diameters. Of a few sizes every one gets its exact share of the grains. The same seed gives the same grains, in order along the cell.
    """
    sizes, law, count = read_sizes(sizes), read_law(law), read_count(count, None, FEWEST)
    if count < FEWEST:
        raise InputError(f"count must be at least {FEWEST} grains (got {count}).")
    if dim not in (2, 3):
        raise InputError(f"dim must be 2 or 3 (got {dim}).")
    check_grains(count, GRAIN)
    rng = np.random.default_rng(check_seed(seed))
    diameter = shares(sizes, rng, count)
    check_fraction(phi, dim, diameter)
    cell = Cell(vectors=(finite_positive("length", length, "m"),) * dim)
    position = rng.random((count, dim)) * length
    order = along_cell(position / length)
    return Packing(cell, position[order], diameter[order] / 2, law).at(phi)


def along_cell(part: FloatArray) -> LongArray:
    """(N,) order of grains at the parts (N, d) of the cell's lengths, in which neighbours in space are near in memory."""
    count, dim = part.shape
    return np.lexsort(np.floor(part * power(count, 1 / dim) / 2).T)


def shares(sizes: Sizes, rng: np.random.Generator, count: int) -> FloatArray:
    """(count,) diameters: of a discrete distribution the exact numbers, as near as whole grains allow, in random order."""
    if not isinstance(sizes, Discrete):
        return sizes.sample(rng, count)
    weight = np.asarray(sizes.fractions or (1.0,) * len(sizes.diameters))
    ends = np.rint(np.cumsum(weight) / total(weight) * count).astype(int)
    return rng.permutation(np.repeat(sizes.diameters, np.diff(ends, prepend=0)))


def check_fraction(phi: float, dim: int, diameter: FloatArray) -> float:
    """``phi`` if grains of these diameters could have it without being crushed, else a refusal; also of sizes too far apart."""
    if not diameter.max() <= WIDEST * diameter.min():
        raise InputError(
            f"sizes must be within a factor of {WIDEST:g} (got diameters from {diameter.min():.3g} to {diameter.max():.3g}). "
            "Take a narrower distribution."
        )
    most = closest(dim, float(diameter.min() / diameter.max()))
    if not 0 < phi <= most:
        raise InputError(
            f"phi must be above 0 and at most {most:.4g}: no packing of these sizes in {dim} dimensions is closer (got {phi:g}). "
            f"Random packings jam near {0.84 if dim == 2 else 0.64}."
        )
    return phi


def closest(dim: int, ratio: float) -> float:
    """A packing fraction that no grains of sizes from ``ratio`` to 1 can exceed.

    Of discs Florian's bound: nowhere denser than one smallest disc between two largest. Of balls that of equal ones, with another such
    packing in its gaps for every factor of two in size: not sharp, but nothing better is known for all sizes.
    """
    if dim == 2:
        q = ratio
        return (math.pi * q * q + 2 * (1 - q * q) * arctan2(q, math.sqrt(1 + 2 * q))) / (2 * q * math.sqrt(2 * q + 1)) + ROUNDING
    return 1 - power(1 - CLOSEST_BALLS, 1 + int(octave(1 / ratio * (1 - ROUNDING))))
