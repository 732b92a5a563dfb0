"""Coarse graining after Goldhirsch (2010): continuum fields on a grid from grains and their contacts (physics 8).

A grain spreads its mass, momentum and volume over the cells around it with a kernel of width w; the force of a contact is spread along
the line between the two centres (at a wall: from the centre to the contact point), integrated by Gauss quadrature.

The weights of every grain, and of every point of a line, are divided by their sum over the cells of the grid. So the integral of the
density over the grid is the mass, that of the momentum density the momentum, and that of the contact stress the virial, to rounding;
and what lies near the edge of the grid is kept inside. Away from the edges, and with cells no larger than w, the division changes a
Gaussian weight by 1e-4 (its cut tail) or less; a grid with a margin of the kernel's reach around the grains has the plain fields
everywhere, which then end softly beyond the walls. What has its centre outside the grid is not counted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..array_types import FloatArray, LongArray
from ..checks import InputError, finite_positive, known_name
from .grid import FieldGrid, with_grains
from .snapshot import Snapshot
from .spreading import GAUSSIAN, LUCY, GridKernel, spread_fluctuations, spread_values

KERNELS = {"gaussian": GAUSSIAN, "lucy": LUCY}
REACH = {  # of a kernel in widths, on a grid of 1, 2 and 3 axes; Lucy's such that w is the standard deviation along an axis
    "gaussian": (4.0, 4.0, 4.0),
    "lucy": (math.sqrt(21 / 2), math.sqrt(56 / 5), math.sqrt(12)),
}


@dataclass(frozen=True)
class Fields:
    """Fields at the centres of the cells of ``grid``, averaged over ``count`` snapshots; the first three axes of every array are x, y, z.

    Stresses are positive in compression (Goldhirsch's with the other sign). NaN where a field has no value: no grain is in reach.
    """

    grid: FieldGrid
    kernel: str
    width: float
    """w [m]: standard deviation of the kernel along an axis."""
    count: int
    density: FloatArray
    """rho, of the bulk [kg/m^3]."""
    momentum: FloatArray
    """rho v, (..., 3) [kg/(m^2 s)]."""
    solid_fraction: FloatArray
    diameter: FloatArray
    """Mean over the volume of the grains [m]."""
    velocity_gradient: FloatArray
    """(..., 3, 3) [1/s], entry i, j is the derivative of v_i along axis j, exact for the smooth field; 0 along axes integrated over."""
    kinetic_stress: FloatArray
    """(..., 3, 3) [Pa] of the motion relative to the velocity field."""
    contact_stress: FloatArray
    """(..., 3, 3) [Pa], entry i, j: force along i, branch along j."""

    @cached_property
    def velocity(self) -> FloatArray:
        """(..., 3) [m/s], momentum over density."""
        return _ratio(self.momentum, self.density[..., None])

    @cached_property
    def stress(self) -> FloatArray:
        """(..., 3, 3) [Pa], of contacts and motion."""
        return self.contact_stress + self.kinetic_stress

    @cached_property
    def pressure(self) -> FloatArray:
        """tr(stress) / 3 [Pa]."""
        return np.trace(self.stress, axis1=-2, axis2=-1) / 3

    @cached_property
    def strain_rate(self) -> FloatArray:
        """D, the symmetric part of the velocity gradient, (..., 3, 3) [1/s]."""
        return (self.velocity_gradient + np.swapaxes(self.velocity_gradient, -1, -2)) / 2

    @cached_property
    def shear_rate(self) -> FloatArray:
        """sqrt(tr(D^T D)) [1/s], as SN 4.2: a plain shear v_x = g z has g / sqrt(2)."""
        return np.sqrt((self.strain_rate**2).sum(axis=(-2, -1)))

    @cached_property
    def inertial_number(self) -> FloatArray:
        """I = d shear_rate sqrt(rho_p / p), rho_p the density of the grains (physics 8); NaN where there is no pressure."""
        grain_density = _ratio(self.density, self.solid_fraction)
        pressure = np.where(self.pressure > 0, self.pressure, np.nan)
        return self.diameter * self.shear_rate * np.sqrt(grain_density / pressure)


def coarse_grain(
    snapshots: Snapshot | Sequence[Snapshot], grid: FieldGrid | None = None, *, width: float | None = None, kernel: str = "gaussian"
) -> Fields:
    """Fields of one snapshot, or averaged over several, on ``grid`` (none: around all grains in cubes of side ``width``).

    ``width`` w [m], none: the mean diameter, or the cell if that is wider. The Gaussian is cut off at 4 w along each axis; Lucy's
    kernel, (1 + 3 s)(1 - s)^3 with s the distance over its range, ends by itself at 3.2 to 3.5 w.
    """
    seen = with_grains(snapshots)
    if width is not None:
        width = finite_positive("width", width, "m")
    diameter = 2 * float(np.concatenate([s.radius for s in seen]).mean())
    grid = grid if grid is not None else FieldGrid.around(seen, diameter if width is None else width)
    kept = np.array(grid.counts) > 1
    coarsest = float(np.max(grid.cell, where=kept, initial=0.0))
    width = max(diameter, coarsest) if width is None else width
    if coarsest > width * (1 + 1e-9):
        raise InputError(
            f"cells of {coarsest:.3g} m are wider than the kernel: grains would fall between their centres. "
            f"Take cells of {width:.3g} m at most, or a larger width."
        )
    reach = REACH[known_name("kernel", kernel, KERNELS)][max(int(kept.sum()), 1) - 1] * width
    spread = _KernelOnGrid(grid, KERNELS[kernel], width, reach)

    total, slope, stress = spread.empty(6), spread.empty(4, 3), spread.empty(9)
    for s in seen:
        volume = 4 / 3 * np.pi * s.radius**3
        value = np.column_stack([s.mass, s.mass[:, None] * s.velocity, volume, 2 * s.radius * volume])
        spread_values(spread.turned(s.position), value, spread.settings, total, slope)
        _add_contact_stress(s, spread, stress)
    kinetic, mean = spread.empty(3, 3), _ratio(total[1:4], total[:1])
    for s in seen:
        spread_fluctuations(spread.turned(s.position), s.mass, s.velocity, mean, spread.settings, kinetic)

    per_volume = 1 / (len(seen) * grid.cell_volume)
    whole, contact_stress, kinetic_stress = spread.field(total * per_volume), spread.field(stress * per_volume), kinetic * per_volume
    density, momentum, velocity = whole[..., 0], whole[..., 1:4], spread.field(mean)
    steep = spread.field(slope * per_volume)[..., np.argsort(spread.order)]  # of density and momentum; that of their ratio follows
    gradient = _ratio(steep[..., 1:4, :] - velocity[..., :, None] * steep[..., :1, :], density[..., None, None])
    return Fields(
        grid=grid,
        kernel=kernel,
        width=width,
        count=len(seen),
        density=density,
        momentum=momentum,
        solid_fraction=whole[..., 4],
        diameter=_ratio(whole[..., 5], whole[..., 4]),
        velocity_gradient=gradient,
        kinetic_stress=spread.field(kinetic_stress),
        contact_stress=contact_stress.reshape(*grid.counts, 3, 3),
    )


@dataclass(frozen=True)
class _KernelOnGrid:
    """A kernel on a grid, as the compiled half wants it: components first, and axes that are integrated over before the others."""

    grid: FieldGrid
    kind: int
    width: float
    reach: float

    @cached_property
    def order(self) -> LongArray:
        """(3,) axes of the grid as the kernels see them."""
        return np.argsort(np.array(self.grid.counts) > 1, kind="stable")

    @property
    def settings(self) -> GridKernel:
        lower, counts = np.asarray(self.grid.lower, float)[self.order], np.array(self.grid.counts, np.int64)[self.order]
        return GridKernel(self.kind, self.width, self.reach, lower, self.grid.cell[self.order], counts)

    def turned(self, position: FloatArray) -> FloatArray:
        return np.ascontiguousarray(position[:, self.order])

    def empty(self, *components: int) -> FloatArray:
        return np.zeros((*components, *np.array(self.grid.counts)[self.order]))

    def field(self, values: FloatArray) -> FloatArray:
        """With the axes x, y, z first."""
        cells = values.ndim - 3 + np.argsort(self.order)
        return np.ascontiguousarray(np.transpose(values, (*cells, *range(values.ndim - 3))))


def _add_contact_stress(s: Snapshot, spread: _KernelOnGrid, stress: FloatArray) -> None:
    """Force times branch of every contact, spread along the branch."""
    pushing = np.flatnonzero((s.force != 0).any(axis=1))
    if not len(pushing):
        return
    start = s.position[s.a[pushing]]
    branch = branch_vectors(s)[pushing]
    virial = (s.force[pushing][:, :, None] * branch[:, None, :]).reshape(-1, 9)
    # With 2 points more than the widths that the longest line covers a Gaussian is integrated to 3e-5, less than its cut tail.
    node, weight = np.polynomial.legendre.leggauss(2 + math.ceil(np.linalg.norm(branch, axis=1).max() / spread.width))
    nothing = spread.empty(0, 3)
    for along, part in zip((node + 1) / 2, weight / 2, strict=True):
        spread_values(spread.turned(start + along * branch), part * virial, spread.settings, stress, nothing)


def branch_vectors(s: Snapshot) -> FloatArray:
    """(C, 3) [m] from the centre of a to that of b, or to the contact point on a wall; in a cell to the nearest image."""
    end = np.where((s.b >= 0)[:, None], s.position[np.maximum(s.b, 0)], s.point)
    branch = end - s.position[s.a]
    return branch if s.scene.cell is None else s.scene.cell.nearest(branch)


def _ratio(a: FloatArray, b: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(b > 0, a / b, np.nan)
