"""The flank of a pile: profile, the line that gives the angle of repose, and the grains that lie apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..analysis.pile import LOWEST_PILE, pile_grains, pile_shape
from ..analysis.snapshot import Snapshot
from ..array_types import BoolArray, FloatArray
from ..io import Recording
from . import style
from .look import Look, about

DOT = 9.0  # [points^2] of a grain


def draw_repose(recording: Recording, look: Look) -> Any:
    """The pile in the chosen frame."""
    seen = look.snapshots(recording)
    return repose_figure(seen[-1], about(recording, seen))


def repose_figure(s: Snapshot, subtitle: str) -> Any:
    """Grains by their distance from the axis of the pile, strays in grey; the mean surface of rings, and the fitted flank."""
    shape, resting = pile_shape(s), pile_grains(s)
    position = s.position[resting]
    away, top = np.hypot(*(position[:, :2] - shape.centre).T), position[:, 2] + s.radius[resting] - shape.ground
    figure, (axes,) = style.chart("Angle of repose", subtitle, width=7.6, height=4.6)
    reach = _shown(away, shape.heap)
    factor, unit = style.length_unit(reach)
    heap, ring, fitted = shape.heap, shape.radius, shape.flank
    axes.scatter(factor * away[heap], factor * top[heap], s=DOT, color=style.SKY, alpha=0.35, lw=0, label="top of a grain of the heap")
    if shape.strays:
        axes.scatter(factor * away[~heap], factor * top[~heap], s=DOT, color="0.6", lw=0, label="stray", zorder=2)
    for some, colour, label in ((~fitted, style.GREY, "surface of a ring"), (fitted, style.BLUE, "ring of the flank")):
        if some.any():
            places, high, error = (factor * column[some] for column in (ring, shape.surface, shape.surface_error))
            axes.errorbar(places, high, yerr=error, fmt="o", ms=4.5, elinewidth=1.0, capsize=2, color=colour, label=label, zorder=3)
    if shape.lack is None:
        ends = np.array([ring[fitted][0], ring[fitted][-1]]) + shape.diameter * np.array([-1.0, 1.0])
        axes.plot(factor * ends, factor * (shape.offset + shape.slope * ends), color=style.ORANGE, lw=1.8, label="fit", zorder=4)
        for bound in (shape.low, shape.high):
            axes.axhline(factor * bound, color="0.7", lw=0.8, ls=":", zorder=1)
        style.note(axes, f"angle {shape.angle:.1f}° ± {shape.error:.1f}°\n{shape.sectors} sectors, {int(fitted.sum())} rings")
    else:
        style.note(axes, shape.lack.replace(": ", ":\n", 1))
        if np.isfinite(shape.height):
            axes.axhline(factor * LOWEST_PILE * shape.diameter, color="0.7", lw=0.8, ls=":", zorder=1)
    axes.set(
        xlabel=f"distance from the axis [{unit}]", ylabel=f"height above the ground [{unit}]", xlim=(0, factor * reach), ylim=(0, None)
    )
    beyond = int(np.count_nonzero(away > reach))
    axes.legend(
        frameon=False, fontsize=8.5, loc="center right", title=f"{beyond} strays lie farther out" if beyond else None, title_fontsize=8.5
    )
    return figure


def _shown(away: FloatArray, heap: BoolArray) -> float:
    """[m] so far out the figure goes: half as far again as the heap, or all strays if they are nearer."""
    if not heap.any():
        return 1.05 * float(away.max(initial=1.0))
    return 1.05 * min(float(away.max()), 1.5 * float(away[heap].max()))
