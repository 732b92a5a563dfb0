"""What can be measured of a recording, by name: ``granum analyse`` and :func:`measure` look here.

To add a metric: a function of the snapshots that gives a :class:`Measured`, and a line in ``METRICS``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ..checks import InputError, known_name
from ..io import Recording
from .coarse_graining import AXES, Grid, coarse_grain
from .contact_errors import Spread, contact_counts, overlap_ratio, slide_errors
from .conveyor import conveyor_discharge, conveyor_ridge
from .drum import drum_angles, flow_profile, plug_fraction, towers
from .energy import energy_series
from .force_network import ForceNetwork
from .merged import merged_counts
from .packing import packing_moduli, packing_numbers
from .silo import FEWEST_POINTS, axis_profile, janssen_fit, loads, vertical_pressure, wall_pressure
from .snapshot import Snapshot, snapshots
from .surface import heap_slope, pile_shape, surface_height

HISTOGRAM_BINS = 20
PACKING_SERIES = ("time", "coordination", "pressure", "shear_stress", "deviatoric_fabric")
FIELD_CELL = 2.0  # [mean diameters] cells of the fields, and width of their kernel


@dataclass(frozen=True)
class Measured:
    """What a metric found: numbers by name, and columns of equal length that belong together. NaN: there is no such number."""

    values: dict[str, float]
    columns: dict[str, Any] = field(default_factory=dict)
    note: str | None = None


@dataclass(frozen=True)
class Metric:
    """A measurement of some frames of a recording."""

    measure: Callable[[Iterable[Snapshot]], Measured]
    """Of snapshots, which it may go through more than once."""
    about: str
    units: dict[str, str]
    """Of every number and column that has one; the others are counts and ratios."""
    needs: str = "any recording"
    table: str = "series"
    """What the columns are."""
    all_frames: bool = False
    """Of all frames unless some are asked for; else of the last one."""


@dataclass(frozen=True)
class _Shots:
    """Frames that are read anew each time one goes through them: they need not fit into memory."""

    recording: Recording
    frames: Sequence[int]

    def __iter__(self) -> Iterator[Snapshot]:
        return snapshots(self.recording, self.frames)


def measure(recording: Recording, name: str, frames: Sequence[int] | None = None) -> Measured:
    """The metric ``name`` of an open recording, of the frames with these numbers."""
    metric = METRICS[known_name("metric", name, METRICS)]
    return metric.measure(_Shots(recording, frames_of(recording, name, frames)))


def frames_of(recording: Recording, name: str, frames: Sequence[int] | None = None) -> Sequence[int]:
    """The frames a metric looks at; InputError if there are none."""
    if not len(recording):
        raise InputError(f"recording {recording.path} holds no frames: nothing can be measured. Let the run go on, or run it again.")
    if frames is not None:
        return frames
    return range(len(recording)) if METRICS[name].all_frames else (len(recording) - 1,)


def _overlap(shots: Iterable[Snapshot]) -> Measured:
    found = np.concatenate([overlap_ratio(s) for s in shots])
    if not len(found):
        return Measured({"mean": 0.0, "std": 0.0, "max": 0.0, "contacts": 0}, note="no contacts")
    spread = Spread.of(found)
    count, edges = np.histogram(found, HISTOGRAM_BINS, range=(0.0, spread.largest))
    return Measured(
        {"mean": spread.mean, "std": spread.std, "max": spread.largest, "contacts": spread.count},
        {"from": edges[:-1], "to": edges[1:], "count": count},
    )


def _slide(shots: Iterable[Snapshot]) -> Measured:
    found = [slide_errors(s) for s in shots]
    size, direction = Spread.of(np.concatenate([f.size for f in found])), Spread.of(np.concatenate([f.direction for f in found]))
    return Measured(
        {
            "contacts": size.count,
            "size_mean": size.mean,
            "size_std": size.std,
            "size_worst": size.largest,
            "direction_mean": direction.mean,
            "direction_std": direction.std,
            "direction_worst": direction.largest,
        },
        note=None if size.count else "no contact slides",
    )


def _contacts(shots: Iterable[Snapshot]) -> Measured:
    return _means([asdict(contact_counts(s)) for s in shots])


def _energy(shots: Iterable[Snapshot]) -> Measured:
    found = energy_series(shots)
    note = "no gravity or no grains, so no scale" if np.isnan(found.scaled).all() else None
    return Measured(
        {"kinetic": float(found.kinetic[-1]), "scaled": float(found.scaled[-1])},
        {"time": found.time, "kinetic": found.kinetic, "scaled": found.scaled},
        note,
    )


def _height(shots: Iterable[Snapshot]) -> Measured:
    return _series(shots, lambda s: asdict(surface_height(s)), "no grains")


def _repose(shots: Iterable[Snapshot]) -> Measured:
    def look(s: Snapshot) -> dict[str, float]:
        shape = pile_shape(s)
        return {"angle": shape.angle, "height": shape.height}

    return _series(shots, look, "the pile is too small for a flank")


def _slope(shots: Iterable[Snapshot]) -> Measured:
    return _series(shots, lambda s: {"angle": heap_slope(s).angle}, "too few grains for a surface")


def _drum_angle(shots: Iterable[Snapshot]) -> Measured:
    def look(s: Snapshot) -> dict[str, float]:
        found = drum_angles(s)
        return {"surface": found.surface, "centre_of_mass": found.centre_of_mass}

    return _series(shots, look, "too few grains for a surface", spread=True)


def _plug(shots: Iterable[Snapshot]) -> Measured:
    return _series(shots, lambda s: {"fraction": plug_fraction(s)}, "the drum does not turn, or is empty", spread=True)


def _flow(shots: Iterable[Snapshot]) -> Measured:
    found = flow_profile(shots)
    return Measured(
        {
            "angle": found.angle,
            "plug_thickness": found.plug_thickness,
            "radius": found.radius,
            "speed": found.speed,
            "averaged_frames": len(found.time),
        },
        {
            "z": found.z,
            "velocity": found.velocity,
            "scaled_z": found.scaled_z,
            "scaled_velocity": found.scaled_velocity,
            "grains": found.count,
        },
        note=None if found.speed > 0 else "the drum does not turn: velocities have no scale",
    )


def _towers(shots: Iterable[Snapshot]) -> Measured:
    return _series(shots, lambda s: asdict(towers(s)), "too few grains for a surface, or the drum does not turn", spread=True)


def _ridge(shots: Iterable[Snapshot]) -> Measured:
    def look(s: Snapshot) -> dict[str, float]:
        found = conveyor_ridge(s)
        return {"angle": found.mean, "left": found.left, "right": found.right, "height": found.height}

    return _series(shots, look, "too few grains for a ridge", spread=True)


def _discharge(shots: Iterable[Snapshot]) -> Measured:
    found = conveyor_discharge(shots)
    return Measured(
        {
            "grains": len(found.points),
            "centre_x": float(found.centre[0]),
            "centre_y": float(found.centre[1]),
            "spread_x": float(found.spread[0]),
            "spread_y": float(found.spread[1]),
        },
        {"x": found.points[:, 0], "y": found.points[:, 1]},
        note=None if len(found.points) else "nothing has fallen that far",
    )


def _pressure(shots: Iterable[Snapshot]) -> Measured:
    found = wall_pressure(shots)
    return Measured(
        {"height": found.height, "strip": found.strip, "mean_pressure": float(found.pressure.mean())},
        {"z": found.z, "pressure": found.pressure, "shear": found.shear, "contacts": found.contacts},
        note=None if found.contacts.any() else "no contacts with side walls",
    )


def _vertical(shots: Iterable[Snapshot]) -> Measured:
    found = vertical_pressure(shots)
    return Measured({"height": found.height, "floor_pressure": float(found.pressure[0])}, {"z": found.z, "pressure": found.pressure})


def _janssen(shots: Iterable[Snapshot]) -> Measured:
    wall, inside = wall_pressure(shots), vertical_pressure(shots)
    fit, load = janssen_fit(wall.z, wall.pressure, wall.height, wall.strip), janssen_fit(inside.z, inside.pressure, inside.height)
    note = None
    if math.isnan(fit.length):
        note = f"a fit needs {FEWEST_POINTS} strips with pressure"
    elif straight := [name for name, one in (("wall", fit), ("vertical", load)) if math.isinf(one.length)]:
        which = " and ".join(straight)
        note = f"the {which} pressure does not saturate: it grows at least linearly with depth, and the fit is a straight line"
    values = asdict(fit) | {"strips": len(wall.z)}
    values |= {f"vertical_{name}": value for name, value in asdict(load).items() if name != "height"}
    return Measured(values, {"z": wall.z, "pressure": wall.pressure, "fit": fit.pressure(wall.z)}, note)


def _load(shots: Iterable[Snapshot]) -> Measured:
    def look(s: Snapshot) -> dict[str, float]:
        found = loads(s)
        part = found.carried / found.weight if found.weight > 0 else math.nan
        return asdict(found) | {"carried": found.carried, "carried_part": part}

    return _series(shots, look, "no weight")


def _axis(shots: Iterable[Snapshot]) -> Measured:
    found = axis_profile(shots)
    return Measured(
        {"slices": len(found.z)},
        {"z": found.z, "normal_force": found.normal_force, "pressure": found.pressure, "contacts": found.contacts},
        note=None if found.contacts.any() else "no contacts near the axis",
    )


def _network(shots: Iterable[Snapshot]) -> Measured:
    rows, last = [], None
    for s in shots:
        if (s.normal_force > 0).any():
            last = ForceNetwork.of(s)
            rows.append(_of_network(last))
    if last is None:
        return Measured({"contacts": 0}, note="no contact carries force")
    found = last.distribution(HISTOGRAM_BINS)
    columns = {"from": found.edges[:-1], "to": found.edges[1:], "count": found.count, "density": found.density}
    return Measured(_means(rows).values, columns, "fewer than ten strong contacts: no tail" if math.isnan(found.tail_rate) else None)


def _of_network(net: ForceNetwork) -> dict[str, float]:
    lengths = net.chain_lengths
    return {
        "contacts": net.edge_count,
        "mean_force": net.mean_force,
        "largest_force": float(net.normal_force.max()),
        "strong_part": float(net.strong.mean()),
        "tail_rate": net.distribution().tail_rate,
        "coordination": net.coordination,
        "backbone_coordination": net.backbone_coordination,
        "rattlers": int(net.rattlers.sum()),
        "anisotropy": net.anisotropy,
        "force_anisotropy": net.force_anisotropy,
        "chains": len(lengths),
        "longest_chain": int(lengths.max(initial=0)),
        "chain_part": float((net.chain >= 0).mean()),
    }


def _reduction(shots: Iterable[Snapshot]) -> Measured:
    return _series(shots, lambda s: asdict(merged_counts(s)), "no grains")


def _fields(shots: Iterable[Snapshot]) -> Measured:
    seen = [s for s in shots if s.grain_count]
    if not seen:
        return Measured({"mass": 0.0, "grain_mass": 0.0, "filled_cells": 0}, note="no grains")
    width = FIELD_CELL * 2 * float(seen[-1].radius.mean())
    found = coarse_grain(seen, Grid.around(seen, width), width=width)
    volume, filled = found.grid.cell_volume, found.density > 0
    mass, grain_mass = float(found.density.sum() * volume), float(np.mean([s.mass.sum() for s in seen]))
    momentum, grains = found.momentum.sum(axis=(0, 1, 2)) * volume, np.mean([s.mass @ s.velocity for s in seen], axis=0)
    scale = float(np.mean([s.mass @ np.linalg.norm(s.velocity, axis=1) for s in seen]))
    columns = dict(zip(AXES, (c[filled] for c in np.meshgrid(*found.grid.centres, indexing="ij")), strict=True))
    columns |= {name: getattr(found, name)[filled] for name in ("density", "solid_fraction")}
    columns |= {f"velocity_{axis}": found.velocity[filled][:, k] for k, axis in enumerate(AXES)}
    columns |= {f"stress_{AXES[i]}{AXES[j]}": found.stress[filled][:, i, j] for i in range(3) for j in range(3)}
    columns |= {name: getattr(found, name)[filled] for name in ("pressure", "shear_rate", "inertial_number")}
    return Measured(
        {
            "mass": mass,
            "grain_mass": grain_mass,
            "mass_error": abs(mass - grain_mass) / grain_mass,
            "momentum_error": float(np.abs(momentum - grains).max()) / scale if scale > 0 else 0.0,
            "width": width,
            "filled_cells": int(filled.sum()),
            "largest_pressure": float(found.pressure[filled].max()),
            "largest_shear_rate": float(found.shear_rate[filled].max()),
        },
        columns,
    )


def _means(rows: Sequence[dict[str, float]]) -> Measured:
    return Measured({name: rows[0][name] if len(rows) == 1 else Spread.of([row[name] for row in rows]).mean for name in rows[0]})


def _series(shots: Iterable[Snapshot], look: Callable[[Snapshot], dict[str, float]], missing: str, spread: bool = False) -> Measured:
    """Means over the frames, and the values of each where there are several; ``missing`` says why one is NaN."""
    times, rows = [], []
    for s in shots:
        times.append(s.time)
        rows.append(look(s))
    values = _means(rows).values
    if spread:
        values |= {f"{name}_std": Spread.of([row[name] for row in rows]).std for name in rows[0]}
    columns = {"time": times} | {name: [row[name] for row in rows] for name in rows[0]} if len(rows) > 1 else {}
    return Measured(values, columns, missing if any(math.isnan(value) for value in values.values()) else None)


def _packing(shots: Iterable[Snapshot]) -> Measured:
    found = _series(shots, packing_numbers, "no number")
    return Measured(found.values, {name: found.columns[name] for name in PACKING_SERIES if name in found.columns}, found.note)


def _moduli(shots: Iterable[Snapshot]) -> Measured:
    return _series(shots, packing_moduli, "no number")


METRICS: dict[str, Metric] = {
    "overlap": Metric(
        _overlap,
        "overlaps over the diameter of the smaller grain: mean, standard deviation, largest, histogram (SN 40)",
        {},
        table="histogram",
    ),
    "slide": Metric(
        _slide,
        "friction of sliding contacts, 0 is right: size |f_t| / (mu f_n) - 1, direction theta / pi - 1 (SN 4.1)",
        {},
    ),
    "contacts": Metric(_contacts, "contacts that are continuous, impacting (rebounding) and sliding; coordination", {}),
    "energy": Metric(
        _energy,
        "kinetic energy in time, also over N m g d",
        {"time": "s", "kinetic": "J"},
        all_frames=True,
    ),
    "height": Metric(
        _height,
        "level of the surface, highest and lowest point, centre of mass",
        {"time": "s", **dict.fromkeys(("level", "spread", "top", "bottom", "centre_of_mass"), "m")},
    ),
    "repose": Metric(
        _repose,
        "static angle of repose of a pile, from a line through its flank",
        {"time": "s", "angle": "degrees", "height": "m"},
        needs="a pile on the plane z = 0",
    ),
    "slope": Metric(
        _slope,
        "angle by which a surface falls along x, from a line through its middle part",
        {"time": "s", "angle": "degrees"},
        needs="a heap against a wall, or a tilted surface",
    ),
    "drum-angle": Metric(
        _drum_angle,
        "dynamic angle of repose: of the free surface, and of the centre of mass (WS 4.3)",
        {"time": "s", **dict.fromkeys(("surface", "centre_of_mass", "surface_std", "centre_of_mass_std"), "degrees")},
        needs="a drum",
    ),
    "plug": Metric(
        _plug,
        "part of the grains that turn with the drum: |v - Omega x r| <= 0.15 R Omega (WS 4.3)",
        {"time": "s"},
        needs="a drum that turns",
    ),
    "flow": Metric(
        _flow,
        "flow profile: velocity along the surface over the depth below the axis, also over R Omega and R (SN Fig. 9); "
        "mean of the frames with the Omega of the last one",
        {"angle": "degrees", "radius": "m", "speed": "rad/s", "z": "m", "velocity": "m/s"},
        needs="a drum",
        table="profile",
    ),
    "towers": Metric(
        _towers,
        "what rises out of the flow: highest lift of the bed over R, height [d] above the surface of grains that co-rotate, "
        "their part 2 d above it, steepest piece of the surface (MR 5)",
        {"time": "s", "steepest": "degrees", "steepest_std": "degrees"},
        needs="a drum that turns",
    ),
    "ridge": Metric(
        _ridge,
        "angle of both flanks of the ridge on a belt, between source and discharge (MR 4)",
        {
            "time": "s",
            "height": "m",
            "height_std": "m",
            **dict.fromkeys(("angle", "left", "right", "angle_std", "left_std", "right_std"), "degrees"),
        },
        needs="a belt (scene conveyor)",
    ),
    "discharge": Metric(
        _discharge,
        "where grains fall through the plane 15 d below the end of a belt (MR Fig. 8); frames must be 0.03 s apart or less",
        dict.fromkeys(("centre_x", "centre_y", "spread_x", "spread_y", "x", "y"), "m"),
        needs="a belt (scene conveyor)",
        table="points",
        all_frames=True,
    ),
    "pressure": Metric(
        _pressure,
        "pressure and downward shear on the side walls, in strips of 5 diameters (SN 4.2.1), in a filling below "
        "30 diameters of a sixth of its height",
        {"height": "m", "strip": "m", "mean_pressure": "Pa", "z": "m", "pressure": "Pa", "shear": "Pa"},
        needs="side walls that close around the grains",
        table="profile",
    ),
    "vertical": Metric(
        _vertical,
        "pressure on level planes inside: weight above less wall friction above, over the area (Janssen's apparent mass)",
        {"height": "m", "floor_pressure": "Pa", "z": "m", "pressure": "Pa"},
        needs="side walls that close around the grains",
        table="profile",
    ),
    "janssen": Metric(
        _janssen,
        "fit of p = p_inf (1 - exp(-(H - z) / lambda)) to wall pressure and vertical pressure, with standard errors",
        {
            **dict.fromkeys(("saturation", "saturation_error", "vertical_saturation", "vertical_saturation_error"), "Pa"),
            **dict.fromkeys(("length", "length_error", "vertical_length", "vertical_length_error"), "m"),
            **dict.fromkeys(("gradient", "vertical_gradient"), "Pa/m"),
            "height": "m",
            "z": "m",
            "pressure": "Pa",
            "fit": "Pa",
        },
        needs="side walls that close around the grains",
        table="profile",
    ),
    "load": Metric(
        _load,
        "downward forces on floor, side walls, ceiling and held grains; at rest they carry the weight",
        {"time": "s", **dict.fromkeys(("weight", "floor", "side", "ceiling", "held", "carried"), "N")},
    ),
    "axis": Metric(
        _axis,
        "mean normal force and pressure along the axis of a container, in slices of 2 diameters (SN Fig. 4)",
        {"z": "m", "normal_force": "N", "pressure": "Pa"},
        needs="side walls that close around the grains",
        table="profile",
    ),
    "network": Metric(
        _network,
        "force network: mean and strong forces, exponential tail, coordination, fabric anisotropy, chains; f / <f>; "
        "rattlers: under gravity grains without a contact that pushes, else those with fewer than 4 (with friction 2), one after the other",
        {"mean_force": "N", "largest_force": "N"},
        table="histogram",
    ),
    "reduction": Metric(
        _reduction,
        "level of model reduction; grains that are free, held by walls and merged into aggregates",
        {"time": "s"},
        needs="a run with model reduction",
        all_frames=True,
    ),
    "fields": Metric(
        _fields,
        "coarse-grained density, velocity, stress, shear rate and inertial number in cells of 2 diameters",
        {
            **dict.fromkeys(("mass", "grain_mass"), "kg"),
            **dict.fromkeys(("width", "x", "y", "z"), "m"),
            "density": "kg/m^3",
            **dict.fromkeys(("velocity_x", "velocity_y", "velocity_z"), "m/s"),
            **dict.fromkeys(("pressure", "largest_pressure", *(f"stress_{i}{j}" for i in AXES for j in AXES)), "Pa"),
            **dict.fromkeys(("shear_rate", "largest_shear_rate"), "1/s"),
        },
        table="cells",
    ),
    "packing": Metric(
        _packing,
        "packing fraction, coordination, rattlers, stress and fabric; time is the strain, or the number of the frame",
        {
            "energy": "J",
            **dict.fromkeys(("pressure", "shear_stress", "deviatoric_stress"), "N/m^(d-1)"),
            "mean_force": "N",
            "largest_overlap": "m",
        },
        needs="packings",
    ),
    "moduli": Metric(
        _moduli,
        "bulk and shear modulus by linear response, and affine ones",
        dict.fromkeys(("pressure", "bulk", "bulk_affine", "shear", "shear_affine"), "N/m^(d-1)"),
        needs="jammed packings",
    ),
}
