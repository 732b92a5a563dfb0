"""Speed-up against threads: what was measured, what the graph of a sweep allows, and what PP found (PP Fig. 2.9)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...plot.experiment_sheet import COLOURS, head, new_figure, save, ticks

KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "momentum": ("with momentum", {"color": COLOURS[0], "marker": "o"}),
    "recomputed": ("plain, rows computed anew", {"color": COLOURS[1], "marker": "s"}),
    "cached": ("plain, rows stored", {"color": COLOURS[3], "marker": "^"}),
}
ZONE_LINES: tuple[Any, ...] = (":", "--", "-.", (0, (1, 4)))
PP_POINT = (8, 6)


def draw_speed_up(result: dict[str, Any], path: Path) -> Path:
    """A panel for each system of ``granum bench parallel``: colours by kind of sweep, PP's zones by width of a cell."""
    systems = result["predicted"]
    figure = new_figure(5.6 * len(systems) + 0.4, 5.0)
    panels = np.atleast_1d(figure.subplots(1, len(systems), sharey=True))
    for axes, (name, system) in zip(panels, systems.items(), strict=True):
        threads = np.array([1, *map(int, system["speed_up"]["momentum"])])
        axes.plot(threads, threads, color="0.8", lw=1, label="as many times as threads")
        for line, (width, zones) in zip(ZONE_LINES, system["zones"].items(), strict=True):
            label = f"predicted, PP's zones, cells of {width}"
            axes.plot(threads, [1, *zones["speed_up"].values()], color="0.55", lw=1, ls=line, label=label)
        for kind, (label, style) in KINDS.items():
            if kind in system["speed_up"]:
                axes.plot(threads, [1, *system["speed_up"][kind].values()], label=f"predicted, {label}", ms=4, lw=1.6, **style)
        axes.plot(*PP_POINT, ls="", marker="*", ms=13, color=COLOURS[4], label="PP Fig. 2.9, about 6 at 8")
        if name == "box":
            measured = result["measured"]["solve_speed_up"]
            axes.plot(result["threads"], measured, ls="", marker="P", ms=9, color=COLOURS[2], label="measured, with momentum")
        axes.set(xscale="log", yscale="log", xlabel="threads $p$", ylim=(0.7, 160))
        ticks(axes.xaxis, threads)
        ticks(axes.yaxis, threads)
        axes.legend(fontsize=7, frameon=False, loc="upper left")
        head(axes, f"{name}, {system.get('grains', result['grains'])} grains, {system['contacts']} contacts")
    panels[0].set_ylabel("speed-up of a sweep $S(p) = T_1 / T_p$")
    return save(figure, path, "What threads can gain: colours and zones of the contact graph")
