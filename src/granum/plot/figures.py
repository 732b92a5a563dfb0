"""Figures by name: ``granum plot FILE FIGURE``. To add one, write a function of a recording and a look, and name it in ``FIGURES``.

Those of extensions stand in their own modules.
"""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from ..checks import InputError, known_name
from ..extensions import modules
from ..io import Recording
from ..io.packing import is_packing
from .circuit import draw_circuit
from .fields import FIELDS, draw_field
from .flow import draw_janssen, draw_profile
from .flow_rate import draw_flow_rate
from .histograms import draw_forces, draw_overlaps
from .laboratory import draw_shear_cell, draw_triaxial
from .loads import draw_body_force, draw_joint_force
from .look import FIELD, MEAN, ONE_FRAME, PLANE, Kind, Look
from .network import draw_network
from .packing import draw_force_network, draw_packing
from .packing_curves import draw_force_spread, draw_search, draw_shear
from .picture import scene_picture
from .repose import draw_repose
from .series import draw_contacts, draw_energy, draw_overlap, draw_solver
from .style import FORMATS, placed, save


def _picture(recording: Recording, look: Look) -> Any:
    s = look.snapshots(recording)[-1]
    walls = list(zip(s.wall_position, s.wall_orientation, strict=True))
    return scene_picture(s.scene, s.position, s.radius, s.velocity, time=s.time, bodies=walls)


FIGURES: dict[str, Kind] = {
    "picture": Kind(_picture, "grains as shaded spheres", ONE_FRAME),
    "network": Kind(draw_network, "contacts as lines, as thick and dark as they push", PLANE),
    **{name: Kind(partial(draw_field, name=name), f"{kind.title.lower()} in a slab", FIELD) for name, kind in FIELDS.items()},
    "histogram": Kind(draw_overlaps, "how often an overlap occurs", MEAN),
    "forces": Kind(draw_forces, "how often a normal force occurs, with its exponential tail", ONE_FRAME),
    "profile": Kind(draw_profile, "velocity of a drum's flow across its surface", MEAN),
    "janssen": Kind(draw_janssen, "pressure on upright walls over the height, with Janssen's law", MEAN),
    "repose": Kind(draw_repose, "profile of a pile with the line that gives its angle of repose, strays in grey", ONE_FRAME),
    "triaxial": Kind(draw_triaxial, "stresses, mobilised friction and volume over the strain of a triaxial test"),
    "shear-cell": Kind(draw_shear_cell, "velocity between sheared plates, and friction on them in time"),
    "circuit": Kind(draw_circuit, "what falls through each gap of a circuit's sieve, sizes in drum, belt and sieve, and flows in time"),
    "energy": Kind(draw_energy, "energies in time"),
    "contacts": Kind(draw_contacts, "contacts in time, by what they do"),
    "overlap": Kind(draw_overlap, "mean and largest overlap in time"),
    "body-force": Kind(draw_body_force, "forces and torques on bodies in time", frozenset({"body"})),
    "joint-force": Kind(draw_joint_force, "what joints, their motors and limits carry in time", frozenset({"joint"})),
    "flow-rate": Kind(
        draw_flow_rate,
        "mass that came into sinks or passed counters, and its rate in time, with Beverloo's law",
        frozenset({"counter", "window"}),
    ),
    "solver": Kind(draw_solver, "residual, estimated error and iterations in time"),
    **{name: kind for module in modules("plot") for name, kind in module.FIGURES.items()},
}


PACKING_FIGURES: dict[str, Kind] = {
    "packing": Kind(draw_packing, "grains in their cell, coloured by pressure", ONE_FRAME),
    "network": Kind(draw_force_network, "contacts as lines, as thick and dark as they push", ONE_FRAME | {"slab"}),
    "forces": Kind(draw_force_spread, "how often a force occurs", ONE_FRAME),
    "shear": Kind(draw_shear, "stress and fabric against strain"),
    "search": Kind(draw_search, "packing fractions and pressures of the search for jamming"),
}


def plot_recording(recording: Recording, figure: str, path: str | Path | None, ax: Any, look: dict[str, Any]) -> Any:
    """What :meth:`granum.Recording.plot` does."""
    for name in look:
        known_name("setting of a figure", name, Look.__dataclass_fields__)
    name = figure or ("packing" if is_packing(recording) else "picture")
    known_name("figure", name, {**FIGURES, **PACKING_FIGURES})
    if path is not None and Path(path).suffix.lower() not in FORMATS:
        raise InputError(f"output {path} must end in {', '.join(FORMATS)}.")
    if path is not None and ax is not None:
        raise InputError("give path or ax, not both: a figure of yours is saved with its own savefig.")
    with placed(ax) if ax is not None else nullcontext():
        drawn = draw_figure(recording, name, Look(**look))
    if path is not None:
        save(drawn, Path(path), f"{recording.scene.name}: {name}")
    return drawn


def draw_figure(recording: Recording, name: str, look: Look | None = None) -> Any:
    """The matplotlib figure ``name`` of an open recording: one of ``FIGURES``, or of ``PACKING_FIGURES`` if it holds packings."""
    figures = PACKING_FIGURES if is_packing(recording) else FIGURES
    if name not in figures and name in {**FIGURES, **PACKING_FIGURES}:
        what = "packings" if is_packing(recording) else "a run"
        raise InputError(f"figure {name!r} does not suit {recording.path}, a recording of {what}; choose one of: {', '.join(figures)}.")
    kind = figures[known_name("figure", name, {**FIGURES, **PACKING_FIGURES})]
    look = look or Look()
    idle = sorted(look.given - kind.takes)
    if idle:
        shows = f"it takes {', '.join(sorted(kind.takes))}" if kind.takes else "it shows the whole run"
        raise InputError(f"figure {name!r} does not take {', '.join(idle)}: {shows}.")
    if not len(recording):
        raise InputError(f"{recording.path} holds no frame yet: there is nothing to draw.")
    return kind.draw(recording, look)
