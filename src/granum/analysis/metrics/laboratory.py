"""Metrics of laboratory tests: triaxial tests and plane shear."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..metric import Metric, MetricResult
from ..results import shear_cell_numbers, triaxial_numbers
from ..shear_cell import shear_flow, velocity_profile
from ..snapshot import Snapshot
from ..triaxial import triaxial_curve


def _triaxial(shots: Iterable[Snapshot]) -> MetricResult:
    curve = triaxial_curve(shots)
    found = triaxial_numbers(curve)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = curve.deviator / curve.pressure
    return MetricResult(
        found,
        {
            "time": curve.time,
            "axial_strain": curve.axial_strain,
            "volumetric_strain": curve.volumetric_strain,
            "axial_stress": curve.axial_stress,
            "lateral_stress": curve.lateral_stress,
            "deviator": curve.deviator,
            "stress_ratio": ratio,
            "friction_angle": curve.friction_angle,
            "packing_fraction": curve.packing_fraction,
        },
        note=curve.lack,
    )


def _shear_cell(shots: Iterable[Snapshot]) -> MetricResult:
    states, means = shear_flow(shots)
    height, velocity = velocity_profile(states)
    lower, upper = means.shear_stress
    values = shear_cell_numbers(means) | {
        "shear_stress_lower": lower.value,
        "shear_stress_lower_error": lower.error,
        "shear_stress_upper": upper.value,
        "shear_stress_upper_error": upper.error,
        "shear_rate": means.shear_rate.value,
        "shear_rate_error": means.shear_rate.error,
    }
    return MetricResult(values, {"height": height, "velocity": velocity})


METRICS: dict[str, Metric] = {
    "triaxial": Metric(
        _triaxial,
        "stresses on the platens of a triaxial test, strains since its axial load began, q / p, mobilised angle of friction; critical: "
        "means over axial strains from 10 to 25 %",
        {
            "time": "s",
            **dict.fromkeys(
                ("axial_stress", "lateral_stress", "deviator", "peak_deviator", "critical_deviator", "critical_lateral_stress"), "Pa"
            ),
            **dict.fromkeys(("friction_angle", "critical_friction_angle"), "degrees"),
        },
        needs="the scene triaxial",
        table="curve",
        all_frames=True,
    ),
    "shear-cell": Metric(
        _shear_cell,
        "plane shear after its transient: mu = shear / normal stress on the plates, packing fraction and inertial number in the middle, "
        "with standard errors; velocity over the height",
        {
            **dict.fromkeys(("pressure", "shear_stress_lower", "shear_stress_upper"), "Pa"),
            **dict.fromkeys(("pressure_error", "shear_stress_lower_error", "shear_stress_upper_error"), "Pa"),
            **dict.fromkeys(("shear_rate", "shear_rate_error"), "1/s"),
            "height": "of the gap",
            "velocity": "m/s",
        },
        needs="the scene shear-cell",
        table="profile",
        all_frames=True,
    ),
}
