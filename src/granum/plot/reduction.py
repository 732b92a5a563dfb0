"""Model reduction: who has merged with whom, as shaded spheres coloured by their rigid body, and how far it got in time."""

from __future__ import annotations

import colorsys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..analysis.reduction import merged_counts, who_is_merged
from ..analysis.snapshot import Snapshot
from ..array_types import FloatArray
from ..checks import InputError
from ..io import Recording
from ..reduction.extension import AGGREGATE
from . import style
from .look import PLANE, Kind, Look, about
from .render import Window, render
from .section import Section, draw_walls, make_section, window
from .series import about_frames, frame_scalars, positive

SLAB = 3.0  # [d]
PIXELS = 1500  # of the longer side
FREE, HELD = (0.93, 0.42, 0.06), (0.68, 0.67, 0.65)
COOL = 0.42, 0.40  # first hue of aggregates, and how far hues go: none is taken for that of free grains
SPREAD = 0.7548777, 0.5698403  # steps in hue and lightness that fill the plane evenly
LEAST_ERROR = 1e-5  # of the largest
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
    width, height = style.inches(figure)
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
    if s.merged_into is not None:
        colour[merged] = colours_of(s.merged_into[merged] - len(s.wall_position))
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


def draw_reduction(recording: Recording, look: Look) -> Any:
    """Reduction level, bodies that are solved, and the approximation error if a shadow measured it."""
    if AGGREGATE not in recording.columns:
        raise InputError(f"{recording.path} is of a run without model reduction: run it with --reduce contact,trial or the like.")
    time, scalars = recording.times, frame_scalars(recording, "reduction_level", "free_grains", "aggregates")
    measured = "approximation_error" in recording.scalars
    figure, panels = style.chart("Model reduction", about_frames(recording), panels=3 if measured else 2)
    panels[0].plot(time, 100 * scalars["reduction_level"], color=style.BLUE, lw=1.5)
    panels[0].set(ylabel="reduction level [%]", ylim=(0, 100))
    panels[1].plot(time, scalars["free_grains"], color=style.ORANGE, lw=1.5, label="free grains")
    panels[1].plot(time, scalars["aggregates"], color=style.GREEN, lw=1.5, label="aggregates")
    panels[1].set(ylabel="bodies", ylim=(0, None))
    panels[1].legend(frameon=False, fontsize=8.5)
    if measured:
        names = {"approximation_error": ("whole", style.DARK), "perpendicular_error": ("across", style.PINK)}
        names["parallel_error"] = ("along", style.SKY)
        for name, (label, colour) in names.items():
            panels[2].plot(time, positive(recording.scalars[name]), color=colour, lw=1.3, label=label, drawstyle="steps-post")
        panels[2].set(yscale="log", ylabel=r"error / $d$")
        largest = float(np.nanmax(recording.scalars["approximation_error"], initial=0.0))
        if largest > 0:  # aggregates that only fly leave rounding errors
            panels[2].set_ylim(bottom=max(panels[2].get_ylim()[0], LEAST_ERROR * largest))
        panels[2].yaxis.set_minor_formatter("")
        panels[2].legend(frameon=False, fontsize=8.5, ncols=3)
    panels[-1].set(xlabel="time [s]", xlim=(time[0], time[-1]))
    return figure


FIGURES = {
    "aggregates": Kind(draw_aggregates, "grains of a slab, coloured by the aggregate that they are part of", PLANE),
    "reduction": Kind(draw_reduction, "level of model reduction in time, and its error if it was measured"),
}
