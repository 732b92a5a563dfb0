"""Curves of packings: stress and fabric against strain, the search for jamming, residuals of minimisations, and how forces are spread."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..array_types import FloatArray
from ..checks import InputError
from ..io import Recording
from ..io.packing import read_packing
from ..quasistatic.course import MinimiseReport
from ..quasistatic.measure import force_histogram, measure
from . import style
from .look import Look
from .packing import in_words

BINS, MOST = 40, 0.999  # of the forces are shown: the tail is long and thin
FEWEST_IN_TAIL = 10


def draw_shear(recording: Recording, look: Look) -> Any:
    """Shear stress, pressure and anisotropy of the fabric against strain (EM Fig. 8)."""
    mode = (recording.description.get("settings") or {}).get("mode", "")
    curve = _curve(recording, mode)
    strain = 100 * curve["strain"]
    if len(strain) < 2 or not np.ptp(strain) > 0:
        raise InputError(f"{recording.path} is not sheared: its frames have one strain. Make a recording with `granum shear`.")
    start = read_packing(recording, 0)
    unit = "N/m" if start.dim == 2 else "Pa"
    subtitle = f"{start.count} grains, $\\phi$ = {start.phi:.6g}, {mode + ' ' if mode else ''}shear in {len(strain) - 1} steps"
    figure, (upper, middle, lower) = style.chart("Quasi-static shear", subtitle, panels=3)
    words = r"$-\sigma_{xy}$" if mode != "pure" else r"$(\sigma_{yy} - \sigma_{xx})/2$"
    for axes, name, colour, label in (
        (upper, "stress", style.ORANGE, words),
        (middle, "pressure", style.BLUE, "pressure"),
        (lower, "fabric", style.GREEN, words.replace("\\sigma", "F")),
    ):
        values, unit_name = style.scaled(curve[name], unit) if name != "fabric" else (curve[name], "")
        axes.plot(strain, values, color=colour, lw=1.3)
        axes.set_ylabel(f"{label} [{unit_name}]" if unit_name else f"fabric {label}")
    lower.set(xlabel="strain [%]", xlim=(strain.min(), strain.max()))
    figure.align_ylabels()
    return figure


def draw_search(recording: Recording, look: Look) -> Any:
    """How near the packing fractions of a search for jamming came to its end, and the pressures there."""
    summary = recording.summary or {}
    steps = summary.get("steps")
    if not isinstance(steps, list) or not steps:
        raise InputError(f"{recording.path} does not hold the search for jamming: it is not of `granum jam`.")
    phi, pressure = (np.array([step[name] for step in steps], float) for name in ("phi", "pressure"))
    end, number = float(summary["phi_cr"]), np.arange(1, len(steps) + 1)
    digits = max(3, min(12, 1 - math.floor(math.log10(summary["accuracy"]))))
    subtitle = f"{summary['particles']} grains in {summary['dim']} dimensions, $\\phi_{{cr}}$ = {end:.{digits}f}"
    figure, (upper, lower) = style.chart("Search for jamming", subtitle, panels=2)
    away = np.abs(phi - end)
    jammed = np.array([bool(step["jammed"]) for step in steps])
    for chosen, label, colour in ((jammed, "jammed", style.ORANGE), (~jammed, "not jammed", style.BLUE)):
        some = chosen & (away > 0)
        if some.any():
            upper.plot(number[some], away[some], "o", ms=4, color=colour, label=label)
    upper.set(yscale="log", ylabel=r"$|\phi - \phi_{cr}|$")
    upper.legend(frameon=False, fontsize=8.5, ncols=2)
    some = pressure > 0
    lower.plot(number[some], pressure[some], "o", ms=4, color=style.GREEN)
    lower.set(yscale="log", xlabel="minimisation", ylabel=f"pressure [{'N/m' if summary['dim'] == 2 else 'Pa'}]")
    return figure


def draw_force_spread(recording: Recording, look: Look) -> Any:
    """How often a force occurs, on a logarithmic scale, with the exponential that fits its tail best."""
    packing = read_packing(recording, look.indices(recording)[-1])
    found = measure(packing)
    forces = found.forces
    upper = float(np.quantile(forces / forces.mean(), MOST)) if len(forces) and forces.mean() > 0 else 5.0
    spread = force_histogram(forces, BINS, upper)
    figure, (axes,) = style.chart("Distribution of contact forces", f"{in_words(packing, found)}; {len(forces)} contacts")
    some = spread.counts > 0
    axes.plot(((spread.edges[1:] + spread.edges[:-1]) / 2)[some], spread.density[some], "o", ms=4, color=style.BLUE, label="contacts")
    strong = forces[forces > forces.mean()] / forces.mean()
    if len(strong) >= FEWEST_IN_TAIL:
        rate = 1 / float((strong - 1).mean())
        x = np.array([1.0, upper])
        law = len(strong) / len(forces) * rate * np.exp(-rate * (x - 1))
        axes.plot(x, law, color=style.ORANGE, lw=1.6, label=rf"$\exp(-{rate:.2f}\, f/\langle f \rangle)$")
    axes.axvline(1.0, color=style.GREY, lw=0.8, ls=":")
    force, unit = style.scaled(np.array([found.mean_force]), "N")
    axes.set(
        yscale="log",
        xlabel=rf"force $f / \langle f \rangle$,  $\langle f \rangle$ = {force[0]:.3g} {unit}",
        xlim=(0, None),
        ylabel="probability density",
        ylim=(0.5 * float(spread.density[some].min()), None),
    )
    axes.legend(frameon=False, fontsize=9)
    return figure


def draw_minimisations(reports: Sequence[MinimiseReport], subtitle: str) -> Any:
    """Residual against iteration, of one method or several."""
    figure, (axes,) = style.chart("Minimisation", subtitle, width=7.6, height=4.4)
    for k, report in enumerate(reports):
        shown = report.history > 0
        x, y = np.flatnonzero(shown), report.history[shown]
        seconds = f"{report.seconds:.2g} s" if report.seconds >= 1 else f"{1e3 * report.seconds:.0f} ms"
        label = f"{report.method}: {report.iterations} iterations, {seconds}" + ("" if report.converged else ", not converged")
        (line,) = axes.plot(x, y, color=style.LINES[k % len(style.LINES)], lw=1.2, label=label)
        if len(x):
            axes.plot(x[-1], y[-1], "o", ms=5, color=line.get_color(), clip_on=False)
    axes.axhline(reports[0].tolerance, color=style.GREY, lw=0.9, ls=(0, (4, 3)), zorder=0)
    axes.annotate(
        "tolerance",
        (1, reports[0].tolerance),
        xycoords=("axes fraction", "data"),
        xytext=(-3, 2),
        textcoords="offset points",
        fontsize=8,
        color=style.GREY,
        ha="right",
    )
    axes.set(yscale="log", xlabel="iteration", ylabel="largest force on a grain [N]", xlim=(0, None))
    axes.legend(frameon=False, fontsize=8.5)
    return figure


def _curve(recording: Recording, mode: str) -> dict[str, FloatArray]:
    """Strain, pressure, and what shear raises in stress and fabric: of every step if the recording was finished, else of its frames."""
    known = (recording.summary or {}).get("curve")
    columns = {name: np.array(values, float) for name, values in (known or recording.scalars).items()}
    found = {name: columns[name] for name in ("strain", "pressure")}
    for name in ("stress", "fabric"):
        found[name] = (columns[f"{name}_yy"] - columns[f"{name}_xx"]) / 2 if mode == "pure" else -columns[f"{name}_xy"]
    return found
