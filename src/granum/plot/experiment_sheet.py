"""What the figures of all experiments share: size, colours, axes, and how they are saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .._version import __version__

DPI = 150
COLOURS = ("#222222", "#0072b2", "#d55e00", "#009e73", "#e69f00", "#cc79a7", "#56b4e9")  # told apart by all
MARKERS = "osD^vPX"


def new_figure(width: float, height: float) -> Any:
    """An empty figure, in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=DPI, facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def series(k: int) -> dict[str, Any]:
    """Colour and marker of curve ``k``."""
    return {"color": COLOURS[k % len(COLOURS)], "marker": MARKERS[k % len(MARKERS)], "ms": 5, "lw": 1.6}


def head(axes: Any, text: str) -> None:
    """Title, grid and spines of a panel."""
    axes.set_title(text, fontsize=10, loc="left")
    axes.grid(True, which="major", color="0.9", lw=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def guide(axes: Any, count: np.ndarray, top: float) -> None:
    """A line of slope 1."""
    axes.plot(count, top * count / count[-1], color="0.75", lw=1, ls="-.", label="linear", zorder=0)


def ticks(axis: Any, values: Any, inside: tuple[float, float] = (0.0, np.inf)) -> None:
    """Plain numbers on a logarithmic axis."""
    axis.set_ticks([v for v in values if inside[0] <= v <= inside[1]])
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(lambda x, at: "")


def save(figure: Any, path: Path, title: str) -> Path:
    """Write it with its title and who made it."""
    figure.suptitle(title, fontsize=12, fontweight="bold", x=0.01, ha="left")
    figure.savefig(path, dpi=DPI, metadata={"Software": f"granum {__version__}", "Title": title})
    return path
