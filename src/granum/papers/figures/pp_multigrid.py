"""Figures of the multigrid experiment, from the arrays that it returns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...plot.experiment_sheet import head, new_figure, save, ticks

STYLE: dict[str, dict[str, Any]] = {
    "direct": {"color": "#222222", "marker": "o"},
    "converged": {"color": "#222222", "marker": "o"},
    "pgs": {"color": "#d55e00", "marker": "s"},
    "momentum": {"color": "#0072b2", "marker": "^"},
    "multigrid": {"color": "#009e73", "marker": "D"},
    "multigrid, warm": {"color": "#e69f00", "marker": "P"},
}
START = {"none": "cold start", "history": "warm start (history)"}


def draw_columns(curves: dict[str, Any], path: Path) -> Path:
    """Heights in time (PP Fig. 5.13-5.15), mean overlap (5.16), overlap histogram (5.17), and work of a solve by height."""
    figure = new_figure(12.0, 7.6)
    panels = figure.subplots(2, 3).ravel()
    for axes, (count, found), partitions in zip(panels, curves["columns"].items(), curves["partitions"], strict=False):
        for method, run in found.items():
            axes.plot(run["time"], run["height"], label=method, **_line(method))
        axes.set(xlabel="time [s]", ylabel="height / height without overlap")
        head(axes, f"{count} grains, {partitions} partitions")
    panels[0].legend(fontsize=8, frameon=False, loc="lower right")
    count, found = list(curves["columns"].items())[-1]
    axes = panels[3]
    for method, run in found.items():
        axes.plot(run["time"], np.maximum(run["overlap"], 1e-9), label=method, **_line(method))
    axes.set(yscale="log", xlabel="time [s]", ylabel=r"mean overlap $\bar\varepsilon_c$ [d]")
    head(axes, f"mean overlap, {count} grains")
    axes = panels[4]
    edges = np.geomspace(1e-7, 1.0, 43)
    for method in ("direct", "pgs", "multigrid"):
        axes.hist(np.clip(found[method]["overlaps"], edges[0], None), edges, histtype="step", label=method, **_line(method))
    axes.set(xscale="log", xlabel="overlap [d]", ylabel="contacts")
    head(axes, f"overlaps at the end, {count} grains")
    axes = panels[5]
    solves = curves["solves"]
    for method in ("pgs", "momentum", "multigrid"):
        axes.plot(solves["count"], solves[method]["work"], label=method, lw=1.6, ms=5, **STYLE[method])
    axes.set(xscale="log", yscale="log", xlabel="grains", ylabel="work [plain sweeps]")
    ticks(axes.xaxis, solves["count"])
    axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(0.0, 0.3))
    head(axes, "one cold solve at rest, forces to 1 %")
    return save(figure, path, "Columns: direct, iterative and multigrid (PP 5.3)")


def draw_silo(silo: dict[str, Any], path: Path) -> Path:
    """Error against work of one solve, Janssen's profile and force distribution, and height when a silo at rest is run on."""
    figure = new_figure(12.0, 7.6)
    panels = figure.subplots(2, 3)
    for k, (start, text) in enumerate(START.items()):
        axes = panels[k, 0]
        for method, curve in silo["solves"][start].items():
            axes.plot(curve["work"], 100 * curve["error"], label=method, color=STYLE[method]["color"], lw=1.6)
            axes.plot(curve["work"], 100 * curve["force_error"], color=STYLE[method]["color"], lw=1.0, ls=":")
        axes.axhline(1.0, color="0.6", lw=1, zorder=0)
        axes.set(xscale="log", yscale="log", xlabel="work [plain sweeps]", ylabel="error [%]")
        axes.set_ylim(0.03, 150)
        head(axes, f"one solve, {text}\nstress profile (dotted: single forces)")
        axes = panels[k, 2]
        run = silo["run_on"]
        for method, error in run[start].items():
            axes.plot(run["iterations"], np.maximum(100 * np.abs(error), 1e-3), label=method, lw=1.6, ms=4, **STYLE[method])
        axes.axhline(1.0, color="0.6", lw=1, zorder=0)
        axes.set(xscale="log", yscale="log", xlabel="sweeps per step", ylabel="height error [%]")
        ticks(axes.xaxis, run["iterations"])
        head(axes, f"run on, {text}")
    panels[0, 0].legend(fontsize=8, frameon=False, loc="lower left")
    for name in ("converged", "multigrid", "multigrid, warm"):
        found = silo[name]
        panels[0, 1].plot(found["pressure"], found["z"] / 0.01, label=name, **_line(name))
        middle = (silo["edges"][1:] + silo["edges"][:-1]) / 2
        some = found["density"] > 0
        panels[1, 1].plot(middle[some], found["density"][some], label=name, **_line(name))
    panels[0, 1].set(xlabel="vertical pressure [Pa]", ylabel="height [d]", xlim=(0, None))
    panels[0, 1].legend(fontsize=8, frameon=False)
    head(panels[0, 1], "Janssen's profile, 60 sweeps (warm: 20)")
    panels[1, 1].set(yscale="log", xlabel="normal force / mean", ylabel="density")
    head(panels[1, 1], "distribution of forces")
    return save(figure, path, f"Silo of {silo['count']} grains, {silo['width']:g} d wide: multigrid in three dimensions (PP 6.2.1)")


def _line(method: str) -> dict[str, Any]:
    """What is exact lies dashed on top of the others."""
    exact = method in ("direct", "converged")
    return {"color": STYLE[method]["color"], "lw": 1.6, "ls": "--" if exact else "-", "zorder": 5 if exact else 2}
