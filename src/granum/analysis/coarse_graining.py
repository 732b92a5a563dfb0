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

from .._jit import device, kernel
from ..array_types import FloatArray, LongArray
from ..checks import InputError, finite_positive, known_name
from .snapshot import Snapshot

AXES = "xyz"
GAUSSIAN, LUCY = 0, 1
KERNELS = {"gaussian": GAUSSIAN, "lucy": LUCY}
REACH = {  # of a kernel in widths, on a grid of 1, 2 and 3 axes; Lucy's such that w is the standard deviation along an axis
    "gaussian": (4.0, 4.0, 4.0),
    "lucy": (math.sqrt(21 / 2), math.sqrt(56 / 5), math.sqrt(12)),
}


@dataclass(frozen=True)
class Grid:
    """A regular grid of cells between two corners (3,) [m]; an axis with one cell is integrated over."""

    lower: FloatArray
    upper: FloatArray
    counts: tuple[int, int, int]

    def __post_init__(self) -> None:
        if not all(int(n) == n >= 1 for n in self.counts):
            raise InputError(f"counts of a grid must be whole numbers of 1 or more (got {self.counts}).")
        if not np.all(np.asarray(self.lower) < self.upper):
            raise InputError(f"lower corner of a grid must be below its upper one in every direction (got {self.lower} and {self.upper}).")

    @classmethod
    def around(cls, snapshots: Snapshot | Sequence[Snapshot], cell: float, axes: str = AXES, *, margin: float = 0.0) -> Grid:
        """Around all grains, in cubes of side ``cell`` [m]; axes that ``axes`` does not name are integrated over ("xz", "z", ...).

        ``margin`` [m] is added on both sides of the axes that are named.
        """
        cell = finite_positive("cell", cell, "m")
        if not axes or set(axes) - set(AXES):
            raise InputError(f"axes of a grid must be some of 'x', 'y' and 'z' (got {axes!r}).")
        seen = _some(snapshots)
        lower = np.min([(s.position - s.radius[:, None]).min(axis=0) for s in seen if len(s.radius)], axis=0)
        upper = np.max([(s.position + s.radius[:, None]).max(axis=0) for s in seen if len(s.radius)], axis=0)
        kept = np.array([axis in axes for axis in AXES])
        lower, upper = lower - margin * kept, upper + margin * kept
        counts = np.where(kept, np.maximum(np.ceil((upper - lower) / cell), 1), 1).astype(int)
        spare = np.where(kept, counts * cell - (upper - lower), 0.0) / 2
        nx, ny, nz = counts.tolist()
        return cls(lower - spare, upper + spare, (nx, ny, nz))

    @cached_property
    def cell(self) -> FloatArray:
        """(3,) [m] sides of a cell."""
        return (np.asarray(self.upper) - self.lower) / self.counts

    @property
    def cell_volume(self) -> float:
        """[m^3]"""
        return float(self.cell.prod())

    @property
    def centres(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """[m] of the cells along x, y and z."""
        x, y, z = (low + side * (np.arange(n) + 0.5) for low, side, n in zip(self.lower, self.cell, self.counts, strict=True))
        return x, y, z


@dataclass(frozen=True)
class Fields:
    """Fields at the centres of the cells of ``grid``, averaged over ``count`` snapshots; the first three axes of every array are x, y, z.

    Stresses are positive in compression (Goldhirsch's with the other sign). NaN where a field has no value: no grain is in reach.
    """

    grid: Grid
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
    snapshots: Snapshot | Sequence[Snapshot], grid: Grid | None = None, *, width: float | None = None, kernel: str = "gaussian"
) -> Fields:
    """Fields of one snapshot, or averaged over several, on ``grid`` (none: around all grains in cubes of side ``width``).

    ``width`` w [m], none: the mean diameter, or the cell if that is wider. The Gaussian is cut off at 4 w along each axis; Lucy's
    kernel, (1 + 3 s)(1 - s)^3 with s the distance over its range, ends by itself at 3.2 to 3.5 w.
    """
    seen = _some(snapshots)
    if width is not None:
        width = finite_positive("width", width, "m")
    diameter = 2 * float(np.concatenate([s.radius for s in seen]).mean())
    grid = grid if grid is not None else Grid.around(seen, diameter if width is None else width)
    kept = np.array(grid.counts) > 1
    coarsest = float(np.max(grid.cell, where=kept, initial=0.0))
    width = max(diameter, coarsest) if width is None else width
    if coarsest > width * (1 + 1e-9):
        raise InputError(
            f"cells of {coarsest:.3g} m are wider than the kernel: grains would fall between their centres. "
            f"Take cells of {width:.3g} m at most, or a larger width."
        )
    reach = REACH[known_name("kernel", kernel, KERNELS)][max(int(kept.sum()), 1) - 1] * width
    spread = _Spread(grid, KERNELS[kernel], width, reach)

    total, slope, stress = spread.empty(6), spread.empty(4, 3), spread.empty(9)
    for s in seen:
        volume = 4 / 3 * np.pi * s.radius**3
        value = np.column_stack([s.mass, s.mass[:, None] * s.velocity, volume, 2 * s.radius * volume])
        spread_values(spread.turned(s.position), value, *spread.settings, total, slope)
        _add_contact_stress(s, spread, stress)
    kinetic, mean = spread.empty(3, 3), _ratio(total[1:4], total[:1])
    for s in seen:
        spread_fluctuations(spread.turned(s.position), s.mass, s.velocity, mean, *spread.settings, kinetic)

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
class _Spread:
    """A kernel on a grid, as the compiled half wants it: components first, and axes that are integrated over before the others."""

    grid: Grid
    kind: int
    width: float
    reach: float

    @cached_property
    def order(self) -> LongArray:
        """(3,) axes of the grid as the kernels see them."""
        return np.argsort(np.array(self.grid.counts) > 1, kind="stable")

    @property
    def settings(self) -> tuple[int, float, float, FloatArray, FloatArray, LongArray]:
        lower, counts = np.asarray(self.grid.lower, float)[self.order], np.array(self.grid.counts, np.int64)[self.order]
        return self.kind, self.width, self.reach, lower, self.grid.cell[self.order], counts

    def turned(self, position: FloatArray) -> FloatArray:
        return np.ascontiguousarray(position[:, self.order])

    def empty(self, *components: int) -> FloatArray:
        return np.zeros((*components, *np.array(self.grid.counts)[self.order]))

    def field(self, values: FloatArray) -> FloatArray:
        """With the axes x, y, z first."""
        cells = values.ndim - 3 + np.argsort(self.order)
        return np.ascontiguousarray(np.transpose(values, (*cells, *range(values.ndim - 3))))


