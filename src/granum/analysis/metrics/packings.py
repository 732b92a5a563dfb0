"""Metrics of recorded packings."""

from __future__ import annotations

from collections.abc import Iterable

from ..metric import Metric, MetricResult, series
from ..packing import packing_moduli, packing_numbers
from ..snapshot import Snapshot

PACKING_SERIES = ("time", "coordination", "pressure", "shear_stress", "deviatoric_fabric")


def _packing(shots: Iterable[Snapshot]) -> MetricResult:
    found = series(shots, packing_numbers, "no number")
    return MetricResult(found.values, {name: found.columns[name] for name in PACKING_SERIES if name in found.columns}, found.note)


def _moduli(shots: Iterable[Snapshot]) -> MetricResult:
    return series(shots, packing_moduli, "no number")


METRICS: dict[str, Metric] = {
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
