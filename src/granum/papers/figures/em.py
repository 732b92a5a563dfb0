"""Figures of the experiments of EM, from the arrays that the experiments return."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...plot.experiment_sheet import COLOURS, head, new_figure, save, series

STYLE: dict[str, dict[str, Any]] = {
    "lbfgs": {"color": "#222222", "marker": "o"},
    "lbfgs+adjacency": {"color": "#0072b2", "marker": "s"},
    "lbfgs+exponential": {"color": "#56b4e9", "marker": "X"},
    "fr-cg": {"color": "#888888", "marker": "v"},
    "fr-cg+adjacency": {"color": "#cc79a7", "marker": "P"},
    "cg": {"color": "#aaaaaa", "marker": "h"},
    "fire": {"color": "#d55e00", "marker": "^"},
    "lbfgs+contacts": {"color": "#009e73", "marker": "D"},
    "newton+contacts": {"color": "#e69f00", "marker": "X"},
    "auto": {"color": "#7b3294", "marker": "*", "ls": "--"},
}


def draw_residuals(curves: dict[str, Any], path: Path) -> Path:
    """Largest force against iteration (EM Fig. 2), and against time."""
    figure = new_figure(11.0, 4.8)
    left, right = figure.subplots(1, 2, sharey=True)
    for method, one in curves["methods"].items():
        style = {key: value for key, value in STYLE[method].items() if key != "marker"} | {"lw": 1.2}
        iteration = np.arange(len(one["residual"]))
        left.plot(iteration, one["residual"], label=curves["labels"][method], **style)
        right.plot(iteration * (one["seconds"] / max(1, len(iteration) - 1)), one["residual"], **style)
    left.set(yscale="log", xlabel="iteration", ylabel=r"$\max |g|$ [N], $k$ = 1 N/m, cell of 1 m", xlim=(0, None))
    right.set(xlabel="time [s]", xscale="log", xlim=(1e-2 * max(one["seconds"] for one in curves["methods"].values()), None))
    left.legend(fontsize=8, frameon=False)
    head(left, f"{curves['count']} grains, phi = {curves['phi']:g}, radii times 1 + 5e-5")
    head(right, "the same in time")
    return save(figure, path, "One minimisation of an unjammed packing (EM Fig. 2)")


def draw_table(curves: dict[str, Any], path: Path) -> Path:
    """Iterations and times of all methods in the three cases, EM's beside."""
    figure = new_figure(11.0, 6.8)
    panels = figure.subplots(2, 1, sharex=True)
    methods, cases = list(curves["labels"]), list(curves["cases"])
    place, wide = np.arange(len(methods)), 0.75 / len(cases)
    for axes, what, label, theirs in zip(panels, ("iterations", "seconds"), ("iterations", "time [s]"), (0, 1), strict=True):
        for c, case in enumerate(cases):
            found = curves["cases"][case]
            at = place + 0.8 / len(cases) * (c - (len(cases) - 1) / 2)
            done = np.array([found[m]["converged"] for m in methods])
            values = np.array([found[m][what] for m in methods], float)
            axes.bar(at[done], values[done], wide, color=COLOURS[1 + c], label=case)
            axes.bar(at[~done], values[~done], wide, color="white", edgecolor=COLOURS[1 + c], hatch="///", lw=0.8)
            known = [k for k, m in enumerate(methods) if m in curves["paper"][case]]
            paper, label_ = [curves["paper"][case][methods[k]][theirs] for k in known], "EM" if c == len(cases) - 1 else None
            axes.plot(at[known], paper, color="black", marker="_", ms=9, mew=1.8, lw=0, label=label_)
        axes.set(yscale="log", ylabel=label)
    panels[0].legend(fontsize=8, frameon=False, ncols=5)
    panels[1].set_xticks(place, [curves["labels"][m] for m in methods], fontsize=8, rotation=20, ha="right")
    head(panels[0], f"{curves['count']} grains, phi = {curves['phi']:g} (hatched: did not converge)")
    head(panels[1], "EM's times are from another machine")
    return save(figure, path, "Growth, shear and a random kick (EM Table 1)")


