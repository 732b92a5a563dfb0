"""Figures of the experiments with drums, from the arrays that the experiments return."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...plot.experiment_sheet import head, new_figure, save, series, ticks
from .ws import STYLE

SPEEDS = "viridis"
MOST_RELATIVE = 2.0  # of the rim's speed: the end of the colour scale


def draw_drum_flow(curves: dict[str, Any], path: Path) -> Path:
    """Plug zone and angle of repose against iterations (WS Fig. 12 and 13)."""
    figure = new_figure(11.0, 4.6)
    left, right = figure.subplots(1, 2)
    n = curves["iterations"]
    for method in curves["plug"]:
        style = {"ms": 5, "lw": 1.6, **STYLE[method]}
        left.errorbar(n, 100 * curves["plug"][method], 100 * curves["plug_scatter"][method], label=method, capsize=2, **style)
        right.plot(n, curves["angle"][method], label=f"{method}, centre of mass", **style)
        right.plot(n, curves["surface_angle"][method], color=style["color"], lw=1, ls=":")
    left.axhspan(53, 63, color="0.93", zorder=0)
    left.annotate(r"WS: 58 % $\pm$ 5 %", (n[0], 53), xytext=(0, 3), textcoords="offset points", fontsize=8, color="0.35")
    right.axhspan(48, 50, color="0.93", zorder=0)
    right.annotate("WS: 48 to 50 degrees", (n[0], 50), xytext=(0, 3), textcoords="offset points", fontsize=8, color="0.35")
    right.plot([], [], color="0.4", lw=1, ls=":", label="surface")
    left.set(xscale="log", xlabel="iterations $N_{it}$", ylabel="grains in the plug zone [%]", ylim=(0, None))
    right.set(xscale="log", xlabel="iterations $N_{it}$", ylabel="dynamic angle of repose [degrees]")
    for axes, text in ((left, "plug zone (bars: scatter in time)"), (right, "angle of repose")):
        ticks(axes.xaxis, n)
        axes.legend(fontsize=8, frameon=False, loc="upper left" if axes is left else "lower right")
        head(axes, text)
    return save(figure, path, "Slowly turning drum: plug zone and angle against iterations (WS Fig. 12-13)")


def draw_drum_sections(curves: dict[str, Any], path: Path) -> Path:
    """Cross-sections coloured by the speed relative to the drum, with the ways of some grains (WS Fig. 10 and 11)."""
    figure = new_figure(4.0 * len(curves["sections"]) + 0.6, 4.4)
    panels = figure.subplots(1, len(curves["sections"]))
    for axes, (name, section) in zip(panels, curves["sections"].items(), strict=True):
        shown = _draw_section(axes, section, name)
    figure.colorbar(shown, ax=panels, label=r"speed relative to the drum $v_r / R\Omega$", shrink=0.8)
    title = f"Slowly turning drum: speed relative to the drum, and ways of grains in {curves['window']:g} s (WS Fig. 10-11)"
    return save(figure, path, title)


def draw_drum_forces(curves: dict[str, Any], path: Path) -> Path:
    """Force networks (SN Fig. 7), relative speed, and the flow profile (SN Fig. 8 and 9)."""
    figure = new_figure(13.0, 8.6)
    grid = figure.add_gridspec(2, 3, width_ratios=(1, 1, 1.1))
    for k, (name, chains) in enumerate(curves["forces"].items()):
        _draw_forces(figure.add_subplot(grid[0, k]), chains, f"forces, {name}")
    panels = [figure.add_subplot(grid[1, k]) for k in range(2)]
    for axes, (name, section) in zip(panels, curves["sections"].items(), strict=True):
        shown = _draw_section(axes, section, name, ways=False)
    figure.colorbar(shown, ax=panels, label=r"speed relative to the drum $v_r / R\omega$", shrink=0.8)
    axes = figure.add_subplot(grid[:, 2])
    for k, (n, profile) in enumerate(curves["profile"].items()):
        axes.plot(profile["velocity"], profile["z"], label=f"{n} iterations", **{**series(k), "ms": 3})
    reach = np.array([-1.0, 0.0])
    axes.plot(reach, reach, color="0.6", lw=1, ls="--", label="rigid rotation")
    axes.set(xlabel=r"velocity along the surface $v_{x'} / R\omega$", ylabel=r"depth $z' / R$")
    axes.legend(fontsize=8, frameon=False)
    head(axes, "flow profile")
    speed, count = curves["shown"]
    return save(figure, path, f"Sawtooth drum at {speed:g} rad/s, {count} grains (SN Fig. 7-9)")


def draw_drum_iterations(curves: dict[str, Any], path: Path) -> Path:
    """Required iterations against grains for every speed (SN Fig. 10), and the overlaps behind them."""
    figure = new_figure(11.0, 4.8)
    left, right = figure.subplots(1, 2)
    for k, speed in enumerate(curves["required"]):
        need = np.where(curves["required"][speed] > 0, curves["required"][speed], np.nan)
        left.plot(curves["counts"], need, label=rf"$\omega$ = {speed} rad/s", **series(k))
        right.plot(curves["iterations"], curves["overlap"][speed][-1], label=rf"$\omega$ = {speed} rad/s", **series(k))
    left.set(xlabel="grains $N_p$", ylabel=r"required iterations $N_{it}^{0.05}$", xlim=(0, None), ylim=(0, None))
    left.legend(fontsize=8, frameon=False)
    head(left, r"iterations for $\langle\varepsilon_c\rangle$ = 5 %")
    right.axhline(0.05, color="0.5", lw=1)
    right.set(xscale="log", yscale="log", xlabel="iterations $N_{it}$", ylabel=r"mean overlap $\langle\varepsilon_c\rangle$ [d]")
    ticks(right.xaxis, curves["iterations"])
    head(right, f"overlap with {curves['counts'][-1]} grains")
    return save(figure, path, "Sawtooth drum: iterations against grains and speed (SN Fig. 10)")


def _draw_section(axes: Any, section: dict[str, Any], name: str, ways: bool = True) -> Any:
    """Grains in the drum's plane; returns what a colour bar needs."""
    from matplotlib.collections import EllipseCollection

    size = 2 * section["radius"]
    grains = EllipseCollection(
        size,
        size,
        np.zeros_like(size),
        units="xy",
        offsets=np.stack([section["across"], section["up"]], axis=1),
        offset_transform=axes.transData,
        cmap=SPEEDS,
        lw=0,
    )
    grains.set_array(section["speed"])
    grains.set_clim(0, MOST_RELATIVE)
    axes.add_collection(grains)
    for k in range(section["ways"].shape[1] if ways else 0):
        axes.plot(section["ways"][:, k, 0], section["ways"][:, k, 1], color="#d7263d", lw=1.6)
    _draw_rim(axes, name)
    return grains


def _draw_forces(axes: Any, chains: dict[str, Any], name: str) -> None:
    from matplotlib.collections import LineCollection

    order = np.argsort(chains["force"])
    force = chains["force"][order]
    axes.add_collection(
        LineCollection(
            list(chains["ends"][order]),
            linewidths=np.minimum(0.35 * force, 4),
            colors="#222222",
            alpha=0.7,
            capstyle="round",
        )
    )
    _draw_rim(axes, name)


def _draw_rim(axes: Any, name: str) -> None:
    turn = np.linspace(0, 2 * np.pi, 181)
    axes.plot(np.cos(turn), np.sin(turn), color="0.4", lw=1)
    axes.set(xlim=(-1.05, 1.05), ylim=(-1.05, 1.05), aspect="equal")
    axes.set_axis_off()
    axes.set_title(name, fontsize=10, loc="left")
