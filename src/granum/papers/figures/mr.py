"""Figures of the experiments of MR, from the arrays that the experiments return."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...plot.experiment_sheet import COLOURS, MARKERS, head, new_figure, save

SPEEDS = "viridis"
FAST_ON_BELT = 1.5  # [m/s] where MR's colours of Fig. 5 end
CO_ROTATING = 0.1  # of the rim's speed, where those of Fig. 7 end
CONTOURS = 7
SMOOTHED = 0.1  # [s] over which forces of cylinders are averaged
STATES = {"merged with the ground": "0.8", "free": "#d7263d", "merged with each other or with the bucket": "#2a6fdb"}


def draw_discharge(curves: dict[str, Any], path: Path) -> Path:
    """Where grains come through the plane below the belt's end, with the geometric centres (MR Fig. 8)."""
    runs = curves["runs"]
    figure = new_figure(4.2 * len(runs) + 0.8, 3.4)
    panels = figure.subplots(1, len(runs), sharex=True, sharey=True, squeeze=False)[0]
    most = max(found["distribution"]["part"].max(initial=0.0) for found in runs.values())
    levels = np.linspace(0.03, 1.0, CONTOURS) * 100 * max(most, 1e-12)
    right, shown = runs[curves["reference"]]["centre"], None
    for axes, (name, found) in zip(panels, runs.items(), strict=True):
        x, y, part = (found["distribution"][key] for key in ("x", "y", "part"))
        if min(part.shape) > 1:
            shown = axes.contourf((y[1:] + y[:-1]) / 2, (x[1:] + x[:-1]) / 2, 100 * part, levels=levels, cmap="YlGnBu", extend="max")
        axes.plot(right[1], right[0], "+", color="0.45", ms=13, mew=1.6)
        axes.plot(found["centre"][1], found["centre"][0], "x", color="#d7263d", ms=9, mew=2)
        axes.set(xlabel="across [d]", aspect="equal")
        head(axes, f"{name}: {found['discharged']} grains")
    panels[0].set_ylabel("beyond the belt's edge [d]")
    if shown is not None:
        figure.colorbar(shown, ax=panels, label="% of the grains in a cell of d x d", shrink=0.8, format="%.1f")
    return save(figure, path, f"Conveyor: discharge 15 d below the belt; x: centre, +: centre of {curves['reference']} (MR Fig. 8)")


def draw_ridges(curves: dict[str, Any], path: Path) -> Path:
    """The belt from the side (MR Fig. 5), the ridge across it, and the reduction level over time."""
    runs, names = curves["runs"], [curves["reference"], *curves["reduced"]]
    figure = new_figure(12.0, 2.3 * len(names) + 3.2)
    grid = figure.add_gridspec(len(names) + 1, 3, height_ratios=[*[1.0] * len(names), 1.3])
    sides = [figure.add_subplot(grid[k, :2]) for k in range(len(names))]
    for k, name in enumerate(names):
        side, ridge = runs[name]["side"], runs[name]["ridge"]
        shown = _grains(sides[k], side["x"], side["z"], 1.0, side["speed"], -side["y"], FAST_ON_BELT)
        sides[k].plot([0, side["length"]], [0, 0], color="0.2", lw=1.2)
        sides[k].set(xlim=(-2, side["length"] + 14), ylim=(-26, 13), ylabel="z [d]")
        sides[k].set_title(name, fontsize=10, loc="left")
        across = figure.add_subplot(grid[k, 2])
        _grains(across, ridge["y"], ridge["z"], 1.0, np.zeros(len(ridge["y"])), ridge["z"], 1.0, face="0.8")
        reach = runs[name]["height"] / np.tan(np.radians(runs[name]["angle_mean"]))
        across.plot([-reach, 0, reach], [0, runs[name]["height"], 0], color=COLOURS[2], lw=1.4)
        across.set(xlim=(-18, 18), ylim=(0, 14), ylabel="z [d]", aspect="equal")
        across.set_title(f"{runs[name]['angle_mean']:.1f} +- {runs[name]['angle_spread']:.1f} degrees", fontsize=10, loc="left")
    sides[-1].set_xlabel("along the belt [d]")
    figure.colorbar(shown, ax=sides, label="speed against the belt [m/s]", shrink=0.9)
    axes = figure.add_subplot(grid[-1, :])
    for k, name in enumerate(curves["reduced"]):
        axes.plot(runs[name]["time"], 100 * runs[name]["level"], color=COLOURS[1 + k], lw=1.4, label=name)
    axes.axhline(85, color="0.5", lw=1, ls="--", label="MR: 85 %")
    axes.set(xlabel="time [s]", ylabel="reduction level [%]", ylim=(0, 101))
    axes.legend(fontsize=8, frameon=False, loc="lower right")
    head(axes, "reduction level")
    return save(figure, path, "Conveyor: ridge and reduction level (MR Fig. 5, Table 3)")


