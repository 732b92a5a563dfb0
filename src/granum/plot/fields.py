"""Coarse-grained fields in a slab: velocity, density, solid fraction, pressure, shear rate, inertial number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..analysis.coarse_graining import Fields, Grid, coarse_grain
from ..analysis.snapshot import Snapshot
from ..checks import InputError
from ..io import Recording
from . import style
from .look import Look, about
from .section import Section, make_section, window

FloatArray = NDArray[np.float64]

SLAB = 4.0      # [d] through the middle; a drum, or what is thinner, is seen whole
CELL = 0.25     # [d] of the drawn grid
ARROWS = 2.0    # [d] between arrows, at least
MOST_ARROWS = 28  # along the longer side
LEAST_SOLID = 0.12  # solid fraction below which a place counts as empty


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
    from_zero: bool = True


FIELDS = {
    "velocity": FieldKind(
        "Velocity field", "speed", "m/s", "speed", lambda f: np.linalg.norm(f.velocity[..., :2], axis=-1), arrows=True
    ),
    "density": FieldKind("Bulk density", "density", "kg/m³", "field", lambda f: f.density),
    "packing": FieldKind("Solid fraction", "solid fraction", "", "field", lambda f: f.solid_fraction),
    "pressure": FieldKind("Pressure field", "pressure", "Pa", "load", lambda f: f.pressure, needs_contacts=True),
    "shear": FieldKind("Shear rate", r"shear rate $\sqrt{\mathrm{tr}\,D^T D}$", "1/s", "rate", lambda f: f.shear_rate, logarithmic=True),
    "inertial": FieldKind(
        "Inertial number", "inertial number $I$", "", "rate", lambda f: f.inertial_number, logarithmic=True, needs_contacts=True
    ),
}  # fmt: skip


def field_of(recording: Recording, look: Look) -> tuple[Section, list[Snapshot], Fields]:
    """The section that a look asks for, the snapshots as seen in it, and their fields: axes across, up, and depth (integrated over)."""
    seen = look.snapshots(recording)
    d = 2 * float(seen[-1].radius.mean())
    section = make_section(seen[-1], look.view, look.slab, SLAB, whole_drum=True)
    seen = [section.seen(s) for s in seen]
    inside = [s.position[section.holds(s.position[:, 2]), :2] for s in seen]
    reach = [s.radius[section.holds(s.position[:, 2]), None] for s in seen]
    low = np.min([(x - r).min(axis=0) for x, r in zip(inside, reach, strict=True) if len(x)], axis=0)
    high = np.max([(x + r).max(axis=0) for x, r in zip(inside, reach, strict=True) if len(x)], axis=0)
    nx, ny = np.maximum(np.ceil((high - low) / (CELL * d)), 2).astype(int).tolist()
    grid = Grid(np.array([*low, section.depth[0]]), np.array([*high, section.depth[1]]), (nx, ny, 1))
    return section, seen, coarse_grain(seen, grid, width=(look.width or 1.0) * d)


def draw_field(recording: Recording, look: Look, name: str) -> Any:
    """One of ``FIELDS`` in colours, with arrows for the velocity."""
    from matplotlib.colors import LogNorm, Normalize

    kind = FIELDS[name]
    section, seen, fields = field_of(recording, look)
    s = seen[-1]
    if kind.needs_contacts and not any((t.normal_force > 0).any() for t in seen):
        raise InputError(f"no contact carries force at t = {s.time:g} s in {recording.path}: there is no {kind.title.lower()}. "
                         "Choose a later frame.")  # fmt: skip
    filled = fields.solid_fraction[:, :, 0] > LEAST_SOLID
    values, unit = style.scaled(np.where(filled, kind.values(fields)[:, :, 0], np.nan), kind.unit) if kind.unit not in ("", "kg/m³") else (
        np.where(filled, kind.values(fields)[:, :, 0], np.nan), kind.unit)  # fmt: skip
    if not np.isfinite(values).any():
        raise InputError(f"the grains at t = {s.time:g} s in {recording.path} are too sparse for a field. Choose another frame or a wider --width.")
    extent = window(section, s)
    thick = (section.depth[1] - section.depth[0]) / (2 * s.radius.mean())
    subtitle = f"{about(recording, seen)}; slab of {thick:.2g} d, kernel {fields.width / (2 * s.radius.mean()):.2g} d"
    figure, axes, bar = style.drawing(extent, kind.title, subtitle, section.names, bar=True)
    low, high = np.nanmin(values), np.nanmax(values)
    norm: Any
    if kind.logarithmic:
        high = float(np.nanquantile(values, 0.995))
        norm = LogNorm(max(float(np.nanquantile(values, 0.02)), 1e-4 * high), high)
    else:
        norm = Normalize(0.0, high if high > 0 else 1.0) if kind.from_zero else Normalize(low, high)
    x, y, _ = fields.grid.centres
    image = axes.pcolormesh(x, y, values.T, norm=norm, cmap=style.colours(kind.colours), shading="nearest", rasterized=True)
    if look.grains:
        draw_grains(axes, section, s, outline=True)
    if kind.arrows:
        _arrows(axes, fields, filled, 2 * float(s.radius.mean()), extent)
    draw_walls(axes, section, s, extent)
    style.colour_bar(figure, image, bar, f"{kind.label} [{unit}]" if unit else kind.label, extend="both" if kind.logarithmic else "neither")
    return figure


def _arrows(axes: Any, fields: Fields, filled: NDArray[np.bool_], d: float, extent: tuple[float, float, float, float]) -> None:
    """At every second diameter or so; the longest one bridges a gap and a half. Places that hardly move have none."""
    longer = max(extent[1] - extent[0], extent[3] - extent[2])
    gap = max(ARROWS * d, longer / MOST_ARROWS)
    every = [max(1, round(gap / side)) for side in fields.grid.cell[:2]]
    x, y, _ = fields.grid.centres
    at = (slice(every[0] // 2, None, every[0]), slice(every[1] // 2, None, every[1]))
    u, v = (np.where(filled, fields.velocity[:, :, 0, k], np.nan)[at] for k in (0, 1))
    speed = np.hypot(u, v)
    largest = float(np.nanmax(speed, initial=0.0))
    if not largest > 0:
        return
    u, v = (np.where(speed > 0.03 * largest, w, np.nan) for w in (u, v))
    axes.quiver(
        x[at[0]], y[at[1]], u.T, v.T, angles="xy", scale_units="xy", scale=largest / (1.5 * gap), width=0.10 * gap, units="xy",
        headwidth=3.4, headlength=4.0, headaxislength=3.6, color="white", edgecolor="black", linewidth=0.35, pivot="tail", zorder=4,
    )  # fmt: skip


def draw_grains(axes: Any, section: Section, s: Snapshot, *, outline: bool = False) -> None:
    """Grains whose centre lies in the slab, far ones first."""
    from matplotlib.collections import EllipseCollection

    inside = np.flatnonzero(section.holds(s.position[:, 2]))
    inside = inside[np.argsort(s.position[inside, 2], kind="stable")]
    size = 2 * s.radius[inside]
    look = {"facecolors": "none", "edgecolors": "0.25", "alpha": 0.35} if outline else {"facecolors": "0.955", "edgecolors": "0.82"}
    axes.add_collection(EllipseCollection(
        size, size, np.zeros(len(size)), units="xy", offsets=s.position[inside, :2], offset_transform=axes.transData, linewidths=0.4,
        zorder=2, **look,
    ), autolim=False)  # fmt: skip


def draw_walls(axes: Any, section: Section, s: Snapshot, extent: tuple[float, float, float, float]) -> None:
    """Where the middle of the slab cuts them."""
    from matplotlib.collections import LineCollection

    axes.add_collection(LineCollection(section.walls(s, extent), colors=style.DARK, linewidths=1.3, capstyle="round", zorder=5), autolim=False)
