"""Metrics of what presses on walls, floors and inside of a filling."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict

from ..metric import Metric, MetricResult, series
from ..silo import FEWEST_POINTS, axis_profile, janssen_fit, loads, vertical_pressure, wall_pressure
from ..snapshot import Snapshot


def _pressure(shots: Iterable[Snapshot]) -> MetricResult:
    found = wall_pressure(shots)
    return MetricResult(
        {"height": found.height, "strip": found.strip, "mean_pressure": float(found.pressure.mean())},
        {"z": found.z, "pressure": found.pressure, "shear": found.shear, "contacts": found.contacts},
        note=None if found.contacts.any() else "no contacts with side walls",
    )


def _vertical(shots: Iterable[Snapshot]) -> MetricResult:
    found = vertical_pressure(shots)
    return MetricResult({"height": found.height, "floor_pressure": float(found.pressure[0])}, {"z": found.z, "pressure": found.pressure})


def _janssen(shots: Iterable[Snapshot]) -> MetricResult:
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
    return MetricResult(values, {"z": wall.z, "pressure": wall.pressure, "fit": fit.pressure(wall.z)}, note)


def _load(shots: Iterable[Snapshot]) -> MetricResult:
    def look(s: Snapshot) -> dict[str, float]:
        found = loads(s)
        part = found.carried / found.weight if found.weight > 0 else math.nan
        return asdict(found) | {"carried": found.carried, "carried_part": part}

    return series(shots, look, "no weight")


def _axis(shots: Iterable[Snapshot]) -> MetricResult:
    found = axis_profile(shots)
    return MetricResult(
        {"slices": len(found.z)},
        {"z": found.z, "normal_force": found.normal_force, "pressure": found.pressure, "contacts": found.contacts},
        note=None if found.contacts.any() else "no contacts near the axis",
    )


METRICS: dict[str, Metric] = {
    "pressure": Metric(
        _pressure,
        "pressure and downward shear on the side walls, in strips of 5 diameters, in a filling below 30 diameters of a sixth of its height",
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
        "downward forces on floor, side walls, ceiling and static grains (held); at rest they carry the weight",
        {"time": "s", **dict.fromkeys(("weight", "floor", "side", "ceiling", "held", "carried"), "N")},
    ),
    "axis": Metric(
        _axis,
        "mean normal force and pressure along the axis of a container, in slices of 2 diameters",
        {"z": "m", "normal_force": "N", "pressure": "Pa"},
        needs="side walls that close around the grains",
        table="profile",
    ),
}
