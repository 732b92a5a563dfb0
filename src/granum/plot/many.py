"""Many runs in one picture: measures over a parameter with error bars, histograms of an ensemble, and a calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..analysis.repeats import Group, Repeats, group_by
from ..array_types import FloatArray
from . import style

MOST_PANELS = 6
ERROR = "_error"  # at the end of the name of a number's own error


def panels_of(columns: Mapping[str, Any], measures: Sequence[str]) -> list[str]:
    """Measures that are drawn: errors are drawn with their numbers, and what nobody has is left out."""
    drawn = [m for m in measures if not (m.endswith(ERROR) and m.removesuffix(ERROR) in measures) and np.isfinite(columns[m]).any()]
    return drawn[:MOST_PANELS] or list(measures[:1])


def draw_sweep(
    title: str, columns: Mapping[str, Any], parameters: Sequence[str], measures: Sequence[str], headings: Mapping[str, str]
) -> Any:
    """Mean and standard deviation over the seeds against the first parameter, a line for each combination of the others; dots are runs."""
    drawn = panels_of(columns, measures)
    x_name, *others = parameters
    runs = len(columns[x_name])
    figure, panels = style.chart(title, f"{runs} runs; dots: runs, bars: standard deviation over seeds", len(drawn))
    places = _places(columns[x_name])
    lines = group_by(columns, others)
    for axes, measure in zip(panels, drawn, strict=True):
        for number, line in enumerate(lines):
            colour = style.LINES[number % len(style.LINES)]
            label = ", ".join(f"{name} {_short(value)}" for name, value in zip(others, line.point, strict=True))
            _draw_line(axes, columns, (x_name, measure), line, places, colour, label)
        axes.set_ylabel(headings[measure])
    panels[-1].set_xlabel(headings[x_name])
    if not np.issubdtype(np.asarray(columns[x_name]).dtype, np.number):
        panels[-1].set_xticks(list(places.values()), [str(value) for value in places])
    if others and len(lines) > 1:
        panels[0].legend(frameon=False, fontsize=8.5, ncols=1 + len(lines) // 5)
    return figure


def _draw_line(
    axes: Any, columns: Mapping[str, Any], names: tuple[str, str], line: Group, places: Mapping[Any, float], colour: str, label: str
) -> None:
    x_name, measure = names
    here = {x_name: [columns[x_name][k] for k in line.rows]}
    x, mean, spread = [], [], []
    for group in group_by(here, [x_name]):
        values = [float(columns[measure][line.rows[k]]) for k in group.rows]
        one = Repeats.of(values)
        x.append(places[group.point[0]])
        mean.append(one.mean)
        own = columns.get(measure + ERROR)
        spread.append(float(own[line.rows[group.rows[0]]]) if one.runs == 1 and own is not None else one.std)
        axes.plot([x[-1]] * len(values), values, "o", ms=3, color=colour, alpha=0.35, mec="none")
    bars = np.nan_to_num(np.array(spread, float))
    order = np.argsort(x)
    axes.errorbar(
        np.array(x)[order],
        np.array(mean)[order],
        yerr=bars[order],
        color=colour,
        marker="o",
        ms=4.5,
        lw=1.4,
        capsize=3,
        label=label or None,
    )


def _places(values: Any) -> dict[Any, float]:
    """Where the values of a parameter stand on an axis: numbers at their place, texts one after the other."""
    distinct = list(dict.fromkeys(values.tolist() if hasattr(values, "tolist") else values))
    numeric = all(isinstance(value, (int, float)) for value in distinct)
    return {value: float(value) if numeric else float(k) for k, value in enumerate(distinct)}


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, (int, float, np.number)) else str(value)


def draw_histograms(title: str, columns: Mapping[str, Any], measures: Sequence[str], headings: Mapping[str, str]) -> Any:
    """How often a number occurs among runs that differ by their seed, with mean and standard deviation."""
    drawn = panels_of(columns, measures)
    wide = min(2, len(drawn))
    tall = -(-len(drawn) // wide)
    width, height = 0.4 + 4.2 * wide, 1.0 + 2.5 * tall
    figure = style.new_figure(width, height)
    style.head(figure, title, f"{len(columns[measures[0]])} runs; line: mean, band: standard deviation")
    grid = {
        "left": 0.75 / width,
        "right": 1 - 0.2 / width,
        "bottom": 0.6 / height,
        "top": 1 - 0.75 / height,
        "hspace": 0.45,
        "wspace": 0.32,
    }
    panels = figure.subplots(tall, wide, squeeze=False, gridspec_kw=grid).ravel()
    for axes, measure in zip(panels, drawn, strict=False):
        values = np.asarray(columns[measure], float)
        values = values[np.isfinite(values)]
        one = Repeats.of(values.tolist())
        style.tidy(axes)
        if len(values):
            axes.hist(values, bins="auto" if np.ptp(values) else 1, color=style.BLUE, alpha=0.85, edgecolor="white", linewidth=0.5)
            axes.axvline(one.mean, color=style.ORANGE, lw=1.6)
        if one.runs > 1 and one.std > 0:
            axes.axvspan(one.mean - one.std, one.mean + one.std, color=style.ORANGE, alpha=0.15, lw=0, zorder=0)
        told = f"{one.mean:.6g} ± {one.std:.2g}" if one.runs > 1 else f"{one.mean:.6g}"
        axes.set_title(told, loc="left", fontsize=9, color=style.DARK)
        axes.set(xlabel=headings[measure], ylabel="runs")
        axes.locator_params(axis="x", nbins=5)
    for axes in panels[len(drawn) :]:
        axes.set_axis_off()
    return figure


def draw_calibration(
    title: str,
    tries: Mapping[str, FloatArray],
    curves: Sequence[Mapping[str, FloatArray]],
    target: tuple[float, float],
    labels: tuple[Sequence[str], str],
) -> Any:
    """What was measured at every try and the curve through it, for each parameter (the others as in the best one), with the target's band.

    ``curves`` have ``x``, ``mean`` and ``std`` of the fit, ``best`` and its interval ``low`` and ``high``; ``tries`` one column for each
    parameter (``0``, ``1``, ...), with ``mean`` and ``error``.
    """
    names, measure = labels
    count = len(curves)
    width, height = 0.6 + 5.2 * count if count > 1 else 7.2, 4.2
    figure = style.new_figure(width, height)
    style.head(
        figure, title, f"{len(tries['mean'])} tries; curve: fit with its standard error, grey: target, orange: best value with its interval"
    )
    grid = {"left": 0.8 / width, "right": 1 - 0.25 / width, "bottom": 0.6 / height, "top": 1 - 0.75 / height, "wspace": 0.28}
    for number, axes in enumerate(figure.subplots(1, count, squeeze=False, gridspec_kw=grid)[0]):
        curve = curves[number]
        style.tidy(axes)
        axes.axhspan(target[0] - target[1], target[0] + target[1], color="0.85", lw=0)
        axes.axhline(target[0], color=style.GREY, lw=1, label="target")
        axes.fill_between(curve["x"], curve["mean"] - curve["std"], curve["mean"] + curve["std"], color=style.BLUE, alpha=0.2, lw=0)
        axes.plot(curve["x"], curve["mean"], color=style.BLUE, lw=1.5, label="fit")
        bars = np.nan_to_num(tries["error"])
        axes.errorbar(tries[str(number)], tries["mean"], yerr=bars, fmt="o", ms=4.5, color=style.DARK, capsize=3, lw=1.2, label="tries")
        if "best" in curve:
            axes.axvspan(float(curve["low"]), float(curve["high"]), color=style.ORANGE, alpha=0.15, lw=0, zorder=0)
            axes.axvline(float(curve["best"]), color=style.ORANGE, lw=1.6, label="best")
        axes.set(xlabel=names[number], ylabel=measure)
        if curve["x"][0] > 0 and curve["x"][-1] / curve["x"][0] >= 100:
            axes.set_xscale("log")
        if number == 0:
            axes.legend(frameon=False, fontsize=8.5)
    return figure
