"""Residual of several solvers on one problem, against work and against time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..array_types import FloatArray
from . import style

FEW = 40  # rows up to which each is marked


def draw_solves(
    curves: Mapping[str, Mapping[str, FloatArray]], subtitle: str, start: float | None = None, tolerance: float | None = None
) -> Any:
    """Of each solver ``work`` [sweeps of plain PGS], ``seconds`` and ``residual`` [m/s], row by row; ``start`` is the residual before."""
    width, height = 9.6, 4.6
    figure = style.new_figure(width, height)
    left, right = figure.subplots(
        1,
        2,
        sharey=True,
        gridspec_kw={"left": 0.8 / width, "right": 1 - 0.25 / width, "bottom": 0.62 / height, "top": 1 - 0.85 / height, "wspace": 0.08},
    )
    longest = max((float(curve["seconds"][-1]) for curve in curves.values() if len(curve["seconds"])), default=1.0)
    factor, unit = (1.0, "s") if longest >= 1 else (1e3, "ms")
    for axes, what, scale, label in (
        (left, "work", 1.0, "work [sweeps of plain PGS]"),
        (right, "seconds", factor, f"wall time [{unit}]"),
    ):
        style.tidy(axes)
        for k, (name, curve) in enumerate(curves.items()):
            shown = curve["residual"] > 0
            x, y = scale * curve[what][shown], curve["residual"][shown]
            marked = {"marker": "o", "ms": 3.5} if len(x) <= FEW else {}
            (line,) = axes.plot(x, y, color=style.LINES[k % len(style.LINES)], lw=1.6, label=name, **marked)
            if len(x):
                axes.plot(x[-1], y[-1], "o", ms=5.5, color=line.get_color(), clip_on=False)
        for level, words in ((start, "start"), (tolerance, "tolerance")):
            if level:
                axes.axhline(level, color=style.GREY, lw=0.9, ls=(0, (4, 3)), zorder=0)
                if axes is left:
                    axes.annotate(
                        words,
                        (1, level),
                        xycoords=("axes fraction", "data"),
                        xytext=(-3, 2),
                        textcoords="offset points",
                        fontsize=8,
                        color=style.GREY,
                        ha="right",
                    )
        axes.set(xscale="log", yscale="log")
        axes.set_xlabel(label, fontsize=9.5)
    left.set_ylabel("residual [m/s]", fontsize=9.5)
    left.legend(frameon=False, fontsize=9, loc="lower left")
    style.head(figure, "Solvers on one contact problem", subtitle)
    return figure
