"""Coarse-grained fields in a slab: velocity, density, solid fraction, pressure, shear rate, inertial number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt

from ..analysis.coarse_graining import Fields, coarse_grain
from ..analysis.grid import FieldGrid
from ..analysis.snapshot import Snapshot
from ..array_types import FloatArray
from ..checks import InputError
from ..io import Recording
from . import style
from .look import Look, about
from .masking import crowded, side_of_walls
from .section import Section, draw_cut_grains, draw_walls, make_section, window

SLAB = 4.0  # [d] through the middle; a drum, or what is thinner, is seen whole
CELL = 0.33  # [d] of the drawn grid
ARROWS = 1.6  # [d] between arrows, at least
MOST_ARROWS = 28  # along the longer side
SHORTEST = 0.1  # of the longest arrow
LEAST_SOLID = 0.12  # solid fraction below which a place counts as empty
ROOM = 3.0  # [kernel widths] beyond free grains
ALONG = 0.99  # least cosine of the angle between the normal of a wall and that of the side of the grid that ends at it
MOST = 0.99  # of the cells have a colour of their own; the rest is beyond an end of the colour bar
DECADES = 1e-4  # of the largest: the least of a logarithmic scale


@dataclass(frozen=True)
class FieldKind:
    """A scalar field and how it is shown."""

    title: str
    label: str
    unit: str
    colours: str
    values: Callable[[Fields], FloatArray]
    logarithmic: bool = False
    needs_contacts: bool = False
    arrows: bool = False
    prefixed: bool = False


FIELDS = {
    "velocity": FieldKind(
        "Velocity field", "speed", "m/s", "speed", lambda f: np.linalg.norm(f.velocity[..., :2], axis=-1), arrows=True, prefixed=True
    ),
    "density": FieldKind("Bulk density", "density", "kg/m³", "field", lambda f: f.density),
    "packing": FieldKind("Solid fraction", "solid fraction", "", "field", lambda f: f.solid_fraction),
    "pressure": FieldKind("Pressure field", "pressure", "Pa", "load", lambda f: f.pressure, needs_contacts=True, prefixed=True),
    "shear": FieldKind("Shear rate", r"shear rate $\sqrt{\mathrm{tr}\,D^T D}$", "1/s", "rate", lambda f: f.shear_rate, logarithmic=True),
    "inertial": FieldKind(
        "Inertial number", "inertial number $I$", "", "rate", lambda f: f.inertial_number, logarithmic=True, needs_contacts=True
    ),
}


def field_of(recording: Recording, look: Look) -> tuple[Section, list[Snapshot], Fields]:
    """The section that a look asks for, the snapshots as seen in it, and their fields: axes across, up, and depth (integrated over).

    The grid ends at walls along its sides, and has room for whole kernels where grains are free or lean on slopes.
    """
    seen = look.snapshots(recording)
    d = 2 * float(seen[-1].radius.mean())
    section = make_section(seen[-1], look.view, look.slab, SLAB, whole_drum=True)
    seen = [section.seen(s) for s in seen]
    width = (look.width or 1.0) * d
    low, high = _free_bounds(section, seen, d, ROOM * width)
    nx, ny = np.maximum(np.ceil((high - low) / (CELL * min(d, width))), 2).astype(int).tolist()
    grid = FieldGrid(np.array([*low, section.depth[0]]), np.array([*high, section.depth[1]]), (nx, ny, 1))
    return section, seen, coarse_grain(seen, grid, width=width)


def _free_bounds(section: Section, seen: list[Snapshot], d: float, room: float) -> tuple[FloatArray, FloatArray]:
    """Lower and upper corner (2,) [m] of the grains in the slab, with ``room`` on sides along which no wall is touched."""
    inside = [section.holds(s.position[:, 2]) for s in seen]
    x = np.concatenate([s.position[i, :2] for s, i in zip(seen, inside, strict=True)])
    r = np.concatenate([s.radius[i, None] for s, i in zip(seen, inside, strict=True)])
    low, high = (x - r).min(axis=0), (x + r).max(axis=0)
    wall = [(s.b < 0) & section.holds(s.point[:, 2]) for s in seen]
    point = np.concatenate([s.point[w, :2] for s, w in zip(seen, wall, strict=True)])
    normal = np.concatenate([s.normal[w, :2] for s, w in zip(seen, wall, strict=True)])  # towards the wall
    free_low = ~((point < low + d / 2) & (normal < -ALONG)).any(axis=0)
    free_high = ~((point > high - d / 2) & (normal > ALONG)).any(axis=0)
    return low - room * free_low, high + room * free_high


def draw_field(recording: Recording, look: Look, name: str) -> Any:
    """One of ``FIELDS`` in colours, with arrows for the velocity."""
    from matplotlib.colors import LogNorm, Normalize

    kind = FIELDS[name]
    section, seen, fields = field_of(recording, look)
    s = seen[-1]
    if kind.needs_contacts and not any((t.normal_force > 0).any() for t in seen):
        raise InputError(
            f"no contact carries force at t = {s.time:g} s in {recording.path}: there is no {kind.title.lower()}. Choose a later frame."
        )
    x, y = (np.r_[low, c, high] for low, c, high in list(zip(fields.grid.lower, fields.grid.centres, fields.grid.upper, strict=True))[:2])
    extent = window(section, s)
    fill = _fill(section, s, x, y, np.pad(fields.solid_fraction[:, :, 0], 1, mode="edge"))
    fill = _without_few(section, seen, fields, fill)
    filled = fill[1:-1, 1:-1] > LEAST_SOLID
    values, unit = np.where(filled, kind.values(fields)[:, :, 0], np.nan), kind.unit
    if kind.prefixed:
        values, unit = style.scaled(values, unit)
    if not np.isfinite(values).any():
        raise InputError(f"the grains at t = {s.time:g} s in {recording.path} are too sparse for a field. Choose another frame.")
    subtitle = f"{about(recording, seen)}; slab of {section.thickness(s):.2g} d, kernel {look.width or 1.0:.2g} d"
    figure, axes, bar = style.drawing(extent, kind.title, subtitle, section.names, bar=True)
    high = float(np.nanquantile(values, MOST)) or 1.0
    norm: Any = Normalize(0.0, high)
    if kind.logarithmic:
        norm = LogNorm(max(float(np.nanquantile(values, 1 - MOST)), DECADES * high), high)
    # The nearest values are carried on beyond the filled cells and to the edges of the grid, and cut off along a smooth line.
    around = distance_transform_edt(~np.isfinite(values), return_distances=False, return_indices=True)
    shown = np.pad(values[tuple(around)], 1, mode="edge")
    image = axes.pcolormesh(x, y, shown.T, norm=norm, cmap=style.colours(kind.colours), shading="gouraud", rasterized=True)
    edge = axes.contourf(x, y, fill.T, levels=[LEAST_SOLID, 2.0], alpha=0.0)
    image.set_clip_path(edge.get_paths()[0], axes.transData)
    edge.remove()
    if look.grains:
        draw_cut_grains(axes, section, s)
    if kind.arrows:
        _arrows(axes, fields, filled, 2 * float(s.radius.mean()), extent)
    draw_walls(axes, section, s, extent)
    beyond = {(False, False): "neither", (False, True): "max", (True, False): "min", (True, True): "both"}[
        bool(np.nanmin(values) < norm.vmin), bool(np.nanmax(values) > norm.vmax)
    ]
    style.colour_bar(figure, image, bar, f"{kind.label} [{unit}]" if unit else kind.label, extend=beyond)
    return figure


def _fill(section: Section, s: Snapshot, x: FloatArray, y: FloatArray, solid: FloatArray) -> FloatArray:
    """Solid fraction (nx, ny) over x (nx,) and y (ny,) [m], and none beyond walls; ``s`` as the section sees it."""
    near = np.flatnonzero(solid.ravel() > LEAST_SOLID)
    place = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2)
    d, inside = 2 * float(s.radius.mean()), section.holds(s.position[:, 2])
    wall = section.walls(s, (float(x[0]) - d, float(x[-1]) + d, float(y[0]) - d, float(y[-1]) + d))
    fill = solid.ravel().copy()
    side = side_of_walls(place[near], s.position[inside, :2], wall, CELL * d)
    fill[near] = np.minimum(fill[near], LEAST_SOLID + side / d)  # the line passes where this is LEAST_SOLID: at the wall
    return fill.reshape(solid.shape)


def _without_few(section: Section, seen: list[Snapshot], fields: Fields, fill: FloatArray) -> FloatArray:
    """``fill`` (nx + 2, ny + 2) without patches of so few grains that they are no field."""
    s = seen[-1]
    at = s.position[section.holds(s.position[:, 2]), :2]
    cell = np.floor((at - fields.grid.lower[:2]) / fields.grid.cell[:2]).astype(int) + 1
    return np.where((fill > LEAST_SOLID) & ~crowded(fill > LEAST_SOLID, cell), 0.0, fill)


def _arrows(axes: Any, fields: Fields, filled: NDArray[np.bool_], d: float, extent: tuple[float, float, float, float]) -> None:
    """At every second diameter or so; the longest ones, of the fastest hundredth, bridge 1.5 gaps. Places that hardly move have none."""
    longer = max(extent[1] - extent[0], extent[3] - extent[2])
    gap = max(ARROWS * d, longer / MOST_ARROWS)
    every = [max(1, round(gap / side)) for side in fields.grid.cell[:2]]
    x, y, _ = fields.grid.centres
    at = (slice(every[0] // 2, None, every[0]), slice(every[1] // 2, None, every[1]))
    u, v = (np.where(filled, fields.velocity[:, :, 0, k], np.nan)[at] for k in (0, 1))
    speed = np.hypot(u, v)
    if not np.nanmax(speed, initial=0.0) > 0:
        return
    full = float(np.nanquantile(speed, MOST))
    shorter = np.where(speed > SHORTEST * full, np.minimum(1.0, full / np.maximum(speed, 1e-300)), np.nan)
    u, v = u * shorter, v * shorter
    axes.quiver(
        x[at[0]],
        y[at[1]],
        u.T,
        v.T,
        angles="xy",
        scale_units="xy",
        scale=full / (1.5 * gap),
        width=0.085 * gap,
        units="xy",
        headwidth=3.4,
        headlength=4.0,
        headaxislength=3.6,
        color="white",
        edgecolor="black",
        linewidth=0.35,
        pivot="mid",
        zorder=4,
    )
