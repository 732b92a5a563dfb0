"""Figure of the experiment with the balling circuit, from the arrays that it returns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...plot.experiment_sheet import head, new_figure, save, ticks
from .ws import STYLE

UNITS = {
    "drum": (1.0, "angle of the bed [degrees]"),
    "belt": (1.0, "angle of the heap [degrees]"),
    "sieve": (1e3, "mean place along the sieve [mm]"),
}


def draw_circuit_needs(curves: dict[str, Any], path: Path) -> Path:
    """What drum, belt and sieve come to against iterations, with the band of 5 %; mass through the gaps; CPU time at 5 %."""
    figure = new_figure(11.0, 7.4)
    grid = figure.add_gridspec(2, 6)
    sweeps = curves["iterations"]
    for k, (stage, (factor, label)) in enumerate(UNITS.items()):
        axes, right = figure.add_subplot(grid[0, 2 * k : 2 * k + 2]), factor * curves["right"][stage]
        axes.axhspan(0.95 * right, 1.05 * right, color="0.92", zorder=0)
        for method, found in curves[stage].items():
            axes.plot(sweeps, factor * found, label=method, ms=5, lw=1.6, **STYLE[method])
        axes.set(xscale="log", xlabel="iterations $N_{it}$", ylabel=label)
        ticks(axes.xaxis, sweeps)
        head(axes, f"{stage} (grey: 5 %)")
    axes.legend(fontsize=8, frameon=False, loc="best")
    gaps = figure.add_subplot(grid[1, :3])
    few = len(curves["gaps"])
    for k, (name, found) in enumerate(curves["gaps"].items()):
        number = np.arange(1, len(found["flow"]) + 1) + 0.8 * ((k + 0.5) / few - 0.5)
        gaps.bar(number, 1e3 * found["flow"], 0.8 / few, label=f"{name} iterations", color=STYLE[name.rsplit(", ", 1)[0]]["color"])
    labels = [*(f"{1e3 * gap:.1f}" for gap in found["gap"]), "over"]
    gaps.set_xticks(np.arange(1, len(labels) + 1), labels)
    gaps.set(xlabel="gap of the sieve [mm]", ylabel="mass flow [g/s]")
    gaps.legend(fontsize=8, frameon=False, loc="best")
    head(gaps, "throughput along the sieve")
    cost = figure.add_subplot(grid[1, 3:])
    for method, spent in curves["cpu"].items():
        cost.plot(sweeps, 1e3 * spent, ms=5, lw=1.6, **STYLE[method])
        need = max(curves["need"][stage][method] for stage in UNITS)
        if np.isfinite(curves["cost"][method]):
            cost.plot(need, 1e3 * curves["cost"][method], "o", ms=13, mfc="none", mec=STYLE[method]["color"], mew=1.6)
    cost.set(xscale="log", xlabel="iterations $N_{it}$", ylabel="CPU time of a step [ms]", ylim=(0, None))
    ticks(cost.xaxis, sweeps)
    head(cost, "cost (circles: 5 % in all three)")
    return save(figure, path, "Balling circuit: iterations that drum, belt and sieve need (WS 5)")
