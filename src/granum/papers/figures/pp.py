"""Figures of the experiments of PP, from the arrays that the experiments return."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...plot.experiment_sheet import COLOURS, head, new_figure, save

LABELS = {
    "overlap": r"mean overlap $\bar\varepsilon_c$ [d]",
    "kinetic_energy": r"$E_{kin} / N m g d$",
    "contacts": "contacts $N_c$",
    "surface_height": "surface height [m]",
}
LOGARITHMIC = ("kinetic_energy",)
LEAST_ENERGY = 1e-9  # of N m g d: what is smaller is rest
STYLE: dict[str, dict[str, Any]] = {"serial": {"lw": 2.4, "alpha": 0.45}, "parallel": {"lw": 1.0, "ls": "--"}}


def draw_series(curves: dict[str, Any], path: Path) -> Path:
    """Every measure of every system in time, parallel over serial, with few and many iterations (PP Fig. 5.1-5.6, 5.8-5.11)."""
    systems = curves["systems"]
    figure = new_figure(3.5 * len(LABELS), 2.7 * len(systems) + 0.5)
    panels = figure.subplots(len(systems), len(LABELS), squeeze=False)
    for line, (name, system) in zip(panels, systems.items(), strict=True):
        for axes, (measured, label) in zip(line, LABELS.items(), strict=True):
            _draw_panel(axes, system, measured)
            axes.set(xlabel="time [s]", ylabel=label)
            head(axes, f"{name}, {system['grains']} grains" if axes is line[0] else "")
        line[0].legend(fontsize=7, frameon=False)
    return save(figure, path, "Serial (order found) and parallel (colours) sweeps; compared where it is white (PP 5.2)")


def _draw_panel(axes: Any, system: dict[str, Any], measured: str) -> None:
    late = []
    for k, (iterations, runs) in enumerate(system["runs"].items()):
        for kind, style in STYLE.items():
            run = runs[kind]
            values = np.maximum(run[measured], LEAST_ENERGY) if measured in LOGARITHMIC else run[measured]
            axes.plot(run["time"], values, color=COLOURS[1 + k], label=f"{kind}, {iterations} iterations", **style)
            late.append(values[run["time"] >= system["since"]])
    axes.axvspan(0, system["since"], color="0.94", zorder=0)
    axes.set_xlim(0, run["time"][-1])
    low, high = min(float(part.min()) for part in late), max(float(part.max()) for part in late)
    if measured in LOGARITHMIC:
        axes.set_yscale("log")
        axes.set_ylim(bottom=0.3 * low)
    elif measured == "surface_height":  # its zero is arbitrary
        margin = max(high - low, 0.02)
        axes.set_ylim(low - margin, high + margin)
    else:
        axes.set_ylim(0, 1.35 * high)


def draw_histograms(curves: dict[str, Any], path: Path) -> Path:
    """Overlap sums of the grains, serial and parallel (PP Fig. 5.7 and 5.12)."""
    systems = curves["systems"]
    figure = new_figure(3.5 * len(systems), 6.4)
    panels = figure.subplots(2, len(systems), squeeze=False)
    for column, (name, system) in zip(panels.T, systems.items(), strict=True):
        for k, (axes, (iterations, found)) in enumerate(zip(column, system["histograms"].items(), strict=True)):
            middle = (found["edges"][1:] + found["edges"][:-1]) / 2
            axes.stairs(found["serial"], found["edges"], fill=True, color=COLOURS[1 + k], alpha=0.35, label="serial")
            axes.plot(middle, found["parallel"], color="0.15", lw=1.2, marker=".", ms=4, label="parallel")
            numbers = "\n".join(
                f"{what} {found[of][0]:.3g} | {found[of][1]:.3g}"
                for what, of in ((r"$\mu$", "mean"), ("median", "median"), (r"$\sigma$", "std"))
            )
            axes.text(
                0.97,
                0.72,
                numbers,
                transform=axes.transAxes,
                ha="right",
                va="top",
                fontsize=8,
                color="0.25",
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 2},
            )
            axes.set(xlabel=r"sum of a grain's overlaps [d]", ylabel="probability density", ylim=(0, None))
            axes.set_xlim(0, _shown(found))
            axes.legend(fontsize=8, frameon=False, loc="upper right")
            head(axes, f"{name}, {system['grains']} grains, {iterations} iterations")
    return save(figure, path, "Overlaps of a grain's contacts, serial and parallel sweeps (PP Fig. 5.7, 5.12)")


def _shown(found: dict[str, Any]) -> float:
    """Up to where 99.8 % of both lie."""
    width = np.diff(found["edges"])
    reach = [int(np.searchsorted(np.cumsum(found[kind] * width), 0.998)) for kind in ("serial", "parallel")]
    return float(found["edges"][min(max(reach) + 1, len(width))])
