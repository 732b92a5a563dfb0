"""Metrics of all grains together: their energy, their surface, and their fields."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, replace

import numpy as np

from ..coarse_graining import coarse_grain
from ..energy import kinetic_energy, scaled_kinetic_energy
from ..grid import AXES, FieldGrid
from ..metric import Metric, MetricResult, series
from ..pile import pile_shape
from ..snapshot import Snapshot
from ..surface import heap_slope, surface_height

FIELD_CELL = 2.0  # [mean diameters] cells of the fields, and width of their kernel


def _energy(shots: Iterable[Snapshot]) -> MetricResult:
    def look(s: Snapshot) -> dict[str, float]:
        return {"kinetic": kinetic_energy(s), "scaled": scaled_kinetic_energy(s)}

    return series(shots, look, "no gravity or no grains, so no scale", spread=True)


def _height(shots: Iterable[Snapshot]) -> MetricResult:
    return series(shots, lambda s: asdict(surface_height(s)), "no grains")


def _repose(shots: Iterable[Snapshot]) -> MetricResult:
    lacks: list[str | None] = []

    def look(s: Snapshot) -> dict[str, float]:
        shape = pile_shape(s)
        lacks.append(shape.lack)
        fitted = shape.lack is None
        return {
            "angle": shape.angle,
            "angle_error": shape.error,
            "height": shape.height,
            "flank_from": shape.low if fitted else math.nan,
            "flank_to": shape.high if fitted else math.nan,
            "rings": int(shape.flank.sum()),
            "strays": shape.strays,
        }

    return replace(series(shots, look, ""), note=next((lack for lack in reversed(lacks) if lack is not None), None))


def _slope(shots: Iterable[Snapshot]) -> MetricResult:
    return series(shots, lambda s: {"angle": heap_slope(s).angle}, "too few grains for a surface")


def _fields(shots: Iterable[Snapshot]) -> MetricResult:
    seen = [s for s in shots if s.grain_count]
    if not seen:
        return MetricResult({"mass": 0.0, "grain_mass": 0.0, "filled_cells": 0}, note="no grains")
    width = FIELD_CELL * 2 * float(seen[-1].radius.mean())
    found = coarse_grain(seen, FieldGrid.around(seen, width), width=width)
    volume, filled = found.grid.cell_volume, found.density > 0
    mass, grain_mass = float(found.density.sum() * volume), float(np.mean([s.mass.sum() for s in seen]))
    momentum, grains = found.momentum.sum(axis=(0, 1, 2)) * volume, np.mean([s.mass @ s.velocity for s in seen], axis=0)
    scale = float(np.mean([s.mass @ np.linalg.norm(s.velocity, axis=1) for s in seen]))
    columns = dict(zip(AXES, (c[filled] for c in np.meshgrid(*found.grid.centres, indexing="ij")), strict=True))
    columns |= {name: getattr(found, name)[filled] for name in ("density", "solid_fraction")}
    columns |= {f"velocity_{axis}": found.velocity[filled][:, k] for k, axis in enumerate(AXES)}
    columns |= {f"stress_{AXES[i]}{AXES[j]}": found.stress[filled][:, i, j] for i in range(3) for j in range(3)}
    columns |= {name: getattr(found, name)[filled] for name in ("pressure", "shear_rate", "inertial_number")}
    return MetricResult(
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


METRICS: dict[str, Metric] = {
    "energy": Metric(
        _energy,
        "kinetic energy in time, also over N m g d: mean and standard deviation over the frames",
        {"time": "s", "kinetic": "J", "kinetic_std": "J"},
        all_frames=True,
    ),
    "height": Metric(
        _height,
        "level of the surface, highest and lowest point, centre of mass",
        {"time": "s", **dict.fromkeys(("level", "spread", "top", "bottom", "centre_of_mass"), "m")},
    ),
    "repose": Metric(
        _repose,
        "static angle of repose of a pile, from a line through its flank, with its standard error over 8 sectors; strays lie apart",
        {"time": "s", **dict.fromkeys(("angle", "angle_error"), "degrees"), **dict.fromkeys(("height", "flank_from", "flank_to"), "m")},
        needs="a pile on level ground, 5 diameters high or more",
    ),
    "slope": Metric(
        _slope,
        "angle by which a surface falls along x, from a line through its middle part",
        {"time": "s", "angle": "degrees"},
        needs="a heap against a wall, or a tilted surface",
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
}