def _add_contact_stress(s: Snapshot, spread: _Spread, stress: FloatArray) -> None:
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
        spread_values(spread.turned(start + along * branch), part * virial, *spread.settings, stress, nothing)


def branch_vectors(s: Snapshot) -> FloatArray:
    """(C, 3) [m] from the centre of a to that of b, or to the contact point on a wall; in a cell to the nearest image."""
    end = np.where((s.b >= 0)[:, None], s.position[np.maximum(s.b, 0)], s.point)
    branch = end - s.position[s.a]
    return branch if s.scene.cell is None else s.scene.cell.nearest(branch)


def _some(snapshots: Snapshot | Sequence[Snapshot]) -> Sequence[Snapshot]:
    seen = [snapshots] if isinstance(snapshots, Snapshot) else list(snapshots)
    if not any(len(s.radius) for s in seen):
        raise InputError("coarse graining needs grains: there are none in the given frames.")
    return seen


def _ratio(a: FloatArray, b: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(b > 0, a / b, np.nan)


@device
def fill_weights(p, x, kind, width, reach, lower, cell, count, steep, first, last, factor, weight, slope):
    """Weights of point ``x[p]`` at the cells first[k] to last[k] along each axis k, with sum 1; False: outside the grid.

    If ``steep``, also their slopes: those of the spread quantity along the axes at the centre of the cell, [1/m].
    """
    for k in range(3):
        at = (x[p, k] - lower[k]) / cell[k]
        if not 0.0 <= at <= count[k]:
            return False
        first[k] = max(0, math.ceil(at - reach / cell[k] - 0.5)) if count[k] > 1 else 0
        last[k] = min(count[k] - 1, math.floor(at + reach / cell[k] - 0.5)) if count[k] > 1 else 0
    for k in range(3):
        total = 0.0
        for c in range(first[k], last[k] + 1):
            away = lower[k] + (c + 0.5) * cell[k] - x[p, k] if count[k] > 1 else 0.0
            factor[k, 1, c - first[k]] = away
            factor[k, 0, c - first[k]] = math.exp(-0.5 * (away / width) ** 2) if kind == GAUSSIAN else 1.0
            total += factor[k, 0, c - first[k]]
        if kind == GAUSSIAN:
            for c in range(last[k] - first[k] + 1):
                factor[k, 0, c] /= total
    size = last[2] - first[2] + 1
    total = 0.0
    for i in range(last[0] - first[0] + 1):
        for j in range(last[1] - first[1] + 1):
            if kind == GAUSSIAN:
                set_row(weight[i, j, :size], factor[2, 0], factor[0, 0, i] * factor[1, 0, j])
            else:
                total += lucy_row(weight[i, j, :size], factor[2, 1], factor[0, 1, i] ** 2 + factor[1, 1, j] ** 2, reach)
            if steep:
                for k in range(size):
                    u, v, w = factor[0, 1, i], factor[1, 1, j], factor[2, 1, k]
                    rate = -weight[i, j, k] / width**2
                    if kind == LUCY:
                        s = math.sqrt(u * u + v * v + w * w) / reach
                        rate = -12.0 * (1.0 - s) ** 2 / reach**2 if s < 1.0 else 0.0
                    slope[0, i, j, k], slope[1, i, j, k], slope[2, i, j, k] = rate * u, rate * v, rate * w
    if kind == LUCY:
        for i in range(last[0] - first[0] + 1):
            for j in range(last[1] - first[1] + 1):
                set_row(weight[i, j, :size], weight[i, j], 1.0 / total)
                if steep:
                    for m in range(3):
                        set_row(slope[m, i, j, :size], slope[m, i, j], 1.0 / total)
    return True


@device
def set_row(row, values, factor):
    """row = factor * values."""
    for k in range(row.shape[0]):
        row[k] = factor * values[k]


@device
def lucy_row(row, away, square, reach):
    """Lucy's kernel along a row of cells, at the distances ``away`` [m] along it and sqrt(``square``) across it; returns its sum."""
    total = 0.0
    for k in range(row.shape[0]):
        s = math.sqrt(square + away[k] * away[k]) / reach
        row[k] = (1.0 + 3.0 * s) * (1.0 - s) ** 3 if s < 1.0 else 0.0
        total += row[k]
    return total


@device
def add_row(row, weight, value):
    """row += value * weight."""
    for k in range(row.shape[0]):
        row[k] += value * weight[k]


@kernel
def spread_values(
    # in
    position: FloatArray,  # (n, 3) [m], in the order of the axes of the grid, as all that follows
    value: FloatArray,  # (n, K) what each point carries
    kind: int,
    width: float,  # w [m]
    reach: float,  # of the kernel [m]
    lower: FloatArray,  # (3,) corner of the grid [m]
    cell: FloatArray,  # (3,) sides of a cell [m]
    count: LongArray,  # (3,) cells
    # in and out
    total: FloatArray,  # (K, nx, ny, nz) sum of values times weights
    slopes: FloatArray,  # (S, 3, nx, ny, nz) slopes of the first S of them [1/m]
) -> None:
    """Spread what points carry over the cells around them."""
    first, last, factor, weight, slope = room(reach, cell, count)
    steep = slopes.shape[0] > 0
    for p in range(position.shape[0]):
        if not fill_weights(p, position, kind, width, reach, lower, cell, count, steep, first, last, factor, weight, slope):
            continue
        start, end = first[2], last[2] + 1
        for i in range(first[0], last[0] + 1):
            for j in range(first[1], last[1] + 1):
                part = weight[i - first[0], j - first[1]]
                for q in range(value.shape[1]):
                    add_row(total[q, i, j, start:end], part, value[p, q])
                for q in range(slopes.shape[0]):
                    for m in range(3):
                        add_row(slopes[q, m, i, j, start:end], slope[m, i - first[0], j - first[1]], value[p, q])


@kernel
def spread_fluctuations(
    # in
    position: FloatArray,  # (n, 3) [m]
    mass: FloatArray,  # (n,) [kg]
    velocity: FloatArray,  # (n, 3) [m/s]
    mean: FloatArray,  # (3, nx, ny, nz) velocity field [m/s]
    kind: int,
    width: float,
    reach: float,
    lower: FloatArray,
    cell: FloatArray,
    count: LongArray,
    # in and out
    total: FloatArray,  # (3, 3, nx, ny, nz) sum of m v' v' times weights [J]
) -> None:
    """Kinetic stress times the volume of a cell: the motion of grains relative to the velocity field at the cell."""
    first, last, factor, weight, slope = room(reach, cell, count)
    for p in range(position.shape[0]):
        if not fill_weights(p, position, kind, width, reach, lower, cell, count, False, first, last, factor, weight, slope):
            continue
        for i in range(first[0], last[0] + 1):
            for j in range(first[1], last[1] + 1):
                for k in range(first[2], last[2] + 1):
                    part = mass[p] * weight[i - first[0], j - first[1], k - first[2]]
                    if part > 0.0:
                        for m in range(3):
                            for n in range(3):
                                total[m, n, i, j, k] += part * (velocity[p, m] - mean[m, i, j, k]) * (velocity[p, n] - mean[n, i, j, k])


@kernel
def room(reach: float, cell: FloatArray, count: LongArray):
    """Scratch arrays for ``fill_weights``."""
    size = np.ones(3, np.int64)
    for k in range(3):
        if count[k] > 1:
            size[k] = min(count[k], 2 * math.ceil(reach / cell[k]) + 1)
    return (
        np.zeros(3, np.int64),
        np.zeros(3, np.int64),
        np.zeros((3, 2, size.max())),
        np.zeros((size[0], size[1], size[2])),
        np.zeros((3, size[0], size[1], size[2])),
    )
