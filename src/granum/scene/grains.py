"""Grains that are there at the start: placed one by one, or on a shaken cubic lattice that fills a box."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from ..array_types import FloatArray
from ..checks import InputError
from ..memory import check_grains
from ..records import Fraction, Record, Vector, Whole
from .shapes import Numbers, Points
from .sizes import Sizes


class Grains(Record):
    """Grains at given places."""

    kind: Literal["placed"] = "placed"
    material: str
    """Name of the material."""
    position: Points
    """(n, 3) [m]"""
    diameter: Numbers
    """[m], one for all or one each."""
    velocity: Points = Field(default_factory=lambda: np.zeros((0, 3)))
    """(n, 3) [m/s]; none: at rest."""
    spin: Points = Field(default_factory=lambda: np.zeros((0, 3)))
    """(n, 3) [rad/s]; none: at rest."""
    static: bool = False
    """Grains that never move: a rough floor."""
    body: str | None = None
    """Name of a body that they are fixed to: from where they are at the start they keep their place on it, and what pushes them pushes it.
    Their mass does not count: that of the body is the one it is given."""

    @model_validator(mode="after")
    def _match(self) -> Grains:
        n = len(self.position)
        if self.diameter.ndim > 1:
            raise ValueError(f"diameter must be one number or a row of numbers, has shape {self.diameter.shape}")
        if self.diameter.size not in (1, n):
            raise ValueError(f"diameter must be one number or {n} numbers, has {self.diameter.size}")
        worst = self.diameter.min() if self.diameter.size else 1.0
        if not worst > 0:
            raise ValueError(f"diameter must be above 0 m, has {worst:g}")
        for name in ("velocity", "spin"):
            if len(getattr(self, name)) not in (0, n):
                raise ValueError(f"{name} must have shape ({n}, 3), has {getattr(self, name).shape}")
            if self.static and getattr(self, name).any():
                raise ValueError(f"static grains have no {name}: leave it out")
            if self.body is not None and getattr(self, name).any():
                raise ValueError(f"grains fixed to the body {self.body!r} move with it: leave {name} out")
        if self.static and self.body is not None:
            raise ValueError(f"grains fixed to the body {self.body!r} move with it: leave static out")
        return self

    @property
    def held(self) -> bool:
        """Whether no push moves these grains by themselves."""
        return self.static or self.body is not None

    def place(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Position (n, 3), diameter (n,), velocity (n, 3), spin (n, 3)."""
        n = len(self.position)
        still = np.zeros((n, 3))
        return (
            self.position,
            np.broadcast_to(self.diameter.ravel(), n) if self.diameter.size == 1 else self.diameter,
            self.velocity if len(self.velocity) else still,
            self.spin if len(self.spin) else still,
        )

    @property
    def size_range(self) -> tuple[float, float]:
        """Smallest and largest diameter [m]."""
        return float(self.diameter.min(initial=np.inf)), float(self.diameter.max(initial=0.0))


class Lattice(Record):
    """``count`` grains on a cubic lattice in a box, filled layer by layer from ``lower`` up, each shaken a little."""

    kind: Literal["lattice"] = "lattice"
    material: str
    """Name of the material."""
    lower: Vector
    """[m]"""
    upper: Vector
    """[m]"""
    count: Whole = Field(ge=0)
    """Number of grains."""
    sizes: Sizes
    """Diameters [m]: one, a list, or a distribution."""
    jitter: Fraction = 0.1
    """Largest shift, as a part of the lattice spacing [-]; the spacing leaves room for it."""
    seed: Whole = Field(default=0, ge=0)
    """Of sizes and shifts."""
    body: str | None = None
    """Name of a body that they are fixed to, as those of ``Grains``."""

    def place(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Position (n, 3), diameter (n,), velocity (n, 3), spin (n, 3)."""
        check_grains(self.count)
        rng = np.random.default_rng(self.seed)
        largest = self.sizes.range[1]
        spacing = largest * 1.001 / (1 - min(self.jitter, 0.9))
        extent = np.asarray(self.upper) - np.asarray(self.lower)
        sites = np.floor(extent / spacing + 1e-9).astype(int)
        if (sites < 1).any() or sites.prod() < self.count:
            raise InputError(
                f"lattice of {self.count} grains with spacing {spacing:g} m does not fit its box of "
                f"{extent[0]:g} x {extent[1]:g} x {extent[2]:g} m (room for {max(0, int(sites.clip(0).prod()))}). "
                "Make the box larger or take fewer grains."
            )
        index = np.arange(self.count)
        cell = np.stack([index % sites[0], index // sites[0] % sites[1], index // (sites[0] * sites[1])], axis=1)
        margin = np.array([*(extent[:2] - sites[:2] * spacing) / 2, 0.0])  # centred sideways, on the floor below
        shift = (rng.random((self.count, 3)) - 0.5) * min(self.jitter, 0.9) * spacing
        position = np.asarray(self.lower) + margin + (cell + 0.5) * spacing + shift
        still = np.zeros((self.count, 3))
        return position, self.sizes.sample(rng, self.count), still, still.copy()

    @property
    def size_range(self) -> tuple[float, float]:
        """Smallest and largest diameter [m]."""
        return self.sizes.range

    @property
    def held(self) -> bool:
        """Whether no push moves these grains by themselves."""
        return self.body is not None


def _kind(value: Any) -> Any:
    """In a scene file the kind may be left out: a count makes it a lattice."""
    if isinstance(value, dict) and "kind" not in value:
        return {**value, "kind": "lattice" if "count" in value else "placed"}
    return value


GrainBlock = Annotated[Annotated[Grains | Lattice, Field(discriminator="kind")], BeforeValidator(_kind)]
