"""Figures of the experiment with the excavator, from the arrays that it returns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...plot.experiment_sheet import head, new_figure, save
from .ws import STYLE

ACCURATE_STYLE: dict[str, Any] = {"color": "#009e73"}
SMOOTHED = 0.1  # [s] over which forces are averaged
MOST_SHOWN = 20_000  # grains of a section
GREY = "0.75"  # grains above ground, as in the paper


def draw_forces(curves: dict[str, Any], path: Path) -> Path:
    """Force of the stick's cylinder and stones in the bucket over time (WS Fig. 19)."""
    figure = new_figure(11.0, 4.6)
    left, right = figure.subplots(1, 2)
    for method, one in curves["runs"].items():
        colour = STYLE.get(method, ACCURATE_STYLE)["color"]
        width = max(1, round(SMOOTHED / (one["time"][1] - one["time"][0])))
        mean = np.convolve(one["force"]["stick"], np.ones(width) / width, mode="valid")
        left.plot(one["time"][len(one["time"]) - len(mean) :], mean / 1e3, color=colour, lw=1.3, label=method)
        right.plot(one["load_time"], one["load"], color=colour, lw=1.3, label=method)
    for axes in (left, right):
        axes.axvspan(*one["drag"], color="0.93", zorder=0)
        axes.set(xlabel="time [s]")
        axes.legend(fontsize=8, frameon=False, loc="upper left")
    left.set(ylabel="force of the stick's cylinder [kN]")
    right.set(ylabel="stones in the bucket [kg]", ylim=(0, None))
    head(left, f"middle cylinder, mean over {SMOOTHED:g} s (grey: the drag)")
    head(right, "load of the bucket")
    return save(figure, path, "Excavator: forces by warm start (WS Fig. 19)")


def draw_beds(curves: dict[str, Any], path: Path) -> Path:
    """The middle of the trench after the drag, coloured by height, grains above ground grey (WS Fig. 18)."""
    from matplotlib import colormaps
    from matplotlib.collections import EllipseCollection

    runs = curves["runs"]
    figure = new_figure(9.0, 2.7 * len(runs))
    panels = np.atleast_1d(figure.subplots(len(runs), 1, sharex=True))
    for axes, (method, one) in zip(panels, runs.items(), strict=True):
        bed, (low, high) = one["bed"], one["trench"]
        shown = np.flatnonzero(np.abs(bed["y"]) < 0.25 * (high[1] - low[1]))
        shown = shown[np.argsort(-bed["y"][shown])][-MOST_SHOWN:]
        size = 2 * bed["radius"][shown]
        grains = EllipseCollection(
            size, size, np.zeros(len(shown)), units="xy", offsets=np.stack([bed["x"][shown], bed["z"][shown]], axis=1),
            offset_transform=axes.transData, cmap=colormaps["jet"].with_extremes(bad=GREY), edgecolor="0.2", linewidth=0.1,
        )  # fmt: skip
        grains.set_array(np.ma.masked_greater(bed["z"][shown], 0.0))
        grains.set_clim(low[2], 0.0)
        axes.add_collection(grains)
        axes.plot([low[0] - 0.4, low[0], low[0], high[0], high[0], high[0] + 0.4], [0, 0, low[2], low[2], 0, 0], color="0.2", lw=1)
        axes.axhline(low[2] + one["height"], color="0.2", lw=0.7, ls=":")
        axes.set(xlim=(low[0] - 0.5, high[0] + 0.5), ylim=(low[2] - 0.1, -0.7 * low[2]), aspect="equal", ylabel="z [m]")
        head(axes, f"{method}: undisturbed height {one['height']:.3f} m (dotted)")
    figure.colorbar(grains, ax=panels.tolist(), label="height [m]", shrink=0.8)
    panels[-1].set(xlabel="x [m]")
    return save(figure, path, "Excavator: the bed after the drag (WS Fig. 18)")
