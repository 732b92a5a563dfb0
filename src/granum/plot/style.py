"""How all figures look: sizes, fonts, colours that are told apart by all, units on axes, titles, saving."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np

from .._version import __version__
from ..array_types import FloatArray
from ..checks import InputError, expect

DPI = 150
FORMATS = (".png", ".pdf", ".svg")  # in which figures are saved
GREY, DARK, FAINT = "0.4", "0.15", "0.88"
BLUE, ORANGE, GREEN, PINK, SKY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9"
LINES = (BLUE, ORANGE, GREEN, PINK, SKY, "#e69f00")
MAPS = {
    "speed": ("viridis", 0.12, 1.0),
    "field": ("cividis", 0.0, 1.0),
    "load": ("YlOrRd", 0.3, 1.0),
    "rate": ("magma", 0.15, 0.95),
    "grains": ("YlGnBu", 0.06, 0.95),
}

PLANE_BOX = (6.6, 5.0)  # [inch] a drawing to scale fits into this
LEFT, RIGHT, BOTTOM, TOP = 0.72, 1.15, 0.55, 0.72  # [inch] around it
LEAST_WIDTH = 4.2  # [inch] of a figure: its title needs room


_PLACE: ContextVar[Any] = ContextVar("place", default=None)


@contextmanager
def placed(place: Any) -> Iterator[None]:
    """The figure that is made meanwhile becomes a part of another: ``place`` is axes, whose place it takes, or an empty (sub)figure."""
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

    if isinstance(place, Axes):
        spec = place.get_subplotspec()
        if spec is None:
            raise InputError("ax must be axes of a grid, as plt.subplots makes them, or a subfigure (got axes that are in no grid).")
        around = place.figure
        place.remove()
        place = around.add_subfigure(spec)
    expect("ax", place, FigureBase, Axes)
    token = _PLACE.set(place)
    try:
        yield
    finally:
        _PLACE.reset(token)


def inches(figure: Any) -> tuple[float, float]:
    """Width and height of a figure or a subfigure."""
    return figure.bbox.width / figure.dpi, figure.bbox.height / figure.dpi


def room(width: float, height: float) -> tuple[float, float]:
    """Width and height [inch] that a figure has: those it asks for, or those of the place that it is put into."""
    place = _PLACE.get()
    return (width, height) if place is None else inches(place)


def new_figure(width: float, height: float, dpi: float = DPI) -> Any:
    """A figure [inch] without a window; inside of :func:`placed` it is the place."""
    if _PLACE.get() is not None:
        return _PLACE.get()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=dpi, facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def chart(title: str, subtitle: str, panels: int = 1, width: float = 7.2, height: float = 3.9) -> tuple[Any, list[Any]]:
    """A figure with ``panels`` axes above each other, which share their x axis."""
    width, tall = room(width, height if panels == 1 else 1.15 + (height - 1.0) * 0.78 * panels)
    figure = new_figure(width, tall)
    found = figure.subplots(
        panels,
        1,
        sharex=True,
        squeeze=False,
        gridspec_kw={"left": 0.85 / width, "right": 1 - 0.3 / width, "bottom": 0.6 / tall, "top": 1 - 0.8 / tall, "hspace": 0.16},
    )[:, 0]
    for axes in found:
        tidy(axes)
    head(figure, title, subtitle)
    return figure, list(found)


def drawing(
    extent: tuple[float, float, float, float], title: str, subtitle: str, names: tuple[str, str], bar: bool
) -> tuple[Any, Any, Any]:
    """Figure, axes and colour bar axes (or None) of a drawing to scale of left, right, bottom, top [m]."""
    left, right, bottom, top = extent
    beside, above = LEFT + (RIGHT if bar else 0.3), BOTTOM + TOP
    box = np.maximum(np.subtract(room(PLANE_BOX[0] + beside, PLANE_BOX[1] + above), (beside, above)), 0.5)
    scale = float(min(box[0] / (right - left), box[1] / (top - bottom)))
    wide, tall = (right - left) * scale, (top - bottom) * scale
    width, height = room(max(beside + wide, LEAST_WIDTH), tall + above)
    figure = new_figure(width, height)
    axes = figure.add_axes((LEFT / width, BOTTOM / height, wide / width, tall / height))
    axes.set(xlim=(left, right), ylim=(bottom, top))
    factor, unit = length_unit(max(right - left, top - bottom))
    for axis, name, inches, ends in ((axes.xaxis, names[0], wide, (left, right)), (axes.yaxis, names[1], tall, (bottom, top))):
        ticks = _round_numbers(ends[0] * factor, ends[1] * factor, inches)
        axis.set_ticks(ticks / factor, [f"{x:g}" for x in ticks])
        axis.set_label_text(f"{name} [{unit}]", fontsize=9)
    axes.tick_params(labelsize=8, color=GREY)
    for side in axes.spines.values():
        side.set(color="0.6", linewidth=0.7)
    legend = None
    if bar:
        high = min(tall, 3.6)
        legend = figure.add_axes(((LEFT + wide + 0.16) / width, (BOTTOM + (tall - high) / 2) / height, 0.13 / width, high / height))
    head(figure, title, subtitle)
    return figure, axes, legend


def _round_numbers(low: float, high: float, inches: float) -> FloatArray:
    """Ticks between two ends of an axis of that length."""
    from matplotlib.ticker import MaxNLocator

    found = np.asarray(MaxNLocator(max(2, min(8, int(inches / 0.6))), steps=[1, 2, 5, 10]).tick_values(low, high))
    return np.round(found[(found >= low) & (found <= high)], 12)


def colour_bar(figure: Any, mapped: Any, axes: Any, label: str, **more: Any) -> None:
    """In its axes, with its label."""
    bar = figure.colorbar(mapped, cax=axes, **more)
    bar.set_label(label, fontsize=9)
    bar.outline.set(color="0.6", linewidth=0.7)
    axes.tick_params(labelsize=8, color=GREY)


def colours(name: str) -> Any:
    """A colour map by what it shows: one of ``MAPS``."""
    from matplotlib import colormaps
    from matplotlib.colors import LinearSegmentedColormap

    base, low, high = MAPS[name]
    return LinearSegmentedColormap.from_list(name, colormaps[base](np.linspace(low, high, 256)))


def head(figure: Any, title: str, subtitle: str) -> None:
    """Title, and below it what the figure is of."""
    width, height = inches(figure)
    figure.text(0.14 / width, 1 - 0.12 / height, title, fontsize=12, fontweight="bold", va="top", color=DARK)
    figure.text(0.14 / width, 1 - 0.38 / height, subtitle, fontsize=8.5, color=GREY, va="top")


def tidy(axes: Any) -> None:
    """Light grid, no box."""
    axes.grid(True, which="major", color="0.92", lw=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    for side in axes.spines.values():
        side.set(color="0.6", linewidth=0.8)
    axes.tick_params(labelsize=8.5, color=GREY)
    axes.xaxis.label.set_size(9.5)
    axes.yaxis.label.set_size(9.5)


def note(axes: Any, text: str, low: bool = False) -> None:
    """Numbers in the upper right corner, or, where curves are high, in the lower one."""
    axes.text(
        0.985,
        0.05 if low else 0.97,
        text,
        transform=axes.transAxes,
        ha="right",
        va="bottom" if low else "top",
        fontsize=9,
        color=DARK,
        linespacing=1.4,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 2},
    )


def length_unit(size: float) -> tuple[float, str]:
    """Factor and unit for lengths up to ``size`` [m]."""
    return (1.0, "m") if size >= 1 else (1e3, "mm")


def scaled(values: FloatArray, unit: str) -> tuple[FloatArray, str]:
    """Values with the prefix that makes the largest one a number from 1 to 1000."""
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    for limit, factor, prefix in ((1e-6, 1e9, "n"), (1e-3, 1e6, "µ"), (1.0, 1e3, "m"), (1e3, 1.0, ""), (1e6, 1e-3, "k"), (1e9, 1e-6, "M")):
        if 0 < largest < limit:
            return values * factor, prefix + unit
    return values, unit


def save(figure: Any, path: Path, title: str) -> None:
    """As PNG, PDF or SVG, by the name."""
    made_by = "Software" if path.suffix.lower() == ".png" else "Creator"
    figure.savefig(path, dpi=DPI, metadata={"Title": title, made_by: f"granum {__version__}"})
