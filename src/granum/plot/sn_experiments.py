"""Figures of the experiments of SN, from the arrays that the experiments return."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .experiment_sheet import COLOURS, head, new_figure, save, series, ticks

TWO_FIVE = [n * 10**k for k in range(5) for n in (1, 2, 5)]


def draw_column(curves: dict[str, Any], path: Path) -> Path:
    """Required iterations against grains (SN Fig. 5), and overlap against iterations."""
    figure = new_figure(11.0, 4.8)
    left, right = figure.subplots(1, 2)
    for k, (label, numbers) in enumerate(curves["required"].items()):
        style = series(k)
        left.plot(curves["count"], numbers, label=rf"$\langle\varepsilon_c\rangle$ = {label}", **style)
        left.plot(curves["count"], curves["required_beyond_elastic"][label], color=style["color"], lw=1, ls="--")
        left.plot(curves["count"], curves["law"][label], color=style["color"], lw=1, ls=":")
    left.plot([], [], color="0.4", lw=1, ls="--", label="beyond Hertz's overlap")
    left.plot([], [], color="0.4", lw=1, ls=":", label=r"$c_0 c_2 l / \varepsilon$ (SN)")
    left.set(xlabel="grains $N_p$", ylabel=r"required iterations $N_{it}^\varepsilon$", xlim=(0, None), ylim=(0, None))
    left.legend(fontsize=8, frameon=False, loc="upper left")
    head(left, "iterations grow with the column")
    for k, (count, runs) in enumerate(curves["runs"].items()):
        right.plot(runs[:, 0], runs[:, 1], label=f"$N_p$ = {count}", **series(k))
    guide = np.array([10.0, 1000.0])
    right.plot(guide, 1.0 / guide, color="0.75", lw=1, ls="-.", label=r"$\propto 1/N_{it}$", zorder=0)
    right.set(xscale="log", yscale="log", xlabel="iterations $N_{it}$", ylabel=r"mean overlap $\langle\varepsilon_c\rangle$ [d]")
    right.legend(fontsize=8, frameon=False, ncols=2)
    head(right, "overlap of each run")
    return save(figure, path, "Column: iterations that the mean overlap needs (SN Fig. 5)")


def draw_hertz(curves: dict[str, Any], path: Path) -> Path:
    """Overlaps along a column for each stiffness, and their mean error."""
    figure = new_figure(11.0, 4.8)
    left, right = figure.subplots(1, 2)
    young, contacts = curves["young"], np.arange(1, curves["overlap"].shape[1] + 1)
    shown = np.unique(np.linspace(0, len(young) - 1, 5).round().astype(int))
    for k, e in enumerate(shown):
        style = series(k)
        left.plot(contacts, curves["exact"][e], color=style["color"], lw=1.2)
        left.plot(contacts, np.maximum(curves["overlap"][e], 1e-9), **{**style, "lw": 0}, label=f"E = {young[e]:.0e} Pa")
    left.set(yscale="log", xlabel="contact, from the floor up", ylabel="overlap [d]", ylim=(1e-8, 1))
    left.legend(fontsize=8, frameon=False, ncols=2, loc="lower left")
    ticks(left.xaxis, [1, 5, 10, 15, 20], inside=(1, len(contacts)))
    head(left, "overlaps: run (marks) and Hertz's law (lines)")
    right.plot(young, np.maximum(curves["mean_error"], 1e-12), **series(1))
    right.axhline(0.001, color="0.5", lw=1)
    right.annotate("SN: less than 0.001 d", (young[0], 0.001), xytext=(2, 3), textcoords="offset points", fontsize=8, color="0.35")
    right.set(xscale="log", yscale="log", xlabel="Young's modulus E [Pa]", ylabel="mean error of the overlap [d]")
    head(right, "what is left of the error of the solve")
    return save(figure, path, "Column under its own weight: overlaps against Hertz's law (SN 5.4)")


def draw_order(curves: dict[str, Any], path: Path) -> Path:
    """Required iterations of each system by order of the sweeps."""
    figure = new_figure(8.0, 4.4)
    axes = figure.subplots()
    systems, required = curves["systems"], curves["required"]
    width = 0.8 / len(required)
    for k, (order, numbers) in enumerate(required.items()):
        place = np.arange(len(systems)) + (k - (len(required) - 1) / 2) * width
        axes.bar(place, numbers, 0.9 * width, label="sequential" if order == "given" else order, color=COLOURS[k])
    axes.set_xticks(range(len(systems)), [f"{s} grains" for s in systems], fontsize=8)
    axes.set(ylabel=r"iterations for $\langle\varepsilon_c\rangle$ = 5 %")
    axes.legend(fontsize=8, frameon=False)
    head(axes, "containers by width and number of grains; 1 d is a column")
    return save(figure, path, "Order of the sweeps (SN 5.4)")


def draw_table(curves: dict[str, Any], path: Path) -> Path:
    """Efforts of both methods, row by row, and their ratio."""
    figure = new_figure(11.0, 6.4)
    upper, lower = figure.subplots(2, 1, sharex=True)
    computed, printed = curves["computed"], curves["printed"]
    row = np.arange(1, len(computed["ratio"]) + 1)
    for k, (name, label) in enumerate((("effort_nonsmooth", "nonsmooth"), ("effort_smooth", "smooth"))):
        colour = COLOURS[1 + k]
        upper.plot(row, computed[name], color=colour, marker="os"[k], ms=6, lw=0, label=f"{label}, computed")
        upper.plot(row, printed[name], color="black", marker="_", ms=9, lw=0, label="as printed" if k else None)
    upper.axhline(1, color="0.6", lw=1)
    upper.annotate("real time", (33.4, 1), xytext=(0, 3), textcoords="offset points", fontsize=8, color="0.35", ha="right")
    upper.set(yscale="log", ylabel=r"effort $\tau / \tau_{real}$")
    upper.legend(fontsize=8, frameon=False, ncols=3, loc="upper left")
    head(upper, "computing time for a simulated second")
    faster = computed["ratio"] < 1
    lower.bar(row[faster], computed["ratio"][faster] - 1, bottom=1, color=COLOURS[1], width=0.7, label="nonsmooth is faster")
    lower.bar(row[~faster], computed["ratio"][~faster] - 1, bottom=1, color=COLOURS[2], width=0.7, label="smooth is faster")
    lower.plot(row, printed["ratio"], color="black", marker="_", ms=9, lw=0, label="as printed")
    lower.set(yscale="log", ylabel=r"$\tau_N / \tau_S$", xlabel="row of SN Table I", xlim=(0.3, 33.7))
    lower.set_xticks(row, [str(r) for r in row], fontsize=8)
    lower.legend(fontsize=8, frameon=False, ncols=3, loc="upper left")
    head(lower, "nonsmooth over smooth")
    return save(figure, path, "What 33 systems cost (SN Table I)")
