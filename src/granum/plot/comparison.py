"""Two runs over each other: the measures in time, and the histograms of overlaps (PP Fig. 5.1 to 5.12)."""

from __future__ import annotations

from pathlib import Path

from ..analysis.compare import Comparison
from .experiment_sheet import COLOURS, head, new_figure, save

LABELS = {
    "overlap": "mean overlap [d]",
    "kinetic_energy": r"$E_{kin} / N m g d$",
    "contacts": "contacts",
    "surface_height": "surface height [m]",
}


def draw_comparison(found: Comparison, path: Path) -> Path:
    """Four measures in time, and the overlaps of a grain's contacts."""
    figure = new_figure(12.0, 6.6)
    panels = figure.subplots(2, 3).ravel()
    names = [Path(name).name for name in found.names]
    for axes, one in zip(panels, found.series, strict=False):
        axes.plot(one.time_a, one.a, color=COLOURS[1], lw=2.4, alpha=0.5, label=f"A  {names[0]}")
        axes.plot(one.time_b, one.b, color=COLOURS[2], lw=1.2, ls="--", label=f"B  {names[1]}")
        axes.set(xlabel="time [s]", ylabel=LABELS[one.name])
        head(axes, f"A {one.mean_a:.4g}, B {one.mean_b:.4g}, error {100 * one.error:.2g} %")
    axes, sums = panels[4], found.overlap_sums
    axes.stairs(sums.density_a, sums.edges, fill=True, color=COLOURS[1], alpha=0.4, label="A")
    axes.stairs(sums.density_b, sums.edges, color=COLOURS[2], lw=1.4, label="B")
    axes.set(xlabel="sum of a grain's overlaps [d]", ylabel="probability density")
    head(axes, f"mean {sums.mean[0]:.3g} | {sums.mean[1]:.3g}, median {sums.median[0]:.3g} | {sums.median[1]:.3g}")
    panels[5].set_axis_off()
    panels[5].legend(*panels[0].get_legend_handles_labels(), loc="center left", frameon=False, fontsize=9)
    return save(figure, path, f"Two runs, t = {found.since:g} to {found.until:g} s; error: Sundberg (5.1)")
