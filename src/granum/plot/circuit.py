"""A balling circuit: what falls through each gap of its sieve, sizes in its parts, and flows in time."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..analysis.circuit import STAGES, CircuitFlow, Passes, circuit_flow, circuit_passes
from ..analysis.snapshot import snapshots
from ..io import Recording
from . import style
from .look import Look
from .series import about_frames

COLOURS = dict(zip(STAGES, (style.BLUE, style.GREEN, style.ORANGE), strict=True))
SMOOTHED = 0.5  # [s] over which flows are averaged


def draw_circuit(recording: Recording, look: Look) -> Any:
    """Throughput along the sieve and across it, sizes of what falls through, sizes in each part, and flows in time."""
    passes = circuit_passes(snapshots(recording))
    found = circuit_flow(passes)
    figure = style.new_figure(10.4, 7.0)
    grid = figure.subplots(2, 2, gridspec_kw={"left": 0.075, "right": 0.98, "bottom": 0.08, "top": 0.88, "wspace": 0.2, "hspace": 0.32})
    for axes in grid.ravel():
        style.tidy(axes)
    style.head(figure, "Balling circuit", f"{about_frames(recording)}; means from {found.window[0]:.1f} to {found.window[1]:.1f} s")
    (along, sizes), (across, time) = grid
    _along(along, found)
    _sizes(sizes, found)
    _across(across, found)
    _in_time(time, passes, found)
    return figure


def _along(axes: Any, found: CircuitFlow) -> None:
    """Bars of the gaps, and above each the sizes of what fell through it."""
    number = np.arange(1, len(found.gap_flow) + 1)
    labels = [*(f"{1e3 * gap:.1f}" for gap in found.gap), "over"]
    bars = [*[style.SKY] * len(found.gap), style.GREY]
    axes.bar(number, 1e3 * found.gap_flow, color=bars, width=0.75)
    axes.set_xticks(number, labels)
    axes.set(xlabel="gap of the sieve [mm]", ylabel="mass flow [g/s]", ylim=(0, 1.25 * max(1e-9, 1e3 * float(found.gap_flow.max()))))
    style.note(axes, f"evenness along {found.evenness_along:.2f}, oversize {100 * found.oversize:.1f} %")


def _sizes(axes: Any, found: CircuitFlow) -> None:
    for name in STAGES:
        one = found.sizes[name]
        axes.plot(1e3 * one.diameter, 100 * one.finer, color=COLOURS[name], lw=1.6, label=f"{name}, d50 {1e3 * one.at(0.5):.1f} mm")
    for k, one in enumerate(found.gap_sizes[:-1]):
        if len(one.diameter) > 1:
            axes.plot(1e3 * one.diameter, 100 * one.finer, color=style.GREY, lw=0.6, zorder=1, label="through each gap" if k == 0 else None)
    axes.set(xlabel="diameter [mm]", ylabel="finer, by mass [%]", ylim=(0, 100))
    axes.legend(frameon=True, edgecolor="none", fontsize=8.5, loc="upper left", facecolor="white", framealpha=0.85)


def _across(axes: Any, found: CircuitFlow) -> None:
    middle, width = 1e3 * (found.strip[1:] + found.strip[:-1]) / 2, 1e3 * np.diff(found.strip)
    axes.bar(middle, 1e3 * found.strip_flow, color=style.SKY, width=0.9 * width)
    axes.set(xlabel="y across the sieve [mm]; the drum lifts towards larger y", ylabel="mass flow [g/s]", xlim=1e3 * found.strip[[0, -1]])
    axes.set_ylim(0, 1.25 * max(1e-9, 1e3 * float(found.strip_flow.max())))
    axes.text(0.02, 0.97, f"evenness across {found.evenness_across:.2f}", transform=axes.transAxes, va="top", fontsize=9, color=style.DARK)


def _in_time(axes: Any, passes: Passes, found: CircuitFlow) -> None:
    first, last = passes.times[0], passes.times[-1]
    edges = np.linspace(first, last, max(2, round((last - first) / SMOOTHED)) + 1)
    for k, name in enumerate(STAGES):
        some = np.isfinite(passes.left[:, k])
        mass, _ = np.histogram(passes.left[some, k], edges, weights=passes.mass[some])
        axes.stairs(mass / np.diff(edges), edges, color=COLOURS[name], lw=1.4, label=f"out of the {name}")
    axes.axvspan(*found.window, color="0.95", zorder=0)
    axes.set(xlabel="time [s]", ylabel="mass flow [kg/s]", xlim=(first, last), ylim=(0, None))
    axes.legend(frameon=False, fontsize=8.5, loc="upper right")
