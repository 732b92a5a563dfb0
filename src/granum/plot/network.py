"""The force network in a slab: a line from centre to centre for every contact, as thick and dark as it pushes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..analysis.force_network import ForceNetwork
from ..io import Recording
from . import style
from .look import Look, about
from .section import draw_grains, draw_walls, make_section, window

SLAB = 2.0  # [d]
STRONGEST = 5.0  # [mean force] from here on lines grow no more
THICKEST = 0.34  # [d]


def draw_network(recording: Recording, look: Look) -> Any:
    """Contacts whose point lies in the slab; forces in units of the mean of all contacts."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import Normalize

    s = look.snapshots(recording)[-1]
    section = make_section(s, look.view, look.slab, SLAB)
    network = ForceNetwork.of(s)
    seen = section.seen(s)
    shown = np.flatnonzero(section.holds(seen.point[network.contact, 2]))
    start, branch = seen.position[network.a[shown], :2], section.camera.project(network.branch[shown])[:, :2]
    # A contact through a face of the cell is drawn twice: out of it from a, and into it to b.
    end = np.where((network.b[shown] >= 0)[:, None], seen.position[network.other[shown], :2], start + branch)
    twice = np.flatnonzero(np.abs(end - start - branch).max(axis=1, initial=0.0) > s.radius.max())
    lines: Any = np.stack([np.concatenate([start, (end - branch)[twice]]), np.concatenate([start + branch, end[twice]])], axis=1)
    part = network.normal_force[np.concatenate([shown, shown[twice]])] / network.mean_force
    order = np.argsort(part, kind="stable")
    lines, part = lines[order], part[order]

    extent = window(section, seen)
    force, unit = style.scaled(np.array([network.mean_force]), "N")
    subtitle = f"{about(recording, [s])}; mean force {force[0]:.3g} {unit}, slab of {section.thickness(s):.2g} d"
    figure, axes, bar = style.drawing(extent, "Force network", subtitle, section.names, bar=True)
    draw_grains(axes, section, seen)
    inch = (axes.get_position().width * style.inches(figure)[0]) / (extent[1] - extent[0])
    thickest = max(THICKEST * 2 * float(s.radius.mean()) * inch * 72, 1.6)
    norm = Normalize(0.0, STRONGEST)
    mapped = LineCollection(
        lines,
        array=part,
        norm=norm,
        cmap=style.colours("load"),
        linewidths=0.25 + thickest * np.minimum(part, STRONGEST) / STRONGEST,
        capstyle="round",
        zorder=3,
    )
    axes.add_collection(mapped, autolim=False)
    draw_walls(axes, section, seen, extent)
    style.colour_bar(figure, mapped, bar, r"normal force $f_n / \langle f_n \rangle$", extend="max")
    return figure
