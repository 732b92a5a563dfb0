"""Histograms of overlaps and forces."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..analysis.contact_errors import overlap_ratio
from ..analysis.force_network import ForceNetwork
from ..checks import InputError
from ..io import Recording
from . import style
from .look import Look, about

BINS = 40
MOST = 0.998  # of the contacts are shown: the tail is long and thin


def draw_overlaps(recording: Recording, look: Look) -> Any:
    """How often an overlap occurs, with mean and standard deviation."""
    seen = look.snapshots(recording)
    found = 100 * np.concatenate([overlap_ratio(s) for s in seen])
    if not len(found):
        raise InputError(f"there are no contacts at t = {seen[-1].time:g} s in {recording.path}: no overlaps. Choose a later frame.")
    figure, (axes,) = style.chart("Overlap of contacts", f"{about(recording, seen)}; {len(found)} contacts")
    shown = float(np.quantile(found, MOST)) or 1.0
    axes.hist(found, bins=BINS, range=(0.0, shown), color=style.BLUE, alpha=0.85, edgecolor="white", linewidth=0.4)
    mean, std = float(found.mean()), float(found.std())
    axes.axvline(mean, color=style.ORANGE, lw=1.6, label="mean")
    style.note(axes, f"mean {mean:.3g} %\nstandard deviation {std:.3g} %\nlargest {found.max():.3g} %")
    axes.set(xlabel=r"overlap $\delta / d$ [%]", ylabel="contacts", xlim=(0, shown))
    return figure


def draw_forces(recording: Recording, look: Look) -> Any:
    """How often a normal force occurs, on a logarithmic scale, with the exponential that fits its tail best."""
    s = look.snapshots(recording)[-1]
    network = ForceNetwork.of(s)
    found = network.distribution(BINS)
    figure, (axes,) = style.chart("Distribution of normal forces", f"{about(recording, [s])}; {network.edge_count} contacts that push")
    some = found.count > 0
    middle = (found.edges[1:] + found.edges[:-1]) / 2
    axes.plot(middle[some], found.density[some], "o", ms=4, color=style.BLUE, label="contacts")
    bottom = 0.5 * float(found.density[some].min())
    if np.isfinite(found.tail_rate):
        x = np.array([1.0, float(found.edges[-1])])
        strong = float(network.strong.mean())
        law = strong * found.tail_rate * np.exp(-found.tail_rate * (x - 1))
        axes.plot(x, law, color=style.ORANGE, lw=1.6, label=rf"$\exp(-{found.tail_rate:.2f}\, f/\langle f \rangle)$")
    axes.axvline(1.0, color=style.GREY, lw=0.8, ls=":")
    force, unit = style.scaled(np.array([found.mean]), "N")
    axes.set(
        yscale="log",
        xlabel=rf"normal force $f_n / \langle f_n \rangle$,  $\langle f_n \rangle$ = {force[0]:.3g} {unit}",
        xlim=(0, None),
        ylabel="probability density",
        ylim=(bottom, None),
    )
    axes.legend(frameon=False, fontsize=9)
    return figure
