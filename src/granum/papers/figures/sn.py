"""Figures of the experiments of SN, from the arrays that the experiments return."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...plot.experiment_sheet import COLOURS, head, new_figure, save, series, ticks

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
    left.set(xscale="log", yscale="log", xlabel="grains $N_p$", ylabel=r"required iterations $N_{it}^\varepsilon$")
    ticks(left.xaxis, [5, 10, 20, 50, 100])
    ticks(left.yaxis, TWO_FIVE, inside=left.get_ylim())
    left.legend(fontsize=8, frameon=False, loc="upper left")
    head(left, "iterations grow with the column")
    for k, (count, runs) in enumerate(curves["runs"].items()):
        right.plot(runs[:, 0], runs[:, 1], label=f"$N_p$ = {count}", **series(k))
    guide = np.array([10.0, 60.0])
    right.plot(guide, 0.6 / guide, color="0.75", lw=1, ls="-.", label=r"$\propto 1/N_{it}$", zorder=0)
    right.set(xscale="log", yscale="log", xlabel="iterations $N_{it}$", ylabel=r"mean overlap $\langle\varepsilon_c\rangle$ [d]")
    right.legend(fontsize=8, frameon=False, ncols=2)
    head(right, "overlap of each run")
    return save(figure, path, "Column: iterations that the mean overlap needs (SN Fig. 5)")


def draw_hertz(curves: dict[str, Any], path: Path) -> Path:
    """Overlaps along a column for each stiffness, and their mean error."""
    figure = new_figure(11.0, 4.8)
    left, right = figure.subplots(1, 2)
    moduli, contacts = curves["young"], np.arange(1, curves["overlap"].shape[1] + 1)
    shown = np.unique(np.linspace(0, len(moduli) - 1, 5).round().astype(int))
    for k, e in enumerate(shown):
        style = series(k)
        left.plot(contacts, curves["exact"][e], color=style["color"], lw=1.2)
        left.plot(contacts, np.maximum(curves["overlap"][e], 1e-9), **{**style, "lw": 0}, label=f"E = {moduli[e]:.0e} Pa")
    left.set(yscale="log", xlabel="contact, from the floor up", ylabel="overlap [d]", ylim=(1e-8, 1))
    left.legend(fontsize=8, frameon=False, ncols=2, loc="lower left")
    ticks(left.xaxis, [1, 5, 10, 15, 20], inside=(1, len(contacts)))
    head(left, "overlaps: run (marks) and Hertz's law (lines); every other contact is swept last")
    right.plot(moduli, np.maximum(curves["mean_error"], 1e-12), **series(1))
    right.axhline(0.001, color="0.5", lw=1)
    right.annotate("SN: less than 0.001 d", (moduli[0], 0.001), xytext=(2, 3), textcoords="offset points", fontsize=8, color="0.35")
    right.set(xscale="log", yscale="log", xlabel="Young's modulus E [Pa]", ylabel="mean error of the overlap [d]")
    head(right, "the error that the sweeps leave")
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


def draw_silo(curves: dict[str, Any], path: Path) -> Path:
    """Required iterations against grains (SN Fig. 6), pressure along the axis (Fig. 4) and on the walls, and heights."""
    figure = new_figure(11.0, 8.4)
    panels = figure.subplots(2, 2).ravel()
    for k, (label, filling) in enumerate(curves["fillings"].items()):
        style = series(k)
        panels[0].plot(filling["count"], filling["required"], label=f"w = {label}", **style)
        panels[0].plot(filling["count"], filling["law"], color=style["color"], lw=1, ls=":")
    panels[0].plot([], [], color="0.4", lw=1, ls=":", label="SN (41)")
    panels[0].set(xscale="log", yscale="log", xlabel="grains $N_p$", ylabel=r"required iterations $N_{it}$")
    ticks(panels[0].yaxis, TWO_FIVE, inside=panels[0].get_ylim())
    panels[0].legend(fontsize=8, frameon=False)
    head(panels[0], r"iterations for $\langle\varepsilon_c\rangle$ = 5 %")
    profiles = curves["profiles"]
    most = list(profiles.values())[-1]
    bottom = float(most["axis_pressure"][:2].mean())
    for k, (iterations, profile) in enumerate(profiles.items()):
        style = series(k)
        panels[1].plot(profile["axis_z"], profile["axis_pressure"] / bottom, label=f"$N_{{it}}$ = {iterations}", **{**style, "ms": 3})
        panels[2].plot(profile["wall_z"], profile["wall_pressure"] / 1000, **{**style, "lw": 0}, label=f"$N_{{it}}$ = {iterations}")
        panels[2].plot(profile["wall_z"], profile["fit_pressure"] / 1000, color=style["color"], lw=1.2)
    panels[1].set(xlabel="height above the floor [d]", ylabel=rf"pressure on the axis / {bottom:.0f} Pa", xlim=(0, None), ylim=(0, None))
    panels[1].legend(fontsize=8, frameon=False)
    head(panels[1], f"along the axis of a 9 d container, {curves['profile_count']} grains")
    panels[2].set(xlabel="height above the floor [d]", ylabel="pressure on the wall [kPa]", xlim=(0, None), ylim=(0, None))
    head(panels[2], "on its wall (lines: Janssen's law, where it bends)")
    number = np.array([int(n) for n in profiles])
    panels[3].plot(number, [profile["height"] / most["height"] for profile in profiles.values()], **series(0))
    panels[3].axhline(0.4, color="0.5", lw=1)
    panels[3].annotate(
        "SN: below 0.4 at 10 iterations, 7500 grains",
        (number[-1], 0.4),
        xytext=(0, 3),
        textcoords="offset points",
        fontsize=8,
        color="0.35",
        ha="right",
    )
    panels[3].set(xscale="log", xlabel="iterations $N_{it}$", ylabel="height of the filling / converged", ylim=(0, 1.1))
    ticks(panels[3].xaxis, number)
    head(panels[3], "too few iterations let it collapse")
    return save(figure, path, "Containers at rest: iterations saturate as the pressure does (SN 5.1)")


def draw_silo_networks(curves: dict[str, Any], path: Path) -> Path:
    """Normal forces in a slice through the container, for few, some and many iterations (SN Fig. 3)."""
    from matplotlib.collections import LineCollection

    profiles = curves["profiles"]
    names = list(profiles)
    shown = [names[0], names[len(names) // 2], names[-1]]
    top = max(profiles[name]["height"] for name in shown)
    figure = new_figure(2.6 * len(shown), min(12.0, 1.4 + 0.18 * (top + 1.5)))
    strongest = float(np.quantile(profiles[shown[-1]]["force"], 0.995))
    for axes, name in zip(figure.subplots(1, len(shown), sharey=True), shown, strict=True):
        force = profiles[name]["force"]
        order = np.argsort(force)
        part = np.clip(force[order] / strongest, 0, 1)
        lines = LineCollection(profiles[name]["segments"][order], linewidths=0.2 + 3.0 * part, cmap="viridis_r", capstyle="round")
        lines.set_array(np.clip(force[order], 0, strongest))
        lines.set_clim(0, strongest)
        axes.add_collection(lines)
        axes.set(xlim=(-5.2, 5.2), ylim=(-0.5, top + 1), xlabel="x [d]")
        axes.set_aspect("equal")
        head(axes, f"$N_{{it}}$ = {name}")
        axes.grid(False)
    figure.axes[0].set_ylabel("height [d]")
    figure.colorbar(lines, ax=figure.axes, label="normal force [m g]", shrink=0.5)
    return save(figure, path, "Force networks (SN Fig. 3)")


def draw_law(curves: dict[str, Any], path: Path) -> Path:
    """Iterations against height, and against the shape of containers, with the law as SN has it and as fitted (SN Fig. 11)."""
    figure = new_figure(11.0, 5.0)
    left, right = figure.subplots(1, 2)
    systems, eps = curves["systems"], curves["tolerance"]
    names = list(dict.fromkeys(systems["name"]))
    for k, name in enumerate(names):
        which = np.array([other == name for other in systems["name"]])
        style, drum = series(k), name.startswith("drum")
        width = float(systems["width"][which][0])
        marks = {**style, "lw": 0, "mfc": "white" if drum else style["color"]}
        left.plot(systems["height"][which], systems["required"][which], label=name, **marks)
        if width < 5:
            continue  # no arches: not in the fit
        left.plot(systems["height"][which], systems["fit"][which], color=style["color"], lw=1.3)
        left.plot(systems["height"][which], systems["law"][which], color=style["color"], lw=1, ls=":")
        if not drum:
            right.plot(systems["height"][which] / width, systems["required"][which] / width, label=f"w = {width:g} d", **marks)
    left.plot([], [], color="0.3", lw=1.3, label="fitted")
    left.plot([], [], color="0.3", lw=1, ls=":", label="SN (41)")
    left.set(xscale="log", yscale="log", xlabel="height $l$ [d]", ylabel=r"iterations $N_{it}$")
    ticks(left.xaxis, TWO_FIVE, inside=left.get_xlim())
    ticks(left.yaxis, TWO_FIVE, inside=left.get_ylim())
    left.legend(fontsize=7, frameon=False, ncols=2, loc="lower right")
    head(left, rf"iterations for $\langle\varepsilon_c\rangle$ = {100 * eps:g} %")
    shape = np.linspace(0, 1.1 * np.nanmax(np.where(systems["inertial"] == 0, systems["height"] / np.maximum(systems["width"], 5), 0)), 100)
    c0, c1, c2 = curves["constants"]
    right.plot(shape, -c0 * np.expm1(-c2 * shape) / eps, color="0.3", lw=1.3, label="fitted")
    right.plot(shape, -0.3 * np.expm1(-0.44 * shape) / eps, color="0.3", lw=1, ls=":", label="SN (41)")
    right.set(xlabel="shape $l/w$ of containers", ylabel="$N_{it} / w$ [1/d]", xlim=(0, None), ylim=(0, None))
    right.legend(fontsize=8, frameon=False, loc="lower right")
    head(right, rf"$c_0$ = {c0:.2g}, $c_1$ = {c1:.2g}, $c_2$ = {c2:.2g}  (SN: 0.3, 2.0, 0.44)")
    return save(figure, path, "The iteration law (SN 5.3, Fig. 11)")


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
    upper.annotate("real time", (9, 1), xytext=(0, 3), textcoords="offset points", fontsize=8, color="0.35", ha="center")
    upper.set(yscale="log", ylabel=r"effort $\tau / \tau_{real}$", ylim=(1e-3, 1e12))
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
