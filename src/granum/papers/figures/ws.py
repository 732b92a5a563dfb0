"""Figures of the experiments of WS, from the arrays that the experiments return."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...plot.experiment_sheet import guide, head, new_figure, save, ticks

KINDS = ("normal", "friction", "rolling")
STYLE: dict[str, dict[str, Any]] = {  # colours that are told apart by all, dashed for variants
    "cold": {"color": "#222222", "marker": "o"},
    "history": {"color": "#0072b2", "marker": "s"},
    "history, unguarded": {"color": "#0072b2", "marker": "s", "ls": ":", "mfc": "white", "lw": 1.2},
    "history, normals only": {"color": "#56b4e9", "marker": "v", "ls": "--", "lw": 1.2},
    "history, no velocity update": {"color": "#cc79a7", "marker": "x", "ls": "--", "lw": 1.2},
    "model": {"color": "#d55e00", "marker": "^"},
    "momentum": {"color": "#009e73", "marker": "D"},
    "momentum + history": {"color": "#e69f00", "marker": "P"},
}


def draw_column(curves: dict[str, Any], path: Path) -> Path:
    """Required iterations against grains for each tolerance (WS Fig. 3), and the residual during a solve (WS Fig. 4)."""
    figure = new_figure(11.0, 8.0)
    panels = figure.subplots(2, 2).ravel()
    required, labels = curves["required_iterations"], list(next(iter(curves["required_iterations"].values())))
    for axes, label in zip(panels, labels, strict=False):
        for method, numbers in required.items():
            axes.plot(curves["count"], numbers[label], label=method, **_line(method))
        guide(axes, curves["count"], np.nanmax([numbers[label] for numbers in required.values()]))
        axes.set(xscale="log", yscale="log", xlabel="grains $N_p$", ylabel=r"required iterations $N_{it}^\varepsilon$")
        ticks(axes.xaxis, curves["count"][:: max(1, len(curves["count"]) // 6)])
        ticks(axes.yaxis, [n * 10**k for k in range(4) for n in (1, 2, 5)], inside=axes.get_ylim())
        head(axes, rf"height error $\leq$ {label}")
    panels[0].legend(fontsize=8, frameon=False, loc="upper left")
    axes, solve = panels[3], curves["solve"]
    for method, curve in solve.items():
        if method != "count":
            axes.plot(curve["sweeps"], curve["normal_residual"], label=method, **_line(method, marks=False))
    axes.set(xscale="log", yscale="log", xlabel="sweep of one solve", ylabel="mean normal residual [m/s]", ylim=(1e-12, None))
    axes.legend(fontsize=8, frameon=False, loc="lower left")
    head(axes, f"a solve of a resting column, $N_p$ = {solve['count']}")
    for spare in panels[len(labels) : 3]:
        spare.set_axis_off()
    return save(figure, path, "Column: iterations that the height needs (WS 4.1)")


def draw_pile_heights(curves: dict[str, Any], path: Path) -> Path:
    """Pile height against iterations, and iterations against height error (WS Fig. 6)."""
    figure = new_figure(11.0, 4.8)
    left, right = figure.subplots(1, 2)
    heights = {method: found for method, found in curves["height_in_d"].items() if method != "reference"}
    iterations, reference = curves["iterations"], curves["height_in_d"]["reference"]
    left.axhline(reference.mean(), color="0.5", lw=1, zorder=0)
    if len(reference) > 1:
        left.axhspan(reference.mean() - reference.std(ddof=1), reference.mean() + reference.std(ddof=1), color="0.92", zorder=0)
    left.annotate("reference", (iterations[0], reference.mean()), xytext=(0, 3), textcoords="offset points", fontsize=8, color="0.35")
    for k, (method, found) in enumerate(heights.items()):
        aside = iterations * 1.012 ** (k - 3)  # so that bars do not hide each other
        spread = found.std(axis=1, ddof=1) if found.shape[1] > 1 else None
        left.errorbar(aside, found.mean(axis=1), spread, label=method, elinewidth=0.8, capsize=1.5, **_line(method))
        worst = np.maximum.accumulate(curves["height_error"][method][::-1])[::-1]
        right.plot(100 * worst, iterations, label=method, **_line(method))
    left.set(xscale="log", xlabel="iterations $N_{it}$", ylabel="pile height [d]", ylim=(0, None))
    ticks(left.xaxis, iterations)
    left.legend(fontsize=8, frameon=False, loc="lower right")
    seeds = heights["cold"].shape[1]
    head(left, "height of piles at rest" + (f", mean and spread of {seeds}" if seeds > 1 else ""))
    right.set(yscale="log", ylabel="required iterations $N_{it}$", xlabel=r"height error $\varepsilon_1$ [%]", xlim=(0, None))
    ticks(right.yaxis, iterations)
    head(right, "iterations against height error")
    return save(figure, path, "Pile: iterations that the height needs (WS 4.2)")


def draw_pile_solves(curves: dict[str, Any], path: Path) -> Path:
    """Multiplier error (WS Fig. 7) and residual (Fig. 8) during a solve, and residual histograms by row kind (Fig. 9)."""
    figure = new_figure(11.0, 7.6)
    grid = figure.add_gridspec(2, 6)
    upper = [figure.add_subplot(grid[0, :3]), figure.add_subplot(grid[0, 3:])]
    for axes, what, label, text in (
        (upper[0], "multiplier_error", r"multiplier error $\varepsilon_\lambda$", "normal multipliers against the last ones"),
        (upper[1], "residual", "mean residual [m/s]", "residual of all rows"),
    ):
        for method, curve in curves["solve"].items():
            some = curve[what] > 0  # the last multiplier error is zero by definition
            axes.plot(curve["sweeps"][some], curve[what][some], label=method, **_line(method, marks=False))
        axes.set(xscale="log", yscale="log", xlabel="sweep of one solve", ylabel=label)
        head(axes, text)
    upper[0].legend(fontsize=8, frameon=False, loc="lower left")
    histogram = curves["histogram"]
    edges = histogram["edges"]
    shown = {method: found for method, found in histogram.items() if method != "edges"}
    used = np.flatnonzero(sum(found[kind] for found in shown.values() for kind in KINDS))
    for k, kind in enumerate(KINDS):
        axes = figure.add_subplot(grid[1, 2 * k : 2 * k + 2])
        for method, found in shown.items():
            axes.stairs(found[kind], edges, color=STYLE[method]["color"], lw=1.5)
            axes.axvline(found[f"{kind}_median"], color=STYLE[method]["color"], lw=0.9, ls=":")
        axes.set(xscale="log", xlim=(edges[used[0]], edges[used[-1] + 1]), xlabel=f"{kind} residual [m/s]", ylim=(0, None))
        exact = 1 - shown["cold"][kind].sum()
        axes.text(0.02, 0.97, f"{exact:.0%} below\n{edges[0]:.0e}", transform=axes.transAxes, fontsize=8, color="0.35", va="top")
        head(axes, f"{kind} rows (dotted: median)")
        axes.set_ylabel("part of the contacts" if k == 0 else "")
    return save(figure, path, "Pile at rest: inside a solve (WS 4.2)")


def _line(method: str, marks: bool = True) -> dict[str, Any]:
    style = {"ms": 5, "lw": 1.6, **STYLE[method]}
    return style if marks else {**style, "marker": None}


def draw_triaxial(curves: dict[str, Any], path: Path) -> Path:
    """Critical deviator against iterations (WS Fig. 15), and deviators over the strain (WS Fig. 16)."""
    figure = new_figure(11.0, 4.8)
    left, right = figure.subplots(1, 2)
    for method, found in curves["critical"].items():
        left.errorbar(curves["iterations"], found, curves["scatter"][method], label=method, elinewidth=0.8, capsize=1.5, **_line(method))
    left.axhline(curves["smooth"]["critical"], color="0.5", lw=1, ls="--", label="smooth platens")
    left.set(xscale="log", xlabel="iterations $N_{it}$", ylabel="critical deviator [Pa]", ylim=(0, None))
    ticks(left.xaxis, curves["iterations"])
    left.legend(fontsize=8, frameon=False, loc="best")
    head(left, "mean over axial strains of 10 to 25 %, rough platens")
    for label, test in curves["tests"].items():
        smooth = label.startswith("smooth")
        method = next((m for m in ("momentum + history", "history", "cold") if label.startswith(m)), "cold")
        style = {"color": "0.5", "lw": 1.2, "ls": "--"} if smooth else {**_line(method, marks=False), "lw": 1.3}
        few = not smooth and " 100 " in label
        right.plot(100 * test["strain"], test["deviator"], label=label, **{**style, **({"ls": ":"} if few else {})})
    right.set(xlabel="axial strain [%]", ylabel="deviator [Pa]", xlim=(0, None), ylim=(0, None))
    right.set_ylim(0, 1.45 * right.get_ylim()[1])  # room for the legend
    right.legend(fontsize=7, frameon=False, loc="upper left", ncols=2)
    head(right, "one bed")
    return save(figure, path, "Triaxial test: the stress at which a bed shears (WS 4.4)")
