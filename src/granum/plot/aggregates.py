"""Who has merged with whom: grains of a slab as shaded spheres, coloured by the rigid body that they are part of."""

from __future__ import annotations

import colorsys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..analysis.merged import merged_counts, who_is_merged
from ..analysis.snapshot import Snapshot
from ..array_types import FloatArray
from ..io import Recording
from . import style
from .look import Look, about
from .render import Window, render
from .section import Section, draw_walls, make_section, window

SLAB = 3.0  # [d]
PIXELS = 1500  # of the longer side
FREE, HELD = (0.93, 0.42, 0.06), (0.68, 0.67, 0.65)
COOL = 0.42, 0.40  # first hue of aggregates, and how far hues go: none is taken for that of free grains
SPREAD = 0.7548777, 0.5698403  # steps in hue and lightness that fill the plane evenly
LIGHT = (-0.5, 0.55, 1.0)  # right, up, towards the viewer


def draw_aggregates(recording: Recording, look: Look) -> Any:
    """Free grains orange, those that walls hold grey, aggregates in cool colours, each of its own."""
    from matplotlib.patches import Patch, Rectangle

    s = look.snapshots(recording)[-1]
    counts = merged_counts(s)
    section = make_section(s, look.view, look.slab, SLAB)
    seen = section.seen(s)
    extent = window(section, seen)
    subtitle = f"{about(recording, [s])}; reduction level {counts.level:.1%}, slab of {section.thickness(s):.2g} d"
    figure, axes, _ = style.drawing(extent, "Aggregates", subtitle, section.names, bar=False)
    axes.imshow(_image(section, s, extent), extent=extent, origin="lower", interpolation="antialiased", zorder=2, aspect="auto")
    draw_walls(axes, section, seen, extent)
    for sensor in s.scene.sensors:
        low, high = np.sort(section.camera.project(np.array(sensor.bounds))[:, :2], axis=0)
        axes.add_patch(Rectangle(low, *(high - low), fill=False, ls="--", lw=1.0, ec=style.BLUE, zorder=4))
    kinds = [
        Patch(color=FREE, label=f"free: {counts.free}"),
        Patch(color=HELD, label=f"held by walls: {counts.held}"),
        Patch(color=colours_of(np.array([0]))[0], label=f"in {counts.aggregates} aggregates: {counts.merged}"),
    ]
    width, height = figure.get_size_inches()
    figure.legend(
        handles=kinds,
        loc="upper left",
        bbox_to_anchor=(0.06 / width, 1 - 0.53 / height),
        ncols=3,
        frameon=False,
        fontsize=8.5,
        handlelength=1.0,
        columnspacing=1.4,
        borderpad=0.0,
    )
    return figure


def grain_colours(s: Snapshot) -> FloatArray:
    """(N, 3) red, green and blue of every grain."""
    _, held, merged = who_is_merged(s)
    colour = np.tile(np.array(FREE), (s.grain_count, 1))
    colour[held] = HELD
    if s.aggregate is not None:
        colour[merged] = colours_of(s.aggregate[merged] - len(s.wall_position))
    return colour


def colours_of(number: NDArray[np.integer]) -> FloatArray:
    """(n, 3) of aggregates by their number: the same in all frames, far apart for numbers that follow each other."""
    distinct, of = np.unique(number, return_inverse=True)
    table = [colorsys.hls_to_rgb(COOL[0] + COOL[1] * (k * SPREAD[0] % 1.0), 0.38 + 0.32 * (k * SPREAD[1] % 1.0), 0.55) for k in distinct]
    return np.array(table).reshape(-1, 3)[of.ravel()]


def _image(section: Section, s: Snapshot, extent: tuple[float, float, float, float]) -> NDArray[np.float32]:
    """Of the grains whose centre lies in the slab, as far as the drawing goes."""
    left, right, bottom, top = extent
    pixel = max(right - left, top - bottom) / PIXELS
    rows, columns = max(1, round((top - bottom) / pixel)), max(1, round((right - left) / pixel))
    shown = section.holds(section.camera.project(s.position)[:, 2])
    camera = section.camera
    light = LIGHT[0] * camera.right + LIGHT[1] * camera.up + LIGHT[2] * camera.towards
    return render(
        s.position[shown], s.radius[shown], grain_colours(s)[shown], camera, Window(left, bottom, pixel, rows, columns), light=light
    )