def draw_heaps(curves: dict[str, Any], path: Path) -> Path:
    """Heaps at the end with the line through their top (MR Fig. 9)."""
    runs = curves["runs"]
    rows = -(-len(runs) // 2)
    figure = new_figure(12.0, 2.7 * rows)
    panels = figure.subplots(rows, 2, sharex=True, sharey=True, squeeze=False).ravel()
    for axes, (name, found) in zip(panels, runs.items(), strict=False):
        end = found["final"]
        face = np.where(end["main"], "0.8", "#56b4e9")
        _grains(axes, 1e3 * end["x"], 1e3 * end["z"], 2e3 * end["radius"], None, end["x"], 1.0, face=face)
        axes.plot(1e3 * end["line_x"], 1e3 * end["line_z"], ".", color="#d7263d", ms=5)
        if len(end["line_x"]) > 1:
            slope, height = np.polyfit(end["line_x"], end["line_z"], 1)
            x = np.array([0.0, 2 * end["line_x"].max()])
            axes.plot(1e3 * x, 1e3 * (height + slope * x), color=COLOURS[1], lw=1.4)
        top = 1e3 * max(float(one["final"]["z"].max()) for one in runs.values())
        axes.set(ylim=(0, 1.1 * top), aspect="equal", ylabel="z [mm]")
        axes.set_title(f"{name}: {found['final_angle']:.1f} degrees", fontsize=10, loc="left")
    for axes in panels[len(runs) :]:
        axes.set_axis_off()
    for axes in panels[-2:]:
        axes.set_xlabel("x [mm]")
    return save(figure, path, "Collapse: heaps at the end; light blue: lies apart, red: the top that is fitted (MR Fig. 9)")


def draw_collapse(curves: dict[str, Any], path: Path) -> Path:
    """Angle of the top (MR Fig. 10) and reduction level (Fig. 11) over time."""
    return _over_time(curves, path, "Collapse: angle of the top, and reduction level (MR Fig. 10-11)", "time from the lift [s]", 37.0)


def draw_drum_time(curves: dict[str, Any], path: Path) -> Path:
    """Dynamic angle of repose (MR Fig. 12) and reduction level (Fig. 13) over time."""
    return _over_time(curves, path, "Drum: angle of repose, and reduction level (MR Fig. 12-13)", "time from the change [s]", None)


def draw_drum_states(curves: dict[str, Any], path: Path) -> Path:
    """The flow, coloured by the velocity against co-rotation, up to 10 % of the rim's speed (MR Fig. 7)."""
    runs, names = curves["runs"], [curves["reference"], *curves["reduced"]]
    columns = max(3, len(names)) if len(names) < 4 else 2
    rows = -(-len(names) // columns)
    figure = new_figure(4.2 * columns + 0.8, 4.3 * rows)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    turn = np.linspace(0, 2 * np.pi, 181)
    for axes, name in zip(panels, names, strict=False):
        part = runs[name]["section"]
        shown = _grains(axes, part["across"], part["up"], 2 * part["radius"], part["speed"], part["across"], CO_ROTATING)
        axes.plot(np.cos(turn), np.sin(turn), color="0.4", lw=1)
        axes.plot(part["line_x"], part["line_z"], ".", color="#d7263d", ms=4)
        axes.set(xlim=(-1.05, 1.05), ylim=(-1.05, 1.05), aspect="equal")
        axes.set_title(f"{name}: {runs[name]['angle_mean']:.1f} +- {runs[name]['angle_spread']:.1f} degrees", fontsize=10, loc="left")
    for axes in panels:
        axes.set_axis_off()
    figure.colorbar(shown, ax=panels, label=r"speed against co-rotation $v_r / R\Omega$", shrink=0.8, extend="max")
    return save(figure, path, "Drum: the flow at the end (MR Fig. 7)")


def draw_speed_up(curves: dict[str, Any], path: Path) -> Path:
    """Speed-up against reduction level: the model for several overheads, and what was measured (MR Fig. 14)."""
    figure = new_figure(11.0, 5.0)
    left, right = figure.subplots(1, 2, sharey=True)
    for axes, key, text in (
        (left, "predicted", r"$\gamma$ = 1/3: fewer bodies need fewer sweeps (MR)"),
        (right, "predicted_fixed", r"$\gamma$ = 0: as many sweeps"),
    ):
        model = curves[key]
        for k, (overhead, speed_up) in enumerate(model["speed_up"].items()):
            shade = f"{0.25 + 0.6 * k / max(1, len(model['speed_up']) - 1):.2f}"
            axes.plot(100 * model["level"], speed_up, color=shade, lw=1.2, label=rf"$\delta$ = {overhead}")
        for k, (name, points) in enumerate(curves["measured"].items()):
            colour, marker = COLOURS[1 + k % (len(COLOURS) - 1)], MARKERS[k % len(MARKERS)]
            axes.plot(100 * points["level"], points["speed_up"], ls="", color=colour, marker=marker, ms=6, label=name)
        axes.set(xlabel="reduction level [%]", yscale="log", xlim=(0, 101))
        axes.set_yticks([1, 2, 5, 10, 20, 50, 100, 200])
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter(lambda x, at: "")
        head(axes, text)
    most = max(float(np.max(points["speed_up"])) for points in curves["measured"].values())
    left.set_ylabel("speed-up S")
    left.set_ylim(0.5, 2 * max(most, 50.0))
    right.legend(fontsize=8, frameon=False, loc="upper left")
    return save(figure, path, "Speed-up against reduction level: model (lines) and measured (points) (MR Fig. 14)")


def draw_dig(curves: dict[str, Any], path: Path) -> Path:
    """Forces of the cylinders, the load of the bucket and the reduction level over time."""
    runs = curves["runs"]
    figure = new_figure(11.0, 7.6)
    panels = figure.subplots(2, 2).ravel()
    for k, (name, one) in enumerate(runs.items()):
        colour = COLOURS[k % len(COLOURS)]
        width = max(1, round(SMOOTHED / (one["time"][1] - one["time"][0])))
        for axes, cylinder in zip(panels, ("stick", "boom"), strict=False):
            mean = np.convolve(one["force"][cylinder], np.ones(width) / width, mode="valid")
            axes.plot(one["time"][len(one["time"]) - len(mean) :], mean / 1e3, color=colour, lw=1.2, label=name)
            axes.set(ylabel="force [kN]")
            head(axes, f"cylinder of the {cylinder}, mean over {SMOOTHED:g} s (grey: the drag)")
        panels[2].plot(one["time"], one["load"], color=colour, lw=1.2, label=name)
        if name in curves["reduced"]:
            panels[3].plot(one["level_time"], 100 * one["level"], color=colour, lw=1.2, label=name)
    for axes in panels:
        axes.axvspan(*runs[curves["full"]]["drag"], color="0.93", zorder=0)
        axes.set(xlabel="time [s]")
        axes.legend(fontsize=8, frameon=False)
    panels[2].set(ylabel="stones in the bucket [kg]", ylim=(0, None))
    panels[3].set(ylabel="reduction level [%]", ylim=(0, 101))
    head(panels[2], "load of the bucket")
    head(panels[3], "reduction level")
    return save(figure, path, "Excavator, reduced and at full resolution (MR Fig. 1)")


def draw_dug_beds(curves: dict[str, Any], path: Path) -> Path:
    """The middle of the trench in the drag: who moves on its own."""
    from matplotlib.collections import EllipseCollection
    from matplotlib.patches import Patch

    names = curves["reduced"]
    figure = new_figure(9.0, 3.4 * len(names))
    for axes, name in zip(np.atleast_1d(figure.subplots(len(names), 1, sharex=True)), names, strict=True):
        bed, (low, high) = curves["runs"][name]["bed"], curves["runs"][name]["trench"]
        shown = np.flatnonzero((bed["y"] > 0) & (bed["y"] < 0.25 * (high[1] - low[1])))
        shown = shown[np.argsort(-bed["y"][shown])]
        size, face = 2 * bed["radius"][shown], np.array([STATES[key] for key in ("free", *[k for k in STATES if k != "free"])])
        discs = EllipseCollection(
            size, size, np.zeros(len(shown)), units="xy", offsets=np.stack([bed["x"][shown], bed["z"][shown]], axis=1),
            offset_transform=axes.transData, facecolors=face[bed["state"][shown]], edgecolors="0.3", lw=0.2,
        )  # fmt: skip
        axes.add_collection(discs)
        axes.plot([low[0] - 0.4, low[0], low[0], high[0], high[0], high[0] + 0.4], [0, 0, low[2], low[2], 0, 0], color="0.2", lw=1)
        axes.set(xlim=(low[0] - 0.5, high[0] + 0.5), ylim=(low[2] - 0.1, -0.7 * low[2]), aspect="equal", xlabel="x [m]", ylabel="z [m]")
        axes.legend(handles=[Patch(facecolor=c, label=text) for text, c in STATES.items()], fontsize=8, frameon=False, loc="upper left")
        head(axes, f"{name}: in the middle of the drag")
    return save(figure, path, "Excavator: only stones around the bucket are free (MR Fig. 1)")


def _over_time(curves: dict[str, Any], path: Path, title: str, label: str, paper: float | None) -> Path:
    runs = curves["runs"]
    figure = new_figure(11.0, 4.6)
    left, right = figure.subplots(1, 2)
    for k, (name, found) in enumerate(runs.items()):
        left.plot(found["angle_time"], found["angle"], color=COLOURS[k % len(COLOURS)], lw=1.4, label=name)
        if name in curves["reduced"]:
            right.plot(found["time"], 100 * found["level"], color=COLOURS[k % len(COLOURS)], lw=1.4, label=name)
    most = runs[curves["reference"]]["mergeable"]
    right.plot(runs[curves["reference"]]["angle_time"], 100 * most, color="0.5", lw=1.2, ls="--", label=f"most in {curves['reference']}")
    if paper is not None:
        left.axhline(paper, color="0.85", lw=1, zorder=0)
        left.annotate(f"MR: {paper:g}", (left.get_xlim()[0], paper), xytext=(4, 3), textcoords="offset points", fontsize=8, color="0.4")
    left.set(xlabel=label, ylabel="angle [degrees]")
    right.set(xlabel=label, ylabel="reduction level [%]", ylim=(0, 101))
    for axes, text in ((left, "angle of the surface"), (right, "reduction level")):
        axes.legend(fontsize=8, frameon=False, loc="lower right")
        head(axes, text)
    return save(figure, path, title)


def _grains(axes: Any, x: Any, z: Any, size: Any, speed: Any, depth: Any, most: float, face: Any = None) -> Any:
    """Discs, those with a small ``depth`` first, coloured by speed or with a ``face``; returns what a colour bar needs."""
    from matplotlib.collections import EllipseCollection

    order = np.argsort(depth, kind="stable")
    size = np.broadcast_to(size, len(x))[order]
    look = {"cmap": SPEEDS} if face is None else {"facecolors": face if isinstance(face, str) else face[order], "edgecolors": "0.5"}
    discs = EllipseCollection(
        size, size, np.zeros(len(x)), units="xy", offsets=np.stack([x, z], axis=1)[order], offset_transform=axes.transData, lw=0.2, **look
    )
    if face is None:
        discs.set_array(np.asarray(speed)[order])
        discs.set_clim(0, most)
    axes.add_collection(discs)
    axes.autoscale_view()
    return discs
