"""Pictures of packings: grains in their cell coloured by pressure, and the network of forces.

A cell is drawn whole, with the images of grains that reach in or stand around it, paler. A contact across the boundary is drawn on both
sides as far as the boundary. Of a 3D packing the grains are shaded spheres, and the network is that of a slab seen along z.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..array_types import FloatArray
from ..io import Recording
from ..io.packing import read_packing
from ..quasistatic.energy import Touching
from ..quasistatic.measure import Measured, measure, network
from ..quasistatic.packing import Packing, ball_volume
from . import style
from .look import Look
from .picture import DPI, FINER, LIGHT, VIEW
from .render import Camera, Window, render

AROUND = 0.9  # [d] of images around the cell
STRONGEST = 4.0  # [mean force] from here on lines grow no more
THICKEST = 0.34  # [d]
SLAB = 1.6  # [d] of a 3D packing whose network is drawn
HIGHEST = 3.0  # [mean pressure] from here on grains get no darker
SIZE = 6.2  # [inch] of the longer side of a picture
RATTLER, PALE = (0.925, 0.925, 0.925), 0.30


def draw_packing(recording: Recording, look: Look) -> Any:
    """Grains coloured by the pressure on them; rattlers are grey."""
    return packing_picture(_chosen(recording, look))


def packing_picture(packing: Packing, finer: float = FINER) -> Any:
    """The figure of a packing; ``finer`` is how many pixels of an image of spheres there are for one of the picture, each way."""
    found = measure(packing)
    load = grain_pressure(packing, network(packing).touching)
    backbone = ~found.rattlers
    mean = float(load[backbone].mean()) if backbone.any() else 0.0
    part = load / mean if mean > 0 else np.zeros_like(load)
    title, subtitle = "Packing", in_words(packing, found)
    if packing.dim == 3:
        return _spheres(packing, part, found, (title, subtitle), finer)
    figure, axes, bar, scale = _sheet(packing.cell.vectors, packing.diameter, title, subtitle, bar=mean > 0)
    mapped, rgba = _colours(part, found.rattlers)
    _draw_discs(axes, packing, np.arange(packing.count), packing.position, rgba, "0.45", scale)
    if bar is not None:
        style.colour_bar(figure, mapped, bar, r"pressure $p / \langle p \rangle$", extend="max")
    _draw_cell(axes, packing.cell.vectors)
    return figure


def draw_force_network(recording: Recording, look: Look) -> Any:
    """A line from centre to centre for every contact, as thick and dark as it pushes; grains are faint."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import Normalize

    packing = _chosen(recording, look)
    found, touching = measure(packing), network(packing).touching
    grains, shown = np.arange(packing.count), np.arange(len(touching.a))
    subtitle = in_words(packing, found)
    if packing.dim == 3:
        thick = (SLAB if look.slab is None else look.slab) * packing.diameter
        grains, shown = _slab(packing, touching, thick)
        subtitle += f"; slab of {thick / packing.diameter:.2g} d"
    pushing = touching.force[shown] > 0
    shown = shown[pushing][np.argsort(touching.force[shown[pushing]], kind="stable")]
    vectors = packing.cell.vectors[:2, :2]
    figure, axes, bar, scale = _sheet(vectors, packing.diameter, "Force network", subtitle, bar=len(shown) > 0)
    plain = np.where(found.rattlers[:, None], (1.0, 1.0, 1.0, 1.0), (0.945, 0.945, 0.945, 1.0))
    _draw_discs(axes, packing, grains, packing.position[:, :2], plain, "0.78", scale)
    if len(shown):
        mean = found.mean_force if found.mean_force > 0 else float(touching.force.mean())
        part = touching.force[shown] / mean
        branch = (touching.distance[:, None] * touching.normal)[shown][:, :2]
        a, b = packing.position[touching.a[shown], :2], packing.position[touching.b[shown], :2]
        # Both ways: what lies beyond the boundary is clipped, so a contact across it is seen as its two halves.
        lines: Any = np.stack([np.stack([a, a + branch], axis=1), np.stack([b - branch, b], axis=1)], axis=1).reshape(-1, 2, 2)
        part = np.repeat(part, 2)
        wide = 0.2 + THICKEST * packing.diameter * scale * np.minimum(part, STRONGEST) / STRONGEST
        mapped = LineCollection(
            lines,
            array=part,
            norm=Normalize(0.0, STRONGEST),
            cmap=style.colours("load"),
            linewidths=wide,
            capstyle="round",
            zorder=3,
        )
        axes.add_collection(mapped, autolim=False)
        mapped.set_clip_path(_outline(vectors), transform=axes.transData)
        style.colour_bar(figure, mapped, bar, r"force $f / \langle f \rangle$", extend="max")
    _draw_cell(axes, vectors)
    return figure


