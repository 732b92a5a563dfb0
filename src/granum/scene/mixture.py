"""Mixtures of materials from one source: a share of each, by mass or by number, each with its own sizes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import numpy as np
from pydantic import Field

from ..arithmetic import total
from ..checks import InputError, known_name
from ..contact import Material
from ..records import Finite, Positive, Record, Vector, Whole
from .emitter import BoxSource, Disc, Emitter, Rectangle
from .size_classes import MASS
from .sizes import By, Sizes


class Part(Record):
    """One material of a mixture."""

    material: str
    """Name of the material."""
    sizes: Sizes
    """Diameters [m]: one, a list, or a distribution."""
    share: Positive
    """Of the mixture [-], relative to the other parts."""


class Mixture(Record):
    """Grains of several materials from one source; it becomes an emitter for each material, by the names ``NAME MATERIAL``."""

    name: str = "mixture"
    """With which the names of its emitters begin."""
    parts: tuple[Part, ...] = Field(min_length=1)
    """Its materials, each with its sizes and share."""
    by: By = "mass"
    """What the shares are of: the mass, or the number of grains."""
    rate: Positive
    """Grains of all materials [1/s]."""
    count: Whole | None = Field(default=None, ge=1)
    """Total number of all materials; none: without end."""
    source: Annotated[Disc | Rectangle | BoxSource, Field(discriminator="source")]
    """Where grains appear."""
    velocity: Vector = (0.0, 0.0, 0.0)
    """Of an emitted grain [m/s]."""
    start: Finite = 0.0
    """[s]"""
    seed: Whole = Field(default=0, ge=0)
    """Of the first material; the next ones get the numbers after it."""

    def emitters(self, materials: Iterable[Material]) -> tuple[Emitter, ...]:
        """One for each part, with its share of rate and count; densities are those of ``materials``."""
        density = {material.name: material.density for material in materials}
        part = self._numbers(density)
        counts = [None] * len(self.parts) if self.count is None else _whole(part, self.count)
        return tuple(
            Emitter(
                name=f"{self.name} {one.material}" if [p.material for p in self.parts].count(one.material) == 1 else f"{self.name} {k}",
                material=one.material,
                sizes=one.sizes,
                source=self.source,
                rate=self.rate * float(part[k]),
                count=counts[k],
                velocity=self.velocity,
                start=self.start,
                seed=self.seed + k,
            )
            for k, one in enumerate(self.parts)
            if counts[k] != 0
        )

    def _numbers(self, density: dict[str, float]) -> np.ndarray:
        """(n,) parts of all grains by number."""
        shares = np.array([one.share for one in self.parts])
        if self.by == MASS:
            mass = [density[known_name(f"material of mixture {self.name!r}", p.material, density)] * p.sizes.mean_cube for p in self.parts]
            shares = shares / np.array(mass) * max(mass)
        return shares / total(shares)


def _whole(part: np.ndarray, count: int) -> list[int]:
    """Whole numbers that add up to ``count``, nearest to these parts of it."""
    exact = part * count
    found = np.floor(exact).astype(int)
    missing = count - int(total(found))
    found[np.argsort(found - exact, kind="stable")[:missing]] += 1
    return [int(number) for number in found]


def read_mixtures(entries: object, materials: object, where: str) -> list[Emitter]:
    """Emitters of the mixtures of a scene file."""
    if not isinstance(entries, list):
        raise InputError(f"mixtures of {where} must be tables, [[mixtures]] (got {entries!r}).")
    known = [Material.read(one, f"materials.{k} of {where}") for k, one in enumerate(materials if isinstance(materials, list) else [])]
    mixtures = [Mixture.read(entry, f"mixtures.{k} of {where}") for k, entry in enumerate(entries)]
    return [emitter for mixture in mixtures for emitter in mixture.emitters(known)]