def draw_scaling(curves: dict[str, Any], path: Path) -> Path:
    """p, G and z - z_0 against phi - phi_cr (EM Fig. 4-6)."""
    figure = new_figure(12.0, 4.8)
    panels = figure.subplots(1, 3)
    above = curves["above"]
    labels = {"pressure": r"pressure $p$ [N/m]", "shear": r"shear modulus $G$ [N/m]", "z": r"$z - z_0$"}
    for axes, (what, label) in zip(panels, labels.items(), strict=True):
        for k, (law, found) in enumerate(curves["laws"].items()):
            one, style, paper = found[what], series(1 + k), curves["paper"][law][what]
            good = one["each"] > 0
            for row, some in zip(one["each"], good, strict=True):
                axes.plot(above[some], row[some], color=style["color"], marker=".", ms=3, lw=0, alpha=0.5)
            some = one["mean"] > 0
            text = f"{law}: {one['exponent']:.3f} ± {one['error']:.3f} (EM {paper:g})"
            axes.plot(above[some], one["mean"][some], **{**style, "lw": 0}, label=text)
            if some.any():
                x = above[some]
                anchor = np.exp(np.mean(np.log(one["mean"][some]) - paper * np.log(x)))
                axes.plot(x, anchor * x**paper, color=style["color"], lw=1)
        axes.set(xscale="log", yscale="log", xlabel=r"$\phi - \phi_{cr}$", ylabel=label)
        axes.legend(fontsize=8, frameon=False, loc="upper left")
        head(axes, "lines: EM's exponents")
    return save(figure, path, f"Scaling near jamming, {curves['seeds']} packings of {curves['count']} grains (EM Fig. 4-6)")


def draw_iterations(curves: dict[str, Any], path: Path) -> Path:
    """Iterations and times of a strain step against phi - phi_cr (EM Fig. 7)."""
    figure = new_figure(11.0, 4.8)
    above = curves["above"]
    for axes, (what, label) in zip(figure.subplots(1, 2), {"iterations": "iterations", "seconds": "time [s]"}.items(), strict=True):
        for method, one in curves["median"].items():
            each = curves["each"][method][what]
            style = STYLE[method] | {"ms": 5, "lw": 1.6}
            axes.plot(above, one[what], label=curves["labels"][method], **style)
            axes.vlines(above, each.min(axis=0), each.max(axis=0), color=style["color"], lw=1, alpha=0.6)
        axes.set(xscale="log", yscale="log", xlabel=r"$\phi - \phi_{cr}$", ylabel=label)
        head(axes, f"{label.split(' [')[0]} of a strain of 0.01 $(\\phi - \\phi_{{cr}})$")
    figure.axes[0].legend(fontsize=8, frameon=False, ncols=2, loc="center left", bbox_to_anchor=(0.0, 0.46))
    return save(figure, path, f"On the way to jamming: medians of {curves['seeds']} packings of {curves['count']} grains (EM Fig. 7)")


def draw_shear(curves: dict[str, Any], path: Path) -> Path:
    """Isotropic and deviatoric stress and fabric against strain (EM Fig. 8)."""
    figure = new_figure(10.0, 7.0)
    labels = {
        "stress_iso": r"$\sigma_{iso}$ [N/m]",
        "stress_dev": r"$\sigma_{dev}$ [N/m]",
        "fabric_iso": r"$F_{iso}$",
        "fabric_dev": r"$F_{dev}$",
    }
    for axes, (what, label) in zip(figure.subplots(2, 2, sharex=True).ravel(), labels.items(), strict=True):
        for k, (step, one) in enumerate(curves["runs"].items()):
            axes.plot(100 * one["strain"], one[what], color=COLOURS[1 + k], lw=2.4 - 0.7 * k, alpha=0.85, label=f"increments of {step}")
        axes.set(ylabel=label)
        head(axes, label.split(" [")[0])
    for axes in figure.axes[2:]:
        axes.set_xlabel(r"strain $\gamma$ [%]")
    figure.axes[0].legend(fontsize=8, frameon=False)
    return save(figure, path, f"Pure shear of {curves['count']} grains, phi = {curves['phi']:g} (EM Fig. 8)")