def grain_pressure(packing: Packing, touching: Touching) -> FloatArray:
    """(N,) [N/m^(d-1)]: trace of the stress of each grain over d, its contacts at its surface."""
    push = np.bincount(touching.a, touching.force, packing.count) + np.bincount(touching.b, touching.force, packing.count)
    return np.asarray(push * packing.radius / packing.dim / ball_volume(packing.dim, packing.radius))


def in_words(packing: Packing, found: Measured) -> str:
    """Subtitle: grains, packing fraction, coordination."""
    words = f"{packing.count} grains, $\\phi$ = {packing.phi:.6g}"
    if not found.jammed:
        return f"{words}, not jammed"
    return f"{words}, z = {found.coordination:.3f}, {found.rattler_count} rattlers"


def _chosen(recording: Recording, look: Look) -> Packing:
    return read_packing(recording, look.indices(recording)[-1])


def _slab(packing: Packing, touching: Touching, thick: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Grains with their centre, and contacts with their point, in the middle of the cell."""
    middle = float(packing.cell.vectors[:, 2].sum()) / 2
    point = packing.position[touching.a, 2] + touching.normal[:, 2] * packing.radius[touching.a]
    grains = np.flatnonzero(np.abs(packing.position[:, 2] - middle) <= thick / 2)
    return grains[np.argsort(packing.position[grains, 2])], np.flatnonzero(np.abs(point - middle) <= thick / 2)


def _colours(part: FloatArray, rattlers: NDArray[np.bool_]) -> tuple[Any, FloatArray]:
    """What a colour bar needs, and (N, 4) colours of the grains."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    mapped = ScalarMappable(Normalize(0.0, HIGHEST), style.colours("grains"))
    rgba = np.array(mapped.to_rgba(part))
    rgba[rattlers] = (*RATTLER, 1.0)
    return mapped, rgba


def _sheet(vectors: FloatArray, d: float, title: str, subtitle: str, *, bar: bool) -> tuple[Any, Any, Any, float]:
    """Figure, axes (without ticks), colour bar axes and points in a metre of a drawing of a flat cell."""
    corners = _corners(vectors)
    low, high = corners.min(axis=0) - AROUND * d, corners.max(axis=0) + AROUND * d
    wide, tall = (high - low) * SIZE / (high - low).max()
    left, right, bottom, top = 0.2, 1.0 if bar else 0.2, 0.45, 0.72
    width, height = max(left + wide + right, style.LEAST_WIDTH), bottom + tall + top
    figure = style.new_figure(width, height)
    axes = figure.add_axes((left / width, bottom / height, wide / width, tall / height))
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    axes.set_axis_off()
    count = max((n * 10**k for k in range(6) for n in (1, 2, 5) if n * 10**k * d <= (high[0] - low[0]) / 5), default=1)
    x, y = corners[:, 0].min(), low[1] - 0.012 * (high[1] - low[1])
    axes.plot([x, x + count * d], [y, y], color=style.DARK, lw=2.2, solid_capstyle="butt", clip_on=False)
    axes.text(x + count * d / 2, y - 0.012 * (high[1] - low[1]), f"{count} d", ha="center", va="top", fontsize=8, color=style.DARK)
    legend = None
    if bar:
        long = min(tall, 3.6)
        legend = figure.add_axes(((left + wide + 0.1) / width, (bottom + (tall - long) / 2) / height, 0.13 / width, long / height))
    style.head(figure, title, subtitle)
    return figure, axes, legend, SIZE * 72 / float((high - low).max())


def _corners(vectors: FloatArray) -> FloatArray:
    """(4, 2) of a flat cell, around it."""
    u, v = vectors
    return np.array([0 * u, u, u + v, v])


def _outline(vectors: FloatArray) -> Any:
    from matplotlib.path import Path

    return Path(np.concatenate([_corners(vectors), [[0.0, 0.0]]]))


def _draw_cell(axes: Any, vectors: FloatArray) -> None:
    from matplotlib.patches import PathPatch

    axes.add_patch(PathPatch(_outline(vectors), fill=False, edgecolor=style.DARK, lw=1.1, zorder=5))


def _draw_discs(
    axes: Any, packing: Packing, grains: NDArray[np.integer], position: FloatArray, colour: FloatArray, line: str, scale: float
) -> None:
    """Grains and their images around the cell; ``colour`` (N, 4) of all grains, ``line`` of their edges."""
    from matplotlib.collections import EllipseCollection

    vectors = packing.cell.vectors[:2, :2]
    inverse = np.linalg.inv(vectors)
    place, number, near = [], [], AROUND * packing.diameter * np.linalg.norm(inverse, axis=0)
    for step in product((-1, 0, 1), repeat=2):
        moved = position[grains] + np.array(step) @ vectors
        part = moved @ inverse
        reach = packing.radius[grains, None] * np.linalg.norm(inverse, axis=0)
        seen = ((part + reach > -near) & (part - reach < 1 + near)).all(axis=1) & ((part > -2 * near) & (part < 1 + 2 * near)).all(axis=1)
        place.append(moved[seen])
        number.append(grains[seen])
    centre, owner = np.concatenate(place), np.concatenate(number)
    size = 2 * packing.radius[owner]
    fine = min(0.5, 0.05 * packing.diameter * scale)

    def discs(rgba: FloatArray, edge: str, order: int) -> Any:
        return EllipseCollection(
            size,
            size,
            np.zeros(len(size)),
            units="xy",
            offsets=centre,
            offset_transform=axes.transData,
            facecolors=rgba,
            edgecolors=edge,
            linewidths=fine,
            zorder=order,
        )

    rgba = np.array(colour[owner])
    pale = rgba.copy()
    pale[:, :3] = 1 - PALE * (1 - pale[:, :3])
    axes.add_collection(discs(pale, "0.9", 1), autolim=False)
    inside = discs(rgba, line, 2)
    axes.add_collection(inside, autolim=False)
    inside.set_clip_path(_outline(vectors), transform=axes.transData)


def _spheres(packing: Packing, part: FloatArray, found: Measured, titles: tuple[str, str], finer: float) -> Any:
    """Shaded spheres in a box."""
    position = packing.cell.wrap(packing.position)
    camera = Camera.at(*VIEW)
    mapped, rgba = _colours(part, found.rattlers)
    u = packing.cell.vectors
    corner = {bits: np.array(bits) @ u for bits in product((0, 1), repeat=3)}
    edges = [(corner[p], corner[q]) for p in corner for q in corner if sum(abs(i - j) for i, j in zip(p, q, strict=True)) == 1 and p < q]
    seen = camera.project(position)
    outline = camera.project(np.array(list(corner.values())))[:, :2]
    reach = float(packing.radius.max())
    low = np.minimum(outline.min(axis=0), (seen[:, :2] - packing.radius[:, None]).min(axis=0)) - 0.3 * reach
    high = np.maximum(outline.max(axis=0), (seen[:, :2] + packing.radius[:, None]).max(axis=0)) + 0.3 * reach
    pixel = float((high - low).max()) / (SIZE * DPI * finer)
    columns, rows = (int(n) for n in np.ceil((high - low) / pixel))
    window = Window(low[0], low[1], pixel, rows, columns)
    light = LIGHT[0] * camera.right + LIGHT[1] * camera.towards + LIGHT[2] * np.array([0.0, 0.0, 1.0])
    image = render(position, packing.radius, rgba[:, :3], camera, window, light=light)
    wide, tall = columns / finer / DPI, rows / finer / DPI
    width, height = wide + 1.4, tall + 1.0
    figure = style.new_figure(width, height)
    axes = figure.add_axes((0.2 / width, 0.15 / height, wide / width, tall / height))
    axes.imshow(image, extent=window.extent, origin="lower", interpolation="antialiased", zorder=2)
    middle = float(camera.project(u.sum(axis=0)[None] / 2)[0, 2])
    for p, q in edges:
        ends = camera.project(np.stack([p, q]))
        front = ends[:, 2].mean() > middle
        axes.plot(ends[:, 0], ends[:, 1], color="0.25", lw=0.8, alpha=0.5 if front else 0.8, zorder=3 if front else 1)
    axes.set(xlim=window.extent[:2], ylim=window.extent[2:])
    axes.set_axis_off()
    if (part > 0).any():
        bar = figure.add_axes(((0.2 + wide + 0.15) / width, (0.15 + 0.2 * tall) / height, 0.13 / width, 0.6 * tall / height))
        style.colour_bar(figure, mapped, bar, r"pressure $p / \langle p \rangle$", extend="max")
    style.head(figure, *titles)
    return figure
