"""``pack``: grains of real sizes at a packing fraction, ready for a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arithmetic import mean, power, total
from ..checks import InputError, check_seed, finite_positive
from ..contact import Law, Material
from ..contact.power import PowerLaw
from ..notebook import Pictured
from ..scene.cell import Cell
from ..scene.scene import Scene
from ..scene.sizes import Sizes
from .bridge import GRAIN, packing_scene
from .course import Course, MinimiseReport
from .measure import Measured, measure
from .minimise import minimise
from .packing import FEWEST, Packing, along_cell, ball_volume, check_fraction, shares
from .spellings import read_law, read_sizes

COUNT = 1000
SPRING = PowerLaw(alpha=2.0, stiffness=1e5)
GAPS = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5)  # of the radii: grains that are so much larger and do not touch leave gaps
SAMPLE = 10_000  # grains that tell the mean volume of a size distribution
METHOD = "lbfgs", "none"


@dataclass(frozen=True, repr=False)
class Packed(Pictured):
    """A packing, and what it is like."""

    packing: Packing
    measured: Measured
    report: MinimiseReport
    """Of the minimisation that led to it."""

    @property
    def phi(self) -> float:
        """Packing fraction [-]."""
        return self.packing.phi

    @property
    def z(self) -> float:
        """Contacts of a grain, rattlers left out [-]; 0 below jamming."""
        return self.measured.coordination

    @property
    def rattlers(self) -> int:
        """Grains that nothing holds; below jamming all."""
        return self.measured.rattler_count

    @property
    def jammed(self) -> bool:
        """Whether grains press each other: then they overlap, else none touches another."""
        return self.measured.jammed

    @property
    def overlap(self) -> float:
        """Largest overlap, in mean diameters [-]."""
        return self.measured.overlap / self.packing.diameter

    def scene(self, material: Material = GRAIN, *, law: Law | None = None, gravity: float | None = None, name: str = "packing") -> Scene:
        """For a run: see :func:`~granum.quasistatic.bridge.packing_scene`."""
        return packing_scene(self.packing, material, law=law, gravity=gravity, name=name)

    def __repr__(self) -> str:
        return f"Packed({self})"

    def __str__(self) -> str:
        state = f"jammed, overlaps up to {self.overlap:.2g} d" if self.jammed else "not jammed, no contacts"
        cell = " x ".join(f"{length:.4g}" for length in self.packing.cell.lengths)
        return f"{self.packing.count} grains in a cell of {cell} m: phi {self.phi:.6g}, {state}; z {self.z:.3f}, {self.rattlers} rattlers"


def pack(
    distribution: Sizes | str | float | Sequence[float],
    phi: float,
    *,
    count: int | None = None,
    region: tuple[float, ...] | None = None,
    dim: int = 3,
    seed: int = 0,
    law: PowerLaw | str = SPRING,
    watch: Callable[[Course], None] | None = None,
) -> Packed:
    """Grains whose diameters [m] follow ``distribution``, at the packing fraction ``phi`` in a periodic cell, from a random start.

    ``count`` grains (none: 1000) in a cube (dim 2: square), or as many as a ``region``, the lengths of a cell [m], holds. The diameters are
    kept and the cell is sized so that ``phi`` comes out; a region keeps its proportions. Below jamming no two grains touch; above they are
    relaxed, overlap, and the result says so (``jammed``). How dense grains can be without touching depends on chance and number: near 0.84
    in two dimensions, 0.64 in three.

    >>> pack((0.01, 0.014), 0.5, count=30).jammed
    False
    """
    sizes, law = read_sizes(distribution), read_law(law)
    if dim not in (2, 3):
        raise InputError(f"dim must be 2 or 3 (got {dim}).")
    lengths = np.ones(dim)
    rng = np.random.default_rng(check_seed(seed))
    if region is not None:
        if count is not None:
            raise InputError("give count or region, not both: a region and phi make the count.")
        if len(region) != dim:
            raise InputError(f"region must be {dim} lengths [m], one for each dimension (got {len(region)}).")
        lengths = np.array([finite_positive("region", float(length), "m") for length in region])
        check_fraction(phi, dim, np.array(sizes.range))
        one = mean(ball_volume(dim, shares(sizes, np.random.default_rng(0), SAMPLE) / 2))
        count = round(phi * float(lengths.prod()) / one)
        if count < FEWEST:
            raise InputError(f"region holds {count} grains at phi = {phi:g}, and a packing needs {FEWEST} or more. Make it larger.")
    count = COUNT if count is None else count
    if count < FEWEST:
        raise InputError(f"count must be at least {FEWEST} (got {count}).")
    radius = shares(sizes, rng, count) / 2
    check_fraction(phi, dim, 2 * radius)
    lengths *= power(total(ball_volume(dim, radius)) / phi / float(lengths.prod()), 1 / dim)
    if lengths.min() <= 2 * radius.max():
        raise InputError(
            f"the cell would be {lengths.min():.4g} m across, and the largest grain is {2 * radius.max():.4g} m: it would meet itself. "
            "Take a wider region, or more grains."
        )
    position = rng.random((count, dim)) * lengths
    order = along_cell(position / lengths)
    packing = Packing(Cell(vectors=tuple(lengths)), position[order], radius[order], law)
    for gap in GAPS:
        larger, report = minimise(packing.grown(1 + gap), *METHOD, watch=watch)
        packing = replace(packing, position=larger.position)
        measured = measure(packing)
        if not measured.touching:
            return Packed(packing, measured, report)
        if measured.mean_overlap_in_diameters > gap:  # a smaller gap cannot be left either
            break
    packing, report = minimise(packing, *METHOD, watch=watch)
    return Packed(packing, measure(packing), report)
